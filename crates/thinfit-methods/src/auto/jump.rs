//! Jumps and bends: planes across which the function changes its value or its slope, and the process that knows them.
//!
//! A process without them rings or blurs there. With C = K + gI of a smooth process, adding w h hᵀ to C for a feature h
//! of the rows raises the likelihood, at the best w, as if the share r of what C leaves unexplained were gone:
//!
//! ```text
//! r = (hᵀα)²/(hᵀQh · S)      S = (y − μ)ᵀα      Q = C⁻¹ − C⁻¹11ᵀC⁻¹/1ᵀC⁻¹1      α = C⁻¹(y − μ)
//! gain = −½ m ln(1 − pr) + ½ ln(1 − p)          p = (mr − 1)/((m − 1) r), at least 0
//! ```
//!
//! That costs m² for every plane, so many can be tried. They climb from wide steps to narrow ones; which inputs a plane
//! needs is then decided by hard steps, whose likelihood does not depend on where between two rows they are, and where it
//! lies between them by wide ones, which keep away from rows. A process that has the best edges as further inputs is found
//! by the likelihood and judged by folds, in which planes and lengths are found again.

use super::plan::Plan;
use super::samples::Samples;
use super::teacher::{Teacher, ranked};
use crate::kernels::cholesky::{cholesky, inverse, solve, with_ridge};
use crate::kernels::evidence::Evidence;
use crate::kernels::gaussian_process::threads;
use crate::networks::least_squares::times;
use crate::random::{Purpose, random_subset, stream};
use crate::report::two_digits;
use crate::{Crossing, Edge, GaussianProcess, Kernel, Part, Result, Shape};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;
use thinfit::{Control, Dataset};

/// More rows than this are not searched for planes.
const MOST: usize = 2000;
/// Rows among which planes are looked for.
const ROWS: usize = 500;
/// Most edges of a process.
const EDGES: usize = 3;
/// Steepnesses that a climb goes through, in multiples of the range of an input.
const STEEPNESS: [f64; 5] = [4.0, 8.0, 16.0, 32.0, 64.0];
/// Steps of a climb at each of them.
const STEPS: usize = 15;
/// Planes that start to climb.
const CLIMBERS: usize = 24;
/// Lengths of the smooth process in which jumps stand out: one with shorter ones can follow a jump.
const SMOOTH: f64 = 0.5;
/// Least share of the rows on either side of a plane.
const SIDE: f64 = 0.05;
/// Weight of the wide step beside the hard one.
const WIDE: f64 = 0.05;

/// The processes with the one that has edges among them, if edges pay; best first.
pub(super) fn sharpened(
    mut teachers: Vec<Teacher>,
    samples: &Samples,
    plan: &Plan,
    seed: u64,
) -> Vec<Teacher> {
    if let Ok(Some(sharp)) = with_edges(&teachers[0], samples, plan, seed) {
        teachers.push(sharp);
        return ranked(teachers);
    }
    teachers
}

/// Whether a row lies so near a jump of the process that it may have been put on the wrong side.
pub(super) fn is_near(teacher: &Teacher, samples: &Samples, row: usize) -> bool {
    let edges = teacher.evidence.kernel.edges.iter();
    let mut jumps = edges.filter(|edge| edge.crossing == Crossing::Jump);
    jumps.any(|edge| {
        let u = Plane::of(edge).0.arguments(&samples.data.x);
        let nearer = u.iter().filter(|v| v.abs() < u[row].abs()).count();
        nearer as f64 <= SIDE * u.len() as f64
    })
}

/// The best process with edges, judged, if edges pay; `best` is the best without.
fn with_edges(
    best: &Teacher,
    samples: &Samples,
    plan: &Plan,
    seed: u64,
) -> Result<Option<Teacher>> {
    let m = samples.data.samples();
    if m > MOST {
        return Ok(None);
    }
    let mut rows = random_subset(m, m.min(ROWS), &mut stream(seed, Purpose::Starts, 2));
    rows.sort_unstable();
    let few = samples.data.rows(&rows);
    let mut kernel = best.evidence.kernel.clone();
    let mut ridge = best.evidence.ridge;
    let mut found: Option<Found> = None;
    for _ in 0..EDGES {
        let fits =
            (candidates(&kernel, ridge, &few, seed).into_iter()).filter_map(|(crossing, plane)| {
                Found::new(&kernel.edges, crossing, plane, &few, seed).ok()
            });
        let sharp = fits.filter(|found| found.is_sharp(&few));
        let next = sharp.min_by(|a, b| a.price().total_cmp(&b.price()));
        let before = match &found {
            Some(found) => found.price(),
            None if rows.len() == m => price(&best.evidence, best.numbers),
            None => f64::INFINITY,
        };
        let Some(next) = next.filter(|next| next.price() < before) else {
            break;
        };
        kernel = next.evidence.kernel.clone();
        ridge = next.evidence.ridge;
        found = Some(next);
    }
    found.map(|found| found.judged(samples, plan)).transpose()
}

/// What the edges of a process are, in words and in the units of the data.
pub(super) fn words(teacher: &Teacher, samples: &Samples) -> Vec<String> {
    let (names, scaler) = (&samples.data.inputs, &samples.scalers.0);
    let edges = teacher.evidence.kernel.edges.iter().enumerate();
    let word = |(e, edge): (usize, &Edge)| {
        let place = edge.place(names, scaler);
        match edge.crossing {
            Crossing::Jump => {
                let height = height(teacher, samples, e);
                format!("the function seems to jump{height} where {place}")
            }
            Crossing::Bend => format!("the function seems to bend where {place}"),
        }
    };
    edges.map(word).collect()
}

/// By how much the only output jumps across edge `e`: the difference of both sides at the rows nearest to it.
fn height(teacher: &Teacher, samples: &Samples, e: usize) -> String {
    let (evidence, data) = (&teacher.evidence, &samples.data);
    let [scale] = samples.scalers.1.scale[..] else {
        return String::new();
    };
    let (plane, _) = Plane::of(&evidence.kernel.edges[e]);
    let mut near: Vec<(f64, usize)> = plane.arguments(&data.x).into_iter().zip(0..).collect();
    near.sort_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
    near.truncate(near.len().div_ceil(4));
    let rows: Vec<usize> = near.iter().map(|near| near.1).collect();
    let points = evidence.kernel.widened(data.x.as_ref());
    let mut x = evidence.kernel.widened(data.rows(&rows).x.as_ref());
    let mut side = |h: f64| {
        x.col_as_slice_mut(data.dim() + e).fill(h);
        times(
            evidence.kernel.cross_widened(&x, &points).as_ref(),
            evidence.alpha.as_ref(),
        )
    };
    let difference = (side(0.5) - side(-0.5)) * faer::Scale(scale);
    let mut sizes: Vec<f64> = difference.col_as_slice(0).iter().map(|v| v.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let at = |share: f64| sizes[(share * (sizes.len() - 1) as f64).round() as usize];
    let [low, middle, high] = [0.1, 0.5, 0.9].map(at);
    match high - low < 0.3 * middle {
        true => format!(" by about {}", two_digits(middle)),
        false => format!(" by {} to {}", two_digits(low), two_digits(high)),
    }
}

/// −ln p + ½ k ln m for k numbers.
fn price(evidence: &Evidence, numbers: usize) -> f64 {
    evidence.value + 0.5 * numbers as f64 * (evidence.alpha.nrows() as f64).ln()
}

/// A plane ⟨v, x⟩ = t with |v| = 1, in scaled inputs.
#[derive(Clone, Debug)]
struct Plane {
    v: Vec<f64>,
    t: f64,
}

impl Plane {
    fn of(edge: &Edge) -> (Self, f64) {
        let steepness = edge.direction.iter().map(|v| v * v).sum::<f64>().sqrt();
        let plane = Plane {
            v: edge.direction.clone(),
            t: edge.offset,
        };
        (plane.normalised(), steepness)
    }

    fn normalised(mut self) -> Self {
        let size = self.v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let size = size.max(f64::MIN_POSITIVE);
        self.v.iter_mut().for_each(|v| *v /= size);
        self.t /= size;
        self
    }

    /// The plane moved by `size` along one coordinate: an input's, or the offset's after them.
    fn moved(&self, coordinate: usize, size: f64) -> Self {
        let mut plane = self.clone();
        match plane.v.get_mut(coordinate) {
            Some(v) => *v += size,
            None => plane.t += size,
        }
        plane.normalised()
    }

    /// Whether enough rows lie on either side: what a few do may be chance, or they are outliers.
    fn is_balanced(u: &[f64]) -> bool {
        let below = u.iter().filter(|u| **u < 0.0).count();
        below.min(u.len() - below) as f64 >= SIDE * u.len() as f64
    }

    /// The inputs that it depends on.
    fn support(&self) -> Vec<usize> {
        (0..self.v.len()).filter(|&j| self.v[j] != 0.0).collect()
    }

    /// The edge in this plane. A jump fills the gap between the rows on either side, since they cannot tell where in it
    /// the function jumps, and is no steeper than `steepness` or the number of rows.
    fn edge(&self, crossing: Crossing, x: &Mat<f64>, steepness: f64) -> Edge {
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
    fn arguments(&self, x: &Mat<f64>) -> Vec<f64> {
        let mut u = vec![-self.t; x.nrows()];
        for (j, v) in self.v.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            let column = x.col_as_slice(j);
            u.iter_mut().zip(column).for_each(|(u, x)| *u += v * x);
        }
        u
    }
}

/// h and dh/du for arguments u: tanh su, or the softened max(u, 0) with this steepness.
fn feature(crossing: Crossing, s: f64, u: &[f64]) -> (Vec<f64>, Vec<f64>) {
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
fn hard(crossing: Crossing, u: &[f64]) -> Vec<f64> {
    let of = |&u: &f64| match crossing {
        Crossing::Jump => 1f64.copysign(u),
        Crossing::Bend => u.max(0.0),
    };
    u.iter().map(of).collect()
}

/// A smooth process of some rows, to which features are added.
struct Reference<'a> {
    x: &'a Mat<f64>,
    q: Mat<f64>,
    alpha: Mat<f64>,
    /// S of every output.
    squares: Vec<f64>,
    /// −ln p but for a constant.
    value: f64,
}

impl<'a> Reference<'a> {
    fn new(kernel: &Kernel, ridge: f64, data: &'a Dataset) -> Option<Self> {
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
        let alpha = times(q.as_ref(), data.y.as_ref());
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
    fn explained(&self, h: &[f64]) -> (Vec<f64>, f64, Vec<f64>) {
        let m = h.len();
        let h = Mat::from_fn(m, 1, |i, _| h[i]);
        let qh = times(self.q.as_ref(), h.as_ref());
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
    fn gain(&self, h: &[f64]) -> f64 {
        let m = h.len() as f64;
        let of = |r: f64| {
            let p = ((m * r - 1.0) / ((m - 1.0) * r).max(1e-300)).clamp(0.0, 1.0 - 1e-12);
            -0.5 * m * (1.0 - p * r).ln() + 0.5 * (1.0 - p).ln()
        };
        self.explained(h).0.into_iter().map(of).sum()
    }

    /// The plane after some steps uphill at steepness `s`, within its support, and its value.
    fn climbed(&self, crossing: Crossing, s: f64, mut plane: Plane) -> (f64, Plane) {
        let support = plane.support();
        let at = |plane: &Plane| {
            let u = plane.arguments(self.x);
            let (h, dh) = feature(crossing, s, &u);
            let (_, value, slope) = self.explained(&h);
            let slope: Vec<f64> = slope.iter().zip(dh).map(|(a, b)| a * b).collect();
            match Plane::is_balanced(&u) {
                true => (value, slope),
                false => (f64::NEG_INFINITY, slope),
            }
        };
        let (mut value, mut slope) = at(&plane);
        let mut size = 0.5 / s;
        for _ in 0..STEPS {
            let mut g = vec![0.0; plane.v.len()];
            for &j in &support {
                g[j] = dot(&slope, self.x.col_as_slice(j));
            }
            // Along the sphere of directions.
            let along = dot(&g, &plane.v);
            g.iter_mut()
                .zip(&plane.v)
                .for_each(|(g, v)| *g -= along * v);
            let t = -slope.iter().sum::<f64>();
            let norm = (dot(&g, &g) + t * t).sqrt();
            if !(norm > 0.0 && norm.is_finite()) {
                break;
            }
            let step = size / norm;
            let next = Plane {
                v: plane.v.iter().zip(&g).map(|(v, g)| v + step * g).collect(),
                t: plane.t + step * t,
            }
            .normalised();
            let (higher, there) = at(&next);
            if higher > value {
                (plane, value, slope) = (next, higher, there);
                size *= 1.5;
            } else {
                size *= 0.4;
            }
        }
        (value, plane)
    }

    /// The best plane that climbs from one of `starts`; the last third of those left gives up at each steepness.
    fn best(&self, crossing: Crossing, mut starts: Vec<Plane>, from: usize) -> Option<Plane> {
        for s in &STEEPNESS[from..] {
            let climb = starts
                .into_par_iter()
                .map(|plane| self.climbed(crossing, *s, plane));
            let mut climbed: Vec<(f64, Plane)> = climb.collect();
            climbed.sort_by(|a, b| b.0.total_cmp(&a.0));
            climbed.truncate((2 * climbed.len()).div_ceil(3).max(4));
            starts = climbed.into_iter().map(|(_, plane)| plane).collect();
        }
        starts.into_iter().next()
    }

    /// Where climbs begin: splits of every input and planes of random directions, the best of them at a wide step.
    fn starts(&self, crossing: Crossing, seed: u64) -> Vec<Plane> {
        let (m, d) = (self.x.nrows(), self.x.ncols());
        let mut rng = stream(seed, Purpose::Starts, 3);
        let mut starts = Vec::new();
        for j in 0..d {
            for k in 0..8 {
                let v = (0..d).map(|i| f64::from(u8::from(i == j))).collect();
                let t = -0.35 + 0.1 * f64::from(k);
                starts.push(Plane { v, t });
            }
            for _ in 0..6 {
                let v = (0..d).map(|_| rng.sample(StandardNormal)).collect();
                let mut plane = Plane { v, t: 0.0 }.normalised();
                let mut u = plane.arguments(self.x);
                u.sort_by(f64::total_cmp);
                plane.t = u[(rng.random_range(0.2..0.8) * m as f64) as usize];
                starts.push(plane);
            }
        }
        let value = |plane: &Plane| {
            let (h, _) = feature(crossing, STEEPNESS[0], &plane.arguments(self.x));
            self.explained(&h).1
        };
        let mut starts: Vec<(f64, Plane)> = (starts.into_par_iter())
            .map(|plane| (value(&plane), plane))
            .collect();
        starts.sort_by(|a, b| b.0.total_cmp(&a.0));
        starts.truncate(CLIMBERS);
        // A climb stays within its support, so a plane must have some of every input.
        let blurred = |(_, plane): (f64, Plane)| Plane {
            v: plane.v.iter().map(|v| v + 1e-3).collect(),
            ..plane
        };
        starts
            .into_iter()
            .map(|s| blurred(s).normalised())
            .collect()
    }

    /// What a plane is worth in the end: the hard step, and a little of the wide one, which keeps away from rows.
    fn worth(&self, crossing: Crossing, plane: &Plane) -> f64 {
        let u = plane.arguments(self.x);
        if !Plane::is_balanced(&u) {
            return f64::NEG_INFINITY;
        }
        let worth = self.gain(&hard(crossing, &u));
        match crossing {
            Crossing::Jump => worth + WIDE * self.gain(&feature(crossing, STEEPNESS[3], &u).0),
            Crossing::Bend => worth,
        }
    }

    /// The plane moved coordinate by coordinate within its support, and its worth.
    fn settled(&self, crossing: Crossing, mut plane: Plane) -> (f64, Plane) {
        let d = plane.v.len();
        let mut coordinates = plane.support();
        if coordinates.len() == 1 {
            coordinates.clear();
        }
        coordinates.push(d);
        let mut worth = self.worth(crossing, &plane);
        let mut size = 0.04;
        let least = match crossing {
            Crossing::Jump => 5e-4,
            Crossing::Bend => 1e-7,
        };
        while size > least {
            let before = worth;
            for &coordinate in &coordinates {
                for sign in [1.0, -1.0] {
                    let next = plane.moved(coordinate, sign * size);
                    let value = self.worth(crossing, &next);
                    if value > worth {
                        (worth, plane) = (value, next);
                    }
                }
            }
            if worth == before {
                size *= 0.5;
            }
        }
        (worth, plane)
    }

    /// The plane without the inputs that it does not need: each costs ½ ln m.
    fn sparse(&self, crossing: Crossing, plane: Plane) -> Plane {
        let needed = 0.5 * (self.x.nrows() as f64).ln();
        let (mut worth, mut plane) = self.settled(crossing, plane);
        loop {
            let mut support = plane.support();
            if support.len() == 1 {
                return plane;
            }
            support.sort_by(|&a, &b| plane.v[a].abs().total_cmp(&plane.v[b].abs()));
            let mut less = plane.clone();
            less.v[support[0]] = 0.0;
            let (value, less) = self.settled(crossing, less.normalised());
            if value < worth - needed {
                return plane;
            }
            (worth, plane) = (value, less);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Planes whose features gain far more than chance would, beside `kernel` and beside a smoother one.
fn candidates(kernel: &Kernel, ridge: f64, data: &Dataset, seed: u64) -> Vec<(Crossing, Plane)> {
    let (m, d) = (data.samples() as f64, data.dim());
    let mut references: Vec<Reference<'_>> = Vec::new();
    references.extend(Reference::new(kernel, ridge, data));
    // One that is rough, or has short lengths or little noise, hides an edge from all features but the very best.
    let mut smooth = kernel.clone();
    for part in &mut smooth.parts {
        part.lengths.iter_mut().for_each(|l| *l = l.max(SMOOTH));
        part.shape = match part.shape {
            Shape::Matern52 => Shape::Gaussian,
            Shape::AnovaMatern52 => Shape::Anova,
            other => other,
        };
    }
    let noise = [1e-4, 1e-3, 1e-2, 0.1, 0.5].map(|g: f64| g.max(ridge));
    let fits = noise
        .iter()
        .filter_map(|g| Reference::new(&smooth, *g, data));
    references.extend(fits.min_by(|a, b| a.value.total_cmp(&b.value)));
    let mut found = Vec::new();
    for reference in &references {
        for crossing in [Crossing::Jump, Crossing::Bend] {
            let starts = reference.starts(crossing, seed);
            let Some(plane) = reference.best(crossing, starts, 0) else {
                continue;
            };
            let s = STEEPNESS[STEEPNESS.len() - 1];
            let (h, _) = feature(crossing, s, &plane.arguments(&data.x));
            if reference.gain(&h) > (d + 2) as f64 * m.ln() {
                found.push((crossing, plane));
            }
        }
    }
    found
}

/// The kernel without its edge `e`, for `d` inputs.
fn without(kernel: &Kernel, e: usize, d: usize) -> Kernel {
    let mut kernel = kernel.clone();
    kernel.edges.remove(e);
    for part in &mut kernel.parts {
        let keep: Vec<bool> = part.inputs.iter().map(|&j| j != d + e).collect();
        let kept = |k: &mut usize| {
            *k += 1;
            keep[*k - 1]
        };
        let mut k = 0;
        part.inputs.retain(|_| kept(&mut k));
        let mut k = 0;
        part.lengths.retain(|_| kept(&mut k));
        let mut k = 0;
        part.shares.retain(|_| kept(&mut k));
        let later = part.inputs.iter_mut().filter(|j| **j > d + e);
        later.for_each(|j| *j -= 1);
    }
    kernel.parts.retain(|part: &Part| !part.inputs.is_empty());
    kernel
}

/// Rows with the values of edges as further inputs.
fn widened(data: &Dataset, edges: &[Edge]) -> Result<Dataset> {
    let kernel = Kernel {
        parts: vec![],
        edges: edges.to_vec(),
    };
    Dataset::new(kernel.widened(data.x.as_ref()), data.y.clone())
}

/// A process with edges.
struct Found {
    process: GaussianProcess,
    log: Vec<f64>,
    evidence: Evidence,
}

impl Found {
    /// The process with `edges` and one more, whose plane is settled beside its kernel.
    fn new(
        edges: &[Edge],
        crossing: Crossing,
        plane: Plane,
        data: &Dataset,
        seed: u64,
    ) -> Result<Self> {
        let e = edges.len();
        let mut edges = edges.to_vec();
        edges.push(plane.edge(crossing, &data.x, f64::INFINITY));
        let mut best = Found::of(Shape::Gaussian, &edges, data, seed)?;
        let mut plane = plane;
        // The better it lies, the smoother the rest, and the better it can be told where it lies.
        for round in 0..2 {
            let smooth = without(&best.evidence.kernel, e, data.dim());
            let Some(reference) = Reference::new(&smooth, best.evidence.ridge, data) else {
                break;
            };
            plane = match round {
                0 => reference.sparse(crossing, plane),
                _ => reference.settled(crossing, plane).1,
            };
            edges[e] = plane.edge(crossing, &data.x, f64::INFINITY);
            best = Found::of(Shape::Gaussian, &edges, data, seed)?;
        }
        // A jump may turn out to be a steep slope.
        let (_, mut steepness) = Plane::of(&edges[e]);
        while crossing == Crossing::Jump && steepness > STEEPNESS[0] {
            steepness *= 0.5;
            edges[e] = plane.edge(crossing, &data.x, steepness);
            let next = best.at(&edges, data)?;
            if next.value > best.evidence.value - 1.0 {
                break;
            }
            best.evidence = next;
        }
        let edges = best.evidence.kernel.edges.clone();
        let shared = Found::of(Shape::Anova, &edges, data, seed)?;
        Ok(match shared.price() < best.price() {
            true => shared,
            false => best,
        })
    }

    /// The process with these edges and a kernel of this shape.
    fn of(kernel: Shape, edges: &[Edge], data: &Dataset, seed: u64) -> Result<Self> {
        let process = GaussianProcess {
            kernel,
            starts: 3,
            heat: 10,
            race: usize::MAX,
            iterations: 60,
            ..GaussianProcess::default()
        };
        let wide = widened(data, edges)?;
        let (log, _) = process.find(&wide, seed, &|_| Control::Continue)?;
        let mut evidence = process.evidence(&wide, &log)?;
        evidence.kernel.edges = edges.to_vec();
        Ok(Found {
            process,
            log,
            evidence,
        })
    }

    /// The likelihood with other edges.
    fn at(&self, edges: &[Edge], data: &Dataset) -> Result<Evidence> {
        let mut evidence = self.process.evidence(&widened(data, edges)?, &self.log)?;
        evidence.kernel.edges = edges.to_vec();
        Ok(evidence)
    }

    /// Whether the last edge, if it is a bend, is clearly more than a curve: wide, it explains less.
    fn is_sharp(&self, data: &Dataset) -> bool {
        let kernel = &self.evidence.kernel;
        let Some((edge, others)) = kernel.edges.split_last() else {
            return true;
        };
        if edge.crossing == Crossing::Jump {
            return true;
        }
        let smooth = without(kernel, others.len(), data.dim());
        let Some(reference) = Reference::new(&smooth, self.evidence.ridge, data) else {
            return false;
        };
        let (plane, _) = Plane::of(edge);
        let sharp = hard(edge.crossing, &plane.arguments(&data.x));
        let (wide, _) = reference.climbed(edge.crossing, STEEPNESS[1], plane);
        reference.explained(&sharp).1 > wide + 0.5 * (data.samples() as f64).ln()
    }

    /// How many numbers were found.
    fn numbers(&self) -> usize {
        let edges = self.evidence.kernel.edges.iter();
        self.log.len() + edges.map(Edge::parameters).sum::<usize>()
    }

    fn price(&self) -> f64 {
        price(&self.evidence, self.numbers())
    }

    /// The edges found again beside the other rows of `data`, each from where it is.
    fn edges_again(&self, data: &Dataset) -> Vec<Edge> {
        let mut kernel = self.evidence.kernel.clone();
        for e in 0..kernel.edges.len() {
            let smooth = without(&kernel, e, data.dim());
            let Some(reference) = Reference::new(&smooth, self.evidence.ridge, data) else {
                continue;
            };
            let crossing = kernel.edges[e].crossing;
            let (plane, steepness) = Plane::of(&kernel.edges[e]);
            // Wide first steps forget the rows that are not among these; but they may lose the way.
            let climbs = [0, 2, 3].into_iter();
            let planes = climbs.filter_map(|from| {
                let climbed = reference.best(crossing, vec![plane.clone()], from)?;
                Some(reference.settled(crossing, climbed))
            });
            let best = planes.max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, plane)) = best {
                kernel.edges[e] = plane.edge(crossing, &data.x, steepness);
            }
        }
        kernel.edges
    }

    /// The process on all rows, judged by folds.
    fn judged(self, samples: &Samples, plan: &Plan) -> Result<Teacher> {
        let data = &samples.data;
        let fewer = self.evidence.alpha.nrows() < data.samples();
        let iterations = plan.iterations(data.samples(), data.dim(), self.process.kernel);
        let whole = match fewer {
            true => self.on(data, iterations, true)?,
            false => self,
        };
        let edges = &whole.evidence.kernel.edges;
        let name = match edges.iter().any(|edge| edge.crossing == Crossing::Jump) {
            true => "Gaussian process with jumps",
            false => "Gaussian process with bends",
        };
        let evidence = whole.evidence.clone();
        Teacher::judged((name, whole.numbers()), samples, evidence, |data, _| {
            Ok(whole.on(data, plan.fold_iterations, false)?.evidence)
        })
    }

    /// Edges, lengths and noise found again on other rows.
    fn on(&self, data: &Dataset, iterations: usize, fewer: bool) -> Result<Self> {
        let edges = self.edges_again(data);
        let process = GaussianProcess {
            iterations,
            ..self.process.clone()
        };
        let wide = widened(data, &edges)?;
        let mut start = self.log.clone();
        if fewer {
            process.shorten(&mut start, wide.dim());
        }
        let log = process.search_from(&wide, vec![start], &|_| Control::Continue);
        let again = Found {
            process,
            log,
            evidence: self.evidence.clone(),
        };
        let evidence = again.at(&edges, data)?;
        Ok(Found { evidence, ..again })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::tests::random;

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
    fn a_kernel_without_an_edge_has_the_others_at_their_places() {
        let edge = |offset| Plane {
            v: vec![1.0, 0.0, 0.0],
            t: offset,
        };
        let x = random(9, 3, 2);
        let edges = [0.3, 0.5].map(|t| edge(t).edge(Crossing::Bend, &x, 1.0));
        let mut part = Part::with_shares(Shape::Anova, vec![0.5; 5], vec![0.1, 0.2, 0.3, 0.4, 0.5]);
        part.lengths[4] = 0.9;
        let kernel = Kernel {
            parts: vec![part],
            edges: edges.to_vec(),
        };
        let less = without(&kernel, 0, 3);
        assert_eq!(less.edges, edges[1..]);
        assert_eq!(less.parts[0].inputs, [0, 1, 2, 3]);
        assert_eq!(less.parts[0].lengths, [0.5, 0.5, 0.5, 0.9]);
        assert_eq!(less.parts[0].shares, [0.1, 0.2, 0.3, 0.5]);
        assert!(less.fits(3));
    }

    #[test]
    fn a_jump_fills_the_gap_between_rows() {
        let x = Mat::from_fn(10, 1, |i, _| {
            0.02 * i as f64 + if i < 4 { -0.5 } else { 0.2 }
        });
        let plane = Plane {
            v: vec![-1.0],
            t: 0.19,
        };
        let edge = plane.edge(Crossing::Jump, &x, f64::INFINITY);
        for i in 0..10 {
            let side = if i < 4 { 0.5 } else { -0.5 };
            assert!((edge.value(x.row(i)) - side).abs() < 1e-12, "{i}");
        }
        // No steeper than needed, and than asked for.
        assert!((edge.direction[0] + 2.0 / 0.72).abs() < 1e-9);
        let wide = plane.edge(Crossing::Jump, &x, 1.0);
        assert!((wide.direction[0] + 1.0).abs() < 1e-9 && (wide.offset - 0.08).abs() < 1e-9);
    }
}
