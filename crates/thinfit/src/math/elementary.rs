//! Elementary functions of whole slices: sine and cosine in turns, exponential, logistic sigmoid,
//! hyperbolic tangent.
//!
//! This file owns the formulas, their error bounds, and the choice of instruction set at run time.
//! It knows nothing of features, activations or derivatives, starts no threads and allocates
//! nothing.
//!
//! Every function applies one branch-free scalar kernel to each element and leaves the
//! vectorisation to the compiler, which targets the widest instruction set of the machine through
//! [`pulp`]. The kernels consist of correctly rounded operations only (the multiply-add is
//! fused everywhere but in WebAssembly), so an element's result has the same bits whatever its
//! position, the slice's length or alignment, and the instruction set. A machine without fused
//! multiply-add gets the same bits from the slower library routine. In WebAssembly the bits differ, and the
//! error bounds below do not hold.
//!
//! Error bounds are for `scale = 1`; another scale adds one rounding.

use super::fma::Fma;
use pulp::{Arch, Simd, WithSimd};

/// `1.5 * 2^52`: adding it to a number below `2^51` in magnitude rounds that number to an integer,
/// which then stands in the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// `cos[i] = scale * cos(2 pi t[i])`, `sin[i] = scale * sin(2 pi t[i])`.
///
/// The reduction modulo one turn is exact, hence the bound of 3e-16 on the absolute error holds for
/// every finite `t`; every number beyond `2^52` is an integer, of cosine 1 and sine 0. Multiples of
/// a quarter turn give 0, 1 and -1 exactly, and both results keep a relative error of 2 ulp near
/// their zeros. Infinities and NaN give NaN.
///
/// # Panics
/// If the slices differ in length, as in its three variants.
pub fn sincos_2pi(t: &[f64], cos: &mut [f64], sin: &mut [f64], scale: f64) {
    assert!(t.len() == cos.len() && t.len() == sin.len());
    sincos(
        t.iter().zip(cos).zip(sin).map(|((&t, c), s)| (t, c, s)),
        scale,
    );
}

/// [`sincos_2pi`] with `t` given in `cos_t` and overwritten by the cosine.
pub fn sincos_2pi_in_place(cos_t: &mut [f64], sin: &mut [f64], scale: f64) {
    assert!(cos_t.len() == sin.len());
    sincos(cos_t.iter_mut().zip(sin).map(|(c, s)| (*c, c, s)), scale);
}

/// `cos[i] = scale * cos(pi t[i])`, `sin[i] = scale * sin(pi t[i])`: [`sincos_2pi`] of `t / 2`,
/// which is exact.
pub fn sincos_pi(t: &[f64], cos: &mut [f64], sin: &mut [f64], scale: f64) {
    assert!(t.len() == cos.len() && t.len() == sin.len());
    sincos(
        t.iter()
            .zip(cos)
            .zip(sin)
            .map(|((&t, c), s)| (0.5 * t, c, s)),
        scale,
    );
}

/// [`sincos_pi`] with `t` given in `cos_t` and overwritten by the cosine.
pub fn sincos_pi_in_place(cos_t: &mut [f64], sin: &mut [f64], scale: f64) {
    assert!(cos_t.len() == sin.len());
    sincos(
        cos_t.iter_mut().zip(sin).map(|(c, s)| (0.5 * *c, c, s)),
        scale,
    );
}

/// `t <- cos(2 pi t)`, to 1.1e-15 for every finite `t`: half the work of [`sincos_2pi`] where the sine is not wanted.
///
/// Infinities and NaN give NaN.
pub fn cos_2pi(t: &mut [f64]) {
    map(
        t,
        1.0,
        #[inline(always)]
        |t, _| cos_kernel(t),
    );
}

/// `t <- e^t`, to 1.1 ulp.
///
/// Overflows to infinity as the exact value does; values below 3.2e-308 (`t < -708.05`) flush to 0.
/// NaN stays NaN.
pub fn exp(t: &mut [f64]) {
    map(
        t,
        1.0,
        #[inline(always)]
        |t, _| exp_kernel(t),
    );
}

/// `t <- scale / (1 + e^-t)`, to 3 ulp also where it is tiny.
///
/// The limits at the infinities are 1 and 0; below `t = -709.78` the result is 0. NaN stays NaN.
pub fn sigmoid(t: &mut [f64], scale: f64) {
    map(t, scale, sigmoid_kernel);
}

/// `t <- scale * tanh(t)`, to 3 ulp also near 0.
///
/// The limits at the infinities are 1 and -1. NaN stays NaN.
pub fn tanh(t: &mut [f64], scale: f64) {
    map(t, scale, tanh_kernel);
}

struct Work<F>(F);

impl<F: FnMut()> WithSimd for Work<F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) {
        (self.0)();
    }
}

/// Runs loops with the widest instruction set that the machine has.
///
/// `work` and all it calls must be `#[inline(always)]`, or it is compiled for the narrowest set, where every
/// `mul_add` is a library call. It is called as `FnMut`: the `FnOnce` shim of a closure is never inlined.
#[inline(always)]
pub fn vectorised(work: impl FnMut()) {
    Arch::new().dispatch(Work(work));
}

/// Stores the cosine and the sine of each `(turns, cos, sin)`.
///
/// The closures own what they use: behind a reference, `scale` might change with each store and
/// would forbid vectors. They must be inlined, or they would miss the wider instructions.
#[inline(always)]
fn sincos<'a>(elements: impl Iterator<Item = (f64, &'a mut f64, &'a mut f64)>, scale: f64) {
    Arch::new().dispatch(
        #[inline(always)]
        move || {
            for (t, cos, sin) in elements {
                (*cos, *sin) = sincos_kernel(t, scale);
            }
        },
    );
}

#[inline(always)]
fn map(t: &mut [f64], scale: f64, kernel: impl Fn(f64, f64) -> f64) {
    Arch::new().dispatch(
        #[inline(always)]
        move || {
            for t in t {
                *t = kernel(*t, scale);
            }
        },
    );
}

/// Horner's rule for `c[0] + c[1] x + c[2] x^2 + ...`.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let start = c[N - 1];
    c[..N - 1].iter().rev().fold(start, |sum, &c| sum.fma(x, c))
}

/// `(scale cos(2 pi t), scale sin(2 pi t))`.
///
/// With `f` half turns from the nearest multiple `q` of a half turn, `|f| <= 1/2`, both are
/// `(-1)^q` times those of `pi f`: unlike a reduction to eighths this never swaps the two. The
/// minimax polynomials in `u = f^2` are those of `cos(pi f) = w (4 + u C(u))` and
/// `sin(pi f) = f (2 + w S(u))`, where `w = 1/4 - u`: the factor `w`, fused and hence to half an
/// ulp, holds the zero of the cosine and makes the sine's maximum exact. Their relative errors are
/// below 2.2e-17.
#[inline(always)]
pub(crate) fn sincos_kernel(t: f64, scale: f64) -> (f64, f64) {
    #[rustfmt::skip]
    const C: [f64; 7] = [
        -3.739208802178695, 1.2780132969499653, -0.22899788753217193,
        0.02533096972933062, -0.0019036704501628917, 0.00010351731098481164,
        -4.1341395749855005e-06,
    ];
    #[rustfmt::skip]
    const S: [f64; 8] = [
        4.566370614359173, -2.4053686627631867, 0.5791815084564463,
        -0.08033208344965985, 0.007255212488060089, -0.0004608720187087933,
        2.171092205790583e-05, -7.69595142302359e-07,
    ];
    let t = t - t.round_ties_even();
    let q = t.fma(2.0, ROUND);
    let f = t.fma(2.0, ROUND - q);
    let scale = f64::from_bits(scale.to_bits() ^ (q.to_bits() << 63));
    let (u, w) = (f * f, (-f).fma(f, 0.25));
    let cos = polynomial(u, C).fma(u, 4.0) * w;
    let sin = polynomial(u, S).fma(w, 2.0) * f;
    (cos * scale, sin * scale)
}

/// `cos(2 pi t) = 1 - s^2`, `s = sqrt(2) sin(pi r)`, with `r` turns from the nearest integer, `|r| <= 1/2`.
///
/// Squaring spares the sign that a reduction to half turns carries along. The minimax polynomial of `s / r` in
/// `r^2` has a relative error of 3e-19; roundings of `s` count fourfold where the cosine is near -1.
#[inline(always)]
pub(crate) fn cos_kernel(t: f64) -> f64 {
    #[rustfmt::skip]
    const S: [f64; 9] = [
        4.442882938158366, -7.308249499995438, 3.6064765714706315,
        -0.8474880248116888, 0.11617182688030422, -0.01042336274359363,
        0.0006594473439862868, -3.097578185549353e-05, 1.088198744369485e-06,
    ];
    let r = t - t.round_ties_even();
    let s = polynomial(r * r, S) * r;
    (-s).fma(s, 1.0)
}

/// `(e^r - 1, bits)` where `t = n ln 2 + r`, `|r| <= ln 2 / 2`, for `|t| < 2^40`; `bits` ends in
/// `n + bias`.
///
/// `e^r - 1 = r + r^2 Q(r)` with a minimax `Q`, whose share of the relative error is below 2e-17.
#[inline(always)]
fn exp_m1_reduced(t: f64, bias: f64) -> (f64, u64) {
    /// 33 bits of `ln 2`, so that the product with `n` is exact, and the rest.
    const LN_2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    #[rustfmt::skip]
    const Q: [f64; 10] = [
        0.5000000000000006, 0.16666666666666685, 0.04166666666657362,
        0.008333333333314562, 0.00138888889323798, 0.00019841269903088276,
        2.4801504444576502e-05, 2.755722790695252e-06, 2.762632710689249e-07,
        2.5114486938894986e-08,
    ];
    let rounded = t.fma(std::f64::consts::LOG2_E, ROUND + bias);
    let n = rounded - (ROUND + bias);
    let r = n.fma(-LN_2.1, n.fma(-LN_2.0, t));
    (polynomial(r, Q).fma(r * r, r), rounded.to_bits())
}

/// `e^t` as `2^(n-1)` times `2 e^r`, since `n` reaches 1024 before the value overflows.
///
/// The argument is confined to where the biased exponent `n - 1 + 1023` stays between 0, which
/// makes the power 0, and 2046. The comparisons are written so that NaN passes.
#[inline(always)]
fn exp_kernel(t: f64) -> f64 {
    let t = if t > 709.9 { 709.9 } else { t };
    let t = if t < -708.3 { -708.3 } else { t };
    let (m, bits) = exp_m1_reduced(t, 1022.0);
    m.fma(2.0, 2.0) * f64::from_bits(bits << 52)
}

/// The quotient has the accuracy of the exponential at either end: an overflow there is a 0 here.
#[inline(always)]
pub(crate) fn sigmoid_kernel(t: f64, scale: f64) -> f64 {
    scale / (1.0 + exp_kernel(-t))
}

/// `tanh |t| = m / (m + 2)` with `m = e^(2|t|) - 1`, without cancellation; from `|t| = 20` on it
/// rounds to 1.
#[inline(always)]
pub(crate) fn tanh_kernel(t: f64, scale: f64) -> f64 {
    let double = 2.0 * t.abs();
    let double = if double > 40.0 { 40.0 } else { double };
    let (m, bits) = exp_m1_reduced(double, 1023.0);
    let power = f64::from_bits(bits << 52);
    let m = m.fma(power, power - 1.0);
    let sign = t.to_bits() & (1 << 63);
    f64::from_bits(scale.to_bits() ^ sign) * (m / (m + 2.0))
}

#[cfg(test)]
mod tests;
