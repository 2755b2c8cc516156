//! The training step on the CPU: runs with their generator, objective and Adam state. `phases` handles the phases.

use super::adam::Adam;
use super::generator::{Generator, Precision, Real};
use super::layers::Layers;
use super::objective::{Holdout, Loss, Objective};
use super::step::{Backend, Batch, Leaf, Snapshot, Task, Values};
use super::timing::{Stage, Timing};
use crate::Result;
use crate::clock::Instant;
use crate::config::Config;
use crate::data::rows::Rows;
use crate::math::random::{Purpose, stream};
use faer::{Mat, MatMut, MatRef};
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::ScopeFifo;
use rayon::prelude::*;
use std::ops::Range;

/// Draws whose mean error validates the generator, on every device.
pub const VALIDATION_DRAWS: usize = 10;

/// Seconds between two reports of a batch of several runs. To change from run to run at every step would empty the
/// caches each time, which costs a quarter of the speed.
const PAUSE: f64 = 0.3;

/// Turns that a run takes between two reports.
const TURNS: usize = 8;

/// The processor as a device: steps run on the current rayon pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct Processor;

/// Starts a single run.
pub(super) fn run(config: &Config, seed: u64, task: &Task<'_>) -> Box<dyn Steps> {
    match config.generator.precision {
        Precision::F32 => Box::new(Run::<f32>::new(config, seed, task)),
        Precision::F64 => Box::new(Run::<f64>::new(config, seed, task)),
    }
}

impl Backend for Processor {
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
        let runs = runs.par_iter().map(|(seed, task)| run(config, *seed, task));
        Ok(Box::new(Runs {
            runs: runs.collect(),
            pace: PAUSE,
        }))
    }
}

/// One run of either precision: [`Batch`] for a single one.
pub(crate) trait Steps: Send {
    fn begin(&mut self, leaf: Leaf, from: Option<&Snapshot>) -> Result<()>;
    fn step(&mut self, step: usize, rate: f64) -> Result<Loss>;
    fn validate(&mut self, step: usize) -> Result<f64>;
    fn weights(&mut self) -> Mat<f64>;
    fn snapshot(&self, moments: bool) -> Snapshot;
    fn timing(&self) -> Timing;
}

/// Runs on the CPU; they share only its threads.
struct Runs {
    runs: Vec<Box<dyn Steps>>,
    /// Seconds that a step of all runs took lately.
    pace: f64,
}

impl Runs {
    /// The runs of these numbers, in this order.
    fn chosen(&mut self, runs: &[usize]) -> Vec<&mut Box<dyn Steps>> {
        let mut all: Vec<_> = self.runs.iter_mut().map(Some).collect();
        runs.iter().filter_map(|&run| all[run].take()).collect()
    }
}

/// Takes the steps of a run `piece` by piece, in turns with the other runs: all then end at about the same time, and no
/// thread waits long for the last.
fn march<'s>(
    scope: &ScopeFifo<'s>,
    (run, loss): (&'s mut dyn Steps, &'s mut Result<Loss>),
    (mut steps, piece): (Range<usize>, usize),
    rate: f64,
) {
    scope.spawn_fifo(move |scope| {
        for step in steps.by_ref().take(piece) {
            *loss = run.step(step, rate);
            if !matches!(loss, Ok(loss) if loss.total.is_finite()) {
                return;
            }
        }
        if !steps.is_empty() {
            march(scope, (run, loss), (steps, piece), rate);
        }
    });
}

impl Batch for Runs {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        self.runs[run].begin(leaf, from)
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let start = Instant::now();
        let mut losses: Vec<_> = runs.iter().map(|_| Ok(Loss::default())).collect();
        let piece = steps.len().div_ceil(TURNS);
        rayon::scope_fifo(|scope| {
            for (run, loss) in self.chosen(runs).into_iter().zip(&mut losses) {
                march(scope, (run.as_mut(), loss), (steps.clone(), piece), rate);
            }
        });
        self.pace = start.elapsed().as_secs_f64() / steps.len() as f64;
        losses
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        let runs = self.chosen(runs).into_par_iter();
        runs.map(|run| run.validate(step)).collect()
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        Ok(self.runs[run].weights())
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        Ok(self.runs[run].snapshot(moments))
    }

    fn stride(&self) -> usize {
        if self.runs.len() == 1 {
            return 1;
        }
        ((PAUSE / self.pace) as usize).max(1)
    }
}

/// The generator and w (n · d′ numbers, column by column) as `seed` draws them.
fn beginning<T: Real>(config: &Config, seed: u64, dim: usize) -> (Generator<T>, Vec<f64>) {
    let hidden = config.generator.hidden.iter().copied();
    let sizes: Vec<usize> = [dim].into_iter().chain(hidden).chain([dim]).collect();
    let mut generator = Generator::new(&sizes, config.width);
    generator.initialise(&mut stream(seed, Purpose::Parameters, 0));
    let mut rng = stream(seed, Purpose::Weights, 0);
    let w = (0..config.width * dim).map(|_| config.scale * rng.sample::<f64, _>(StandardNormal));
    (generator, w.collect())
}

/// What a run starts from on any device, for samples with `inputs` inputs: θ and w as `seed` draws them, z = 0.
pub fn initial(config: &Config, seed: u64, inputs: usize) -> Snapshot {
    let dim = config.activation.weights(inputs);
    let precision = config.generator.precision;
    let (theta, w) = match precision {
        Precision::F32 => {
            let (generator, w) = beginning::<f32>(config, seed, dim);
            (Values::F32(generator.theta), w)
        }
        Precision::F64 => {
            let (generator, w) = beginning::<f64>(config, seed, dim);
            (Values::F64(generator.theta), w)
        }
    };
    Snapshot {
        theta,
        z: Values::pack(&vec![0.0; w.len()], precision),
        w,
        b: vec![],
        moments: None,
        steps: 0,
        raised: 0,
    }
}

/// A run on the CPU, with the generator in precision `T`.
struct Run<T> {
    seed: u64,
    n: usize,
    precision: Precision,
    leaf: Leaf,
    objective: Objective,
    holdout: Holdout,
    generator: Generator<T>,
    z: Vec<T>,
    dz: Vec<T>,
    w: Vec<f64>,
    dw: Vec<f64>,
    /// Where both layers are the leaf.
    layers: Option<Layers>,
    /// Of θ or z.
    adam: Adam<T>,
    /// Of w, or of w and b, which are always in double precision.
    adam_w: Adam<f64>,
}

/// A flat array of n · d′ numbers as a matrix, n × d′.
fn matrix(w: &[f64], n: usize) -> MatRef<'_, f64> {
    MatRef::from_column_major_slice(w, n, w.len() / n)
}

impl<T: Real> Run<T> {
    fn new(config: &Config, seed: u64, task: &Task<'_>) -> Self {
        let (activation, n) = (config.activation, config.width);
        let dim = activation.weights(task.train.dim());
        let (generator, w) = beginning(config, seed, dim);
        let (train, validation) = (Rows::of(task.train), Rows::of(task.validation));
        let objective = Objective::new(activation, config.ridge, train, n);
        let domain = task.domain.to_vec();
        Run {
            seed,
            n,
            precision: config.generator.precision,
            leaf: Leaf::Weights,
            objective: objective.regularised(task.lambda, config.variation, config.points, domain),
            holdout: Holdout::new(activation, validation, n),
            adam: Adam::new(0),
            adam_w: Adam::new(0),
            generator,
            z: vec![T::ZERO; n * dim],
            dz: vec![T::ZERO; n * dim],
            w,
            dw: vec![0.0; n * dim],
            layers: None,
        }
    }

    fn draw(&mut self, purpose: Purpose, step: usize) {
        let mut rng = stream(self.seed, purpose, step as u64);
        self.z
            .iter_mut()
            .for_each(|z| *z = T::of(rng.sample(StandardNormal)));
    }

    /// The weights of both layers: w as it stands, b = 0.
    fn both(&self) -> Layers {
        let (dim, b) = (self.w.len() / self.n, &self.objective.b);
        let mut layers = Layers::new(self.objective.activation, self.n, dim, b.ncols());
        layers.theta[..self.w.len()].copy_from_slice(&self.w);
        layers
    }

    fn generate(&mut self) {
        let (n, dim) = (self.n, self.z.len() / self.n);
        let w = MatMut::from_column_major_slice_mut(&mut self.w, n, dim);
        self.generator.forward(&self.z, w);
    }

    fn holdout_error(&mut self) -> Result<f64> {
        if let Some(layers) = &mut self.layers {
            let b = layers.output().to_owned();
            return Ok(self.holdout.error(layers.hidden(), b.as_ref()));
        }
        let w = matrix(&self.w, self.n);
        self.objective.solve(w)?;
        Ok(self.holdout.error(w, self.objective.b.as_ref()))
    }
}

impl<T: Real> Steps for Run<T> {
    fn begin(&mut self, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        self.leaf = leaf;
        match leaf {
            Leaf::Parameters => self.adam = Adam::new(self.generator.theta.len()),
            Leaf::Latents => {
                self.draw(Purpose::FinalLatents, 0);
                self.adam = Adam::new(self.z.len());
            }
            Leaf::Weights => self.adam_w = Adam::new(self.w.len()),
            Leaf::Both => {}
        }
        if let Some(layers) = self.layers.take() {
            self.w.copy_from_slice(layers.parts().0);
        }
        self.layers = (leaf == Leaf::Both).then(|| self.both());
        if let Some(layers) = &self.layers {
            self.adam_w = Adam::new(layers.theta.len());
        }
        let Some(from) = from else {
            return Ok(());
        };
        from.theta.unpack(&mut self.generator.theta)?;
        from.z.unpack(&mut self.z)?;
        Values::F64(from.w.clone()).unpack(&mut self.w)?;
        if let Some(layers) = &mut self.layers {
            layers.set(&from.w, &from.b)?;
        }
        match (&from.moments, leaf) {
            (None, _) => Ok(()),
            (Some(moments), Leaf::Weights | Leaf::Both) => self.adam_w.restore(moments, from.steps),
            (Some(moments), _) => self.adam.restore(moments, from.steps),
        }
    }

    fn step(&mut self, step: usize, rate: f64) -> Result<Loss> {
        let (n, leaf) = (self.n, self.leaf);
        let mut clock = Instant::now();
        if leaf == Leaf::Parameters {
            self.draw(Purpose::Latents, step);
        }
        self.objective.timing.add(Stage::Draw, &mut clock);
        if matches!(leaf, Leaf::Parameters | Leaf::Latents) {
            self.generate();
        }
        self.objective.timing.add(Stage::Forward, &mut clock);
        if self.objective.wants_points() {
            // The refinement must not reuse the points of the generator's phase.
            let place = 2 * step as u64 + u64::from(leaf == Leaf::Latents);
            self.objective
                .scatter(&mut stream(self.seed, Purpose::Points, place));
        }
        if let Some(layers) = &mut self.layers {
            let loss = layers.evaluate(&mut self.objective);
            self.adam_w
                .update(rate, &mut layers.theta, &layers.gradient);
            return Ok(loss);
        }
        let dim = self.dw.len() / n;
        let dw = MatMut::from_column_major_slice_mut(&mut self.dw, n, dim);
        let loss = self.objective.gradient(matrix(&self.w, n), dw)?;
        clock = Instant::now();
        match leaf {
            Leaf::Parameters => {
                self.generator.backward(matrix(&self.dw, n), None);
                self.objective.timing.add(Stage::Backward, &mut clock);
                self.generator.descend(&mut self.adam, rate);
            }
            Leaf::Latents => {
                self.generator
                    .backward(matrix(&self.dw, n), Some(&mut self.dz));
                self.objective.timing.add(Stage::Backward, &mut clock);
                self.adam.update(rate, &mut self.z, &self.dz);
            }
            Leaf::Weights | Leaf::Both => self.adam_w.update(rate, &mut self.w, &self.dw),
        }
        self.objective.timing.add(Stage::Descend, &mut clock);
        Ok(loss)
    }

    fn validate(&mut self, step: usize) -> Result<f64> {
        match self.leaf {
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
            Leaf::Weights | Leaf::Both => self.holdout_error(),
        }
    }

    fn weights(&mut self) -> Mat<f64> {
        if self.leaf == Leaf::Parameters {
            self.draw(Purpose::FinalLatents, 0);
        }
        match (&self.layers, self.leaf) {
            (Some(layers), _) => return layers.hidden().to_owned(),
            (None, Leaf::Parameters | Leaf::Latents) => self.generate(),
            (None, Leaf::Weights | Leaf::Both) => {}
        }
        matrix(&self.w, self.n).to_owned()
    }

    fn snapshot(&self, moments: bool) -> Snapshot {
        let pack = |values: &[T]| Values::pack(values, self.precision);
        let (moments, steps) = match self.leaf {
            Leaf::Weights | Leaf::Both => {
                let Adam {
                    first,
                    second,
                    steps,
                } = &self.adam_w;
                let copy = || [first, second].map(|m| Values::F64(m.clone()));
                (moments.then(copy), *steps)
            }
            Leaf::Parameters | Leaf::Latents => {
                let Adam {
                    first,
                    second,
                    steps,
                } = &self.adam;
                (moments.then(|| [first, second].map(|m| pack(m))), *steps)
            }
        };
        let layers = self.layers.as_ref().map(Layers::parts);
        let (w, b) = layers.unwrap_or((&self.w, &[]));
        Snapshot {
            theta: pack(&self.generator.theta),
            z: pack(&self.z),
            w: w.to_vec(),
            b: b.to_vec(),
            moments,
            steps,
            raised: self.objective.normal.raised,
        }
    }

    fn timing(&self) -> Timing {
        self.objective.timing
    }
}
