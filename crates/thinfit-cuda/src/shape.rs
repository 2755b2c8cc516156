//! The sizes of a batch, and the memory that follows from them.

use crate::device::Device;
use crate::parameters::{BLOCK, PANEL, POINTS, Parameters, ROWS, SPARE};
use thinfit::pieces::Task;
use thinfit::{Activation, Config, Error, Result, Ridge};

/// Maximum number of rows of a chunk, and of a part of it whose EᵀE is one product.
const CHUNK: usize = 32_768;
pub(crate) const PART: usize = 1024;
/// Maximum number of groups of rows with a slot of their own.
const GROUPS: usize = 1024;

/// B runs of `m` rows for training and `held` for validation, `d` inputs (d′ = `dim` with the bias), `n` neurons, `c`
/// outputs, `k` columns of E.
pub(crate) struct Shape {
    pub activation: Activation,
    pub runs: usize,
    m: usize,
    held: usize,
    d: usize,
    pub dim: usize,
    pub n: usize,
    pub k: usize,
    pub c: usize,
    /// Length of a row of planes, rows of a chunk and parts of it.
    pub ld: usize,
    pub chunk: usize,
    pub parts: usize,
    /// Slots for sums over rows and over points.
    pub groups: usize,
    pub tiles: usize,
    pub points: usize,
    /// Columns of the factor of S, in whole panels, and their distance.
    size: usize,
    stride: usize,
}

impl Shape {
    pub fn new(config: &Config, runs: &[(u64, Task<'_>)]) -> Self {
        let (activation, n, task) = (config.activation, config.width, &runs[0].1);
        let (m, held) = (task.train.samples(), task.validation.samples());
        let (d, c) = (task.train.dim(), task.train.y.ncols());
        let (dim, k, most) = (activation.weights(d), activation.columns(n), m.max(held));
        let (complex, cosine) = (
            activation == Activation::Fourier,
            activation == Activation::Cosine,
        );
        let regularised = runs.iter().any(|(_, task)| task.lambda > 0.0);
        let points = if regularised { config.points } else { 0 };
        let size = if complex { n } else { k }.next_multiple_of(PANEL);
        Shape {
            activation,
            runs: runs.len(),
            m,
            held,
            d,
            dim,
            n,
            k,
            c,
            // Rows of planes begin at multiples of 16 bytes.
            ld: (k + c + if cosine { n } else { 0 }).next_multiple_of(2),
            chunk: most.min(CHUNK),
            parts: if most > CHUNK { CHUNK / PART } else { 1 },
            groups: most.div_ceil(ROWS).min(GROUPS),
            tiles: points.div_ceil(POINTS),
            points,
            size,
            // Distances for which the loads of a warp fall on different banks.
            stride: if complex {
                (size + 5) / 8 * 8 + 2
            } else {
                (size + 11) / 16 * 16 + 4
            },
        }
    }

    /// Hidden weights, or latents, of one run.
    pub fn weights(&self) -> usize {
        self.n * self.dim
    }

    /// Numbers of b.
    pub fn outputs(&self) -> usize {
        self.k * self.c
    }

    /// Real numbers in one of the factor.
    fn number(&self) -> usize {
        if self.activation == Activation::Fourier {
            2
        } else {
            1
        }
    }

    /// Real numbers of the factor of S, with the heads of its panels.
    pub fn factor(&self) -> usize {
        self.number() * ((self.stride + PANEL) * self.size + SPARE)
    }

    /// Numbers of EᵀE with the right sides.
    pub fn gram(&self) -> usize {
        (self.k + self.c) * (self.k + self.c)
    }

    /// Bytes of shared memory of the kernel `solve`, with the factor in it or not.
    fn solve_room(&self, with_factor: bool) -> usize {
        let factor = if with_factor { self.factor() } else { 0 };
        8 * (factor + self.number() * (self.size + BLOCK))
    }

    /// Whether the factor fits in shared memory; `solve` has a few bytes of its own.
    fn factor_is_shared(&self, device: &Device) -> bool {
        self.solve_room(true) + 256 <= device.shared
    }

    /// Bytes of shared memory of the kernel `solve`.
    pub fn shared_solve(&self, device: &Device) -> usize {
        self.solve_room(self.factor_is_shared(device))
    }

    /// Bytes of shared memory of the kernel `residuals`.
    pub fn shared_residuals(&self) -> usize {
        8 * (2 * self.k * self.c + ROWS * self.c + 32)
    }

    /// Bytes of shared memory of the kernel `sweep`.
    pub fn shared_sweep(&self) -> usize {
        let Shape { k, c, n, dim, .. } = *self;
        8 * (2 * k * c + 4 * ROWS * c + ROWS * n + n * dim + ROWS * dim)
    }

    /// Bytes of shared memory of the kernel `variation`.
    pub fn shared_variation(&self) -> usize {
        let Shape { n, d, dim, .. } = *self;
        8 * (POINTS * (3 * n + d + dim) + n * dim + 32)
    }

    /// Checks that the batch fits into the device; `more` are the bytes of the generators.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn check(&self, device: &Device, more: usize) -> Result<()> {
        let Shape {
            runs, k, c, n, dim, ..
        } = *self;
        let refuse = |problem: String, advice| Error::Device {
            device: device.name.clone(),
            problem,
            advice,
        };
        let mut room = self.shared_sweep();
        if self.points > 0 {
            room = room.max(self.shared_variation());
        }
        if room > device.shared {
            let problem = format!(
                "a block of threads has {} KiB of shared memory, width {n} with {} inputs and {c} outputs needs {} KiB",
                device.shared >> 10,
                self.d,
                room >> 10
            );
            return Err(refuse(problem, "use a smaller width, or device cpu"));
        }
        if self.points.saturating_mul(self.d) > i32::MAX as usize {
            let problem = format!("{} points with {} inputs are too many", self.points, self.d);
            return Err(refuse(problem, "use fewer points, or device cpu"));
        }
        let grams = if self.parts > 1 { 1 + self.parts } else { 1 };
        let each = (self.m + self.held) * (dim + c + 1)
            + self.chunk * self.ld
            + self.gram() * grams
            + self.factor()
            + (self.groups + self.tiles) * (k * c + n * dim + 1)
            + self.points * dim;
        let (bytes, free) = (8 * runs * each + more, device.free()?);
        if bytes > free / 10 * 9 {
            let gib = |bytes: usize| bytes as f64 / (1u64 << 30) as f64;
            let problem = format!(
                "{:.1} GiB of its memory are free, this batch of {runs} needs {:.1} GiB",
                gib(free),
                gib(bytes)
            );
            let advice =
                "fit fewer runs at a time, close other programs on the GPU, or use device cpu";
            return Err(refuse(problem, advice));
        }
        Ok(())
    }

    /// The sizes and settings among the arguments of the kernels.
    pub fn parameters(&self, config: &Config, device: &Device) -> Parameters {
        let (ridge, relative) = match config.ridge {
            Ridge::Relative(rho) => (rho, 1),
            Ridge::Absolute(eps) => (eps, 0),
        };
        Parameters {
            ridge,
            relative,
            norm: config.variation as i32,
            runs: self.runs as i32,
            m: self.m as i32,
            d: self.d as i32,
            dim: self.dim as i32,
            n: self.n as i32,
            k: self.k as i32,
            c: self.c as i32,
            ld: self.ld as i32,
            chunk: self.chunk as i32,
            parts: self.parts as i32,
            groups: self.groups as i32,
            tiles: self.tiles as i32,
            points: self.points as i32,
            stride: self.stride as i32,
            size: self.size as i32,
            shared: i32::from(self.factor_is_shared(device)),
            ..Parameters::default()
        }
    }
}
