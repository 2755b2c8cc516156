//! Expected improvement: the mean amount by which a normal variable is below a bound.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// E max(best − Y, 0) for Y ~ N(mean, deviation²).
pub(crate) fn improvement(best: f64, mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return (best - mean).max(0.0);
    }
    let z = (best - mean) / deviation;
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    // The difference would cancel where the bound is far below.
    match z < -6.0 {
        true => deviation * density / (z * z) * (1.0 - 3.0 / (z * z)),
        false => (deviation * (z * below(z) + density)).max(0.0),
    }
}

/// The probability that a standard normal number is below `z`, to 1e-13 or so for |z| < 7: a series around zero, a continued
/// fraction in the tails.
fn below(z: f64) -> f64 {
    let x = z.abs() * FRAC_1_SQRT_2;
    let tail = if x < 2.5 {
        let (mut term, mut sum) = (x, x);
        for k in 1..60 {
            term *= -x * x / k as f64;
            sum += term / (2 * k + 1) as f64;
        }
        1.0 - 2.0 / PI.sqrt() * sum
    } else {
        let fraction = (1..60)
            .rev()
            .fold(x, |rest, k| x + 0.5 * f64::from(k) / rest);
        (-x * x).exp() / (PI.sqrt() * fraction)
    };
    match z < 0.0 {
        true => 0.5 * tail,
        false => 1.0 - 0.5 * tail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        for (z, expected) in [
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_543),
            (-2.0, 0.022_750_131_948_179_2),
            (-3.6, 1.591_085_901_575_339e-4),
            (-6.0, 9.865_876_450_376_98e-10),
            (5.0, 0.999_999_713_348_428),
        ] {
            assert!(
                (below(z) / expected - 1.0).abs() < 1e-9,
                "{z}: {}",
                below(z)
            );
        }
    }

    #[test]
    fn improvement_is_the_integral_also_in_the_tail() {
        for (best, mean, deviation) in [
            (0.0, 1.0, 2.0),
            (3.0, 1.0, 0.5),
            (0.0, 5.9, 1.0),
            (0.0, 6.1, 1.0),
        ] {
            let steps = 200_000;
            let step = 12.0 * deviation / f64::from(steps);
            // Over the part below the bound, in which the integrand is smooth.
            let sum: f64 = (0..steps)
                .map(|k| {
                    let gain = (f64::from(k) + 0.5) * step;
                    let z = (best - gain - mean) / deviation;
                    gain * (-0.5 * z * z).exp() * step
                })
                .sum();
            let expected = sum / (deviation * (2.0 * PI).sqrt());
            let found = improvement(best, mean, deviation);
            assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
        }
        assert_eq!(improvement(1.0, 0.25, 0.0), 0.75);
        assert_eq!(improvement(0.0, 0.25, 0.0), 0.0);
    }
}
