//! SHRIMP (Xie, Shi, Schaeffer and Ward 2022): sparse random Fourier features, pruned by magnitude.
//!
//! Draws many frequencies ω with q non-zero entries each, then repeatedly fits the coefficients of f(x) = Σ_l (a_l
//! cos⟨ω_l, x⟩ + c_l sin⟨ω_l, x⟩)/√N with minimal norm and drops those below a quantile of their magnitudes
//! (`pruning.rs`). The validation rows choose the number of features and the order q. The published final fit has no
//! ridge and keeps singular values down to 1e-15 of the largest. That is exact without noise and arbitrary with it, so
//! here the validation rows also choose the cutoff.

use crate::choice::best_of;
use crate::fourier::{Density, complex, cosines_and_sines, frequencies, network, subsets, waves};
use crate::least_squares::truncated;
use crate::prepared::Prepared;
use crate::pruning::{Gram, Krylov, prune};
use crate::range::{at_least_one, positive};
use faer::{Mat, c64};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, random_subset, require, stream};
use thinfit::{Dataset, Form, Model, Network, Observer, Record, Result, Scaling};

/// Candidates for the cutoff of singular values in the final fit, relative to the largest and never below rounding. The
/// last is what the ridge of the pruning amounts to, √1e-13.
const CUTOFFS: [f64; 3] = [0.0, 1e-10, 3e-7];

/// Which features are pruned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShrimpVariant {
    /// As published: cosines and sines with a coefficient each, minimal norm, entries of ω from N(0, 1/q).
    #[default]
    Real,
    /// As in Potts and Weidensager: e^{i⟨ω, x⟩} with complex coefficients, regularised by stopping LSQR after a hundred
    /// steps instead of a ridge, entries of ω from N(0, 1/q²). Unlike theirs, the rows are shuffled, the unpruned fit
    /// is a candidate, and the final fit uses all rows.
    Complex,
}

/// Settings of SHRIMP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shrimp {
    /// Number of frequencies at the start, N; 10,000.
    pub features: usize,
    /// Fraction of the columns that each pruning drops; 0.25.
    pub prune: f64,
    /// Maximum number of prunings; 100.
    pub steps: usize,
    /// Candidates for the order q; those above the number of inputs are skipped; 1 to 5.
    pub orders: Vec<usize>,
    /// Ridge l in AᵀA/m + lI, in place of minimal norm; 1e-13.
    pub ridge: f64,
    /// Which features are pruned; cosines and sines.
    pub variant: ShrimpVariant,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for Shrimp {
    fn default() -> Self {
        Shrimp {
            features: 10_000,
            prune: 0.25,
            steps: 100,
            orders: (1..=5).collect(),
            ridge: 1e-13,
            variant: ShrimpVariant::Real,
            scaling: Scaling::None,
        }
    }
}

impl Shrimp {
    /// The name of the method.
    pub const NAME: &str = "shrimp";

    /// Fits `data`. A stopped fit chooses among the orders tried so far.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        let (d, orders) = (data.dim(), &self.orders);
        let orders: Vec<usize> = orders.iter().copied().filter(|&q| q <= d).collect();
        require(
            !orders.is_empty() && !orders.contains(&0),
            "orders",
            "numbers from 1 to the number of inputs",
            format!("{:?}", self.orders),
        )?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let (kept, stopped) = best_of(&orders, observe, |&q| {
            let mut rng = stream(seed, Purpose::Frequencies, q as u64);
            let sets = self.supports(d, q, &mut rng);
            let sets: Vec<&[usize]> = sets.iter().map(Vec::as_slice).collect();
            let scale = match self.variant {
                ShrimpVariant::Real => 1.0 / (q as f64).sqrt(),
                ShrimpVariant::Complex => 1.0 / q as f64,
            };
            let omega = frequencies(&sets, d, Density::Normal, scale, &mut rng);
            self.prune(&prepared, omega)
        })?;
        let mut record = prepared.record(Self::NAME, self, seed);
        record.stopped = stopped;
        self.finish(prepared, kept, record)
    }

    /// The inputs of each frequency: equally many on every set of `q` inputs, or random sets if there are too many.
    fn supports(&self, d: usize, q: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<usize>> {
        match subsets(d, q, self.features) {
            None => (0..self.features)
                .map(|_| random_subset(d, q, rng))
                .collect(),
            Some(sets) => {
                let each = match self.variant {
                    ShrimpVariant::Real => self.features / sets.len(),
                    ShrimpVariant::Complex => self.features.div_ceil(sets.len()),
                };
                sets.iter()
                    .flat_map(|set| vec![set.clone(); each])
                    .collect()
            }
        }
    }

    /// Prunes the features of these frequencies; returns the smallest validation error and its features.
    pub(crate) fn prune(
        &self,
        prepared: &Prepared<'_>,
        omega: Mat<f64>,
    ) -> Result<(f64, Features)> {
        let (rate, l) = (self.prune, self.ridge);
        at_least_one("features", self.features)?;
        let fraction = "a number between 0 and 1";
        require(rate > 0.0 && rate < 1.0, "prune", fraction, rate)?;
        positive("ridge", l)?;
        let (train, held) = (&prepared.train, &prepared.validation);
        let (error, columns, raised) = match self.variant {
            ShrimpVariant::Real => {
                let scale = 1.0 / (omega.nrows() as f64).sqrt();
                let planes =
                    |rows: &Dataset| cosines_and_sines(rows.x.as_ref(), omega.as_ref(), scale);
                let mut system = Gram::new(planes(train), train.y.as_ref(), l);
                let y = held.y.as_ref();
                let (error, columns) = prune(&mut system, planes(held), y, rate, self.steps)?;
                (error, columns, system.raised)
            }
            ShrimpVariant::Complex => {
                let waves = |rows: &Dataset| waves(rows.x.as_ref(), omega.as_ref());
                let mut system = Krylov(waves(train), complex(train.y.as_ref()));
                let y = complex(held.y.as_ref());
                let (error, columns) =
                    prune(&mut system, waves(held), y.as_ref(), rate, self.steps)?;
                (error, columns, 0)
            }
        };
        let features = Features {
            omega,
            columns,
            raised,
        };
        Ok((error, features))
    }

    /// The model of these features, with coefficients fitted to all rows.
    pub(crate) fn finish(
        &self,
        prepared: Prepared<'_>,
        features: Features,
        mut record: Record,
    ) -> Result<Model> {
        let fit = |rows: &Dataset| match self.variant {
            ShrimpVariant::Real => features.fit_real(rows).map(Vec::from),
            ShrimpVariant::Complex => Ok(vec![features.fit_complex(rows)]),
        };
        let (held_out, networks) = rayon::join(|| fit(&prepared.train), || fit(&prepared.all));
        let error = |(held_out, _): &(Network, Network)| prepared.validate(held_out);
        let (held_out, network) = std::iter::zip(held_out?, networks?)
            .min_by(|a, b| error(a).total_cmp(&error(b)))
            .expect("there is at least one cutoff");
        record.raised = features.raised;
        record.form = match self.variant {
            ShrimpVariant::Real => Form::Real,
            ShrimpVariant::Complex => Form::Complex,
        };
        prepared.model(network, &held_out, record)
    }
}

/// The features left after pruning: columns of \[cos | sin\] or of e^{i⟨ω, x⟩}.
pub(crate) struct Features {
    omega: Mat<f64>,
    columns: Vec<usize>,
    /// How often the ridge was raised during pruning.
    raised: usize,
}

impl Features {
    /// A network for each cutoff.
    fn fit_real(&self, rows: &Dataset) -> Result<[Network; CUTOFFS.len()]> {
        let n = self.omega.nrows();
        let scale = 1.0 / (n as f64).sqrt();
        let mut used: Vec<usize> = self.columns.iter().map(|column| column % n).collect();
        used.sort_unstable();
        used.dedup();
        let omega = row_subset(&self.omega, &used);
        let place = |column: usize| used.partition_point(|&l| l < column % n);
        let planes = cosines_and_sines(rows.x.as_ref(), omega.as_ref(), scale);
        let columns: Vec<usize> = self
            .columns
            .iter()
            .map(|&column| place(column) + column / n * used.len())
            .collect();
        let (a, y) = (
            Mat::from_fn(planes.nrows(), columns.len(), |i, j| {
                planes[(i, columns[j])]
            }),
            rows.y.as_ref(),
        );
        let rounding = a.nrows().max(a.ncols()) as f64 * f64::EPSILON;
        let fits = truncated(a.as_ref(), y, CUTOFFS.map(|cutoff| cutoff.max(rounding)))?;
        Ok(fits.map(|coefficients| {
            let mut b = Mat::<c64>::zeros(used.len(), rows.y.ncols());
            for (i, &column) in columns.iter().enumerate() {
                for o in 0..b.ncols() {
                    let value = scale * coefficients[(i, o)];
                    match column.checked_sub(used.len()) {
                        None => b[(column, o)].re = value,
                        // a cos t + c sin t is the real part of (a − ic) e^{it}.
                        Some(sine) => b[(sine, o)].im = -value,
                    }
                }
            }
            network(omega.as_ref(), b.as_ref())
        }))
    }

    fn fit_complex(&self, rows: &Dataset) -> Network {
        let omega = row_subset(&self.omega, &self.columns);
        let system = Krylov(
            waves(rows.x.as_ref(), omega.as_ref()),
            complex(rows.y.as_ref()),
        );
        network(omega.as_ref(), system.coefficients().as_ref())
    }
}

fn row_subset(a: &Mat<f64>, rows: &[usize]) -> Mat<f64> {
    Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use thinfit::Control;
    use thinfit::pieces::quantile;

    /// Σ_{i<j≤3} (2x_i − 1)(2x_j − 1) on `m` points of [−1, 1]^10.
    fn pairs(m: usize, seed: u64) -> Dataset {
        let mut rng = stream(seed, Purpose::ProbePoints, 0);
        let x = Mat::from_fn(m, 10, |_, _| 2.0 * rng.random::<f64>() - 1.0);
        let z = |i: usize, j: usize| 2.0 * x[(i, j)] - 1.0;
        let y = Mat::from_fn(m, 1, |i, _| {
            z(i, 0) * z(i, 1) + z(i, 0) * z(i, 2) + z(i, 1) * z(i, 2)
        });
        Dataset::new(x, y).unwrap()
    }

    /// Median test error over seeds, since the errors of pruned fits scatter over decades.
    fn median_error(method: &Shrimp, seeds: u64) -> f64 {
        let error = |seed| {
            let (train, test) = (pairs(140, seed), pairs(60, 100 + seed));
            let model = method.fit(&train, seed, &|_| Control::Continue).unwrap();
            let error = model.predict(test.x.as_ref()).unwrap() - &test.y;
            error.squared_norm_l2() / 60.0
        };
        quantile((0..seeds).map(error).collect(), 0.5)
    }

    #[test]
    fn pruning_finds_the_pair_polynomial_and_minimal_norm_does_not() {
        let method = Shrimp {
            features: 1000,
            orders: vec![2],
            ..Shrimp::default()
        };
        // Published: 9.2e-7 with pruning, 0.22 without, means of ten. Errors have a heavy tail, here and in NumPy:
        // tools/shrimp_scatter.py.
        let pruned = median_error(&method, 9);
        assert!(pruned < 5e-6, "{pruned:e}");
        let whole = median_error(&Shrimp { steps: 0, ..method }, 3);
        assert!(whole > 0.05 && whole < 1.0, "{whole:e}");
    }

    #[test]
    fn the_complex_variant_finds_it_too() {
        let method = Shrimp {
            features: 700,
            orders: vec![2],
            variant: ShrimpVariant::Complex,
            ..Shrimp::default()
        };
        let error = median_error(&method, 3);
        assert!(error < 1e-3, "{error:e}");
    }

    #[test]
    fn a_combination_of_two_of_its_own_features_is_found_exactly() {
        let method = Shrimp {
            features: 200,
            orders: vec![2],
            ..Shrimp::default()
        };
        let mut rng = stream(3, Purpose::Frequencies, 2);
        let sets = method.supports(10, 2, &mut rng);
        let sets: Vec<&[usize]> = sets.iter().map(Vec::as_slice).collect();
        let scale = 0.5f64.sqrt();
        let omega = frequencies(&sets, 10, Density::Normal, scale, &mut rng);
        let sample = |seed| {
            let data = pairs(100, seed);
            let planes = cosines_and_sines(data.x.as_ref(), omega.as_ref(), 1.0);
            let n = omega.nrows();
            let y = Mat::from_fn(100, 1, |i, _| {
                2.0 * planes[(i, 11)] - 3.0 * planes[(i, n + 40)]
            });
            Dataset { y, ..data }
        };
        let (data, test) = (sample(1), sample(2));
        let model = method.fit(&data, 3, &|_| Control::Continue).unwrap();
        let error = model.predict(test.x.as_ref()).unwrap() - &test.y;
        assert!(error.norm_max() < 1e-8, "{:e}", error.norm_max());
    }
}
