//! The generator G_θ: a ReLU network that turns latents z into hidden weights w = G_θ(z) (paper §3.2).
//!
//! θ is one flat vector, layer after layer: weights, those of one input after the other, then the bias. The
//! units of a layer are cut into slabs, one task each, and these into panels (see `product`) of latents ×
//! units; slabs depend on the number of units alone, so that threads never change a result. A slab is cut
//! so that it reads its own share of the weights only. The generator knows nothing of the method around it.

use crate::adam::{Adam, Stride};
use crate::product::{Element, Left, multiply, pack, pack_transposed};
use faer::{MatMut, MatRef};
use pulp::{Arch, Simd, WithSimd};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::ops::{Add, Div, Mul, Range, Sub};

/// The floating-point numbers that a generator computes in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// Single precision, as published; the least squares stay in f64.
    #[default]
    F32,
    /// Double precision.
    F64,
}

/// f32 or f64.
pub(crate) trait Real:
    Element
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Serialize
    + DeserializeOwned
{
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn root(self) -> Self;
}

macro_rules! real {
    ($t:ty) => {
        impl Real for $t {
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
        }
    };
}
real!(f32);
real!(f64);

/// Units per slab at most: half of the usual layer, for two cores, and a panel of so many rows fits the first cache.
const SLAB: usize = 256;
/// Latents per tile of a product over units.
const TILE: usize = 10;
/// Inputs per tile of a gradient; divides a panel.
const STRIP: usize = 8;
/// Panels of inputs whose gradient and Adam step are one task.
const TASK: usize = 2;

/// Some units of one layer at all latents: activations or their gradients.
struct Slab<T> {
    units: Range<usize>,
    /// Panel after panel, each latents × units; latents are padded to whole tiles.
    panels: Vec<T>,
    /// The same numbers as left operand: tile after tile, each units × latents of the tile.
    tiles: Vec<T>,
    /// Room for a panel of weights.
    weights: Vec<T>,
}

impl<T: Real> Slab<T> {
    /// The slabs of a layer of so many units.
    fn layer(units: usize, n: usize) -> Vec<Self> {
        let (panels, count) = (units.div_ceil(T::PANEL), units.div_ceil(SLAB));
        let edge = |g: usize| (g * panels / count * T::PANEL).min(units);
        let rows = n.next_multiple_of(TILE);
        let slabs = (0..count).map(|g| edge(g)..edge(g + 1)).map(|units| Slab {
            panels: vec![T::ZERO; rows * units.len().next_multiple_of(T::PANEL)],
            tiles: vec![T::ZERO; rows * units.len()],
            weights: vec![T::ZERO; SLAB.max(T::PANEL) * T::PANEL],
            units,
        });
        slabs.collect()
    }

    /// Numbers in a panel.
    fn panel(&self) -> usize {
        self.panels.len() / self.units.len().div_ceil(T::PANEL)
    }

    /// Sets unit `units.start + u` at latent `l`.
    fn set(&mut self, l: usize, u: usize, value: T) {
        let panel = self.panel();
        self.panels[u / T::PANEL * panel + l * T::PANEL + u % T::PANEL] = value;
        self.tiles[(l / TILE * self.units.len() + u) * TILE + l % TILE] = value;
    }

    /// Unit `units.start + u` at latent `l`.
    fn get(&self, l: usize, u: usize) -> T {
        self.panels[u / T::PANEL * self.panel() + l * T::PANEL + u % T::PANEL]
    }
}

/// What turns the activations of one layer into a slab of the next, or gradients into a slab of the one before.
struct Pass<'a, T> {
    out: &'a mut Slab<T>,
    from: &'a [Slab<T>],
    /// The layer's weights, inputs × outputs row by row.
    weights: &'a [T],
    outputs: usize,
    finish: Finish<'a, T>,
    /// Whether the result is the left operand of another pass.
    further: bool,
}

/// What is done to the sums of a pass.
#[derive(Clone, Copy)]
enum Finish<'a, T> {
    /// Forward: adds the bias, and takes the greater of the sum and the floor.
    Bias(&'a [T], T),
    /// Backward: keeps what belongs to positive activations, if any are given.
    Mask(Option<&'a [T]>),
}

impl<T: Real> WithSimd for Pass<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let size = self.out.panel();
        let Slab {
            units,
            panels,
            tiles,
            weights,
        } = self.out;
        for (p, panel) in panels.chunks_exact_mut(size).enumerate() {
            let start = units.start + p * T::PANEL;
            let width = T::PANEL.min(units.end - start);
            for (s, from) in self.from.iter().enumerate() {
                let k = from.units.len();
                let weights = &mut weights[..k * T::PANEL];
                if let Finish::Bias(..) = self.finish {
                    let corner = from.units.start * self.outputs + start;
                    pack(&self.weights[corner..], self.outputs, width, weights);
                } else {
                    let corner = start * self.outputs + from.units.start;
                    pack_transposed(&self.weights[corner..], self.outputs, width, weights);
                }
                let left = from.tiles.chunks_exact(k * TILE);
                for (c, values) in panel.chunks_exact_mut(TILE * T::PANEL).zip(left) {
                    let a = Left {
                        values,
                        stride: TILE,
                        first: 0,
                    };
                    multiply::<S, T, TILE, { TILE / 2 }>(simd, a, weights, c, width, s > 0);
                }
            }
            match self.finish {
                Finish::Bias(bias, floor) => {
                    let bias = &bias[start..start + width];
                    for row in panel.chunks_exact_mut(T::PANEL) {
                        for (h, &bias) in row.iter_mut().zip(bias) {
                            let t = *h + bias;
                            *h = if t > floor { t } else { floor };
                        }
                    }
                }
                Finish::Mask(Some(h)) => {
                    for (dh, &h) in panel.iter_mut().zip(&h[p * size..]) {
                        *dh = if h > T::ZERO { *dh } else { T::ZERO };
                    }
                }
                Finish::Mask(None) => {}
            }
            if self.further {
                let tiles = tiles.chunks_exact_mut(units.len() * TILE);
                for (panel, tile) in panel.chunks_exact(TILE * T::PANEL).zip(tiles) {
                    let tile = tile[p * T::PANEL * TILE..].chunks_exact_mut(TILE);
                    for (u, out) in tile.take(width).enumerate() {
                        for i in 0..TILE {
                            out[i] = panel[i * T::PANEL + u];
                        }
                    }
                }
            }
        }
    }
}

/// A stretch of θ: some panels of inputs of one slab, or a bias.
#[derive(Clone, Debug)]
enum Part {
    Inputs {
        layer: usize,
        slab: usize,
        panels: Range<usize>,
        len: usize,
    },
    Bias {
        layer: usize,
        len: usize,
    },
}

impl Part {
    fn len(&self) -> usize {
        let (Part::Inputs { len, .. } | Part::Bias { len, .. }) = self;
        *len
    }
}

/// A ReLU network with parameters θ and room for a fixed number of latents.
pub(crate) struct Generator<T> {
    /// Units of every layer, input and output included.
    sizes: Vec<usize>,
    n: usize,
    pub theta: Vec<T>,
    parts: Vec<Part>,
    /// By layers: input z, hidden layers after the ReLU, output.
    h: Vec<Vec<Slab<T>>>,
    dh: Vec<Vec<Slab<T>>>,
    #[cfg(test)]
    gradient: Vec<T>,
}

impl<T: Real> Generator<T> {
    /// A network with the given units per layer, for `n` latents, θ = 0.
    pub fn new(sizes: &[usize], n: usize) -> Self {
        let layers = sizes.len() - 1;
        let len = (0..layers).map(|i| sizes[i + 1] * (sizes[i] + 1)).sum();
        let slabs = || sizes.iter().map(|&units| Slab::layer(units, n)).collect();
        let h: Vec<Vec<Slab<T>>> = slabs();
        let mut parts = Vec::new();
        for (layer, slabs) in h.iter().take(layers).enumerate() {
            for (slab, Slab { units, .. }) in slabs.iter().enumerate() {
                let count = units.len().div_ceil(T::PANEL);
                for start in (0..count).step_by(TASK) {
                    let end = (start + TASK).min(count);
                    let inputs = (end * T::PANEL).min(units.len()) - start * T::PANEL;
                    parts.push(Part::Inputs {
                        layer,
                        slab,
                        panels: start..end,
                        len: inputs * sizes[layer + 1],
                    });
                }
            }
            let len = sizes[layer + 1];
            parts.push(Part::Bias { layer, len });
        }
        Generator {
            sizes: sizes.to_vec(),
            n,
            theta: vec![T::ZERO; len],
            parts,
            h,
            dh: slabs(),
            #[cfg(test)]
            gradient: vec![T::ZERO; len],
        }
    }

    /// Draws every weight and bias from U(−1/√fan_in, 1/√fan_in).
    pub fn initialise(&mut self, rng: &mut impl rand::Rng) {
        let mut theta = self.theta.iter_mut();
        for pair in self.sizes.windows(2) {
            let bound = 1.0 / (pair[0] as f64).sqrt();
            for p in theta.by_ref().take(pair[1] * (pair[0] + 1)) {
                *p = T::of(bound * (2.0 * rng.random::<f64>() - 1.0));
            }
        }
    }

    /// Weights (inputs × outputs, row by row) and bias of layer `i`.
    fn layer(&self, i: usize) -> (Range<usize>, Range<usize>) {
        let sizes = &self.sizes;
        let start: usize = (0..i).map(|i| sizes[i + 1] * (sizes[i] + 1)).sum();
        let middle = start + sizes[i + 1] * sizes[i];
        (start..middle, middle..middle + sizes[i + 1])
    }

    /// w = G_θ(z): `z` holds the latents one after the other, `w` is n × d′.
    pub fn forward(&mut self, z: &[T], mut w: MatMut<'_, f64>) {
        let last = self.sizes.len() - 1;
        for slab in &mut self.h[0] {
            for (l, z) in z.chunks_exact(self.sizes[0]).enumerate() {
                for (u, &z) in z[slab.units.clone()].iter().enumerate() {
                    slab.set(l, u, z);
                }
            }
        }
        for i in 0..last {
            let (weights, bias) = self.layer(i);
            let (weights, bias) = (&self.theta[weights], &self.theta[bias]);
            let floor = if i + 1 < last { 0.0 } else { f64::NEG_INFINITY };
            let finish = Finish::Bias(bias, T::of(floor));
            let (below, above) = self.h.split_at_mut(i + 1);
            let (from, outputs, further) = (&below[i][..], self.sizes[i + 1], i + 1 < last);
            above[0].par_iter_mut().for_each(|out| {
                Arch::new().dispatch(Pass {
                    out,
                    from,
                    weights,
                    outputs,
                    finish,
                    further,
                })
            });
        }
        for slab in &self.h[last] {
            for (u, j) in slab.units.clone().enumerate() {
                for l in 0..self.n {
                    w[(l, j)] = slab.get(l, u).wide();
                }
            }
        }
    }

    /// Carries dL/dw (n × d′) back through the layers of the last `forward`, down to z if `dz` is given.
    pub fn backward(&mut self, dw: MatRef<'_, f64>, dz: Option<&mut [T]>) {
        let (last, lowest) = (self.sizes.len() - 1, usize::from(dz.is_none()));
        for slab in &mut self.dh[last] {
            for (u, j) in slab.units.clone().enumerate() {
                for l in 0..self.n {
                    slab.set(l, u, T::of(dw[(l, j)]));
                }
            }
        }
        for i in (lowest..last).rev() {
            let weights = &self.theta[self.layer(i).0];
            let (below, above) = self.dh.split_at_mut(i + 1);
            let (from, outputs, further) = (&above[0][..], self.sizes[i + 1], i > lowest);
            below[i]
                .par_iter_mut()
                .zip(&self.h[i])
                .for_each(|(out, h)| {
                    Arch::new().dispatch(Pass {
                        out,
                        from,
                        weights,
                        outputs,
                        finish: Finish::Mask((i > 0).then_some(&h.panels[..])),
                        further,
                    })
                });
        }
        if let Some(dz) = dz {
            let d = self.sizes[0];
            for slab in &self.dh[0] {
                for (u, j) in slab.units.clone().enumerate() {
                    for l in 0..self.n {
                        dz[l * d + j] = slab.get(l, u);
                    }
                }
            }
        }
    }

    /// One Adam step on θ after `backward`; the gradient of each block is used while it is in cache.
    pub fn descend(&mut self, adam: &mut Adam<T>, rate: f64) {
        let leaf = Leaf {
            stride: adam.stride(rate),
            theta: &mut self.theta,
            first: &mut adam.first,
            second: &mut adam.second,
        };
        let slabs = Slabs {
            h: &self.h,
            dh: &self.dh,
            n: self.n,
        };
        descend(leaf, &self.parts, slabs);
    }

    /// dL/dθ after `backward`.
    #[cfg(test)]
    pub fn parameter_gradient(&mut self) -> &[T] {
        let slabs = Slabs {
            h: &self.h,
            dh: &self.dh,
            n: self.n,
        };
        descend(Copied(&mut self.gradient), &self.parts, slabs);
        &self.gradient
    }
}

/// All layers, for the gradients in θ.
#[derive(Clone, Copy)]
struct Slabs<'a, T> {
    h: &'a [Vec<Slab<T>>],
    dh: &'a [Vec<Slab<T>>],
    n: usize,
}

/// What becomes of the gradients of a stretch of θ.
trait Sink<T>: Sized + Send {
    fn split_at(self, at: usize) -> (Self, Self);
    /// Takes the gradient of the entries from `at` on.
    fn take(&mut self, at: usize, gradient: &[T]);
}

/// A stretch of θ with its moments: the gradient moves it.
struct Leaf<'a, T> {
    stride: Stride<T>,
    theta: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
}

impl<T: Real> Sink<T> for Leaf<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (theta, first) = (self.theta.split_at_mut(at), self.first.split_at_mut(at));
        let second = self.second.split_at_mut(at);
        let part = |theta, first, second| Leaf {
            stride: self.stride,
            theta,
            first,
            second,
        };
        (
            part(theta.0, first.0, second.0),
            part(theta.1, first.1, second.1),
        )
    }

    #[inline(always)]
    fn take(&mut self, at: usize, gradient: &[T]) {
        let range = at..at + gradient.len();
        self.stride.apply_inlined(
            &mut self.theta[range.clone()],
            gradient,
            &mut self.first[range.clone()],
            &mut self.second[range],
        );
    }
}

/// The gradient itself is wanted.
#[cfg(test)]
struct Copied<'a, T>(&'a mut [T]);

#[cfg(test)]
impl<T: Real> Sink<T> for Copied<'_, T> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(at);
        (Copied(left), Copied(right))
    }

    fn take(&mut self, at: usize, gradient: &[T]) {
        self.0[at..at + gradient.len()].copy_from_slice(gradient);
    }
}

/// Halves the parts until one is left, then hands its gradient to its stretch of the sink.
fn descend<T: Real, K: Sink<T>>(sink: K, parts: &[Part], slabs: Slabs<'_, T>) {
    if let [part] = parts {
        Arch::new().dispatch(Gradient { part, slabs, sink });
        return;
    }
    let total: usize = parts.iter().map(Part::len).sum();
    let (mut middle, mut at) = (1, parts[0].len());
    while middle + 1 < parts.len() && 2 * at < total {
        at += parts[middle].len();
        middle += 1;
    }
    let ((left, right), (a, b)) = (parts.split_at(middle), sink.split_at(at));
    rayon::join(|| descend(a, left, slabs), || descend(b, right, slabs));
}

/// dL/dW = hᵀ dh and dL/dbias = Σ over latents of dh for one part of θ.
struct Gradient<'a, T, K> {
    part: &'a Part,
    slabs: Slabs<'a, T>,
    sink: K,
}

impl<T: Real, K: Sink<T>> WithSimd for Gradient<'_, T, K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let n = self.slabs.n;
        // A strip of inputs times a panel of outputs, of either precision.
        let mut block = [T::ZERO; STRIP * 32];
        let block = &mut block[..STRIP * T::PANEL];
        match self.part {
            Part::Inputs {
                layer,
                slab,
                panels,
                ..
            } => {
                let (below, above) = (&self.slabs.h[*layer][*slab], &self.slabs.dh[layer + 1]);
                let outputs = above.last().map_or(0, |slab| slab.units.end);
                for (q, p) in panels.clone().enumerate() {
                    let left = &below.panels[p * below.panel()..][..n * T::PANEL];
                    let inputs = T::PANEL.min(below.units.len() - p * T::PANEL);
                    for dh in above {
                        for (j, right) in dh.panels.chunks_exact(dh.panel()).enumerate() {
                            let column = dh.units.start + j * T::PANEL;
                            let width = T::PANEL.min(dh.units.end - column);
                            for first in (0..inputs).step_by(STRIP) {
                                let a = Left {
                                    values: left,
                                    stride: T::PANEL,
                                    first,
                                };
                                multiply::<S, T, STRIP, { STRIP / 2 }>(
                                    simd, a, right, block, width, false,
                                );
                                let rows = block.chunks_exact(T::PANEL).zip(first..inputs);
                                for (row, i) in rows {
                                    let at = (q * T::PANEL + i) * outputs + column;
                                    if width == T::PANEL {
                                        self.sink.take(at, &row[..T::PANEL]);
                                    } else {
                                        self.sink.take(at, &row[..width]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
            Part::Bias { layer, .. } => {
                for dh in &self.slabs.dh[layer + 1] {
                    for (j, panel) in dh.panels.chunks_exact(dh.panel()).enumerate() {
                        let column = dh.units.start + j * T::PANEL;
                        let sum = &mut block[..T::PANEL];
                        sum.fill(T::ZERO);
                        for row in panel.chunks_exact(T::PANEL).take(n) {
                            for (sum, &dh) in sum.iter_mut().zip(row) {
                                *sum = *sum + dh;
                            }
                        }
                        let width = T::PANEL.min(dh.units.end - column);
                        self.sink.take(column, &sum[..width]);
                    }
                }
            }
        }
    }
}
