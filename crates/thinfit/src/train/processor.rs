//! Algorithm 1: one training step, and the phases made of it.
//!
//! F-Opt, GFT and GFT-r are the same step; they differ in the [`Leaf`] that Adam moves, and in whether the
//! latents are drawn afresh. Everything random is drawn by place (see `random`), so a [`RunState`] restored
//! half-way continues to the same bits.

use crate::config::{Config, GeneratorConfig, Keep, Lambda, Method, Schedule};
use crate::data::Dataset;
use crate::data::rows::Rows;
use crate::math::random::{Purpose, stream};
use crate::train::adam::Adam;
use crate::train::generator::{Generator, Precision, Real};
use crate::train::objective::{Holdout, Loss, Objective};
use crate::train::timing::{Laps, Part};
use crate::{Error, Result};
use faer::{Mat, MatMut, MatRef};
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Draws whose mean validates the generator.
const VALIDATION_DRAWS: usize = 10;

/// What Adam moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Leaf {
    /// The generator's parameters θ, with fresh latents in every step: GFT.
    Parameters,
    /// The latents z, with θ frozen: the refinement of GFT-r.
    Latents,
    /// The hidden weights w themselves: F-Opt.
    Weights,
}

/// A flat array in the precision it was computed in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Values {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Values {
    fn pack<T: Real>(values: &[T], precision: Precision) -> Self {
        match precision {
            Precision::F32 => Values::F32(values.iter().map(|v| v.wide() as f32).collect()),
            Precision::F64 => Values::F64(values.iter().map(|v| v.wide()).collect()),
        }
    }

    /// Copies into `out`; false if the lengths differ.
    fn unpack<T: Real>(&self, out: &mut [T]) -> bool {
        fn copy<S: Real, T: Real>(from: &[S], to: &mut [T]) -> bool {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to = T::of(from.wide()));
            from.len() == to.len()
        }
        match self {
            Values::F32(values) => copy(values, out),
            Values::F64(values) => copy(values, out),
        }
    }
}

/// All leaves and the moments of the one that is being moved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Leaves {
    theta: Values,
    z: Values,
    w: Vec<f64>,
    first: Values,
    second: Values,
    steps: i32,
    raised: usize,
}

/// One training step on one device: the seam behind which another implementation may stand.
pub(crate) trait TrainingStep: Send {
    /// Prepares a phase: draws the latents it starts from, forgets Adam's moments.
    fn begin(&mut self, leaf: Leaf);
    /// Step number `step` of a phase: loss before the step, then Adam moves `leaf`.
    fn step(&mut self, leaf: Leaf, step: usize, rate: f64) -> Result<Loss>;
    /// Mean squared error on the validation rows with b solved on the training rows.
    fn validate(&mut self, leaf: Leaf, step: usize) -> Result<f64>;
    /// The hidden weights (n × d′) that the current leaves stand for.
    fn weights(&mut self, leaf: Leaf) -> Mat<f64>;
    /// The leaf itself, to keep the best.
    fn leaf(&self, leaf: Leaf) -> Values;
    /// Puts a kept leaf back.
    fn set_leaf(&mut self, leaf: Leaf, values: &Values);
    /// Everything a resumed run needs.
    fn save(&self, leaf: Leaf) -> Leaves;
    /// Puts everything back; false if the shapes are not those of this run.
    fn restore(&mut self, leaf: Leaf, leaves: &Leaves) -> bool;
    /// How often a failing pivot raised the ridge.
    fn raised(&self) -> usize;
    /// Where the time went.
    fn laps(&self) -> Laps;
}

/// What a run is made of besides its configuration.
pub(crate) struct Parts<'a> {
    pub train: Rows<'a>,
    pub validation: Rows<'a>,
    pub lambda: f64,
    pub scale: f64,
}

/// A training step on the processor, with the generator in precision `T`.
pub(crate) struct Cpu<T> {
    seed: u64,
    n: usize,
    precision: Precision,
    objective: Objective,
    holdout: Holdout,
    generator: Generator<T>,
    z: Vec<T>,
    dz: Vec<T>,
    w: Vec<f64>,
    dw: Vec<f64>,
    adam: Adam<T>,
    adam_w: Adam<f64>,
}

/// A run on the processor in the precision that `config` asks for.
pub(crate) fn new_step(config: &Config, parts: &Parts<'_>) -> Box<dyn TrainingStep> {
    match config.generator.precision {
        Precision::F32 => Box::new(Cpu::<f32>::new(config, parts)),
        Precision::F64 => Box::new(Cpu::<f64>::new(config, parts)),
    }
}

impl<T: Real> Cpu<T> {
    fn new(config: &Config, parts: &Parts<'_>) -> Self {
        let (activation, n) = (config.activation, config.width);
        let dim = activation.weights(parts.train.x.ncols());
        let GeneratorConfig { hidden, precision } = &config.generator;
        let sizes: Vec<usize> = [dim]
            .into_iter()
            .chain(hidden.iter().copied())
            .chain([dim])
            .collect();
        let mut generator = Generator::new(&sizes, n);
        generator.initialise(&mut stream(config.seed, Purpose::Parameters, 0));
        let mut rng = stream(config.seed, Purpose::Weights, 0);
        let w = (0..n * dim)
            .map(|_| parts.scale * rng.sample::<f64, _>(StandardNormal))
            .collect();
        let objective = Objective::new(activation, config.ridge, parts.train, n);
        Cpu {
            seed: config.seed,
            n,
            precision: *precision,
            objective: objective.regularised(
                parts.lambda,
                config.variation,
                config.points,
                parts.train.x,
            ),
            holdout: Holdout::new(activation, parts.validation, n),
            adam: Adam::new(0),
            adam_w: Adam::new(0),
            generator,
            z: vec![T::ZERO; n * dim],
            dz: vec![T::ZERO; n * dim],
            w,
            dw: vec![0.0; n * dim],
        }
    }

    fn draw(&mut self, purpose: Purpose, step: usize) {
        let mut rng = stream(self.seed, purpose, step as u64);
        self.z
            .iter_mut()
            .for_each(|z| *z = T::of(rng.sample(StandardNormal)));
    }

    fn generate(&mut self) {
        let n = self.n;
        self.generator.forward(
            &self.z,
            MatMut::from_column_major_slice_mut(&mut self.w, n, self.z.len() / n),
        );
    }

    fn w(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.w, self.n, self.w.len() / self.n)
    }

    fn holdout_error(&mut self) -> Result<f64> {
        let w = MatRef::from_column_major_slice(&self.w, self.n, self.w.len() / self.n);
        self.objective.solve(w)?;
        Ok(self.holdout.error(w, self.objective.b.as_ref()))
    }
}

impl<T: Real> TrainingStep for Cpu<T> {
    fn begin(&mut self, leaf: Leaf) {
        match leaf {
            Leaf::Parameters => self.adam = Adam::new(self.generator.theta.len()),
            Leaf::Latents => {
                self.draw(Purpose::FinalLatents, 0);
                self.adam = Adam::new(self.z.len());
            }
            Leaf::Weights => self.adam_w = Adam::new(self.w.len()),
        }
    }

    fn step(&mut self, leaf: Leaf, step: usize, rate: f64) -> Result<Loss> {
        let mut clock = Instant::now();
        if leaf == Leaf::Parameters {
            self.draw(Purpose::Latents, step);
        }
        self.objective.laps.lap(Part::Draw, &mut clock);
        if leaf != Leaf::Weights {
            self.generate();
        }
        self.objective.laps.lap(Part::Forward, &mut clock);
        if self.objective.wants_points() {
            // The refinement must not see again the points of the generator's phase.
            let place = 2 * step as u64 + u64::from(leaf == Leaf::Latents);
            self.objective
                .scatter(&mut stream(self.seed, Purpose::Points, place));
        }
        let (n, dim) = (self.n, self.w.len() / self.n);
        let w = MatRef::from_column_major_slice(&self.w, n, dim);
        let loss = self
            .objective
            .gradient(w, MatMut::from_column_major_slice_mut(&mut self.dw, n, dim))?;
        let dw = MatRef::from_column_major_slice(&self.dw, n, dim);
        clock = Instant::now();
        match leaf {
            Leaf::Parameters => {
                self.generator.backward(dw, None);
                self.objective.laps.lap(Part::Backward, &mut clock);
                self.generator.descend(&mut self.adam, rate);
            }
            Leaf::Latents => {
                self.generator.backward(dw, Some(&mut self.dz));
                self.objective.laps.lap(Part::Backward, &mut clock);
                self.adam.update(rate, &mut self.z, &self.dz);
            }
            Leaf::Weights => self.adam_w.update(rate, &mut self.w, &self.dw),
        }
        self.objective.laps.lap(Part::Descend, &mut clock);
        Ok(loss)
    }

    fn validate(&mut self, leaf: Leaf, step: usize) -> Result<f64> {
        match leaf {
            Leaf::Parameters => {
                let mut total = 0.0;
                for draw in 0..VALIDATION_DRAWS {
                    self.draw(Purpose::Validation, step * VALIDATION_DRAWS + draw);
                    self.generate();
                    total += self.holdout_error()? / VALIDATION_DRAWS as f64;
                }
                Ok(total)
            }
            Leaf::Latents => {
                self.generate();
                self.holdout_error()
            }
            Leaf::Weights => self.holdout_error(),
        }
    }

    fn weights(&mut self, leaf: Leaf) -> Mat<f64> {
        if leaf == Leaf::Parameters {
            self.draw(Purpose::FinalLatents, 0);
        }
        if leaf != Leaf::Weights {
            self.generate();
        }
        self.w().to_owned()
    }

    fn leaf(&self, leaf: Leaf) -> Values {
        match leaf {
            Leaf::Parameters => Values::pack(&self.generator.theta, self.precision),
            Leaf::Latents => Values::pack(&self.z, self.precision),
            Leaf::Weights => Values::F64(self.w.clone()),
        }
    }

    fn set_leaf(&mut self, leaf: Leaf, values: &Values) {
        match leaf {
            Leaf::Parameters => values.unpack(&mut self.generator.theta),
            Leaf::Latents => values.unpack(&mut self.z),
            Leaf::Weights => values.unpack(&mut self.w),
        };
    }

    fn save(&self, leaf: Leaf) -> Leaves {
        let (first, second, steps) = match leaf {
            Leaf::Weights => (
                Values::F64(self.adam_w.first.clone()),
                Values::F64(self.adam_w.second.clone()),
                self.adam_w.steps,
            ),
            _ => (
                Values::pack(&self.adam.first, self.precision),
                Values::pack(&self.adam.second, self.precision),
                self.adam.steps,
            ),
        };
        let theta = Values::pack(&self.generator.theta, self.precision);
        Leaves {
            theta,
            z: Values::pack(&self.z, self.precision),
            w: self.w.clone(),
            first,
            second,
            steps,
            raised: self.raised(),
        }
    }

    fn restore(&mut self, leaf: Leaf, leaves: &Leaves) -> bool {
        self.begin(leaf);
        self.objective.normal.raised = leaves.raised;
        let moments = if leaf == Leaf::Weights {
            self.adam_w.steps = leaves.steps;
            leaves.first.unpack(&mut self.adam_w.first)
                && leaves.second.unpack(&mut self.adam_w.second)
        } else {
            self.adam.steps = leaves.steps;
            leaves.first.unpack(&mut self.adam.first) && leaves.second.unpack(&mut self.adam.second)
        };
        moments
            && leaves.theta.unpack(&mut self.generator.theta)
            && leaves.z.unpack(&mut self.z)
            && Values::F64(leaves.w.clone()).unpack(&mut self.w)
    }

    fn raised(&self) -> usize {
        self.objective.normal.raised
    }

    fn laps(&self) -> Laps {
        self.objective.laps
    }
}

/// One line of the learning curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What was being moved; none in the polish.
    pub leaf: Option<Leaf>,
    /// Steps done in this phase.
    pub step: usize,
    /// Loss at the last step; none before the first.
    pub loss: Option<f64>,
    /// Mean squared error on the validation rows, in the units of the scaled outputs.
    pub validation: f64,
}

/// Where a run stands: all that is needed to continue it to the same bits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RunState {
    /// Index of the phase at work; the number of phases when all are done.
    pub phase: usize,
    /// Steps done in this phase.
    pub step: usize,
    leaves: Option<Leaves>,
    best: Option<(f64, Values)>,
    /// The hidden weights once all phases are done, column by column.
    trained: Option<Vec<f64>>,
    /// Raised ridges of a run whose phases are all done.
    pub raised: usize,
    /// The learning curve so far.
    pub history: Vec<Check>,
}

/// The phases of a method, in order.
pub(crate) fn phases(config: &Config) -> Vec<(Leaf, Schedule)> {
    match config.method {
        Method::Random => vec![],
        Method::Direct => vec![(Leaf::Weights, config.direct)],
        Method::Generative => vec![(Leaf::Parameters, config.generate)],
        Method::Refined => vec![
            (Leaf::Parameters, config.generate),
            (Leaf::Latents, config.refine),
        ],
    }
}

/// What `train` reports after every step; returning false stops it.
pub(crate) type Report<'a> =
    dyn FnMut(&mut dyn TrainingStep, &mut RunState, Leaf, f64) -> bool + 'a;

/// Runs all phases from where `state` stands and returns the hidden weights (n × d′), and whether it was stopped.
pub(crate) fn train(
    run: &mut dyn TrainingStep,
    config: &Config,
    state: &mut RunState,
    report: &mut Report<'_>,
) -> Result<(Mat<f64>, bool)> {
    let phases = phases(config);
    let foreign = || Error::Format {
        path: "checkpoint".into(),
        expected: "a state of this configuration and data".into(),
        found: "arrays of other lengths".into(),
        advice: "resume with the data and the configuration that the state was saved with",
    };
    if let Some(trained) = &state.trained {
        if trained.len() != run.weights(Leaf::Weights).ncols() * config.width {
            return Err(foreign());
        }
        return Ok((
            MatRef::from_column_major_slice(trained, config.width, trained.len() / config.width)
                .to_owned(),
            false,
        ));
    }
    let mut last = Leaf::Weights;
    if let (Some(leaves), Some(&(leaf, _))) = (&state.leaves, phases.get(state.phase))
        && !run.restore(leaf, leaves)
    {
        return Err(foreign());
    }
    while let Some(&(leaf, schedule)) = phases.get(state.phase) {
        last = leaf;
        if state.step == 0 {
            run.begin(leaf);
            check(run, leaf, state, None)?;
        }
        while state.step < schedule.steps {
            let loss = match run.step(leaf, state.step, schedule.rate) {
                Ok(loss) if loss.total.is_finite() => loss.total,
                // A step that left the finite range ends the phase with the best state before it.
                Ok(_) | Err(Error::Diverged { .. }) => {
                    restore_best(run, leaf, state);
                    break;
                }
                Err(error) => return Err(error),
            };
            state.step += 1;
            if state.step.is_multiple_of(config.check_every) || state.step == schedule.steps {
                check(run, leaf, state, Some(loss))?;
            }
            if !report(run, state, leaf, loss) {
                restore_best(run, leaf, state);
                state.raised = run.raised();
                return Ok((run.weights(leaf), true));
            }
        }
        if leaf != Leaf::Parameters || config.keep == Keep::Best {
            restore_best(run, leaf, state);
        }
        (state.phase, state.step, state.best) = (state.phase + 1, 0, None);
    }
    let w = run.weights(last);
    state.trained = Some(
        (0..w.ncols())
            .flat_map(|j| w.col_as_slice(j).to_vec())
            .collect(),
    );
    (state.leaves, state.raised) = (None, run.raised());
    Ok((w, false))
}

/// Validates, notes it in the history and keeps the leaf if it is the best of its phase.
fn check(
    run: &mut dyn TrainingStep,
    leaf: Leaf,
    state: &mut RunState,
    loss: Option<f64>,
) -> Result<()> {
    let validation = match run.validate(leaf, state.step) {
        Ok(validation) if validation.is_finite() => validation,
        Ok(_) | Err(Error::Diverged { .. }) => f64::MAX,
        Err(error) => return Err(error),
    };
    state.history.push(Check {
        leaf: Some(leaf),
        step: state.step,
        loss,
        validation,
    });
    if state
        .best
        .as_ref()
        .is_none_or(|(best, _)| validation < *best)
    {
        state.best = Some((validation, run.leaf(leaf)));
    }
    Ok(())
}

fn restore_best(run: &mut dyn TrainingStep, leaf: Leaf, state: &RunState) {
    if let Some((_, values)) = &state.best {
        run.set_leaf(leaf, values);
    }
}

impl RunState {
    /// Smallest validation error of the phase at work.
    pub fn best(&self) -> Option<f64> {
        self.best.as_ref().map(|(validation, _)| *validation)
    }

    /// Whether all phases are done.
    pub fn is_done(&self) -> bool {
        self.trained.is_some()
    }

    /// Takes the leaves of `run` into the state, so that it can be saved.
    pub fn capture(&mut self, run: &dyn TrainingStep, leaf: Leaf) {
        self.leaves = Some(run.save(leaf));
    }
}

/// Bare training steps on given samples, without phases, validation rule or scaling: for research and for timing.
///
/// Steps run on the current rayon pool; call them inside [`rayon::ThreadPool::install`] to choose the threads.
pub struct Trainer {
    run: Box<dyn TrainingStep>,
    leaf: Leaf,
    step: usize,
}

impl Trainer {
    /// Starts to move `leaf` on the samples as they are.
    ///
    /// # Errors
    /// A configuration outside its ranges; λ must be a number.
    pub fn new(data: &Dataset, config: &Config, leaf: Leaf) -> Result<Self> {
        config.check()?;
        data.check()?;
        let Lambda::Fixed(lambda) = config.lambda else {
            return Err(Error::Config {
                field: "lambda",
                expected: "a number",
                found: "auto".into(),
            });
        };
        let rows = Rows::of(data);
        let parts = Parts {
            train: rows,
            validation: rows,
            lambda,
            scale: config.scale,
        };
        let mut run = new_step(config, &parts);
        run.begin(leaf);
        Ok(Trainer { run, leaf, step: 0 })
    }

    /// One step at learning rate `rate`; returns the loss before it.
    ///
    /// # Errors
    /// Numbers that left the finite range.
    pub fn step(&mut self, rate: f64) -> Result<Loss> {
        self.step += 1;
        let loss = self.run.step(self.leaf, self.step - 1, rate)?;
        if loss.total.is_finite() {
            return Ok(loss);
        }
        let advice = "lower the learning rate or scale the data";
        Err(Error::Diverged {
            what: "the loss",
            step: self.step - 1,
            advice,
        })
    }

    /// Where the time of all steps so far went.
    pub fn laps(&self) -> Laps {
        self.run.laps()
    }

    /// The hidden weights (n × d′) that the leaf stands for.
    pub fn weights(&mut self) -> Mat<f64> {
        self.run.weights(self.leaf)
    }
}
