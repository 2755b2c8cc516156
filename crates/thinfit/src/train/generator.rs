//! The generator G_θ: a ReLU network that turns latents z into hidden weights w = G_θ(z) (paper §3.2).
//!
//! Latents and activations are columns: layer i is a matrix of (units × latents). θ is one flat vector, layer
//! after layer, each a column-major weight matrix (out × in) followed by its bias. Latents are processed in chunks
//! whose number depends on their count alone, so that threads never change a result. The generator knows nothing of the
//! method around it.

use super::adam::{Adam, Stride};
use crate::math::elementary::vectorised;
use crate::math::product::{multiply, multiply_add};
use faer::traits::RealField;
use faer::{Mat, MatMut, MatRef};
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
pub trait Real:
    RealField
    + Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Serialize
    + DeserializeOwned
{
    /// 0.
    const ZERO: Self;
    /// The nearest number of this type.
    fn of(value: f64) -> Self;
    /// The same number as f64.
    fn wide(self) -> f64;
    /// √self.
    fn root(self) -> Self;
}

macro_rules! real {
    ($t:ty) => {
        impl Real for $t {
            const ZERO: Self = 0.0;
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

/// Maximum latents per chunk: about half of the usual hundred, for two cores.
const CHUNK: usize = 64;
/// Columns of a weight matrix whose gradient and Adam step are one task.
const TASK: usize = 128;

/// The activations of a chunk of latents, and their gradients.
struct Chunk<T> {
    latents: Range<usize>,
    /// Input z, hidden layers after the ReLU, output.
    h: Vec<Mat<T>>,
    dh: Vec<Mat<T>>,
}

/// Some columns of one layer's weight matrix, or its bias; contiguous in θ.
#[derive(Clone, Debug)]
enum Tile {
    Columns(usize, Range<usize>),
    Bias(usize),
}

/// A ReLU network with parameters θ, for a fixed number of latents.
pub struct Generator<T> {
    /// Units of every layer, input and output included.
    sizes: Vec<usize>,
    pub(crate) theta: Vec<T>,
    gradient: Vec<T>,
    tiles: Vec<Tile>,
    chunks: Vec<Chunk<T>>,
}

impl<T: Real> Generator<T> {
    /// A network with the given units per layer, for `n` latents, θ = 0.
    pub fn new(sizes: &[usize], n: usize) -> Self {
        let layers = sizes.len() - 1;
        let len = (0..layers).map(|i| sizes[i + 1] * (sizes[i] + 1)).sum();
        let count = n.div_ceil(CHUNK).max(1);
        let chunks = (0..count).map(|g| {
            let latents = g * n / count..(g + 1) * n / count;
            let zeros = || {
                sizes
                    .iter()
                    .map(|&units| Mat::zeros(units, latents.len()))
                    .collect()
            };
            Chunk {
                h: zeros(),
                dh: zeros(),
                latents: latents.clone(),
            }
        });
        let tiles = (0..layers).flat_map(|i| {
            let columns = (0..sizes[i])
                .step_by(TASK)
                .map(move |j| Tile::Columns(i, j..(j + TASK).min(sizes[i])));
            columns.chain([Tile::Bias(i)])
        });
        Generator {
            sizes: sizes.to_vec(),
            theta: vec![T::ZERO; len],
            gradient: vec![T::ZERO; len],
            tiles: tiles.collect(),
            chunks: chunks.collect(),
        }
    }

    /// The number of parameters, the length of θ.
    pub fn parameters(&self) -> usize {
        self.theta.len()
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

    /// w = G_θ(z): `z` holds the latents one after the other, `w` is n × d′.
    pub fn forward(&mut self, z: &[T], mut w: MatMut<'_, f64>) {
        let (sizes, theta) = (&self.sizes, &self.theta);
        self.chunks
            .par_iter_mut()
            .for_each(|chunk| chunk.forward(sizes, theta, z));
        for chunk in &self.chunks {
            let out = &chunk.h[sizes.len() - 1];
            for (column, l) in chunk.latents.clone().enumerate() {
                for j in 0..out.nrows() {
                    w[(l, j)] = out[(j, column)].wide();
                }
            }
        }
    }

    /// Carries dL/dw (n × d′) back through the layers of the last `forward`, down to z if `dz` is given.
    pub fn backward(&mut self, dw: MatRef<'_, f64>, dz: Option<&mut [T]>) {
        let (sizes, theta, lowest) = (&self.sizes, &self.theta, usize::from(dz.is_none()));
        self.chunks
            .par_iter_mut()
            .for_each(|chunk| chunk.backward(sizes, theta, dw, lowest));
        if let Some(dz) = dz {
            let d = sizes[0];
            for chunk in &self.chunks {
                for (column, l) in chunk.latents.clone().enumerate() {
                    dz[l * d..(l + 1) * d].copy_from_slice(chunk.dh[0].col_as_slice(column));
                }
            }
        }
    }

    /// One Adam step on θ after `backward`; the gradient of each tile is used while it is in cache.
    pub fn descend(&mut self, adam: &mut Adam<T>, rate: f64) {
        let stride = adam.stride(rate);
        let stretch = Stretch {
            theta: &mut self.theta,
            gradient: &mut self.gradient,
            first: &mut adam.first,
            second: &mut adam.second,
        };
        stretch.descend(&self.tiles, &self.sizes, &self.chunks, stride);
    }

    /// dL/dθ after `backward`.
    #[cfg(test)]
    pub fn parameter_gradient(&mut self) -> &[T] {
        let mut rest = &mut self.gradient[..];
        for tile in &self.tiles {
            let (head, tail) = rest.split_at_mut(tile.len(&self.sizes));
            tile.gradient(&self.sizes, &self.chunks, head);
            rest = tail;
        }
        &self.gradient
    }
}

/// Weight matrix (out × in) and bias of layer `i`.
fn layer<'a, T>(sizes: &[usize], theta: &'a [T], i: usize) -> (MatRef<'a, T>, &'a [T]) {
    let start: usize = (0..i).map(|i| sizes[i + 1] * (sizes[i] + 1)).sum();
    let (weight, rest) = theta[start..].split_at(sizes[i + 1] * sizes[i]);
    (
        MatRef::from_column_major_slice(weight, sizes[i + 1], sizes[i]),
        &rest[..sizes[i + 1]],
    )
}

impl<T: Real> Chunk<T> {
    fn forward(&mut self, sizes: &[usize], theta: &[T], z: &[T]) {
        let d = sizes[0];
        for (column, l) in self.latents.clone().enumerate() {
            self.h[0]
                .col_as_slice_mut(column)
                .copy_from_slice(&z[l * d..(l + 1) * d]);
        }
        let last = sizes.len() - 2;
        for i in 0..=last {
            let (weight, bias) = layer(sizes, theta, i);
            let (below, above) = self.h.split_at_mut(i + 1);
            let out = &mut above[0];
            multiply(out.as_mut(), weight, below[i].as_ref());
            let floor = if i < last {
                T::ZERO
            } else {
                T::of(f64::NEG_INFINITY)
            };
            vectorised(
                #[inline(always)]
                || {
                    for l in 0..out.ncols() {
                        for (h, &bias) in out.col_as_slice_mut(l).iter_mut().zip(bias) {
                            let t = *h + bias;
                            // NaN stays NaN, so that the loss shows it.
                            *h = if t < floor { floor } else { t };
                        }
                    }
                },
            );
        }
    }

    fn backward(&mut self, sizes: &[usize], theta: &[T], dw: MatRef<'_, f64>, lowest: usize) {
        let last = sizes.len() - 1;
        for (column, l) in self.latents.clone().enumerate() {
            for j in 0..sizes[last] {
                self.dh[last][(j, column)] = T::of(dw[(l, j)]);
            }
        }
        for i in (lowest..last).rev() {
            let (weight, _) = layer(sizes, theta, i);
            let (below, above) = self.dh.split_at_mut(i + 1);
            let (dh, h) = (&mut below[i], &self.h[i]);
            multiply(dh.as_mut(), weight.transpose(), above[0].as_ref());
            if i > 0 {
                vectorised(
                    #[inline(always)]
                    || {
                        for l in 0..dh.ncols() {
                            for (dh, &h) in dh.col_as_slice_mut(l).iter_mut().zip(h.col_as_slice(l))
                            {
                                *dh = if h > T::ZERO { *dh } else { T::ZERO };
                            }
                        }
                    },
                );
            }
        }
    }
}

impl Tile {
    fn len(&self, sizes: &[usize]) -> usize {
        match self {
            Tile::Columns(i, columns) => sizes[i + 1] * columns.len(),
            Tile::Bias(i) => sizes[i + 1],
        }
    }

    /// dL/dW = Σ_chunks dh hᵀ for some columns, dL/dbias = Σ over latents of dh.
    fn gradient<T: Real>(&self, sizes: &[usize], chunks: &[Chunk<T>], out: &mut [T]) {
        match self {
            Tile::Columns(i, columns) => {
                let mut out = MatMut::from_column_major_slice_mut(out, sizes[i + 1], columns.len());
                for (g, chunk) in chunks.iter().enumerate() {
                    let below = chunk.h[*i]
                        .as_ref()
                        .subrows(columns.start, columns.len())
                        .transpose();
                    let above = chunk.dh[i + 1].as_ref();
                    if g == 0 {
                        multiply(out.as_mut(), above, below);
                    } else {
                        multiply_add(out.as_mut(), above, below);
                    }
                }
            }
            Tile::Bias(i) => {
                out.fill(T::ZERO);
                for dh in chunks.iter().map(|chunk| &chunk.dh[i + 1]) {
                    for l in 0..dh.ncols() {
                        for (out, &dh) in out.iter_mut().zip(dh.col_as_slice(l)) {
                            *out += dh;
                        }
                    }
                }
            }
        }
    }
}

/// A stretch of θ with its gradient and moments.
struct Stretch<'a, T> {
    theta: &'a mut [T],
    gradient: &'a mut [T],
    first: &'a mut [T],
    second: &'a mut [T],
}

impl<T: Real> Stretch<'_, T> {
    /// Halves the tiles until one is left, then takes its gradient and its Adam step.
    fn descend(self, tiles: &[Tile], sizes: &[usize], chunks: &[Chunk<T>], stride: Stride<T>) {
        if let [tile] = tiles {
            tile.gradient(sizes, chunks, self.gradient);
            stride.apply(self.theta, self.gradient, self.first, self.second);
            return;
        }
        let (left, right) = tiles.split_at(tiles.len() / 2);
        let at = left.iter().map(|tile| tile.len(sizes)).sum();
        let (theta, gradient) = (self.theta.split_at_mut(at), self.gradient.split_at_mut(at));
        let (first, second) = (self.first.split_at_mut(at), self.second.split_at_mut(at));
        let a = Stretch {
            theta: theta.0,
            gradient: gradient.0,
            first: first.0,
            second: second.0,
        };
        let b = Stretch {
            theta: theta.1,
            gradient: gradient.1,
            first: first.1,
            second: second.1,
        };
        rayon::join(
            || a.descend(left, sizes, chunks, stride),
            || b.descend(right, sizes, chunks, stride),
        );
    }
}
