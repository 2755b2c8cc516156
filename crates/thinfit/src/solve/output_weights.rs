//! The optimal output weights for given hidden weights, by orthogonal factorisation, for research on random features.

use crate::Form;
use crate::data::rows::Rows;
use crate::data::{Dataset, check_finite, divided, one_group};
use crate::network::features::{fitted, planes};
use crate::solve::orthogonal::{Orthogonal, least};
use crate::solve::ridge::KAPPAS;
use crate::{Activation, Error, Result};
use faer::{Mat, MatRef};

/// How many folds choose the ridge for samples in groups.
const FOLDS: usize = 10;

/// The ridge solution b = argmin |A b − y|² + ε|b|² of one set of hidden weights, and its by-products.
#[derive(Clone, Debug)]
pub struct OutputWeights {
    /// b as planes, rows of c numbers: n real and n imaginary parts for Fourier, else n weights and the bias.
    pub weights: Mat<f64>,
    /// Re(A b) at the samples, m × c.
    pub fitted: Mat<f64>,
    /// y_k − f₍₋ₖ₎(x_k), m × c, where f₍₋ₖ₎ was solved without sample k at the same hidden weights and ridge; for samples in groups,
    /// without those of a fold that divides no group.
    ///
    /// An unbiased estimate of the error only if the hidden weights were not trained on these samples.
    pub leave_one_out: Mat<f64>,
    /// The ridge ε.
    pub ridge: f64,
}

impl OutputWeights {
    /// Solves for the output weights of `hidden` (n × d, or n × (d + 1) with biases) on the samples, unscaled.
    ///
    /// A ridge `eps` is used as given; without one, ε is chosen by the errors of samples left out.
    ///
    /// # Errors
    /// Hidden weights whose shape does not fit the inputs, values that are not finite, or all samples in one group.
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
        let factored = |e: &Mat<f64>, data: &Dataset| {
            let weights = data.weights.as_deref();
            Orthogonal::new(activation, form, e.as_ref(), data.y.as_ref(), weights)
        };
        let factor = factored(&e, data)?;
        let folds = Folds::new(data, activation, &e, &factored)?;
        let chosen = match (eps, &folds) {
            (Some(_), _) => None,
            (None, None) => factor.choose_by_leave_one_out(&KAPPAS),
            (None, Some(folds)) => least(&KAPPAS, |kappa| {
                let f = folds.predicted(&|factor| factor.tau(kappa));
                Rows::of(data).mean_square(f.as_ref())
            }),
        };
        let tau: &dyn Fn(&Orthogonal) -> f64 = match (eps, chosen) {
            (Some(eps), _) => &move |_| eps.sqrt(),
            (None, Some((kappa, _))) => &move |factor| factor.tau(kappa),
            (None, None) => {
                return Err(Error::Diverged {
                    what: "the leave-one-out error",
                    step: 0,
                    advice: "check the scale of the data",
                });
            }
        };
        let left_out = match &folds {
            None => factor.leave_one_out(tau(&factor)),
            Some(folds) => &data.y - folds.predicted(tau),
        };
        let tau = tau(&factor);
        let weights = factor.coefficients(tau);
        Ok(OutputWeights {
            fitted: fitted(activation, e.as_ref(), weights.as_ref()),
            leave_one_out: left_out,
            weights,
            ridge: tau * tau,
        })
    }
}

/// Fits to the rows of other folds, which divide no group.
struct Folds<'a> {
    data: &'a Dataset,
    activation: Activation,
    /// The rows of each fold, their planes, and the factor of all other rows.
    parts: Vec<(Vec<usize>, Mat<f64>, Orthogonal)>,
}

impl<'a> Folds<'a> {
    /// None without groups.
    fn new(
        data: &'a Dataset,
        activation: Activation,
        e: &Mat<f64>,
        factored: &dyn Fn(&Mat<f64>, &Dataset) -> Result<Orthogonal>,
    ) -> Result<Option<Self>> {
        if data.groups.is_none() {
            return Ok(None);
        }
        let folds = divided(data.inseparable(FOLDS), FOLDS);
        if folds.len() < 2 {
            return Err(one_group(folds.len()));
        }
        let of = |rows: &[usize]| Mat::from_fn(rows.len(), e.ncols(), |i, j| e[(rows[i], j)]);
        let parts = folds.into_iter().map(|held| {
            let others = (0..data.samples()).filter(|i| held.binary_search(i).is_err());
            let others: Vec<usize> = others.collect();
            let factor = factored(&of(&others), &data.rows(&others))?;
            Ok((held.clone(), of(&held), factor))
        });
        Ok(Some(Folds {
            data,
            activation,
            parts: parts.collect::<Result<_>>()?,
        }))
    }

    /// f at every row (m × c), with the ridge τ of a factorisation.
    fn predicted(&self, tau: &dyn Fn(&Orthogonal) -> f64) -> Mat<f64> {
        let mut predicted = Mat::zeros(self.data.samples(), self.data.y.ncols());
        for (rows, e, factor) in &self.parts {
            let b = factor.coefficients(tau(factor));
            let f = fitted(self.activation, e.as_ref(), b.as_ref());
            for (i, &row) in rows.iter().enumerate() {
                (0..f.ncols()).for_each(|o| predicted[(row, o)] = f[(i, o)]);
            }
        }
        predicted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_one_setting_do_not_choose_the_ridge() {
        // Ten settings of twelve readings each, whose readings share an error.
        let x = Mat::from_fn(120, 1, |i, _| {
            (i % 10) as f64 / 10.0 + 1e-4 * (i / 10) as f64
        });
        let y = Mat::from_fn(120, 1, |i, _| x[(i, 0)] + ((i % 10) * 7 % 5) as f64);
        let data = Dataset::new(x, y).unwrap();
        let hidden = Mat::from_fn(40, 1, |l, _| (l as f64 - 20.0) * 0.2);
        let solve = |data: &Dataset| {
            let fourier = Activation::Fourier;
            OutputWeights::solve(data, fourier, Form::Real, hidden.as_ref(), None).unwrap()
        };
        let alone = solve(&data);
        let grouped = data.clone().with_groups((0..120).map(|i| i % 10).collect());
        let together = solve(&grouped.unwrap());
        assert!(together.ridge > alone.ridge);
        let error = |solved: &OutputWeights| solved.leave_one_out.squared_norm_l2();
        assert!(error(&together) > 10.0 * error(&alone));
    }

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
