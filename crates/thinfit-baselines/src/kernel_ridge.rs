//! Kernel ridge regression with a Gaussian kernel whose bandwidth is the median distance.
//!
//! $f(x) = \sum_i \alpha_i\, k(x, x_i)$ with $k(x, x') = \exp(-\lVert x - x'\rVert^2 / (2\sigma^2))$ and
//! $(K + \lambda I)\alpha = y$. There is no intercept, and neither inputs nor outputs are scaled: that is how the paper's row
//! "kernel ridge reg" was made. The paper does not state $\lambda$; the default of 1e-4 comes nearest over its test
//! functions. No selection of $\lambda$ or $\sigma$ happens here.
//!
//! Dimensions: `m` training samples, `d` inputs, `c` outputs.
//!
//! **Distances are sums of squared differences**, not $\lVert x\rVert^2 + \lVert x'\rVert^2 - 2\langle x, x'\rangle$
//! by a matrix product. The product form cancels: its error is of the size eps $\lVert x\rVert^2$ however close the points
//! are, so a column such as a calendar year (2000 ± 1) costs six digits and near neighbours can come out at negative
//! distance. Nor is it needed for speed: differences cost $d$ operations a pair, the Cholesky factor $m/3$.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::{Error, Result};

/// More samples than this are refused: the kernel matrix alone would pass 3 GB.
pub const MAX_SAMPLES: usize = 20_000;

/// Rows predicted at once; a block of kernel values then stays in the cache for a thousand training points.
const BLOCK: usize = 64;

/// Everything runs on one thread: a factor below m = 400 is slower on two, comparisons run side by side anyway, and the
/// result then does not depend on the number of threads.
const PAR: Par = Par::Seq;

/// Settings of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelRidge {
    /// The ridge $\lambda$, added to the diagonal of $K$ (whose own diagonal is one).
    pub lambda: f64,
    /// The bandwidth $\sigma$; `None` takes the median distance of two different training points.
    pub bandwidth: Option<f64>,
}

/// A fitted model: the training points and one coefficient for each point and output.
#[derive(Clone, Debug)]
pub struct FittedKernelRidge {
    x: Mat<f64>,
    alpha: Mat<f64>,
    bandwidth: f64,
    lambda: f64,
    raised: u32,
}

impl Default for KernelRidge {
    fn default() -> Self {
        KernelRidge {
            lambda: 1e-4,
            bandwidth: None,
        }
    }
}

impl KernelRidge {
    /// Fits the coefficients to `x` (m x d) and `y` (m x c).
    ///
    /// If rounding makes $K + \lambda I$ indefinite, the ridge is raised tenfold until it is not; see
    /// [`FittedKernelRidge::raised`]. Repeated rows are welcome. If most pairs coincide, so that the median is zero, the
    /// median is taken over the pairs that do not.
    ///
    /// # Errors
    ///
    /// If the sizes disagree, are zero or pass [`MAX_SAMPLES`]; if a value is not finite; if all points are equal and no
    /// bandwidth is given; if distances or coefficients leave the range of `f64`.
    pub fn fit(&self, x: MatRef<'_, f64>, y: MatRef<'_, f64>) -> Result<FittedKernelRidge> {
        let m = x.nrows();
        check_settings(self)?;
        check_shape(
            "training samples",
            "from 1 to 20000",
            m,
            (1..=MAX_SAMPLES).contains(&m),
        )?;
        check_shape("input columns", "at least 1", x.ncols(), x.ncols() > 0)?;
        check_shape("output columns", "at least 1", y.ncols(), y.ncols() > 0)?;
        check_shape(
            "rows of the outputs",
            format!("{m}, as in the inputs"),
            y.nrows(),
            y.nrows() == m,
        )?;
        check_finite("the input matrix", x)?;
        check_finite("the output matrix", y)?;

        let x = x.to_owned();
        let squared = squared_distances(&x);
        if squared.iter().any(|r2| !r2.is_finite()) {
            return Err(Error::Overflow {
                what: "a squared distance of two training points",
            });
        }
        let bandwidth = match self.bandwidth {
            Some(sigma) => sigma,
            None => median_distance(&squared).ok_or(Error::NoScale { samples: m })?,
        };

        let mut lambda = self.lambda;
        let mut raised = 0;
        let factor = loop {
            match cholesky(regularised_kernel(m, &squared, bandwidth, lambda)) {
                Ok(factor) => break factor,
                Err(pivot) if lambda > 1.0 => {
                    return Err(Error::NotPositiveDefinite { lambda, pivot });
                }
                // A ridge below the rounding of the factor does nothing, so the first raise goes at least there.
                Err(_) => lambda = (10.0 * lambda).max(m as f64 * f64::EPSILON),
            }
            raised += 1;
        };
        let mut alpha = y.to_owned();
        let mut no_memory =
            MemBuffer::new(llt::solve::solve_in_place_scratch::<f64>(m, y.ncols(), PAR));
        llt::solve::solve_in_place(
            factor.as_ref(),
            alpha.as_mut(),
            PAR,
            MemStack::new(&mut no_memory),
        );
        if !alpha.is_all_finite() {
            return Err(Error::Overflow {
                what: "a coefficient",
            });
        }
        Ok(FittedKernelRidge {
            x,
            alpha,
            bandwidth,
            lambda,
            raised,
        })
    }
}

impl FittedKernelRidge {
    /// The values at the rows of `x` (samples x d), as samples x c.
    ///
    /// # Errors
    ///
    /// If the number of columns differs from that of the training inputs, or a value is not finite.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let (m, d) = (self.x.nrows(), self.x.ncols());
        check_shape(
            "input columns",
            format!("{d}, as in the training inputs"),
            x.ncols(),
            x.ncols() == d,
        )?;
        check_finite("the input matrix", x)?;

        let mut values = Mat::zeros(x.nrows(), self.alpha.ncols());
        let mut kernel = Mat::zeros(BLOCK, m);
        for start in (0..x.nrows()).step_by(BLOCK) {
            let rows = BLOCK.min(x.nrows() - start);
            let block = x.subrows(start, rows).to_owned();
            for j in 0..m {
                let column = &mut kernel.col_as_slice_mut(j)[..rows];
                column.fill(0.0);
                for k in 0..d {
                    add_squared_differences(column, block.col_as_slice(k), self.x[(j, k)]);
                }
                for value in column {
                    *value = gaussian(*value, self.bandwidth);
                }
            }
            let values = values.as_mut().subrows_mut(start, rows);
            matmul(
                values,
                Accum::Replace,
                kernel.as_ref().subrows(0, rows),
                self.alpha.as_ref(),
                1.0,
                PAR,
            );
        }
        if !values.is_all_finite() {
            return Err(Error::Overflow {
                what: "a predicted value",
            });
        }
        Ok(values)
    }

    /// The coefficients $\alpha$ (m x c).
    pub fn alpha(&self) -> MatRef<'_, f64> {
        self.alpha.as_ref()
    }

    /// The bandwidth $\sigma$ that was used.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The ridge $\lambda$ that was used; larger than the one asked for if [`raised`](Self::raised) is not zero.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// How often the ridge had to be raised before the kernel matrix could be factorised.
    pub fn raised(&self) -> u32 {
        self.raised
    }
}

/// $\exp(-r^2/(2\sigma^2))$, dividing by $\sigma$ twice so that its square cannot underflow to zero.
fn gaussian(squared_distance: f64, sigma: f64) -> f64 {
    (-0.5 * (squared_distance / sigma / sigma)).exp()
}

fn add_squared_differences(sum: &mut [f64], points: &[f64], point: f64) {
    for (sum, value) in sum.iter_mut().zip(points) {
        *sum += (value - point) * (value - point);
    }
}

/// Squared distances of all pairs i > j, column by column: (1,0), (2,0), ..., (2,1), ...
fn squared_distances(x: &Mat<f64>) -> Vec<f64> {
    let m = x.nrows();
    let mut squared = vec![0.0; m * (m - 1) / 2];
    let mut rest = squared.as_mut_slice();
    for j in 0..m {
        let (column, next) = rest.split_at_mut(m - 1 - j);
        for k in 0..x.ncols() {
            add_squared_differences(column, &x.col_as_slice(k)[j + 1..], x[(j, k)]);
        }
        rest = next;
    }
    squared
}

/// The median of the distances, or of the positive ones if that is zero; none if there is no positive distance.
fn median_distance(squared: &[f64]) -> Option<f64> {
    let median = median(squared.to_vec())?;
    if median > 0.0 {
        Some(median)
    } else {
        self::median(squared.iter().copied().filter(|&r2| r2 > 0.0).collect())
    }
}

/// The median of the roots of finite numbers; the mean of the middle two if their number is even.
fn median(mut squared: Vec<f64>) -> Option<f64> {
    if squared.is_empty() {
        return None;
    }
    let half = squared.len() / 2;
    let even = squared.len().is_multiple_of(2);
    let (below, &mut upper, _) = squared.select_nth_unstable_by(half, f64::total_cmp);
    let lower = if even {
        below.iter().copied().fold(0.0, f64::max)
    } else {
        upper
    };
    Some(0.5 * (lower.sqrt() + upper.sqrt()))
}

/// The lower triangle of $K + \lambda I$ from the packed squared distances.
fn regularised_kernel(m: usize, squared: &[f64], sigma: f64, lambda: f64) -> Mat<f64> {
    let mut kernel = Mat::zeros(m, m);
    let mut squared = squared.iter();
    for j in 0..m {
        let column = kernel.col_as_slice_mut(j);
        column[j] = 1.0 + lambda;
        for (value, r2) in column[j + 1..].iter_mut().zip(squared.by_ref()) {
            *value = gaussian(*r2, sigma);
        }
    }
    kernel
}

/// The Cholesky factor in the lower triangle, or the index of the pivot that was not positive.
fn cholesky(mut a: Mat<f64>) -> std::result::Result<Mat<f64>, usize> {
    let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
        a.nrows(),
        PAR,
        Default::default(),
    ));
    let outcome = llt::factor::cholesky_in_place(
        a.as_mut(),
        Default::default(),
        PAR,
        MemStack::new(&mut memory),
        Default::default(),
    );
    match outcome {
        Ok(_) => Ok(a),
        Err(llt::factor::LltError::NonPositivePivot { index }) => Err(index),
    }
}

fn check_settings(settings: &KernelRidge) -> Result<()> {
    let KernelRidge { lambda, bandwidth } = *settings;
    if !(lambda >= 0.0 && lambda.is_finite()) {
        return Err(Error::Setting {
            what: "lambda",
            expected: "finite and not negative",
            value: lambda,
        });
    }
    match bandwidth {
        Some(sigma) if !(sigma > 0.0 && sigma.is_finite()) => Err(Error::Setting {
            what: "the bandwidth",
            expected: "finite and positive",
            value: sigma,
        }),
        _ => Ok(()),
    }
}

fn check_shape(
    what: &'static str,
    expected: impl Into<String>,
    got: usize,
    right: bool,
) -> Result<()> {
    if right {
        Ok(())
    } else {
        Err(Error::Shape {
            what,
            expected: expected.into(),
            got,
        })
    }
}

fn check_finite(what: &'static str, matrix: MatRef<'_, f64>) -> Result<()> {
    for column in 0..matrix.ncols() {
        for row in 0..matrix.nrows() {
            let value = matrix[(row, column)];
            if !value.is_finite() {
                return Err(Error::NotFinite {
                    what,
                    row,
                    column,
                    value,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        Mat::from_fn(rows, columns, |_, _| rng.random())
    }

    /// The kernel as its definition reads, row against row.
    fn plain_kernel(a: &Mat<f64>, b: &Mat<f64>, sigma: f64) -> Mat<f64> {
        Mat::from_fn(a.nrows(), b.nrows(), |i, j| {
            let r2: f64 = (0..a.ncols())
                .map(|k| (a[(i, k)] - b[(j, k)]).powi(2))
                .sum();
            (-r2 / (2.0 * sigma * sigma)).exp()
        })
    }

    #[test]
    fn coefficients_solve_the_defining_equation() {
        let (m, lambda) = (120, 1e-4);
        let (x, y) = (random(m, 4, 1), random(m, 3, 2));
        let fitted = KernelRidge {
            lambda,
            bandwidth: None,
        }
        .fit(x.as_ref(), y.as_ref())
        .unwrap();
        assert_eq!((fitted.lambda(), fitted.raised()), (lambda, 0));
        let mut system = plain_kernel(&x, &x, fitted.bandwidth());
        for i in 0..m {
            system[(i, i)] += lambda;
        }
        let residual = &system * fitted.alpha() - &y;
        // Cholesky is backward stable: |S a - y| <= c m eps |S| |a|.
        let tolerance = m as f64 * f64::EPSILON * system.norm_l2() * fitted.alpha().norm_l2();
        assert!(
            residual.norm_l2() < tolerance,
            "{} against {tolerance}",
            residual.norm_l2()
        );
    }

    #[test]
    fn predictions_are_the_kernel_times_the_coefficients_across_blocks() {
        let (x, y) = (random(40, 3, 3), random(40, 2, 4));
        let fitted = KernelRidge::default().fit(x.as_ref(), y.as_ref()).unwrap();
        let fresh = random(2 * BLOCK + 5, 3, 5);
        let expected = plain_kernel(&fresh, &x, fitted.bandwidth()) * fitted.alpha();
        let difference = fitted.predict(fresh.as_ref()).unwrap() - &expected;
        assert!(difference.norm_max() < 1e3 * f64::EPSILON * fitted.alpha().norm_l1());
        assert_eq!(
            fitted.predict(Mat::zeros(0, 3).as_ref()).unwrap().nrows(),
            0
        );
    }

    #[test]
    fn the_bandwidth_is_the_median_over_pairs() {
        let bandwidth = |points: &[f64]| {
            let x = Mat::from_fn(points.len(), 1, |i, _| points[i]);
            KernelRidge::default()
                .fit(x.as_ref(), x.as_ref())
                .unwrap()
                .bandwidth()
        };
        assert_eq!(bandwidth(&[0.0, 1.0, 5.0]), 4.0); // 1, 4, 5
        assert_eq!(bandwidth(&[0.0, 1.0, 3.0, 7.0]), 3.5); // 1, 2, 3, 4, 6, 7
        assert_eq!(bandwidth(&[2.0, 2.0, 2.0, 2.0, 2.0, 5.0]), 3.0); // ten zeros, five threes
    }

    #[test]
    fn an_offset_of_the_inputs_changes_nothing() {
        let (x, y) = (random(60, 2, 6), random(60, 1, 7));
        let shifted = Mat::from_fn(60, 2, |i, k| x[(i, k)] + 1048576.0);
        let plain = KernelRidge::default().fit(x.as_ref(), y.as_ref()).unwrap();
        let moved = KernelRidge::default()
            .fit(shifted.as_ref(), y.as_ref())
            .unwrap();
        // The shifted inputs themselves are rounded to 2^-33 or so; the product form would be off by 1e-4 and more.
        assert!((plain.bandwidth() / moved.bandwidth() - 1.0).abs() < 1e-9);
        let values = plain.predict(x.as_ref()).unwrap() - moved.predict(shifted.as_ref()).unwrap();
        assert!(values.norm_max() < 1e-5, "{}", values.norm_max());
    }

    #[test]
    fn repeated_rows_raise_a_ridge_of_zero_and_say_so() {
        let x = Mat::from_fn(30, 2, |i, k| ((i % 10) * (k + 1)) as f64);
        let y = Mat::from_fn(30, 1, |i, _| (i % 10) as f64);
        let fitted = KernelRidge {
            lambda: 0.0,
            bandwidth: None,
        }
        .fit(x.as_ref(), y.as_ref())
        .unwrap();
        assert!(
            fitted.raised() > 0 && fitted.lambda() > 0.0 && fitted.lambda() < 1e-10,
            "{}",
            fitted.lambda()
        );
        let error = fitted.predict(x.as_ref()).unwrap() - &y;
        assert!(error.norm_max() < 1e-6, "{}", error.norm_max());
    }

    #[test]
    fn constant_columns_are_harmless() {
        let y = random(20, 1, 9);
        let x = random(20, 2, 8);
        let padded = Mat::from_fn(20, 3, |i, k| if k < 2 { x[(i, k)] } else { 0.998 });
        let plain = KernelRidge::default().fit(x.as_ref(), y.as_ref()).unwrap();
        let constant = KernelRidge::default()
            .fit(padded.as_ref(), y.as_ref())
            .unwrap();
        assert_eq!(plain.alpha(), constant.alpha());
    }

    #[test]
    fn one_point_needs_a_bandwidth() {
        let (x, y) = (
            Mat::from_fn(1, 2, |_, _| 3.0),
            Mat::from_fn(1, 1, |_, _| 2.0),
        );
        let error = KernelRidge::default()
            .fit(x.as_ref(), y.as_ref())
            .unwrap_err();
        assert_eq!(error, Error::NoScale { samples: 1 });
        let fitted = KernelRidge {
            lambda: 3.0,
            bandwidth: Some(1.0),
        }
        .fit(x.as_ref(), y.as_ref())
        .unwrap();
        assert_eq!(fitted.predict(x.as_ref()).unwrap()[(0, 0)], 0.5);
        let equal = Mat::from_fn(5, 2, |_, _| 3.0);
        let error = KernelRidge::default()
            .fit(equal.as_ref(), random(5, 1, 0).as_ref())
            .unwrap_err();
        assert_eq!(error, Error::NoScale { samples: 5 });
    }

    #[test]
    fn bad_input_is_refused_with_its_place() {
        let (x, y) = (random(6, 2, 1), random(6, 1, 2));
        let fit = |x: &Mat<f64>, y: &Mat<f64>| {
            KernelRidge::default()
                .fit(x.as_ref(), y.as_ref())
                .map(|_| ())
        };
        let mut spoiled = x.clone();
        spoiled[(4, 1)] = f64::NEG_INFINITY;
        assert_eq!(
            fit(&spoiled, &y).unwrap_err().to_string(),
            "the input matrix has the value -inf in row 4, column 1; drop or fill such rows first"
        );
        let mut spoiled = y.clone();
        spoiled[(0, 0)] = f64::NAN;
        assert!(matches!(
            fit(&x, &spoiled),
            Err(Error::NotFinite {
                what: "the output matrix",
                row: 0,
                ..
            })
        ));
        assert!(matches!(
            fit(&Mat::zeros(0, 2), &Mat::zeros(0, 1)),
            Err(Error::Shape { got: 0, .. })
        ));
        assert!(matches!(
            fit(&Mat::zeros(6, 0), &y),
            Err(Error::Shape {
                what: "input columns",
                ..
            })
        ));
        assert!(matches!(
            fit(&x, &Mat::zeros(6, 0)),
            Err(Error::Shape {
                what: "output columns",
                ..
            })
        ));
        assert_eq!(
            fit(&x, &random(5, 1, 2)).unwrap_err().to_string(),
            "rows of the outputs: expected 6, as in the inputs, got 5"
        );
        let far = Mat::from_fn(2, 1, |i, _| i as f64 * 1e200);
        assert!(matches!(
            fit(&far, &random(2, 1, 2)),
            Err(Error::Overflow { .. })
        ));
        for settings in [
            KernelRidge {
                lambda: -1.0,
                bandwidth: None,
            },
            KernelRidge {
                lambda: f64::NAN,
                bandwidth: None,
            },
            KernelRidge {
                lambda: 0.0,
                bandwidth: Some(0.0),
            },
        ] {
            assert!(matches!(
                settings.fit(x.as_ref(), y.as_ref()),
                Err(Error::Setting { .. })
            ));
        }
        let fitted = KernelRidge::default().fit(x.as_ref(), y.as_ref()).unwrap();
        assert!(matches!(
            fitted.predict(random(3, 5, 0).as_ref()),
            Err(Error::Shape { got: 5, .. })
        ));
        spoiled = random(3, 2, 0);
        spoiled[(2, 1)] = f64::NAN;
        assert!(matches!(
            fitted.predict(spoiled.as_ref()),
            Err(Error::NotFinite {
                row: 2,
                column: 1,
                ..
            })
        ));
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![4 => -2.0..2.0f64, 2 => (-3i32..3).prop_map(f64::from), 1 => any::<f64>(), 1 => Just(f64::NAN)]
    }

    fn finite_number() -> impl Strategy<Value = f64> {
        prop_oneof![6 => -2.0..2.0f64, 3 => (-3i32..3).prop_map(f64::from), 1 => any::<f64>()]
            .prop_filter("finite", |v| v.is_finite())
    }

    fn matrix(
        rows: impl Strategy<Value = usize>,
        columns: usize,
        number: impl Strategy<Value = f64> + Clone + 'static,
    ) -> impl Strategy<Value = Mat<f64>> {
        rows.prop_flat_map(move |rows| {
            prop::collection::vec(number.clone(), rows * columns)
                .prop_map(move |values| Mat::from_fn(rows, columns, |i, k| values[i * columns + k]))
        })
    }

    proptest! {
        #[test]
        fn no_input_panics_and_no_result_is_nan(
            (x, y, fresh) in (0usize..4, 0usize..3, prop::bool::ANY).prop_flat_map(|(d, c, wild)| {
                let number = if wild { any_number().boxed() } else { finite_number().boxed() };
                (matrix(0usize..9, d, number.clone()), matrix(0usize..9, c, number.clone()), matrix(0usize..4, d, number))
            }),
            matching in prop::bool::weighted(0.8),
            lambda in prop_oneof![Just(0.0), Just(1e-4), any::<f64>()],
            bandwidth in prop::option::of(prop_oneof![Just(1.0), any::<f64>()]),
        ) {
            let rows = x.nrows().min(y.nrows());
            let (x, y) = if matching { (x.subrows(0, rows), y.subrows(0, rows)) } else { (x.as_ref(), y.as_ref()) };
            if let Ok(fitted) = (KernelRidge { lambda, bandwidth }).fit(x, y) {
                prop_assert!(fitted.alpha().is_all_finite() && fitted.bandwidth() > 0.0);
                if let Ok(values) = fitted.predict(fresh.as_ref()) {
                    prop_assert!(values.is_all_finite());
                    prop_assert_eq!((values.nrows(), values.ncols()), (fresh.nrows(), y.ncols()));
                }
            }
        }
    }
}
