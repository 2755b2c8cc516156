//! `thinfit score`: measures the error of a model on a table, in one pass.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit::Mat;
use thinfit_methods::{Extrapolation, explained};

use crate::args::{Missing, ScoreArgs};
use crate::commands::predict::block;
use crate::digits::{column_width, four_digits, r2_digits};
use crate::extrapolation::warn;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::notes::{self, tell_dropped, tell_filled};
use crate::output::check_distinct;
use crate::progress::Progress;
use crate::table::model_rows::{in_table, match_inputs, next_rows, targets};
use crate::table::{Purpose, TableSource};
use crate::terminal;

/// Errors of one output.
#[derive(Serialize)]
struct Score {
    output: String,
    mse: f64,
    rmse: f64,
    mae: f64,
    r2: f64,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Scores<'a> {
    model: &'a Path,
    data: &'a Path,
    rows: usize,
    scores: Vec<Score>,
}

/// Sums over the rows of one output.
#[derive(Clone, Default)]
struct Sums {
    squares: f64,
    magnitudes: f64,
    /// Running mean of the true values, and the sum of their squared deviations from it.
    mean: f64,
    deviations: f64,
}

impl Sums {
    fn add(&mut self, rows: usize, truth: f64, predicted: f64) {
        let error = truth - predicted;
        self.squares += error * error;
        self.magnitudes += error.abs();
        let from_mean = truth - self.mean;
        self.mean += from_mean / rows as f64;
        self.deviations += from_mean * (truth - self.mean);
    }
}

/// Measures the errors and prints them.
pub fn run(args: &ScoreArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    check_distinct(&[&args.model, &args.data], &[])?;
    let model = super::load_before_table(&args.model, memory, "score")?;
    let table = TableSource::find(&args.data, &args.more, &args.table, memory)?;
    let mut reader = table.open(Purpose::Predict(&model))?;
    let targets = targets(&reader, &args.target, &model)?;
    match_inputs(&mut reader, &model, &targets)?;
    let mut outside = Extrapolation::of(&model);
    let (d, mut rows, mut sums) = (
        model.inputs().len(),
        0,
        vec![Sums::default(); targets.len()],
    );
    let (mut fitted, mut dropped, mut filled) = (0, 0, 0);
    let rows_at_a_time = block(d + targets.len());
    let fill = matches!(args.table.missing, Some(Missing::Mean));
    while let Some(block) = next_rows(&mut reader, &model, rows_at_a_time, fill)? {
        // A model may replace a missing input, but a missing target cannot be scored.
        let is_measured = |i: &usize| (0..targets.len()).all(|o| !block.other(*i, o).is_nan());
        let measured: Vec<usize> = (0..block.places.len()).filter(is_measured).collect();
        dropped += block.rows() - measured.len();
        filled += block.filled;
        let (inputs, picked);
        let x = match measured.len() == block.places.len() {
            true => block.inputs(),
            false => {
                inputs = block.inputs();
                picked = Mat::from_fn(measured.len(), d, |i, j| inputs[(measured[i], j)]);
                picked.as_ref()
            }
        };
        let y = Mat::from_fn(measured.len(), targets.len(), |i, o| {
            block.other(measured[i], o)
        });
        outside.count(&model, x);
        let place = |row: usize| block.places[measured[row]];
        let f = model.predict(x);
        let f = f.map_err(|error| in_table(error, &reader, &model, place))?;
        fitted += model.fitted_among(x, y.as_ref(), f.as_ref());
        for i in 0..y.nrows() {
            rows += 1;
            for (o, sums) in sums.iter_mut().enumerate() {
                sums.add(rows, y[(i, o)], f[(i, o)]);
            }
        }
    }
    if rows == 0 {
        return Err(Failure::new(format!(
            "{}: no rows to score; give a table with complete rows",
            args.data.display()
        )));
    }
    let finite = |sums: &Sums| (sums.squares + sums.magnitudes + sums.deviations).is_finite();
    if let Some(o) = sums.iter().position(|sums| !finite(sums)) {
        return Err(Failure::new(format!(
            "{}: expected errors of `{}` whose squares are numbers, found larger ones; fit the model again, or use other \
             units",
            args.model.display(),
            targets[o]
        )));
    }
    let progress = Progress::new(false);
    notes::tell(&reader.notes(), &progress);
    tell_dropped(dropped, &progress);
    tell_filled(filled, &progress);
    warn(&outside, &model);
    if fitted > 0 {
        // A warning that cannot be printed is not an error.
        let _ = writeln!(
            terminal::stderr(),
            "warning: the model was fitted to {fitted} of these {rows} rows; on new rows its errors are larger"
        );
    }
    let scores = sums.iter().zip(targets).map(|(sums, output)| {
        let mse = sums.squares / rows as f64;
        Score {
            output,
            mse,
            rmse: mse.sqrt(),
            mae: sums.magnitudes / rows as f64,
            r2: explained(mse, sums.deviations / rows as f64),
        }
    });
    let result = Scores {
        model: &args.model,
        data: &args.data,
        rows,
        scores: scores.collect(),
    };
    if args.json {
        serde_json::to_writer(&mut *out, &result)?;
        writeln!(out)?;
        return Ok(());
    }
    let first = column_width(result.scores.iter().map(|score| score.output.as_str()), 16);
    writeln!(
        out,
        "{:<first$}{:>12}{:>12}{:>12}{:>14}{:>10}",
        "output", "mse", "rmse", "mae", "r²", "rows"
    )?;
    for score in &result.scores {
        writeln!(
            out,
            "{:<first$}{:>12}{:>12}{:>12}{:>14}{:>10}",
            score.output,
            four_digits(score.mse),
            four_digits(score.rmse),
            four_digits(score.mae),
            r2_digits(score.r2),
            rows
        )?;
    }
    Ok(())
}
