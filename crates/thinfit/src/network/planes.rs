//! Complex features as real numbers; no other file needs to know how.
//!
//! Dimensions: `n` width, `c` outputs, `k` = columns of E. Every activation is kept as *real planes*, the factor 1/n
//! included. A real Φ has one plane, Φ/n. The complex Fourier feature exp(2πit)/n has two, its cosine and its sine, at
//! columns l and n + l of E, and its coefficient b = re + i·im has the rows re and im at l and n + l. So the design
//! matrix A is never complex in memory. Code that needs complex arithmetic asks [`Activation::is_complex`] and finds
//! the algebra here; only the factorisations in `solve` have their own.

use crate::Activation;
use crate::math::columns::{column, column_mut};
use crate::math::elementary::vectorised;
use crate::math::fma::Fma;
use faer::reborrow::ReborrowMut;
use faer::{MatMut, MatRef};
use std::f64::consts::PI;

impl Activation {
    /// Whether Φ and the output weights are complex.
    pub(crate) fn is_complex(self) -> bool {
        self == Activation::Fourier
    }

    /// Real numbers per value of A b: 2 where it is complex.
    pub(crate) fn components(self) -> usize {
        if self.is_complex() { 2 } else { 1 }
    }

    /// Columns of the real design matrix E for `n` neurons: [cos | sin] for Fourier, [Φ | 1] otherwise.
    pub fn columns(self, n: usize) -> usize {
        if self.is_complex() { 2 * n } else { n + 1 }
    }

    /// Columns of a buffer that holds E and, for the cosine, the sines that its derivative needs.
    pub(crate) fn planes(self, n: usize) -> usize {
        if self == Activation::Cosine {
            2 * n + 1
        } else {
            self.columns(n)
        }
    }
}

/// The matrix that turns planes into values, E · mixed(b) = [Re(A b) | Im(A b)]: k × components·c.
pub(crate) fn mix(activation: Activation, b: MatRef<'_, f64>, mut mixed: MatMut<'_, f64>) {
    let c = b.ncols();
    assert!(mixed.nrows() == b.nrows() && mixed.ncols() == activation.components() * c);
    if !activation.is_complex() {
        mixed.copy_from(b);
        return;
    }
    let n = b.nrows() / 2;
    for o in 0..c {
        for l in 0..n {
            let (re, im) = (b[(l, o)], b[(n + l, o)]);
            mixed[(l, o)] = re;
            mixed[(n + l, o)] = -im;
            mixed[(l, c + o)] = im;
            mixed[(n + l, c + o)] = re;
        }
    }
}

/// Turns Eᵀr into the planes of Aᴴr for real r: the sines change sign.
pub(crate) fn conjugate(activation: Activation, mut planes: MatMut<'_, f64>) {
    if activation.is_complex() {
        let half = planes.nrows() / 2;
        for o in 0..planes.ncols() {
            column_mut(planes.rb_mut(), o)[half..]
                .iter_mut()
                .for_each(|v| *v = -*v);
        }
    }
}

/// |b_l| of output `o` for coefficient planes `b` (k × c) of `n` neurons.
pub(crate) fn magnitude(
    activation: Activation,
    b: MatRef<'_, f64>,
    n: usize,
    l: usize,
    o: usize,
) -> f64 {
    if activation.is_complex() {
        b[(l, o)].hypot(b[(n + l, o)])
    } else {
        b[(l, o)].abs()
    }
}

/// The planes of neuron `l` of a real activation: Φ/n and the sine (Φ/n again where there is none).
#[inline(always)]
pub(crate) fn real_planes(
    activation: Activation,
    e: MatRef<'_, f64>,
    n: usize,
    l: usize,
) -> (&[f64], &[f64]) {
    let phi = column(e, l);
    if activation == Activation::Cosine {
        (phi, column(e, n + 1 + l))
    } else {
        (phi, phi)
    }
}

/// slope_jl = Re(b_l Φ′(t_jl))/n for output `o`: rows × n.
pub(crate) fn slopes(
    activation: Activation,
    e: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    o: usize,
    mut slope: MatMut<'_, f64>,
) {
    let n = slope.ncols();
    vectorised(
        #[inline(always)]
        || {
            for l in 0..n {
                let out = column_mut(slope.rb_mut(), l);
                if activation.is_complex() {
                    let (re, im) = (-2.0 * PI * b[(l, o)], -2.0 * PI * b[(n + l, o)]);
                    for ((out, &cos), &sin) in
                        out.iter_mut().zip(column(e, l)).zip(column(e, n + l))
                    {
                        *out = re.fma(sin, im * cos);
                    }
                } else {
                    real_slope(activation, e, n, l, b[(l, o)], out);
                }
            }
        },
    );
}

/// b_l Φ′(t_jl)/n of one neuron at all rows j: its real part and, where `out` has room for both, the imaginary part
/// below it.
pub(crate) fn slope(
    activation: Activation,
    e: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    (l, o): (usize, usize),
    out: &mut [f64],
) {
    if !activation.is_complex() {
        return real_slope(activation, e, b.nrows() - 1, l, b[(l, o)], out);
    }
    let n = b.nrows() / 2;
    let (cos, sin) = (column(e, l), column(e, n + l));
    let (re, im) = (2.0 * PI * b[(l, o)], 2.0 * PI * b[(n + l, o)]);
    let (real, imaginary) = out.split_at_mut(cos.len());
    // Not fused: this runs outside `vectorised`, where a fused product is a library call.
    for ((out, cos), sin) in real.iter_mut().zip(cos).zip(sin) {
        *out = -(cos * im + sin * re);
    }
    for ((out, cos), sin) in imaginary.iter_mut().zip(cos).zip(sin) {
        *out = cos * re - sin * im;
    }
}

#[inline(always)]
fn real_slope(
    activation: Activation,
    e: MatRef<'_, f64>,
    n: usize,
    l: usize,
    b: f64,
    out: &mut [f64],
) {
    let (phi, sine) = real_planes(activation, e, n, l);
    for ((out, &phi), &sine) in out.iter_mut().zip(phi).zip(sine) {
        *out = b * activation.derivatives(phi, sine, n as f64).0;
    }
}
