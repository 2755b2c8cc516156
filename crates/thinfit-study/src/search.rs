//! Local minimisation of the maximum of several functions under linear inequalities: sequential quadratic
//! programming.
//!
//! With values f_i and gradients g_i, the step p from t solves
//!
//! which for one function is a quasi-Newton step. B approximates the curvature of the active functions by damped BFGS
//! updates. Curved bounds are replaced by their tangents, and every point on the way is projected back onto them.
//!
//! which for one function is a quasi-Newton step. B follows the curvature of the functions that hold the step, by damped BFGS
//! updates. Faces of curved bounds are their tangents, and every point on the way is brought back to the bounds.

use crate::quadratic::{Face, cholesky, solve};
use thinfit::Mat;
use thinfit::pieces::dot;

/// Maximum number of steps.
const STEPS: usize = 200;
/// Change of the value, relative to its range, that counts as none.
const STILL: f64 = 1e-15;
/// Rounding errors of the values, relative to their range: below it slopes decide.
const ROUNDING: f64 = 1e-11;
/// Length of the first step.
const FIRST: f64 = 0.1;

/// A function's value and gradient.
pub(crate) type Slope = (f64, Vec<f64>);

/// A local minimum.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub t: Vec<f64>,
    pub value: f64,
}

fn largest(functions: &[Slope]) -> f64 {
    let values = functions.iter().map(|f| f.0);
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// The bounds of a search.
pub(crate) trait Bounds {
    /// The faces at a point inside, of which the first 2n are those of the unit cube: what is curved by its tangents.
    fn faces(&self, t: &[f64]) -> Option<Vec<Face>>;
    /// A point inside, near `t`; `None` if there is none.
    fn restored(&self, t: Vec<f64>) -> Option<Vec<f64>>;
}

/// Descends from `t`, a point inside the bounds. `range` is the size of the
/// functions' changes over the cube. `functions` returns none where there is no value.
pub(crate) fn descend(
    functions: impl Fn(&[f64]) -> Option<Vec<Slope>>,
    t: Vec<f64>,
    bounds: &impl Bounds,
    range: f64,
) -> Option<Found> {
    let n = t.len();
    let mut now = functions(&t)?;
    let mut t = t;
    let (mut curvature, mut fresh) = (Mat::<f64>::zeros(n, n), true);
    let mut idle = 0;
    for _ in 0..if n == 0 { 0 } else { STEPS } {
        if fresh {
            let steepest = now.iter().map(|f| dot(&f.1, &f.1).sqrt());
            let steepest = steepest.fold(1e-9 * range, f64::max).max(1e-300);
            curvature = multiple(n, steepest / FIRST);
        }
        let phi = largest(&now);
        let faces = bounds.faces(&t);
        let step = faces.and_then(|faces| step(&curvature, &now, &t, &faces, range));
        let Some((p, shares)) = step else {
            break;
        };
        let ahead = now.iter().map(|f| f.0 + dot(&f.1, &p));
        let fall = phi - ahead.fold(f64::NEG_INFINITY, f64::max);
        let longest = p.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
        if fall <= STILL * range || longest < 1e-14 {
            break;
        }
        let Some((next, functions)) =
            shorten(&functions, bounds, (&t, &p), (&now, phi, fall), range)
        else {
            // Once more without memory, then the search ends.
            if fresh {
                break;
            }
            fresh = true;
            continue;
        };
        let moved: Vec<f64> = next.iter().zip(&t).map(|(new, old)| new - old).collect();
        let mut bend = vec![0.0; n];
        for ((new, old), share) in functions.iter().zip(&now).zip(&shares) {
            for (bend, (new, old)) in bend.iter_mut().zip(new.1.iter().zip(&old.1)) {
                *bend += share * (new - old);
            }
        }
        update(&mut curvature, &moved, bend, fresh);
        fresh = false;
        idle = match phi - largest(&functions) <= STILL * range {
            true => idle + 1,
            false => 0,
        };
        (t, now) = (next, functions);
        if idle >= 3 {
            break;
        }
    }
    let value = largest(&now);
    Some(Found { t, value })
}

/// The step, and the multiplier of each function; these add up to about 1.
fn step(
    curvature: &Mat<f64>,
    now: &[Slope],
    t: &[f64],
    faces: &[Face],
    range: f64,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let (n, phi) = (t.len(), largest(now));
    let several = usize::from(now.len() > 1);
    let wide = n + several;
    let ahead = |face: &Face| {
        let mut normal = face.normal.clone();
        normal.resize(wide, 0.0);
        Face {
            normal,
            bound: face.bound - dot(&face.normal, t),
            equal: face.equal,
        }
    };
    let mut all: Vec<Face> = faces.iter().map(ahead).collect();
    if several == 0 {
        let found = solve(&cholesky(curvature)?, &now[0].1, &all)?;
        return Some((found.x, vec![1.0]));
    }
    // s has a curvature of its own, which the program needs and the minimum, with s = 0, does not feel.
    let b = Mat::from_fn(wide, wide, |i, j| match (i < n && j < n, i == j) {
        (true, _) => curvature[(i, j)],
        (false, true) => 1.0 / range,
        (false, false) => 0.0,
    });
    let mut g = vec![0.0; wide];
    g[n] = 1.0;
    for (value, gradient) in now {
        let mut normal: Vec<f64> = gradient.iter().map(|g| -g).collect();
        normal.push(1.0);
        all.push(Face {
            normal,
            bound: value - phi,
            equal: false,
        });
    }
    let mut found = solve(&cholesky(&b)?, &g, &all)?;
    found.x.pop();
    Some((found.x, found.multipliers[faces.len()..].to_vec()))
}

/// The step or a part of it that lowers the value enough.
fn shorten(
    functions: &impl Fn(&[f64]) -> Option<Vec<Slope>>,
    bounds: &impl Bounds,
    (t, p): (&[f64], &[f64]),
    (now, phi, fall): (&[Slope], f64, f64),
    range: f64,
) -> Option<(Vec<f64>, Vec<Slope>)> {
    let mut part = 1.0;
    for _ in 0..30 {
        let place = |(t, p): (&f64, &f64)| (t + part * p).clamp(0.0, 1.0);
        // A step is long compared with its rounding errors if the functions are steep.
        let next = bounds.restored(t.iter().zip(p).map(place).collect());
        let found = next.and_then(|next| Some((functions(&next)?, next)));
        let value = found
            .as_ref()
            .map_or(f64::INFINITY, |found| largest(&found.0));
        if let Some((found, next)) = found {
            let enough = value <= phi - 1e-4 * part * fall;
            // If values differ only by rounding, a shrinking slope indicates descent.
            let level = now.len() == 1
                && value - phi <= ROUNDING * range
                && dot(&found[0].1, p).abs() <= 0.9 * dot(&now[0].1, p).abs();
            if enough || level {
                return Some((next, found));
            }
        }
        part *= match value.is_finite() {
            // The minimum of the parabola through both values and the slope, kept away from both ends.
            true => (0.5 * part * fall / (value - phi + part * fall)).clamp(0.1, 0.5),
            false => 0.2,
        };
    }
    None
}

/// The BFGS update of B by `moved` and the change of the gradient, damped so that B stays positive definite.
fn update(b: &mut Mat<f64>, moved: &[f64], mut bend: Vec<f64>, first: bool) {
    let n = moved.len();
    let along = dot(moved, &bend);
    if first && along > 0.0 {
        *b = multiple(n, dot(&bend, &bend) / along);
    }
    let bs: Vec<f64> = (0..n)
        .map(|i| (0..n).map(|j| b[(i, j)] * moved[j]).sum())
        .collect();
    let (sbs, along) = (dot(moved, &bs), dot(moved, &bend));
    if !(sbs > 0.0 && sbs.is_finite() && along.is_finite()) {
        return;
    }
    if along < 0.2 * sbs {
        let keep = 0.8 * sbs / (sbs - along);
        for (bend, bs) in bend.iter_mut().zip(&bs) {
            *bend = keep * *bend + (1.0 - keep) * bs;
        }
    }
    let along = dot(moved, &bend);
    for j in 0..n {
        for i in 0..n {
            b[(i, j)] += bend[i] * bend[j] / along - bs[i] * bs[j] / sbs;
        }
    }
}

/// `by` times the identity (n × n).
fn multiple(n: usize, by: f64) -> Mat<f64> {
    Mat::from_fn(n, n, |i, j| if i == j { by } else { 0.0 })
}

/// The faces of the unit cube (2n).
pub(crate) fn cube(n: usize) -> Vec<Face> {
    let face = |j: usize, sign: f64, bound: f64| Face {
        normal: (0..n).map(|k| if k == j { sign } else { 0.0 }).collect(),
        bound,
        equal: false,
    };
    (0..n)
        .flat_map(|j| [face(j, 1.0, 0.0), face(j, -1.0, -1.0)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Faces that are flat.
    struct Flat(Vec<Face>);

    impl Bounds for Flat {
        fn faces(&self, _: &[f64]) -> Option<Vec<Face>> {
            Some(self.0.clone())
        }
        fn restored(&self, t: Vec<f64>) -> Option<Vec<f64>> {
            Some(t)
        }
    }

    /// Rosenbrock's function with the end of its valley at (0.6, 0.36).
    fn valley(t: &[f64]) -> Slope {
        let (a, b) = (t[0] - 0.6, t[1] - t[0] * t[0]);
        let gradient = vec![2.0 * a - 400.0 * b * t[0], 200.0 * b];
        (a * a + 100.0 * b * b, gradient)
    }

    #[test]
    fn the_end_of_a_curved_valley_is_found_to_rounding() {
        let found = descend(
            |t| Some(vec![valley(t)]),
            vec![0.1, 0.9],
            &Flat(cube(2)),
            1.0,
        )
        .unwrap();
        assert!(found.value < 1e-15, "{found:?}");
    }

    #[test]
    fn the_minimum_on_a_face_lies_on_it_to_rounding() {
        // t0 + t1 ≤ 0.5: the root of the derivative along the face, found by bisection.
        let mut faces = cube(2);
        faces.push(Face {
            normal: vec![-1.0, -1.0],
            bound: -0.5,
            equal: false,
        });
        let found = descend(|t| Some(vec![valley(t)]), vec![0.1, 0.1], &Flat(faces), 1.0).unwrap();
        let slope = |u: f64| {
            let g = valley(&[u, 0.5 - u]).1;
            g[0] - g[1]
        };
        let (mut low, mut high) = (0.2, 0.5);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            *(if slope(middle) > 0.0 {
                &mut high
            } else {
                &mut low
            }) = middle;
        }
        assert!((found.t[0] + found.t[1] - 0.5).abs() < 1e-15);
        assert!((found.t[0] - low).abs() < 1e-8, "{found:?} {low}");
    }

    #[test]
    fn the_largest_of_two_functions_is_lowered_to_where_they_meet() {
        let bowl = |t: &[f64], centre: [f64; 2]| -> Slope {
            let apart = [t[0] - centre[0], t[1] - centre[1]];
            (dot(&apart, &apart), apart.map(|a| 2.0 * a).to_vec())
        };
        let both = |t: &[f64]| Some(vec![bowl(t, [0.2, 0.2]), bowl(t, [0.8, 0.4])]);
        let found = descend(both, vec![0.9, 0.9], &Flat(cube(2)), 1.0).unwrap();
        // Half way between the centres.
        assert!((found.value - 0.1).abs() < 1e-12, "{found:?}");
        assert!((found.t[0] - 0.5).abs() < 1e-6 && (found.t[1] - 0.3).abs() < 1e-6);
    }
}
