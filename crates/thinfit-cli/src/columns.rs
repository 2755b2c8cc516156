//! The columns of a user's table: which are inputs, which are targets, how text becomes numbers, and where to find a
//! model's inputs.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use thinfit::{Code, Coded, Column, Dataset, Encoding, Levels, Mat};
use thinfit_methods::Predictor;
use thinfit_table::{Cells, Missing, Options, Place, Reader};

use crate::args::{self, ColumnArgs, TableArgs};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::shell::quoted;

/// Opens a table. If every column read is `needed`, errors do not advise leaving one out.
pub fn open(
    path: &Path,
    args: &TableArgs,
    memory: Memory,
    needed: bool,
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
        missing: match args.missing {
            None => Missing::Refuse,
            Some(args::Missing::Drop) => Missing::Drop,
            Some(args::Missing::Mean) => Missing::Mean,
        },
        decimal_comma: args.decimal_comma,
        needed,
        array: args.array.clone(),
        memory: Some(memory.of_table()),
    };
    Ok(Reader::open(path, &options)?)
}

/// The options of [`open`] as typed on the command line, for a command that uses the model: it leaves rows with gaps out.
pub fn typed(args: &TableArgs) -> String {
    let mut typed = String::new();
    let given = [
        ("delimiter", args.delimiter.as_deref()),
        ("array", args.array.as_deref()),
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

/// Indices of the named columns.
fn indices(reader: &Reader, wanted: &[String]) -> Result<Vec<usize>, Failure> {
    let indices = wanted.iter().map(|name| reader.column(name));
    Ok(indices.collect::<Result<_, _>>()?)
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
            "column `{}` is named twice; it can be an input, a target or the weights, but only one of them",
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

/// What to learn from.
pub struct Samples {
    /// The samples.
    pub data: Dataset,
    /// How its inputs were made from the columns of the table, where they are not these columns.
    pub encoding: Option<Encoding>,
    /// The place of each sample among the rows of the table, counted from 0.
    pub rows: Vec<usize>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    /// Missing values that means, or the most frequent text, have taken the place of.
    pub filled: usize,
}

/// The samples to learn from.
pub fn samples(
    path: &Path,
    table: &TableArgs,
    memory: Memory,
    args: &ColumnArgs,
    weights: Option<&String>,
) -> Result<Samples, Failure> {
    let mut reader = open(path, table, memory, false)?;
    if args.target.is_empty() {
        return Err(Failure::new(format!(
            "which column should be learned? give --target COL; {} has {}",
            path.display(),
            listed(reader.names())
        )));
    }
    let targets = indices(&reader, &names(&reader, &args.target))?;
    let weights = indices(&reader, &weights.cloned().into_iter().collect::<Vec<_>>())?;
    let dropped = indices(&reader, &names(&reader, &args.drop))?;
    let (used, left_out): (Vec<usize>, HashSet<usize>) = (
        [&targets[..], &weights].concat(),
        dropped.into_iter().collect(),
    );
    if let Some(j) = used.iter().copied().find(|j| left_out.contains(j)) {
        return Err(Failure::new(format!(
            "`{}` is both left out by --drop and used by --target or --weights; remove it from one of them",
            reader.names()[j]
        )));
    }
    let taken: HashSet<usize> = left_out.into_iter().chain(used).collect();
    let inputs = if args.inputs.is_empty() {
        let all = 0..reader.names().len();
        all.filter(|j| !taken.contains(j)).collect()
    } else {
        indices(&reader, &names(&reader, &args.inputs))?
    };
    let names: Vec<String> = reader.names().to_vec();
    let pick =
        |columns: &[usize]| -> Vec<String> { columns.iter().map(|&j| names[j].clone()).collect() };
    let chosen = [&inputs[..], &targets, &weights].concat();
    select(&mut reader, &chosen)?;
    reader.admit_text(&inputs);
    let raw = reader.read_raw()?;
    let columns: Vec<Column<'_>> = (0..inputs.len()).map(|j| column(raw.cells(j))).collect();
    let encoding = Encoding::learn(&pick(&inputs), &columns, !args.inputs.is_empty());
    let mut used = Vec::new();
    for (j, Coded { name, code }) in encoding.columns().iter().enumerate() {
        match code {
            Code::LeftOut { why } if !args.inputs.is_empty() => {
                return Err(Failure::new(format!(
                    "`{name}` cannot be an input: {why}; remove it from --inputs, or write it as a number (a date, for \
                     instance, as hours since the first)"
                )));
            }
            Code::LeftOut { .. } => continue,
            Code::Number => raw.not_a_number(j).map_or(Ok(()), Err)?,
            _ => {}
        }
        used.push(j);
    }
    let (d, c) = (used.len(), targets.len());
    if d == 0 {
        return Err(Failure::new(format!(
            "{}: no column is left to be an input ({}); give a table with more columns, or write some as numbers",
            path.display(),
            encoding.notes().join("; ")
        )));
    }
    // What was not measured cannot be learned.
    let measured: Vec<usize> = (inputs.len()..chosen.len()).collect();
    used.extend(&measured);
    let table = raw.measured(&measured).complete(&used)?;
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
    Ok(Samples {
        data,
        encoding: Some(encoding).filter(|encoding| !encoding.is_plain()),
        rows: table.rows,
        dropped: table.dropped,
        filled: table.filled,
    })
}

/// The cells of a table as the library takes them.
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
    /// The model's inputs, then the other columns.
    pub x: Mat<f64>,
    /// The columns of the table, where the inputs are not among them.
    raw: Option<Mat<f64>>,
}

impl Block {
    /// The cells of the selected column `j`; `reader` has read this block last.
    pub fn cells<'a>(&'a self, reader: &'a Reader, j: usize) -> Cells<'a> {
        reader.cells(self.raw.as_ref().unwrap_or(&self.x), j)
    }
}

/// The next rows of a table, selected by [`match_inputs`].
pub fn next_block(
    reader: &mut Reader,
    model: &Predictor,
    rows: usize,
) -> Result<Option<Block>, Failure> {
    let Some(block) = reader.next_block(rows)? else {
        return Ok(None);
    };
    let Some(encoding) = model.encoding() else {
        return Ok(Some(Block {
            x: block,
            raw: None,
        }));
    };
    let place = |j: usize, text: &str| reader.place(j, text);
    let x = encoded(encoding, &block, &|j| reader.cells(&block, j), &place)?;
    Ok(Some(Block {
        x,
        raw: Some(block),
    }))
}

/// Rows to compare a model with.
pub struct Rows {
    /// The model's inputs, then the other columns.
    pub x: Mat<f64>,
    /// The place of each row in the table, counted from 0.
    pub places: Vec<usize>,
    /// How many rows were left out.
    pub dropped: usize,
}

/// All rows of a table, selected by [`match_inputs`].
///
/// # Errors
/// As [`Reader::read`]; or means are to take the place of missing values, which would make true values up.
pub fn read(reader: &mut Reader, args: &TableArgs, model: &Predictor) -> Result<Rows, Failure> {
    if let Some(args::Missing::Mean) = args.missing {
        return Err(Failure::new(
            "--missing mean: expected rows as they were measured, found means in place of missing values; give complete \
             rows, or pass --missing drop",
        ));
    }
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
            return Failure::from(error);
        };
        let j = encoding.used().position(|coded| coded.name == *column);
        match j.and_then(|j| place(j, found.trim_matches('`'))) {
            None => Failure::from(error),
            Some(place) => Failure::new(format!(
                "{place}: column `{column}`: expected {expected}, as in the samples, found {found}; correct it, leave the \
                 row out, or fit again with such rows"
            )),
        }
    };
    let inputs = encoding.apply(&columns).map_err(located)?;
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
