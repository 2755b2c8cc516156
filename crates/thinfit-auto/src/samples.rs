//! The rows as every candidate sees them: scaled, and divided into folds that keep equal inputs together.

use crate::screening::narrowed;
use faer::Mat;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, dot, folds, random_subset, stream};
use thinfit::{Dataset, Scaler, row_list};

/// Largest correlation of two inputs that are taken for independent.
const INDEPENDENT: f64 = 0.3;

/// How many times a squared error must be another's to be clearly larger, however few rows make it so.
const FACTOR: f64 = 4.0;

/// Fisher's z of predictions that tell more than the mean, of one input.
const CHANCE: f64 = 3.0;

/// Rows in scaled units, with their folds.
pub(crate) struct Samples {
    /// The maps to scaled inputs and outputs.
    pub scalers: (Scaler, Scaler),
    /// The rows, scaled.
    pub data: Dataset,
    /// The rows of each fold.
    pub folds: Vec<Vec<usize>>,
}

/// Predictions of rows by models that did not see them, in scaled units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OutOfFold {
    /// y − f, m × c.
    #[serde(with = "row_list")]
    pub residual: Mat<f64>,
    /// Standard deviations of these that the models expected, m × c.
    #[serde(with = "row_list")]
    pub deviation: Mat<f64>,
}

impl Samples {
    /// Scales `data` and divides its rows into `count` folds.
    pub fn new(data: &Dataset, scalers: (Scaler, Scaler), count: usize, seed: u64) -> Self {
        Samples::divided(data.scaled(&scalers), scalers, count, seed)
    }

    /// Rows in scaled units, divided into `count` folds.
    fn divided(data: Dataset, scalers: (Scaler, Scaler), count: usize, seed: u64) -> Self {
        Samples {
            folds: folds(&data, count, seed),
            scalers,
            data,
        }
    }

    /// A random part of the rows, with folds of its own.
    pub fn part(&self, rows: usize, folds: usize, seed: u64) -> Samples {
        let mut rng = stream(seed, Purpose::Starts, 1);
        let mut rows = random_subset(self.data.samples(), rows, &mut rng);
        // Rows that are all alike cannot be predicted from each other, so one that differs is always there.
        let x = &self.data.x;
        let differs = |row: usize| (0..x.ncols()).any(|j| x[(row, j)] != x[(rows[0], j)]);
        if !rows.iter().any(|&row| differs(row))
            && let Some(other) = (0..x.nrows()).find(|&row| differs(row))
        {
            rows[0] = other;
        }
        rows.sort_unstable();
        Samples::divided(self.data.rows(&rows), self.scalers.clone(), folds, seed)
    }

    /// Some of the rows, with as many folds.
    pub fn only(&self, rows: &[usize], seed: u64) -> Samples {
        let count = self.folds.len();
        Samples::divided(self.data.rows(rows), self.scalers.clone(), count, seed)
    }

    /// The same rows and folds with some of the inputs.
    pub fn narrowed(&self, inputs: &[usize]) -> Samples {
        Samples {
            scalers: self.scalers.clone(),
            data: narrowed(&self.data, inputs),
            folds: self.folds.clone(),
        }
    }

    /// The same rows and folds with the outputs of other rows, by random permutation number `draw`. Those of a group stay next to
    /// each other.
    pub fn permuted(&self, seed: u64, draw: u64) -> Samples {
        let groups = self.data.grouped();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        let mut rng = stream(seed, Purpose::Folds, 1 + draw);
        for i in (1..order.len()).rev() {
            order.swap(i, rng.random_range(0..=i));
        }
        let drawn = order.into_iter().flat_map(|g| &groups[g]);
        let mut y = self.data.y.clone();
        for (&row, &other) in groups.iter().flatten().zip(drawn) {
            for o in 0..y.ncols() {
                y[(row, o)] = self.data.y[(other, o)];
            }
        }
        Samples {
            scalers: self.scalers.clone(),
            data: Dataset {
                y,
                ..self.data.clone()
            },
            folds: self.folds.clone(),
        }
    }

    /// Whether the inputs look independent of each other, as in a planned experiment.
    pub fn is_independent(&self) -> bool {
        let noise = 2.0 / (self.data.samples() as f64).sqrt();
        let limit = INDEPENDENT + noise;
        // No correlation is above one, so there is nothing to look for among the pairs of what may be many columns.
        limit > 1.0 + 1e-6 || !correlated(&self.data.x, limit)
    }

    /// The rows that are not in fold `k`.
    pub fn without(&self, k: usize) -> Vec<usize> {
        let mut inside = vec![false; self.data.samples()];
        self.folds[k].iter().for_each(|&row| inside[row] = true);
        (0..inside.len()).filter(|&row| !inside[row]).collect()
    }
}

impl OutOfFold {
    /// Puts the folds together.
    pub fn gather(samples: &Samples, folds: Vec<OutOfFold>) -> Self {
        let (m, c) = (samples.data.samples(), samples.data.y.ncols());
        let mut whole = OutOfFold {
            residual: Mat::zeros(m, c),
            deviation: Mat::zeros(m, c),
        };
        for (rows, fold) in samples.folds.iter().zip(folds) {
            for (i, &row) in rows.iter().enumerate() {
                for o in 0..c {
                    whole.residual[(row, o)] = fold.residual[(i, o)];
                    whole.deviation[(row, o)] = fold.deviation[(i, o)];
                }
            }
        }
        whole
    }

    /// Mean squares (c).
    pub fn mse(&self) -> Vec<f64> {
        let m = self.residual.nrows() as f64;
        let square = |column: faer::ColRef<'_, f64>| column.iter().map(|r| r * r / m).sum();
        self.residual.col_iter().map(square).collect()
    }

    /// The same errors with mean squares larger by `added` (c), as of a model that far from this one.
    pub fn with_added(&self, added: &[f64]) -> Self {
        let mse = self.mse();
        let factor = |o: usize| match mse[o] > 0.0 {
            true => (1.0 + added[o] / mse[o]).sqrt(),
            false => 1.0,
        };
        let residual = &self.residual;
        OutOfFold {
            residual: Mat::from_fn(residual.nrows(), residual.ncols(), |i, o| {
                factor(o) * residual[(i, o)]
            }),
            deviation: self.deviation.clone(),
        }
    }

    /// Mean square over all outputs.
    pub fn error(&self) -> f64 {
        self.mse().iter().sum::<f64>() / self.residual.ncols() as f64
    }

    /// Standard errors of the mean squares (c).
    pub fn standard_error(&self) -> Vec<f64> {
        let (m, mse) = (self.residual.nrows() as f64, self.mse());
        let deviation = |(column, mse): (faer::ColRef<'_, f64>, &f64)| {
            let spread = column.iter().map(|r| (r * r - mse).powi(2)).sum::<f64>();
            (spread / (m * (m - 1.0).max(1.0))).sqrt()
        };
        self.residual.col_iter().zip(&mse).map(deviation).collect()
    }

    /// Whether the mean square over `rows` is below that of `other` by more than chance: by twice the standard error of
    /// the mean difference, row by row, or by a factor that no chance explains, whichever few rows make it.
    pub fn is_clearly_below(&self, other: &OutOfFold, rows: &[usize]) -> bool {
        let m = rows.len() as f64;
        let square = |of: &OutOfFold, i: usize| of.residual.row(i).squared_norm_l2();
        let own: Vec<f64> = rows.iter().map(|&i| square(self, i)).collect();
        let theirs: Vec<f64> = rows.iter().map(|&i| square(other, i)).collect();
        let (sum, total): (f64, f64) = (own.iter().sum(), theirs.iter().sum());
        if total > FACTOR * sum {
            return true;
        }
        let mean = (total - sum) / m;
        let pairs = own.iter().zip(&theirs);
        let spread: f64 = pairs
            .map(|(own, theirs)| (theirs - own - mean).powi(2))
            .sum();
        mean > 2.0 * (spread / (m * (m - 1.0).max(1.0))).sqrt()
    }

    /// Whether predictions of `rows` follow an output: whether Fisher's z of their correlation is above what chance gives
    /// to the best of all inputs, which would predict rows left out as well as those of the fit.
    pub fn follows(&self, data: &Dataset, rows: &[usize]) -> bool {
        let (m, y) = (rows.len() as f64, &data.y);
        let chance = (CHANCE * CHANCE + 2.0 * (data.dim() as f64).ln()).sqrt();
        (0..y.ncols()).any(|o| {
            let predicted = |i: &usize| y[(*i, o)] - self.residual[(*i, o)];
            let centred = |values: Vec<f64>| {
                let mean = values.iter().sum::<f64>() / m;
                values
                    .into_iter()
                    .map(move |v| v - mean)
                    .collect::<Vec<_>>()
            };
            let f = centred(rows.iter().map(predicted).collect());
            let y = centred(rows.iter().map(|i| y[(*i, o)]).collect());
            let norms = (dot(&f, &f) * dot(&y, &y)).sqrt();
            let r = if norms > 0.0 {
                dot(&f, &y) / norms
            } else {
                0.0
            };
            let z = r.min(1.0 - 1e-15).atanh() * (m - 3.0).max(1.0).sqrt();
            z > chance
        })
    }

    /// The residuals of `rows` from another candidate; deviations stay those of this one, whose intervals they scale.
    pub fn replace(&mut self, rows: &[usize], other: &OutOfFold) {
        for &i in rows {
            for o in 0..self.residual.ncols() {
                self.residual[(i, o)] = other.residual[(i, o)];
            }
        }
    }

    /// Mean square of some rows over all outputs.
    pub fn error_of(&self, rows: &[usize]) -> f64 {
        let sum: f64 = rows
            .iter()
            .map(|&i| self.residual.row(i).squared_norm_l2())
            .sum();
        sum / (rows.len() * self.residual.ncols()) as f64
    }

    /// |residual|/deviation of every row (m), for each output.
    pub fn scores(&self) -> Vec<Vec<f64>> {
        let columns = self.residual.col_iter().zip(self.deviation.col_iter());
        columns
            .map(|(residual, deviation)| {
                let pairs = residual.iter().zip(deviation.iter());
                // A deviation of zero belongs to a constant output.
                let score = |(r, s): (&f64, &f64)| {
                    if *r == 0.0 {
                        0.0
                    } else {
                        (r.abs() / s).min(f64::MAX)
                    }
                };
                pairs.map(score).collect()
            })
            .collect()
    }
}

/// Whether the correlation of two columns reaches a limit.
fn correlated(x: &Mat<f64>, limit: f64) -> bool {
    let m = x.nrows() as f64;
    let standard: Vec<Vec<f64>> = (0..x.ncols())
        .map(|j| {
            let column = x.col_as_slice(j);
            let mean = column.iter().sum::<f64>() / m;
            let norm = column
                .iter()
                .map(|v| (v - mean).powi(2))
                .sum::<f64>()
                .sqrt();
            let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
            column.iter().map(|v| (v - mean) * scale).collect()
        })
        .collect();
    let mut pairs = (0..standard.len()).flat_map(|j| (0..j).map(move |k| (j, k)));
    pairs.any(|(j, k)| dot(&standard[j], &standard[k]).abs() >= limit)
}
