//! Which inputs enter the search if a table has very many: those that explain most of an output one by one.
//!
//! A Gaussian process with hundreds of length scales is slow to fit and, on few rows, fits any noise with some input.
//! Every input is scored by how much of an output a cubic polynomial of it alone explains, after stronger inputs; the
//! strongest enter. The choice depends on the outputs, so it is repeated without each fold.

use thinfit::Dataset;
use thinfit::pieces::dot;
use thinfit_gp::KernelTerm;

/// Inputs that always go on, and rows for each one more.
const FEW: usize = 48;
const ROWS: usize = 5;

/// Inputs that are found one by one, at most, and rows for each of them.
const ONE_BY_ONE: usize = 8;
const ROWS_EACH: usize = 15;

/// The most inputs that are searched on `m` rows.
pub(crate) fn searched(m: usize, d: usize) -> usize {
    d.min(FEW.max(m / ROWS))
}

/// The inputs that go on, ascending; none where all do.
pub(crate) fn strongest(data: &Dataset) -> Option<Vec<usize>> {
    let (m, d) = (data.samples(), data.dim());
    let count = searched(m, d);
    if d == count {
        return None;
    }
    let column = |y: faer::ColRef<'_, f64>| centred(y.iter().copied());
    let mut outputs: Vec<Vec<f64>> = data.y.col_iter().map(column).collect();
    let mut found = Vec::new();
    let mut left: Vec<(usize, Vec<Vec<f64>>)> =
        (0..d).map(|j| (j, basis(data.x.col_as_slice(j)))).collect();
    // What the strongest explain hides the others, so they are taken out one by one.
    for _ in 0..ONE_BY_ONE.min(m / ROWS_EACH) {
        let share = |(_, basis): &(usize, Vec<Vec<f64>>)| explained(basis, &outputs);
        let shares: Vec<f64> = left.iter().map(share).collect();
        let Some(best) = (0..left.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b])) else {
            break;
        };
        let (j, basis) = left.remove(best);
        found.push(j);
        for y in &mut outputs {
            for b in &basis {
                let along = dot(b, y);
                y.iter_mut().zip(b).for_each(|(y, b)| *y -= along * b);
            }
        }
    }
    let mut others: Vec<(f64, usize)> = left
        .iter()
        .map(|(j, basis)| (explained(basis, &outputs), *j))
        .collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    found.extend(others.iter().map(|other| other.1).take(count - found.len()));
    found.sort_unstable();
    Some(found)
}

/// The rows of `data` with some of their inputs.
pub(crate) fn narrowed(data: &Dataset, inputs: &[usize]) -> Dataset {
    let x = faer::Mat::from_fn(data.samples(), inputs.len(), |i, k| data.x[(i, inputs[k])]);
    Dataset {
        x,
        inputs: inputs.iter().map(|&j| data.inputs[j].clone()).collect(),
        ..data.clone()
    }
}

/// Parts of a kernel of the chosen inputs, by the numbers that these have among all.
pub(crate) fn renumbered(kernel_terms: &mut [KernelTerm], inputs: &[usize]) {
    for term in kernel_terms {
        term.inputs
            .iter_mut()
            .for_each(|input| *input = inputs[*input]);
    }
}

/// Orthonormal polynomials of an input's values up to the third degree, less the constant; none for a constant input.
fn basis(x: &[f64]) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for power in [1, 2, 3] {
        let raw: Vec<f64> = x.iter().map(|v| v.powi(power)).collect();
        let before = dot(&raw, &raw);
        let mut column = centred(raw.into_iter());
        for other in &basis {
            let along = dot(&column, other);
            column
                .iter_mut()
                .zip(other)
                .for_each(|(v, o)| *v -= along * o);
        }
        let norm = dot(&column, &column);
        // What is left of a constant, or of a power of two or three values, is rounding.
        if norm > 1e-16 * before {
            column.iter_mut().for_each(|v| *v /= norm.sqrt());
            basis.push(column);
        }
    }
    basis
}

/// The largest share of an output's sum of squares that a basis explains.
fn explained(basis: &[Vec<f64>], outputs: &[Vec<f64>]) -> f64 {
    let share = |y: &Vec<f64>| {
        let total = dot(y, y);
        let along: f64 = basis.iter().map(|b| dot(b, y).powi(2)).sum();
        if total > 0.0 { along / total } else { 0.0 }
    };
    outputs.iter().map(share).fold(0.0, f64::max)
}

fn centred(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter_mut().for_each(|v| *v -= mean);
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use faer::Mat;

    #[test]
    fn inputs_with_a_line_or_a_parabola_go_on_and_constant_ones_do_not() {
        let mut x = random(60, 2 * FEW, 3);
        x.col_as_slice_mut(4).fill(0.25);
        let y = Mat::from_fn(60, 1, |i, _| x[(i, 7)] + 4.0 * x[(i, 90)].powi(2));
        let data = Dataset::new(x, y).unwrap();
        let inputs = strongest(&data).unwrap();
        assert_eq!(inputs.len(), FEW);
        assert!(inputs.contains(&7) && inputs.contains(&90) && !inputs.contains(&4));
        let few = narrowed(&data, &inputs);
        assert_eq!(few.x.col_as_slice(2), data.x.col_as_slice(inputs[2]));
        assert_eq!(strongest(&few), None);
        let mut kernel_terms = [KernelTerm::full(thinfit_gp::Shape::Gaussian, vec![1.0; 2])];
        renumbered(&mut kernel_terms, &[7, 90]);
        assert_eq!(kernel_terms[0].inputs, [7, 90]);
    }
}
