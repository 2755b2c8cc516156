//! The network evaluated at many rows: g_o = a_o + Σ_l b_lo Φ(θ_l + ⟨w_l, x′⟩), f = shift + scale · g.
//!
//! Dimensions: `d` inputs, `n` width, `c` outputs. [`LANES`] rows go through all neurons together and only their sums
//! are stored. So little memory is touched, and a row's result depends on that row alone, not on neighbours, blocks or
//! threads. One output of Fourier features needs one cosine per neuron,
//! Re(b e^{2πit}) = |b| cos 2π(t + arg b/2π); several outputs share cosine and sine.
//!
//! The plain evaluation, `features` times b, serves derivatives and deviations, and is the reference of the tests.

use crate::Activation;
use crate::data::{Scaler, Warp, dataset::LARGEST};
use crate::math::columns::column_mut;
use crate::math::elementary::{cos_kernel, sigmoid_kernel, sincos_kernel, tanh_kernel, vectorised};
use crate::math::fma::Fma;
use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use std::f64::consts::TAU;

/// Rows evaluated together: enough for long vector loops, few enough for the first-level cache.
const LANES: usize = 64;

/// One number for each of these rows.
type Lanes = [f64; LANES];

/// Function of one neuron, with the unit of its argument chosen for speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// cos 2πt: the cosine, and Fourier features of a single output.
    Cosine,
    /// cos 2πt and sin 2πt: Fourier features of several outputs.
    Pair,
    /// 1/(1+e⁻ᵗ).
    Sigmoid,
    /// tanh t.
    Tanh,
    /// max(t, 0).
    Relu,
}

/// A model's network in the form in which it is evaluated, with real numbers only:
///
/// f_o(x) = shift_o + scale_o (a_o + Σ_l b_lo Φ(θ_l + Σ_j w_lj x′_j)), x′_j = (u_j − shift_j) · factor_j,
///
/// where u_j is x_j, or its warp asinh((x_j − centre_j)/width_j) if it has one.
///
/// These are the numbers that [`Model::predict`](crate::Model::predict) computes with, for export to other languages.
#[derive(Clone, Debug)]
pub struct Evaluator {
    /// Φ.
    pub feature: Feature,
    /// Shift and factor of each input.
    pub inputs: Vec<[f64; 2]>,
    /// The warp of each input, before shift and factor (d).
    pub warps: Vec<Option<Warp>>,
    /// a_o, shift and scale of each output.
    pub outputs: Vec<[f64; 3]>,
    /// n rows of 1 + d numbers.
    hidden: Vec<f64>,
    /// n rows of c numbers, or of 2c for a pair.
    output: Vec<f64>,
}

impl Evaluator {
    /// From the weights as a model stores them.
    pub(crate) fn new(
        activation: Activation,
        (hidden, output): (MatRef<'_, f64>, MatRef<'_, f64>),
        (inputs, outputs): (&Scaler, &Scaler),
    ) -> Self {
        let (n, d, c) = (hidden.nrows(), inputs.shift.len(), outputs.shift.len());
        let feature = match activation {
            Activation::Fourier if c > 1 => Feature::Pair,
            Activation::Fourier | Activation::Cosine => Feature::Cosine,
            Activation::Sigmoid => Feature::Sigmoid,
            Activation::Tanh => Feature::Tanh,
            Activation::Relu => Feature::Relu,
        };
        // A half is exact, and turns cos πt into cos 2πt.
        let unit = if activation == Activation::Cosine {
            0.5
        } else {
            1.0
        };
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for l in 0..n {
            let (phase, b) = output_weights(activation, feature, output, n, l);
            rows.push(if activation.has_bias() {
                unit * hidden[(l, d)]
            } else {
                phase
            });
            rows.extend((0..d).map(|j| unit * hidden[(l, j)]));
            weights.extend(b);
        }
        let bias = |o: usize| {
            if activation.has_bias() {
                output[(n, o)]
            } else {
                0.0
            }
        };
        Evaluator {
            feature,
            inputs: (0..d)
                .map(|j| [inputs.shift[j], 1.0 / inputs.scale[j]])
                .collect(),
            warps: (0..d).map(|j| inputs.warp_of(j)).collect(),
            outputs: (0..c)
                .map(|o| [bias(o), outputs.shift[o], outputs.scale[o]])
                .collect(),
            hidden: rows,
            output: weights,
        }
    }

    /// Per neuron θ_l followed by w_l (1 + d numbers), and b_l (c numbers; for a pair c of the cosine, c of the sine).
    #[inline(always)]
    pub fn neurons(&self) -> impl ExactSizeIterator<Item = (&[f64], &[f64])> {
        let weights = match self.feature {
            Feature::Pair => 2 * self.outputs.len(),
            _ => self.outputs.len(),
        };
        let hidden = self.hidden.chunks_exact(1 + self.inputs.len());
        hidden.zip(self.output.chunks_exact(weights))
    }

    /// Writes f at the rows of `x` (m × d, any strides) to `out` (m × c, column-major); false if `x` has values that
    /// are not finite or too large.
    #[must_use]
    pub(crate) fn evaluate(&self, x: MatRef<'_, f64>, out: MatMut<'_, f64>) -> bool {
        match self.feature {
            Feature::Cosine => self.rows(
                x,
                out,
                #[inline(always)]
                |t| [cos_kernel(t)],
            ),
            Feature::Pair => self.rows(
                x,
                out,
                #[inline(always)]
                |t| sincos_kernel(t, 1.0).into(),
            ),
            Feature::Sigmoid => self.rows(
                x,
                out,
                #[inline(always)]
                |t| [sigmoid_kernel(t, 1.0)],
            ),
            Feature::Tanh => self.rows(
                x,
                out,
                #[inline(always)]
                |t| [tanh_kernel(t, 1.0)],
            ),
            Feature::Relu => self.rows(
                x,
                out,
                #[inline(always)]
                |t| [if t < 0.0 { 0.0 } else { t }],
            ),
        }
    }

    /// [`Evaluator::evaluate`] with the `P` planes of the feature.
    fn rows<const P: usize>(
        &self,
        x: MatRef<'_, f64>,
        mut out: MatMut<'_, f64>,
        planes: impl Fn(f64) -> [f64; P],
    ) -> bool {
        let (m, d, c) = (out.nrows(), self.inputs.len(), self.outputs.len());
        assert!(x.nrows() == m && x.ncols() == d && out.ncols() == c);
        let (mut scaled, mut sums) = (vec![[0.0; LANES]; d], vec![[0.0; LANES]; c]);
        let mut usable = true;
        for start in (0..m).step_by(LANES) {
            let rows = LANES.min(m - start);
            let x = x.subrows(start, rows);
            for (j, lanes) in scaled.iter_mut().enumerate() {
                *lanes = [0.0; LANES];
                for (lane, &x) in lanes.iter_mut().zip(x.col(j).iter()) {
                    *lane = x;
                }
            }
            vectorised(
                #[inline(always)]
                || usable &= self.lanes(&mut scaled, &mut sums, &planes),
            );
            for (o, lanes) in sums.iter().enumerate() {
                column_mut(out.rb_mut(), o)[start..][..rows].copy_from_slice(&lanes[..rows]);
            }
        }
        usable
    }

    /// One pass of the network over all lanes; scales `x` in place.
    #[inline(always)]
    fn lanes<const P: usize>(
        &self,
        x: &mut [Lanes],
        sums: &mut [Lanes],
        planes: &impl Fn(f64) -> [f64; P],
    ) -> bool {
        let c = sums.len();
        let mut usable = true;
        for ((x, &[shift, factor]), warp) in x.iter_mut().zip(&self.inputs).zip(&self.warps) {
            if let Some(warp) = warp {
                for x in &mut *x {
                    usable &= x.abs() <= LARGEST;
                    *x = warp.value(*x);
                }
            }
            for x in x {
                usable &= x.abs() <= LARGEST;
                *x = (*x - shift) * factor;
            }
        }
        for (sum, &[bias, ..]) in sums.iter_mut().zip(&self.outputs) {
            *sum = [bias; LANES];
        }
        for (w, b) in self.neurons() {
            let mut t = [w[0]; LANES];
            let rest = add_products::<8>((&w[1..], x), &mut t);
            let rest = add_products::<4>(rest, &mut t);
            let rest = add_products::<2>(rest, &mut t);
            add_products::<1>(rest, &mut t);
            // One output, one plane: no need to keep the values of the feature.
            if let ([sum], &[b]) = (&mut *sums, b) {
                for k in 0..LANES {
                    sum[k] = planes(t[k])[0].fma(b, sum[k]);
                }
                continue;
            }
            let mut phi = [[0.0; LANES]; P];
            for k in 0..LANES {
                let planes = planes(t[k]);
                for p in 0..P {
                    phi[p][k] = planes[p];
                }
            }
            for (phi, b) in phi.iter().zip(b.chunks_exact(c)) {
                for (sum, &b) in sums.iter_mut().zip(b) {
                    for k in 0..LANES {
                        sum[k] = phi[k].fma(b, sum[k]);
                    }
                }
            }
        }
        for (sum, &[_, shift, scale]) in sums.iter_mut().zip(&self.outputs) {
            for sum in sum {
                *sum = scale.fma(*sum, shift);
            }
        }
        usable
    }
}

/// The phase of neuron `l` in turns, and b_l over n as [`Evaluator::neurons`] gives it, from planes of `n` neurons.
fn output_weights(
    activation: Activation,
    feature: Feature,
    output: MatRef<'_, f64>,
    n: usize,
    l: usize,
) -> (f64, Vec<f64>) {
    let width = n as f64;
    match (activation, feature) {
        (Activation::Fourier, Feature::Cosine) => {
            let (re, im) = (output[(l, 0)], output[(n + l, 0)]);
            (im.atan2(re) / TAU, vec![re.hypot(im) / width])
        }
        (Activation::Fourier, _) => {
            let (re, im) = (output.row(l).iter(), output.row(n + l).iter());
            let planes = re.copied().chain(im.map(|b| -b));
            (0.0, planes.map(|b| b / width).collect())
        }
        _ => (0.0, output.row(l).iter().map(|b| b / width).collect()),
    }
}

/// t += Σ_j w_j x_j over groups of `J` inputs, in their order; returns the inputs that are left.
///
/// One group is one pass over t, whose loop the compiler turns into vectors.
#[inline(always)]
fn add_products<'a, const J: usize>(
    (mut w, mut x): (&'a [f64], &'a [Lanes]),
    t: &mut Lanes,
) -> (&'a [f64], &'a [Lanes]) {
    while let (Some((w_group, w_rest)), Some((x_group, x_rest))) =
        (w.split_first_chunk::<J>(), x.split_first_chunk::<J>())
    {
        // By value: loaded once, not for every vector.
        let w_group = *w_group;
        for k in 0..LANES {
            for j in 0..J {
                t[k] = x_group[j][k].fma(w_group[j], t[k]);
            }
        }
        (w, x) = (w_rest, x_rest);
    }
    (w, x)
}

#[cfg(test)]
mod tests;
