//! Kernel ridge regression with a Gaussian kernel; the bandwidth follows the median rule or is chosen by leave-one-out.
//!
//! f(x) = Σ_i α_i k(x, x_i) with k(x, x′) = exp(−|x − x′|²/(2σ²)) and (K + λI) α = y. The bandwidth σ is a multiple of
//! the median distance between training points. The default reproduces the paper's row "kernel ridge reg": σ is the
//! median, there is no intercept, and nothing is scaled; the paper does not state λ, and 1e-4 comes closest on its test
//! functions. [`KernelRidge::validated`] is the version for practical use.
//!
//! Given several bandwidths or ridges, the pair with the smallest leave-one-out error wins (`leave_one_out.rs`); for
//! grouped rows, the pair with the smallest error over folds that do not divide groups.

use crate::choice::stops;
use crate::leave_one_out::{by_folds, leave_one_out};
use crate::range::positives;
use faer::Mat;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thinfit::pieces::require;
use thinfit::{Dataset, Error, Observer, Progress, Record, Result, Scaling};
use thinfit_gp::pieces::{
    Expansion, check_data, group_folds, judged_by_folds, kernel_model, squares,
};
use thinfit_gp::{Kernel, KernelModel, Shape};

/// Entries of the kernel matrices decomposed at a time: 1 GiB, four times as much with the workspaces.
const MEMORY: usize = 1 << 27;

/// Settings of kernel ridge regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KernelRidge {
    /// Candidates for the ridge λ, added to the diagonal of K, which is one; 1e-4 alone.
    pub lambda: Vec<f64>,
    /// Candidates for the bandwidth σ, in multiples of the median distance; 1 alone.
    pub bandwidth: Vec<f64>,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for KernelRidge {
    fn default() -> Self {
        KernelRidge {
            lambda: vec![1e-4],
            bandwidth: vec![1.0],
            scaling: Scaling::None,
        }
    }
}

impl KernelRidge {
    /// Standardised columns, with bandwidths from 1/4 to 16 times the median and ridges from 1e-12 to 10 chosen by
    /// leave-one-out.
    pub fn validated() -> Self {
        KernelRidge {
            lambda: (-12..=1).map(|e| 10f64.powi(e)).collect(),
            bandwidth: (-2..=4).map(|e| 2f64.powi(e)).collect(),
            scaling: Scaling::Standard,
        }
    }

    /// The names of the method, without and with a choice of bandwidth and ridge.
    pub const NAMES: [&str; 2] = ["kernel-ridge", "kernel-ridge-validated"];

    /// The name of the method with these settings.
    pub fn name(&self) -> &'static str {
        Self::NAMES[usize::from(self.chooses())]
    }

    /// Whether there is anything to choose by leave-one-out.
    fn chooses(&self) -> bool {
        self.bandwidth.len() * self.lambda.len() > 1
    }

    /// Fits `data`. Nothing is random but the folds of rows in groups.
    ///
    /// If rounding makes K + λI indefinite, λ is raised; see [`Record::raised`]. If the median distance is zero,
    /// because most pairs of points coincide, it is taken over the other pairs.
    ///
    /// # Errors
    /// Unusable data or settings, or points that are all equal.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<KernelModel> {
        check_data(data)?;
        let lambdas = &self.lambda;
        require(
            !lambdas.is_empty() && lambdas.iter().all(|v| *v >= 0.0 && v.is_finite()),
            "lambda",
            "finite numbers of at least 0, at least one",
            format!("{lambdas:?}"),
        )?;
        positives("bandwidth", &self.bandwidth)?;
        let scalers = self.scaling.scalers(data.x.as_ref(), data.y.as_ref());
        let (x, y) = (
            scalers.0.apply(data.x.as_ref()),
            scalers.1.apply(data.y.as_ref()),
        );
        let median = median_distance(&x).ok_or_else(|| Error::Data {
            what: "x",
            problem: format!("the {} training points are all equal", data.samples()),
            advice: "the bandwidth needs at least two different points",
        })?;
        let kernel = |bandwidth: f64| {
            // The floor keeps 1/ℓ² finite.
            let length = (bandwidth * median).max(1e-160);
            Kernel::single(Shape::Gaussian, vec![length; data.dim()])
        };
        let folds = group_folds(data, seed)?;
        let (choice, stopped) = match self.chooses() {
            true => {
                let gram = |bandwidth: f64| kernel(bandwidth).gram(x.as_ref());
                self.choose(&gram, &y, folds.as_deref(), observe)
            }
            false => (None, false),
        };
        let (bandwidth, lambda, mse) = match choice {
            Some((bandwidth, lambda, mse)) => (bandwidth, lambda, Some(mse)),
            None => (self.bandwidth[0], self.lambda[0], None),
        };
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let record = Record {
            chosen_by: mse.is_some().then(|| match folds {
                None => "leave-one-out".into(),
                Some(_) => "folds".into(),
            }),
            stopped,
            ..Record::of(self.name(), settings, seed, data.samples())
        };
        let record = match mse {
            Some(mse) => record.left_out(data, &mse, &scalers.1.scale, data.samples()),
            None => record,
        };
        let (expansion, record) =
            Expansion::ridge(kernel(bandwidth), x, y.as_ref(), lambda, record)?;
        observe(&Progress::fraction(1.0));
        judged_by_folds(kernel_model(data, scalers, expansion, record)?, data, folds)
    }

    /// The bandwidth and ridge with the smallest leave-one-out error, or error over the folds, and these errors; none if no error is
    /// finite. The flag says whether the search was stopped.
    fn choose(
        &self,
        gram: &(dyn Fn(f64) -> Mat<f64> + Sync),
        y: &Mat<f64>,
        folds: Option<&[Vec<usize>]>,
        observe: &Observer<'_>,
    ) -> (Option<(f64, f64, Vec<f64>)>, bool) {
        let (mut best, mut least, mut tried) = (None, f64::INFINITY, 0);
        // Each bandwidth needs four m × m matrices; try several at a time only if they fit into memory.
        let together = (MEMORY / (y.nrows() * y.nrows())).max(1);
        let together = together.min(rayon::current_num_threads());
        for group in self.bandwidth.chunks(together) {
            let errors = group.par_iter().map(|&bandwidth| {
                let gram = gram(bandwidth);
                match folds {
                    None => leave_one_out(gram.as_ref(), y.as_ref(), &self.lambda),
                    Some(folds) => by_folds(gram.as_ref(), y.as_ref(), &self.lambda, folds),
                }
            });
            let errors: Vec<_> = errors.collect();
            for (&bandwidth, errors) in group.iter().zip(errors) {
                for (&lambda, mse) in self.lambda.iter().zip(errors) {
                    let total: f64 = mse.iter().sum();
                    if total < least {
                        (least, best) = (total, Some((bandwidth, lambda, mse)));
                    }
                }
            }
            tried += group.len();
            // The final fit counts as one more.
            if stops(observe, tried, self.bandwidth.len() + 1) {
                return (best, true);
            }
        }
        (best, false)
    }
}

/// The median distance over pairs of points, or over the pairs that differ if that is zero; none if all are equal.
fn median_distance(x: &Mat<f64>) -> Option<f64> {
    let m = x.nrows();
    let mut squared = vec![0.0; m * (m - 1) / 2];
    let axes: Vec<(usize, f64)> = (0..x.ncols()).map(|k| (k, 1.0)).collect();
    let mut rest = squared.as_mut_slice();
    for j in 0..m {
        let (column, next) = rest.split_at_mut(m - 1 - j);
        squares(x, j + 1, x.as_ref(), j, &axes, 1.0, column);
        rest = next;
    }
    match median(&mut squared)? {
        0.0 => {
            squared.retain(|r2| *r2 > 0.0);
            median(&mut squared)
        }
        median => Some(median),
    }
}

/// The median of the square roots; the mean of the middle two for an even number.
fn median(squared: &mut [f64]) -> Option<f64> {
    if squared.is_empty() {
        return None;
    }
    let (half, even) = (squared.len() / 2, squared.len().is_multiple_of(2));
    let (below, &mut upper, _) = squared.select_nth_unstable_by(half, f64::total_cmp);
    let lower = if even {
        below.iter().copied().fold(0.0, f64::max)
    } else {
        upper
    };
    Some(0.5 * (lower.sqrt() + upper.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use proptest::prelude::*;
    use thinfit::Control;

    fn fit(settings: &KernelRidge, x: &Mat<f64>, y: &Mat<f64>) -> Result<KernelModel> {
        let data = Dataset::new(x.clone(), y.clone())?;
        settings.fit(&data, 0, &|_| Control::Continue)
    }

    fn with_lambda(lambda: f64) -> KernelRidge {
        KernelRidge {
            lambda: vec![lambda],
            ..KernelRidge::default()
        }
    }

    #[test]
    fn coefficients_solve_the_defining_equation() {
        let (m, lambda) = (120, 1e-4);
        let (x, y) = (random(m, 4, 1), random(m, 3, 2));
        let model = fit(&with_lambda(lambda), &x, &y).unwrap();
        assert_eq!((model.record.ridge, model.record.raised), (lambda, 0));
        let alpha = model.body.coefficients.as_ref();
        let mut system = model.body.kernel.cross(x.as_ref(), x.as_ref());
        (0..m).for_each(|i| system[(i, i)] += lambda);
        let residual = &system * alpha - &y;
        // Cholesky is backward stable: |S a - y| <= c m eps |S| |a|.
        let tolerance = m as f64 * f64::EPSILON * system.norm_l2() * alpha.norm_l2();
        assert!(residual.norm_l2() < tolerance);
    }

    #[test]
    fn the_bandwidth_is_the_median_over_pairs() {
        let bandwidth = |points: &[f64]| {
            let x = Mat::from_fn(points.len(), 1, |i, _| points[i]);
            fit(&KernelRidge::default(), &x, &x)
                .unwrap()
                .body
                .kernel
                .terms[0]
                .lengths[0]
        };
        assert_eq!(bandwidth(&[0.0, 1.0, 5.0]), 4.0); // 1, 4, 5
        assert_eq!(bandwidth(&[0.0, 1.0, 3.0, 7.0]), 3.5); // 1, 2, 3, 4, 6, 7
        assert_eq!(bandwidth(&[2.0, 2.0, 2.0, 2.0, 2.0, 5.0]), 3.0); // ten zeros, five threes
    }

    #[test]
    fn an_offset_of_the_inputs_changes_nothing() {
        let (x, y) = (random(60, 2, 6), random(60, 1, 7));
        let shifted = Mat::from_fn(60, 2, |i, k| x[(i, k)] + 1048576.0);
        let plain = fit(&KernelRidge::default(), &x, &y).unwrap();
        let moved = fit(&KernelRidge::default(), &shifted, &y).unwrap();
        // The shifted inputs are themselves rounded to about 2^-33; the product form would be off by 1e-4 and more.
        assert!(
            (plain.body.kernel.terms[0].lengths[0] / moved.body.kernel.terms[0].lengths[0] - 1.0)
                .abs()
                < 1e-9
        );
        let values = plain.predict(x.as_ref()).unwrap() - moved.predict(shifted.as_ref()).unwrap();
        assert!(values.norm_max() < 1e-5, "{}", values.norm_max());
    }

    #[test]
    fn repeated_rows_raise_a_ridge_of_zero_and_say_so() {
        let x = Mat::from_fn(30, 2, |i, k| ((i % 10) * (k + 1)) as f64);
        let y = Mat::from_fn(30, 1, |i, _| (i % 10) as f64);
        let model = fit(&with_lambda(0.0), &x, &y).unwrap();
        let record = &model.record;
        assert!(record.raised > 0 && record.ridge > 0.0 && record.ridge < 1e-10);
        let error = model.predict(x.as_ref()).unwrap() - &y;
        assert!(error.norm_max() < 1e-6, "{}", error.norm_max());
    }

    #[test]
    fn constant_columns_are_harmless() {
        let (x, y) = (random(20, 2, 8), random(20, 1, 9));
        let padded = Mat::from_fn(20, 3, |i, k| if k < 2 { x[(i, k)] } else { 0.998 });
        let plain = fit(&KernelRidge::default(), &x, &y).unwrap();
        let constant = fit(&KernelRidge::default(), &padded, &y).unwrap();
        assert_eq!(
            plain.body.coefficients.as_ref(),
            constant.body.coefficients.as_ref()
        );
    }

    #[test]
    fn leave_one_out_chooses_a_wide_kernel_for_a_line_and_a_ridge_for_noise() {
        let x = random(80, 2, 3);
        let line = Mat::from_fn(80, 1, |i, _| 5.0 + 300.0 * x[(i, 0)]);
        let smooth = fit(&KernelRidge::validated(), &x, &line).unwrap();
        let median = fit(&KernelRidge::default(), &x, &line).unwrap();
        let fresh = random(50, 2, 4);
        let error = |model: &KernelModel| {
            let f = model.predict(fresh.as_ref()).unwrap();
            (0..50)
                .map(|i| (f[(i, 0)] - 5.0 - 300.0 * fresh[(i, 0)]).powi(2))
                .sum::<f64>()
                / 50.0
        };
        assert!(error(&smooth) < 0.01 * error(&median));
        assert_eq!(smooth.record.chosen_by.as_deref(), Some("leave-one-out"));
        let noise = fit(&KernelRidge::validated(), &x, &random(80, 1, 5)).unwrap();
        assert!(noise.record.ridge >= 0.1 && smooth.record.ridge < 1e-6);
        let variance = 1.0 / 12.0;
        assert!(noise.record.validation_mse[0] < 1.5 * variance);
    }

    #[test]
    fn a_stop_keeps_the_best_so_far() {
        let data = Dataset::new(random(40, 2, 1), random(40, 1, 2)).unwrap();
        let model = KernelRidge::validated()
            .fit(&data, 0, &|_| Control::Stop)
            .unwrap();
        assert!(model.record.stopped && !model.record.validation_mse.is_empty());
    }

    #[test]
    fn unusable_data_and_settings_are_refused_with_advice() {
        let (x, y) = (random(6, 2, 1), random(6, 1, 2));
        for settings in [
            with_lambda(-1.0),
            with_lambda(f64::NAN),
            KernelRidge {
                bandwidth: vec![],
                ..KernelRidge::default()
            },
        ] {
            assert!(matches!(fit(&settings, &x, &y), Err(Error::Config { .. })));
        }
        let equal = Mat::from_fn(5, 2, |_, _| 3.0);
        let error = fit(&KernelRidge::default(), &equal, &random(5, 1, 0)).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("the 5 training points are all equal"),
            "{error}"
        );
        let data = Dataset::new(x, y)
            .unwrap()
            .with_weights(vec![1.0; 6])
            .unwrap();
        let error = KernelRidge::default()
            .fit(&data, 0, &|_| Control::Continue)
            .unwrap_err();
        assert!(error.to_string().contains("use gft-r"), "{error}");
        let mut spoiled = data;
        (spoiled.weights, spoiled.x[(4, 1)]) = (None, f64::NAN);
        assert!(
            KernelRidge::default()
                .fit(&spoiled, 0, &|_| Control::Continue)
                .is_err()
        );
    }

    fn number() -> impl Strategy<Value = f64> + Clone {
        prop_oneof![6 => -2.0..2.0f64, 3 => (-3i32..3).prop_map(f64::from), 1 => any::<f64>()]
    }

    fn matrix(columns: usize) -> impl Strategy<Value = Mat<f64>> {
        (0usize..9).prop_flat_map(move |rows| {
            prop::collection::vec(number(), rows * columns)
                .prop_map(move |values| Mat::from_fn(rows, columns, |i, k| values[i * columns + k]))
        })
    }

    proptest! {
        #[test]
        fn no_input_panics_and_no_result_is_nan(
            (x, y, fresh) in (0usize..4, 0usize..3).prop_flat_map(|(d, c)| (matrix(d), matrix(c), matrix(d))),
            lambda in prop_oneof![Just(0.0), Just(1e-4), any::<f64>()],
            validated in prop::bool::ANY,
        ) {
            let rows = x.nrows().min(y.nrows());
            let (x, y) = (x.subrows(0, rows).to_owned(), y.subrows(0, rows).to_owned());
            let settings = if validated { KernelRidge::validated() } else { with_lambda(lambda) };
            if let Ok(model) = fit(&settings, &x, &y) {
                prop_assert!(model.body.coefficients.is_all_finite());
                if let Ok(values) = model.predict(fresh.as_ref()) {
                    prop_assert!(values.is_all_finite());
                    prop_assert_eq!((values.nrows(), values.ncols()), (fresh.nrows(), y.ncols()));
                }
            }
        }
    }
}
