//! Jumps and bends: hyperplanes across which the function changes its value or its slope, and the process with these
//! edges.
//!
//! A process without edges rings or blurs there. The best edges become further inputs of a process, which is selected
//! by likelihood and cross-validated by folds that repeat the search for hyperplanes and length scales.

use crate::edge_search::{Hyperplane, Reference, SIDE, STEEPNESS, feature, hard};
use crate::plan::{Plan, ROWS_PER_INPUT};
use crate::process::{Process, ranked};
use crate::samples::Samples;
use thinfit::pieces::{Purpose, SingleProcess, random_subset, stream};
use thinfit::{Candidate, Control, Dataset, Result};
use thinfit_gp::pieces::Evidence;
use thinfit_gp::{Crossing, Edge, GaussianProcess, Kernel, KernelTerm, Shape};

/// More rows than this are not searched for hyperplanes.
const MOST: usize = 1000;
/// Nor are rows of so many inputs that there are fewer than this for each number that a hyperplane has: a hyperplane can part few
/// rows in any way that the noise asks for.
const ROWS_PER_DIRECTION: usize = 10;
/// Rows among which hyperplanes are looked for.
const ROWS: usize = 500;
/// Out-of-fold error, relative to the variance of the target, below which a smooth process leaves no room for an edge.
const FOLLOWED: f64 = 1e-6;
/// Most edges of a process.
const EDGES: usize = 3;
/// Lengths of the smooth process in which jumps stand out: one with shorter ones can follow a jump.
const SMOOTH: f64 = 0.5;

/// The processes with the one that has edges among them, if edges pay; best first.
pub(crate) fn sharpened(
    mut processes: Vec<Process>,
    samples: &Samples,
    plan: &Plan,
    seed: u64,
) -> Vec<Process> {
    if let Ok(Some(sharp)) = with_edges(&processes[0], samples, plan, seed) {
        // Much of what is merely steep looks like a bend, so bends alone must show in the errors.
        let errors = &processes[0].out_of_fold;
        let every: Vec<usize> = (0..samples.data.samples()).collect();
        if has_edge(&sharp) || sharp.out_of_fold.is_clearly_below(errors, &every) {
            processes.push(sharp);
            return ranked(processes, &samples.data);
        }
    }
    processes
}

fn has_edge(process: &Process) -> bool {
    let mut edges = process.evidence.kernel.edges.iter();
    edges.any(|edge| edge.crossing == Crossing::Jump)
}

/// Whether a row lies so near a jump of the process that it may have been put on the wrong side.
pub(crate) fn is_near(process: &Process, samples: &Samples, row: usize) -> bool {
    let edges = process.evidence.kernel.edges.iter();
    let mut jumps = edges.filter(|edge| edge.crossing == Crossing::Jump);
    jumps.any(|edge| {
        let u = Hyperplane::of(edge).0.arguments(&samples.data.x);
        let nearer = u.iter().filter(|v| v.abs() < u[row].abs()).count();
        nearer as f64 <= SIDE * u.len() as f64
    })
}

/// The best process with edges, cross-validated, if edges pay; `best` is the best without.
fn with_edges(
    best: &Process,
    samples: &Samples,
    plan: &Plan,
    seed: u64,
) -> Result<Option<Process>> {
    let m = samples.data.samples();
    let few = m < ROWS_PER_DIRECTION * (samples.data.dim() + 2);
    if m > MOST || few || best.error() < FOLLOWED {
        return Ok(None);
    }
    let found = searched((&best.evidence, best.numbers), &samples.data, seed);
    found
        .map(|found| found.cross_validated(best, samples, plan, seed))
        .transpose()
}

/// Edges of the rows of `data`, added to a smooth process with `numbers` parameters one after the other while they pay.
fn searched((smooth, numbers): (&Evidence, usize), data: &Dataset, seed: u64) -> Option<Found> {
    let m = data.samples();
    let mut rows = random_subset(m, m.min(ROWS), &mut stream(seed, Purpose::Starts, 2));
    rows.sort_unstable();
    let few = data.rows(&rows);
    let mut kernel = smooth.kernel.clone();
    let mut ridge = smooth.ridge;
    let mut found: Option<Found> = None;
    for _ in 0..EDGES {
        let fits = (candidates(&kernel, ridge, &few, seed).into_iter()).filter_map(
            |(crossing, hyperplane)| {
                Found::new(&kernel.edges, crossing, hyperplane, &few, seed).ok()
            },
        );
        let sharp = fits.filter(|found| found.is_sharp(&few));
        let next = sharp.min_by(|a, b| a.price().total_cmp(&b.price()));
        let before = match &found {
            Some(found) => found.price(),
            None if rows.len() == m => price(smooth, numbers),
            None => f64::INFINITY,
        };
        let Some(next) = next.filter(|next| next.price() < before) else {
            break;
        };
        kernel = next.evidence.kernel.clone();
        ridge = next.evidence.ridge;
        found = Some(next);
    }
    found
}

/// −ln p + ½ k ln m for k numbers.
fn price(evidence: &Evidence, numbers: usize) -> f64 {
    evidence.value + 0.5 * numbers as f64 * (evidence.alpha.nrows() as f64).ln()
}

/// Hyperplanes whose features gain far more than chance would, both with `kernel` and with a smoother one.
fn candidates(
    kernel: &Kernel,
    ridge: f64,
    data: &Dataset,
    seed: u64,
) -> Vec<(Crossing, Hyperplane)> {
    let (m, d) = (data.samples() as f64, data.dim());
    let mut references: Vec<Reference<'_>> = Vec::new();
    references.extend(Reference::new(kernel, ridge, data));
    // One that is rough, or has short lengths or little noise, hides an edge from all features but the very best.
    let mut smooth = kernel.clone();
    for term in &mut smooth.terms {
        term.lengths.iter_mut().for_each(|l| *l = l.max(SMOOTH));
        term.shape = term.shape.smooth();
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
            let Some(hyperplane) = reference.best(crossing, starts, 0) else {
                continue;
            };
            let s = STEEPNESS[STEEPNESS.len() - 1];
            let (h, _) = feature(crossing, s, &hyperplane.arguments(&data.x));
            if reference.gain(&h) > (d + 2) as f64 * m.ln() {
                found.push((crossing, hyperplane));
            }
        }
    }
    found
}

/// The kernel without its edge `e`, for `d` inputs.
fn without(kernel: &Kernel, e: usize, d: usize) -> Kernel {
    let mut kernel = kernel.clone();
    kernel.edges.remove(e);
    for term in &mut kernel.terms {
        let keep: Vec<bool> = term.inputs.iter().map(|&j| j != d + e).collect();
        let kept = |k: &mut usize| {
            *k += 1;
            keep[*k - 1]
        };
        let mut k = 0;
        term.inputs.retain(|_| kept(&mut k));
        let mut k = 0;
        term.lengths.retain(|_| kept(&mut k));
        let mut k = 0;
        term.shares.retain(|_| kept(&mut k));
        let later = term.inputs.iter_mut().filter(|j| **j > d + e);
        later.for_each(|j| *j -= 1);
    }
    kernel
        .terms
        .retain(|term: &KernelTerm| !term.inputs.is_empty());
    kernel
}

/// Rows with the values of edges as further inputs.
fn widened(data: &Dataset, edges: &[Edge]) -> Result<Dataset> {
    let kernel = Kernel {
        terms: vec![],
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
    /// The process with `edges` and one more, whose hyperplane is chosen given the kernel of the process.
    fn new(
        edges: &[Edge],
        crossing: Crossing,
        hyperplane: Hyperplane,
        data: &Dataset,
        seed: u64,
    ) -> Result<Self> {
        let e = edges.len();
        let mut edges = edges.to_vec();
        edges.push(hyperplane.edge(crossing, &data.x, f64::INFINITY));
        let mut best = Found::of(Shape::Gaussian, &edges, data, seed)?;
        let mut hyperplane = hyperplane;
        // The better it lies, the smoother the rest, and the better it can be told where it lies.
        for round in 0..2 {
            let smooth = without(&best.evidence.kernel, e, data.dim());
            let Some(reference) = Reference::new(&smooth, best.evidence.ridge, data) else {
                break;
            };
            hyperplane = match round {
                0 => reference.sparse(crossing, hyperplane),
                _ => reference.settled(crossing, hyperplane).1,
            };
            edges[e] = hyperplane.edge(crossing, &data.x, f64::INFINITY);
            best = Found::of(Shape::Gaussian, &edges, data, seed)?;
        }
        // A jump may turn out to be a steep slope.
        let (_, mut steepness) = Hyperplane::of(&edges[e]);
        while crossing == Crossing::Jump && steepness > STEEPNESS[0] {
            steepness *= 0.5;
            edges[e] = hyperplane.edge(crossing, &data.x, steepness);
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
            halve_after: 10,
            selection_rows: usize::MAX,
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
        let (hyperplane, _) = Hyperplane::of(edge);
        let sharp = hard(edge.crossing, &hyperplane.arguments(&data.x));
        let (wide, _) = reference.climbed(edge.crossing, STEEPNESS[1], hyperplane);
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
            let (hyperplane, steepness) = Hyperplane::of(&kernel.edges[e]);
            // Wide first steps forget the rows that are not among these; but they may lose the way.
            let climbs = [0, 2, 3].into_iter();
            let hyperplanes = climbs.filter_map(|from| {
                let climbed = reference.best(crossing, vec![hyperplane.clone()], from)?;
                Some(reference.settled(crossing, climbed))
            });
            let best = hyperplanes.max_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((_, hyperplane)) = best {
                kernel.edges[e] = hyperplane.edge(crossing, &data.x, steepness);
            }
        }
        kernel.edges
    }

    /// Whether the rows on the smaller side of an edge are few for the numbers that tell where it is.
    fn is_scant(&self, data: &Dataset) -> bool {
        self.evidence.kernel.edges.iter().any(|edge| {
            let sides = Hyperplane::of(edge).0.arguments(&data.x);
            let above = sides.iter().filter(|side| **side > 0.0).count();
            above.min(sides.len() - above) < ROWS_PER_INPUT * (data.dim() + 1)
        })
    }

    /// The process on all rows, cross-validated by folds; `best` is the best without edges. Where few rows tell where an edge is,
    /// each fold searches its own.
    fn cross_validated(
        self,
        best: &Process,
        samples: &Samples,
        plan: &Plan,
        seed: u64,
    ) -> Result<Process> {
        let data = &samples.data;
        let iterations = plan.iterations(data.samples(), data.dim(), self.process.kernel);
        let whole = self.onto(data, iterations)?;
        let afresh = plan.few || whole.is_scant(data);
        let edges = &whole.evidence.kernel.edges;
        let candidate = match edges.iter().any(|edge| edge.crossing == Crossing::Jump) {
            true => Candidate::Jumps,
            false => Candidate::Bends,
        };
        let evidence = whole.evidence.clone();
        Process::cross_validated(
            (candidate, whole.numbers()),
            (samples, &SingleProcess),
            evidence,
            |data, k| {
                if afresh {
                    let smooth = &best.folds[k];
                    let Some(found) = searched((smooth, best.numbers), data, seed) else {
                        return Ok(smooth.clone());
                    };
                    return Ok(found.onto(data, plan.fold_iterations)?.evidence);
                }
                Ok(whole.on(data, plan.fold_iterations, false)?.evidence)
            },
        )
    }

    /// The process on all rows of `data`, some of which it was found on.
    fn onto(self, data: &Dataset, iterations: usize) -> Result<Self> {
        match self.evidence.alpha.nrows() < data.samples() {
            true => self.on(data, iterations, true),
            false => Ok(self),
        }
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
    use crate::tests::random;

    #[test]
    fn a_kernel_without_an_edge_has_the_others_at_their_places() {
        let edge = |offset| Hyperplane {
            v: vec![1.0, 0.0, 0.0],
            t: offset,
        };
        let x = random(9, 3, 2);
        let edges = [0.3, 0.5].map(|t| edge(t).edge(Crossing::Bend, &x, 1.0));
        let mut term =
            KernelTerm::with_shares(Shape::Anova, vec![0.5; 5], vec![0.1, 0.2, 0.3, 0.4, 0.5]);
        term.lengths[4] = 0.9;
        let kernel = Kernel {
            terms: vec![term],
            edges: edges.to_vec(),
        };
        let less = without(&kernel, 0, 3);
        assert_eq!(less.edges, edges[1..]);
        assert_eq!(less.terms[0].inputs, [0, 1, 2, 3]);
        assert_eq!(less.terms[0].lengths, [0.5, 0.5, 0.5, 0.9]);
        assert_eq!(less.terms[0].shares, [0.1, 0.2, 0.3, 0.5]);
        assert!(less.fits(3));
    }
}
