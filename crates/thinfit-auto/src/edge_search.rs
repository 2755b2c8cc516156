//! The search for hyperplanes across which a function jumps or bends.
//!
//! With C = K + gI of a smooth process, adding w h hᵀ to C for a feature h of the rows raises the likelihood, at the
//! best w, as if the share r of the variance that C leaves unexplained were removed:
//!
//! ```text
//! r = (hᵀα)²/(hᵀQh · S)      S = (y − μ)ᵀα      Q = C⁻¹ − C⁻¹11ᵀC⁻¹/1ᵀC⁻¹1      α = C⁻¹(y − μ)
//! gain = −½ m ln(1 − pr) + ½ ln(1 − p)          p = (mr − 1)/((m − 1) r), at least 0
//! ```
//!
//! That costs m² per hyperplane, so many can be tried. The search proceeds from wide steps to narrow ones. Hard steps,
//! whose likelihood does not depend on the position between two rows, then decide which inputs a hyperplane needs; wide
//! steps, which keep away from rows, decide its position.

use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use thinfit::Dataset;
use thinfit::pieces::{Purpose, dot, product, stream};
use thinfit_gp::pieces::threads;
use thinfit_gp::pieces::{cholesky, inverse, solve, with_ridge};
use thinfit_gp::{Crossing, Edge, Kernel};

/// Steepnesses that a climb goes through, in multiples of the range of an input.
pub(crate) const STEEPNESS: [f64; 5] = [4.0, 8.0, 16.0, 32.0, 64.0];
/// Steps of a climb at each of them.
const STEPS: usize = 15;
/// Hyperplanes that start to climb.
const CLIMBERS: usize = 24;
/// Numbers in the hyperplanes among which these are looked for at a time.
const AT_ONCE: usize = 1 << 24;
/// Least share of the rows on either side of a hyperplane.
pub(crate) const SIDE: f64 = 0.05;
/// Weight of the wide step beside the hard one.
const WIDE: f64 = 0.05;

/// A hyperplane ⟨v, x⟩ = t with |v| = 1, in scaled inputs.
#[derive(Clone, Debug)]
pub(crate) struct Hyperplane {
    pub v: Vec<f64>,
    pub t: f64,
}

impl Hyperplane {
    pub fn of(edge: &Edge) -> (Self, f64) {
        let steepness = edge.direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        let hyperplane = Hyperplane {
            v: edge.direction.clone(),
            t: edge.offset,
        };
        (hyperplane.normalised(), steepness)
    }

    pub fn normalised(mut self) -> Self {
        let size = self.v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let size = size.max(f64::MIN_POSITIVE);
        self.v.iter_mut().for_each(|v| *v /= size);
        self.t /= size;
        self
    }

    /// The hyperplane moved by `size` along one coordinate: an input's, or the offset's after them.
    pub fn moved(&self, coordinate: usize, size: f64) -> Self {
        let mut hyperplane = self.clone();
        match hyperplane.v.get_mut(coordinate) {
            Some(v) => *v += size,
            None => hyperplane.t += size,
        }
        hyperplane.normalised()
    }

    /// Whether enough rows lie on either side: what a few do may be chance, or they are outliers.
    pub fn is_balanced(u: &[f64]) -> bool {
        let below = u.iter().filter(|u| **u < 0.0).count();
        below.min(u.len() - below) as f64 >= SIDE * u.len() as f64
    }

    /// The inputs that it depends on.
    pub fn support(&self) -> Vec<usize> {
        (0..self.v.len()).filter(|&j| self.v[j] != 0.0).collect()
    }

    /// The edge in this hyperplane. A jump fills the gap between the rows on either side, since they cannot tell where in it
    /// the function jumps, and is no steeper than `steepness` or the number of rows.
    pub fn edge(&self, crossing: Crossing, x: &Mat<f64>, steepness: f64) -> Edge {
        let (mut factor, mut t) = (1.0, self.t);
        if crossing == Crossing::Jump {
            let (mut below, mut above) = (f64::NEG_INFINITY, f64::INFINITY);
            for u in self.arguments(x) {
                match u < 0.0 {
                    true => below = below.max(u),
                    false => above = above.min(u),
                }
            }
            factor = steepness.min(x.nrows() as f64);
            if above - below < f64::INFINITY {
                factor = factor.min(2.0 / (above - below).max(1e-12));
                t += 0.5 * (above + below);
            }
        }
        Edge {
            crossing,
            direction: self.v.iter().map(|v| v * factor).collect(),
            offset: t * factor,
        }
    }

    /// ⟨v, x_i⟩ − t of all rows.
    pub fn arguments(&self, x: &Mat<f64>) -> Vec<f64> {
        let mut u = vec![-self.t; x.nrows()];
        for (j, v) in self.v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let column = x.col_as_slice(j);
            u.iter_mut().zip(column).for_each(|(u, x)| *u += v * x);
        }
        u
    }
}

/// h and dh/du for arguments u: tanh su, or the softened max(u, 0) with this steepness.
pub(crate) fn feature(crossing: Crossing, s: f64, u: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let of = |&u: &f64| match crossing {
        Crossing::Jump => {
            let h = (s * u).tanh();
            (h, s * (1.0 - h * h))
        }
        Crossing::Bend => {
            let h = u.max(0.0) + (-(s * u).abs()).exp().ln_1p() / s;
            (h, 1.0 / (1.0 + (-s * u).exp()))
        }
    };
    u.iter().map(of).unzip()
}

/// The feature in the limit of steepness.
pub(crate) fn hard(crossing: Crossing, u: &[f64]) -> Vec<f64> {
    let of = |&u: &f64| match crossing {
        Crossing::Jump => 1f64.copysign(u),
        Crossing::Bend => u.max(0.0),
    };
    u.iter().map(of).collect()
}

/// A smooth process of some rows, to which features are added.
pub(crate) struct Reference<'a> {
    x: &'a Mat<f64>,
    q: Mat<f64>,
    alpha: Mat<f64>,
    /// S of every output.
    squares: Vec<f64>,
    /// −ln p but for a constant.
    pub value: f64,
}

impl<'a> Reference<'a> {
    pub fn new(kernel: &Kernel, ridge: f64, data: &'a Dataset) -> Option<Self> {
        let (m, c) = (data.samples(), data.y.ncols());
        let gram = kernel.gram(data.x.as_ref());
        let l = cholesky(with_ridge(gram.as_ref(), ridge), threads(m))?;
        let lower = inverse(l.as_ref(), threads(m));
        let ones = Mat::full(m, 1, 1.0);
        let pull = solve(l.as_ref(), ones.as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        let q = Mat::from_fn(m, m, |i, j| {
            lower[(i.max(j), i.min(j))] - pull[(i, 0)] * pull[(j, 0)] / total
        });
        // Q1 = 0, so this is C⁻¹(y − μ).
        let alpha = product(q.as_ref(), data.y.as_ref());
        let squares: Vec<f64> = (0..c)
            .map(|o| dot(alpha.col_as_slice(o), data.y.col_as_slice(o)).max(1e-200))
            .collect();
        let determinant = 2.0 * (0..m).map(|i| l[(i, i)].ln()).sum::<f64>();
        let value = squares
            .iter()
            .map(|s| 0.5 * (m as f64 * s.ln() + determinant))
            .sum::<f64>();
        let sound = value.is_finite() && q.is_all_finite() && alpha.is_all_finite();
        sound.then_some(Reference {
            x: &data.x,
            q,
            alpha,
            squares,
            value,
        })
    }

    /// r of every output, Σ −½ m ln(1 − r), and the derivatives of that in h (m).
    pub fn explained(&self, h: &[f64]) -> (Vec<f64>, f64, Vec<f64>) {
        let m = h.len();
        let h = Mat::from_fn(m, 1, |i, _| h[i]);
        let qh = product(self.q.as_ref(), h.as_ref());
        let (h, qh) = (h.col_as_slice(0), qh.col_as_slice(0));
        let a = dot(h, qh).max(1e-300);
        let (mut value, mut slope) = (0.0, vec![0.0; m]);
        let mut shares = Vec::new();
        for (o, square) in self.squares.iter().enumerate() {
            let alpha = self.alpha.col_as_slice(o);
            let b = dot(h, alpha);
            let r = (b * b / a / square).clamp(0.0, 1.0 - 1e-12);
            value -= 0.5 * m as f64 * (1.0 - r).ln();
            let factor = m as f64 / (1.0 - r) * (b / a) / square;
            for ((slope, alpha), qh) in slope.iter_mut().zip(alpha).zip(qh) {
                *slope += factor * (alpha - b / a * qh);
            }
            shares.push(r);
        }
        (shares, value, slope)
    }

    /// The gain in ln p by the feature h (m).
    pub fn gain(&self, h: &[f64]) -> f64 {
        let m = h.len() as f64;
        let of = |r: f64| {
            let p = ((m * r - 1.0) / ((m - 1.0) * r).max(1e-300)).clamp(0.0, 1.0 - 1e-12);
            -0.5 * m * (1.0 - p * r).ln() + 0.5 * (1.0 - p).ln()
        };
        self.explained(h).0.into_iter().map(of).sum()
    }

    /// The hyperplane after some steps uphill at steepness `s`, within its support, and its value.
    pub fn climbed(
        &self,
        crossing: Crossing,
        s: f64,
        mut hyperplane: Hyperplane,
    ) -> (f64, Hyperplane) {
        let support = hyperplane.support();
        let at = |hyperplane: &Hyperplane| {
            let u = hyperplane.arguments(self.x);
            let (h, dh) = feature(crossing, s, &u);
            let (_, value, slope) = self.explained(&h);
            let slope: Vec<f64> = slope.iter().zip(dh).map(|(a, b)| a * b).collect();
            match Hyperplane::is_balanced(&u) {
                true => (value, slope),
                false => (f64::NEG_INFINITY, slope),
            }
        };
        let (mut value, mut slope) = at(&hyperplane);
        let mut size = 0.5 / s;
        for _ in 0..STEPS {
            let mut g = vec![0.0; hyperplane.v.len()];
            for &j in &support {
                g[j] = dot(&slope, self.x.col_as_slice(j));
            }
            // Along the sphere of directions.
            let along = dot(&g, &hyperplane.v);
            g.iter_mut()
                .zip(&hyperplane.v)
                .for_each(|(g, v)| *g -= along * v);
            let t = -slope.iter().sum::<f64>();
            let norm = (dot(&g, &g) + t * t).sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                break;
            }
            let step = size / norm;
            let next = Hyperplane {
                v: hyperplane
                    .v
                    .iter()
                    .zip(&g)
                    .map(|(v, g)| v + step * g)
                    .collect(),
                t: hyperplane.t + step * t,
            }
            .normalised();
            let (higher, there) = at(&next);
            if higher > value {
                (hyperplane, value, slope) = (next, higher, there);
                size *= 1.5;
            } else {
                size *= 0.4;
            }
        }
        (value, hyperplane)
    }

    /// The best hyperplane that climbs from one of `starts`; the last third of those left gives up at each steepness.
    pub fn best(
        &self,
        crossing: Crossing,
        mut starts: Vec<Hyperplane>,
        from: usize,
    ) -> Option<Hyperplane> {
        for s in &STEEPNESS[from..] {
            let climb = starts
                .into_par_iter()
                .map(|hyperplane| self.climbed(crossing, *s, hyperplane));
            let mut climbed: Vec<(f64, Hyperplane)> = climb.collect();
            climbed.sort_by(|a, b| b.0.total_cmp(&a.0));
            climbed.truncate((2 * climbed.len()).div_ceil(3).max(4));
            starts = climbed
                .into_iter()
                .map(|(_, hyperplane)| hyperplane)
                .collect();
        }
        starts.into_iter().next()
    }

    /// Where climbs begin: splits of every input and hyperplanes of random directions, the best of them at a wide step.
    pub fn starts(&self, crossing: Crossing, seed: u64) -> Vec<Hyperplane> {
        let (m, d) = (self.x.nrows(), self.x.ncols());
        let mut rng = stream(seed, Purpose::Starts, 3);
        let value = |hyperplane: &Hyperplane| {
            let (h, _) = feature(crossing, STEEPNESS[0], &hyperplane.arguments(self.x));
            self.explained(&h).1
        };
        let (mut starts, mut best) = (Vec::new(), Vec::new());
        for j in 0..d {
            for k in 0..8 {
                let v = (0..d).map(|i| f64::from(u8::from(i == j))).collect();
                let t = -0.35 + 0.1 * f64::from(k);
                starts.push(Hyperplane { v, t });
            }
            for _ in 0..6 {
                let v = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                let mut hyperplane = Hyperplane { v, t: 0.0 }.normalised();
                let mut u = hyperplane.arguments(self.x);
                u.sort_by(f64::total_cmp);
                hyperplane.t = u[(rng.random_range(0.2..0.8) * m as f64) as usize];
                starts.push(hyperplane);
            }
            // All of them would take memory like d².
            if j + 1 == d || starts.len() * d >= AT_ONCE {
                let hyperplanes = std::mem::take(&mut starts).into_par_iter();
                best.par_extend(hyperplanes.map(|hyperplane| (value(&hyperplane), hyperplane)));
                best.sort_by(|a: &(f64, Hyperplane), b| b.0.total_cmp(&a.0));
                best.truncate(CLIMBERS);
            }
        }
        // A climb stays within its support, so a hyperplane must have some of every input.
        let blurred = |(_, hyperplane): (f64, Hyperplane)| Hyperplane {
            v: hyperplane.v.iter().map(|v| v + 1e-3).collect(),
            ..hyperplane
        };
        best.into_iter().map(|s| blurred(s).normalised()).collect()
    }

    /// What a hyperplane is worth in the end: the hard step, and a little of the wide one, which keeps away from rows.
    pub fn worth(&self, crossing: Crossing, hyperplane: &Hyperplane) -> f64 {
        let u = hyperplane.arguments(self.x);
        if !Hyperplane::is_balanced(&u) {
            return f64::NEG_INFINITY;
        }
        let worth = self.gain(&hard(crossing, &u));
        match crossing {
            Crossing::Jump => worth + WIDE * self.gain(&feature(crossing, STEEPNESS[3], &u).0),
            Crossing::Bend => worth,
        }
    }

    /// The hyperplane moved coordinate by coordinate within its support, and its worth.
    pub fn settled(&self, crossing: Crossing, mut hyperplane: Hyperplane) -> (f64, Hyperplane) {
        let d = hyperplane.v.len();
        let mut coordinates = hyperplane.support();
        if coordinates.len() == 1 {
            coordinates.clear();
        }
        coordinates.push(d);
        let mut worth = self.worth(crossing, &hyperplane);
        let mut size = 0.04;
        let least = match crossing {
            Crossing::Jump => 5e-4,
            Crossing::Bend => 1e-7,
        };
        while size > least {
            let before = worth;
            for &coordinate in &coordinates {
                for sign in [1.0, -1.0] {
                    let next = hyperplane.moved(coordinate, sign * size);
                    let value = self.worth(crossing, &next);
                    if value > worth {
                        (worth, hyperplane) = (value, next);
                    }
                }
            }
            if worth == before {
                size *= 0.5;
            }
        }
        (worth, hyperplane)
    }

    /// The hyperplane without the inputs that it does not need: each costs ½ ln m.
    pub fn sparse(&self, crossing: Crossing, hyperplane: Hyperplane) -> Hyperplane {
        let needed = 0.5 * (self.x.nrows() as f64).ln();
        let (mut worth, mut hyperplane) = self.settled(crossing, hyperplane);
        loop {
            let mut support = hyperplane.support();
            if support.len() == 1 {
                return hyperplane;
            }
            support.sort_by(|&a, &b| hyperplane.v[a].abs().total_cmp(&hyperplane.v[b].abs()));
            let mut less = hyperplane.clone();
            less.v[support[0]] = 0.0;
            let (value, less) = self.settled(crossing, less.normalised());
            if value < worth - needed {
                return hyperplane;
            }
            (worth, hyperplane) = (value, less);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use thinfit_gp::Shape;

    fn data() -> Dataset {
        let x = random(30, 3, 1);
        let y = Mat::from_fn(30, 2, |i, o| {
            let jump = f64::from(u8::from(x[(i, 0)] + x[(i, 1)] > 0.9));
            (3.0 * x[(i, 2)]).sin() + (o as f64 + 1.0) * jump
        });
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn the_gain_is_that_of_the_best_weight() {
        let data = Dataset::new(data().x, data().y.subcols(0, 1).to_owned()).unwrap();
        let kernel = Kernel::single(Shape::Gaussian, vec![0.7, 0.9, 1.1]);
        let reference = Reference::new(&kernel, 0.05, &data).unwrap();
        let at = |i: usize| data.x[(i, 0)] + data.x[(i, 1)] - 0.9;
        let u: Vec<f64> = (0..30).map(at).collect();
        // The formula takes h without what a constant explains of it.
        let mut h = hard(Crossing::Jump, &u);
        let gram = with_ridge(kernel.gram(data.x.as_ref()).as_ref(), 0.05);
        let l = cholesky(gram, faer::Par::Seq).unwrap();
        let pull = solve(l.as_ref(), Mat::full(30, 1, 1.0).as_ref());
        let pull = pull.col_as_slice(0);
        let constant = dot(pull, &h) / pull.iter().sum::<f64>();
        h.iter_mut().for_each(|h| *h -= constant);
        // −ln p with w h hᵀ added, straight from its definition.
        let value = |w: f64| {
            let mut gram = kernel.gram(data.x.as_ref());
            for j in 0..30 {
                for i in j..30 {
                    gram[(i, j)] += w * h[i] * h[j];
                }
            }
            let l = cholesky(with_ridge(gram.as_ref(), 0.05), faer::Par::Seq).unwrap();
            let ones = Mat::full(30, 1, 1.0);
            let pull = solve(l.as_ref(), ones.as_ref());
            let mean = dot(pull.col_as_slice(0), data.y.col_as_slice(0))
                / pull.col_as_slice(0).iter().sum::<f64>();
            let centred = Mat::from_fn(30, 1, |i, _| data.y[(i, 0)] - mean);
            let square = dot(
                solve(l.as_ref(), centred.as_ref()).col_as_slice(0),
                centred.col_as_slice(0),
            );
            15.0 * square.ln() + (0..30).map(|i| l[(i, i)].ln()).sum::<f64>()
        };
        assert!((reference.value - value(0.0)).abs() < 1e-9);
        let weights = (-600..600).map(|k| 10f64.powf(0.01 * f64::from(k)));
        let best = weights.map(value).fold(f64::INFINITY, f64::min);
        let gain = value(0.0) - best;
        assert!(gain > 0.5, "{gain}");
        assert!(
            (reference.gain(&h) / gain - 1.0).abs() < 1e-3,
            "{gain} {}",
            reference.gain(&h)
        );
    }

    #[test]
    fn slopes_of_what_is_explained_agree_with_central_differences() {
        let data = data();
        let kernel = Kernel::single(Shape::Matern52, vec![0.7, 0.9, 1.1]);
        let reference = Reference::new(&kernel, 0.01, &data).unwrap();
        for crossing in [Crossing::Jump, Crossing::Bend] {
            let u: Vec<f64> = (0..30).map(|i| data.x[(i, 0)] - 0.4).collect();
            let (h, dh) = feature(crossing, 8.0, &u);
            let (_, _, slope) = reference.explained(&h);
            for i in [0, 7, 29] {
                let moved = |step: f64| {
                    let mut u = u.clone();
                    u[i] += step;
                    reference.explained(&feature(crossing, 8.0, &u).0).1
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                let error = (slope[i] * dh[i] - difference).abs();
                assert!(
                    error < 1e-5 * (1.0 + difference.abs()),
                    "{crossing:?} {i}: {error}"
                );
            }
        }
    }

    #[test]
    fn a_jump_fills_the_gap_between_rows() {
        let x = Mat::from_fn(10, 1, |i, _| {
            0.02 * i as f64 + if i < 4 { -0.5 } else { 0.2 }
        });
        let hyperplane = Hyperplane {
            v: vec![-1.0],
            t: 0.19,
        };
        let edge = hyperplane.edge(Crossing::Jump, &x, f64::INFINITY);
        for i in 0..10 {
            let side = if i < 4 { 0.5 } else { -0.5 };
            assert!((edge.value(x.row(i)) - side).abs() < 1e-12, "{i}");
        }
        // No steeper than needed, and than asked for.
        assert!((edge.direction[0] + 2.0 / 0.72).abs() < 1e-9);
        let wide = hyperplane.edge(Crossing::Jump, &x, 1.0);
        assert!((wide.direction[0] + 1.0).abs() < 1e-9 && (wide.offset - 0.08).abs() < 1e-9);
    }
}
