//! `thinfit suggest`: proposes the next rows to sample.

use std::io::Write;
use std::path::Path;

use thinfit::Mat;
use thinfit_methods::{Predictor, Setting};
use thinfit_study::{Aim, notes, suggest};
use thinfit_table::{Cell, Writer};

use crate::args::{self, SuggestArgs};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{check_distinct, check_table_name, create_table, tell_written};
use crate::progress::Progress;
use crate::table::TableSource;
use crate::table::model_rows::Rows;
use crate::terminal;

/// Chooses the rows and writes the table.
pub fn run(args: &SuggestArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let inputs = [
        Some(&args.model),
        args.ranges.as_ref(),
        args.add_to.as_ref(),
    ];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(|p| p.as_path()).collect();
    match &args.output {
        Some(output) => {
            check_distinct(&inputs, &[(output.as_path(), "--output")])?;
            check_table_name((output, "--output"))?;
        }
        None => terminal::check_open()?,
    }
    let model = super::load(&args.model, memory)?;
    let goal = goal(args, &model)?;
    let region = super::region(&model, args.ranges.as_deref(), &args.fix, &args.within)?;
    let d = model.inputs().len();
    let taken = match &args.add_to {
        None => Mat::zeros(0, d),
        Some(path) => {
            let table = TableSource::find(path, &[], &args.table, memory)?;
            let rows = Rows::read(&table, &model, None)?;
            rows.tell(&Progress::new(false));
            rows.inputs
        }
    };
    let rows = suggest(&region, goal, args.rows as usize, taken.as_ref(), args.seed)?;
    let mut writer = match &args.output {
        Some(path) => create_table(path)?,
        None => Writer::new("standard output", &mut *out),
    };
    let factors = region.factors();
    let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    writer.names(&names)?;
    for i in 0..rows.nrows() {
        let row: Vec<f64> = rows.row(i).iter().copied().collect();
        // A column of quantities is read with its unit.
        let quantities: Vec<Option<String>> = factors
            .iter()
            .map(|factor| Some(format!("{} {}", row[factor.first], factor.unit.as_ref()?)))
            .collect();
        let cells = factors.iter().zip(&quantities);
        writer.cells(cells.map(
            |(factor, quantity)| match (quantity, factor.setting(&row)) {
                (Some(quantity), _) => Cell::Text(quantity),
                (None, Setting::Number(number)) => Cell::Number(number),
                (None, Setting::Level(name)) => Cell::Text(name),
            },
        ))?;
    }
    writer.finish()?;
    // To find an extremum, columns with no detectable effect stay where they are.
    let undetected = match goal {
        Aim::Uncertainty => vec![],
        Aim::Minimum(_) | Aim::Maximum(_) => region.undetected(),
    };
    for note in notes(&undetected, &region.integers(), &region.switches()) {
        eprintln!("{note}");
    }
    args.output
        .as_deref()
        .map_or(Ok(()), |path| tell_written(out, path))
}

/// The purpose of the rows, with the output to minimise or maximise.
fn goal(args: &SuggestArgs, model: &Predictor) -> Result<Aim, Failure> {
    let outputs = model.outputs();
    let goal: fn(usize) -> Aim = match (args.goal, &args.target) {
        (args::Goal::Uncertainty, None) => return Ok(Aim::Uncertainty),
        (args::Goal::Uncertainty, Some(_)) => {
            return Err(Failure::new(
                "--target needs --goal minimum or maximum; the goal uncertainty is for all outputs: \
                 remove --target, or give a goal",
            ));
        }
        (args::Goal::Minimum, _) => Aim::Minimum,
        (args::Goal::Maximum, _) => Aim::Maximum,
    };
    match &args.target {
        None if outputs.len() == 1 => Ok(goal(0)),
        None => Err(Failure::new(format!(
            "the model has {} outputs; choose one with --target COL: {}",
            outputs.len(),
            outputs.join(", ")
        ))),
        Some(name) => match outputs.iter().position(|output| output == name) {
            Some(o) => Ok(goal(o)),
            None => Err(Failure::new(format!(
                "--target {name}: not an output of the model; choose one of {}",
                outputs.join(", ")
            ))),
        },
    }
}
