//! A batch of runs on the device: one training step of all of them is one graph.
//!
//! Sizes: B runs of `m` rows, `d` inputs (d′ with the bias), `n` neurons, `c` outputs, `k` columns of E. The step is
//! that of `thinfit::pieces::Processor`, kernel by kernel:
//!
//! z → w = G_θ(z) → E → EᵀE → b → residuals and, in parallel, the regulariser → v → dw → dθ or dz → Adam.
//!
//! Rows are processed in chunks, so that the only memory that grows with m is that of the table. No step waits for
//! the host: latents are sent ahead, and losses are read after many steps.

mod latents;
mod leaves;
mod step;

use crate::device::{Buffer, Device, Graph, Lane, Number, Pinned};
use crate::generator::Layers;
use crate::parameters::Parameters;
use crate::shape::Shape;
use crate::table::Table;
use latents::{normal, spread};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use thinfit::pieces::{Batch, Purpose, Snapshot, Task, VALIDATION_DRAWS, Values, initial, stream};
use thinfit::{Config, Error, Leaf, Loss, Mat, Result, Training};

/// Maximum number of steps between two reports, and the seconds after which there is one.
const STRIDE: usize = 100;
const PAUSE: f64 = 0.3;
/// Steps whose latents are drawn at a time, while the device works on those before.
const AHEAD: usize = 10;
/// The leaves that a method moves.
fn leaves(training: Training) -> &'static [Leaf] {
    match training {
        Training::Random => &[],
        Training::Direct => &[Leaf::Weights],
        Training::Generative => &[Leaf::Parameters],
        Training::Refined => &[Leaf::Parameters, Leaf::Latents],
    }
}

/// The work of a graph.
#[derive(Clone, Copy)]
enum Work {
    Step,
    /// As many steps as latents are drawn for at a time: less to launch.
    Steps,
    Validate,
}

/// Runs of one shape that advance together, with the generator in precision `T`.
pub(crate) struct Fits<T: Number> {
    lane: Lane,
    seeds: Vec<u64>,
    leaves: Vec<Leaf>,
    lambdas: Vec<f64>,
    shape: Shape,
    layers: Layers<T>,
    train: Table,
    held: Table,
    /// The arguments of the kernels for the training rows.
    base: Parameters,
    /// By leaf and work, once they are recorded.
    graphs: [[Option<Graph>; 3]; 4],
    /// Which runs take part at present: 1 or 0.
    members: Vec<i32>,
    rate: f64,
    /// Seconds of a step, as the last ones took.
    pace: f64,
    z: Buffer<T>,
    w: Buffer<f64>,
    moments_theta: [Buffer<T>; 2],
    moments_z: [Buffer<T>; 2],
    moments_w: [Buffer<f64>; 2],
    /// b as the kernels use it; as a leaf, without the factor n; and its moments.
    b: Buffer<f64>,
    leaf_b: Buffer<f64>,
    moments_b: [Buffer<f64>; 2],
    latents: Buffer<T>,
    ahead: Pinned<T>,
    losses: Buffer<f64>,
    errors: Buffer<f64>,
    clock: Buffer<i32>,
    steps: Buffer<i32>,
    raised: Buffer<i32>,
    active: Buffer<i32>,
    rates: Buffer<f64>,
    /// Memory that only kernels touch.
    _rest: Vec<Buffer<f64>>,
    _keys: Buffer<u32>,
}

impl<T: Number> Fits<T> {
    pub fn new(device: &Arc<Device>, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Self> {
        let shape = Shape::new(config, runs);
        let Shape {
            activation,
            runs: count,
            dim,
            n,
            k,
            c,
            groups,
            tiles,
            points,
            ..
        } = shape;
        let sizes = Layers::<T>::sizes(&config.generator.hidden, dim);
        let reals = count * (Layers::<T>::numbers(&sizes, n) + STRIDE * n * dim);
        shape.check(device, size_of::<T>() * reals)?;
        let lane = Lane::new(device, activation, T::PRECISION)?;
        let tasks = || runs.iter().map(|(_, task)| task);
        let train = Table::new(&lane, activation, tasks().map(|task| task.train))?;
        let held = Table::new(&lane, activation, tasks().map(|task| task.validation))?;
        let layers = Layers::new(&lane, sizes, n, count)?;
        let mut rest = Vec::new();
        let mut zeros = |len: usize| -> Result<u64> {
            let buffer = lane.zeros::<f64>(len)?;
            let address = buffer.address;
            rest.push(buffer);
            Ok(address)
        };
        let e = zeros(count * shape.chunk * shape.ld)?;
        let gram = zeros(count * shape.gram())?;
        let gram_parts = match shape.parts {
            1 => 0,
            parts => zeros(count * parts * shape.gram())?,
        };
        let factor = zeros(count * shape.factor())?;
        let (v, slope) = (zeros(count * k * c)?, zeros(count * k * c)?);
        let (loss, db) = (zeros(count * groups)?, zeros(count * groups * k * c)?);
        let dw_shares = zeros(count * groups * n * dim)?;
        let (point_value, point_db) = (zeros(count * tiles)?, zeros(count * tiles * k * c)?);
        let (point_dw, dw) = (zeros(count * tiles * n * dim)?, zeros(count * n * dim)?);
        let stride_of = zeros(2 * count)?;
        let mut add = |buffer: Buffer<f64>| {
            let address = buffer.address;
            rest.push(buffer);
            address
        };
        // The padded coordinate of the points is 1 and stays so; the others are drawn.
        let at = add(lane.upload(&vec![1.0; count * points * dim])?);
        let domain: Vec<f64> = runs
            .iter()
            .flat_map(|(_, task)| task.domain.iter().flatten().copied())
            .collect();
        let domain = add(lane.upload(&domain)?);
        let lambdas: Vec<f64> = runs.iter().map(|(_, task)| task.lambda).collect();
        let lambda = add(lane.upload(&lambdas)?);
        let keys: Vec<u32> = runs
            .iter()
            .flat_map(|&(seed, _)| {
                let key = stream(seed, Purpose::Points, 0).get_seed();
                std::array::from_fn::<u32, 8, _>(|i| {
                    u32::from_le_bytes([key[4 * i], key[4 * i + 1], key[4 * i + 2], key[4 * i + 3]])
                })
            })
            .collect();
        let keys = lane.upload(&keys)?;
        let (clock, steps, raised) = (lane.zeros(2)?, lane.zeros(count)?, lane.zeros(count)?);
        let (active, rates) = (lane.zeros(count)?, lane.zeros(1)?);
        let (losses, errors) = (
            lane.zeros(2 * STRIDE * count)?,
            lane.zeros(VALIDATION_DRAWS * count)?,
        );
        let (z, w) = (lane.zeros(count * n * dim)?, lane.zeros(count * n * dim)?);
        let latents = lane.zeros(STRIDE * count * n * dim)?;
        let moments_theta = [
            lane.zeros(count * layers.stride)?,
            lane.zeros(count * layers.stride)?,
        ];
        let moments_z = [lane.zeros(count * n * dim)?, lane.zeros(count * n * dim)?];
        let moments_w = [lane.zeros(count * n * dim)?, lane.zeros(count * n * dim)?];
        let (b, leaf_b) = (lane.zeros(count * k * c)?, lane.zeros(count * k * c)?);
        let moments_b = [lane.zeros(count * k * c)?, lane.zeros(count * k * c)?];
        let base = Parameters {
            w: w.address,
            dw,
            first_w: moments_w[0].address,
            second_w: moments_w[1].address,
            e,
            gram,
            gram_parts,
            factor,
            b: b.address,
            v,
            leaf_b: leaf_b.address,
            slope,
            first_b: moments_b[0].address,
            second_b: moments_b[1].address,
            loss,
            db,
            dw_shares,
            at,
            domain,
            point_value,
            point_db,
            point_dw,
            lambda,
            rate: rates.address,
            stride_of,
            losses: losses.address,
            errors: errors.address,
            latents: latents.address,
            z: z.address,
            dz: layers.dz(),
            dout: layers.dout(),
            theta: layers.theta.address,
            dtheta: layers.gradient(),
            first_theta: moments_theta[0].address,
            second_theta: moments_theta[1].address,
            first_z: moments_z[0].address,
            second_z: moments_z[1].address,
            clock: clock.address,
            steps: steps.address,
            raised: raised.address,
            active: active.address,
            keys: keys.address,
            point_stream: stream(0, Purpose::Points, 0).get_stream() as i64,
            theta_len: layers.stride as i64,
            ..train.arguments(&shape.parameters(config, device))
        };
        let mut fits = Fits {
            seeds: runs.iter().map(|run| run.0).collect(),
            leaves: vec![Leaf::Weights; count],
            lambdas,
            shape,
            layers,
            train,
            held,
            base,
            graphs: Default::default(),
            members: vec![],
            rate: 0.0,
            // The first call is short.
            pace: PAUSE / 10.0,
            z,
            w,
            moments_theta,
            moments_z,
            moments_w,
            b,
            leaf_b,
            moments_b,
            ahead: lane.pinned(STRIDE * count * n * dim)?,
            latents,
            losses,
            errors,
            clock,
            steps,
            raised,
            active,
            rates,
            _rest: rest,
            _keys: keys,
            lane,
        };
        // Now rather than at the first step, so that the caller still has a choice.
        for &leaf in leaves(config.training) {
            fits.prepare(leaf)?;
        }
        for (run, &(seed, _)) in runs.iter().enumerate() {
            fits.restore(
                run,
                &initial(config, seed, runs[0].1.train.dim()),
                Leaf::Weights,
            )?;
        }
        Ok(fits)
    }

    /// Records the graphs of a leaf where there are none yet.
    fn prepare(&mut self, leaf: Leaf) -> Result<()> {
        if self.graphs[leaf as usize].iter().all(Option::is_some) {
            return Ok(());
        }
        // Libraries load their kernels at the first call, which must not be while a graph is recorded. Where nobody takes
        // part, no leaf changes.
        self.lane
            .write(&mut self.active, 0, &vec![0; self.seeds.len()])?;
        self.lane.write(&mut self.clock, 0, &[0, 0])?;
        self.members.clear();
        self.validate_once(leaf)?;
        self.step_once(leaf)?;
        self.lane.wait()?;
        for work in [Work::Step, Work::Steps, Work::Validate] {
            let graph = self.lane.record(|| match work {
                Work::Step => self.step_once(leaf),
                Work::Steps => (0..AHEAD).try_for_each(|_| self.step_once(leaf)),
                Work::Validate => self.validate_once(leaf),
            })?;
            self.graphs[leaf as usize][work as usize] = Some(graph);
        }
        Ok(())
    }

    /// Sets which runs take part, and from which step on.
    fn set(&mut self, runs: &[usize], step: usize, rate: f64) -> Result<()> {
        let active: Vec<i32> = (0..self.seeds.len())
            .map(|run| i32::from(runs.contains(&run)))
            .collect();
        if active != self.members {
            self.lane.write(&mut self.active, 0, &active)?;
            self.members = active;
        }
        if rate != self.rate {
            self.lane.write(&mut self.rates, 0, &[rate])?;
            self.rate = rate;
        }
        self.lane.write(&mut self.clock, 0, &[step as i32, 0])
    }

    /// Draws the latents of `places`, and replays a graph once for each.
    fn replay(
        &mut self,
        runs: &[usize],
        leaf: Leaf,
        work: Work,
        draws: Purpose,
        places: Range<usize>,
    ) -> Result<()> {
        let (count, batch, len) = (self.shape.weights(), self.seeds.len(), places.len());
        for first in (0..len).step_by(AHEAD) {
            let last = (first + AHEAD).min(len);
            if leaf == Leaf::Parameters {
                let (from, to) = (first * batch * count, last * batch * count);
                let draw = |i: usize, out: &mut [T]| {
                    let (run, place) = (i % batch, places.start + first + i / batch);
                    if runs.contains(&run) {
                        normal(self.seeds[run], draws, place, out);
                    }
                };
                spread(&mut self.ahead.as_mut_slice()?[from..to], count, &draw);
                self.lane
                    .send(&mut self.latents, &self.ahead, from, to - from)?;
            }
            match work {
                Work::Step if last - first == AHEAD => self.repeat(leaf, Work::Steps, 1)?,
                _ => self.repeat(leaf, work, last - first)?,
            }
        }
        Ok(())
    }

    /// Replays a graph that was prepared.
    fn repeat(&self, leaf: Leaf, work: Work, times: usize) -> Result<()> {
        let graph = self.graphs[leaf as usize][work as usize].as_ref();
        let graph = graph.expect("a phase was begun, which prepares its graphs");
        (0..times).try_for_each(|_| self.lane.replay(graph))
    }

    fn advance_all(
        &mut self,
        runs: &[usize],
        steps: Range<usize>,
        rate: f64,
    ) -> Result<Vec<Result<Loss>>> {
        let (leaf, batch) = (self.leaves[runs[0]], self.seeds.len());
        let mut found: Vec<Result<Loss>> = runs.iter().map(|_| Ok(Loss::default())).collect();
        let mut from = steps.start;
        while from < steps.end {
            let to = (from + STRIDE).min(steps.end);
            self.set(runs, from, rate)?;
            self.replay(runs, leaf, Work::Step, Purpose::Latents, from..to)?;
            let losses = self.lane.read(&self.losses, 0, 2 * (to - from) * batch)?;
            for (found, &run) in found.iter_mut().zip(runs) {
                for step in from..to {
                    let at = 2 * ((step - from) * batch + run);
                    let (data, variation) = (losses[at], losses[at + 1]);
                    let total = data + self.lambdas[run] * variation;
                    if found.is_err() {
                        break;
                    }
                    *found = match total.is_finite() {
                        true => Ok(Loss {
                            data,
                            variation,
                            total,
                        }),
                        false => Err(diverged(step)),
                    };
                }
            }
            from = to;
        }
        Ok(found)
    }

    fn validate_all(&mut self, runs: &[usize], step: usize) -> Result<Vec<f64>> {
        let (leaf, batch) = (self.leaves[runs[0]], self.seeds.len());
        self.set(runs, step, self.rate)?;
        let draws = if leaf == Leaf::Parameters {
            VALIDATION_DRAWS
        } else {
            1
        };
        let first = step * VALIDATION_DRAWS;
        self.replay(
            runs,
            leaf,
            Work::Validate,
            Purpose::Validation,
            first..first + draws,
        )?;
        let errors = self.lane.read(&self.errors, 0, draws * batch)?;
        let mean = |run: usize| {
            (0..draws)
                .map(|i| errors[i * batch + run] / draws as f64)
                .sum()
        };
        Ok(runs.iter().map(|&run| mean(run)).collect())
    }
}

fn diverged(step: usize) -> Error {
    Error::Diverged {
        what: "the loss",
        step,
        advice: "lower the learning rate or the scale of the inputs",
    }
}

/// One result for each of `runs`; an error of the device is theirs all.
fn shared<V>(runs: &[usize], result: Result<Vec<Result<V>>>) -> Vec<Result<V>> {
    result.unwrap_or_else(|error| {
        let (device, problem, advice) = match error {
            Error::Device {
                device,
                problem,
                advice,
            } => (device, problem, advice),
            other => ("cuda".into(), other.to_string(), "use device cpu"),
        };
        let each = |_: &usize| {
            Err(Error::Device {
                device: device.clone(),
                problem: problem.clone(),
                advice,
            })
        };
        runs.iter().map(each).collect()
    })
}

impl<T: Number> Batch for Fits<T> {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        self.prepare(leaf)?;
        self.leaves[run] = leaf;
        let count = self.shape.weights();
        let zeros = || Values::F32(vec![0.0; self.leaf_len(leaf)]);
        let moments = [zeros(), zeros()];
        self.set_moments(run, leaf, &moments)?;
        self.lane.write(&mut self.steps, run, &[0])?;
        if leaf == Leaf::Latents {
            let mut z = vec![T::ZERO; count];
            normal(self.seeds[run], Purpose::FinalLatents, 0, &mut z);
            self.lane.write(&mut self.z, run * count, &z)?;
        }
        if leaf == Leaf::Both {
            self.set_output(run, &vec![0.0; self.shape.outputs()])?;
        }
        self.lane.wait()?;
        match from {
            Some(from) => self.restore(run, from, leaf),
            None => Ok(()),
        }
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let (start, count) = (Instant::now(), steps.len());
        let result = self.advance_all(runs, steps, rate);
        self.pace = start.elapsed().as_secs_f64() / count as f64;
        shared(runs, result)
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        let result = self.validate_all(runs, step);
        shared(
            runs,
            result.map(|errors| errors.into_iter().map(Ok).collect()),
        )
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        let (leaf, count) = (self.leaves[run], self.shape.weights());
        if leaf == Leaf::Parameters {
            let mut z = vec![T::ZERO; count];
            normal(self.seeds[run], Purpose::FinalLatents, 0, &mut z);
            self.lane.write(&mut self.z, run * count, &z)?;
        }
        self.generate(leaf, &self.base)?;
        let w = self.lane.read(&self.w, run * count, count)?;
        let (n, dim) = (self.shape.n, self.shape.dim);
        Ok(Mat::from_fn(n, dim, |l, j| w[j * n + l]))
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        self.copy_of(run, moments)
    }

    fn stride(&self) -> usize {
        ((PAUSE / self.pace) as usize).clamp(1, STRIDE)
    }
}
