//! Standard errors of Sobol indices that result from the error of the model.
//!
//! The function is g + r with the model g and an error r, a Gaussian process with the posterior covariance C of the
//! model. C is scaled until its mean variance is twice the mean squared error on held-out rows, less the noise,
//! because the posterior ignores the uncertainty of length scales and hidden weights, and held-out rows that selected
//! these are optimistic. With V = Var g, V' = V + E Var r and parts of the variance V_u, an index S = V_u/V is off by
//!
//! ```text
//! δ = 2 E_x[(g_u − S (g − E g)) r]/V′ + (V_u[r] − S Var r)/V′
//! ```
//!
//! where g_u is E[g | x_j] for a first-order index and g − E[g | all but x_j] for a total one. The first term is
//! normal with mean zero; mean and variance of the second follow from traces of C. The standard error is the root of
//! E δ². Expectations over x are means over a lattice. `cargo run -p thinfit-methods --example index_errors` measures
//! how often the true index lies within two of them.

use super::Sensitivity;
use crate::extrapolation::Excess;
use crate::{Covariance, InputColumn, Predictor};
use thinfit::pieces::lattice;
use thinfit::{Error, Mat, Result};

/// Minimum and maximum number of points of the lattice.
const POINTS: [usize; 2] = [256, 1024];
/// Points at which one factor is exchanged, for the part of it in the variance of r.
const EXCHANGED: usize = 64;
/// Points of a factor at which g is evaluated, for few factors and for many.
const NODES: [usize; 2] = [16, 8];
/// More columns than these are many.
const MANY: usize = 12;
/// Places of each factor of a pair, and points of the other columns.
const PAIR: usize = 8;
/// The mean square of r relative to that of the held-out errors, which chose the settings of the model: of 37 Gaussian processes
/// fitted to published functions the true mean square was 1.3 times that on held-out rows in the median, and up to three times.
const OPTIMISM: f64 = 2.0;
/// Work of predictions and of covariances, in products: some seconds on two cores.
const WORK: u64 = 1 << 33;

/// Standard errors of the indices of one output.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexErrors {
    /// Of the first-order indices (d).
    pub first: Vec<f64>,
    /// Of the total indices (d).
    pub total: Vec<f64>,
    /// The factor from the covariances of the model to those of r.
    unit: f64,
    /// V'.
    variance: f64,
    /// E Var r.
    unexplained: f64,
    /// The standard error of Var g that is linear in r, as a share of V'.
    of_variance: f64,
}

/// Points of the columns, and the covariance of r between them.
struct Points {
    /// Shares of the distributions of the columns (n × columns).
    shares: Mat<f64>,
    /// The inputs (n × d).
    x: Mat<f64>,
}

impl Points {
    fn new(model: &Predictor, columns: &[InputColumn], shares: Mat<f64>) -> Self {
        let mut row = vec![0.0; model.inputs().len()];
        let mut x = Mat::zeros(shares.nrows(), row.len());
        for i in 0..shares.nrows() {
            for (k, factor) in columns.iter().enumerate() {
                factor.quantile(shares[(i, k)], &mut row);
            }
            row.iter().enumerate().for_each(|(j, v)| x[(i, j)] = *v);
        }
        Points { shares, x }
    }

    /// The inputs with factor k at `share` in every row.
    fn with(&self, columns: &[InputColumn], k: usize, share: impl Fn(usize) -> f64) -> Mat<f64> {
        let (mut x, factor) = (self.x.clone(), &columns[k]);
        let mut row = vec![0.0; x.ncols()];
        for i in 0..x.nrows() {
            factor.quantile(share(i), &mut row);
            for j in factor.first..factor.first + factor.inputs() {
                x[(i, j)] = row[j];
            }
        }
        x
    }
}

impl Predictor {
    /// Standard errors of the `indices` of output `o` over `columns`: how far those of the function may be from those of the model.
    ///
    /// # Errors
    /// A model without an error on held-out rows or without uncertainty, a constant, ranges far beyond the samples, or numbers that
    /// leave the finite range.
    pub fn index_errors(
        &self,
        o: usize,
        columns: &[InputColumn],
        indices: &Sensitivity,
    ) -> Result<IndexErrors> {
        let d = columns.len();
        let nodes = NODES[usize::from(d > MANY)];
        let n = self.affordable(nodes * d);
        let points = Points::new(self, columns, lattice(n, d, &[]));
        let Covariance {
            between,
            noise,
            scale,
        } = self.covariance(points.x.as_ref(), points.x.as_ref())?;
        let size = mean((0..n).map(|i| between[(i, i)].max(0.0)), n);
        let own = scale[o].powi(2) * size;
        let held_out = self.unexplained(o, own, scale[o].powi(2) * noise, &points.x)?;
        let unexplained = OPTIMISM * held_out;
        if indices.variance <= 0.0 {
            return Err(refused("the model is constant", "fit it to more rows"));
        }
        // If the posterior is exact up to rounding, r is one number for each point.
        let is_sure = size == 0.0;
        let (c, unit) = match is_sure {
            true => (Mat::identity(n, n), unexplained),
            false => (between, unexplained / size),
        };
        let total: f64 = (0..n).map(|i| c[(i, i)].max(0.0)).sum();
        let of_r = unit * scatter(&c);
        let spread = 2.0 * c.squared_norm_l2() / total.powi(2).max(f64::MIN_POSITIVE);
        let mut errors = IndexErrors {
            first: Vec::new(),
            total: Vec::new(),
            unit,
            variance: indices.variance + of_r,
            unexplained: of_r,
            of_variance: 0.0,
        };
        let f = self.predict(points.x.as_ref())?.col_as_slice(o).to_vec();
        let middle = mean(f.iter().copied(), n);
        let mut linear = Mat::zeros(n, 2 * d + 1);
        let mut quadratic = Vec::new();
        for (j, factor) in columns.iter().enumerate() {
            let count = factor.choices().map_or(nodes, |choices| choices.min(nodes));
            let mut values = Mat::zeros(n, count);
            for l in 0..count {
                let share = (l as f64 + 0.5) / count as f64;
                let x = points.with(columns, j, |_| share);
                let f = self.predict(x.as_ref())?;
                values.col_mut(l).copy_from(f.col(o));
            }
            let alone: Vec<f64> = (0..count)
                .map(|l| mean(values.col_as_slice(l).iter().copied(), n))
                .collect();
            let bins: Vec<usize> = (0..n)
                .map(|i| ((points.shares[(i, j)] * count as f64) as usize).min(count - 1))
                .collect();
            for i in 0..n {
                let others = mean(values.row(i).iter().copied(), count);
                let apart = f[i] - middle;
                linear[(i, j)] = alone[bins[i]] - middle - indices.first[j] * apart;
                linear[(i, d + j)] = f[i] - others - indices.total[j] * apart;
                linear[(i, 2 * d)] = apart;
            }
            let (part, variance) = grouped(&c, &bins, count);
            let of_total = match is_sure {
                true => of_r,
                false => unit * self.exchanged(columns, j)?,
            };
            let of_part = unit * part;
            // The model has no error in a factor that it ignores; an equal share of its total error may still be due to that factor.
            let even = (held_out / d as f64).powi(2);
            // The correlation of V_u[r] and Var r is unknown, so their variances are added.
            let second = |index: f64, part: f64, variance: f64| {
                (part - index * of_r).powi(2) + variance + (index * of_r).powi(2) * spread + even
            };
            quadratic.push([
                second(indices.first[j], of_part, unit * unit * variance),
                second(indices.total[j], of_total, of_total.powi(2) * spread),
            ]);
        }
        let along = &c * &linear;
        let term = |k: usize| {
            let pairs = linear.col_as_slice(k).iter().zip(along.col_as_slice(k));
            4.0 * unit * pairs.map(|(a, b)| a * b).sum::<f64>().max(0.0) / (n * n) as f64
        };
        let sampling = indices.second_error;
        let error = |k: usize, second: f64| {
            ((term(k) + second).sqrt() / errors.variance)
                .hypot(sampling)
                .min(1.0)
        };
        let of = |at: usize| -> Vec<f64> {
            let each = quadratic.iter().enumerate();
            each.map(|(j, second)| error(at * d + j, second[at]))
                .collect()
        };
        let (first, total) = (of(0), of(1));
        errors.of_variance = term(2 * d).sqrt() / errors.variance;
        (errors.first, errors.total) = (first, total);
        match errors
            .first
            .iter()
            .chain(&errors.total)
            .all(|v| v.is_finite())
        {
            true => Ok(errors),
            false => Err(refused(
                "the covariances of the model leave the finite range",
                "rescale the columns to unit variance",
            )),
        }
    }

    /// The standard error of `share`, the interaction of the factors of `pair`, given the errors of the indices.
    ///
    /// # Errors
    /// As [`Predictor::index_errors`].
    pub fn pair_error(
        &self,
        o: usize,
        columns: &[InputColumn],
        pair: [usize; 2],
        share: f64,
        errors: &IndexErrors,
    ) -> Result<f64> {
        let counts = pair.map(|k| {
            columns[k]
                .choices()
                .map_or(PAIR, |choices| choices.min(PAIR))
        });
        let cells = counts[0] * counts[1];
        let others = lattice(PAIR, columns.len(), &[]);
        let shares = Mat::from_fn(cells * PAIR, columns.len(), |i, k| {
            let (cell, point) = (i / PAIR, i % PAIR);
            match pair.iter().position(|of| *of == k) {
                Some(0) => ((cell / counts[1]) as f64 + 0.5) / counts[0] as f64,
                Some(_) => ((cell % counts[1]) as f64 + 0.5) / counts[1] as f64,
                None => others[(point, k)],
            }
        });
        let points = Points::new(self, columns, shares);
        let c = self
            .covariance(points.x.as_ref(), points.x.as_ref())?
            .between;
        let f = self.predict(points.x.as_ref())?;
        let mut effect = Mat::from_fn(cells, 1, |a, _| {
            mean((0..PAIR).map(|p| f[(a * PAIR + p, o)]), PAIR)
        });
        // Only between different points of the other factors, whose own effects would count otherwise.
        let mut covariance = Mat::from_fn(cells, cells, |a, b| {
            let of = |p: usize, q: usize| c[(a * PAIR + p, b * PAIR + q)];
            let all = (0..PAIR).flat_map(|p| (0..PAIR).map(move |q| (p, q)));
            let sum: f64 = all.filter(|(p, q)| p != q).map(|(p, q)| of(p, q)).sum();
            sum / (PAIR * (PAIR - 1)) as f64
        });
        centre(&mut effect, counts);
        centre(&mut covariance, counts);
        let mut covariance = covariance.transpose().to_owned();
        centre(&mut covariance, counts);
        let along = &covariance * &effect;
        let n = (cells * cells) as f64;
        let pairs = effect.col_as_slice(0).iter().zip(along.col_as_slice(0));
        let linear = 4.0 * errors.unit * pairs.map(|(a, b)| a * b).sum::<f64>().max(0.0) / n;
        let part = mean((0..cells).map(|a| covariance[(a, a)].max(0.0)), cells);
        let variance = 2.0 * covariance.squared_norm_l2() / n;
        let second = (errors.unit * part - share * errors.unexplained).powi(2)
            + errors.unit.powi(2) * variance;
        let error = (linear + second).sqrt() / errors.variance;
        Ok(error.hypot(share * errors.of_variance).min(1.0))
    }

    /// Points at which covariances, and predictions `times` over, are affordable.
    fn affordable(&self, times: usize) -> usize {
        let (value, covariance) = match self {
            Predictor::Network(model) => (model.parameters(), model.width().pow(2)),
            Predictor::Kernel(model) => {
                let m = model.body.points.nrows();
                (m * model.body.kernel.parameters(), m * m)
            }
        };
        let each = value.saturating_mul(times).max(covariance).max(1);
        let [least, most] = POINTS.map(|points| points as u64);
        1 << (WORK / each as u64).clamp(least, most).ilog2()
    }

    /// The mean square of what the model gets wrong of output `o` at the rows of `x`, noise left out: of errors on held-out rows, no
    /// less than `own`, which the model expects, and what is not known beyond the samples. `noise` is the variance that a process
    /// has.
    fn unexplained(&self, o: usize, own: f64, noise: f64, x: &Mat<f64>) -> Result<f64> {
        let record = self.record();
        let Some(mse) = record.validation_mse.get(o) else {
            return Err(Error::Data {
                what: "index errors",
                problem: format!(
                    "the method `{}` has no error on held-out rows",
                    record.method
                ),
                advice: "fit a Gaussian process or a thin network",
            });
        };
        let found = record.diagnosis.as_ref();
        let noise = match self {
            Predictor::Kernel(model) if model.body.signal.as_deref().is_some() => noise,
            _ => found
                .and_then(|found| found.noise.get(o))
                .map_or(0.0, |noise| noise * noise),
        };
        let outside = Excess::at(self, x.as_ref())?;
        let outside = outside.map_or(0.0, |excess| excess.variance(o));
        let unexplained = (mse - noise).max(own) + outside;
        match unexplained.is_finite() {
            true => Ok(unexplained),
            false => Err(refused(
                "the ranges reach far beyond the samples",
                "take samples there",
            )),
        }
    }

    /// E E Var(r | all columns but j), in the units of the covariances.
    fn exchanged(&self, columns: &[InputColumn], j: usize) -> Result<f64> {
        let d = columns.len();
        let shares = lattice(EXCHANGED, 2 * d, &[]);
        let points = Points::new(self, columns, shares.subcols(0, d).to_owned());
        let other = points.with(columns, j, |i| shares[(i, d + j)]);
        let both = Mat::from_fn(2 * EXCHANGED, other.ncols(), |i, k| match i < EXCHANGED {
            true => points.x[(i, k)],
            false => other[(i - EXCHANGED, k)],
        });
        let c = self.covariance(both.as_ref(), both.as_ref())?.between;
        let apart = |i: usize| {
            let k = i + EXCHANGED;
            0.5 * (c[(i, i)] + c[(k, k)] - 2.0 * c[(i, k)]).max(0.0)
        };
        Ok(mean((0..EXCHANGED).map(apart), EXCHANGED))
    }
}

fn refused(problem: &str, advice: &'static str) -> Error {
    Error::Data {
        what: "index errors",
        problem: problem.into(),
        advice,
    }
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

/// E Var r over the points: the mean variance less the mean covariance of two points.
fn scatter(c: &Mat<f64>) -> f64 {
    let n = c.nrows();
    let own: f64 = (0..n).map(|i| c[(i, i)]).sum();
    let all: f64 = c.col_iter().map(|column| column.iter().sum::<f64>()).sum();
    (own / n as f64 - (all - own) / (n * (n - 1)) as f64).max(0.0)
}

/// Mean and variance of Var E\[r | bin\], from covariances between points in `count` bins.
fn grouped(c: &Mat<f64>, bins: &[usize], count: usize) -> (f64, f64) {
    let (mut sums, mut sizes) = (Mat::<f64>::zeros(count, count), vec![0.0; count]);
    for (j, b) in bins.iter().enumerate() {
        sizes[*b] += 1.0;
        for (i, a) in bins.iter().enumerate().filter(|(i, _)| *i != j) {
            sums[(*a, *b)] += c[(i, j)];
        }
    }
    let pairs = |a: usize, b: usize| -> f64 {
        // A point is not paired with itself, since the effects of the others would count.
        match a == b {
            true => sizes[a] * (sizes[a] - 1.0),
            false => sizes[a] * sizes[b],
        }
    };
    let mut means = Mat::from_fn(count, count, |a, b| sums[(a, b)] / pairs(a, b).max(1.0));
    centre(&mut means, [count, 1]);
    let mut means = means.transpose().to_owned();
    centre(&mut means, [count, 1]);
    let part = mean((0..count).map(|a| means[(a, a)]), count).max(0.0);
    let variance = 2.0 * means.squared_norm_l2() / (count * count) as f64;
    (part, variance)
}

/// Takes the means over the rows of each column from it; of rows that are the cells of two columns, those over either factor.
fn centre(a: &mut Mat<f64>, [first, second]: [usize; 2]) {
    for j in 0..a.ncols() {
        let column = a.col_as_slice_mut(j);
        for k in 0..second {
            let middle = mean((0..first).map(|i| column[i * second + k]), first);
            (0..first).for_each(|i| column[i * second + k] -= middle);
        }
        if second > 1 {
            for row in column.chunks_mut(second) {
                let middle = mean(row.iter().copied(), second);
                row.iter_mut().for_each(|v| *v -= middle);
            }
        }
    }
}
