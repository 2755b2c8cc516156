//! Which inputs matter, and which of them interact.
//!
//! For a function of independent inputs, uniform over their ranges, the share of the variance that inputs i and j have
//! in any term together, and the share that input i has in any term, are
//!
//! ```text
//! Υ_ij = ¼ E[f(x) − f(x; i) − f(x; j) + f(x; i, j)]²        Υ_i = ½ E[f(x) − f(x; i)]²
//! ```
//!
//! where x; i has coordinate i drawn anew (Liu and Owen's superset importance). They are taken from the best Gaussian
//! process. An input or a pair counts as real if its share is well above what the process's own uncertainty could feign. If
//! the pairs that act together make small groups, the function is a sum of terms in those groups. That is a guess; the
//! process with just these terms is then fitted and cross-validated by the same folds as every candidate.
//!
//! Where inputs depend on each other, most of the box is far from all rows and says nothing. There an input counts as
//! real if the rows become clearly less likely once the process forgets it, and there are no terms.

use crate::process::Process;
use crate::samples::Samples;
use faer::Mat;
use rand::RngExt;
use rayon::prelude::*;
use std::collections::HashMap;
use thinfit::Result;
use thinfit::pieces::{Purpose, stream};
use thinfit_gp::{Kernel, KernelModel, KernelTerm};

/// Points at which the differences are averaged, the most and the least.
const POINTS: [usize; 2] = [400, 100];
/// Most factors of kernels to evaluate; beyond it all inputs count as mattering.
const WORK: usize = 4_000_000_000;
/// Largest number of inputs that may matter for pairs to be looked at.
const MOST: usize = 14;
/// Largest set of inputs in a term.
const LARGEST: usize = 3;
/// How many times the expected squared error of the process a share must be.
const CLEAR: f64 = 2.0;
/// The same for pairs where that gives no terms and the error is below `EXACT`, relative to the variance: near the edges of
/// the box such a process errs by more than on average, and a wrong guess costs one fit that the folds refuse.
const CLEARER: f64 = 30.0;
const EXACT: f64 = 1e-6;

/// By how much the logarithm of the likelihood must fall without an input that matters.
const TOLD: f64 = 5.0;
/// Rows of that likelihood.
const ROWS: usize = 500;

/// What acts, by columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    /// The inputs that matter.
    pub inputs: Vec<usize>,
    /// The sets of inputs that act together, if all are small.
    pub terms: Option<Vec<Vec<usize>>>,
}

/// The structure of the function as the best process has it, each input by itself.
pub(crate) fn structure(process: &Process, samples: &Samples, seed: u64) -> Result<Structure> {
    if samples.is_independent() {
        let errors = process.out_of_fold.mse();
        return acting(&process.scaled_model(samples)?, &errors, seed);
    }
    let (rows, d) = (samples.data.samples().min(ROWS), samples.data.dim());
    let all = Structure {
        inputs: (0..d).collect(),
        terms: None,
    };
    let known = involved(&process.evidence.kernel, d);
    let factors: usize = process
        .kernel_terms
        .iter()
        .map(|term| term.inputs.len())
        .sum();
    if known.len() * factors * rows * rows > WORK {
        return Ok(Structure {
            inputs: known,
            ..all
        });
    }
    let data = samples.part(rows, 2, seed).data;
    let whole = process.value_without(&[], &data);
    let loss = |j: usize| (process.value_without(&[j], &data) - whole, j);
    let mut losses: Vec<(f64, usize)> = known.par_iter().copied().map(loss).collect();
    losses.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Of two inputs that are nearly the same either can go, but not both; so one after the other is forgotten.
    let mut forgotten = Vec::new();
    for (_, j) in losses.into_iter().filter(|(loss, _)| *loss <= TOLD) {
        forgotten.push(j);
        if process.value_without(&forgotten, &data) - whole > TOLD {
            forgotten.pop();
        }
    }
    Ok(Structure {
        inputs: known
            .into_iter()
            .filter(|j| !forgotten.contains(j))
            .collect(),
        ..all
    })
}

/// The terms of a process of other rows, such as those without a fold, cross-validated by the errors of `process`.
pub(crate) fn terms_of(
    model: &KernelModel,
    process: &Process,
    seed: u64,
) -> Option<Vec<Vec<usize>>> {
    acting(model, &process.out_of_fold.mse(), seed).ok()?.terms
}

/// The structure of a process (in scaled units) over the box [−½, ½]ᵈ. Its squared errors are at most `errors` (c), which
/// include the noise; for very long lengths its own deviation is mere rounding.
fn acting(model: &KernelModel, errors: &[f64], seed: u64) -> Result<Structure> {
    let d = model.dim();
    let known = involved(&model.body.kernel, d);
    let kernel_terms = &model.body.kernel.terms;
    let factors: usize = kernel_terms.iter().map(|term| term.inputs.len()).sum();
    let each = (known.len() * factors).saturating_mul(model.body.coefficients.nrows());
    let points = (WORK / 4 / each.max(1)).clamp(POINTS[1], POINTS[0]);
    if each.saturating_mul(points) > WORK {
        return Ok(Structure {
            inputs: known,
            terms: None,
        });
    }
    let mut rng = stream(seed, Purpose::ProbePoints, 0);
    let mut draw = || Mat::from_fn(points, d, |_, _| rng.random_range(-0.5..0.5));
    let (x, other): (Mat<f64>, Mat<f64>) = (draw(), draw());
    let exchanged = |inputs: &[usize]| {
        let mut x = x.clone();
        for &j in inputs {
            x.col_as_slice_mut(j).copy_from_slice(other.col_as_slice(j));
        }
        model.predict(x.as_ref())
    };
    let base = exchanged(&[])?;
    let deviation = model.deviation(x.as_ref())?.model;
    let c = base.ncols();
    let mean = |of: &dyn Fn(usize, usize) -> f64, o: usize| {
        (0..points).map(|i| of(i, o)).sum::<f64>() / points as f64
    };
    let error: Vec<f64> = (0..c)
        .map(|o| mean(&|i, o| deviation[(i, o)].powi(2), o).min(errors[o]))
        .collect();
    let times = |share: &dyn Fn(usize, usize) -> f64| {
        let times = |o: usize| mean(share, o) / error[o];
        (0..c).map(times).fold(0.0, f64::max)
    };
    let single = |&j: &usize| -> Result<(usize, Mat<f64>)> { Ok((j, exchanged(&[j])?)) };
    let singles: Result<HashMap<usize, Mat<f64>>> = known.par_iter().map(single).collect();
    let singles = singles?;
    let acts = |j: &usize| times(&|i, o| 0.5 * (base[(i, o)] - singles[j][(i, o)]).powi(2)) > CLEAR;
    let inputs: Vec<usize> = known.into_iter().filter(acts).collect();
    if inputs.is_empty() || inputs.len() > MOST {
        return Ok(Structure {
            inputs,
            terms: None,
        });
    }
    let mut shares = vec![vec![0.0; d]; d];
    for (at, &j) in inputs.iter().enumerate() {
        for &k in &inputs[..at] {
            let both = exchanged(&[j, k])?;
            let share = times(&|i, o| {
                let at = (i, o);
                0.25 * (base[at] - singles[&j][at] - singles[&k][at] + both[at]).powi(2)
            });
            (shares[j][k], shares[k][j]) = (share, share);
        }
    }
    let above = |least: f64| {
        let row = |row: &Vec<f64>| row.iter().map(|&share| share > least).collect();
        terms(&inputs, &shares.iter().map(row).collect::<Vec<_>>())
    };
    let exact = errors.iter().all(|&error| error < EXACT);
    let found = above(CLEAR).or_else(|| above(CLEARER).filter(|_| exact));
    Ok(Structure {
        terms: found,
        inputs,
    })
}

/// The inputs that the kernel reads, through its edges as well, ascending.
fn involved(kernel: &Kernel, d: usize) -> Vec<usize> {
    let read = |j: usize| {
        let of_term = |term: &KernelTerm| term.inputs.contains(&j);
        kernel.terms.iter().any(of_term) || kernel.edges.iter().any(|edge| edge.direction[j] != 0.0)
    };
    (0..d).filter(|j| read(*j)).collect()
}

/// The maximal sets whose members all act together, if none is large and there is more than one.
fn terms(inputs: &[usize], together: &[Vec<bool>]) -> Option<Vec<Vec<usize>>> {
    // Sets grow by one input at a time; a set that cannot grow is maximal.
    let mut growing: Vec<Vec<usize>> = inputs.iter().map(|&j| vec![j]).collect();
    let mut maximal = Vec::new();
    while let Some(set) = growing.pop() {
        let joins = |j: usize| set.iter().all(|&k| k != j && together[j][k]);
        let more: Vec<usize> = inputs.iter().copied().filter(|&j| joins(j)).collect();
        if more.is_empty() {
            maximal.push(set);
            continue;
        }
        if set.len() == LARGEST {
            return None;
        }
        let last = set[set.len() - 1];
        growing.extend(more.into_iter().filter(|&j| j > last).map(|j| {
            let mut set = set.clone();
            set.push(j);
            set
        }));
    }
    maximal.sort();
    (maximal.len() > 1).then_some(maximal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maximal_sets_of_a_graph_are_found_and_large_ones_refused() {
        let graph = |pairs: &[(usize, usize)]| {
            let mut together = vec![vec![false; 6]; 6];
            for &(j, k) in pairs {
                (together[j][k], together[k][j]) = (true, true);
            }
            together
        };
        let all = [0, 1, 2, 4, 5];
        let found = terms(&all, &graph(&[(0, 1), (1, 2), (0, 2), (2, 4)]));
        assert_eq!(found, Some(vec![vec![0, 1, 2], vec![2, 4], vec![5]]));
        let four = [(0, 1), (0, 2), (0, 4), (1, 2), (1, 4), (2, 4)];
        assert_eq!(terms(&all, &graph(&four)), None);
        assert_eq!(terms(&[0, 1], &graph(&[(0, 1)])), None);
    }
}
