//! The columns of a user's table: inputs, targets, the encoding of text, and the inputs of a fitted model.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use thinfit::{Code, Coded, Column, Dataset, Encoding, Levels, Mat, TwoValues};
use thinfit_methods::Predictor;
use thinfit_table::{Cells, Missing, Note, Options, Place, Problem, Reader, Remedy};

use crate::args::{self, ColumnArgs, TableArgs};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::notes;
use crate::progress::Progress;
use crate::shell::quoted;

/// Opens a table. If every column read is `needed`, errors do not advise leaving one out. Gaps to be filled are kept, those of
/// a table that a model is compared with are not to be filled.
pub fn open(
    path: &Path,
    args: &TableArgs,
    memory: Memory,
    needed: bool,
) -> Result<Reader, Failure> {
    open_all(&[path], args, memory, needed)
}

/// Opens several files as one table, as [`open`] does one.
pub fn open_all(
    paths: &[impl AsRef<Path>],
    args: &TableArgs,
    memory: Memory,
    needed: bool,
) -> Result<Reader, Failure> {
    let missing = match args.missing {
        None => Missing::Refuse,
        Some(args::Missing::Drop) => Missing::Drop,
        Some(args::Missing::Mean) if !needed => Missing::Keep,
        Some(args::Missing::Mean) => {
            return Err(Failure::new(
                "--missing mean: expected rows as they were measured, found means in place of missing values; give complete \
                 rows, or pass --missing drop",
            ));
        }
    };
    open_with(paths, args, memory, needed, missing)
}

/// The files of a table: the first, and more; those in a folder by name.
pub fn files(first: &Path, more: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = thinfit_table::files(first)?;
    for path in more {
        files.extend(thinfit_table::files(path)?);
    }
    Ok(files)
}

/// What was skipped in those of these paths that are folders.
pub fn skipped_files(first: &Path, more: &[PathBuf]) -> Result<Vec<Note>, Failure> {
    let mut notes = Vec::from_iter(thinfit_table::skipped_files(first)?);
    for path in more {
        notes.extend(thinfit_table::skipped_files(path)?);
    }
    Ok(notes)
}

/// Opens a table of any length to fit it block by block: rows with gaps are refused, or kept to be left out later.
pub fn open_long(
    paths: &[impl AsRef<Path>],
    args: &TableArgs,
    memory: Memory,
) -> Result<Reader, Failure> {
    let missing = match args.missing {
        None => Missing::Refuse,
        Some(_) => Missing::Keep,
    };
    open_with(paths, args, memory, false, missing)
}

/// Opens a table to predict its rows: unless gaps are refused, they are kept, so that every row has its line.
pub fn open_to_predict(
    paths: &[impl AsRef<Path>],
    args: &TableArgs,
    memory: Memory,
    model: &Predictor,
) -> Result<Reader, Failure> {
    let fills = || model.encoding().is_some_and(Encoding::fills);
    let missing = match args.missing {
        None => Missing::Refuse,
        Some(args::Missing::Mean) if !fills() => {
            return Err(Failure::new(
                "--missing mean: expected a model that was fitted with --missing mean and knows the means, found one that was \
                 not; fit it so, or pass --missing drop",
            ));
        }
        Some(_) => Missing::Keep,
    };
    open_with(paths, args, memory, true, missing)
}

fn open_with(
    paths: &[impl AsRef<Path>],
    args: &TableArgs,
    memory: Memory,
    needed: bool,
    missing: Missing,
) -> Result<Reader, Failure> {
    let delimiter = args.delimiter.as_deref().map(str::parse).transpose();
    let delimiter =
        delimiter.map_err(|problem: String| Failure::new(format!("--delimiter: {problem}")))?;
    let options = Options {
        delimiter,
        header: match (args.header, args.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        },
        missing,
        decimal_comma: args.decimal_comma,
        needed,
        array: args.array.clone(),
        sheet: args.sheet.clone(),
        skip_rows: args.skip_rows.unwrap_or(0),
        memory: Some(memory.of_table()),
    };
    Ok(Reader::open_all(paths, &options)?)
}

/// The options of [`open`] as typed on the command line, for a command that uses the model: it leaves rows with gaps out.
pub fn typed(args: &TableArgs) -> String {
    let mut typed = String::new();
    let skip_rows = args.skip_rows.map(|rows| rows.to_string());
    let given = [
        ("skip-rows", skip_rows.as_deref()),
        ("delimiter", args.delimiter.as_deref()),
        ("array", args.array.as_deref()),
        ("sheet", args.sheet.as_deref()),
        ("missing", args.missing.map(|_| "drop")),
    ];
    for (option, value) in given {
        typed += &value.map_or(String::new(), |value| {
            format!(" --{option} {}", quoted(value))
        });
    }
    let flags = [
        ("header", args.header),
        ("no-header", args.no_header),
        ("decimal-comma", args.decimal_comma),
    ];
    for (flag, _) in flags.iter().filter(|(_, set)| *set) {
        typed += &format!(" --{flag}");
    }
    typed
}

/// The column names in the values of an option, each of which is one name, or several separated by commas.
pub fn names(reader: &Reader, given: &[String]) -> Vec<String> {
    let split = |given: &String| match reader.names().contains(given) {
        true => vec![given.clone()],
        false => given.split(',').map(|name| name.trim().into()).collect(),
    };
    given.iter().flat_map(split).collect()
}

/// Indices of the named columns; the error names all that do not exist.
fn indices(reader: &Reader, wanted: &[String]) -> Result<Vec<usize>, Failure> {
    const MOST: usize = 8;
    let (mut indices, mut unknown) = (Vec::new(), Vec::new());
    for name in wanted {
        match reader.column(name) {
            Ok(index) => indices.push(index),
            Err(error) => unknown.push(error),
        }
    }
    let more = unknown.len().saturating_sub(MOST);
    unknown.truncate(MOST);
    match thinfit_table::Error::all(unknown, more) {
        Some(error) => Err(error.into()),
        None => Ok(indices),
    }
}

/// Selects these columns, too, after those of [`match_inputs`], whether they hold numbers or text; returns the position of each
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
    let beside: Vec<usize> = columns
        .iter()
        .copied()
        .filter(|c| !inputs.contains(c))
        .collect();
    reader.admit_gaps(&beside);
    reader.select(&columns);
    Ok(places)
}

/// Whether these are the made-up names of a table without names.
fn nameless(names: &[String]) -> bool {
    (1..).zip(names).all(|(j, name)| *name == format!("c{j}"))
}

/// Selects these columns, each of which may have only one role.
fn select(reader: &mut Reader, columns: &[usize]) -> Result<(), Failure> {
    let mut known = HashSet::new();
    if let Some(j) = columns.iter().find(|j| !known.insert(**j)) {
        return Err(Failure::new(format!(
            "column `{}` is named twice; it can be an input, a target, the weights or the groups, but only one of them",
            reader.names()[*j]
        )));
    }
    reader.select(columns);
    Ok(())
}

/// At most twenty names.
fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown = names[..names.len().min(MOST)].join(", ");
    match names.len().checked_sub(MOST) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// The names of columns that are neither inputs nor targets.
#[derive(Clone, Copy, Default)]
pub struct Special<'a> {
    /// The column of weights.
    pub weights: Option<&'a String>,
    /// The column of groups.
    pub groups: Option<&'a String>,
}

/// The data of a fit.
pub struct Samples {
    /// The samples.
    pub data: Dataset,
    /// How its inputs were made from the columns of the table, where they are not these columns.
    pub encoding: Option<Encoding>,
    /// The place of each sample among the rows of the table, counted from 0.
    pub rows: Vec<usize>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    /// Number of missing values replaced by means or the most frequent text.
    pub filled: usize,
    /// What was done to the files of the table.
    pub notes: Vec<Note>,
    /// All columns that could be inputs, and how they are used.
    pub columns: Encoding,
    /// The input that could number the rows, if it is the only one of numbers.
    pub kept: Option<String>,
}

impl Samples {
    /// Reports what was skipped, interpreted and ignored.
    pub fn tell(&self, progress: &Progress) {
        notes::tell(&self.notes, progress);
        notes::tell_columns(&self.columns, self.kept.as_deref(), progress);
        for output in TwoValues::of(&self.data) {
            progress.warn(output.to_string());
        }
    }
}

/// The roles of the columns of a table, as indices.
pub struct Roles {
    /// Columns to learn from.
    pub inputs: Vec<usize>,
    /// Columns to learn.
    pub targets: Vec<usize>,
    /// The column of weights, if there is one.
    pub weights: Vec<usize>,
    /// The column of groups, if there is one.
    pub groups: Vec<usize>,
}

/// Selects the columns of a table in the order of their roles: inputs, targets, weights, groups.
pub fn roles(
    reader: &mut Reader,
    path: &Path,
    args: &ColumnArgs,
    special: Special<'_>,
) -> Result<Roles, Failure> {
    if args.target.is_empty() {
        return Err(Failure::new(format!(
            "which column should be learned? give --target COL; {} has {}",
            path.display(),
            listed(reader.names())
        )));
    }
    let named = [
        names(reader, &args.target),
        special.weights.cloned().into_iter().collect(),
        special.groups.cloned().into_iter().collect(),
        names(reader, &args.drop),
        names(reader, &args.inputs),
    ];
    let mut found = indices(reader, &named.concat())?.into_iter();
    let [targets, weights, groups, dropped, inputs] =
        named.map(|names| -> Vec<usize> { found.by_ref().take(names.len()).collect() });
    let (used, left_out): (Vec<usize>, HashSet<usize>) = (
        [&targets[..], &weights, &groups].concat(),
        dropped.into_iter().collect(),
    );
    if let Some(j) = used.iter().copied().find(|j| left_out.contains(j)) {
        return Err(Failure::new(format!(
            "`{}` is both dropped by --drop and used by --target, --weights or --groups; remove it from one of them",
            reader.names()[j]
        )));
    }
    let taken: HashSet<usize> = left_out.into_iter().chain(used).collect();
    let inputs = if args.inputs.is_empty() {
        let all = 0..reader.names().len();
        all.filter(|j| !taken.contains(j)).collect()
    } else {
        inputs
    };
    let chosen = [&inputs[..], &targets, &weights, &groups].concat();
    select(reader, &chosen)?;
    Ok(Roles {
        inputs,
        targets,
        weights,
        groups,
    })
}

/// The samples to learn from.
pub fn samples(
    paths: &[impl AsRef<Path>],
    table: &TableArgs,
    memory: Memory,
    args: &ColumnArgs,
    special: Special<'_>,
) -> Result<Samples, Failure> {
    let mut reader = open_all(paths, table, memory, false)?;
    let path = paths[0].as_ref();
    let Roles {
        inputs,
        targets,
        weights,
        groups,
    } = roles(&mut reader, path, args, special)?;
    let names: Vec<String> = reader.names().to_vec();
    let pick =
        |columns: &[usize]| -> Vec<String> { columns.iter().map(|&j| names[j].clone()).collect() };
    let chosen = reader.selected().to_vec();
    reader.admit_text(&chosen);
    let raw = reader.read_raw()?;
    let columns: Vec<Column<'_>> = (0..inputs.len()).map(|j| column(raw.cells(j))).collect();
    let chosen_by_name = !args.inputs.is_empty();
    let mut encoding = Encoding::learn(&pick(&inputs), &columns, chosen_by_name);
    let kept = encoding.kept_row_number(&columns, chosen_by_name);
    let kept = kept.map(str::to_owned);
    if let Some(args::Missing::Mean) = table.missing {
        encoding = encoding.filled_from(&columns);
    }
    // A row without a target cannot be learned from.
    let measured: Vec<usize> = (inputs.len()..chosen.len()).collect();
    // Groups may have any names.
    let mut numbers = measured[..targets.len() + weights.len()].to_vec();
    let mut used = Vec::new();
    for (j, Coded { name, code, .. }) in encoding.columns().iter().enumerate() {
        match code {
            Code::LeftOut { why } if chosen_by_name => {
                return Err(Failure::new(format!(
                    "`{name}` cannot be an input: {why}; remove it from --inputs, or write it as a number (a date, for \
                     instance, as hours since the first)"
                )));
            }
            Code::LeftOut { .. } => continue,
            Code::Number => numbers.push(j),
            _ => {}
        }
        used.push(j);
    }
    let (d, c) = (used.len(), targets.len());
    if d == 0 {
        return Err(Failure::new(format!(
            "{}: no input columns are left ({}); give a table with more columns, or encode some as numbers",
            path.display(),
            encoding.notes().join("; ")
        )));
    }
    used.extend(&measured);
    let raw = raw.measured(&measured).expect_numbers(&numbers);
    let table = raw.complete(&used)?;
    let cells = (0..d).flat_map(|j| table.x.col_as_slice(j));
    let filled = cells.filter(|value| value.is_nan()).count();
    let part = |from: usize, columns: usize| -> Mat<f64> {
        table.x.as_ref().subcols(from, columns).to_owned()
    };
    let columns: Vec<Column<'_>> = (0..d).map(|j| column(table.cells(j))).collect();
    let data = Dataset::new(encoding.apply(&columns)?, part(d, c))?;
    let data = data.with_names(encoding.inputs(), pick(&targets))?;
    let data = match weights.as_slice() {
        [] => data,
        _ => data.with_weights(table.x.col_as_slice(d + c).to_vec())?,
    };
    let data = match groups.as_slice() {
        [] => data,
        [column, ..] => {
            let cells = table.cells(d + c + weights.len());
            data.with_groups(numbered(cells, &names[*column])?)?
        }
    };
    Ok(Samples {
        data,
        encoding: Some(encoding.clone()).filter(|encoding| !encoding.is_plain()),
        rows: table.rows,
        dropped: table.dropped,
        filled,
        notes: reader.notes(),
        columns: encoding,
        kept,
    })
}

/// A number for each cell of the column `name`, the same for equal cells.
fn numbered(cells: Cells<'_>, name: &str) -> Result<Vec<u64>, Failure> {
    match cells {
        // Adding zero makes −0 equal to 0.
        Cells::Numbers(values) => Ok(values.iter().map(|v| (v + 0.0).to_bits()).collect()),
        Cells::Text { codes, .. } => Ok(codes.iter().map(|code| *code as u64).collect()),
        Cells::Dates => Err(Failure::new(format!(
            "--groups {}: expected numbers or text, found dates or times; write the column as text",
            quoted(name)
        ))),
    }
}

/// The cells of a table in the form of the library.
fn column(cells: Cells<'_>) -> Column<'_> {
    match cells {
        Cells::Numbers(values) => Column::Numbers(values),
        Cells::Text { levels, codes } => Column::Text {
            levels,
            codes,
            levels_are: Levels::Found,
        },
        Cells::Dates => Column::Dates,
    }
}

/// Some rows of a table.
pub struct Block {
    /// The model's inputs, then the other columns, of the rows that are complete.
    pub x: Mat<f64>,
    /// The places of these rows in the block.
    pub places: Vec<usize>,
    /// The rows of the block.
    pub rows: usize,
    /// Missing cells that the model has replaced.
    pub filled: usize,
    /// The columns of the table, where the inputs are not among them.
    raw: Option<Mat<f64>>,
}

impl Block {
    /// The cells of the selected column `j`, of all rows; `reader` has read this block last.
    pub fn cells<'a>(&'a self, reader: &'a Reader, j: usize) -> Cells<'a> {
        reader.cells(self.raw.as_ref().unwrap_or(&self.x), j)
    }
}

/// The next rows of a table of [`open_to_predict`], selected by [`match_inputs`]. Where inputs are missing, the model fills
/// them in, or the row is not complete.
pub fn next_rows(
    reader: &mut Reader,
    model: &Predictor,
    rows: usize,
    fill: bool,
) -> Result<Option<Block>, Failure> {
    let read = reader.next_block(rows);
    let fills = model.encoding().is_some_and(Encoding::fills);
    let read = read.map_err(|error| if fills { fillable(error) } else { error })?;
    let Some(block) = read else {
        return Ok(None);
    };
    let (rows, encoding) = (block.nrows(), model.encoding());
    let inputs = encoding.map_or(model.inputs().len(), |encoding| encoding.used().count());
    let gaps = |i: usize| (0..inputs).filter(|j| block[(i, *j)].is_nan()).count();
    let places: Vec<usize> = match fill {
        true => (0..rows).collect(),
        false => (0..rows).filter(|i| gaps(*i) == 0).collect(),
    };
    let filled = places.iter().map(|i| gaps(*i)).sum();
    let whole = places.len() == rows;
    let picked = |a: &Mat<f64>| Mat::from_fn(places.len(), a.ncols(), |i, j| a[(places[i], j)]);
    let (x, raw) = match encoding {
        None if whole => (block, None),
        None => (picked(&block), Some(block)),
        Some(encoding) => {
            let complete = (!whole).then(|| picked(&block));
            let rows = complete.as_ref().unwrap_or(&block);
            let place = |j: usize, text: &str| reader.place(j, text);
            let x = encoded(encoding, rows, &|j| reader.cells(rows, j), &place)?;
            (x, Some(block))
        }
    };
    Ok(Some(Block {
        x,
        places,
        rows,
        filled,
        raw,
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
    /// The model's inputs, then the other columns.
    pub x: Mat<f64>,
    /// The place of each row in the table, counted from 0.
    pub places: Vec<usize>,
    /// How many rows were left out.
    pub dropped: usize,
    /// What was done to the files of the table.
    notes: Vec<Note>,
}

impl Rows {
    /// Reports what was skipped, interpreted and ignored.
    pub fn tell(&self, progress: &Progress) {
        notes::tell(&self.notes, progress);
        notes::tell_dropped(self.dropped, progress);
    }
}

/// All rows of a table, selected by [`match_inputs`].
///
/// # Errors
/// As [`Reader::read`], or a text that the model does not know.
pub fn read(reader: &mut Reader, model: &Predictor) -> Result<Rows, Failure> {
    let table = reader.read()?;
    let x = match model.encoding() {
        None => table.x,
        Some(encoding) => {
            let place = |j: usize, text: &str| table.place(j, text);
            encoded(encoding, &table.x, &|j| table.cells(j), &place)?
        }
    };
    Ok(Rows {
        x,
        places: table.rows,
        dropped: table.dropped,
        notes: reader.notes(),
    })
}

/// The rows `x` of a table, the first columns of which become inputs: `cells` gives their content, and `place` says where a
/// text is.
fn encoded<'a>(
    encoding: &Encoding,
    x: &Mat<f64>,
    cells: &dyn Fn(usize) -> Cells<'a>,
    place: &dyn Fn(usize, &str) -> Option<Place>,
) -> Result<Mat<f64>, Failure> {
    let raw = encoding.used().count();
    let columns: Vec<Column<'_>> = (0..raw).map(|j| column(cells(j))).collect();
    let located = |error: thinfit::Error| {
        let thinfit::Error::Cell {
            column,
            expected,
            found,
            ..
        } = &error
        else {
            return error.to_string();
        };
        let j = encoding.used().position(|coded| coded.name == *column);
        let text = found.split('`').nth(1).unwrap_or(found);
        match j.and_then(|j| place(j, text)) {
            None => error.to_string(),
            Some(place) => format!(
                "{place}: column `{column}`: expected {expected}, as in the samples, found {found}; correct it, leave the \
                 row out, or fit again with such rows"
            ),
        }
    };
    let inputs = encoding.apply_or_tell(&columns).map_err(|errors| {
        const MOST: usize = 8;
        let count = errors.len();
        let mut lines: Vec<String> = errors.into_iter().take(MOST).map(located).collect();
        if count > MOST {
            lines.push(format!("and {} more", count - MOST));
        }
        Failure::new(match lines.len() {
            1 => lines.remove(0),
            _ => format!("{count} problems:\n  {}", lines.join("\n  ")),
        })
    })?;
    let d = inputs.ncols();
    let others = x.ncols() - raw;
    Ok(Mat::from_fn(x.nrows(), d + others, |i, j| match j < d {
        true => inputs[(i, j)],
        false => x[(i, j - d + raw)],
    }))
}

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
