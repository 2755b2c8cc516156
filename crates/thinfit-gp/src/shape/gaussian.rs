//! exp(−q/2).

use super::Profile;
use thinfit::elementary::exp;

pub(crate) struct Gaussian;

impl Profile for Gaussian {
    const IS_ITS_SLOPE: bool = true;
    const FACTOR: f64 = -0.5;

    fn values(q: &mut [f64], _: &mut [f64]) {
        exp(q);
    }

    fn slopes(q: &mut [f64], _: &mut [f64]) {
        exp(q);
    }

    #[inline(always)]
    fn slope(t: f64, kappa: f64, _: f64) -> f64 {
        t * kappa
    }

    #[inline(always)]
    fn length_slope(t2: f64, kappa: f64, _: f64) -> f64 {
        kappa * t2
    }
}
