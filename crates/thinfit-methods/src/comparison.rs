//! Compares methods on the same rows by cross-validation.
//!
//! Rows of a group, and rows with equal inputs, are in one fold. All methods use the same folds, so differences are
//! paired: with squared errors e_i of a method and b_i of the best, the mean of e_i − b_i has its own standard error,
//! which is smaller than those of the two means if both fail on the same rows.

use crate::{Method, Request};
use faer::Mat;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use thinfit::pieces::{folds, one_group};
use thinfit::{Control, Dataset, Error, Result, Selection, Winner};
use thinfit_auto::Auto;
use thinfit_gp::GaussianProcess;
use thinfit_model::{explained, root_error};

/// Level of the intervals that are compared.
const LEVEL: f64 = 0.9;

/// The default contenders: a varied selection.
pub const CONTENDERS: [&str; 7] = [
    Auto::NAME,
    GaussianProcess::NAME,
    "matern-process",
    "anova-process",
    "gft-r",
    "kernel-ridge-validated",
    "linear",
];

/// The names of all contenders: the methods, and some Gaussian processes with settings.
pub fn contenders() -> Vec<&'static str> {
    let variants = CONTENDERS.iter().filter(|name| variant(name).is_some());
    variants.copied().chain(Method::ALL).collect()
}

/// The settings of a Gaussian process that has a name as a contender.
fn variant(name: &str) -> Option<Value> {
    Some(match name {
        "matern-process" => json!({ "kernel": "matern52" }),
        "anova-process" => json!({ "kernel": "anova" }),
        // With such long length scales only linear functions remain.
        "linear" => json!({ "isotropic": true, "shortest": 1e3 }),
        _ => return None,
    })
}

/// What is compared, and how.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Names of the contenders, see [`contenders`].
    pub methods: Vec<String>,
    /// Number of folds, at least 2.
    pub folds: usize,
    /// Seconds that each fit by `auto` may take, on two cores.
    pub budget: f64,
    /// Seed of folds and fits.
    pub seed: u64,
}

impl Default for Comparison {
    fn default() -> Self {
        Comparison {
            methods: CONTENDERS.map(String::from).to_vec(),
            folds: 5,
            budget: 10.0,
            seed: 1,
        }
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Number of rows.
    pub rows: usize,
    /// Number of folds.
    pub folds: usize,
    /// Variance of each output (c).
    pub variance: Vec<f64>,
    /// The methods, best first.
    pub methods: Vec<Contender>,
    /// Methods that could not be fitted, and why.
    pub failed: Vec<(String, String)>,
    /// Whether it was stopped before all methods were fitted.
    pub stopped: bool,
}

/// A method and its cross-validation errors.
#[derive(Clone, Debug, Serialize)]
pub struct Contender {
    /// Its name.
    pub method: String,
    /// Root mean squared errors (c).
    pub rmse: Vec<f64>,
    /// Standard errors of these (c).
    pub standard_error: Vec<f64>,
    /// Shares of the variance that are explained (c).
    pub r2: Vec<f64>,
    /// Mean squared errors above those of the best method (c).
    pub excess: Vec<f64>,
    /// Standard errors of the excess, by pairs (c).
    pub excess_error: Vec<f64>,
    /// Shares of the rows in their 90 % intervals (c), where the method has finite ones.
    pub coverage: Option<Vec<f64>>,
    /// Mean widths of these intervals (c).
    pub width: Option<Vec<f64>>,
    /// Mean time of a fit.
    pub seconds: f64,
    /// Mean number of parameters.
    pub parameters: usize,
    /// What the polish chose in each fold; empty for methods that have none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub winners: Vec<Winner>,
    /// Root of the mean squared errors on the fits' own validation rows, over all folds; empty as above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub validation_rmse: Vec<f64>,
    /// The same before the polish.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trained_rmse: Vec<f64>,
}

impl Contender {
    /// Whether it is clearly worse than the best: an excess above two standard errors, in some output.
    pub fn is_behind(&self) -> bool {
        let pairs = self.excess.iter().zip(&self.excess_error);
        pairs
            .into_iter()
            .any(|(excess, error)| *excess > 2.0 * error)
    }
}

/// Cross-validated predictions of all rows.
struct Unseen {
    name: String,
    /// Squared errors, m × c.
    squares: Mat<f64>,
    /// Whether each row is in its interval, and the width of the interval, m × c each.
    intervals: Option<[Mat<f64>; 2]>,
    seconds: f64,
    parameters: usize,
    /// What the polish chose, with the errors on validation rows and those before it, fold by fold.
    selections: Vec<(Selection, Vec<f64>)>,
}

impl Comparison {
    /// Fits every method without each fold. `observe` receives the method and the fraction done, and may stop it.
    ///
    /// # Errors
    /// Unknown methods, fewer than two folds, or no method that can be fitted.
    pub fn run(
        &self,
        data: &Dataset,
        observe: &(dyn Fn(&str, f64) -> Control + Sync),
    ) -> Result<Compared> {
        let requests: Result<Vec<(String, Request)>> = (self.methods.iter())
            .map(|name| Ok((name.clone(), self.request(name)?)))
            .collect();
        let (requests, folds) = (requests?, folds(data, self.folds, self.seed));
        if data.groups.is_some() && folds.len() < 2 {
            return Err(one_group(data.grouped().len()));
        }
        if self.folds < 2 || folds.len() < 2 {
            return Err(Error::Data {
                what: "folds",
                problem: format!(
                    "expected at least 2, found {} of {} rows",
                    self.folds.min(folds.len()),
                    data.samples()
                ),
                advice: "give more rows that differ in their inputs",
            });
        }
        let stopped = AtomicBool::new(false);
        let (mut unseen, mut failed, mut first) = (Vec::new(), Vec::new(), None);
        for (k, (name, request)) in requests.iter().enumerate() {
            let part = |done: f64| {
                let control = observe(name, (k as f64 + done) / requests.len() as f64);
                stopped.fetch_or(control == Control::Stop, Ordering::Relaxed);
                control
            };
            let found = unseen_rows(name, request, data, &folds, &part);
            if stopped.load(Ordering::Relaxed) {
                break;
            }
            match found {
                Ok(found) => unseen.push(found),
                Err(error) => {
                    failed.push((name.clone(), error.to_string()));
                    first.get_or_insert(error);
                }
            }
        }
        let stopped = stopped.into_inner();
        match first {
            Some(error) if unseen.is_empty() && !stopped => Err(error),
            _ => Ok(Compared {
                rows: data.samples(),
                folds: folds.len(),
                variance: variance(&data.y),
                methods: ranked(unseen, &variance(&data.y)),
                failed,
                stopped,
            }),
        }
    }

    /// The method of the contender of this name.
    fn request(&self, name: &str) -> Result<Request> {
        let of = |value: Value| match value {
            Value::Object(layer) => layer,
            _ => Map::new(),
        };
        let (method, layer) = match (variant(name), name) {
            (Some(settings), _) => (GaussianProcess::NAME, of(settings)),
            (None, Auto::NAME) => (name, of(json!({ "budget": self.budget }))),
            (None, _) => (name, Method::for_raw_columns(name)),
        };
        let named = json!({ "method": method, "seed": self.seed });
        Request::new(None, [layer, of(named)]).map_err(|error| match error {
            Error::Setting { field, .. } if field == "method" => Error::Setting {
                field: "methods".into(),
                problem: format!(
                    "expected any of {}, found `{name}`",
                    contenders().join(", ")
                ),
            },
            error => error,
        })
    }
}

/// Fits without each fold and predicts its rows.
fn unseen_rows(
    name: &str,
    request: &Request,
    data: &Dataset,
    folds: &[Vec<usize>],
    observe: &(dyn Fn(f64) -> Control + Sync),
) -> Result<Unseen> {
    let (m, c) = (data.samples(), data.y.ncols());
    let mut squares = Mat::zeros(m, c);
    let mut intervals = Some([Mat::zeros(m, c), Mat::zeros(m, c)]);
    let (mut seconds, mut parameters, mut selections) = (0.0, 0, vec![]);
    for (k, fold) in folds.iter().enumerate() {
        let others: Vec<usize> = (0..m)
            .filter(|row| fold.binary_search(row).is_err())
            .collect();
        let (train, held) = (data.rows(&others), data.rows(fold));
        let done = |part: f64| observe((k as f64 + part) / folds.len() as f64);
        if done(0.0) == Control::Stop {
            break;
        }
        let start = Instant::now();
        let model = request.fit(&train, &|at| done(at.done / at.runs as f64))?;
        seconds += start.elapsed().as_secs_f64();
        parameters += model.parameters();
        let record = model.record();
        let selection = record.selection.clone();
        selections.extend(selection.map(|selection| (selection, record.validation_mse.clone())));
        let f = model.predict(held.x.as_ref())?;
        let bounds = model.interval_inside(held.x.as_ref(), LEVEL).ok();
        let bounds = bounds.filter(|bounds| bounds.is_finite());
        for (i, &row) in fold.iter().enumerate() {
            for o in 0..c {
                let y = held.y[(i, o)];
                squares[(row, o)] = (y - f[(i, o)]).powi(2);
                if let (Some([inside, width]), Some(bounds)) = (&mut intervals, &bounds) {
                    let (low, high) = (bounds.low[(i, o)], bounds.high[(i, o)]);
                    inside[(row, o)] = f64::from(u8::from((low..=high).contains(&y)));
                    width[(row, o)] = high - low;
                }
            }
        }
        intervals = intervals.filter(|_| bounds.is_some());
    }
    Ok(Unseen {
        name: name.into(),
        squares,
        intervals,
        seconds: seconds / folds.len() as f64,
        parameters: parameters / folds.len(),
        selections,
    })
}

/// The contenders by the mean over outputs of mse/variance, compared with the first of them.
fn ranked(mut unseen: Vec<Unseen>, variance: &[f64]) -> Vec<Contender> {
    let share = |mse: f64, variance: f64| if variance > 0.0 { mse / variance } else { mse };
    let error = |one: &Unseen| -> f64 {
        let shares = means(&one.squares).into_iter().zip(variance);
        shares.map(|(mse, variance)| share(mse, *variance)).sum()
    };
    unseen.sort_by(|a, b| error(a).total_cmp(&error(b)));
    let best = unseen.first().map(|best| best.squares.clone());
    unseen
        .into_iter()
        .map(|one| {
            let excess = &one.squares - best.as_ref().unwrap_or(&one.squares);
            let mse = means(&one.squares);
            let errors = standard_errors(&one.squares).into_iter().zip(&mse);
            let [coverage, width] = match &one.intervals {
                None => [None, None],
                Some(intervals) => intervals.each_ref().map(|a| Some(means(a))),
            };
            Contender {
                method: one.name,
                rmse: mse.iter().map(|mse| mse.sqrt()).collect(),
                standard_error: errors.map(|(error, mse)| root_error(error, *mse)).collect(),
                r2: (mse.iter().zip(variance))
                    .map(|(mse, variance)| explained(*mse, *variance))
                    .collect(),
                excess: means(&excess),
                excess_error: standard_errors(&excess),
                coverage,
                width,
                seconds: one.seconds,
                parameters: one.parameters,
                winners: one.selections.iter().map(|(s, _)| s.winner).collect(),
                validation_rmse: roots(one.selections.iter().map(|(_, mse)| mse)),
                trained_rmse: roots(one.selections.iter().map(|(s, _)| &s.trained_mse)),
            }
        })
        .collect()
}

/// The roots of the means of these lists of squares, place by place.
fn roots<'a>(squares: impl ExactSizeIterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let count = squares.len() as f64;
    let sum = squares.fold(vec![], |mut sum: Vec<f64>, squares| {
        sum.resize(squares.len(), 0.0);
        sum.iter_mut().zip(squares).for_each(|(sum, s)| *sum += s);
        sum
    });
    sum.iter().map(|sum| (sum / count).sqrt()).collect()
}

/// The mean of each column.
fn means(a: &Mat<f64>) -> Vec<f64> {
    let m = a.nrows() as f64;
    let mean = |column: faer::ColRef<'_, f64>| column.iter().map(|v| v / m).sum();
    a.col_iter().map(mean).collect()
}

/// The variance of each column.
fn variance(a: &Mat<f64>) -> Vec<f64> {
    let m = a.nrows() as f64;
    let spread = |(column, mean): (faer::ColRef<'_, f64>, f64)| {
        column.iter().map(|v| (v - mean).powi(2) / m).sum()
    };
    a.col_iter().zip(means(a)).map(spread).collect()
}

/// The standard error of the mean of each column.
fn standard_errors(a: &Mat<f64>) -> Vec<f64> {
    let less = (a.nrows() as f64 - 1.0).max(1.0);
    let error = |variance: f64| (variance / less).sqrt();
    variance(a).into_iter().map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Dataset {
        let x = Mat::from_fn(60, 2, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 61.0);
        let y = Mat::from_fn(60, 1, |i, _| (6.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        Dataset::new(x, y).unwrap()
    }

    fn of(methods: &[&str]) -> Comparison {
        Comparison {
            methods: methods.iter().map(|name| name.to_string()).collect(),
            ..Comparison::default()
        }
    }

    #[test]
    fn errors_are_those_of_fits_without_the_fold_and_the_best_is_first() {
        let (data, asked) = (data(), of(&["linear", "kernel-ridge-validated"]));
        let compared = asked.run(&data, &|_, _| Control::Continue).unwrap();
        assert_eq!(
            (compared.rows, compared.folds, compared.stopped),
            (60, 5, false)
        );
        let [best, linear] = &compared.methods[..] else {
            panic!("{compared:?}");
        };
        assert_eq!(
            (best.method.as_str(), linear.method.as_str()),
            ("kernel-ridge-validated", "linear")
        );
        assert!(best.rmse[0] < 0.05 && linear.rmse[0] > 0.2, "{compared:?}");
        assert!(linear.is_behind() && !best.is_behind());
        assert_eq!((best.excess[0], best.excess_error[0]), (0.0, 0.0));
        let coverage = best.coverage.as_ref().unwrap()[0];
        assert!((0.7..=1.0).contains(&coverage), "{coverage}");
        assert!(linear.width.as_ref().unwrap()[0] > 0.3);
        // By hand.
        let request = asked.request("kernel-ridge-validated").unwrap();
        let mut sum = 0.0;
        for fold in folds(&data, 5, 1) {
            let others: Vec<usize> = (0..60).filter(|i| !fold.contains(i)).collect();
            let model = request
                .fit(&data.rows(&others), &|_| Control::Continue)
                .unwrap();
            let held = data.rows(&fold);
            let error = model.predict(held.x.as_ref()).unwrap() - &held.y;
            sum += error.squared_norm_l2();
        }
        assert!((best.rmse[0] / (sum / 60.0).sqrt() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn unknown_methods_are_refused_failures_are_told_and_a_stop_keeps_what_is_done() {
        let error = of(&["magic"]).run(&data(), &|_, _| Control::Continue);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("`magic`") && error.contains("anova-process"),
            "{error}"
        );
        let few = data().rows(&[0, 1, 2, 3, 4]);
        let compared = of(&["salsa", "linear"]).run(&few, &|_, _| Control::Continue);
        let compared = compared.unwrap();
        assert_eq!(compared.methods.len(), 1);
        assert!(compared.failed[0].1.contains("at least 5"), "{compared:?}");
        let compared = of(&["linear", "kernel-ridge"]).run(&data(), &|name, _| match name {
            "linear" => Control::Continue,
            _ => Control::Stop,
        });
        let compared = compared.unwrap();
        assert!(compared.stopped && compared.methods.len() == 1);
        for name in contenders() {
            assert_eq!(of(&[]).request(name).unwrap().seed, 1);
        }
    }
}
