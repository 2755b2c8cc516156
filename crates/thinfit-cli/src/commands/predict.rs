//! `thinfit predict`: reads a stream of rows and writes a stream of predictions.

use std::io::Write;
use std::path::{Path, PathBuf};

use thinfit::{Mat, MatRef, Prediction};
use thinfit_methods::{Extrapolation, Predictor};
use thinfit_table::{Cell, Cells, Reader, Writer};

use crate::args::{self, Missing, PredictArgs};
use crate::digits::counted;
use crate::extrapolation::{warn, warn_clipped};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::notes;
use crate::output::{
    Output, check_distinct, check_table_name, check_writable, create_table, tell_written,
};
use crate::progress::Progress;
use crate::table::model_rows::{Block, in_table, match_inputs, next_rows, select_also};
use crate::table::roles;
use crate::table::{Purpose, TableSource};
use crate::terminal;

/// Rows in memory at a time, at most, and numbers of one kind.
const ROWS: usize = 1 << 15;
const NUMBERS: usize = 1 << 22;

/// Rows in memory at a time if each has this many numbers; predictions do not depend on it.
pub fn block(numbers: usize) -> usize {
    ROWS.min(NUMBERS / numbers.max(1)).max(1)
}

/// Reads, predicts and writes block by block.
pub fn run(args: &PredictArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let output = args.output.as_deref().map(|path| (path, "-o FILE"));
    let outputs: Vec<Output<'_>> = output.into_iter().collect();
    let table = TableSource::find(&args.data, &args.more, &args.table, memory)?;
    let inputs = table.files().iter().map(PathBuf::as_path);
    let inputs: Vec<&Path> = inputs.chain([args.model.as_path()]).collect();
    check_distinct(&inputs, &outputs)?;
    outputs.iter().copied().try_for_each(check_table_name)?;
    if outputs.is_empty() {
        terminal::check_open()?;
    }
    let model = super::load_before_table(&args.model, memory, "predict")?;
    // Refuse what the model cannot do before anything is read or written.
    let border = Mat::from_fn(1, model.inputs().len(), |_, j| model.domain()[j][0]);
    let too_few = Predicted::at(args, &model, border.as_ref())?.too_few();
    let mut reader = table.open(Purpose::Predict(&model))?;
    let keep = roles::names(&reader, &args.keep);
    match_inputs(&mut reader, &model, &[])?;
    let kept = select_also(&mut reader, &keep)?;
    let pool = pool(usize::from(args.threads))?;
    outputs.into_iter().try_for_each(check_writable)?;
    let mut writer = match &args.output {
        Some(path) => create_table(path)?,
        None => Writer::new("standard output", &mut *out),
    };
    let (progress, mut rows) = (Progress::counting(args.quiet), 0);
    let mut outside = match args.outside {
        args::Outside::Clip => Extrapolation::exactly(&model),
        args::Outside::Warn | args::Outside::Error => Extrapolation::of(&model),
    };
    let predicted = names(args, &model, &keep);
    let header = [keep, predicted].concat();
    writer.names(&header)?;
    let rows_at_a_time = block(header.len().max(model.inputs().len()));
    let fill = matches!(args.table.missing, Some(Missing::Mean));
    let mut gaps = Gaps::default();
    while let Some(block) = next_rows(&mut reader, &model, rows_at_a_time, fill)? {
        let x = block.inputs();
        outside.count(&model, x);
        let clipped;
        let x = match (args.outside, outside.words(&model)) {
            (args::Outside::Error, Some(words)) => {
                return Err(Failure::new(format!(
                    "{}: {words}; remove them, fit the model to such rows, or pass --outside warn or clip",
                    args.data.display()
                )));
            }
            (args::Outside::Clip, _) => {
                clipped = model.clipped(x);
                clipped.as_ref()
            }
            _ => x,
        };
        let predicted = pool.install(|| Predicted::at(args, &model, x));
        let place = |row: usize| block.places[row];
        let predicted = predicted.map_err(|error| in_table(error, &reader, &model, place))?;
        write_rows(&mut writer, &reader, &block, &kept, &predicted.columns())?;
        gaps.count(&block, rows);
        rows += block.rows();
        progress.rows(rows);
    }
    progress.finish();
    let progress = Progress::new(args.quiet);
    notes::tell(&reader.notes(), &progress);
    gaps.tell(rows, &progress);
    // What changes the meaning of the numbers is reported even with `--quiet`.
    match args.outside {
        args::Outside::Warn => warn(&outside, &model),
        args::Outside::Clip => warn_clipped(&outside, &model),
        args::Outside::Error => {}
    }
    if let (Some(level), Some(rows)) = (args.interval, too_few.filter(|_| rows > 0)) {
        // A warning that cannot be printed is not an error.
        let _ = writeln!(
            terminal::stderr(),
            "warning: --interval {level}: {} are too few for this level, so the bounds are infinite; request a lower \
             level or fit more rows",
            counted(rows, "calibration row"),
        );
    }
    writer.finish()?;
    args.output
        .as_deref()
        .map_or(Ok(()), |path| tell_written(out, path))
}

/// Rows without a prediction, and cells that were filled in.
#[derive(Default)]
struct Gaps {
    rows: usize,
    /// The first few of them, counted from 1.
    first: Vec<String>,
    filled: usize,
}

impl Gaps {
    /// Counts those of a block that comes after so many rows.
    fn count(&mut self, block: &Block, before: usize) {
        const MOST: usize = 5;
        self.filled += block.filled;
        self.rows += block.rows() - block.places.len();
        let predicted = |i: &usize| block.places.binary_search(i).is_ok();
        let gaps = (0..block.rows()).filter(|i| !predicted(i));
        let more = MOST.saturating_sub(self.first.len());
        let numbers = gaps.map(|i| (before + i + 1).to_string());
        self.first.extend(numbers.take(more));
    }

    fn tell(&self, of: usize, progress: &Progress) {
        notes::tell_filled(self.filled, progress);
        if self.rows > 0 {
            let more = if self.rows > self.first.len() {
                ", …"
            } else {
                ""
            };
            progress.warn(format!(
                "{} of {of} rows have missing values and no prediction (row {}{more}): their cells are empty",
                self.rows,
                self.first.join(", ")
            ));
        }
    }
}

/// Writes the kept columns of all rows of a block, then those `predicted`, which are empty where a row has no prediction.
fn write_rows(
    writer: &mut Writer<'_>,
    reader: &Reader,
    block: &Block,
    kept: &[usize],
    predicted: &[&[f64]],
) -> Result<(), Failure> {
    let columns: Vec<Cells<'_>> = kept.iter().map(|j| block.cells(reader, *j)).collect();
    if columns.iter().any(|cells| matches!(cells, Cells::Dates)) {
        return Err(Failure::new(
            "--keep: expected columns of numbers or text, found dates; write them as text, or keep another column",
        ));
    }
    let mut rows = block.places.iter().zip(0..).peekable();
    for i in 0..block.rows() {
        let kept = columns.iter().map(|cells| match cells {
            Cells::Numbers(values) | Cells::Text { codes: values, .. } if values[i].is_nan() => {
                Cell::Missing
            }
            Cells::Numbers(numbers) => Cell::Number(numbers[i]),
            Cells::Text { levels, codes } => Cell::Text(&levels[codes[i] as usize]),
            Cells::Dates => Cell::Missing,
        });
        let row: Option<(_, usize)> = rows.next_if(|(place, _)| **place == i);
        let cells = predicted.iter().map(|column| match row {
            Some((_, row)) => Cell::Number(column[row]),
            None => Cell::Missing,
        });
        writer.cells(kept.chain(cells))?;
    }
    Ok(())
}

/// A pool of this many threads; 0 uses all cores.
fn pool(threads: usize) -> Result<rayon::ThreadPool, Failure> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| {
            Failure::new(format!(
                "--threads {threads}: cannot start that many threads ({error}); give fewer"
            ))
        })
}

/// Names of the columns of [`Predicted`], in order, which are not among those kept.
fn names(args: &PredictArgs, model: &Predictor, keep: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for output in model.outputs() {
        let mut name = output.clone();
        while keep.contains(&name) {
            name += "_predicted";
        }
        names.push(name);
        if args.std {
            names.push(format!("{output}_std"));
        }
        if args.interval.is_some() {
            names.push(format!("{output}_low"));
            names.push(format!("{output}_high"));
        }
        if args.gradient {
            let partial = |input| format!("d({output})/d({input})");
            names.extend(model.inputs().iter().map(partial));
        }
    }
    names
}

/// What was asked for at some rows.
struct Predicted {
    all: Prediction,
    /// Whether there are columns of deviations; they may be there for the interval alone.
    std: bool,
    /// The partial derivatives of each output, if they were asked for.
    gradients: Vec<Mat<f64>>,
}

impl Predicted {
    /// Evaluates the model at the rows of `x`, each once.
    fn at(args: &PredictArgs, model: &Predictor, x: MatRef<'_, f64>) -> thinfit::Result<Self> {
        let outputs = match args.gradient {
            true => 0..model.outputs().len(),
            false => 0..0,
        };
        Ok(Predicted {
            all: model.prediction(x, args.std, args.interval)?,
            std: args.std,
            gradients: outputs
                .map(|o| model.gradient(x, o))
                .collect::<thinfit::Result<_>>()?,
        })
    }

    /// The columns to write, output by output, as [`names`] calls them.
    fn columns(&self) -> Vec<&[f64]> {
        let Prediction {
            mean,
            deviation,
            interval,
        } = &self.all;
        let deviation = deviation.as_ref().filter(|_| self.std);
        let mut columns = Vec::new();
        for o in 0..mean.ncols() {
            columns.push(mean.col_as_slice(o));
            columns.extend(deviation.map(|deviation| deviation.observation.col_as_slice(o)));
            if let Some(interval) = interval {
                columns.extend([interval.low.col_as_slice(o), interval.high.col_as_slice(o)]);
            }
            if let Some(slopes) = self.gradients.get(o) {
                columns.extend((0..slopes.ncols()).map(|j| slopes.col_as_slice(j)));
            }
        }
        columns
    }

    /// The rows behind the interval, if they are too few for its level.
    fn too_few(&self) -> Option<usize> {
        let interval = self.all.interval.as_ref();
        let unbounded = interval.filter(|interval| !interval.is_finite());
        unbounded.map(|interval| interval.rows)
    }
}
