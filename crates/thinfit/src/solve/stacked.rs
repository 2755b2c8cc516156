//! The real rows of the least squares problem for b, whatever the activation.
//!
//! Dimensions: `m` samples, `n` width, `c` outputs, `p` = columns of E, `q` = stacked rows. Everything downstream of
//! this file is real: for Fourier features the unknowns are the planes (Re b, Im b) and the rows depend on the
//! [`Form`]; sample weights multiply rows by their square roots. It assembles matrices and does not factor them.

use crate::Activation;
use crate::math::columns::{column, column_mut};
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

/// Which least squares problem the Fourier features solve; real activations have only one and ignore it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// min |A b − y|² over complex values: Im(A b) = 0 is asked for at the samples too, 2m equations for 2n numbers.
    #[default]
    Complex,
    /// min |Re(A b) − y|²: m equations for 2n numbers. More accurate where m is large, interpolates where it is not.
    Real,
}

/// Every problem that can be stacked, for tests.
#[cfg(test)]
pub(crate) const CASES: [(Activation, Form); 6] = [
    (Activation::Fourier, Form::Complex),
    (Activation::Fourier, Form::Real),
    (Activation::Cosine, Form::Complex),
    (Activation::Sigmoid, Form::Complex),
    (Activation::Tanh, Form::Complex),
    (Activation::Relu, Form::Complex),
];

/// Stacked rows of `m` samples: 2m for the complex form of Fourier, m otherwise.
pub(crate) fn stacked_rows(activation: Activation, form: Form, m: usize) -> usize {
    if activation.is_complex() && form == Form::Complex {
        2 * m
    } else {
        m
    }
}

/// The real least squares matrix from the planes `e`, with `below` rows of zeros under it ((q + below) × p).
///
/// Fourier, complex: [[C, −S], [S, C]]; Fourier, real: [C, −S]; otherwise E. Rows are multiplied by `roots`.
pub(crate) fn stack(
    activation: Activation,
    form: Form,
    e: MatRef<'_, f64>,
    roots: Option<&[f64]>,
    below: usize,
) -> Mat<f64> {
    let q = stacked_rows(activation, form, e.nrows());
    let mut a = Mat::zeros(q + below, columns(activation, e));
    write_stack(activation, form, e, roots, a.as_mut());
    a
}

/// The same matrix with the right-hand side appended, \[A | z\] (q × (p + c)).
pub(crate) fn stack_both(
    activation: Activation,
    form: Form,
    e: MatRef<'_, f64>,
    y: MatRef<'_, f64>,
    roots: Option<&[f64]>,
) -> Mat<f64> {
    let (q, p) = (
        stacked_rows(activation, form, e.nrows()),
        columns(activation, e),
    );
    let mut both = Mat::zeros(q, p + y.ncols());
    let (a, mut z) = both.as_mut().split_at_col_mut(p);
    write_stack(activation, form, e, roots, a);
    z.copy_from(stack_outputs(y, roots, q));
    both
}

/// Columns of the matrix, p.
fn columns(activation: Activation, e: MatRef<'_, f64>) -> usize {
    match activation {
        // The buffer holds the sines after the columns of E.
        Activation::Cosine => e.ncols() / 2 + 1,
        _ => e.ncols(),
    }
}

fn write_stack(
    activation: Activation,
    form: Form,
    e: MatRef<'_, f64>,
    roots: Option<&[f64]>,
    mut a: MatMut<'_, f64>,
) {
    let (m, p) = (e.nrows(), a.ncols());
    let half = p / 2;
    let write = |out: &mut [f64], from: &[f64], sign: f64| match roots {
        Some(roots) => {
            for ((out, &from), &root) in out.iter_mut().zip(from).zip(roots) {
                *out = sign * root * from;
            }
        }
        None => {
            for (out, &from) in out.iter_mut().zip(from) {
                *out = sign * from;
            }
        }
    };
    for j in 0..p {
        let out = column_mut(a.rb_mut(), j);
        if !activation.is_complex() {
            write(&mut out[..m], column(e, j), 1.0);
            continue;
        }
        let (real, imaginary, sign) = if j < half {
            (j, half + j, 1.0)
        } else {
            (j, j - half, -1.0)
        };
        write(&mut out[..m], column(e, real), sign);
        if form == Form::Complex {
            write(&mut out[m..2 * m], column(e, imaginary), 1.0);
        }
    }
}

/// The right side [√ω y; 0] with `rows` rows.
pub(crate) fn stack_outputs(y: MatRef<'_, f64>, roots: Option<&[f64]>, rows: usize) -> Mat<f64> {
    let m = y.nrows();
    Mat::from_fn(rows, y.ncols(), |k, o| {
        if k < m {
            y[(k, o)] * roots.map_or(1.0, |r| r[k])
        } else {
            0.0
        }
    })
}

/// Square roots of sample weights.
pub(crate) fn roots(weights: Option<&[f64]>) -> Option<Vec<f64>> {
    weights.map(|w| w.iter().map(|w| w.max(0.0).sqrt()).collect())
}
