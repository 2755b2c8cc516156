//! (1 + r + r²/3) e⁻ʳ with r = √(5q).

use super::Profile;
use thinfit::elementary::{exp, vectorised};

pub(crate) struct Matern52;

impl Profile for Matern52 {
    const IS_ITS_SLOPE: bool = false;
    const FACTOR: f64 = 5.0;

    fn values(q: &mut [f64], decay: &mut [f64]) {
        matern(q, decay, [1.0, 1.0, 1.0 / 3.0]);
    }

    fn slopes(q: &mut [f64], decay: &mut [f64]) {
        matern(q, decay, [5.0 / 3.0, 5.0 / 3.0, 0.0]);
    }

    #[inline(always)]
    fn slope(t: f64, _: f64, decay: f64) -> f64 {
        5.0 / 3.0 * t * (1.0 + 5f64.sqrt() * t.abs()) * decay
    }

    #[inline(always)]
    fn length_slope(t2: f64, _: f64, decay: f64) -> f64 {
        5.0 / 3.0 * t2 * (1.0 + (5.0 * t2).sqrt()) * decay
    }
}

/// r² ← (c_0 + c_1 r + c_2 r²) e⁻ʳ, and e⁻ʳ in `decay`; r is capped at 1000, where the kernel is zero, to avoid infinity times zero.
pub(crate) fn matern(r2: &mut [f64], decay: &mut [f64], c: [f64; 3]) {
    vectorised(
        #[inline(always)]
        || {
            for (r2, decay) in r2.iter_mut().zip(decay.iter_mut()) {
                *r2 = r2.min(1e6);
                *decay = -r2.sqrt();
            }
        },
    );
    exp(decay);
    vectorised(
        #[inline(always)]
        || {
            for (r2, decay) in r2.iter_mut().zip(decay.iter()) {
                *r2 = (c[0] + c[1] * r2.sqrt() + c[2] * *r2) * decay;
            }
        },
    );
}
