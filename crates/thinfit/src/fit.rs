//! A whole fit: scaling, split, runs, choice by validation, the final output weights and their uncertainty.
//!
//! A *run* trains one set of hidden weights and polishes it. A fit makes one run for each λ and each start that the
//! configuration asks for, in parallel, and keeps the one with the smallest error on the validation rows.

use crate::config::{Config, Lambda, Method};
use crate::data::{Dataset, Scaler, Scaling};
use crate::features::{features, pad};
use crate::model::{Model, Network, Record, Uncertainty};
use crate::objective::RowsOf;
use crate::orthogonal::{self, Orthogonal};
use crate::output::KAPPAS;
use crate::polish::{self, polish};
use crate::rows::{self, Rows};
use crate::state::{Control, Phase, Progress, State, fingerprint};
use crate::train::{Check, Leaf, Parts, RunState, TrainingStep, new_step, phases, train};
use crate::{Activation, Error, Form, Result, Ridge};
use faer::{Mat, MatRef};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Fits a model to `data`.
///
/// `observe` is called after every step, from any thread; runs over several λ or starts call it concurrently.
///
/// # Errors
/// A configuration outside its ranges, data that no fit can use, or numbers that left the finite range.
///
/// # Examples
/// ```
/// use thinfit::{Config, Control, Dataset, Mat, fit};
/// let x = Mat::from_fn(60, 1, |i, _| i as f64 / 60.0);
/// let y = Mat::from_fn(60, 1, |i, _| (6.0 * x[(i, 0)]).sin());
/// let config = Config { width: 8, ..Config::fast() };
/// let model = fit(&Dataset::new(x.clone(), y.clone())?, &config, &|_| Control::Continue)?;
/// let error = model.predict(x.as_ref())? - y;
/// assert!(error.norm_max() < 1e-3);
/// # Ok::<(), thinfit::Error>(())
/// ```
pub fn fit(
    data: &Dataset,
    config: &Config,
    observe: &(dyn Fn(&Progress<'_>) -> Control + Sync),
) -> Result<Model> {
    config.check()?;
    let runs = plans(config).len();
    let state = State::new(
        config.clone(),
        fingerprint(data),
        vec![RunState::default(); runs],
    );
    resume(data, state, observe)
}

/// Continues a fit from a state; the result has the same bits as that of a fit that was never interrupted.
///
/// # Errors
/// As [`fit`], and data other than those the state was made from.
pub fn resume(
    data: &Dataset,
    state: State,
    observe: &(dyn Fn(&Progress<'_>) -> Control + Sync),
) -> Result<Model> {
    state.config.check()?;
    // The fields of a data set are public, so it may have changed since it was made.
    data.check()?;
    if state.fingerprint != fingerprint(data) || state.runs.len() != plans(&state.config).len() {
        return Err(Error::Format {
            path: "checkpoint".into(),
            expected: "the data and the configuration that the state was saved with".into(),
            found: "others".into(),
            advice: "resume with the same data, or start the fit afresh",
        });
    }
    let threads = state.config.threads;
    let work = || Fit::new(data, state)?.run(observe);
    if threads == 0 {
        // Inside the global pool, because entering it at every step would be slow.
        return rayon::scope(|_| work());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::Config {
        field: "threads",
        expected: "a number of threads that can be started",
        found: format!("{threads} ({error})"),
    })?;
    // A worker of another pool that waits for this one would take up other work meanwhile, perhaps another fit;
    // a thread of its own just waits.
    std::thread::scope(|scope| match scope.spawn(|| pool.install(work)).join() {
        Ok(model) => model,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// One run: a method, a λ and the scale of its random start.
#[derive(Clone, Copy)]
struct Plan {
    method: Method,
    lambda: f64,
    scale: f64,
}

/// The runs that a configuration asks for.
fn plans(config: &Config) -> Vec<Plan> {
    let lambdas = match (config.lambda, config.method) {
        (Lambda::Fixed(lambda), _) => vec![lambda],
        // No step of random features sees λ.
        (Lambda::Auto, Method::Random) => vec![0.0],
        (Lambda::Auto, _) => Lambda::GRID.to_vec(),
    };
    let scales = match config.method {
        Method::Random | Method::Direct => &config.scales[..],
        Method::Generative | Method::Refined => &config.scales[..1],
    };
    let plan = |lambda| {
        scales.iter().map(move |&scale| Plan {
            method: config.method,
            lambda,
            scale,
        })
    };
    lambdas.into_iter().flat_map(plan).collect()
}

/// What a run ends with.
struct Outcome {
    plan: Plan,
    w: Mat<f64>,
    /// Smallest error on the validation rows, in scaled outputs.
    validation: f64,
    ridge: orthogonal::Ridge,
    form: Form,
    polish_steps: Option<usize>,
    stopped: bool,
    raised: usize,
    history: Vec<Check>,
}

/// The data of a fit in scaled units, and its state.
struct Fit {
    config: Config,
    fingerprint: u64,
    board: Mutex<Vec<RunState>>,
    scalers: (Scaler, Scaler),
    all: Dataset,
    train: Dataset,
    validation: Dataset,
}

impl Fit {
    fn new(data: &Dataset, state: State) -> Result<Self> {
        let (x, y) = (data.x.as_ref(), data.y.as_ref());
        let scalers = match state.config.scaling {
            Scaling::None => (Scaler::identity(x.ncols()), Scaler::identity(y.ncols())),
            Scaling::Box => (Scaler::to_box(x), Scaler::to_standard(y)),
            Scaling::Standard => (Scaler::to_standard(x), Scaler::to_standard(y)),
        };
        let all = Dataset {
            x: scalers.0.apply(x),
            y: scalers.1.apply(y),
            ..data.clone()
        };
        let (train, validation) = all.split(state.config.validation, state.config.seed)?;
        let State {
            config,
            fingerprint,
            runs,
            ..
        } = state;
        Ok(Fit {
            config,
            fingerprint,
            board: Mutex::new(runs),
            scalers,
            all,
            train,
            validation,
        })
    }

    fn run(self, observe: &(dyn Fn(&Progress<'_>) -> Control + Sync)) -> Result<Model> {
        let plans = plans(&self.config);
        let outcomes: Vec<Result<Outcome>> = (0..plans.len())
            .into_par_iter()
            .map(|i| self.run_one(&plans, i, observe))
            .collect();
        // A run that left the finite range is lost, not the fit, unless there is no other.
        let (mut best, mut failure, mut stopped) = (None::<Outcome>, None, false);
        for outcome in outcomes {
            match outcome {
                Ok(outcome) => {
                    stopped |= outcome.stopped;
                    if best
                        .as_ref()
                        .is_none_or(|best| outcome.validation < best.validation)
                    {
                        best = Some(outcome);
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        match (best, failure) {
            (Some(best), _) => self.finish(Outcome { stopped, ..best }),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("a configuration has at least one run"),
        }
    }

    fn run_one(
        &self,
        plans: &[Plan],
        i: usize,
        observe: &(dyn Fn(&Progress<'_>) -> Control + Sync),
    ) -> Result<Outcome> {
        let (plan, config) = (plans[i], &self.config);
        let mut state = self.lock()[i].clone();
        let phases = phases(config);
        let polish_cost = POLISH_COST * config.polish.steps;
        let total = phases.iter().map(|phase| phase.1.steps).sum::<usize>() + polish_cost;
        let train_rows = RowsOf::of(&self.train);
        let parts = Parts {
            train: train_rows,
            validation: RowsOf::of(&self.validation),
            lambda: plan.lambda,
            scale: plan.scale,
        };
        let mut step = new_step(config, &parts);
        let mut report =
            |run: &mut dyn TrainingStep, state: &mut RunState, leaf: Leaf, loss: f64| {
                let before: usize = phases[..state.phase]
                    .iter()
                    .map(|phase| phase.1.steps)
                    .sum();
                if plans.len() > 1 && state.step.is_multiple_of(config.check_every) {
                    self.post(i, state, run, leaf);
                }
                let progress = Progress {
                    phase: Phase::Train(leaf),
                    step: state.step,
                    steps: phases[state.phase].1.steps,
                    loss,
                    validation: state.best().unwrap_or(f64::MAX),
                    run: i,
                    runs: plans.len(),
                    done: (before + state.step) as f64 / total as f64,
                    state: &|| {
                        self.post(i, state, run, leaf);
                        self.state()
                    },
                };
                observe(&progress) == Control::Continue
            };
        let (w, mut stopped) = train(step.as_mut(), config, &mut state, &mut report)?;
        drop(step);
        if !stopped {
            self.lock()[i] = state.clone();
        }
        let (w, polish_steps) = if stopped || config.polish.steps == 0 || !self.affordable() {
            (w, None)
        } else {
            let mut watch = |step: usize, loss: f64, best: f64| {
                let progress = Progress {
                    phase: Phase::Polish,
                    step,
                    steps: config.polish.steps,
                    loss,
                    validation: best,
                    run: i,
                    runs: plans.len(),
                    done: (total - polish_cost + POLISH_COST * step) as f64 / total as f64,
                    state: &|| self.state(),
                };
                stopped = observe(&progress) == Control::Stop;
                !stopped
            };
            let (w, steps) = self.polish(w, &mut state.history, &mut watch);
            (w, Some(steps))
        };
        let form = if config.polish.steps > 0 {
            config.polish.form
        } else {
            Form::Complex
        };
        let (ridge, validation) = self.choose_ridge(&w, form)?;
        Ok(Outcome {
            plan,
            w,
            validation,
            ridge,
            form,
            polish_steps,
            stopped,
            raised: state.raised,
            history: state.history,
        })
    }

    /// Polishes w under the validation rule; returns the best w and the step that made it.
    ///
    /// `watch` hears of every step: its number, the loss and the smallest validation error so far.
    fn polish(
        &self,
        w: Mat<f64>,
        history: &mut Vec<Check>,
        watch: &mut dyn FnMut(usize, f64, f64) -> bool,
    ) -> (Mat<f64>, usize) {
        let (config, activation) = (&self.config, self.config.activation);
        let (x, held) = (
            pad(activation, self.train.x.as_ref()),
            pad(activation, self.validation.x.as_ref()),
        );
        let (train, validation) = (
            view(&self.train, x.as_ref()),
            view(&self.validation, held.as_ref()),
        );
        let (steps, kappa) = (config.polish.steps, config.polish.kappa);
        let options = polish::Options {
            steps,
            kappa,
            ..Default::default()
        };
        let (omega, mut best) = (RowsOf::of(&self.train).total_weight(), f64::MAX);
        let mut observe = |step: usize, objective: f64, error: f64| {
            let (loss, error) = (objective / omega, error.min(f64::MAX));
            best = best.min(error);
            history.push(Check {
                leaf: None,
                step,
                loss: Some(loss),
                validation: error,
            });
            watch(step, loss, best)
        };
        let polished = polish(
            activation,
            config.polish.form,
            &train,
            &validation,
            w,
            &options,
            &mut observe,
        );
        (polished.w, polished.best_step)
    }

    /// Whether the Jacobian of the polish fits in memory: it has (parts · m · c) × (n d′) entries.
    fn affordable(&self) -> bool {
        let config = &self.config;
        let rows = 2 * self.train.samples() * self.train.y.ncols();
        rows.saturating_mul(config.width * config.activation.weights(self.train.dim()))
            <= POLISH_ENTRIES
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<RunState>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the current state of run `i` on the board.
    fn post(&self, i: usize, state: &RunState, run: &dyn TrainingStep, leaf: Leaf) {
        let mut state = state.clone();
        state.capture(run, leaf);
        self.lock()[i] = state;
    }

    fn state(&self) -> State {
        State::new(self.config.clone(), self.fingerprint, self.lock().clone())
    }

    /// The ridge of the final output weights and the validation error with it.
    ///
    /// An absolute ridge is taken as it is; a relative one is the training's, and here the best κ is chosen.
    fn choose_ridge(&self, w: &Mat<f64>, form: Form) -> Result<(orthogonal::Ridge, f64)> {
        let activation = self.config.activation;
        let factor = self.factor(&self.train, w, form)?;
        let e = planes(activation, self.validation.x.as_ref(), w);
        let held = view(&self.validation, self.validation.x.as_ref());
        let chosen = match self.config.ridge {
            Ridge::Absolute(eps) => {
                let ridge = orthogonal::Ridge::Absolute(eps);
                let b = factor.coefficients(factor.tau(ridge));
                Some((
                    ridge,
                    held.mean_square(rows::fitted(activation, e.as_ref(), b.as_ref()).as_ref()),
                ))
            }
            Ridge::Relative(_) => factor
                .choose_by_validation(&KAPPAS, e.as_ref(), &held)
                .map(|(kappa, error)| (orthogonal::Ridge::Relative(kappa), error)),
        };
        let advice = "check the scale of the data";
        chosen
            .filter(|chosen| chosen.1.is_finite())
            .ok_or(Error::Diverged {
                what: "the validation error",
                step: 0,
                advice,
            })
    }

    fn factor(&self, data: &Dataset, w: &Mat<f64>, form: Form) -> Result<Orthogonal> {
        let (activation, weights) = (self.config.activation, data.weights.as_deref());
        if data.samples() * activation.planes(w.nrows()) <= FACTOR_ENTRIES {
            let e = planes(activation, data.x.as_ref(), w);
            return Orthogonal::new(activation, form, e.as_ref(), data.y.as_ref(), weights);
        }
        let blocks = (0..data.samples()).step_by(FACTOR_ROWS).map(|start| {
            let rows = FACTOR_ROWS.min(data.samples() - start);
            let e = planes(activation, data.x.as_ref().subrows(start, rows), w);
            (
                e,
                data.y.as_ref().subrows(start, rows),
                weights.map(|weights| &weights[start..start + rows]),
            )
        });
        Orthogonal::condensed(activation, form, blocks)
    }

    /// The model of the chosen run: output weights, noise and calibration.
    fn finish(self, best: Outcome) -> Result<Model> {
        let activation = self.config.activation;
        let c = self.train.y.ncols();
        let held_out = self.factor(&self.train, &best.w, best.form)?;
        let tau = held_out.tau(best.ridge);
        let b = held_out.coefficients(tau);
        let e = planes(activation, self.validation.x.as_ref(), &best.w);
        let fitted = rows::fitted(activation, e.as_ref(), b.as_ref());
        let residual = &self.validation.y - fitted;
        let spread = spread(e.as_ref(), held_out.covariance(tau).as_ref());
        let (noise, scores) = calibrate(
            residual.as_ref(),
            &spread,
            self.validation.weights.as_deref(),
        );

        let (factor, b, tau) = if self.config.refit {
            let factor = self.factor(&self.all, &best.w, best.form)?;
            let tau = factor.tau(best.ridge);
            let b = factor.coefficients(tau);
            (factor, b, tau)
        } else {
            (held_out, b, tau)
        };
        let covariance = factor.covariance(tau);
        let lower = (0..covariance.nrows())
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|at| covariance[at])
            .collect();
        let mean = |o: usize, value: &dyn Fn(usize) -> f64| {
            let weights = self.validation.weights.as_deref();
            let (mut sum, mut total) = (0.0, 0.0);
            for i in 0..self.validation.samples() {
                let weight = weights.map_or(1.0, |weights| weights[i]);
                sum += weight * value(i);
                total += weight;
            }
            let scale = self.scalers.1.scale[o];
            (sum / total, scale)
        };
        let (validation_mse, validation_variance) = (0..c)
            .map(|o| {
                let (square, scale) = mean(o, &|i| residual[(i, o)].powi(2));
                let (average, _) = mean(o, &|i| self.validation.y[(i, o)]);
                let (variance, _) = mean(o, &|i| (self.validation.y[(i, o)] - average).powi(2));
                (square * scale * scale, variance * scale * scale)
            })
            .unzip();
        let record = Record {
            version: env!("CARGO_PKG_VERSION").into(),
            samples: self.all.samples(),
            validation_mse,
            validation_variance,
            lambda: best.plan.lambda,
            start_scale: matches!(best.plan.method, Method::Random | Method::Direct)
                .then_some(best.plan.scale),
            form: best.form,
            ridge: tau * tau,
            raised: best.raised,
            polish_steps: best.polish_steps,
            stopped: best.stopped,
            history: best.history,
            config: self.config,
        };
        let network = Network {
            activation,
            w: best.w,
            b,
        };
        let uncertainty = Uncertainty {
            covariance: lower,
            noise,
            scores,
        };
        Ok(Model::new(
            network,
            (self.all.inputs, self.all.outputs),
            self.scalers,
            uncertainty,
            record,
        ))
    }
}

/// Training steps that one step of the polish counts for in a progress bar.
const POLISH_COST: usize = 50;

/// Planes of the largest data set whose rows are factored all at once (64 MiB).
const FACTOR_ENTRIES: usize = 8 << 20;

/// Rows of a block where they are not.
const FACTOR_ROWS: usize = 4096;

/// Entries of the largest Jacobian that the polish may form (512 MiB).
const POLISH_ENTRIES: usize = 64 << 20;

/// Rows of a data set with inputs that are padded or not, as the callee wants them.
fn view<'a>(data: &'a Dataset, x: MatRef<'a, f64>) -> Rows<'a> {
    Rows {
        x,
        y: data.y.as_ref(),
        weights: data.weights.as_deref(),
    }
}

/// Planes of all rows of `x` (m × d).
fn planes(activation: Activation, x: MatRef<'_, f64>, w: &Mat<f64>) -> Mat<f64> {
    let mut e = Mat::zeros(x.nrows(), activation.planes(w.nrows()));
    features(
        activation,
        pad(activation, x).as_ref(),
        w.as_ref(),
        e.as_mut(),
    );
    e
}

/// e M eᵀ for every row of planes.
fn spread(e: MatRef<'_, f64>, covariance: MatRef<'_, f64>) -> Vec<f64> {
    let e = e.subcols(0, covariance.nrows());
    let product = e * covariance;
    (0..e.nrows())
        .map(|i| {
            (0..e.ncols())
                .map(|j| product[(i, j)] * e[(i, j)])
                .sum::<f64>()
                .max(0.0)
        })
        .collect()
}

/// Noise variance per output and sorted scores |r|/std from held-out residuals (rows × c) and their spreads.
fn calibrate(
    residual: MatRef<'_, f64>,
    spread: &[f64],
    weights: Option<&[f64]>,
) -> (Vec<f64>, Vec<Vec<f64>>) {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..residual.nrows()).map(weight).sum();
    (0..residual.ncols())
        .map(|o| {
            let square = |i: usize| residual[(i, o)] * residual[(i, o)] / (1.0 + spread[i]);
            let noise = (0..residual.nrows())
                .map(|i| weight(i) * square(i))
                .sum::<f64>()
                / total;
            let score = |i: usize| {
                if noise > 0.0 {
                    (square(i) / noise).sqrt()
                } else {
                    0.0
                }
            };
            let mut scores: Vec<f64> = (0..residual.nrows()).map(score).collect();
            scores.sort_by(f64::total_cmp);
            (noise, scores)
        })
        .unzip()
}
