//! ANOVA-boosted random Fourier features (Potts and Weidensager 2025): find the sets of inputs that interact, then
//! prune features of these sets.
//!
//! A ridge fit f(x) = Σ_u Σ_l b_{u,l} e^{i⟨ω_{u,l}, x_u⟩} over sets u of inputs gives each set a sensitivity: the share
//! in the variance of its ANOVA term, which for independent inputs is Σ_l b_l Π_{j∈u} (e^{iω_lj x_j} − its mean). Sets
//! above a threshold are kept and their unions tried, up to q inputs (the published "ascent"; the variant for dependent
//! inputs is not here). The largest sets go to [SHRIMP](crate::Shrimp) with complex features. Unlike in the paper, the
//! validation rows choose the density and do not take part in measuring sensitivities, and the fits have a constant.

use crate::choice::best_of;
use crate::fourier::{Density, complex, frequencies, waves};
use crate::least_squares::ridge;
use crate::prepared::{Prepared, check_size};
use crate::range::{at_least_one, positive};
use crate::shrimp::{Shrimp, ShrimpVariant};
use faer::{Mat, MatRef, c64};
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, product, require, stream};
use thinfit::{Dataset, Model, Observer, Result, Scaling};

/// Settings of ANOVA boosting and of the pruning after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AnovaRff {
    /// Largest size of a set, q, capped at the number of inputs; 2.
    pub order: usize,
    /// Frequencies per training row; 5.
    pub features_per_sample: usize,
    /// Share of the variance above which a set is kept, by its size; the last is for all larger sets; 0.003 and 0.01.
    pub thresholds: Vec<f64>,
    /// Ridge of the fits that measure sensitivities; 0.1.
    pub ridge: f64,
    /// Candidates for the density of the entries of frequencies, with scale 1/q; normal and Cauchy.
    pub densities: Vec<Density>,
    /// Fraction of the columns that each pruning drops; 0.25.
    pub prune: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for AnovaRff {
    fn default() -> Self {
        AnovaRff {
            order: 2,
            features_per_sample: 5,
            thresholds: vec![0.003, 0.01],
            ridge: 0.1,
            densities: vec![Density::Normal, Density::Cauchy],
            prune: 0.25,
            scaling: Scaling::None,
        }
    }
}

impl AnovaRff {
    /// The name of the method.
    pub const NAME: &str = "anova-rff";

    /// Fits `data`. A stopped fit chooses among the densities tried so far.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        require(
            !self.densities.is_empty(),
            "densities",
            "at least one of normal and cauchy",
            "none",
        )?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let train = &prepared.train;
        let shrimp = Shrimp {
            features: self.features(train),
            prune: self.prune,
            variant: ShrimpVariant::Complex,
            ..Shrimp::default()
        };
        let (kept, stopped) = best_of(&self.densities, observe, |&density| {
            let sets = self.index_sets(train, density, seed)?;
            let omega = self.draw(&sets, train, density, seed, 0);
            shrimp.prune(&prepared, omega)
        })?;
        let mut record = prepared.record(Self::NAME, self, seed);
        record.stopped = stopped;
        shrimp.finish(prepared, kept, record)
    }

    /// The sets of inputs that interact, by index from 0; none is contained in another.
    ///
    /// # Errors
    /// Settings out of range, or numbers that leave the finite range.
    pub fn index_sets(
        &self,
        data: &Dataset,
        density: Density,
        seed: u64,
    ) -> Result<Vec<Vec<usize>>> {
        let (q, thresholds) = (self.order.min(data.dim()), &self.thresholds);
        at_least_one("order", self.order)?;
        at_least_one("features_per_sample", self.features_per_sample)?;
        positive("ridge", self.ridge)?;
        require(
            !thresholds.is_empty() && thresholds.iter().all(|t| (0.0..1.0).contains(t)),
            "thresholds",
            "numbers between 0 and 1, at least one",
            format!("{thresholds:?}"),
        )?;
        let (m, features) = (data.samples(), self.features(data));
        check_size(m, 4 * features, "lower features_per_sample")?;
        let mut sets: Vec<Vec<usize>> = (0..data.dim()).map(|j| vec![j]).collect();
        for size in 1..=q {
            let shares = self.sensitivities(&sets, data, density, seed, size as u64)?;
            let largest = shares.iter().copied().fold(0.0, f64::max);
            // Nothing varies, so no set is better than another.
            if largest == 0.0 {
                break;
            }
            let kept = |set: &[usize], share: f64| {
                let epsilon = thresholds[set.len().min(thresholds.len()) - 1];
                share > epsilon || share == largest
            };
            sets = sets
                .into_iter()
                .zip(shares)
                .filter(|(set, share)| kept(set, *share))
                .map(|set| set.0)
                .collect();
            if size < q {
                let unions: Vec<Vec<usize>> = sets
                    .iter()
                    .flat_map(|u| sets.iter().map(|v| union(u, v)))
                    .filter(|u| u.len() <= size + 1)
                    .collect();
                sets.extend(unions);
                sets.sort();
                sets.dedup();
            }
        }
        let inside = |u: &[usize], v: &[usize]| u != v && u.iter().all(|j| v.contains(j));
        let maximal = sets.iter().filter(|u| !sets.iter().any(|v| inside(u, v)));
        Ok(maximal.cloned().collect())
    }

    fn features(&self, data: &Dataset) -> usize {
        self.features_per_sample * data.samples()
    }

    /// Equally many frequencies for each set, set after set; `place` is that of the draw in its random stream.
    fn draw(
        &self,
        sets: &[Vec<usize>],
        data: &Dataset,
        density: Density,
        seed: u64,
        place: u64,
    ) -> Mat<f64> {
        let each = self.features(data).div_ceil(sets.len());
        let sets: Vec<&[usize]> = sets
            .iter()
            .flat_map(|set| vec![set.as_slice(); each])
            .collect();
        let mut rng = stream(seed, Purpose::Frequencies, place);
        let scale = 1.0 / self.order.min(data.dim()) as f64;
        frequencies(&sets, data.dim(), density, scale, &mut rng)
    }

    /// The share of each set in the variance of a ridge fit.
    fn sensitivities(
        &self,
        sets: &[Vec<usize>],
        data: &Dataset,
        density: Density,
        seed: u64,
        place: u64,
    ) -> Result<Vec<f64>> {
        let omega = self.draw(sets, data, density, seed, place);
        let each = omega.nrows() / sets.len();
        // The last column is a constant.
        let mut a = waves(data.x.as_ref(), omega.as_ref());
        a.resize_with(data.samples(), omega.nrows() + 1, |_, _| c64::new(1.0, 0.0));
        let b = ridge(a.as_ref(), complex(data.y.as_ref()).as_ref(), self.ridge)?.b;
        let variance = |(i, set): (usize, &Vec<usize>)| {
            let rows = i * each..(i + 1) * each;
            let omega = omega.as_ref().subrows(rows.start, each);
            variance(
                set,
                data.x.as_ref(),
                omega,
                b.as_ref().subrows(rows.start, each),
            )
        };
        let variances: Vec<f64> = sets.iter().enumerate().map(variance).collect();
        let total: f64 = variances.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        Ok(variances.iter().map(|variance| variance / total).collect())
    }
}

/// The variance over the samples of the ANOVA term of `set`, summed over outputs.
fn variance(set: &[usize], x: MatRef<'_, f64>, omega: MatRef<'_, f64>, b: MatRef<'_, c64>) -> f64 {
    let (m, one) = (x.nrows(), c64::new(1.0, 0.0));
    let mut products = Mat::from_fn(m, omega.nrows(), |_, _| one);
    for &j in set {
        let factors = waves(x.subcols(j, 1), omega.subcols(j, 1));
        for l in 0..omega.nrows() {
            let column = factors.col_as_slice(l);
            let mean = column.iter().sum::<c64>() / m as f64;
            for (product, factor) in products.col_as_slice_mut(l).iter_mut().zip(column) {
                *product *= factor - mean;
            }
        }
    }
    let term = product(products.as_ref(), b);
    (0..b.ncols())
        .map(|o| {
            let column = term.col_as_slice(o);
            let mean = column.iter().sum::<c64>() / m as f64;
            column.iter().map(|t| (t - mean).norm_sqr()).sum::<f64>() / (m - 1).max(1) as f64
        })
        .sum()
}

/// u ∪ v, sorted.
fn union(u: &[usize], v: &[usize]) -> Vec<usize> {
    let mut both = [u, v].concat();
    both.sort_unstable();
    both.dedup();
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use thinfit::Control;

    fn sample(m: usize, d: usize, low: f64, high: f64, f: impl Fn(&[f64]) -> f64) -> Dataset {
        let mut rng = stream(5, Purpose::ProbePoints, 0);
        let x = Mat::from_fn(m, d, |_, _| low + (high - low) * rng.random::<f64>());
        let row = |i: usize| x.row(i).iter().copied().collect::<Vec<_>>();
        let y = Mat::from_fn(m, 1, |i, _| f(&row(i)));
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn finds_the_sets_of_the_published_functions() {
        use std::f64::consts::PI;
        let f1 = |x: &[f64]| x[3] * x[3] + x[1] * x[2] + x[0] * x[1] + x[3];
        let f2 =
            |x: &[f64]| x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin();
        let f3 = |x: &[f64]| {
            10.0 * (PI * x[0] * x[1]).sin() + 20.0 * (x[2] - 0.5).powi(2) + 10.0 * x[3] + 5.0 * x[4]
        };
        let sets = |data: &Dataset, density, thresholds: [f64; 2]| {
            let method = AnovaRff {
                thresholds: thresholds.to_vec(),
                ..AnovaRff::default()
            };
            method.index_sets(data, density, 1).unwrap()
        };
        let data = sample(300, 5, 0.0, 1.0, f1);
        for density in [Density::Normal, Density::Cauchy] {
            let found = sets(&data, density, [0.003, 0.01]);
            assert_eq!(found, [vec![0, 1], vec![1, 2], vec![3]]);
        }
        let found = sets(&sample(500, 5, -PI, PI, f2), Density::Cauchy, [0.005, 0.05]);
        assert_eq!(found, [vec![0, 2], vec![1]]);
        let found = sets(
            &sample(500, 10, 0.0, 1.0, f3),
            Density::Cauchy,
            [0.003, 0.05],
        );
        assert_eq!(found, [vec![0, 1], vec![2], vec![3], vec![4]]);
    }

    #[test]
    fn sensitivities_are_the_shares_of_the_variance() {
        // 2z₀ + 6z₁z₂ with z = x − ½: variances 4/12 and 36/144, shares 4/7 and 3/7.
        let f = |x: &[f64]| 2.0 * (x[0] - 0.5) + 6.0 * (x[1] - 0.5) * (x[2] - 0.5);
        let data = sample(400, 3, 0.0, 1.0, f);
        let method = AnovaRff {
            ridge: 1e-4,
            ..AnovaRff::default()
        };
        // Sets with an input in common would share its effect.
        let sets = [vec![0], vec![1, 2]];
        let shares = method
            .sensitivities(&sets, &data, Density::Cauchy, 1, 0)
            .unwrap();
        assert!((shares[0] - 4.0 / 7.0).abs() < 0.05, "{shares:?}");
        assert!((shares[1] - 3.0 / 7.0).abs() < 0.05, "{shares:?}");
    }

    #[test]
    fn a_product_and_a_square_are_learnt_on_their_sets() {
        let f = |x: &[f64]| x[0] * x[1] + x[3] * x[3];
        let data = sample(150, 6, 0.0, 1.0, f);
        let method = AnovaRff::default();
        let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
        let test = sample(400, 6, 0.0, 1.0, f);
        let error = model.predict(test.x.as_ref()).unwrap() - &test.y;
        let square = error.squared_norm_l2() / 400.0;
        assert!(square < 1e-6, "{square:e}");
        let hidden = model.hidden();
        assert!((0..model.width()).all(|l| hidden[(l, 2)] == 0.0 && hidden[(l, 5)] == 0.0));
    }
}
