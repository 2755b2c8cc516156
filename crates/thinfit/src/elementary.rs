//! Plain stand-in.
pub(crate) fn sincos_2pi(t: &mut [f64], sin: &mut [f64], scale: f64) {
    for (t, s) in t.iter_mut().zip(sin) {
        let a = 2.0 * std::f64::consts::PI * (*t - t.round());
        *s = scale * a.sin();
        *t = scale * a.cos();
    }
}
pub(crate) fn sigmoid(t: &mut [f64], scale: f64) {
    t.iter_mut().for_each(|t| *t = scale / (1.0 + (-*t).exp()));
}
pub(crate) fn tanh(t: &mut [f64], scale: f64) {
    t.iter_mut().for_each(|t| *t = scale * t.tanh());
}
