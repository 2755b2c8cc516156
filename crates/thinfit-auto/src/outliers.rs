//! Outliers: rows far from what the others predict, which also spoil the prediction of the others.
//!
//! Large errors alone prove nothing, since a noise-free function has them where it is steep or rows are sparse. An
//! outlier misleads its neighbours: without it, the other rows are predicted far better. So rows beyond six robust
//! standard deviations are set aside only if that at least halves the squared error of the rest, and if a model of
//! the rest still contradicts them. If the rest is smooth and noise-free, as the output of a simulation is, a row may
//! be a sharp peak that no other row has seen, so it is kept and reported.

use crate::edges::is_near;
use crate::process::{Process, configurations, in_scaled_units};
use crate::samples::Samples;
use faer::RowRef;
use thinfit::pieces::upper_median;
use thinfit::{Control, Dataset, Result};
use thinfit_gp::GaussianProcess;
use thinfit_model::CLEAN;

/// Robust standard deviations beyond which a row is suspected.
const FAR: f64 = 6.0;
/// Largest share of rows that may be set aside.
const MOST: f64 = 0.1;
/// Fewest rows in which outliers are looked for.
const FEWEST: usize = 20;
/// Probability below which suspects are not scattered by chance.
const CHANCE: f64 = 0.01;
/// Neighbours without which a row must still be far off.
const NEIGHBOURS: usize = 4;
/// How much smaller the squared error of the rest must become.
const GAIN: f64 = 2.0;

/// Rows that contradict the others, ascending; mostly none.
#[derive(Default)]
pub(crate) struct Outliers {
    /// Those to set aside.
    pub aside: Vec<usize>,
    /// Those that may as well be right.
    pub kept: Vec<usize>,
}

/// The outliers among the rows.
pub(crate) fn found(processes: &[Process], samples: &Samples, seed: u64) -> Result<Outliers> {
    let mut suspects = suspects(&processes[0]);
    suspects.retain(|&row| !is_near(&processes[0], samples, row));
    let m = samples.data.samples();
    let well = processes[0].error() < CLEAN;
    if well || m < FEWEST || suspects.is_empty() || suspects.len() as f64 > MOST * m as f64 {
        return Ok(Outliers::default());
    }
    let keep: Vec<usize> = (0..m).filter(|row| !suspects.contains(row)).collect();
    let rest = samples.only(&keep, seed);
    let real = is_rare_value(samples, &suspects, &keep) || is_region(samples, &suspects);
    if rest.folds.len() < 2 || real {
        return Ok(Outliers::default());
    }
    // One quick process tells whether the others gain.
    let configuration = &configurations(1, 0.0)[1];
    let process = GaussianProcess {
        iterations: 15,
        ..configuration.process.clone()
    };
    let fit = |samples: &Samples| -> Result<(Vec<f64>, Process)> {
        let (log, _) = process.find(&samples.data, seed, &|_| Control::Continue)?;
        let process = Process::new(configuration, &log, samples, 5)?;
        Ok((log, process))
    };
    let ((_, with), (log, without)) = (fit(samples)?, fit(&rest)?);
    let residual = &with.out_of_fold.residual;
    let count = (keep.len() * residual.ncols()) as f64;
    let squares = keep.iter().map(|&i| residual.row(i).squared_norm_l2());
    let before = squares.sum::<f64>() / count;
    if before <= GAIN * without.error() {
        return Ok(Outliers::default());
    }
    let mut found = Vec::new();
    for &row in &suspects {
        // Neighbours of outliers were suspected only because of them; and where a function is steep, its neighbours alone
        // make a row that is right look wrong, so the verdict must stand without them.
        let all = far_off(row, (samples, &rest.data), (&process, &log))?;
        let fewer = rest.data.rows(&without_neighbours(
            samples.data.x.row(row),
            &rest.data,
            &log,
        ));
        if all && far_off(row, (samples, &fewer), (&process, &log))? {
            found.push(row);
        }
    }
    // The scaling of all rows is that of their outliers.
    Ok(match without.error() < CLEAN * variance(&rest) {
        true => Outliers {
            aside: vec![],
            kept: found,
        },
        false => Outliers {
            aside: found,
            kept: vec![],
        },
    })
}

/// The variance of the outputs, in the mean over outputs.
fn variance(samples: &Samples) -> f64 {
    let (m, c) = (samples.data.y.nrows() as f64, samples.data.y.ncols() as f64);
    let of = |column: faer::ColRef<'_, f64>| {
        let mean = column.iter().sum::<f64>() / m;
        column.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / m
    };
    samples.data.y.col_iter().map(of).sum::<f64>() / c
}

/// Whether a row is beyond [`FAR`] deviations from what a process of other rows predicts.
fn far_off(
    row: usize,
    (samples, others): (&Samples, &Dataset),
    (process, log): (&GaussianProcess, &[f64]),
) -> Result<bool> {
    let model = in_scaled_units(others, &process.evidence(others, log)?)?;
    let asked = samples.data.rows(&[row]);
    let (f, s) = (
        model.predict(asked.x.as_ref())?,
        model.deviation(asked.x.as_ref())?.observation,
    );
    let far = |o: usize| (asked.y[(0, o)] - f[(0, o)]).abs() > FAR * s[(0, o)];
    Ok((0..f.ncols()).any(far))
}

/// The rows of `data` but the [`NEIGHBOURS`] nearest to `x`, in units of the process's lengths.
fn without_neighbours(x: RowRef<'_, f64>, data: &Dataset, log: &[f64]) -> Vec<usize> {
    let square = |i: usize| -> f64 {
        (0..data.dim())
            .map(|j| ((data.x[(i, j)] - x[j]) * (-log[j]).exp()).powi(2))
            .sum()
    };
    let mut rows: Vec<(f64, usize)> = (0..data.samples()).map(|i| (square(i), i)).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut rows: Vec<usize> = rows[NEIGHBOURS.min(rows.len() / 2)..]
        .iter()
        .map(|row| row.1)
        .collect();
    rows.sort_unstable();
    rows
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
fn suspects(process: &Process) -> Vec<usize> {
    let residual = &process.out_of_fold.residual;
    let mut rows = Vec::new();
    for o in 0..residual.ncols() {
        let column = residual.col_as_slice(o);
        let sizes = column.iter().map(|r| r.abs()).collect();
        let robust = 1.4826 * upper_median(sizes).unwrap_or(0.0);
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
    use thinfit::Scaling;

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
