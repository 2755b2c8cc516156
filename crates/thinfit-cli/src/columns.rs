//! The columns of a user's table: which are inputs, which are targets, and where to find a model's inputs.

use std::path::Path;

use thinfit::{Dataset, Mat};
use thinfit_methods::Predictor;
use thinfit_table::{Missing, Options, Reader};

use crate::args::{self, FitArgs, TableArgs};
use crate::failure::Failure;
use crate::shell::quoted;

/// Opens a table. If every column read is `needed`, errors do not advise leaving one out.
pub fn open(path: &Path, args: &TableArgs, needed: bool) -> Result<Reader, Failure> {
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
    };
    Ok(Reader::open(path, &options)?)
}

/// The options of [`open`] as typed on the command line.
pub fn typed(args: &TableArgs) -> String {
    let mut typed = String::new();
    let given = [
        ("delimiter", args.delimiter.as_deref()),
        ("array", args.array.as_deref()),
        (
            "missing",
            args.missing.map(|missing| match missing {
                args::Missing::Drop => "drop",
                args::Missing::Mean => "mean",
            }),
        ),
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

/// Selects these columns, too, after those selected already; returns the position of each in a block.
pub fn select_also(reader: &mut Reader, names: &[String]) -> Result<Vec<usize>, Failure> {
    let mut columns = reader.selected().to_vec();
    let mut places = Vec::new();
    for column in indices(reader, names)? {
        let place = columns.iter().position(|known| *known == column);
        places.push(place.unwrap_or(columns.len()));
        if place.is_none() {
            columns.push(column);
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
    for (place, j) in columns.iter().enumerate() {
        if columns[..place].contains(j) {
            return Err(Failure::new(format!(
                "column `{}` is named twice; it can be an input, a target or the weights, but only one of them",
                reader.names()[*j]
            )));
        }
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

/// The samples to learn from, and how many rows were left out.
pub fn samples(args: &FitArgs, path: &Path) -> Result<(Dataset, usize), Failure> {
    let mut reader = open(path, &args.table, false)?;
    if args.target.is_empty() {
        return Err(Failure::new(format!(
            "which column should be learned? give --target COL; {} has {}",
            path.display(),
            listed(reader.names())
        )));
    }
    let targets = indices(&reader, &names(&reader, &args.target))?;
    let weights = indices(&reader, args.weights.as_slice())?;
    let dropped = indices(&reader, &names(&reader, &args.drop))?;
    let used = targets.iter().chain(&weights);
    if let Some(j) = used.copied().find(|j| dropped.contains(j)) {
        return Err(Failure::new(format!(
            "`{}` is both left out by --drop and used by --target or --weights; remove it from one of them",
            reader.names()[j]
        )));
    }
    let taken = |j: &usize| targets.contains(j) || weights.contains(j) || dropped.contains(j);
    let inputs = if args.inputs.is_empty() {
        (0..reader.names().len()).filter(|j| !taken(j)).collect()
    } else {
        indices(&reader, &names(&reader, &args.inputs))?
    };
    let (d, c) = (inputs.len(), targets.len());
    let names: Vec<String> = reader.names().to_vec();
    let pick = |columns: &[usize]| columns.iter().map(|&j| names[j].clone()).collect();
    let chosen: Vec<usize> = inputs
        .iter()
        .chain(&targets)
        .chain(&weights)
        .copied()
        .collect();
    select(&mut reader, &chosen)?;
    let table = reader.read()?;
    let part = |from: usize, columns: usize| -> Mat<f64> {
        table.x.as_ref().subcols(from, columns).to_owned()
    };
    let data = Dataset::new(part(0, d), part(d, c))?.with_names(pick(&inputs), pick(&targets))?;
    let data = match weights.as_slice() {
        [] => data,
        _ => data.with_weights(table.x.col_as_slice(d + c).to_vec())?,
    };
    Ok((data, table.dropped))
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
    let wanted: Vec<String> = model.inputs().iter().chain(targets).cloned().collect();
    let columns = match indices(reader, &wanted) {
        Err(_) if nameless(reader.names()) && reader.names().len() == wanted.len() => {
            (0..wanted.len()).collect()
        }
        found => found?,
    };
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
