//! `thinfit data`: samples of the built-in problems as a table.

use std::io::Write;

use thinfit::Mat;
use thinfit_experiments::functions::{input_names, noise};
use thinfit_experiments::{Problem, Split};
use thinfit_table::Writer;

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::terminal;

/// Names of the built-in problems.
pub fn names() -> Vec<&'static str> {
    Problem::ALL.map(Problem::name).to_vec()
}

/// Draws the samples and writes the table.
pub fn run(args: &DataArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    if args.output.is_none() {
        terminal::check_open()?;
    }
    let problem: Problem = args.problem.parse()?;
    let (dim, rows) = problem.settings()[0];
    let (dim, rows) = (
        args.inputs.map_or(dim, usize::from),
        args.rows.map_or(rows, |rows| rows as usize),
    );
    // As samples, as a table, and what is drawn from.
    let numbers = (rows as u64).saturating_mul(8 * (dim as u64 + 2));
    let what = format!("{rows} rows of {dim} inputs take");
    memory.allow(&what, numbers.saturating_mul(3), "ask for fewer --rows")?;
    let split = if args.test { Split::Test } else { Split::Train };
    let sample = problem.sample(dim, rows, args.seed, split)?;
    let y = sample.y.col_as_slice(0);
    let mean = y.iter().sum::<f64>() / rows as f64;
    let deviation = (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / rows as f64).sqrt();
    let noise: Vec<f64> = match args.noise {
        0.0 => vec![0.0; rows],
        level => noise(rows, args.seed)
            .iter()
            .map(|z| level * deviation * z)
            .collect(),
    };
    let table = Mat::from_fn(rows, dim + 1, |i, j| {
        if j < dim {
            sample.x[(i, j)]
        } else {
            y[i] + noise[i]
        }
    });
    let mut names = input_names(dim);
    names.push("y".into());
    let mut writer = match &args.output {
        Some(path) => Writer::create(path)?,
        None => Writer::new("standard output", out),
    };
    writer.names(&names)?;
    writer.rows(table.as_ref())?;
    Ok(writer.finish()?)
}
