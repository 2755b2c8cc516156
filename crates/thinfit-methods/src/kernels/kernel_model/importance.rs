//! Which inputs matter to a kernel model: indices and effects estimated at the points of a lattice, since only some
//! kernels have integrals in closed form.

use super::KernelModel;
use crate::Result;
use faer::MatRef;
use thinfit::{Sampled, Sensitivity};

/// Work that indices or one effect may take, in differences of an input: some seconds on two cores.
const WORK: u64 = 1 << 33;

impl KernelModel {
    /// Sensitivity indices of output `o` over the ranges of the samples.
    ///
    /// # Errors
    /// An output that does not exist, or numbers that leave the finite range.
    pub fn sensitivity(&self, o: usize) -> Result<Sensitivity> {
        self.sensitivity_watched(o, &|_| ())
    }

    /// [`KernelModel::sensitivity`], which tells `watch` how far it is, from 0 to 1.
    ///
    /// # Errors
    /// As [`KernelModel::sensitivity`].
    pub fn sensitivity_watched(&self, o: usize, watch: &dyn Fn(f64)) -> Result<Sensitivity> {
        self.check_output(o)?;
        let size: f64 = self
            .coefficients
            .col_as_slice(o)
            .iter()
            .map(|a| a.abs())
            .sum();
        let largest = self.output_scaler.scale[o] * self.kernel.diagonal() * size;
        let noise = (f64::EPSILON * largest).powi(2);
        self.sampled(o, 2 * self.dim() + 4, |sampled| {
            sampled.sensitivity(noise, watch)
        })
    }

    /// The main effect of input `j` on output `o`: E\[f | x_j = v\] for every v of `at`, with the other inputs uniform on
    /// the ranges of the samples.
    ///
    /// # Errors
    /// An output or input that does not exist, or values that are not finite.
    pub fn effect(&self, o: usize, j: usize, at: &[f64]) -> Result<Vec<f64>> {
        self.check_output(o)?;
        // All inputs are likely to be asked for.
        self.sampled(o, at.len() * self.dim(), |sampled| sampled.effect(j, at))
    }

    /// Output `o` as a function whose values at the points of a lattice are taken `times` times.
    fn sampled<T>(&self, o: usize, times: usize, of: impl Fn(Sampled<'_>) -> T) -> T {
        let cost = (self.points.nrows() * self.kernel.parameters()).saturating_mul(times);
        of(Sampled {
            inputs: &self.input_scaler,
            domain: &self.domain,
            value: &|x: MatRef<'_, f64>| Ok(self.predict(x)?.col_as_slice(o).to_vec()),
            gradient: &|x: MatRef<'_, f64>| self.gradient(x, o),
            points: Sampled::points_within(WORK, cost),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::GaussianProcess;
    use crate::kernels::kernel::tests::random;
    use thinfit::{Control, Dataset, Mat};

    #[test]
    fn indices_and_effects_are_those_of_the_function_that_was_learned() {
        // On the unit square x1 + 2 x2 + 4 (x1 − ½)(x2 − ½) has variance 1/12 + 4/12 + 16/144.
        let f = |a: f64, b: f64| a + 2.0 * b + 4.0 * (a - 0.5) * (b - 0.5);
        let corner = |i: usize, j: usize| f64::from(u8::from(i >> j & 1 == 1));
        let inner = random(56, 2, 1);
        // The corners are among the samples, so that the domain is the whole square.
        let x = Mat::from_fn(60, 2, |i, j| match i {
            0..4 => corner(i, j),
            _ => inner[(i - 4, j)],
        });
        let y = Mat::from_fn(60, 1, |i, _| f(x[(i, 0)], x[(i, 1)]));
        let data = Dataset::new(x, y).unwrap();
        let model = GaussianProcess::default().fit(&data, 0, &|_| Control::Continue);
        let model = model.unwrap();
        let found = model.sensitivity(0).unwrap();
        let variance = 5.0 / 12.0 + 16.0 / 144.0;
        let close = |found: f64, expected: f64| {
            assert!((found - expected).abs() < 2e-3, "{found} {expected}");
        };
        close(found.mean, 1.5);
        close(found.variance, variance);
        let pair = 16.0 / 144.0 / variance;
        for (j, alone) in [1.0 / 12.0, 4.0 / 12.0].into_iter().enumerate() {
            close(found.first[j], alone / variance);
            close(found.total[j], alone / variance + pair);
        }
        close(found.second[(1, 0)], pair);
        close(found.derivative[0], 1.0 + 16.0 / 12.0);
        assert!(!found.closed_form);
        let at = [0.0, 0.3, 1.0];
        for (found, at) in model.effect(0, 1, &at).unwrap().iter().zip(at) {
            close(*found, 0.5 + 2.0 * at);
        }
        assert!(model.sensitivity(1).is_err() && model.effect(0, 2, &at).is_err());
        assert!(model.effect(0, 0, &[f64::NAN]).is_err());
    }
}
