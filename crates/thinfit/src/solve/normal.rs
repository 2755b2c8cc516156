//! Optimal output weights from the normal equations, b(w) = S⁻¹ Aᴴy with S = AᴴA + εI (paper §3.1, eq. `b_von_w`).
//!
//! This is the *fast* path, used in every training step: S is Hermitian positive definite, so one Cholesky
//! factorisation serves b and its derivative, which is one more solve. Forming AᴴA squares the condition number; the
//! final fit uses `orthogonal` instead, and the polish `householder`.
//!
//! Dimensions: `n` width, `c` outputs, `k` = columns of the real design matrix E.

use crate::{Activation, Error, Result, Ridge};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::traits::ComplexField;
use faer::{Mat, MatMut, MatRef, Par, c64};

/// Cholesky factor of S, with the buffers that solving needs.
struct Cholesky<T> {
    l: Mat<T>,
    rhs: Mat<T>,
    scratch: MemBuffer,
}

impl<T: ComplexField> Cholesky<T> {
    fn new(size: usize, c: usize) -> Self {
        let scratch =
            llt::factor::cholesky_in_place_scratch::<T>(size, Par::Seq, Default::default());
        Cholesky {
            l: Mat::zeros(size, size),
            rhs: Mat::zeros(size, c),
            scratch: MemBuffer::new(scratch),
        }
    }

    fn factor(&mut self) -> bool {
        let stack = MemStack::new(&mut self.scratch);
        llt::factor::cholesky_in_place(
            self.l.as_mut(),
            Default::default(),
            Par::Seq,
            stack,
            Default::default(),
        )
        .is_ok()
    }

    fn solve(&mut self) {
        let stack = MemStack::new(&mut self.scratch);
        llt::solve::solve_in_place(self.l.as_ref(), self.rhs.as_mut(), Par::Seq, stack);
    }
}

enum Kind {
    Real(Cholesky<f64>),
    Complex(Cholesky<c64>),
}

/// The factorised normal equations of one set of hidden weights.
pub(crate) struct NormalEquations {
    kind: Kind,
    n: usize,
    /// The ridge in use, after any raise.
    pub eps: f64,
    /// How often a failing pivot raised the ridge tenfold, over the life of this object.
    pub raised: usize,
}

impl NormalEquations {
    pub fn new(activation: Activation, n: usize, c: usize) -> Self {
        let kind = if activation.is_complex() {
            Kind::Complex(Cholesky::new(n, c))
        } else {
            Kind::Real(Cholesky::new(n + 1, c))
        };
        NormalEquations {
            kind,
            n,
            eps: 0.0,
            raised: 0,
        }
    }

    /// Factorises S = AᴴA + εI from the lower half of EᵀE (k × k).
    ///
    /// A pivot that fails raises ε tenfold; a Gram matrix or a ridge that is not finite is an error.
    pub fn factor(&mut self, gram: MatRef<'_, f64>, ridge: Ridge) -> Result<()> {
        let hidden = if matches!(self.kind, Kind::Complex(_)) {
            2 * self.n
        } else {
            self.n
        };
        let trace: f64 = (0..hidden).map(|l| gram[(l, l)]).sum();
        let largest = (0..gram.nrows()).map(|l| gram[(l, l)]).fold(0.0, f64::max);
        if !trace.is_finite() || !largest.is_finite() {
            let advice = "lower the learning rate or the scale of the inputs";
            return Err(Error::Diverged {
                what: "the design matrix",
                step: 0,
                advice,
            });
        }
        self.eps = match ridge {
            Ridge::Relative(rho) => rho * trace / self.n as f64,
            Ridge::Absolute(eps) => eps,
        };
        // Below this a ridge changes no bit of the diagonal, so raising it would not help.
        let floor = (0.5 * f64::EPSILON * largest).max(f64::MIN_POSITIVE / f64::EPSILON);
        loop {
            if self.try_factor(gram) {
                return Ok(());
            }
            // Even the largest did not help, or it was too large to begin with.
            if !self.eps.is_finite() {
                return Err(Error::Diverged {
                    what: "the ridge",
                    step: 0,
                    advice: "give a smaller ridge, or scale the inputs",
                });
            }
            self.eps = (10.0 * self.eps).max(floor);
            self.raised += 1;
        }
    }

    fn try_factor(&mut self, gram: MatRef<'_, f64>) -> bool {
        let (n, eps) = (self.n, self.eps);
        match &mut self.kind {
            Kind::Real(cholesky) => {
                cholesky.l.copy_from_triangular_lower(gram);
                for l in 0..gram.nrows() {
                    cholesky.l[(l, l)] += eps;
                }
                cholesky.factor()
            }
            Kind::Complex(cholesky) => {
                // (AᴴA)[i,j] = Σ conj(a_i) a_j with a = cos + i sin, for i ≥ j.
                for j in 0..n {
                    for i in j..n {
                        let re = gram[(i, j)] + gram[(n + i, n + j)];
                        let im = gram[(n + j, i)] - gram[(n + i, j)];
                        cholesky.l[(i, j)] = c64::new(re, im);
                    }
                    cholesky.l[(j, j)].re += eps;
                }
                cholesky.factor()
            }
        }
    }

    /// Overwrites `planes` (k × c) by S⁻¹ times it.
    pub fn solve(&mut self, mut planes: MatMut<'_, f64>) {
        let n = self.n;
        match &mut self.kind {
            Kind::Real(cholesky) => {
                cholesky.rhs.copy_from(planes.as_ref());
                cholesky.solve();
                planes.copy_from(&cholesky.rhs);
            }
            Kind::Complex(cholesky) => {
                for o in 0..planes.ncols() {
                    for l in 0..n {
                        cholesky.rhs[(l, o)] = c64::new(planes[(l, o)], planes[(n + l, o)]);
                    }
                }
                cholesky.solve();
                for o in 0..planes.ncols() {
                    for l in 0..n {
                        planes[(l, o)] = cholesky.rhs[(l, o)].re;
                        planes[(n + l, o)] = cholesky.rhs[(l, o)].im;
                    }
                }
            }
        }
    }
}
