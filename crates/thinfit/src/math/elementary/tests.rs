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
