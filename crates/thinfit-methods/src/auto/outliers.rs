//! Rows that are clearly outliers: far from what the others predict, and in the way of predicting the others.
//!
//! Large errors alone prove nothing, since a clean function has them where it is steep or the rows are thin. An outlier
//! misleads its neighbours: without it, the other rows are predicted far better. So rows beyond six robust standard
//! deviations are set aside only if that at least halves the squared error of the rest, and if the rest still puts them far
//! off.

use super::jump::is_near;
use super::samples::Samples;
use super::teacher::{Teacher, entrants};
use crate::{GaussianProcess, Result};
use thinfit::Control;

/// Robust standard deviations beyond which a row is suspected.
const FAR: f64 = 6.0;
/// Largest share of rows that may be set aside.
const MOST: f64 = 0.1;
/// Fewest rows in which outliers are looked for.
const FEWEST: usize = 20;
/// Probability below which suspects are not scattered by chance.
const CHANCE: f64 = 0.01;
/// How much smaller the squared error of the rest must become.
const GAIN: f64 = 2.0;

/// The outliers among the rows, ascending; mostly none.
pub(crate) fn found(teachers: &[Teacher], samples: &Samples, seed: u64) -> Result<Vec<usize>> {
    let mut suspects = suspects(&teachers[0]);
    suspects.retain(|&row| !is_near(&teachers[0], samples, row));
    let m = samples.data.samples();
    let well = teachers[0].error() < super::CLEAN;
    if well || m < FEWEST || suspects.is_empty() || suspects.len() as f64 > MOST * m as f64 {
        return Ok(vec![]);
    }
    let keep: Vec<usize> = (0..m).filter(|row| !suspects.contains(row)).collect();
    let rest = samples.only(&keep, seed);
    let real = is_rare_value(samples, &suspects, &keep) || is_region(samples, &suspects);
    if rest.folds.len() < 2 || real {
        return Ok(vec![]);
    }
    // One quick process tells whether the others gain.
    let entrant = &entrants(1)[1];
    let process = GaussianProcess {
        iterations: 15,
        ..entrant.process.clone()
    };
    let judged = |samples: &Samples| -> Result<Teacher> {
        let (log, _) = process.find(&samples.data, seed, &|_| Control::Continue)?;
        Teacher::new(entrant, &log, samples, 5)
    };
    let (with, without) = (judged(samples)?, judged(&rest)?);
    let residual = &with.out_of_fold.residual;
    let count = (keep.len() * residual.ncols()) as f64;
    let squares = keep.iter().map(|&i| residual.row(i).squared_norm_l2());
    let before = squares.sum::<f64>() / count;
    if before <= GAIN * without.error() {
        return Ok(vec![]);
    }
    // Neighbours of outliers were suspected only because of them.
    let model = without.scaled_model(&rest)?;
    let asked = samples.data.rows(&suspects);
    let (f, s) = (
        model.predict(asked.x.as_ref())?,
        model.deviation(asked.x.as_ref())?.observation,
    );
    let far = |i: usize, o: usize| (asked.y[(i, o)] - f[(i, o)]).abs() > FAR * s[(i, o)];
    Ok((0..suspects.len())
        .filter(|&i| (0..f.ncols()).any(|o| far(i, o)))
        .map(|i| suspects[i])
        .collect())
}

/// Whether an output has values that are rare rather than wrong: the suspects share one, or the rest is constant.
fn is_rare_value(samples: &Samples, suspects: &[usize], keep: &[usize]) -> bool {
    (0..samples.data.y.ncols()).any(|o| {
        let y = samples.data.y.col_as_slice(o);
        let equal = |rows: &[usize]| rows.iter().all(|&row| y[row] == y[rows[0]]);
        suspects.len() > 2 && equal(suspects) || equal(keep)
    })
}

/// Whether most of the suspects lie in a narrow range of one input, which chance would hardly do: the function is hard
/// there, but the rows are right. Of k rows drawn at random, some j lie in a range that holds a share w of all rows with a
/// probability of at most about (k over j) j wʲ⁻¹.
fn is_region(samples: &Samples, suspects: &[usize]) -> bool {
    let (m, d, k) = (samples.data.samples(), samples.data.dim(), suspects.len());
    let is_narrow = |values: &[f64], x: &[f64], most: usize| {
        let between = |window: &[f64]| {
            let range = window[0]..=window[most - 1];
            x.iter().filter(|v| range.contains(v)).count()
        };
        let width = values.windows(most).map(between).min().unwrap_or(m) as f64 / m as f64;
        let ways = (0..k - most).fold(1.0, |ways, i| ways * (k - i) as f64 / (i + 1) as f64);
        ways * most as f64 * width.powi(most as i32 - 1) * (d as f64) < CHANCE
    };
    (0..d).any(|input| {
        let x = samples.data.x.col_as_slice(input);
        let mut values: Vec<f64> = suspects.iter().map(|&row| x[row]).collect();
        values.sort_by(f64::total_cmp);
        [(4 * k).div_ceil(5), k].map(|most| is_narrow(&values, x, most)) != [false; 2]
    })
}

/// Rows whose error is beyond [`FAR`] robust deviations and that together make most of the squared error.
fn suspects(teacher: &Teacher) -> Vec<usize> {
    let residual = &teacher.out_of_fold.residual;
    let mut rows = Vec::new();
    for o in 0..residual.ncols() {
        let column = residual.col_as_slice(o);
        let mut sizes: Vec<f64> = column.iter().map(|r| r.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        let robust = 1.4826 * sizes[sizes.len() / 2];
        let far: Vec<usize> = (0..column.len())
            .filter(|&i| column[i].abs() > FAR * robust)
            .collect();
        let total: f64 = column.iter().map(|r| r * r).sum();
        let theirs: f64 = far.iter().map(|&i| column[i] * column[i]).sum();
        if theirs > 0.5 * total {
            rows.extend(far);
        }
    }
    rows.sort_unstable();
    rows.dedup();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use thinfit::{Dataset, Scaling};

    #[test]
    fn suspects_in_a_narrow_range_are_a_region_and_scattered_ones_are_not() {
        // A shuffled grid, a constant, and an indicator that is nearly always 0.
        let x = Mat::from_fn(100, 3, |i, j| match j {
            0 => (i * 37 % 100) as f64,
            1 => 5.0,
            _ => f64::from(u8::from(i % 25 == 0)),
        });
        let y = Mat::from_fn(100, 1, |i, _| i as f64);
        let data = Dataset::new(x, y).unwrap();
        let scalers = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
        let samples = Samples::new(&data, scalers, 5, 1);
        let rows =
            |values: [usize; 5]| values.map(|v| (0..100).find(|i| i * 37 % 100 == v).unwrap());
        assert!(is_region(&samples, &rows([90, 92, 95, 97, 99])));
        assert!(is_region(&samples, &rows([3, 96, 97, 98, 99])));
        assert!(!is_region(&samples, &rows([3, 22, 41, 77, 90])));
        assert!(!is_region(&samples, &rows([3, 22, 41, 77, 90])[..1]));
    }
}
