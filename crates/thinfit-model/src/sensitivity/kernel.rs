//! Sensitivity indices of a kernel model: exact integrals if the kernel is a sum of smooth products, otherwise
//! estimates on a lattice.

use super::integrals::Products;
use super::{Moments, Sensitivity};
use crate::InputColumn;
use crate::sensitivity::importance::estimated;
use thinfit::Result;
use thinfit_gp::KernelModel;

/// Largest rounding error of the exact integrals, relative to the variance.
const ROUNDING: f64 = 1e-7;

/// Sensitivity indices of output `o` over some factors. `watch` receives the progress from 0 to 1.
///
/// # Errors
/// An output that does not exist, or numbers that leave the finite range.
pub(crate) fn sensitivity(
    model: &KernelModel,
    columns: &[InputColumn],
    o: usize,
    watch: &dyn Fn(f64),
) -> Result<Sensitivity> {
    model.check_output(o)?;
    let noise = rounding(model, o);
    let sound = |moments: &Moments| {
        moments.variance <= noise || columns.len() as f64 * noise <= ROUNDING * moments.variance
    };
    let products = Products::new(model, o, columns);
    let exact = products.map(|products| products.moments(watch));
    match exact.filter(sound) {
        Some(moments) => moments.indices(noise, true),
        None => estimated(model, columns, o, watch),
    }
}

/// The variance of predictions of output `o` from rounding alone.
pub(crate) fn rounding(model: &KernelModel, o: usize) -> f64 {
    let coefficients = model.body.coefficients.col_as_slice(o).iter();
    let size: f64 = coefficients.map(|a| a.abs()).sum();
    let largest = model.output_scaler.scale[o] * model.body.kernel.diagonal() * size;
    (f64::EPSILON * largest).powi(2)
}

#[cfg(test)]
mod tests {
    use super::sensitivity;
    use crate::sensitivity::importance::estimated;
    use crate::tests::random;
    use crate::{InputColumn, Predictor};
    use thinfit::{Control, Dataset, Mat, Warp};
    use thinfit_baselines::KernelRidge;
    use thinfit_gp::{GaussianProcess, KernelTerm, Shape};

    const MEAN: f64 = 0.467716868070901;
    const VARIANCE: f64 = 0.12972386342672204;

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
        let model = Predictor::from(model.unwrap());
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
        assert!(found.closed_form);
        let at = [0.0, 0.3, 1.0];
        for (found, at) in model.effect(0, 1, &at).unwrap().iter().zip(at) {
            close(*found, 0.5 + 2.0 * at);
        }
        assert!(model.sensitivity(1).is_err() && model.effect(0, 2, &at).is_err());
        assert!(model.effect(0, 0, &[f64::NAN]).is_err());
    }

    #[test]
    fn exact_integrals_agree_with_the_lattice_for_sums_of_products() {
        let x = random(40, 3, 7);
        let y = Mat::from_fn(40, 1, |i, _| {
            (3.0 * x[(i, 0)]).sin() * (1.0 + x[(i, 1)]) + x[(i, 2)].powi(2)
        });
        let data = Dataset::new(x, y).unwrap();
        for kernel in [Shape::Gaussian, Shape::Anova] {
            let settings = GaussianProcess {
                kernel,
                ..GaussianProcess::default()
            };
            let mut model = settings.fit(&data, 0, &|_| Control::Continue).unwrap();
            // A second term over some inputs only, and a warped input.
            let mut more = KernelTerm::full(Shape::Gaussian, vec![0.4, 0.7]);
            (more.inputs, more.weight) = (vec![2, 0], 0.3);
            model.body.kernel.terms.push(more);
            let warp = Warp {
                centre: 0.4,
                width: 0.2,
            };
            model.input_scaler.warp = vec![None, Some(warp), None];
            let columns = InputColumn::numbers(&model.inputs, &model.domain, &model.input_scaler);
            let exact = sensitivity(&model, &columns, 0, &|_| ()).unwrap();
            let estimate = estimated(&model, &columns, 0, &|_| ()).unwrap();
            assert!(exact.closed_form && !estimate.closed_form, "{kernel:?}");
            let close = |a: f64, b: f64, slack: f64| {
                assert!((a - b).abs() < slack, "{kernel:?}: {exact:?} {estimate:?}");
            };
            close(exact.mean, estimate.mean, 1e-3 * exact.variance.sqrt());
            close(exact.variance / estimate.variance, 1.0, 2e-3);
            for j in 0..3 {
                close(exact.first[j], estimate.first[j], 2e-3);
                close(exact.total[j], estimate.total[j], 2e-3);
                close(exact.derivative[j] / estimate.derivative[j], 1.0, 5e-3);
                for i in 0..3 {
                    close(exact.second[(i, j)], estimate.second[(i, j)], 2e-3);
                }
            }
        }
    }

    #[test]
    fn exact_integrals_are_those_of_the_error_function() {
        // One kernel at 0.3 on [0, 1], length 0.2: made with mpmath, E f and Var f of exp(−(x − 0.3)²/0.08) by erf.
        let data = Dataset::new(random(40, 3, 3), random(40, 2, 4)).unwrap();
        let ridge = KernelRidge::default().fit(&data, 0, &|_| Control::Continue);
        let mut model = ridge.unwrap();
        model.input_scaler = thinfit::Scaler::identity(3);
        model.output_scaler = thinfit::Scaler::identity(2);
        model.domain = vec![[0.0, 1.0]; 3];
        model.body.points = Mat::from_fn(1, 3, |_, _| 0.3);
        model.body.coefficients = Mat::from_fn(1, 2, |_, _| 1.0);
        model.body.mean = vec![0.0; 2];
        let mut kernel_term = KernelTerm::full(Shape::Gaussian, vec![0.2]);
        kernel_term.inputs = vec![1];
        model.body.kernel = kernel_term.into();
        let columns = InputColumn::numbers(&model.inputs, &model.domain, &model.input_scaler);
        let found = sensitivity(&model, &columns, 0, &|_| ()).unwrap();
        assert!((found.mean - MEAN).abs() < 1e-15, "{found:?}");
        assert!((found.variance - VARIANCE).abs() < 1e-15, "{found:?}");
        assert_eq!(found.total, [0.0, 1.0, 0.0]);
    }
}
