//! A whole fit: scaling, split, runs, race, the final output weights and their uncertainty.
//!
//! A *run* trains one set of hidden weights; a fit makes one for each λ that the configuration asks for, in parallel,
//! and keeps the one with the smallest error on the validation rows. It is then polished, in a race with random
//! features where the configuration has such starts.

use crate::config::{Config, Lambda, Method, Start};
use crate::data::rows::Rows;
use crate::data::{Dataset, Scaler};
use crate::math::random::{Purpose, stream};
use crate::model::model::{Model, Network};
use crate::model::record::Record;
use crate::model::uncertainty::{Uncertainty, calibrate, spread};
use crate::network::features::{fitted, planes};
use crate::polish::race::{self, Candidate, Race};
use crate::solve::orthogonal::{self, Orthogonal};
use crate::solve::output_weights::KAPPAS;
use crate::train::checkpoint::{Control, Phase, Progress, State, fingerprint};
use crate::train::processor::{
    Check, Leaf, Parts, RunState, TrainingStep, new_step, phases, train,
};
use crate::{Error, Form, Result, Ridge};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
    let runs = lambdas(config).len();
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
    if state.fingerprint != fingerprint(data) || state.runs.len() != lambdas(&state.config).len() {
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

/// The λ of each run that a configuration asks for.
fn lambdas(config: &Config) -> Vec<f64> {
    match (config.lambda, config.method) {
        (Lambda::Fixed(lambda), _) => vec![lambda],
        // No step of random features sees λ.
        (Lambda::Auto, Method::Random) => vec![0.0],
        (Lambda::Auto, _) => Lambda::GRID.to_vec(),
    }
}

/// Features, how they came about, and the output weights that suit them.
struct Features {
    w: Mat<f64>,
    lambda: f64,
    /// Standard deviation that they were drawn with; none if a generator made them.
    scale: Option<f64>,
    ridge: orthogonal::Ridge,
    form: Form,
    /// Smallest error on the validation rows, in scaled outputs.
    validation: f64,
    polish_steps: Option<usize>,
    stopped: bool,
    raised: usize,
    history: Vec<Check>,
}

/// What hears of every step.
type Observer<'a> = dyn Fn(&Progress<'_>) -> Control + Sync + 'a;

/// The data of a fit in scaled units, and its state.
struct Fit {
    config: Config,
    fingerprint: u64,
    board: Mutex<Vec<RunState>>,
    /// Whether the observer asked to stop, in whichever run.
    stop: AtomicBool,
    scalers: (Scaler, Scaler),
    /// Ranges of the inputs, in the units of the data.
    domain: Vec<[f64; 2]>,
    all: Dataset,
    train: Dataset,
    validation: Dataset,
}

impl Fit {
    fn new(data: &Dataset, state: State) -> Result<Self> {
        let (x, y) = (data.x.as_ref(), data.y.as_ref());
        let scalers = state.config.scaling.scalers(x, y);
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
            stop: AtomicBool::new(false),
            domain: data.domain(),
            scalers,
            all,
            train,
            validation,
        })
    }

    fn run(self, observe: &Observer<'_>) -> Result<Model> {
        let lambdas = lambdas(&self.config);
        let runs: Vec<Result<Features>> = (0..lambdas.len())
            .into_par_iter()
            .map(|i| self.train(&lambdas, i, observe))
            .collect();
        // A run that left the finite range is lost, not the fit, unless there is no other.
        let (mut best, mut failure, mut stopped) = (None::<Features>, None, false);
        for run in runs {
            match run {
                Ok(run) => {
                    stopped |= run.stopped;
                    if best
                        .as_ref()
                        .is_none_or(|best| run.validation < best.validation)
                    {
                        best = Some(run);
                    }
                }
                Err(error @ Error::Diverged { .. }) => failure = Some(error),
                Err(error) => return Err(error),
            }
        }
        let best = match (best, failure) {
            (Some(best), _) => Features { stopped, ..best },
            (None, Some(error)) => return Err(error),
            (None, None) => unreachable!("a configuration has at least one run"),
        };
        let best = if stopped || self.config.polish.steps == 0 || !self.affordable() {
            best
        } else {
            self.polish(best, observe)?
        };
        self.finish(best)
    }

    /// Work of the training phases and of the polish, in training steps; what a progress bar needs.
    fn work(&self) -> (usize, usize) {
        let training = phases(&self.config).iter().map(|phase| phase.1.steps).sum();
        let steps = self.config.polish.steps;
        (
            training,
            POLISH_COST * (self.starts().len() + 1) * race::HEAT.min(steps)
                + POLISH_COST * race::FINALISTS * steps,
        )
    }

    /// The random starts of the polish.
    fn starts(&self) -> &[Start] {
        match self.config.method {
            Method::Random | Method::Refined => &self.config.polish.starts,
            Method::Direct | Method::Generative => &[],
        }
    }

    /// Run `i`: all phases with the i-th λ.
    fn train(&self, lambdas: &[f64], i: usize, observe: &Observer<'_>) -> Result<Features> {
        let config = &self.config;
        let mut state = self.lock()[i].clone();
        let (phases, (training, polish)) = (phases(config), self.work());
        let (rows, held) = (Rows::of(&self.train), Rows::of(&self.validation));
        let parts = Parts {
            train: rows,
            validation: held,
            lambda: lambdas[i],
            scale: config.scale,
        };
        let mut step = new_step(config, &parts);
        let mut report =
            |run: &mut dyn TrainingStep, state: &mut RunState, leaf: Leaf, loss: f64| {
                let before: usize = phases[..state.phase]
                    .iter()
                    .map(|phase| phase.1.steps)
                    .sum();
                if lambdas.len() > 1 && state.step.is_multiple_of(config.check_every) {
                    self.post(i, state, run, leaf);
                }
                let progress = Progress {
                    phase: Phase::Train(leaf),
                    step: state.step,
                    steps: phases[state.phase].1.steps,
                    loss,
                    validation: state.best().unwrap_or(f64::MAX),
                    run: i,
                    runs: lambdas.len(),
                    done: (before + state.step) as f64 / (training + polish) as f64,
                    state: &|| {
                        self.post(i, state, run, leaf);
                        self.state()
                    },
                };
                observe(&progress) == Control::Continue
            };
        let (w, stopped) = train(step.as_mut(), config, &mut state, &mut report)?;
        if !stopped {
            self.lock()[i] = state.clone();
        }
        let (ridge, validation) = self.choose_ridge(&w, Form::Complex)?;
        Ok(Features {
            w,
            lambda: lambdas[i],
            scale: matches!(config.method, Method::Random | Method::Direct).then_some(config.scale),
            ridge,
            form: Form::Complex,
            validation,
            polish_steps: None,
            stopped,
            raised: state.raised,
            history: state.history,
        })
    }

    /// Polishes the trained features, and random ones beside them.
    fn polish(&self, trained: Features, observe: &Observer<'_>) -> Result<Features> {
        let config = &self.config;
        let (n, dim) = (trained.w.nrows(), trained.w.ncols());
        let first = Candidate {
            w: trained.w.clone(),
            scale: trained.scale,
            kappa: config.polish.kappa,
            damping: 1e-2,
        };
        let others = self.starts().iter().enumerate().map(|(i, start)| {
            let mut rng = stream(config.seed, Purpose::Weights, 1 + i as u64);
            let w = Mat::from_fn(n, dim, |_, _| {
                start.scale * rng.sample::<f64, _>(StandardNormal)
            });
            Candidate {
                w,
                scale: Some(start.scale),
                kappa: start.kappa,
                damping: start.damping,
            }
        });
        let candidates: Vec<Candidate> = [first].into_iter().chain(others).collect();
        let (training, polish) = self.work();
        let (count, total) = (AtomicUsize::new(0), polish / POLISH_COST);
        let best = Mutex::new(trained.validation);
        let watch = |loss: f64, error: f64| {
            let step = count.fetch_add(1, Ordering::Relaxed).min(total);
            let validation = {
                let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
                *best = best.min(error);
                *best
            };
            let progress = Progress {
                phase: Phase::Polish,
                step,
                steps: total,
                loss,
                validation,
                run: 0,
                runs: 1,
                done: (training + POLISH_COST * step) as f64 / (training + polish) as f64,
                state: &|| self.state(),
            };
            if observe(&progress) == Control::Stop {
                self.stop.store(true, Ordering::Relaxed);
            }
            !self.stop.load(Ordering::Relaxed)
        };
        let race = Race {
            activation: config.activation,
            form: config.polish.form,
            train: &self.train,
            validation: &self.validation,
        };
        let winner = race.run(candidates, config.polish.steps, &watch);
        let stopped = self.stop.load(Ordering::Relaxed);
        let Some(winner) = winner else {
            return Ok(Features { stopped, ..trained });
        };
        let unchanged = (trained.ridge, f64::INFINITY);
        let (ridge, validation) = self.choose_ridge(&winner.w, race.form).unwrap_or(unchanged);
        if validation >= trained.validation {
            return Ok(Features {
                polish_steps: Some(0),
                stopped,
                ..trained
            });
        }
        let own = winner.scale == trained.scale;
        Ok(Features {
            w: winner.w,
            lambda: trained.lambda,
            scale: winner.scale,
            ridge,
            form: race.form,
            validation,
            polish_steps: Some(winner.steps),
            stopped,
            raised: trained.raised,
            history: if own {
                trained.history.into_iter().chain(winner.history).collect()
            } else {
                winner.history
            },
        })
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
        let held = Rows::of(&self.validation);
        let chosen = match self.config.ridge {
            Ridge::Absolute(eps) => {
                let ridge = orthogonal::Ridge::Absolute(eps);
                let b = factor.coefficients(factor.tau(ridge));
                Some((
                    ridge,
                    held.mean_square(fitted(activation, e.as_ref(), b.as_ref()).as_ref()),
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
    fn finish(self, best: Features) -> Result<Model> {
        let activation = self.config.activation;
        let held_out = self.factor(&self.train, &best.w, best.form)?;
        let tau = held_out.tau(best.ridge);
        let b = held_out.coefficients(tau);
        let e = planes(activation, self.validation.x.as_ref(), &best.w);
        let fitted = fitted(activation, e.as_ref(), b.as_ref());
        let residual = &self.validation.y - &fitted;
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
        if !best.w.is_all_finite() || !b.is_all_finite() {
            let advice = "lower the learning rate or scale the data";
            return Err(Error::Diverged {
                what: "the network",
                step: 0,
                advice,
            });
        }
        let covariance = factor.covariance(tau);
        let lower = (0..covariance.nrows())
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|at| covariance[at])
            .collect();
        let record = Record {
            method: self.config.method.name().into(),
            seed: self.config.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            samples: self.all.samples(),
            lambda: best.lambda,
            start_scale: best.scale,
            form: best.form,
            ridge: tau * tau,
            raised: best.raised,
            polish_steps: best.polish_steps,
            stopped: best.stopped,
            history: best.history,
            config: Some(Config {
                threads: 0,
                ..self.config
            }),
            ..Record::default()
        };
        let scale = &self.scalers.1.scale;
        let record = record.validated(&self.train, &self.validation, fitted.as_ref(), scale);
        let network = Network {
            activation,
            hidden: best.w,
            output: b,
        };
        let uncertainty = Uncertainty {
            covariance: lower,
            noise,
            scores,
        };
        Ok(Model::new(
            network,
            (self.all.inputs, self.all.outputs),
            self.domain,
            self.scalers,
            Some(uncertainty),
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
