//! Adam on one flat slice, for θ, z and w alike.
//!
//! mₜ = β₁m + (1−β₁)g, vₜ = β₂v + (1−β₂)g², p ← p − rate · m̂ / (√v̂ + 10⁻⁸) with β = (0.9, 0.999) and the usual bias
//! correction.

use super::generator::Real;
use super::step::Values;
use crate::Result;
use crate::math::elementary::vectorised;

/// β₁, β₂ and the number that keeps the root from zero, on every device.
pub const COEFFICIENTS: [f64; 3] = [BETA1, BETA2, EPSILON];
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The moments of Adam for one leaf, a flat slice of f32 or f64.
#[derive(Clone, Debug)]
pub struct Adam<T> {
    pub(crate) first: Vec<T>,
    pub(crate) second: Vec<T>,
    pub(crate) steps: i32,
}

/// The coefficients of one step, the same for every entry of a leaf.
#[derive(Clone, Copy)]
pub(crate) struct Stride<T> {
    rate: T,
    root: T,
}

impl<T: Real> Adam<T> {
    /// Moments of zero for a leaf of `len` numbers.
    pub fn new(len: usize) -> Self {
        Adam {
            first: vec![T::ZERO; len],
            second: vec![T::ZERO; len],
            steps: 0,
        }
    }

    /// Counts one step and returns its coefficients.
    pub(crate) fn stride(&mut self, rate: f64) -> Stride<T> {
        self.steps += 1;
        let rate = rate / (1.0 - BETA1.powi(self.steps));
        Stride {
            rate: T::of(rate),
            root: T::of((1.0 - BETA2.powi(self.steps)).sqrt()),
        }
    }

    /// Restores moments saved after `steps` steps.
    ///
    /// # Errors
    /// Moments of a leaf of another length.
    pub(crate) fn restore(&mut self, moments: &[Values; 2], steps: i32) -> Result<()> {
        self.steps = steps;
        moments[0].unpack(&mut self.first)?;
        moments[1].unpack(&mut self.second)
    }

    /// Moves the whole leaf `p` along the gradient `g`.
    pub fn update(&mut self, rate: f64, p: &mut [T], g: &[T]) {
        self.stride(rate)
            .apply(p, g, &mut self.first, &mut self.second);
    }
}

impl<T: Real> Stride<T> {
    /// Moves a part of the leaf: parameters, gradient and both moments of one length.
    pub fn apply(self, p: &mut [T], g: &[T], first: &mut [T], second: &mut [T]) {
        assert!(p.len() == g.len() && p.len() == first.len() && p.len() == second.len());
        let (b1, b2, eps) = (T::of(BETA1), T::of(BETA2), T::of(EPSILON));
        let (c1, c2) = (T::of(1.0 - BETA1), T::of(1.0 - BETA2));
        vectorised(
            #[inline(always)]
            || {
                for (((p, &g), m), v) in p
                    .iter_mut()
                    .zip(g)
                    .zip(first.iter_mut())
                    .zip(second.iter_mut())
                {
                    *m = b1 * *m + c1 * g;
                    *v = b2 * *v + c2 * g * g;
                    *p -= self.rate * *m / (v.root() / self.root + eps);
                }
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_step_is_the_rate_against_the_sign_of_the_gradient() {
        let mut p = vec![1.0f64, 1.0, 1.0];
        Adam::new(3).update(0.1, &mut p, &[3.0, -2e-3, 0.0]);
        for (p, expected) in p.iter().zip([0.9, 1.1, 1.0]) {
            assert!((p - expected).abs() < 1e-5);
        }
    }

    #[test]
    fn minimises_a_quadratic() {
        let (mut p, mut adam) = (vec![5.0f32, -3.0], Adam::new(2));
        for _ in 0..2000 {
            let g = [p[0] - 1.0, 10.0 * (p[1] - 2.0)];
            adam.update(0.02, &mut p, &g);
        }
        assert!((p[0] - 1.0).abs() < 1e-3 && (p[1] - 2.0).abs() < 1e-3);
    }
}
