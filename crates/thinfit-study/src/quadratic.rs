//! Convex quadratic programs, min ½xᵀBx + gᵀx under linear inequalities (faces), by the dual method of Goldfarb and
//! Idnani.
//!
//! It starts at the unconstrained minimum and adds violated faces one by one, so it needs no feasible point and
//! detects infeasibility. With B = LLᵀ and N the normals of the active faces, L⁻¹N = QR; a step towards face n moves
//! x by z = L⁻ᵀ(I − QQᵀ)L⁻¹n and the multipliers of the active faces by −R⁻¹QᵀL⁻¹n. Sizes are tens, so plain loops
//! suffice.

use thinfit::Mat;
use thinfit::pieces::dot;

/// Violation that counts as none, for normals of length about one and coordinates from 0 to 1.
const ROUNDING: f64 = 1e-13;

/// normal·x ≥ bound, or = bound.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    pub normal: Vec<f64>,
    pub bound: f64,
    pub equal: bool,
}

/// A minimum, and a multiplier for each face.
pub(crate) struct Solution {
    pub x: Vec<f64>,
    pub multipliers: Vec<f64>,
}

/// a + t b, in place.
fn add(a: &mut [f64], t: f64, b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += t * b);
}

/// L with LLᵀ = B (n × n); none where B is not positive definite.
pub(crate) fn cholesky(b: &Mat<f64>) -> Option<Mat<f64>> {
    let n = b.nrows();
    let mut l = Mat::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[(i, k)] * l[(j, k)]).sum();
            let rest = b[(i, j)] - sum;
            l[(i, j)] = match i == j {
                true if rest > 0.0 && rest.is_finite() => rest.sqrt(),
                true => return None,
                false => rest / l[(j, j)],
            };
        }
    }
    Some(l)
}

/// L⁻¹v.
fn forward(l: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    let mut x = v.to_vec();
    for i in 0..x.len() {
        let sum: f64 = (0..i).map(|k| l[(i, k)] * x[k]).sum();
        x[i] = (x[i] - sum) / l[(i, i)];
    }
    x
}

/// L⁻ᵀv.
fn backward(l: &Mat<f64>, v: &[f64]) -> Vec<f64> {
    let mut x = v.to_vec();
    for i in (0..x.len()).rev() {
        let sum: f64 = (i + 1..x.len()).map(|k| l[(k, i)] * x[k]).sum();
        x[i] = (x[i] - sum) / l[(i, i)];
    }
    x
}

/// The active faces: which, with what sign, their multipliers, and QR of L⁻¹N.
#[derive(Default)]
struct Active {
    faces: Vec<(usize, f64)>,
    multipliers: Vec<f64>,
    q: Vec<Vec<f64>>,
    /// Column k has k + 1 entries.
    r: Vec<Vec<f64>>,
}

impl Active {
    /// Qᵀv, and what Q leaves of v; twice, for orthogonality to rounding.
    fn split(&self, v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut parts, mut rest) = (vec![0.0; self.q.len()], v.to_vec());
        for _ in 0..2 {
            for (part, q) in parts.iter_mut().zip(&self.q) {
                let by = dot(q, &rest);
                *part += by;
                add(&mut rest, -by, q);
            }
        }
        (parts, rest)
    }

    /// R⁻¹v.
    fn solve(&self, v: &[f64]) -> Vec<f64> {
        let mut x = v.to_vec();
        for i in (0..x.len()).rev() {
            let sum: f64 = (i + 1..x.len()).map(|k| self.r[k][i] * x[k]).sum();
            x[i] = (x[i] - sum) / self.r[i][i];
        }
        x
    }

    fn push(&mut self, face: (usize, f64), multiplier: f64, normal: &[f64]) {
        let (mut parts, rest) = self.split(normal);
        let length = dot(&rest, &rest).sqrt();
        parts.push(length);
        self.q.push(rest.iter().map(|v| v / length).collect());
        self.r.push(parts);
        self.faces.push(face);
        self.multipliers.push(multiplier);
    }

    /// Without active face `k`; `normal` gives L⁻¹n of a face.
    fn without(self, k: usize, normal: impl Fn(usize, f64) -> Vec<f64>) -> Self {
        let mut rest = Active::default();
        let faces = self.faces.into_iter().zip(self.multipliers).enumerate();
        for (_, ((face, sign), multiplier)) in faces.filter(|(at, _)| *at != k) {
            rest.push((face, sign), multiplier, &normal(face, sign));
        }
        rest
    }
}

/// The minimum for B = LLᵀ; `None` if no point satisfies the faces.
pub(crate) fn solve(l: &Mat<f64>, g: &[f64], faces: &[Face]) -> Option<Solution> {
    let minus: Vec<f64> = g.iter().map(|g| -g).collect();
    let mut x = backward(l, &forward(l, &minus));
    let mut active = Active::default();
    let scaled = |face: usize, sign: f64| {
        let normal: Vec<f64> = faces[face].normal.iter().map(|v| sign * v).collect();
        forward(l, &normal)
    };
    let mut settled = vec![false; faces.len()];
    for _ in 0..20 * (g.len() + faces.len()) {
        let slack = |face: &Face| dot(&face.normal, &x) - face.bound;
        // Equalities first, since they stay active; then the most violated face.
        let violated = |k: usize| match &faces[k] {
            face if face.equal => f64::NEG_INFINITY,
            face => slack(face) / (1.0 + face.bound.abs()),
        };
        let open = (0..faces.len()).filter(|k| !settled[*k]);
        let worst = open.min_by(|a, b| violated(*a).total_cmp(&violated(*b)));
        let Some(worst) = worst.filter(|k| violated(*k) < -ROUNDING) else {
            let mut multipliers = vec![0.0; faces.len()];
            for ((face, sign), multiplier) in active.faces.iter().zip(&active.multipliers) {
                multipliers[*face] = sign * multiplier;
            }
            return Some(Solution { x, multipliers });
        };
        let face = &faces[worst];
        let sign = if face.equal && slack(face) > 0.0 {
            -1.0
        } else {
            1.0
        };
        let normal = scaled(worst, sign);
        let (mut missing, mut multiplier) = (-sign * slack(face), 0.0);
        loop {
            let (parts, rest) = active.split(&normal);
            let change = active.solve(&parts);
            let free = dot(&rest, &rest);
            let dependent = free <= 1e-20 * dot(&normal, &normal);
            if dependent && face.equal && missing.abs() <= 1e3 * ROUNDING * (1.0 + face.bound.abs())
            {
                // It depends on the others.
                settled[worst] = true;
                break;
            }
            let full = if dependent {
                f64::INFINITY
            } else {
                missing / free
            };
            let gives = |k: &usize| !faces[active.faces[*k].0].equal && change[*k] > 0.0;
            let ratio = |k: usize| active.multipliers[k] / change[k];
            let first = (0..change.len())
                .filter(gives)
                .min_by(|a, b| ratio(*a).total_cmp(&ratio(*b)));
            let until = first.map_or(f64::INFINITY, ratio);
            let step = full.min(until);
            if step.is_infinite() {
                return None;
            }
            if !dependent {
                add(&mut x, step, &backward(l, &rest));
                missing -= step * free;
            }
            add(&mut active.multipliers, -step, &change);
            multiplier += step;
            if full <= until {
                active.push((worst, sign), multiplier, &normal);
                settled[worst] = true;
                break;
            }
            if let Some(k) = first {
                settled[active.faces[k].0] = false;
                active = active.without(k, scaled);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn face(normal: &[f64], bound: f64, equal: bool) -> Face {
        Face {
            normal: normal.to_vec(),
            bound,
            equal,
        }
    }

    #[test]
    fn a_known_program_is_solved_and_an_empty_one_is_told() {
        // The point of x + y = 1, x ≥ 0.7 that is nearest to the origin.
        let l = Mat::identity(2, 2);
        let faces = [face(&[1.0, 0.0], 0.7, false), face(&[1.0, 1.0], 1.0, true)];
        let found = solve(&l, &[0.0, 0.0], &faces).unwrap();
        assert!((found.x[0] - 0.7).abs() < 1e-15 && (found.x[1] - 0.3).abs() < 1e-15);
        let twice = [&faces[..], &[face(&[2.0, 2.0], 2.0, true)]].concat();
        assert!(solve(&l, &[0.0, 0.0], &twice).is_some());
        let none = [&faces[..], &[face(&[-1.0, 0.0], -0.6, false)]].concat();
        assert!(solve(&l, &[0.0, 0.0], &none).is_none());
        let none = [&faces[..], &[face(&[1.0, 1.0], 2.0, true)]].concat();
        assert!(solve(&l, &[0.0, 0.0], &none).is_none());
    }

    proptest! {
        /// Bx + g = Σ u n, u ≥ 0, no face violated, u = 0 away from a face.
        #[test]
        fn the_conditions_of_a_minimum_hold(
            entries in prop::collection::vec(-1.0..1.0_f64, 25),
            g in prop::collection::vec(-3.0..3.0_f64, 5),
            normals in prop::collection::vec(-1.0..1.0_f64, 15),
        ) {
            let a = Mat::from_fn(5, 5, |i, j| entries[5 * i + j]);
            let b = &a * a.transpose() + 0.1 * Mat::<f64>::identity(5, 5);
            let l = cholesky(&b).unwrap();
            let mut faces: Vec<Face> = Vec::new();
            for j in 0..5 {
                let unit = |sign: f64| -> Vec<f64> { (0..5).map(|k| if k == j { sign } else { 0.0 }).collect() };
                faces.push(face(&unit(1.0), 0.0, false));
                faces.push(face(&unit(-1.0), -1.0, false));
            }
            for (k, normal) in normals.chunks(5).enumerate() {
                // They pass through the middle of the box, which stays feasible.
                let length = dot(normal, normal).sqrt().max(1e-3);
                let normal: Vec<f64> = normal.iter().map(|v| v / length).collect();
                let bound = 0.5 * normal.iter().sum::<f64>();
                faces.push(face(&normal, bound, k == 0));
            }
            let found = solve(&l, &g, &faces).unwrap();
            for i in 0..5 {
                let slope: f64 = g[i] + (0..5).map(|j| b[(i, j)] * found.x[j]).sum::<f64>();
                let held: f64 = faces.iter().zip(&found.multipliers).map(|(f, u)| u * f.normal[i]).sum();
                prop_assert!((slope - held).abs() < 1e-9, "{} {}", slope, held);
            }
            for (face, u) in faces.iter().zip(&found.multipliers) {
                let slack = dot(&face.normal, &found.x) - face.bound;
                prop_assert!(slack > -1e-11 && (slack < 1e-11 || !face.equal));
                prop_assert!(face.equal || *u > -1e-9);
                prop_assert!(u.abs() < 1e-9 || slack.abs() < 1e-10);
            }
        }
    }
}
