//! Which columns of a table are inputs, targets, weights and groups.

use std::collections::HashSet;

use thinfit_table::Reader;

use crate::args::ColumnArgs;
use crate::failure::Failure;
use crate::table::TableSource;

/// The columns of a fit, as the user named them.
#[derive(Clone, Debug, Default)]
pub struct FitColumns {
    /// Targets, inputs and what is left out.
    pub args: ColumnArgs,
    /// The column of weights.
    pub weights: Option<String>,
    /// The column of groups.
    pub groups: Option<String>,
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
    table: &TableSource,
    columns: &FitColumns,
) -> Result<Roles, Failure> {
    let args = &columns.args;
    if args.target.is_empty() {
        return Err(Failure::new(format!(
            "which column should be learned? give --target COL; {} has {}",
            table.first().display(),
            listed(reader.names())
        )));
    }
    let named = [
        names(reader, &args.target),
        columns.weights.iter().cloned().collect(),
        columns.groups.iter().cloned().collect(),
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

/// The column names in the values of an option, each of which is one name, or several separated by commas.
pub fn names(reader: &Reader, given: &[String]) -> Vec<String> {
    let split = |given: &String| match reader.names().contains(given) {
        true => vec![given.clone()],
        false => given.split(',').map(|name| name.trim().into()).collect(),
    };
    given.iter().flat_map(split).collect()
}

/// Indices of the named columns; the error names all that do not exist.
pub fn indices(reader: &Reader, wanted: &[String]) -> Result<Vec<usize>, Failure> {
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

/// Selects these columns, each of which may have only one role.
pub fn select(reader: &mut Reader, columns: &[usize]) -> Result<(), Failure> {
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
