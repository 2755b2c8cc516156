//! The rows of a table as a model takes them: its inputs found by name and encoded, block by block or all at once.

use std::collections::HashMap;

use thinfit::{Code, Coded, Column, Encoding, Mat, MatRef};
use thinfit_methods::Predictor;
use thinfit_table::{Cells, Note, Place, Problem, Reader, Remedy};

use crate::failure::Failure;
use crate::notes;
use crate::progress::Progress;
use crate::table::roles::{indices, names, select};
use crate::table::samples::column;
use crate::table::{Purpose, TableSource};

/// Selects the model's inputs, then `targets`, whatever their order in the file.
///
/// Columns are matched by name. Failing that, a table without names is matched by position, if it has exactly as many
/// columns.
pub fn match_inputs(
    reader: &mut Reader,
    model: &Predictor,
    targets: &[String],
) -> Result<(), Failure> {
    let raw: Vec<&Coded> = model.encoding().iter().flat_map(|e| e.used()).collect();
    let inputs = match model.encoding() {
        None => model.inputs().to_vec(),
        Some(_) => raw.iter().map(|coded| coded.name.clone()).collect(),
    };
    let wanted = [&inputs, targets].concat();
    let columns = match indices(reader, &wanted) {
        Err(_) if nameless(reader.names()) && reader.names().len() == wanted.len() => {
            (0..wanted.len()).collect()
        }
        found => found?,
    };
    let text = raw.iter().zip(&columns);
    let text = text.filter(|(coded, _)| coded.code != Code::Number);
    reader.admit_text(&text.map(|(_, j)| *j).collect::<Vec<_>>());
    select(reader, &columns)
}

/// Whether these are the made-up names of a table without names.
fn nameless(names: &[String]) -> bool {
    (1..).zip(names).all(|(j, name)| *name == format!("c{j}"))
}

/// The columns of true values: those named by the user, or else the model's outputs.
pub fn targets(
    reader: &Reader,
    given: &[String],
    model: &Predictor,
) -> Result<Vec<String>, Failure> {
    let given = names(reader, given);
    match given.len() {
        0 => Ok(model.outputs().to_vec()),
        count if count == model.outputs().len() => Ok(given),
        count => Err(Failure::new(format!(
            "--target: expected {} columns, one for each output of the model ({}), found {count}",
            model.outputs().len(),
            model.outputs().join(", ")
        ))),
    }
}

/// Also selects these columns of numbers or text, after those of [`match_inputs`]; returns the position of each
/// among all that are selected.
pub fn select_also(reader: &mut Reader, names: &[String]) -> Result<Vec<usize>, Failure> {
    let mut columns = reader.selected().to_vec();
    let mut known: HashMap<usize, usize> = columns.iter().copied().zip(0..).collect();
    let mut places = Vec::new();
    for column in indices(reader, names)? {
        let place = *known.entry(column).or_insert(columns.len());
        places.push(place);
        if place == columns.len() {
            columns.push(column);
            reader.admit_text(&[reader.admitted(), vec![column]].concat());
        }
    }
    // Columns that are copied may have gaps; inputs may not.
    let inputs = reader.selected().to_vec();
    let kept: Vec<usize> = columns
        .iter()
        .copied()
        .filter(|c| !inputs.contains(c))
        .collect();
    reader.admit_gaps(&kept);
    reader.select(&columns);
    Ok(places)
}

/// Some rows of a table.
pub struct Block {
    /// All rows with the selected columns as they were read, those of the inputs first.
    table: Mat<f64>,
    /// The inputs of the complete rows, unless all rows are complete and the columns are the inputs.
    inputs: Option<Mat<f64>>,
    /// Columns of the table from which the inputs are made.
    raw_inputs: usize,
    /// The places of the complete rows in the block.
    pub places: Vec<usize>,
    /// Missing cells that the model has replaced.
    pub filled: usize,
}

impl Block {
    /// The number of rows, complete or not.
    pub fn rows(&self) -> usize {
        self.table.nrows()
    }

    /// The model's inputs of the complete rows.
    pub fn inputs(&self) -> MatRef<'_, f64> {
        match &self.inputs {
            Some(inputs) => inputs.as_ref(),
            None => self.table.as_ref().subcols(0, self.raw_inputs),
        }
    }

    /// The value of the `o`-th column after the inputs in complete row `i`; NaN where it is missing.
    pub fn other(&self, i: usize, o: usize) -> f64 {
        self.table[(self.places[i], self.raw_inputs + o)]
    }

    /// The cells of the selected column `j`, of all rows; `reader` has read this block last.
    pub fn cells<'a>(&'a self, reader: &'a Reader, j: usize) -> Cells<'a> {
        reader.cells(&self.table, j)
    }
}

/// The next rows of a table opened to predict, selected by [`match_inputs`]. Where inputs are missing, the model fills them in,
/// or the row is not complete.
pub fn next_rows(
    reader: &mut Reader,
    model: &Predictor,
    rows: usize,
    fill: bool,
) -> Result<Option<Block>, Failure> {
    let read = reader.next_block(rows);
    let fills = model.encoding().is_some_and(Encoding::fills);
    let read = read.map_err(|error| if fills { fillable(error) } else { error })?;
    let Some(table) = read else {
        return Ok(None);
    };
    let (rows, encoding) = (table.nrows(), model.encoding());
    let raw_inputs = encoding.map_or(model.inputs().len(), |encoding| encoding.used().count());
    let gaps = |i: usize| (0..raw_inputs).filter(|j| table[(i, *j)].is_nan()).count();
    let places: Vec<usize> = match fill {
        true => (0..rows).collect(),
        false => (0..rows).filter(|i| gaps(*i) == 0).collect(),
    };
    let filled = places.iter().map(|i| gaps(*i)).sum();
    let complete = (places.len() < rows)
        .then(|| Mat::from_fn(places.len(), raw_inputs, |i, j| table[(places[i], j)]));
    let inputs = match encoding {
        None => complete,
        Some(encoding) => {
            let rows = complete.as_ref().unwrap_or(&table);
            let place = |j: usize, text: &str| reader.place(j, text);
            Some(encoded(encoding, &|j| reader.cells(rows, j), &place)?)
        }
    };
    Ok(Some(Block {
        table,
        inputs,
        raw_inputs,
        places,
        filled,
    }))
}

/// The error with the advice to fill gaps, where it is about some.
fn fillable(mut error: thinfit_table::Error) -> thinfit_table::Error {
    if error.remedies.contains(&Remedy::DropRows) {
        error.remedies.push(Remedy::FillMeans);
    }
    if let Problem::Several { errors, .. } = &mut error.problem {
        *errors = std::mem::take(errors).into_iter().map(fillable).collect();
    }
    error
}

/// The failure of a prediction whose row `row` is in place `place(row)` of the last block.
pub fn in_table(
    error: thinfit::Error,
    reader: &Reader,
    model: &Predictor,
    place: impl Fn(usize) -> usize,
) -> Failure {
    let at = |row: usize| reader.place_of(place(row));
    match error {
        thinfit::Error::NotFinite {
            row, column, value, ..
        } => Failure::new(format!(
            "{}: column `{}` has the value {value:?}, which is not finite or too large; correct it, or remove the row",
            at(row),
            model.inputs()[column]
        )),
        thinfit::Error::Overflow { row, .. } => Failure::new(format!(
            "{}: the prediction overflows; remove the row, or fit the model to such rows",
            at(row)
        )),
        error => error.into(),
    }
}

/// Rows to compare a model with.
pub struct Rows {
    /// The model's inputs.
    pub inputs: Mat<f64>,
    /// The columns that were selected after the inputs.
    pub targets: Mat<f64>,
    /// The place of each row in the table, counted from 0.
    pub places: Vec<usize>,
    /// How many rows were left out.
    dropped: usize,
    /// What was done to the files of the table.
    notes: Vec<Note>,
}

impl Rows {
    /// Opens a table and reads the inputs of the model, and, if `targets` says so, the columns of true values: those that it names, or
    /// else the model's outputs.
    pub fn read(
        table: &TableSource,
        model: &Predictor,
        targets: Option<&[String]>,
    ) -> Result<Self, Failure> {
        let mut reader = table.open(Purpose::Compare)?;
        let targets = match targets {
            Some(given) => self::targets(&reader, given, model)?,
            None => vec![],
        };
        match_inputs(&mut reader, model, &targets)?;
        let table = reader.read()?;
        let raw_inputs = table.x.ncols() - targets.len();
        let part = |from: usize, columns: usize| -> Mat<f64> {
            table.x.as_ref().subcols(from, columns).to_owned()
        };
        Ok(Rows {
            inputs: match model.encoding() {
                None => part(0, raw_inputs),
                Some(encoding) => {
                    let place = |j: usize, text: &str| table.place(j, text);
                    encoded(encoding, &|j| table.cells(j), &place)?
                }
            },
            targets: part(raw_inputs, targets.len()),
            places: table.rows,
            dropped: table.dropped,
            notes: reader.notes(),
        })
    }

    /// Reports what was skipped, interpreted and ignored.
    pub fn tell(&self, progress: &Progress) {
        notes::tell(&self.notes, progress);
        notes::tell_dropped(self.dropped, progress);
    }
}

/// The inputs made of the first columns of a table: `cells` gives their content, and `place` says where a text is.
fn encoded<'a>(
    encoding: &Encoding,
    cells: &dyn Fn(usize) -> Cells<'a>,
    place: &dyn Fn(usize, &str) -> Option<Place>,
) -> Result<Mat<f64>, Failure> {
    let raw_inputs = encoding.used().count();
    let columns: Vec<Column<'_>> = (0..raw_inputs).map(|j| column(cells(j))).collect();
    encoding.apply_or_tell(&columns).map_err(|errors| {
        const MOST: usize = 8;
        let count = errors.len();
        let located = |error| located(error, encoding, place);
        let mut lines: Vec<String> = errors.into_iter().take(MOST).map(located).collect();
        if count > MOST {
            lines.push(format!("and {} more", count - MOST));
        }
        Failure::new(match lines.len() {
            1 => lines.remove(0),
            _ => format!("{count} problems:\n  {}", lines.join("\n  ")),
        })
    })
}

/// The message of a cell that cannot be encoded, with its place in the file where that is known.
fn located(
    error: thinfit::Error,
    encoding: &Encoding,
    place: &dyn Fn(usize, &str) -> Option<Place>,
) -> String {
    let thinfit::Error::Cell {
        column,
        expected,
        text: Some(text),
        found,
        ..
    } = &error
    else {
        return error.to_string();
    };
    let j = encoding.used().position(|coded| coded.name == *column);
    match j.and_then(|j| place(j, text)) {
        None => error.to_string(),
        Some(place) => format!(
            "{place}: column `{column}`: expected {expected}, as in the samples, found {found}; correct it, leave the row out, or \
             fit again with such rows"
        ),
    }
}
