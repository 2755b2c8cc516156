//! The optimal output weights of given hidden weights, by the accurate path: for research on random features.

use crate::Form;
use crate::data::{Dataset, check_finite};
use crate::network::features::{fitted, planes};
use crate::solve::orthogonal::Orthogonal;
use crate::solve::ridge::KAPPAS;
use crate::{Activation, Error, Result};
use faer::{Mat, MatRef};

/// The ridge solution b = argmin |A b − y|² + ε|b|² of one set of hidden weights, and its by-products.
#[derive(Clone, Debug)]
pub struct OutputWeights {
    /// b as planes, rows of c numbers: n real and n imaginary parts for Fourier, else n weights and the bias.
    pub weights: Mat<f64>,
    /// Re(A b) at the samples, m × c.
    pub fitted: Mat<f64>,
    /// y_k − f₍₋ₖ₎(x_k), m × c, where f₍₋ₖ₎ was solved without sample k at the same hidden weights and ridge.
    ///
    /// An honest estimate of the error only where the hidden weights were not trained on these samples.
    pub leave_one_out: Mat<f64>,
    /// The ridge ε.
    pub ridge: f64,
}

impl OutputWeights {
    /// Solves for the output weights of `hidden` (n × d, or n × (d + 1) with biases) on the samples, unscaled.
    ///
    /// A ridge `eps` is used as given; without one, ε is chosen by the leave-one-out error.
    ///
    /// # Errors
    /// Hidden weights whose shape does not fit the inputs, or values that are not finite.
    pub fn solve(
        data: &Dataset,
        activation: Activation,
        form: Form,
        hidden: MatRef<'_, f64>,
        eps: Option<f64>,
    ) -> Result<Self> {
        let columns = activation.weights(data.dim());
        if hidden.nrows() == 0 || hidden.ncols() != columns {
            let (expected, found) = (
                format!("n × {columns}"),
                format!("{} × {}", hidden.nrows(), hidden.ncols()),
            );
            return Err(Error::Shape {
                what: "hidden weights",
                expected,
                found,
            });
        }
        check_finite("hidden weights", hidden)?;
        data.check()?;
        if let Some(eps) = eps.filter(|eps| !(eps.is_finite() && *eps >= 0.0)) {
            let expected = "a finite number of at least 0";
            return Err(Error::Config {
                field: "eps",
                expected,
                found: eps.to_string(),
            });
        }
        let e = planes(activation, data.x.as_ref(), hidden);
        let factor = Orthogonal::new(
            activation,
            form,
            e.as_ref(),
            data.y.as_ref(),
            data.weights.as_deref(),
        )?;
        let tau = match eps {
            Some(eps) => Some(eps.sqrt()),
            None => factor
                .choose_by_leave_one_out(&KAPPAS)
                .map(|(kappa, _)| factor.tau(kappa)),
        };
        let tau = tau.ok_or(Error::Diverged {
            what: "the leave-one-out error",
            step: 0,
            advice: "check the scale of the data",
        })?;
        let weights = factor.coefficients(tau);
        Ok(OutputWeights {
            fitted: fitted(activation, e.as_ref(), weights.as_ref()),
            leave_one_out: factor.leave_one_out(tau),
            weights,
            ridge: tau * tau,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leave_one_out_equals_refits_at_the_same_ridge() {
        let m = 25;
        let x = Mat::from_fn(m, 2, |i, j| ((i * (3 + 4 * j)) % 17) as f64 / 17.0);
        let y = Mat::from_fn(m, 2, |i, o| (2.0 * x[(i, 0)] + o as f64).sin() + x[(i, 1)]);
        for activation in Activation::ALL {
            for form in [Form::Complex, Form::Real] {
                let w = Mat::from_fn(5, activation.weights(2), |l, j| {
                    0.3 * (l as f64 + 1.0) - 0.7 * j as f64
                });
                let data = Dataset::new(x.clone(), y.clone()).unwrap();
                let all =
                    OutputWeights::solve(&data, activation, form, w.as_ref(), Some(1e-5)).unwrap();
                for k in 0..m {
                    let others: Vec<usize> = (0..m).filter(|&i| i != k).collect();
                    let refit = OutputWeights::solve(
                        &data.rows(&others),
                        activation,
                        form,
                        w.as_ref(),
                        Some(1e-5),
                    )
                    .unwrap();
                    let alone = data.rows(&[k]);
                    let e = planes(activation, alone.x.as_ref(), w.as_ref());
                    let f = fitted(activation, e.as_ref(), refit.weights.as_ref());
                    for o in 0..2 {
                        let direct = alone.y[(0, o)] - f[(0, o)];
                        let closed = all.leave_one_out[(k, o)];
                        assert!(
                            (direct - closed).abs() <= 1e-8 * direct.abs().max(1e-3),
                            "{activation:?} {form:?} {k}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_weight_of_two_is_the_row_twice() {
        let x = Mat::from_fn(20, 1, |i, _| i as f64 / 20.0);
        let y = Mat::from_fn(20, 1, |i, _| (5.0 * x[(i, 0)]).cos());
        let data = Dataset::new(x, y).unwrap();
        let w = Mat::from_fn(4, 2, |l, j| l as f64 - 1.5 * j as f64);
        let twice = data.rows(&(0..20).chain([3, 7]).collect::<Vec<_>>());
        let mut weights = vec![1.0; 20];
        (weights[3], weights[7]) = (2.0, 2.0);
        let weighted = data.with_weights(weights).unwrap();
        let [a, b] = [&weighted, &twice].map(|data| {
            OutputWeights::solve(
                data,
                Activation::Tanh,
                Form::Complex,
                w.as_ref(),
                Some(1e-6),
            )
            .unwrap()
            .weights
        });
        assert!((a - b).norm_max() < 1e-9);
    }
}
