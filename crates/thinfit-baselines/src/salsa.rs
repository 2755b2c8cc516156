//! SALSA (Kandasamy and Yu 2016): kernel ridge regression with an additive kernel whose order is chosen by validation.
//!
//! The kernel of order p is the sum over all sets of p inputs of products of Gaussian kernels, the elementary symmetric
//! polynomial e_p of `kernel.rs`, with lengths h_j = 20 · std(x_j) · m^(−1/5). α = (e_p + λI)⁻¹ y, without an
//! intercept. For p = 1, 2, … we look for the ridge λ in [1e-4 m, 100 m] with the smallest error on the first two of
//! five folds, until three orders in a row bring no improvement; the best pair is then fitted to all rows.
//!
//! Two departures. The original multiplies the kernel by std(y); we divide y by it, which is the same for std(y) = 1
//! and makes the range of λ independent of the units of y. And we search λ on a grid of decades, refined three times by
//! thirds around the best: 13 values, where the original spends 30.

use crate::range::{at_least_one, positive};
use faer::{Mat, Par};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use thinfit::pieces::{Purpose, require, stream};
use thinfit::{Control, Dataset, Error, Observer, Progress, Record, Result, Scaler};
use thinfit_gp::pieces::{
    Expansion, additive_grams, check_data, group_folds, judged_by_folds, kernel_model,
};
use thinfit_gp::pieces::{cholesky, solve};
use thinfit_gp::{Kernel, KernelModel, Shape};

/// Number of folds, and how many of them are held out in turn.
const FOLDS: [usize; 2] = [5, 2];
/// Largest number of entries, and of matrices, computed in one pass over the pairs.
const PASS: (usize, usize) = (1 << 26, 4);

/// Settings of SALSA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Salsa {
    /// Lengths of the kernel, in units of std(x_j) m^(−1/5); 20.
    pub bandwidth: f64,
    /// Smallest and largest ridge, in units of the number of samples; 1e-4 and 100.
    pub lambda: [f64; 2],
    /// Number of orders without improvement after which to stop; 3.
    pub patience: usize,
}

impl Default for Salsa {
    fn default() -> Self {
        Salsa {
            bandwidth: 20.0,
            lambda: [1e-4, 100.0],
            patience: 3,
        }
    }
}

/// The rows fold after fold, and where each fold begins, with the number of rows at the end.
fn in_folds(data: &Dataset, seed: u64) -> Result<(Vec<usize>, Vec<usize>)> {
    let m = data.samples();
    let edge = |fold: usize| (fold as f64 * m as f64 / FOLDS[0] as f64).round() as usize;
    Ok(match group_folds(data, seed)? {
        None => (shuffled(m, seed), (0..=FOLDS[0]).map(edge).collect()),
        Some(folds) => {
            let mut edges = vec![0];
            edges.extend(folds.iter().scan(0, |end, fold| {
                *end += fold.len();
                Some(*end)
            }));
            (folds.concat(), edges)
        }
    })
}

/// A ridge and its mean squared errors on the held-out folds, per output, in scaled outputs.
#[derive(Clone)]
struct Score {
    lambda: f64,
    mse: Vec<f64>,
}

impl Score {
    fn total(&self) -> f64 {
        self.mse.iter().sum()
    }
}

impl Salsa {
    /// The name of the method.
    pub const NAME: &str = "salsa";

    /// Fits `data`. The seed shuffles the rows before they are divided into folds.
    ///
    /// # Errors
    /// Unusable data or settings, fewer than five samples, or kernel matrices that cannot be factorised.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<KernelModel> {
        check_data(data)?;
        self.check()?;
        let (m, d) = (data.samples(), data.dim());
        if m < FOLDS[0] {
            return Err(Error::TooFew {
                what: "samples",
                needed: FOLDS[0],
                found: m,
                advice: "the rows are divided into five folds",
            });
        }
        let (order, edges) = in_folds(data, seed)?;
        let data = data.rows(&order);
        let mut scalers = (Scaler::identity(d), Scaler::to_standard(data.y.as_ref()));
        scalers.1.shift.fill(0.0);
        let y = scalers.1.apply(data.y.as_ref());
        // Sample deviations, as in the original; a constant column has scale one.
        let spread = Scaler::to_standard(data.x.as_ref()).scale;
        let factor_h =
            self.bandwidth * (m as f64).powf(-0.2) * (m as f64 / (m as f64 - 1.0)).sqrt();
        let lengths: Vec<f64> = spread.iter().map(|s| factor_h * s).collect();

        let (best, stopped) = self.choose(&lengths, (&data.x, &y), &edges, observe);
        let (order, score) = best.ok_or_else(|| Error::Data {
            what: "x",
            problem: "no additive kernel matrix can be factorised".into(),
            advice: "look for columns of extreme size",
        })?;
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let record = Record {
            chosen_by: Some("folds".into()),
            stopped,
            ..Record::of(Self::NAME, settings, seed, m)
        };
        let record = record.left_out(&data, &score.mse, &scalers.1.scale, edges[FOLDS[1]]);
        let kernel = Kernel::single(Shape::Additive(order), lengths);
        let points = data.x.clone();
        let (expansion, record) =
            Expansion::ridge(kernel, points, y.as_ref(), score.lambda, record)?;
        observe(&Progress::fraction(1.0));
        let folds = data.groups.as_ref().map(|_| {
            let ranges = edges.windows(2).map(|edges| (edges[0]..edges[1]).collect());
            ranges.collect::<Vec<Vec<usize>>>()
        });
        judged_by_folds(
            kernel_model(&data, scalers, expansion, record)?,
            &data,
            folds,
        )
    }

    /// The best order and ridge, or none if no matrix can be factorised, and whether the search was stopped.
    fn choose(
        &self,
        lengths: &[f64],
        (x, y): (&Mat<f64>, &Mat<f64>),
        edges: &[usize],
        observe: &Observer<'_>,
    ) -> (Option<(usize, Score)>, bool) {
        let (m, d) = (x.nrows(), x.ncols());
        let mut best: Option<(usize, Score)> = None;
        let mut order = 0;
        while order < d {
            let pass = (PASS.0 / (m * m)).clamp(1, PASS.1).min(d - order);
            let grams = additive_grams(lengths, x.as_ref(), order + 1, order + pass);
            for gram in grams {
                order += 1;
                let score = self.search(&gram, y, edges);
                if score.total() < best.as_ref().map_or(f64::INFINITY, |best| best.1.total()) {
                    best = Some((order, score));
                }
                let idle = order - best.as_ref().map_or(0, |best| best.0);
                if idle >= self.patience {
                    return (best, false);
                }
                // An estimate: most searches end after a few orders.
                let at = Progress::fraction(1.0 - 1.0 / (1.0 + 0.3 * order as f64));
                if observe(&at) == Control::Stop && best.is_some() {
                    return (best, true);
                }
            }
        }
        (best, false)
    }

    /// The best ridge for one kernel matrix.
    fn search(&self, gram: &Mat<f64>, y: &Mat<f64>, edges: &[usize]) -> Score {
        let m = y.nrows() as f64;
        let [low, high] = self.lambda.map(|v| (v * m).log10());
        let decades = (high - low).ceil().max(1.0);
        let mut step = (high - low) / decades;
        let grid: Vec<f64> = (0..=decades as usize)
            .map(|i| low + step * i as f64)
            .collect();
        let mut best = self.best_of(&grid, (gram, y), edges);
        for _ in 0..3 {
            step /= 3.0;
            let middle = best.lambda.log10();
            let grid: Vec<f64> = [middle - step, middle + step]
                .into_iter()
                .filter(|v| (low..=high).contains(v))
                .collect();
            let other = self.best_of(&grid, (gram, y), edges);
            if other.total() < best.total() {
                best = other;
            }
        }
        best
    }

    /// The best of the ridges with these logarithms; of equals the first.
    fn best_of(&self, grid: &[f64], (gram, y): (&Mat<f64>, &Mat<f64>), edges: &[usize]) -> Score {
        let m = y.nrows();
        let tasks: Vec<(f64, usize)> = grid
            .iter()
            .flat_map(|log| (0..FOLDS[1]).map(|fold| (10f64.powf(*log), fold)))
            .collect();
        let task = |&(lambda, fold): &(f64, usize)| {
            held_out(gram, y, lambda, edges[fold]..edges[fold + 1])
        };
        // Each copies most of the matrix; run several at a time only if they fit into memory.
        let together = (PASS.0 / (m * m)).max(1);
        let errors: Vec<Vec<f64>> = tasks
            .chunks(together)
            .flat_map(|tasks| tasks.par_iter().map(task).collect::<Vec<_>>())
            .collect();
        let mut best = Score {
            lambda: 1.0,
            mse: vec![f64::INFINITY; y.ncols()],
        };
        for (tasks, errors) in tasks.chunks(FOLDS[1]).zip(errors.chunks(FOLDS[1])) {
            let mse = (0..y.ncols())
                .map(|o| errors.iter().map(|e| e[o]).sum::<f64>() / FOLDS[1] as f64)
                .collect();
            let score = Score {
                lambda: tasks[0].0,
                mse,
            };
            if score.total() < best.total() {
                best = score;
            }
        }
        best
    }

    fn check(&self) -> Result<()> {
        let [low, high] = self.lambda;
        positive("bandwidth", self.bandwidth)?;
        require(
            low > 0.0 && low <= high && high.is_finite(),
            "lambda",
            "two positive numbers in order",
            format!("{low} and {high}"),
        )?;
        at_least_one("patience", self.patience)
    }
}

/// Mean squared errors per output on the rows `held` of a fit to the others; infinite if there is no factor.
fn held_out(gram: &Mat<f64>, y: &Mat<f64>, lambda: f64, held: Range<usize>) -> Vec<f64> {
    let (c, rest) = (y.ncols(), y.nrows() - held.len());
    let row = |i: usize| if i < held.start { i } else { i + held.len() };
    // Column by column, as the matrix lies in memory.
    let mut a = Mat::zeros(rest, rest);
    for j in 0..rest {
        let (from, to) = (gram.col_as_slice(row(j)), a.col_as_slice_mut(j));
        let cut = held.start.max(j);
        to[j..cut].copy_from_slice(&from[row(j)..row(j) + cut - j]);
        to[cut..].copy_from_slice(&from[row(cut.min(rest - 1))..][..rest - cut]);
        to[j] += lambda;
    }
    let Some(l) = cholesky(a, Par::Seq) else {
        return vec![f64::INFINITY; c];
    };
    let alpha = solve(
        l.as_ref(),
        Mat::from_fn(rest, c, |i, o| y[(row(i), o)]).as_ref(),
    );
    (0..c)
        .map(|o| {
            let errors = held.clone().map(|i| {
                let k = |j: usize| if i >= j { gram[(i, j)] } else { gram[(j, i)] };
                let f: f64 = (0..rest).map(|j| k(row(j)) * alpha[(j, o)]).sum();
                (f - y[(i, o)]).powi(2)
            });
            errors.sum::<f64>() / held.len() as f64
        })
        .map(|mse| if mse.is_finite() { mse } else { f64::INFINITY })
        .collect()
}

/// The numbers below `m` in random order.
fn shuffled(m: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..m).collect();
    let mut rng = stream(seed, Purpose::Folds, 0);
    for i in (1..m).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use thinfit_gp::pieces::factor;

    fn fit(x: &Mat<f64>, y: &Mat<f64>) -> Result<KernelModel> {
        let data = Dataset::new(x.clone(), y.clone())?;
        Salsa::default().fit(&data, 0, &|_| Control::Continue)
    }

    #[test]
    fn held_out_errors_are_those_of_a_fit_to_the_other_rows() {
        let (m, c) = (23, 2);
        let (x, y) = (random(m, 3, 1), random(m, c, 2));
        let kernel = Kernel::single(Shape::Additive(2), vec![0.5; 3]);
        let gram = kernel.gram(x.as_ref());
        for held in [0..5, 5..9, 18..23] {
            let (start, len) = (held.start, held.len());
            let rest = |a: &Mat<f64>| {
                Mat::from_fn(m - len, a.ncols(), |i, j| {
                    a[(if i < start { i } else { i + len }, j)]
                })
            };
            let (x_rest, y_rest) = (rest(&x), rest(&y));
            let l = factor(kernel.gram(x_rest.as_ref()).as_ref(), 0.1, Par::Seq)
                .unwrap()
                .l;
            let alpha = solve(l.as_ref(), y_rest.as_ref());
            let f = kernel.cross(x.subrows(start, len), x_rest.as_ref()) * alpha;
            for (o, got) in held_out(&gram, &y, 0.1, held).into_iter().enumerate() {
                let expected =
                    (f.col(o) - y.subrows(start, len).col(o)).squared_norm_l2() / len as f64;
                assert!((got / expected - 1.0).abs() < 1e-10, "{got} {expected}");
            }
        }
    }

    #[test]
    fn sums_of_functions_of_one_input_are_learnt_from_few_samples() {
        let f = |x: &Mat<f64>| {
            Mat::from_fn(x.nrows(), 1, |i, _| {
                2.0 + (3.0 * x[(i, 0)]).sin() + x[(i, 1)].powi(2) - x[(i, 2)]
            })
        };
        let (x, fresh) = (random(120, 8, 1), random(200, 8, 2));
        let model = fit(&x, &f(&x)).unwrap();
        let mse = (model.predict(fresh.as_ref()).unwrap() - f(&fresh)).squared_norm_l2() / 200.0;
        assert!(mse < 1e-3, "{mse}");
        let validation = model.record.validation_mse[0];
        assert!(
            validation < 10.0 * mse && validation > 0.1 * mse,
            "{validation} {mse}"
        );
    }

    #[test]
    fn the_units_of_inputs_and_outputs_do_not_matter() {
        let (x, y) = (random(60, 3, 1), random(60, 1, 2));
        let plain = fit(&x, &y).unwrap();
        let x8 = Mat::from_fn(60, 3, |i, j| 8.0 * x[(i, j)]);
        let y4 = Mat::from_fn(60, 1, |i, _| 0.25 * y[(i, 0)]);
        let scaled = fit(&x8, &y4).unwrap();
        let (a, b) = (
            plain.predict(x.as_ref()).unwrap(),
            scaled.predict(x8.as_ref()).unwrap(),
        );
        for i in 0..60 {
            assert!((0.25 * a[(i, 0)] - b[(i, 0)]).abs() < 1e-9);
        }
    }

    #[test]
    fn odd_data_give_a_model_or_an_error() {
        let (x, y) = (random(9, 2, 1), random(9, 1, 2));
        let constant = Mat::from_fn(9, 2, |i, j| if j == 0 { x[(i, 0)] } else { 0.998 });
        assert!(
            fit(&constant, &y)
                .unwrap()
                .predict(x.as_ref())
                .unwrap()
                .is_all_finite()
        );
        assert!(fit(&x, &Mat::from_fn(9, 1, |_, _| 3.0)).is_ok());
        assert!(fit(&Mat::from_fn(9, 2, |_, _| 1.0), &y).is_ok());
        let error = fit(&random(4, 1, 1), &random(4, 1, 2))
            .unwrap_err()
            .to_string();
        assert!(error.contains("expected at least 5 samples"), "{error}");
        let wrong = Salsa {
            lambda: [1.0, 0.5],
            ..Salsa::default()
        };
        let data = Dataset::new(x, y).unwrap();
        assert!(wrong.fit(&data, 0, &|_| Control::Continue).is_err());
        assert!(
            Salsa::default()
                .fit(&data, 0, &|_| Control::Stop)
                .unwrap()
                .record
                .stopped
        );
    }
}
