//! The design matrix of the hidden layer and its backward pass.
//!
//! Dimensions: `m` rows, `d` inputs, `d`′ entries of one hidden weight, `n` width, `c` outputs, `k` = columns of E. The
//! design matrix is A\[k,l\] = Φ(⟨w_l, x_k⟩)/n, kept as the real planes E of `planes`. This file owns the bias
//! conventions: the padded input and the column of ones.

use crate::Activation;
use crate::data::rows::Rows;
use crate::math::columns::{column, column_mut};
use crate::math::elementary::{self, vectorised};
use crate::math::fma::Fma;
use crate::math::product::{multiply_add, product};
use crate::network::planes::{conjugate, real_planes};
use faer::reborrow::{Reborrow, ReborrowMut};
use faer::{Mat, MatMut, MatRef};
use std::f64::consts::PI;

/// Inputs of the hidden layer: with a last column of ones if the activation has biases (m × d′).
pub(crate) struct Padded(Mat<f64>);

/// Some rows of padded inputs.
#[derive(Clone, Copy)]
pub(crate) struct PaddedRef<'a>(MatRef<'a, f64>);

/// Rows with padded inputs.
pub(crate) type PaddedRows<'a> = Rows<'a, PaddedRef<'a>>;

impl Padded {
    /// Pads `x` (m × d).
    pub fn new(activation: Activation, x: MatRef<'_, f64>) -> Self {
        let d = x.ncols();
        Padded(Mat::from_fn(x.nrows(), activation.weights(d), |k, j| {
            if j < d { x[(k, j)] } else { 1.0 }
        }))
    }

    /// All rows.
    pub fn as_ref(&self) -> PaddedRef<'_> {
        PaddedRef(self.0.as_ref())
    }

    /// `len` rows from `start` on.
    pub fn rows(&self, start: usize, len: usize) -> PaddedRef<'_> {
        PaddedRef(self.0.as_ref().subrows(start, len))
    }

    /// The input `j` of all rows, to be changed.
    pub fn input_mut(&mut self, j: usize) -> &mut [f64] {
        column_mut(self.0.as_mut(), j)
    }
}

impl<'a> PaddedRef<'a> {
    /// The number of rows, m.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.0.nrows()
    }

    /// The number of columns, d′.
    #[inline(always)]
    pub fn columns(self) -> usize {
        self.0.ncols()
    }

    /// Coordinate `j` of all rows.
    #[inline(always)]
    pub fn coordinate(self, j: usize) -> &'a [f64] {
        column(self.0, j)
    }

    /// The matrix itself, m × d′.
    pub fn matrix(self) -> MatRef<'a, f64> {
        self.0
    }
}

/// Writes the planes of all features at the rows of `x` for `w` (n × d′) into `e` (rows × planes).
pub(crate) fn features(
    activation: Activation,
    x: PaddedRef<'_>,
    w: MatRef<'_, f64>,
    mut e: MatMut<'_, f64>,
) {
    let n = w.nrows();
    assert!(x.columns() == w.ncols() && e.nrows() == x.len() && e.ncols() == activation.planes(n));
    let scale = 1.0 / n as f64;
    let (mut phi, mut rest) = e.rb_mut().split_at_col_mut(n);
    for l in 0..n {
        let t = column_mut(phi.rb_mut(), l);
        inner_products(x, w, l, t);
        match activation {
            Activation::Fourier => {
                elementary::sincos_2pi_in_place(t, column_mut(rest.rb_mut(), l), scale)
            }
            Activation::Cosine => {
                elementary::sincos_pi_in_place(t, column_mut(rest.rb_mut(), 1 + l), scale)
            }
            Activation::Sigmoid => elementary::sigmoid(t, scale),
            Activation::Tanh => elementary::tanh(t, scale),
            Activation::Relu => t
                .iter_mut()
                .for_each(|t| *t = if *t < 0.0 { 0.0 } else { *t * scale }),
        }
    }
    if activation.has_bias() {
        column_mut(rest, 0).fill(1.0);
    }
}

/// The planes of all features at the rows of `x` (m × d) for `w` (n × d, or n × (d + 1) with biases).
///
/// \[cos 2πt | sin 2πt\]/n for Fourier; \[Φ/n | 1\] otherwise, for the cosine followed by its sines over n.
///
/// # Panics
/// Where the columns of `w` do not fit those of `x`.
pub fn planes(activation: Activation, x: MatRef<'_, f64>, w: MatRef<'_, f64>) -> Mat<f64> {
    planes_at(activation, Padded::new(activation, x).as_ref(), w)
}

/// [`planes`] at inputs that are padded already.
pub(crate) fn planes_at(activation: Activation, x: PaddedRef<'_>, w: MatRef<'_, f64>) -> Mat<f64> {
    let mut e = Mat::zeros(x.len(), activation.planes(w.nrows()));
    features(activation, x, w, e.as_mut());
    e
}

/// f = Re(A b) at the rows of `e` for coefficient planes `b` (p × c): m × c.
pub(crate) fn fitted(activation: Activation, e: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut signed = b.to_owned();
    conjugate(activation, signed.as_mut());
    product(e.subcols(0, b.nrows()), signed.as_ref())
}

/// t_k = ⟨w_l, x_k⟩ for all rows k, summed over the inputs in their order.
fn inner_products(x: PaddedRef<'_>, w: MatRef<'_, f64>, l: usize, t: &mut [f64]) {
    vectorised(
        #[inline(always)]
        || {
            t.fill(0.0);
            for j in 0..x.columns() {
                let weight = w[(l, j)];
                for (t, &x) in t.iter_mut().zip(x.coordinate(j)) {
                    *t = x.fma(weight, *t);
                }
            }
        },
    );
}

/// The part of dL/dW that flows through A: dW += dtᵀX with dt = Re(conj(dA)·Φ′/n) and dA = α bᴴ + β vᴴ.
///
/// `alpha`, `beta` are rows × (components·c) as [Re | Im]; `b`, `v` are k × c planes; `dt` is scratch of rows × n;
/// `dw` is n × d′ and is added to. dA has rank 2c and is never formed.
pub(crate) fn features_backward(
    activation: Activation,
    x: PaddedRef<'_>,
    e: MatRef<'_, f64>,
    (alpha, beta): (MatRef<'_, f64>, MatRef<'_, f64>),
    (b, v): (MatRef<'_, f64>, MatRef<'_, f64>),
    mut dt: MatMut<'_, f64>,
    dw: MatMut<'_, f64>,
) {
    let (n, c) = (dt.ncols(), b.ncols());
    vectorised(
        #[inline(always)]
        || {
            for l in 0..n {
                let out = column_mut(dt.rb_mut(), l);
                if activation.is_complex() {
                    complex_backward(
                        column(e, l),
                        column(e, n + l),
                        (alpha, beta),
                        (b, v),
                        l,
                        c,
                        out,
                    );
                } else {
                    out.fill(0.0);
                    for o in 0..c {
                        let (bl, vl) = (b[(l, o)], v[(l, o)]);
                        for ((q, &al), &be) in
                            out.iter_mut().zip(column(alpha, o)).zip(column(beta, o))
                        {
                            *q = al.fma(bl, be.fma(vl, *q));
                        }
                    }
                    let (phi, sine) = real_planes(activation, e, n, l);
                    let width = n as f64;
                    for ((q, &phi), &sine) in out.iter_mut().zip(phi).zip(sine) {
                        *q *= activation.derivatives(phi, sine, width).0;
                    }
                }
            }
        },
    );
    multiply_add(dw, dt.rb().transpose(), x.matrix());
}

/// dt = −2π (cos · Im q + sin · Re q) with q = conj(α) b + conj(β) v, for one neuron over all rows of a block.
#[inline(always)]
fn complex_backward(
    cos: &[f64],
    sin: &[f64],
    (alpha, beta): (MatRef<'_, f64>, MatRef<'_, f64>),
    (b, v): (MatRef<'_, f64>, MatRef<'_, f64>),
    l: usize,
    c: usize,
    out: &mut [f64],
) {
    let n = b.nrows() / 2;
    let rows = out.len();
    out.fill(0.0);
    for o in 0..c {
        for (factor, coefficient) in [(alpha, b), (beta, v)] {
            let (re, im) = (
                coefficient[(l, o)] * -2.0 * PI,
                coefficient[(n + l, o)] * -2.0 * PI,
            );
            let (fr, fi) = (&column(factor, o)[..rows], &column(factor, c + o)[..rows]);
            let (cos, sin) = (&cos[..rows], &sin[..rows]);
            for k in 0..rows {
                let real = fr[k].fma(re, fi[k] * im);
                let imaginary = fr[k].fma(im, -(fi[k] * re));
                out[k] = cos[k].fma(imaginary, sin[k].fma(real, out[k]));
            }
        }
    }
}
