//! What fits a trial: a method of the library with its settings, or a baseline defined here.

use std::time::Instant;

use faer::prelude::SolveLstsq;
use serde_json::{Map, Value};
use thinfit::{Control, Dataset, Error, Mat, MatRef, Result, Scaler, linear_leave_one_out};
use thinfit_experiments::Trial;
use thinfit_methods::{Method, Predictor, Request, tried_name};

/// Probabilities of the intervals.
const INTERVALS: [f64; 2] = [0.9, 0.95];

/// A method or a control.
pub struct Learner {
    /// As it was given, but for commas, which would end a field of the results.
    pub name: String,
    kind: Kind,
}

enum Kind {
    Method(Box<Method>),
    Linear,
    Mean,
}

/// A fit, judged.
pub struct Judged {
    /// The method that the record names: the winner where several compete.
    pub chosen: String,
    /// Deviation of f.
    pub deviation: f64,
    /// Mean squared error at fresh points, against f.
    pub mse: f64,
    /// Mean squared error that the fit reports.
    pub reported: Option<f64>,
    /// Mean squared error of the mean, by the same report.
    pub variance: Option<f64>,
    /// What the report estimates: the mean squared error on fresh rows with their noise.
    pub observed_mse: f64,
    /// Share of fresh rows inside the interval, and its mean width, at each probability.
    pub intervals: [Option<(f64, f64)>; 2],
    pub parameters: usize,
    /// Sets of inputs that act together, counted from one, such as `1+2 3`.
    pub terms: Option<String>,
    /// Time of the fit alone.
    pub seconds: f64,
}

impl Learner {
    /// Reads a list such as `gaussian-process:kernel=matern52,starts=8,linear`; those that do not exist come second.
    pub fn list(text: &str) -> Result<(Vec<Learner>, Vec<String>)> {
        let mut words: Vec<String> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            match words.last_mut() {
                // Another setting of the method before.
                Some(last) if part.contains('=') && !part.contains(':') => {
                    last.push(';');
                    last.push_str(part);
                }
                _ => words.push(part.into()),
            }
        }
        let (mut learners, mut unknown) = (Vec::new(), Vec::new());
        for name in words {
            let (method, settings) = name.split_once(':').unwrap_or((&name, ""));
            let kind = match (method, Method::named(method)) {
                ("linear", _) => Kind::Linear,
                ("mean", _) => Kind::Mean,
                (_, Some(method)) => Kind::Method(Box::new(method.changed(&changes(settings)?)?)),
                (_, None) => {
                    unknown.push(name);
                    continue;
                }
            };
            learners.push(Learner { name, kind });
        }
        Ok((learners, unknown))
    }

    /// Fits the rows of a trial and judges the fit at its fresh points.
    pub fn judge(&self, trial: &Trial, seed: u64, threads: usize) -> Result<Judged> {
        let (data, x) = (&trial.train, trial.test.x.as_ref());
        let start = Instant::now();
        let judged = Judged {
            chosen: self.name.clone(),
            deviation: trial.deviation(),
            mse: f64::NAN,
            reported: None,
            variance: None,
            observed_mse: f64::NAN,
            intervals: [None; 2],
            parameters: 1,
            terms: None,
            seconds: 0.0,
        };
        let (f, judged) = match &self.kind {
            Kind::Mean => {
                let (m, mean) = (data.samples() as f64, data.y.sum() / data.samples() as f64);
                let squares: f64 = data.y.col(0).iter().map(|y| (y - mean).powi(2)).sum();
                let judged = Judged {
                    // Left out, a row is m/(m − 1) times as far from the mean of the others.
                    reported: Some(squares * m / (m - 1.0).powi(2)),
                    ..judged
                };
                (Mat::from_fn(x.nrows(), 1, |_, _| mean), judged)
            }
            Kind::Linear => {
                let f = linear(data, x);
                let judged = Judged {
                    reported: linear_leave_one_out(data).first().copied(),
                    parameters: data.dim() + 1,
                    seconds: start.elapsed().as_secs_f64(),
                    ..judged
                };
                (f, judged)
            }
            Kind::Method(method) => {
                let request = Request {
                    method: Method::clone(method),
                    seed,
                    threads,
                };
                let model = request.fit(data, &|_| Control::Continue)?;
                let seconds = start.elapsed().as_secs_f64();
                let judge = |level: f64| {
                    let (low, high) = interval(&model, x, level)?;
                    Some(coverage(&low, &high, &trial.observed))
                };
                let judged = Judged {
                    chosen: chosen(&model),
                    reported: model.record().validation_mse.first().copied(),
                    variance: model.record().validation_variance.first().copied(),
                    intervals: INTERVALS.map(judge),
                    parameters: model.parameters(),
                    terms: terms(&model),
                    seconds,
                    ..judged
                };
                (model.predict(x)?, judged)
            }
        };
        let mse = |y: &Mat<f64>| (&f - y).squared_norm_l2() / y.nrows() as f64;
        let (mse, observed_mse) = (mse(&trial.test.y), mse(&trial.observed));
        match mse.is_finite() && observed_mse.is_finite() {
            true => Ok(Judged {
                mse,
                observed_mse,
                ..judged
            }),
            false => Err(Error::Data {
                what: "y",
                problem: "the test error is not finite".into(),
                advice: "mend the method",
            }),
        }
    }
}

/// Settings written as `key=value;key=value`; a value is JSON, or else text.
fn changes(settings: &str) -> Result<Map<String, Value>> {
    let parts = settings.split(';').filter(|part| !part.is_empty());
    let change = |part: &str| match part.split_once('=') {
        Some((key, value)) => {
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            Ok((key.to_owned(), value))
        }
        None => Err(Error::Setting {
            field: part.into(),
            problem: "expected key=value after the name of a method".into(),
        }),
    };
    parts.map(change).collect()
}

/// Lower and upper ends at the rows of `x` of the interval for a new observation, where the model has one: its own for
/// a network, the normal one of its deviations for a Gaussian process.
fn interval(model: &Predictor, x: MatRef<'_, f64>, level: f64) -> Option<(Mat<f64>, Mat<f64>)> {
    let interval = model.interval(x, level).ok()?;
    Some((interval.low, interval.high))
}

/// Share of `y` inside the intervals, and their mean width.
fn coverage(low: &Mat<f64>, high: &Mat<f64>, y: &Mat<f64>) -> (f64, f64) {
    let m = y.nrows();
    let inside = |i: &usize| low[(*i, 0)] <= y[(*i, 0)] && y[(*i, 0)] <= high[(*i, 0)];
    let width: f64 = (0..m).map(|i| high[(i, 0)] - low[(i, 0)]).sum();
    let share = (0..m).filter(inside).count() as f64 / m as f64;
    (share, width / m as f64)
}

/// The candidate that won, where there were several.
fn chosen(model: &Predictor) -> String {
    let record = model.record();
    let winner = record.diagnosis.as_ref().and_then(|f| f.tried.first());
    winner.map_or_else(
        || record.method.clone(),
        |tried| tried_name(tried).replace(',', ""),
    )
}

/// The sets of inputs that the features of a network read, if some read fewer than all.
fn terms(model: &Predictor) -> Option<String> {
    if let Some(found) = &model.record().diagnosis {
        let word = |set: &Vec<usize>| {
            let inputs: Vec<String> = set.iter().map(|j| (j + 1).to_string()).collect();
            inputs.join("+")
        };
        let terms: Vec<String> = found.terms.iter().flatten().map(word).collect();
        return Some(terms.join(" "));
    }
    let network = model.network().ok()?;
    let (w, d) = (network.scaled_hidden(), network.dim());
    let read = |l: usize| -> Vec<usize> { (0..d).filter(|&j| w[(l, j)] != 0.0).collect() };
    let mut sets: Vec<Vec<usize>> = (0..network.width()).map(read).collect();
    sets.sort();
    sets.dedup();
    let word = |set: &Vec<usize>| {
        let inputs: Vec<String> = set.iter().map(|j| (j + 1).to_string()).collect();
        inputs.join("+")
    };
    sets.retain(|set| !set.is_empty());
    (sets.iter().any(|set| set.len() < d)).then(|| {
        let words: Vec<String> = sets.iter().map(word).collect();
        words.join(" ")
    })
}

/// Predictions at `x` by least squares on scaled inputs, with a ridge that only chooses where columns are dependent.
fn linear(data: &Dataset, x: MatRef<'_, f64>) -> Mat<f64> {
    let (m, d) = (data.samples(), data.dim());
    let scaler = Scaler::to_standard(data.x.as_ref());
    let (own, fresh) = (scaler.apply(data.x.as_ref()), scaler.apply(x));
    let column = |x: &Mat<f64>, i: usize, j: usize| if j < d { x[(i, j)] } else { 1.0 };
    let ridge = 1e-10 * (m as f64).sqrt();
    let design = Mat::from_fn(m + d + 1, d + 1, |i, j| match i.checked_sub(m) {
        None => column(&own, i, j),
        Some(k) if k == j => ridge,
        Some(_) => 0.0,
    });
    let y = Mat::from_fn(
        m + d + 1,
        1,
        |i, _| if i < m { data.y[(i, 0)] } else { 0.0 },
    );
    let beta = design.qr().solve_lstsq(&y);
    Mat::from_fn(x.nrows(), 1, |i, _| {
        (0..=d).map(|j| column(&fresh, i, j) * beta[(j, 0)]).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_settings_and_tells_what_is_unknown() {
        let text = "gaussian-process:kernel=matern52,starts=8,linear,magic,mean";
        let (learners, unknown) = Learner::list(text).unwrap();
        let names: Vec<&str> = learners.iter().map(|l| l.name.as_str()).collect();
        let first = "gaussian-process:kernel=matern52;starts=8";
        assert_eq!(names, [first, "linear", "mean"]);
        assert_eq!(unknown, ["magic"]);
        let Kind::Method(method) = &learners[0].kind else {
            panic!("expected a method");
        };
        let expected = thinfit_methods::GaussianProcess {
            kernel: thinfit_methods::Shape::Matern52,
            starts: 8,
            ..Default::default()
        };
        assert_eq!(**method, Method::GaussianProcess(expected));
        assert!(Learner::list("gaussian-process:matern52").is_err());
        assert!(Learner::list("gaussian-process:kernels=matern52").is_err());
    }

    /// A linear function of two inputs, the second of them twice, with an alternating error of `noise`.
    fn trial(noise: f64) -> Trial {
        let sample = |rows: usize, step: usize| {
            let x = Mat::from_fn(rows, 3, |i, j| ((i * (step + j.min(1))) % 13) as f64);
            let y = Mat::from_fn(rows, 1, |i, _| 2.0 * x[(i, 0)] - x[(i, 1)] + 0.25);
            Dataset::new(x, y).unwrap()
        };
        let (mut train, test) = (sample(30, 3), sample(50, 5));
        let observed = Mat::from_fn(50, 1, |i, _| test.y[(i, 0)] + noise * [1.0, -1.0][i % 2]);
        (0..30).for_each(|i| train.y[(i, 0)] += noise * [1.0, -1.0][i % 2]);
        Trial {
            train,
            test,
            observed,
        }
    }

    #[test]
    fn the_linear_control_finds_a_linear_function_and_the_mean_does_not() {
        let (learners, _) = Learner::list("linear,mean").unwrap();
        let judged = learners[0].judge(&trial(0.0), 1, 1).unwrap();
        assert!(judged.mse < 1e-16, "{}", judged.mse);
        assert_eq!(judged.parameters, 4);
        let judged = learners[1].judge(&trial(0.0), 1, 1).unwrap();
        let share = judged.mse / judged.deviation.powi(2);
        assert!((0.99..1.2).contains(&share), "{share}");
        // The error on rows with noise is that of f and the noise together.
        let judged = learners[0].judge(&trial(0.5), 1, 1).unwrap();
        assert!(judged.mse < 0.05 && (0.15..0.35).contains(&judged.observed_mse));
        assert!((0.25..0.4).contains(&judged.reported.unwrap()));
    }

    #[test]
    fn coverage_counts_rows_inside_and_averages_widths() {
        let column = |values: [f64; 4]| Mat::from_fn(4, 1, |i, _| values[i]);
        let (low, high) = (column([0.0; 4]), column([1.0, 1.0, 1.0, 3.0]));
        let y = column([0.5, 1.0, 1.1, -0.1]);
        assert_eq!(coverage(&low, &high, &y), (0.5, 1.5));
    }
}
