//! A batch of runs on the device: one training step of all of them is one graph.
//!
//! Sizes: B runs of `m` rows, `d` inputs (d′ with the bias), `n` neurons, `c` outputs, `k` columns of E. The step is that
//! of `thinfit::pieces::Processor`, kernel by kernel:
//!
//! z → w = G_θ(z) → E → EᵀE → b → residuals and, beside them, the regulariser → v → dw → dθ or dz → Adam.
//!
//! Rows are taken in chunks, so that memory does not grow with m beyond the table. Nothing waits for the host within a
//! step: latents are sent ahead, losses are read after many steps.

use crate::device::{Buffer, Device, Graph, Lane, Number, Pinned, Product};
use crate::generator::Layers;
use crate::parameters::{BLOCK, FEATURE_ROWS, PANEL, POINTS, Parameters, ROWS, SPARE};
use rand::RngExt;
use rand_distr::StandardNormal;
use std::ops::Range;
use std::sync::Arc;
use thinfit::pieces::{Batch, Purpose, Snapshot, Task, Values, initial, stream};
use thinfit::{
    Activation, Config, Dataset, Error, Leaf, Loss, Mat, Precision, Result, Ridge, Variation,
};

/// Draws whose mean error validates the generator, as on the processor.
const VALIDATION_DRAWS: usize = 10;
/// Most steps between two reports.
const STRIDE: usize = 100;
/// Steps whose latents are drawn at a time, while the device works on those before.
const AHEAD: usize = 10;
/// Random numbers that are worth a thread.
const NUMBERS: usize = 8192;
/// Most rows of a chunk, and of a part of it whose EᵀE is one product.
const CHUNK: usize = 32_768;
const PART: usize = 1024;
/// Most groups of rows with a slot of their own.
const GROUPS: usize = 1024;
/// The rows of all runs.
struct Table {
    x: Buffer<f64>,
    y: Buffer<f64>,
    root: Buffer<f64>,
    omega: Buffer<f64>,
    rows: usize,
}

/// What a graph does.
#[derive(Clone, Copy)]
enum Work {
    Step,
    Validate,
}

/// Runs of one shape that advance together, with the generator in precision `T`.
pub(crate) struct Fits<T: Number> {
    lane: Lane,
    seeds: Vec<u64>,
    leaves: Vec<Leaf>,
    lambdas: Vec<f64>,
    activation: Activation,
    layers: Layers<T>,
    train: Table,
    held: Table,
    /// The arguments of the kernels for the training rows.
    base: Parameters,
    /// By leaf and work, once they are recorded.
    graphs: [[Option<Graph>; 2]; 3],
    active: Vec<i32>,
    rate: f64,
    z: Buffer<T>,
    w: Buffer<f64>,
    moments_theta: [Buffer<T>; 2],
    moments_z: [Buffer<T>; 2],
    moments_w: [Buffer<f64>; 2],
    latents: Buffer<T>,
    ahead: Pinned<T>,
    losses: Buffer<f64>,
    errors: Buffer<f64>,
    clock: Buffer<i32>,
    steps: Buffer<i32>,
    raised: Buffer<i32>,
    mask: Buffer<i32>,
    rates: Buffer<f64>,
    /// Memory that only kernels touch.
    _rest: Vec<Buffer<f64>>,
    _keys: Buffer<u32>,
}

/// The rows of all runs, one run after the other: padded inputs, outputs, roots of the weights.
fn table<'a>(
    lane: &Lane,
    activation: Activation,
    data: impl Iterator<Item = &'a Dataset> + Clone,
) -> Result<Table> {
    let first = data.clone().next().expect("a batch has runs");
    let (rows, d, c, count) = (
        first.samples(),
        first.dim(),
        first.y.ncols(),
        data.clone().count(),
    );
    let dim = activation.weights(d);
    let mut x = Vec::with_capacity(count * rows * dim);
    let mut y = Vec::with_capacity(count * rows * c);
    let mut root = Vec::with_capacity(count * rows);
    let mut omega = Vec::with_capacity(count);
    for data in data {
        for i in 0..rows {
            x.extend((0..d).map(|j| data.x[(i, j)]));
            x.extend((d..dim).map(|_| 1.0));
            y.extend((0..c).map(|o| data.y[(i, o)]));
        }
        let weights = data.weights.as_deref();
        root.extend((0..rows).map(|i| weights.map_or(1.0, |weights| weights[i].sqrt())));
        omega.push(weights.map_or(rows as f64, |weights| weights.iter().sum()));
    }
    Ok(Table {
        x: lane.upload(&x)?,
        y: lane.upload(&y)?,
        root: lane.upload(&root)?,
        omega: lane.upload(&omega)?,
        rows,
    })
}

impl<T: Number> Fits<T> {
    pub fn new(device: &Arc<Device>, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Self> {
        let activation = config.activation;
        let count = runs.len();
        let (d, c, n) = (
            runs[0].1.train.dim(),
            runs[0].1.train.y.ncols(),
            config.width,
        );
        let (dim, k) = (activation.weights(d), activation.columns(n));
        let (m, held) = (runs[0].1.train.samples(), runs[0].1.validation.samples());
        let most = m.max(held);
        let complex = activation == Activation::Fourier;
        let sines = if activation == Activation::Cosine {
            n
        } else {
            0
        };
        // Rows of planes begin at multiples of 16 bytes.
        let ld = (k + c + sines).next_multiple_of(2);
        let chunk = if most <= CHUNK { most } else { CHUNK };
        let parts = if most <= CHUNK { 1 } else { CHUNK / PART };
        let groups = most.div_ceil(ROWS).min(GROUPS);
        let regularised = runs.iter().any(|(_, task)| task.lambda > 0.0);
        let points = if regularised { config.points } else { 0 };
        let tiles = points.div_ceil(POINTS);
        let unknowns = if complex { n } else { k };
        let size = unknowns.next_multiple_of(PANEL);
        // Distances of columns for which the loads of a warp fall on different banks.
        let stride = if complex {
            (size + 5) / 8 * 8 + 2
        } else {
            (size + 11) / 16 * 16 + 4
        };
        let number = if complex { 2 } else { 1 };
        let width = k + c;
        let layers = Layers::<T>::sizes(&config.generator.hidden, dim);

        let doubles = [
            ("x", count * (m + held) * (dim + c + 1)),
            ("e", count * chunk * ld),
            (
                "gram",
                count * width * width * if parts > 1 { 1 + parts } else { 1 },
            ),
            ("factor", count * number * ((stride + PANEL) * size + SPARE)),
            ("db", count * (groups + tiles) * (k * c + n * dim + 1)),
            ("points", count * points * dim),
        ];
        let reals = Layers::<T>::numbers(&layers, n) * count + count * STRIDE * n * dim;
        let bytes = 8 * doubles.iter().map(|(_, len)| len).sum::<usize>() + size_of::<T>() * reals;
        let free = device.free()?;
        if bytes > free / 10 * 9 {
            let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
            return Err(Error::Device {
                device: device.name.clone(),
                problem: format!(
                    "{:.1} GiB of its memory are free, this batch of {count} needs {:.1} GiB",
                    gib(free),
                    gib(bytes)
                ),
                advice: "fit fewer runs at a time, close other programs on the GPU, or use device cpu",
            });
        }
        let lane = Lane::new(device, activation, T::PRECISION)?;
        let train = table(&lane, activation, runs.iter().map(|(_, task)| task.train))?;
        let held = table(
            &lane,
            activation,
            runs.iter().map(|(_, task)| task.validation),
        )?;
        let layers = Layers::new(&lane, layers, n, count)?;
        let mut rest = Vec::new();
        let mut zeros = |len: usize| -> Result<u64> {
            let buffer = lane.zeros::<f64>(len)?;
            let address = buffer.address;
            rest.push(buffer);
            Ok(address)
        };
        let (e, gram) = (zeros(count * chunk * ld)?, zeros(count * width * width)?);
        let gram_parts = if parts > 1 {
            zeros(count * parts * width * width)?
        } else {
            0
        };
        let factor = zeros(count * number * ((stride + PANEL) * size + SPARE))?;
        let (b, v) = (zeros(count * k * c)?, zeros(count * k * c)?);
        let (loss, db) = (zeros(count * groups)?, zeros(count * groups * k * c)?);
        let dw_shares = zeros(count * groups * n * dim)?;
        let (point_value, point_db) = (zeros(count * tiles)?, zeros(count * tiles * k * c)?);
        let (point_dw, dw) = (zeros(count * tiles * n * dim)?, zeros(count * n * dim)?);
        let (stride_of, point_sum) = (zeros(2 * count)?, zeros(count * k * c)?);
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
        let (ridge, relative) = match config.ridge {
            Ridge::Relative(rho) => (rho, 1),
            Ridge::Absolute(eps) => (eps, 0),
        };
        let (clock, steps, raised) = (lane.zeros(2)?, lane.zeros(count)?, lane.zeros(count)?);
        let (mask, rates) = (lane.zeros(count)?, lane.zeros(1)?);
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
        let room = number * 8 * ((stride + PANEL) * size + SPARE + size + BLOCK);
        let base = Parameters {
            x: train.x.address,
            y: train.y.address,
            root: train.root.address,
            omega: train.omega.address,
            w: w.address,
            dw,
            first_w: moments_w[0].address,
            second_w: moments_w[1].address,
            e,
            gram,
            gram_parts,
            factor,
            b,
            v,
            loss,
            db,
            dw_shares,
            at,
            domain,
            point_value,
            point_db,
            point_dw,
            point_sum,
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
            active: mask.address,
            keys: keys.address,
            point_stream: stream(0, Purpose::Points, 0).get_stream() as i64,
            theta_len: layers.stride as i64,
            ridge,
            runs: count as i32,
            m: m as i32,
            d: d as i32,
            dim: dim as i32,
            n: n as i32,
            k: k as i32,
            c: c as i32,
            ld: ld as i32,
            chunk: chunk as i32,
            parts: parts as i32,
            groups: groups as i32,
            tiles: tiles as i32,
            points: points as i32,
            stride: stride as i32,
            size: size as i32,
            // `solve` has a few bytes of its own.
            shared: i32::from(room + 256 <= device.shared),
            relative,
            norm: match config.variation {
                Variation::Anisotropic => 0,
                Variation::Isotropic => 1,
                Variation::Dirichlet => 2,
            },
            ..Parameters::default()
        };
        let mut fits = Fits {
            seeds: runs.iter().map(|run| run.0).collect(),
            leaves: vec![Leaf::Weights; count],
            lambdas,
            activation,
            layers,
            train,
            held,
            base,
            graphs: Default::default(),
            active: vec![0; count],
            rate: 0.0,
            z,
            w,
            moments_theta,
            moments_z,
            moments_w,
            ahead: lane.pinned(STRIDE * count * n * dim)?,
            latents,
            losses,
            errors,
            clock,
            steps,
            raised,
            mask,
            rates,
            _rest: rest,
            _keys: keys,
            lane,
        };
        let room = fits.shared_sweep().max(fits.shared_variation());
        if room > device.shared {
            return Err(Error::Device {
                device: device.name.clone(),
                problem: format!(
                    "a block of threads has {} KiB of shared memory, width {n} with {d} inputs and {c} outputs needs {} KiB",
                    device.shared >> 10,
                    room >> 10
                ),
                advice: "use a smaller width, or device cpu",
            });
        }
        for (run, &(seed, _)) in runs.iter().enumerate() {
            fits.restore(run, &initial(config, seed, d), Leaf::Weights)?;
        }
        Ok(fits)
    }

    /// Latents of a run: n · d′ numbers.
    fn latent_len(&self) -> usize {
        (self.base.n * self.base.dim) as usize
    }

    /// Overwrites the leaves of a run by those of a snapshot, and the moments of `leaf` where it has any.
    fn restore(&mut self, run: usize, from: &Snapshot, leaf: Leaf) -> Result<()> {
        let (len, count) = (self.layers.len, self.latent_len());
        let mut theta = vec![T::ZERO; len];
        from.theta.unpack(&mut theta)?;
        let mut z = vec![T::ZERO; count];
        from.z.unpack(&mut z)?;
        let mut w = vec![0.0; count];
        Values::F64(from.w.clone()).unpack(&mut w)?;
        self.lane
            .write(&mut self.layers.theta, run * self.layers.stride, &theta)?;
        self.lane.write(&mut self.z, run * count, &z)?;
        self.lane.write(&mut self.w, run * count, &w)?;
        if let Some(moments) = &from.moments {
            self.set_moments(run, leaf, moments)?;
            self.lane.write(&mut self.steps, run, &[from.steps])?;
        }
        self.lane.wait()
    }

    fn set_moments(&mut self, run: usize, leaf: Leaf, moments: &[Values; 2]) -> Result<()> {
        let len = self.leaf_len(leaf);
        for (i, moment) in moments.iter().enumerate() {
            if leaf == Leaf::Weights {
                let mut values = vec![0.0; len];
                moment.unpack(&mut values)?;
                self.lane
                    .write(&mut self.moments_w[i], run * len, &values)?;
            } else {
                let mut values = vec![T::ZERO; len];
                moment.unpack(&mut values)?;
                let theta = leaf == Leaf::Parameters;
                let (all, stride) = match theta {
                    true => (&mut self.moments_theta, self.layers.stride),
                    false => (&mut self.moments_z, len),
                };
                self.lane.write(&mut all[i], run * stride, &values)?;
            }
        }
        Ok(())
    }

    fn leaf_len(&self, leaf: Leaf) -> usize {
        if leaf == Leaf::Parameters {
            self.layers.len
        } else {
            self.latent_len()
        }
    }

    /// Bytes of shared memory of the sweeps and of the regulariser.
    fn shared_sweep(&self) -> usize {
        let p = &self.base;
        let (k, n, dim, c) = (p.k as usize, p.n as usize, p.dim as usize, p.c as usize);
        8 * (2 * k * c + 4 * ROWS * c + ROWS * n + n * dim + ROWS * dim)
    }

    fn shared_residuals(&self) -> usize {
        let (k, c) = (self.base.k as usize, self.base.c as usize);
        8 * (2 * k * c + ROWS * c + 32)
    }

    fn shared_variation(&self) -> usize {
        let p = &self.base;
        if p.points == 0 {
            return 0;
        }
        let (n, d, dim) = (p.n as usize, p.d as usize, p.dim as usize);
        8 * (POINTS * (4 * n + d + dim) + n * dim + 32)
    }

    fn shared_solve(&self) -> usize {
        let p = &self.base;
        let number = if self.activation == Activation::Fourier {
            16
        } else {
            8
        };
        let (size, stride) = (p.size as usize, p.stride as usize);
        let factor = if p.shared != 0 {
            (stride + PANEL) * size + SPARE
        } else {
            0
        };
        number * (factor + size + BLOCK)
    }

    /// The chunks of a table, each with the arguments of its kernels.
    fn chunks<'a>(
        &self,
        table: &'a Table,
        parameters: &'a Parameters,
    ) -> impl Iterator<Item = Parameters> + 'a {
        let chunk = self.base.chunk as usize;
        let at = [&table.x, &table.y, &table.root, &table.omega].map(|buffer| buffer.address);
        (0..table.rows).step_by(chunk).map(move |first| Parameters {
            x: at[0],
            y: at[1],
            root: at[2],
            omega: at[3],
            m: table.rows as i32,
            first: first as i32,
            rows: chunk.min(table.rows - first) as i32,
            ..*parameters
        })
    }

    fn features(&self, p: &Parameters) -> Result<()> {
        let rows = if p.parts > 1 { p.chunk } else { p.rows } as usize;
        let threads = if p.n <= 128 { 128 } else { 256 };
        let shared = 8 * FEATURE_ROWS * p.dim as usize;
        let grid = [rows.div_ceil(FEATURE_ROWS), p.runs as usize, 1];
        self.lane
            .launch("features", grid, [threads, 1], shared, p, &[])
    }

    /// w from z, where the leaf is not w itself.
    fn generate(&self, leaf: Leaf, p: &Parameters) -> Result<()> {
        match leaf {
            Leaf::Weights => Ok(()),
            _ => self.layers.forward(&self.lane, p),
        }
    }

    /// b(w) from the training rows; the planes of the last chunk stay.
    fn solve(&self, p: &Parameters) -> Result<()> {
        let width = (p.k + p.c) as usize;
        let (chunk, ld, runs, parts) = (
            p.chunk as usize,
            p.ld as usize,
            p.runs as usize,
            p.parts as usize,
        );
        for p in self.chunks(&self.train, p) {
            self.features(&p)?;
            let rows = if parts > 1 { PART } else { p.rows as usize };
            let product = Product {
                transposed: [false, true],
                sizes: [width, width, rows],
                at: [p.e, p.e, if parts > 1 { p.gram_parts } else { p.gram }],
                columns: [ld, ld, width],
                members: [chunk / parts * ld, chunk / parts * ld, width * width],
                count: runs * parts,
                add: false,
            };
            self.lane.multiply(Precision::F64, &product)?;
            if parts > 1 {
                let grid = [(width * width).div_ceil(256), runs, 1];
                self.lane.launch("combine", grid, [256, 1], 0, &p, &[])?;
            }
        }
        self.lane
            .launch("solve", [runs, 1, 1], [512, 1], self.shared_solve(), p, &[])
    }

    /// One sweep over a table; the planes of a single chunk are there from the sweep before if `kept`.
    fn over_rows(
        &self,
        name: &'static str,
        table: &Table,
        kept: bool,
        shared: usize,
        p: &Parameters,
    ) -> Result<()> {
        let single = table.rows <= p.chunk as usize;
        for p in self.chunks(table, p) {
            if !(kept && single) {
                self.features(&p)?;
            }
            let grid = [p.groups as usize, p.runs as usize, 1];
            self.lane.launch(name, grid, [256, 1], shared, &p, &[])?;
        }
        Ok(())
    }

    fn step_once(&self, leaf: Leaf) -> Result<()> {
        let regularised = self.base.points > 0;
        let p = &Parameters {
            leaf: leaf as i32,
            wants_adjoint: 1,
            ..self.base
        };
        let (runs, count) = (p.runs as usize, self.latent_len());
        if regularised {
            let blocks = (p.points as usize * p.d as usize).div_ceil(8 * 128);
            self.lane.fork()?;
            self.lane
                .launch_aside("scatter", [blocks, runs, 1], [128, 1], 0, p, &[])?;
        }
        if leaf == Leaf::Parameters {
            self.draw(p)?;
        }
        self.generate(leaf, p)?;
        self.solve(p)?;
        if regularised {
            let grid = [p.tiles as usize, runs, 1];
            self.lane.fork()?;
            self.lane
                .launch_aside("variation", grid, [256, 1], self.shared_variation(), p, &[])?;
            let grid = [(p.k as usize * p.c as usize).div_ceil(32), runs, 1];
            self.lane.launch_aside("gather", grid, [32, 8], 0, p, &[])?;
        }
        self.over_rows("residuals", &self.train, true, self.shared_residuals(), p)?;
        if regularised {
            self.lane.join()?;
        }
        self.lane.launch(
            "adjoint",
            [runs, 1, 1],
            [512, 1],
            self.shared_solve(),
            p,
            &[],
        )?;
        self.over_rows("sweep", &self.train, true, self.shared_sweep(), p)?;
        self.lane
            .launch("collect", [count.div_ceil(32), runs, 1], [32, 8], 0, p, &[])?;
        self.layers.backward(&self.lane, leaf, p)?;
        let blocks = self.leaf_len(leaf).div_ceil(1024);
        self.lane
            .launch("adam", [blocks, runs, 1], [256, 1], 0, p, &[])
    }

    fn draw(&self, p: &Parameters) -> Result<()> {
        let grid = [self.latent_len().div_ceil(128), p.runs as usize, 1];
        self.lane.launch("draw", grid, [128, 1], 0, p, &[])
    }

    fn validate_once(&self, leaf: Leaf) -> Result<()> {
        let p = &Parameters {
            leaf: leaf as i32,
            ..self.base
        };
        if leaf == Leaf::Parameters {
            self.draw(p)?;
        }
        self.generate(leaf, p)?;
        self.solve(p)?;
        self.over_rows("residuals", &self.held, false, self.shared_residuals(), p)?;
        let p = &Parameters {
            omega: self.held.omega.address,
            ..*p
        };
        self.lane
            .launch("tally", [p.runs as usize, 1, 1], [1, 1], 0, p, &[])?;
        self.lane.launch("tick", [1, 1, 1], [1, 1], 0, p, &[])
    }

    /// Records a graph where there is none yet.
    fn prepare(&mut self, leaf: Leaf, work: Work) -> Result<()> {
        if self.graphs[leaf as usize][work as usize].is_some() {
            return Ok(());
        }
        // Libraries load their kernels at the first call, which must not be while a graph is recorded. Where nobody takes
        // part, nothing changes.
        self.lane
            .write(&mut self.mask, 0, &vec![0; self.seeds.len()])?;
        self.active.clear();
        let launch = || match work {
            Work::Step => self.step_once(leaf),
            Work::Validate => self.validate_once(leaf),
        };
        launch()?;
        self.lane.wait()?;
        let graph = self.lane.record(launch)?;
        self.graphs[leaf as usize][work as usize] = Some(graph);
        Ok(())
    }

    /// Says who takes part, and from which step on.
    fn set(&mut self, runs: &[usize], step: usize, rate: f64) -> Result<()> {
        let active: Vec<i32> = (0..self.seeds.len())
            .map(|run| i32::from(runs.contains(&run)))
            .collect();
        if active != self.active {
            self.lane.write(&mut self.mask, 0, &active)?;
            self.active = active;
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
        let (count, batch, len) = (self.latent_len(), self.seeds.len(), places.len());
        if leaf != Leaf::Parameters {
            return self.repeat(leaf, work, len);
        }
        for first in (0..len).step_by(AHEAD) {
            let last = (first + AHEAD).min(len);
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
            self.repeat(leaf, work, last - first)?;
        }
        Ok(())
    }

    /// Replays a graph that was prepared.
    fn repeat(&self, leaf: Leaf, work: Work, times: usize) -> Result<()> {
        let graph = self.graphs[leaf as usize][work as usize].as_ref();
        (0..times).try_for_each(|_| self.lane.replay(graph.expect("it was prepared")))
    }

    fn advance_all(
        &mut self,
        runs: &[usize],
        steps: Range<usize>,
        rate: f64,
    ) -> Result<Vec<Result<Loss>>> {
        let (leaf, batch) = (self.leaves[runs[0]], self.seeds.len());
        self.prepare(leaf, Work::Step)?;
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
        self.prepare(leaf, Work::Validate)?;
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

/// Latents by place.
fn normal<T: Number>(seed: u64, purpose: Purpose, place: usize, out: &mut [T]) {
    let mut rng = stream(seed, purpose, place as u64);
    out.iter_mut()
        .for_each(|z| *z = T::of(rng.sample(StandardNormal)));
}

/// Gives `work` each piece of `len` numbers with its place, on as many threads as pay.
///
/// Not on those of a pool: one of them might take up another fit meanwhile and wait for this one.
fn spread<T: Send>(numbers: &mut [T], len: usize, work: &(impl Fn(usize, &mut [T]) + Sync)) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(numbers.len().div_ceil(NUMBERS)).max(1);
    let pieces = (numbers.len() / len).div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let mut parts = numbers.chunks_mut(pieces * len).enumerate();
        let own = parts.next();
        let each = |(part, numbers): (usize, &mut [T])| {
            let places = numbers.chunks_mut(len).enumerate();
            places.for_each(|(i, out)| work(part * pieces + i, out));
        };
        for part in parts {
            scope.spawn(move || each(part));
        }
        own.into_iter().for_each(each);
    });
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
        self.leaves[run] = leaf;
        let count = self.latent_len();
        let zeros = || Values::F32(vec![0.0; self.leaf_len(leaf)]);
        let moments = [zeros(), zeros()];
        self.set_moments(run, leaf, &moments)?;
        self.lane.write(&mut self.steps, run, &[0])?;
        if leaf == Leaf::Latents {
            let mut z = vec![T::ZERO; count];
            normal(self.seeds[run], Purpose::FinalLatents, 0, &mut z);
            self.lane.write(&mut self.z, run * count, &z)?;
        }
        self.lane.wait()?;
        match from {
            Some(from) => self.restore(run, from, leaf),
            None => Ok(()),
        }
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let result = self.advance_all(runs, steps, rate);
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
        let (leaf, count) = (self.leaves[run], self.latent_len());
        if leaf == Leaf::Parameters {
            let mut z = vec![T::ZERO; count];
            normal(self.seeds[run], Purpose::FinalLatents, 0, &mut z);
            self.lane.write(&mut self.z, run * count, &z)?;
        }
        self.generate(leaf, &self.base)?;
        let w = self.lane.read(&self.w, run * count, count)?;
        let (n, dim) = (self.base.n as usize, self.base.dim as usize);
        Ok(Mat::from_fn(n, dim, |l, j| w[j * n + l]))
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        let (leaf, count, len) = (self.leaves[run], self.latent_len(), self.layers.len);
        let pack = |buffer: &Buffer<T>, stride: usize, len: usize| -> Result<Values> {
            let values = self.lane.read(buffer, run * stride, len)?;
            Ok(Values::pack(&values, T::PRECISION))
        };
        let stride = self.layers.stride;
        let both = || -> Result<[Values; 2]> {
            Ok(match leaf {
                Leaf::Parameters => [
                    pack(&self.moments_theta[0], stride, len)?,
                    pack(&self.moments_theta[1], stride, len)?,
                ],
                Leaf::Latents => [
                    pack(&self.moments_z[0], count, count)?,
                    pack(&self.moments_z[1], count, count)?,
                ],
                Leaf::Weights => {
                    let read = |i: usize| self.lane.read(&self.moments_w[i], run * count, count);
                    [Values::F64(read(0)?), Values::F64(read(1)?)]
                }
            })
        };
        Ok(Snapshot {
            theta: pack(&self.layers.theta, stride, len)?,
            z: pack(&self.z, count, count)?,
            w: self.lane.read(&self.w, run * count, count)?,
            moments: moments.then(both).transpose()?,
            steps: self.lane.read(&self.steps, run, 1)?[0],
            raised: self.lane.read(&self.raised, run, 1)?[0] as usize,
        })
    }

    fn stride(&self) -> usize {
        STRIDE
    }
}
