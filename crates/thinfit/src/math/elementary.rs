//! Elementary functions of whole slices: sine and cosine in turns, exponential, logistic sigmoid,
//! hyperbolic tangent.
//!
//! This file owns the formulas, their error bounds, and the choice of instruction set at run time.
//! It knows nothing of features, activations or derivatives, starts no threads and allocates
//! nothing.
//!
//! Every function applies one branch-free scalar kernel to each element and leaves the
//! vectorisation to the compiler, which [`pulp`] makes use the widest instruction set the machine
//! has. The kernels consist of correctly rounded operations only (`f64::mul_add` is fused
//! everywhere), so an element's result has the same bits whatever its position, the slice's length
//! or alignment, and the instruction set. A machine without fused multiply-add gets those bits as
//! well, slowly, from the library routine.
//!
//! Error bounds are for `scale = 1`; another scale adds one rounding.

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
    c[..N - 1]
        .iter()
        .rev()
        .fold(start, |sum, &c| sum.mul_add(x, c))
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
    let q = t.mul_add(2.0, ROUND);
    let f = t.mul_add(2.0, ROUND - q);
    let scale = f64::from_bits(scale.to_bits() ^ (q.to_bits() << 63));
    let (u, w) = (f * f, (-f).mul_add(f, 0.25));
    let cos = polynomial(u, C).mul_add(u, 4.0) * w;
    let sin = polynomial(u, S).mul_add(w, 2.0) * f;
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
    (-s).mul_add(s, 1.0)
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
    let rounded = t.mul_add(std::f64::consts::LOG2_E, ROUND + bias);
    let n = rounded - (ROUND + bias);
    let r = n.mul_add(-LN_2.1, n.mul_add(-LN_2.0, t));
    (polynomial(r, Q).mul_add(r * r, r), rounded.to_bits())
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
    m.mul_add(2.0, 2.0) * f64::from_bits(bits << 52)
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
    let m = m.mul_add(power, power - 1.0);
    let sign = t.to_bits() & (1 << 63);
    f64::from_bits(scale.to_bits() ^ sign) * (m / (m + 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_1_SQRT_2, TAU};

    /// `n` points of a low-discrepancy sequence over `[-radius, radius]`.
    fn points(n: u32, radius: f64) -> Vec<f64> {
        let point = |i| (f64::from(i) * 1.618_033_988_749_895).fract() * 2.0 - 1.0;
        (0..n).map(|i| radius * point(i)).collect()
    }

    fn sincos_of(t: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut cos, mut sin) = (vec![0.0; t.len()], vec![0.0; t.len()]);
        sincos_2pi(t, &mut cos, &mut sin, 1.0);
        (cos, sin)
    }

    /// The errors of `(cos, sin)(2 pi t)` after an exact rotation by quarter turns to `|r| <= 1/8`,
    /// against the standard library at the double-double product of `2 pi` and `r`.
    fn sincos_error(t: f64, cos: f64, sin: f64) -> (f64, f64) {
        let r = t - t.round_ties_even();
        let quarter = (4.0 * r).round_ties_even();
        let r = r - 0.25 * quarter;
        let (cos, sin) = match quarter {
            0.0 => (cos, sin),
            1.0 => (sin, -cos),
            -1.0 => (-sin, cos),
            _ => (-cos, -sin),
        };
        let high = TAU * r;
        let low = TAU.mul_add(r, -high) + 2.449_293_598_294_706_4e-16 * r;
        let (s, c) = high.sin_cos();
        (((cos - c) + low * s).abs(), ((sin - s) - low * c).abs())
    }

    fn ulp(x: f64) -> f64 {
        f64::from_bits(x.abs().to_bits() + 1) - x.abs()
    }

    /// The distance of `x` from `a / (b + c)` in ulp, from the residual of the division.
    fn quotient_error(x: f64, a: f64, b: f64, c: f64) -> f64 {
        let (b, c) = if b > c { (b, c) } else { (c, b) };
        let rest = c - (b + c - b);
        ((-x).mul_add(b + c, a) - x * rest).abs() / (b + c) / ulp(x)
    }

    #[test]
    fn sincos_is_accurate_for_every_size_of_the_argument() {
        for radius in [1e-3, 0.5, 8.0, 1e6, 1e15] {
            let t = points(200_000, radius);
            let (cos, sin) = sincos_of(&t);
            let mut worst = 0.0_f64;
            for i in 0..t.len() {
                let (c, s) = sincos_error(t[i], cos[i], sin[i]);
                worst = worst.max(c).max(s);
            }
            assert!(worst < 3e-16, "{worst} within {radius}");
        }
    }

    #[test]
    fn cosine_is_accurate_for_every_size_of_the_argument() {
        for radius in [1e-3, 0.5, 8.0, 1e6, 1e15] {
            let t = points(200_000, radius);
            let mut cos = t.clone();
            cos_2pi(&mut cos);
            let (_, sin) = sincos_of(&t);
            let errors = (0..t.len()).map(|i| {
                let (c, s) = sincos_error(t[i], cos[i], sin[i]);
                c.max(s)
            });
            let worst = errors.fold(0.0, f64::max);
            assert!(worst < 1.1e-15, "{worst} within {radius}");
        }
        let mut special = [0.0, 0.5, -0.25, 1e300, f64::NAN, f64::INFINITY];
        cos_2pi(&mut special);
        assert_eq!((special[0], special[3]), (1.0, 1.0));
        assert!((special[1] + 1.0).abs() < 1.1e-15 && special[2].abs() < 1.1e-15);
        assert!(special[4].is_nan() && special[5].is_nan());
    }

    #[test]
    fn sincos_keeps_relative_accuracy_near_zeros() {
        for k in 4..50 {
            let t = 0.7 * f64::powi(2.0, -k);
            let (cos, sin) = sincos_of(&[t, 0.25 + t]);
            assert!(sincos_error(t, cos[0], sin[0]).1 < 2.0 * ulp(sin[0]), "{t}");
            assert!(
                sincos_error(0.25 + t, cos[1], sin[1]).1 < 2.0 * ulp(cos[1]),
                "1/4 + {t}"
            );
        }
    }

    #[test]
    fn sincos_of_eighths_and_special_values() {
        let eighths = [
            0.0,
            FRAC_1_SQRT_2,
            1.0,
            FRAC_1_SQRT_2,
            0.0,
            -FRAC_1_SQRT_2,
            -1.0,
            -FRAC_1_SQRT_2,
        ];
        for k in -800_i32..800 {
            let (cos, sin) = sincos_of(&[f64::from(k) / 8.0]);
            let [c, s] = [k + 2, k].map(|k| eighths[k.rem_euclid(8) as usize]);
            let tolerance = if k % 2 == 0 { 0.0 } else { 1.2e-16 };
            assert!((cos[0] - c).abs() <= tolerance, "{k}/8: {cos:?}");
            assert!((sin[0] - s).abs() <= tolerance, "{k}/8: {sin:?}");
        }
        let (cos, sin) = sincos_of(&[1e300, -f64::MAX, 4_503_599_627_370_497.0, 1e-300]);
        assert_eq!((&cos[..], &sin[..3]), (&[1.0; 4][..], &[0.0; 3][..]));
        assert!((sin[3] / (TAU * 1e-300) - 1.0).abs() < 4e-16);
        let (cos, sin) = sincos_of(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY]);
        assert!(cos.iter().chain(&sin).all(|x| x.is_nan()));
    }

    /// The reference's own errors, half an ulp of `exp` and one of `exp_m1`, are in the bounds.
    #[test]
    fn exp_sigmoid_and_tanh_are_accurate() {
        let mut worst = [0.0_f64; 3];
        for radius in [1e-9, 1e-3, 0.4, 1.0, 4.0, 40.0, 708.0] {
            for t in points(100_000, radius) {
                let m = (2.0 * t.abs().min(300.0)).exp_m1();
                let errors = [
                    quotient_error(exp_kernel(t), t.exp(), 1.0, 0.0),
                    quotient_error(sigmoid_kernel(t, 1.0), 1.0, 1.0, (-t).exp()),
                    quotient_error(tanh_kernel(t, 1.0).abs(), m, m, 2.0),
                ];
                worst = std::array::from_fn(|i| worst[i].max(errors[i]));
            }
        }
        assert!(
            worst[0] < 1.5 && worst[1] < 3.0 && worst[2] < 3.5,
            "{worst:?}"
        );
    }

    #[test]
    fn exp_sigmoid_and_tanh_of_special_values() {
        let apply = |f: &dyn Fn(&mut [f64])| {
            let mut t = [f64::NEG_INFINITY, -1e4, -0.0, 1e4, f64::INFINITY, f64::NAN];
            f(&mut t);
            assert!(t[5].is_nan());
            [t[0], t[1], t[2], t[3], t[4]]
        };
        assert_eq!(apply(&exp), [0.0, 0.0, 1.0, f64::INFINITY, f64::INFINITY]);
        assert_eq!(apply(&|t| sigmoid(t, 2.0)), [0.0, 0.0, 1.0, 2.0, 2.0]);
        assert_eq!(apply(&|t| tanh(t, -2.0)), [2.0, 2.0, 0.0, -2.0, -2.0]);
        let mut ends = [709.782_712_893_383, 709.782_712_893_385, -708.0, -708.1];
        exp(&mut ends);
        assert!(
            ends[0].is_finite() && ends[1].is_infinite() && ends[2] > 0.0,
            "{ends:?}"
        );
        assert_eq!(ends[3], 0.0);
        let mut small = [f64::MIN_POSITIVE, -5e-324];
        tanh(&mut small, 1.0);
        assert_eq!(small, [f64::MIN_POSITIVE, -5e-324]);
    }

    /// The reference here is the bare kernel, compiled for the least of the machines.
    #[test]
    fn results_depend_neither_on_the_slice_nor_on_the_instruction_set() {
        let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        let all = points(70, 9.0);
        let (mut room, mut room_2) = ([0.0; 80], [0.0; 80]);
        for (start, end) in (0..9).flat_map(|start| (start..70).map(move |end| (start, end))) {
            let t = &all[start..end];
            let cos = &mut room[9 - start..][..t.len()];
            let sin = &mut room_2[start / 2..][..t.len()];
            let (c, s): (Vec<_>, Vec<_>) = t.iter().map(|&t| sincos_kernel(t, 0.3)).unzip();
            let expected = (bits(&c), bits(&s));
            sincos_2pi(t, cos, sin, 0.3);
            assert_eq!((bits(cos), bits(sin)), expected);
            cos.copy_from_slice(t);
            sincos_2pi_in_place(cos, sin, 0.3);
            assert_eq!((bits(cos), bits(sin)), expected);
            let doubled: Vec<f64> = t.iter().map(|t| 2.0 * t).collect();
            sincos_pi(&doubled, cos, sin, 0.3);
            assert_eq!((bits(cos), bits(sin)), expected);
            cos.copy_from_slice(&doubled);
            sincos_pi_in_place(cos, sin, 0.3);
            assert_eq!((bits(cos), bits(sin)), expected);
            let mut same = |f: &dyn Fn(&mut [f64]), kernel: &dyn Fn(f64) -> f64| {
                cos.copy_from_slice(t);
                f(cos);
                assert_eq!(
                    bits(cos),
                    bits(&t.iter().map(|&t| kernel(t)).collect::<Vec<_>>())
                );
            };
            same(&cos_2pi, &cos_kernel);
            same(&exp, &exp_kernel);
            same(&|t| sigmoid(t, 0.3), &|t| sigmoid_kernel(t, 0.3));
            same(&|t| tanh(t, 0.3), &|t| tanh_kernel(t, 0.3));
        }
    }
}
