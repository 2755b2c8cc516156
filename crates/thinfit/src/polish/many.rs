//! The polish on many rows: the same steps as in `polish`, from rows that are reduced block by block on all threads.
//!
//! With the triangle of \[A | G | y\], whose columns are the features, Kaufman's Jacobian G[:, (l,j)] = Φ′(t_l)/n · b_l · x_j and the outputs,
//!
//! ```text
//! R = ⎡ R_A  R_AG  z_A ⎤
//!     ⎢      R_G   z_G ⎥
//!     ⎣             ρ  ⎦
//! ```
//!
//! the rows below those of A are the projected problem: J = R_G, r = −z_G. So a step takes one pass over the rows and
//! constant memory. Real problems only (see `Form::Real`), without geodesic acceleration.

use super::step::Linearised;
use crate::data::rows::Rows;
use crate::network::features::planes;
use crate::network::planes::slope;
use crate::network::support::Support;
use crate::solve::householder::Qr;
use crate::solve::stacked::{Form, stack, stack_both};
use crate::solve::tsqr::{TsqrFactor, TsqrTree};
use crate::{Activation, Dataset, Network};
use faer::{Mat, MatRef};

/// Rows that are factored together: more than for a solve, since the triangles are larger.
const PIECE: usize = 8192;
/// Trials in one step before it gives up.
const TRIALS: usize = 8;
/// The damping of the first step.
const DAMPING: f64 = 1e-2;

/// A polish of many rows, in scaled units.
pub(crate) struct Many<'a> {
    pub activation: Activation,
    pub data: &'a Dataset,
    /// τ = κ · s_max(A).
    pub kappa: f64,
}

/// Hidden weights with their output weights (p × c).
struct Point {
    w: Mat<f64>,
    b: Mat<f64>,
    objective: f64,
    tau: f64,
}

impl Many<'_> {
    /// The network after at most `steps` steps from the hidden weights `w`, whose zeros stay; `go_on` is asked before each. None
    /// where nothing can be evaluated.
    pub fn run(&self, w: Mat<f64>, steps: usize, go_on: &dyn Fn() -> bool) -> Option<Network> {
        let support = Support::of(w.as_ref());
        let mut point = self.evaluate(w, None)?;
        let mut mu = DAMPING;
        for _ in 0..steps {
            if !go_on() {
                break;
            }
            match self.descend(&point, support.entries(), &mut mu) {
                Some(next) => point = next,
                None => break,
            }
        }
        Some(Network {
            activation: self.activation,
            hidden: point.w,
            output: point.b,
        })
    }

    /// A point with a smaller φ; none where no damping finds one.
    fn descend(&self, point: &Point, free: &[(usize, usize)], mu: &mut f64) -> Option<Point> {
        let (jacobian, residual) = self.jacobian(point, free)?;
        let mut linearised = Linearised::new(jacobian, &residual)?;
        linearised.descend(mu, TRIALS, |linearised, step| {
            let mut w = point.w.clone();
            for (&entry, delta) in free.iter().zip(linearised.delta(step)) {
                w[entry] += delta;
            }
            let trial = self.evaluate(w, Some(point.tau));
            trial.filter(|trial| trial.objective < point.objective)
        })
    }

    /// b and φ at `w`, none where they are not finite; τ is that of the first point.
    fn evaluate(&self, w: Mat<f64>, tau: Option<f64>) -> Option<Point> {
        let p = self.activation.columns(w.nrows());
        let all = self.factored(|rows| {
            let e = planes(self.activation, rows.x, w.as_ref());
            stack_both(self.activation, Form::Real, e.as_ref(), rows.y, None)
        })?;
        let tau = tau.unwrap_or_else(|| {
            let a = all.as_ref().subcols(0, p).to_owned();
            self.kappa * Qr::new(a).largest_singular_value(12)
        });
        let r = damped(&all, p, tau).triangle();
        let (k, c) = (r.ncols(), self.data.y.ncols());
        let mut b = r.as_ref().submatrix(0, p, p, c).to_owned();
        faer::linalg::triangular_solve::solve_upper_triangular_in_place(
            r.as_ref().submatrix(0, 0, p, p),
            b.as_mut(),
            faer::Par::Seq,
        );
        let objective = r.as_ref().submatrix(p, p, k - p, c).squared_norm_l2();
        (objective.is_finite() && b.is_all_finite()).then_some(Point {
            w,
            b,
            objective,
            tau,
        })
    }

    /// J and r of the projected problem at a point; none where they are not finite.
    fn jacobian(&self, point: &Point, free: &[(usize, usize)]) -> Option<(Mat<f64>, Vec<f64>)> {
        let (p, c, k) = (point.b.nrows(), point.b.ncols(), free.len());
        if self.data.samples() <= p + k {
            return None;
        }
        let mut jacobian = Mat::zeros(c * k, k);
        let mut residual = Vec::with_capacity(c * k);
        for o in 0..c {
            let all = self.factored(|rows| {
                let e = planes(self.activation, rows.x, point.w.as_ref());
                let a = stack(self.activation, Form::Real, e.as_ref(), None, 0);
                let g = self.slopes(rows, e.as_ref(), (point, o), free);
                side_by_side(&[a.as_ref(), g.as_ref(), rows.y.subcols(o, 1)])
            })?;
            let r = damped(&all, p, point.tau).triangle();
            jacobian
                .as_mut()
                .subrows_mut(o * k, k)
                .copy_from(r.as_ref().submatrix(p, p, k, k));
            residual.extend((p..p + k).map(|i| -r[(i, p + k)]));
        }
        Some((jacobian, residual))
    }

    /// G of one output at some rows (rows × entries).
    fn slopes(
        &self,
        rows: &Rows<'_>,
        e: MatRef<'_, f64>,
        (point, o): (&Point, usize),
        free: &[(usize, usize)],
    ) -> Mat<f64> {
        let mut g = Mat::zeros(rows.len(), free.len());
        let (mut slopes, mut current) = (vec![0.0; rows.len()], None);
        for (i, &(l, j)) in free.iter().enumerate() {
            if current != Some(l) {
                current = Some(l);
                slope(self.activation, e, point.b.as_ref(), (l, o), &mut slopes);
            }
            let out = g.col_as_slice_mut(i).iter_mut().zip(&slopes);
            if j < rows.x.ncols() {
                let x = rows.x.col(j);
                out.zip(x.iter()).for_each(|((out, s), x)| *out = s * x);
            } else {
                out.for_each(|(out, s)| *out = *s);
            }
        }
        g
    }

    /// The triangle of the rows that `of` makes of the samples; none if they are too few or not finite.
    fn factored(&self, of: impl Fn(&Rows<'_>) -> Mat<f64> + Sync) -> Option<Mat<f64>> {
        let all = Rows::of(self.data);
        let leaf = |k: u64| {
            let start = k as usize * PIECE;
            TsqrFactor::rows(&all.slice(start, PIECE.min(all.len() - start)), &of)
        };
        let tree = TsqrTree::of(0..all.len().div_ceil(PIECE) as u64, &leaf);
        let all = tree.finish()?.into_matrix();
        (all.is_all_finite() && all.nrows() >= all.ncols()).then_some(all)
    }
}

/// The QR of a triangle with τI under its first `p` columns.
fn damped(all: &Mat<f64>, p: usize, tau: f64) -> Qr {
    let (k, tau) = (all.ncols(), if tau > 0.0 { tau } else { 1.0 });
    let mut rows = Mat::zeros(all.nrows() + p, k);
    rows.as_mut().subrows_mut(0, all.nrows()).copy_from(all);
    (0..p).for_each(|i| rows[(all.nrows() + i, i)] = tau);
    Qr::new(rows)
}

/// Matrices side by side.
fn side_by_side(parts: &[MatRef<'_, f64>]) -> Mat<f64> {
    let columns = parts.iter().map(|part| part.ncols()).sum();
    let mut all = Mat::zeros(parts[0].nrows(), columns);
    let mut first = 0;
    for part in parts {
        let place = all.as_mut().subcols_mut(first, part.ncols());
        { place }.copy_from(part);
        first += part.ncols();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::features::{Padded, PaddedRows};
    use crate::polish::Projection;

    fn data(m: usize, outputs: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| 0.5 * ((31 * i + 17 * j) as f64).sin());
        let y = |i: usize, o: usize| (3.0 * x[(i, 0)] + o as f64).cos() + x[(i, 1)].powi(3);
        let y = Mat::from_fn(m, outputs, y);
        Dataset::new(x, y).unwrap()
    }

    fn start() -> Mat<f64> {
        let entry = |l: usize, j: usize| 0.4 * ((5 * l + 3 * j + 1) as f64).sin();
        // One entry is zero and stays so.
        Mat::from_fn(
            5,
            2,
            |l, j| if (l, j) == (2, 1) { 0.0 } else { entry(l, j) },
        )
    }

    #[test]
    fn objective_and_gradient_are_those_of_differences() {
        for outputs in [1, 2] {
            let data = data(20_000, outputs);
            let many = Many {
                activation: Activation::Fourier,
                data: &data,
                kappa: 1e-6,
            };
            let point = many.evaluate(start(), None).unwrap();
            let support = Support::of(point.w.as_ref());
            let free = support.entries();
            assert_eq!(free.len(), 9);
            let (jacobian, residual) = many.jacobian(&point, free).unwrap();
            for (k, &at) in free.iter().enumerate() {
                let product = jacobian.col(k).iter().zip(&residual).map(|(j, r)| j * r);
                let gradient = 2.0 * product.sum::<f64>();
                let moved = |h: f64| {
                    let mut w = point.w.clone();
                    w[at] += h;
                    many.evaluate(w, Some(point.tau)).unwrap().objective
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let close = 1e-6 * point.objective.max(gradient.abs());
                assert!((gradient - numeric).abs() < close, "{gradient} {numeric}");
            }
        }
    }

    #[test]
    fn a_step_is_that_of_the_polish_of_few_rows() {
        let data = data(9000, 2);
        let many = Many {
            activation: Activation::Fourier,
            data: &data,
            kappa: 1e-6,
        };
        let point = many.evaluate(start(), None).unwrap();
        let padded = Padded::new(Activation::Fourier, data.x.as_ref());
        let rows: PaddedRows<'_> = Rows::of(&data).with_inputs(padded.as_ref());
        let support = Support::of(point.w.as_ref());
        let few = Projection::new(Activation::Fourier, Form::Real, &rows, &support);
        let other = few.evaluate(start(), point.tau).unwrap();
        assert!((other.objective - point.objective).abs() < 1e-9 * other.objective);
        let (jacobian, residual) = many.jacobian(&point, support.entries()).unwrap();
        let [ours, theirs] = [Linearised::new(jacobian, &residual), few.linearise(&other)];
        let step = |linearised: Option<Linearised>| {
            let mut linearised = linearised.unwrap();
            let step = linearised.solve(1e-2);
            linearised.delta(&step)
        };
        for (ours, theirs) in step(ours).iter().zip(step(theirs)) {
            assert!(
                (ours - theirs).abs() < 1e-8 * (1.0 + theirs.abs()),
                "{ours} {theirs}"
            );
        }
    }

    #[test]
    fn threads_change_no_bit_and_zeros_stay() {
        let data = data(40_000, 1);
        let many = Many {
            activation: Activation::Fourier,
            data: &data,
            kappa: 1e-10,
        };
        let [one, two] = [1, 2].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build()
                .unwrap()
                .install(|| many.run(start(), 4, &|| true).unwrap())
        });
        assert!(one.hidden == two.hidden && one.output == two.output);
        assert_eq!(one.hidden[(2, 1)], 0.0);
        let objective = |w: Mat<f64>| many.evaluate(w, None).unwrap().objective;
        assert!(objective(one.hidden) < 0.1 * objective(start()));
    }
}
