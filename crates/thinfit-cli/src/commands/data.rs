//! `thinfit data`: samples of the built-in problems as a table.

use std::io::Write;

use thinfit::Mat;
use thinfit_experiments::functions::{add_noise, input_names};
use thinfit_experiments::{Problem, Split};
use thinfit_table::Writer;

use crate::args::DataArgs;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{check_table_name, create_table, tell_written};
use crate::terminal;

/// Names of the built-in problems.
pub fn names() -> Vec<&'static str> {
    Problem::ALL.map(Problem::name).to_vec()
}

/// Draws the samples and writes the table.
pub fn run(args: &DataArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    match args.output.as_deref() {
        Some(path) => check_table_name((path, "-o FILE"))?,
        None => terminal::check_open()?,
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
    let mut sample = problem.sample(dim, rows, args.seed, split)?;
    add_noise(sample.y.col_as_slice_mut(0), args.noise, args.seed);
    let table = Mat::from_fn(rows, dim + 1, |i, j| match j < dim {
        true => sample.x[(i, j)],
        false => sample.y[(i, 0)],
    });
    let mut names = input_names(dim);
    names.push("y".into());
    let mut writer = match &args.output {
        Some(path) => create_table(path)?,
        None => Writer::new("standard output", &mut *out),
    };
    writer.names(&names)?;
    writer.rows(table.as_ref())?;
    writer.finish()?;
    args.output
        .as_deref()
        .map_or(Ok(()), |path| tell_written(out, path))
}
