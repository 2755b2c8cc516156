//! The generators of a batch: layers, their activations and gradients on the device.
//!
//! Products of wide layers use cuBLAS in single precision without TF32; a thin layer has kernels of its own that
//! include bias and ReLU. The gradient in θ is computed in parallel with the backward pass through the layers. A
//! product that would leave part of the device idle is split into two halves of the sum that run in parallel.

use crate::device::{Buffer, Lane, Number, Product, Queue};
use crate::parameters::Parameters;
use thinfit::{Leaf, Result};

/// Units up to which a layer is thin.
const THIN: usize = 16;
/// Shortest sums that are worth cutting in two.
const LONG: usize = 256;
/// Rows and columns of a product that one block of cuBLAS makes.
const TILE: [usize; 2] = [128, 64];

/// The generators of all runs.
pub(crate) struct Layers<T: Number> {
    /// Units of every layer, input and output included.
    sizes: Vec<usize>,
    /// Parameters of one generator, and the distance to the next one's: whole vectors of four.
    pub len: usize,
    pub stride: usize,
    pub theta: Buffer<T>,
    gradient: Buffer<T>,
    /// Hidden layers and output after the ReLU (units × n for each run), and the gradients in all layers.
    h: Vec<Buffer<T>>,
    dh: Vec<Buffer<T>>,
    /// The second half of the sums of a product, where it is cut in two.
    half: Buffer<T>,
    n: usize,
}

impl<T: Number> Layers<T> {
    /// Units of every layer.
    pub fn sizes(hidden: &[usize], dim: usize) -> Vec<usize> {
        [dim]
            .into_iter()
            .chain(hidden.iter().copied())
            .chain([dim])
            .collect()
    }

    /// Numbers on the device for one generator with its moments.
    pub fn numbers(sizes: &[usize], n: usize) -> usize {
        4 * parameters(sizes) + n * (2 * sizes.iter().sum::<usize>() + widest(sizes))
    }

    pub fn new(lane: &Lane, sizes: Vec<usize>, n: usize, count: usize) -> Result<Self> {
        let len = parameters(&sizes);
        let stride = len.next_multiple_of(4);
        let activations = || -> Result<Vec<Buffer<T>>> {
            sizes
                .iter()
                .map(|units| lane.zeros(count * n * units))
                .collect()
        };
        Ok(Layers {
            theta: lane.zeros(count * stride)?,
            gradient: lane.zeros(count * stride)?,
            h: activations()?,
            dh: activations()?,
            half: lane.zeros(count * n * widest(&sizes))?,
            len,
            stride,
            n,
            sizes,
        })
    }

    /// Address of the gradient in the latents.
    pub fn dz(&self) -> u64 {
        self.dh[0].address
    }

    /// Address of the gradient in the output, latent by latent.
    pub fn dout(&self) -> u64 {
        self.dh[self.sizes.len() - 1].address
    }

    /// Address of the gradient in θ.
    pub fn gradient(&self) -> u64 {
        self.gradient.address
    }

    /// The layers from below: number, and the arguments of their kernels.
    fn layers<'a>(
        &'a self,
        p: &'a Parameters,
    ) -> impl DoubleEndedIterator<Item = (usize, Parameters)> + 'a {
        let last = self.sizes.len() - 2;
        (0..=last).map(move |i| {
            let layer = Parameters {
                in_: self.sizes[i] as i32,
                out: self.sizes[i + 1] as i32,
                offset: parameters(&self.sizes[..=i]) as i64,
                last: i32::from(i == last),
                ..*p
            };
            (i, layer)
        })
    }

    /// w = G_θ(z).
    pub fn forward(&self, lane: &Lane, p: &Parameters) -> Result<()> {
        let (n, runs) = (self.n, p.runs as usize);
        for (i, p) in self.layers(p) {
            let (below, above) = (self.sizes[i], self.sizes[i + 1]);
            let from = if i == 0 { p.z } else { self.h[i].address };
            let to = self.h[i + 1].address;
            let wide = [above.div_ceil(128), n, runs];
            if below <= THIN {
                lane.launch(Queue::Main, "layer", wide, [128, 1], 0, &p, &[from, to])?;
            } else if above <= THIN {
                let grid = [(above * n).div_ceil(8), 1, runs];
                lane.launch(
                    Queue::Main,
                    "layer_narrow",
                    grid,
                    [256, 1],
                    0,
                    &p,
                    &[from, to],
                )?;
            } else {
                let product = Product {
                    transposed: [false, false],
                    sizes: [above, n, below],
                    at: [self.weights(&p), from, to],
                    columns: [above, below, above],
                    members: [self.stride, below * n, above * n],
                    count: runs,
                };
                let more = self.multiply(lane, &product)?;
                lane.launch(Queue::Main, "clip", wide, [128, 1], 0, &p, &[to, more])?;
            }
        }
        Ok(())
    }

    /// dL/dθ or dL/dz from dL/dw, whichever the leaf is.
    pub fn backward(&self, lane: &Lane, leaf: Leaf, p: &Parameters) -> Result<()> {
        let lowest = match leaf {
            Leaf::Parameters => 1,
            Leaf::Latents => 0,
            Leaf::Weights | Leaf::Both => return Ok(()),
        };
        for (i, p) in self.layers(p).rev() {
            if leaf == Leaf::Parameters {
                lane.fork()?;
                self.layer_gradient(lane, i, &p)?;
            }
            if i >= lowest {
                self.layer_back(lane, leaf, i, &p)?;
            }
        }
        match leaf {
            Leaf::Parameters => lane.join(),
            _ => Ok(()),
        }
    }

    fn layer_back(&self, lane: &Lane, leaf: Leaf, i: usize, p: &Parameters) -> Result<()> {
        let (below, above, n, runs) = (self.sizes[i], self.sizes[i + 1], self.n, p.runs as usize);
        let (h, from, to) = (
            self.h[i].address,
            self.dh[i + 1].address,
            self.dh[i].address,
        );
        if above <= THIN {
            let grid = [below.div_ceil(128), n, runs];
            lane.launch(
                Queue::Main,
                "layer_back",
                grid,
                [128, 1],
                0,
                p,
                &[h, from, to],
            )
        } else if below <= THIN {
            let grid = [(below * n).div_ceil(8), 1, runs];
            lane.launch(
                Queue::Main,
                "layer_back_narrow",
                grid,
                [256, 1],
                0,
                p,
                &[h, from, to],
            )
        } else {
            let product = Product {
                transposed: [true, false],
                sizes: [below, n, above],
                at: [self.weights(p), from, to],
                columns: [above, above, below],
                members: [self.stride, above * n, below * n],
                count: runs,
            };
            // Nothing sums up the halves below the first layer; beside a gradient in θ nothing is idle.
            let more = if i == 0 || leaf == Leaf::Parameters {
                lane.multiply(Queue::Main, T::PRECISION, &product)?;
                0
            } else {
                self.multiply(lane, &product)?
            };
            if i == 0 {
                return Ok(());
            }
            let grid = [(below * n).div_ceil(256), 1, runs];
            lane.launch(Queue::Main, "mask", grid, [256, 1], 0, p, &[h, to, more])
        }
    }

    /// A product, whole or in two halves that the next kernel adds; returns the address of the second, or 0.
    fn multiply(&self, lane: &Lane, product: &Product) -> Result<u64> {
        let [rows, columns, sums] = product.sizes;
        let blocks = rows.div_ceil(TILE[0]) * columns.div_ceil(TILE[1]) * product.count;
        // Of very few blocks the library makes the most by itself.
        let all = lane.device.multiprocessors;
        if sums < LONG || blocks > all || blocks < all / 3 {
            lane.multiply(Queue::Main, T::PRECISION, product)?;
            return Ok(0);
        }
        let [first, second] = product.halves(size_of::<T>(), self.half.address);
        lane.fork()?;
        lane.multiply(Queue::Main, T::PRECISION, &first)?;
        lane.multiply(Queue::Aside, T::PRECISION, &second)?;
        lane.join()?;
        Ok(self.half.address)
    }

    fn layer_gradient(&self, lane: &Lane, i: usize, p: &Parameters) -> Result<()> {
        let (below, above, n, runs) = (self.sizes[i], self.sizes[i + 1], self.n, p.runs as usize);
        let (from, dh) = (
            if i == 0 { p.z } else { self.h[i].address },
            self.dh[i + 1].address,
        );
        let thin = below <= THIN || above <= THIN;
        if !thin {
            let product = Product {
                transposed: [false, true],
                sizes: [above, below, n],
                at: [
                    dh,
                    from,
                    self.gradient.address + (p.offset as usize * size_of::<T>()) as u64,
                ],
                columns: [above, below, above],
                members: [above * n, below * n, self.stride],
                count: runs,
            };
            lane.multiply(Queue::Aside, T::PRECISION, &product)?;
        }
        if above <= THIN {
            let grid = [(below + 1).div_ceil(32), above, runs];
            return lane.launch(
                Queue::Aside,
                "gradient_narrow",
                grid,
                [32, 8],
                0,
                p,
                &[from, dh],
            );
        }
        // The bias alone, where the product made the rest.
        let first = if thin { 0 } else { below };
        let p = &Parameters {
            first_row: first as i32,
            ..*p
        };
        let grid = [below + 1 - first, above.div_ceil(32), runs];
        lane.launch(Queue::Aside, "gradient", grid, [32, 8], 0, p, &[from, dh])
    }

    /// Address of the weights of the layer in use.
    fn weights(&self, p: &Parameters) -> u64 {
        self.theta.address + (p.offset as usize * size_of::<T>()) as u64
    }
}

/// Units of the widest layer.
fn widest(sizes: &[usize]) -> usize {
    sizes.iter().copied().max().unwrap_or(0)
}

/// Parameters of a network with these units.
fn parameters(sizes: &[usize]) -> usize {
    sizes.windows(2).map(|pair| pair[1] * (pair[0] + 1)).sum()
}
