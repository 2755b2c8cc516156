//! Moments of sums of products of one-factor functions: mean, variance and the parts of the variance, exact up to
//! rounding.
//!
//! Dimensions: `m` points, `d` factors, `q` nodes of a factor. A Gaussian or ANOVA kernel is a product over factors,
//! so that
//!
//! f(x) = const + Σ_t a_t Π_j φ_tj(x_j),  t over all parts of the kernel and their points.
//!
//! Every moment consists of the means μ = E φ and covariances r = Cov(φ_t, φ_u) of one-factor functions
//! (`docs/method.md`, section 8). These are sums over nodes: the levels of a text, integers, or Gauss–Legendre nodes,
//! enough to bring the error for a Gaussian below 32 digits. The terms cancel like those of waves, so all numbers
//! have 32 digits here as well. Kernels that are not smooth products have no such sums.

use super::Moments;
use crate::InputColumn;
use faer::fx128;
use rayon::prelude::*;
use std::collections::HashSet;
use std::f64::consts::PI;
use thinfit_gp::{KernelModel, KernelTerm, Shape};

/// Maximum number of nodes of a factor.
const MOST_NODES: usize = 160;
/// Logarithm of the error of a quadrature.
const ERROR: f64 = -78.0;
/// Maximum number of products of numbers with 32 digits: about ten seconds on two cores.
const MOST_PRODUCTS: usize = 1 << 31;
/// Terms whose sums are kept at a time.
const CHUNK: usize = 64;

/// f as a sum of products.
pub(crate) struct Products {
    constant: fx128,
    terms: Vec<Term>,
    factors: usize,
    /// Whether pairs of factors are computed, if that takes seconds at most.
    pairs: bool,
}

/// One product.
struct Term {
    amplitude: fx128,
    /// Its function of each factor; none where it does not depend on the factor.
    functions: Vec<Option<Function>>,
    /// E φ_j, d.
    mean: Vec<fx128>,
}

/// A function of one factor at its nodes, times the roots of their weights.
struct Function {
    /// φ − μ, q.
    centred: Vec<fx128>,
    /// dφ/dx in the units of the data; none for choices.
    slope: Vec<fx128>,
}

/// The integration nodes of a factor.
struct Nodes {
    /// The inputs from the first of the factor on, in scaled units, at each node.
    inputs: Vec<Vec<fx128>>,
    /// Roots of the weights, which sum to one.
    root: Vec<fx128>,
}

impl Products {
    /// Output `o` of a model over its factors, or none if the kernel is no sum of smooth products, or has too many.
    pub(crate) fn new(model: &KernelModel, o: usize, factors: &[InputColumn]) -> Option<Self> {
        let kernel = &model.body.kernel;
        let product = |kernel_term: &KernelTerm| {
            let distinct: HashSet<&usize> = kernel_term.inputs.iter().collect();
            matches!(kernel_term.shape, Shape::Gaussian | Shape::Anova)
                && distinct.len() == kernel_term.inputs.len()
        };
        if !(kernel.edges.is_empty() && kernel.terms.iter().all(product)) {
            return None;
        }
        let nodes = factors.iter().map(|factor| Nodes::new(model, factor));
        let nodes = nodes.collect::<Option<Vec<Nodes>>>()?;
        let count: usize = nodes.iter().map(|nodes| nodes.root.len()).sum();
        let (m, d) = (model.body.points.nrows(), factors.len());
        let terms = m.saturating_mul(kernel.terms.len());
        let pairs = terms.saturating_mul(terms).saturating_mul(count + 4 * d);
        if pairs > MOST_PRODUCTS || terms.saturating_mul(count) > MOST_PRODUCTS >> 8 {
            return None;
        }
        let scale = real(model.output_scaler.scale[o]);
        let terms = kernel.terms.iter().flat_map(|kernel_term| {
            let nodes = &nodes;
            (0..m)
                .into_par_iter()
                .map(move |i| {
                    let amplitude = real(model.body.coefficients[(i, o)]);
                    let mut term = Term {
                        amplitude: scale * amplitude * real(kernel_term.weight),
                        functions: vec![],
                        mean: vec![],
                    };
                    for (factor, nodes) in factors.iter().zip(nodes) {
                        let found = nodes.function(model, kernel_term, i, factor);
                        term.mean.push(found.as_ref().map_or(fx128::ONE, |f| f.0));
                        term.functions.push(found.map(|f| f.1));
                    }
                    term
                })
                .collect::<Vec<Term>>()
        });
        Some(Products {
            constant: real(model.output_scaler.shift[o]) + scale * real(model.body.mean[o]),
            terms: terms.collect(),
            factors: d,
            pairs: m.saturating_mul(count).saturating_mul(count) <= MOST_PRODUCTS,
        })
    }

    /// All moments; the variance and its parts have rounding errors of about d (ε Σ|a|)², ε that of a double. `watch` receives the
    /// progress.
    pub(crate) fn moments(&self, watch: &dyn Fn(f64)) -> Moments {
        let (n, d) = (self.terms.len(), self.factors);
        let mut sums = Sums::new(d);
        // Collected by term and added in their order: the same sums for any number of threads.
        for first in (0..n).step_by(CHUNK) {
            let rows: Vec<Sums> = (first..n.min(first + CHUNK))
                .into_par_iter()
                .map(|l| {
                    let mut sums = Sums::new(d);
                    (0..=l).for_each(|k| self.add_pair(l, k, &mut sums));
                    sums
                })
                .collect();
            sums = rows.iter().fold(sums, Sums::plus);
            watch((n.min(first + CHUNK) as f64 / n as f64).powi(2));
        }
        let mean = self.terms.iter().fold(self.constant, |sum, term| {
            sum + term.mean.iter().fold(term.amplitude, |a, &b| a * b)
        });
        let rounded = |values: &[fx128]| values.iter().map(|v| v.0).collect::<Vec<f64>>();
        let rows = if self.pairs { 0..d } else { 0..0 };
        let places: Vec<(usize, usize)> = rows
            .clone()
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .collect();
        let pairs: Vec<f64> = places
            .par_iter()
            .map(|&(i, j)| self.together(i, j))
            .collect();
        Moments {
            mean: mean.0,
            variance: sums.variance.0,
            first: (0..d).map(|j| self.alone(j)).collect(),
            total: rounded(&sums.total),
            second: rows
                .map(|i| pairs[i * i.saturating_sub(1) / 2..][..i].to_vec())
                .collect(),
            second_error: 0.0,
            derivative: rounded(&sums.derivative),
        }
    }

    /// Var E[f | x_j], as a sum of squares over nodes.
    fn alone(&self, j: usize) -> f64 {
        let mut effect: Vec<fx128> = vec![];
        for term in &self.terms {
            let Some(function) = &term.functions[j] else {
                continue;
            };
            let weight = term.without(&[j]);
            effect.resize(function.centred.len(), fx128::ZERO);
            for (sum, &value) in effect.iter_mut().zip(&function.centred) {
                *sum += weight * value;
            }
        }
        effect.iter().fold(fx128::ZERO, |sum, &v| sum + v * v).0
    }

    /// The part of the variance due to factors i and j together, as a sum of squares over pairs of nodes.
    fn together(&self, i: usize, j: usize) -> f64 {
        let mut effect: Vec<Vec<fx128>> = vec![];
        for term in &self.terms {
            let (Some(one), Some(other)) = (&term.functions[i], &term.functions[j]) else {
                continue;
            };
            let weight = term.without(&[i, j]);
            effect.resize(one.centred.len(), vec![fx128::ZERO; other.centred.len()]);
            for (row, &value) in effect.iter_mut().zip(&one.centred) {
                let value = weight * value;
                for (sum, &other) in row.iter_mut().zip(&other.centred) {
                    *sum += value * other;
                }
            }
        }
        let squares = effect.iter().flatten();
        squares.fold(fx128::ZERO, |sum, &v| sum + v * v).0
    }

    /// Adds the products of the terms l and k, k ≤ l, in both orders.
    fn add_pair(&self, l: usize, k: usize, sums: &mut Sums) {
        let (one, other) = (&self.terms[l], &self.terms[k]);
        let count = real(if k < l { 2.0 } else { 1.0 });
        let weight = one.amplitude * other.amplitude * count;
        // r and s: covariances of the functions and of their slopes; p: product of their means; g = p + r.
        let of = |j: usize| match (&one.functions[j], &other.functions[j]) {
            (Some(a), Some(b)) => [dot(&a.centred, &b.centred), dot(&a.slope, &b.slope)],
            _ => [fx128::ZERO; 2],
        };
        let rs: Vec<[fx128; 2]> = (0..self.factors).map(of).collect();
        let (mut before, mut difference) = (vec![weight], fx128::ZERO);
        for (j, [r, _]) in rs.iter().enumerate() {
            let p = one.mean[j] * other.mean[j];
            difference = difference * p + before[j] * *r;
            before.push(before[j] * (p + *r));
        }
        sums.variance += difference;
        let mut after = fx128::ONE;
        for (j, [r, s]) in rs.iter().enumerate().rev() {
            let others = before[j] * after;
            sums.total[j] += others * *r;
            sums.derivative[j] += others * *s;
            after *= one.mean[j] * other.mean[j] + *r;
        }
    }
}

impl Term {
    /// a Π μ over all factors but some.
    fn without(&self, left_out: &[usize]) -> fx128 {
        let kept = self.mean.iter().enumerate();
        let kept = kept.filter(|(j, _)| !left_out.contains(j));
        kept.fold(self.amplitude, |product, (_, &mean)| product * mean)
    }
}

/// Sums over pairs of terms, as in [`Moments`].
struct Sums {
    variance: fx128,
    total: Vec<fx128>,
    derivative: Vec<fx128>,
}

impl Sums {
    fn new(d: usize) -> Self {
        Sums {
            variance: fx128::ZERO,
            total: vec![fx128::ZERO; d],
            derivative: vec![fx128::ZERO; d],
        }
    }

    fn plus(mut self, other: &Sums) -> Self {
        self.variance += other.variance;
        let add = |a: &mut Vec<fx128>, b: &[fx128]| a.iter_mut().zip(b).for_each(|(a, b)| *a += *b);
        add(&mut self.total, &other.total);
        add(&mut self.derivative, &other.derivative);
        self
    }
}

impl Nodes {
    /// The nodes of a factor: its levels or whole numbers, or as many of a range as the shortest length asks for; none if these are too many,
    /// or if the factor is uniform in its logarithm.
    fn new(model: &KernelModel, factor: &InputColumn) -> Option<Self> {
        let scaler = &model.input_scaler;
        let scaled = |j: usize, v: f64| {
            (real(scaler.warped(j, v)) - real(scaler.shift[j])) / real(scaler.scale[j])
        };
        if let Some(choices) = factor.choices() {
            if choices > MOST_NODES && factor.levels.is_empty() {
                return None;
            }
            let share = (real(1.0) / real(choices as f64)).sqrt();
            let mut row = vec![0.0; model.dim()];
            let inputs = (0..choices).map(|choice| {
                factor.choose(choice, &mut row);
                let inputs = (factor.first..).take(factor.inputs());
                inputs.map(|j| scaled(j, row[j])).collect()
            });
            return Some(Nodes {
                inputs: inputs.collect(),
                root: vec![share; choices],
            });
        }
        if factor.log {
            return None;
        }
        let [low, high] = factor.range.map(|v| scaled(factor.first, v));
        let (centre, half) = ((low + high) * real(0.5), (high - low) * real(0.5));
        // Of a warped input the units of the data have the density dv/du, which is cosh u.
        let (unit, shift) = (
            real(scaler.scale[factor.first]),
            real(scaler.shift[factor.first]),
        );
        let warped = |node: fx128| node * unit + shift;
        let warp = scaler.warp_of(factor.first);
        let growth = warp.map_or(0.0, |_| (half * unit).0.abs());
        let last = warped(low).0.abs().max(warped(high).0.abs());
        let density = |node: fx128| match warp {
            // Divided by its largest value.
            Some(_) => {
                let u = warped(node);
                (u - real(last)).exp() + (real(-last) - u).exp()
            }
            None => fx128::ONE,
        };
        let parts = model.body.kernel.terms.iter();
        let lengths =
            parts.flat_map(|kernel_term| kernel_term.inputs.iter().zip(&kernel_term.lengths));
        let own = lengths.filter(|(input, _)| **input == factor.first);
        let shortest = own.map(|(_, length)| *length).fold(f64::INFINITY, f64::min);
        let (places, weights) = gauss_legendre(node_count(half.0.abs() / shortest, growth)?);
        let nodes: Vec<fx128> = places.iter().map(|&t| centre + half * t).collect();
        let weights = weights.iter().zip(&nodes);
        let weights: Vec<fx128> = weights.map(|(w, node)| *w * density(*node)).collect();
        let total = weights.iter().fold(fx128::ZERO, |sum, w| sum + *w);
        Some(Nodes {
            inputs: nodes.into_iter().map(|node| vec![node]).collect(),
            root: weights.iter().map(|w| (*w / total).sqrt()).collect(),
        })
    }

    /// The mean and the function of this factor in a kernel term at point i; none where the term does not depend on it.
    fn function(
        &self,
        model: &KernelModel,
        kernel_term: &KernelTerm,
        i: usize,
        factor: &InputColumn,
    ) -> Option<(fx128, Function)> {
        let own = kernel_term.inputs.iter().enumerate();
        let own: Vec<(usize, usize)> = own
            .filter_map(|(k, j)| j.checked_sub(factor.first).map(|at| (k, at)))
            .filter(|(_, at)| *at < factor.inputs())
            .collect();
        if own.is_empty() {
            return None;
        }
        let slopes = factor.choices().is_none();
        let (mut values, mut slope) = (vec![], vec![]);
        for inputs in &self.inputs {
            let mut value = fx128::ONE;
            for &(k, at) in &own {
                let length = real(kernel_term.lengths[k]);
                let t = (inputs[at] - real(model.body.points[(i, factor.first + at)])) / length;
                let kappa = (t * t * real(-0.5)).exp();
                let share = real(kernel_term.shares.get(k).copied().unwrap_or(1.0));
                value *= fx128::ONE - share + share * kappa;
                if slopes {
                    let unit = real(model.input_scaler.scale[factor.first]);
                    let warped = unit * inputs[at] + real(model.input_scaler.shift[factor.first]);
                    let warp = model.input_scaler.warp_of(factor.first);
                    let bent = warp.map_or(fx128::ONE, |warp| {
                        let cosh = (warped.exp() + (-warped).exp()) * real(0.5);
                        real(warp.width) * cosh
                    });
                    slope.push(-(share * kappa * t) / (length * unit * bent));
                }
            }
            values.push(value);
        }
        let weighted = |values: &[fx128]| -> Vec<fx128> {
            values
                .iter()
                .zip(&self.root)
                .map(|(&v, &root)| v * root)
                .collect()
        };
        let mean = dot(&weighted(&values), &self.root);
        let centred: Vec<fx128> = values.iter().map(|&v| v - mean).collect();
        let function = Function {
            centred: weighted(&centred),
            slope: weighted(&slope),
        };
        Some((mean, function))
    }
}

/// How many nodes integrate the product of two Gaussians whose length is 1/`ratio` of half the range, and of a density that grows like
/// e^u over half a range of `growth`, to 32 digits.
///
/// On the ellipse around [−1, 1] whose half axes sum to e^s such a product is at most exp(ratio² sinh² s + growth (cosh s − 1)), beside
/// its largest value on [−1, 1], and n nodes err by e^(−2ns) times that, up to a factor of some units.
fn node_count(ratio: f64, growth: f64) -> Option<usize> {
    let logarithm = |n: usize| {
        let at =
            |s: f64| (ratio * s.sinh()).powi(2) + growth * (s.cosh() - 1.0) - 2.0 * n as f64 * s;
        (1..=60)
            .map(|k| at(0.05 * f64::from(k)))
            .fold(0.0, f64::min)
    };
    (8..=MOST_NODES).step_by(4).find(|&n| logarithm(n) <= ERROR)
}

/// Nodes on [−1, 1] and weights that sum to 2, for polynomials up to the degree 2n − 1.
fn gauss_legendre(n: usize) -> (Vec<fx128>, Vec<fx128>) {
    // P_n and its derivative.
    let polynomial = |x: fx128| {
        let (mut before, mut now) = (fx128::ONE, x);
        for k in 1..n {
            let [a, b, c] = [2 * k + 1, k, k + 1].map(|v| real(v as f64));
            (before, now) = (now, (a * x * now - b * before) / c);
        }
        let slope = real(n as f64) * (x * now - before) / (x * x - fx128::ONE);
        (now, slope)
    };
    let node = |k: usize| {
        let mut x = real((PI * (k as f64 + 0.75) / (n as f64 + 0.5)).cos());
        // The first guess has four digits or more, and each step doubles them.
        for _ in 0..6 {
            let (value, slope) = polynomial(x);
            x -= value / slope;
        }
        let slope = polynomial(x).1;
        (x, real(2.0) / ((fx128::ONE - x * x) * slope * slope))
    };
    (0..n).map(node).unzip()
}

fn real(value: f64) -> fx128 {
    fx128::from_f64(value)
}

fn dot(a: &[fx128], b: &[fx128]) -> fx128 {
    let pairs = a.iter().zip(b);
    pairs.fold(fx128::ZERO, |sum, (&a, &b)| sum + a * b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_integrate_gaussians_to_thirty_digits() {
        for ratio in [0.01, 0.5, 3.0, 10.0] {
            let n = node_count(ratio, 0.0).unwrap();
            // Centres inside and outside; four times the nodes on both halves are the reference.
            for centre in [0.0, 0.3, -1.4] {
                let f = |x: fx128| {
                    let t = (x - real(centre)) * real(ratio);
                    (-(t * t)).exp()
                };
                let rule = |n: usize, from: f64, to: f64| {
                    let (x, w) = gauss_legendre(n);
                    let (middle, half) = (real(0.5 * (from + to)), real(0.5 * (to - from)));
                    let values = x.iter().zip(&w).map(|(&x, &w)| w * f(middle + half * x));
                    values.fold(fx128::ZERO, |a, b| a + b) * half
                };
                let exact = rule(n, -1.0, 0.0) + rule(n, 0.0, 1.0);
                let error = rule(n, -1.0, 1.0) - exact;
                assert!(error.0.abs() < 1e-29, "{ratio} {centre}: {error:?}");
            }
        }
        assert_eq!(node_count(1e3, 0.0), None);
    }
}
