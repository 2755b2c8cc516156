//! Column names: generated if there are none, and checked to be distinct.

use crate::Result;
use crate::error::{malformed, show};
use std::collections::HashSet;
use std::path::Path;
use thinfit_text::{LONGEST_NAME, clean, list};

/// Maximum number of columns a table may have.
const MOST_COLUMNS: usize = 1 << 20;

/// The names of columns without hidden characters, checked to be distinct and not too long; empty ones become `c1`, `c2`, …
/// by position.
pub(crate) fn distinct(path: &Path, names: Vec<String>) -> Result<Vec<String>> {
    let name = |(j, name): (usize, String)| match &*clean(&name) {
        "" => format!("c{}", j + 1),
        name => name.to_owned(),
    };
    check_columns(path, names.len() as u64)?;
    let long = |name: &&String| name.chars().nth(LONGEST_NAME).is_some();
    if let Some(long) = names.iter().find(long) {
        return Err(malformed(
            path,
            format!("column names of at most {LONGEST_NAME} characters"),
            format!("`{}` with {}", show(long.as_bytes()), long.chars().count()),
            "shorten it",
        ));
    }
    let names: Vec<_> = names.into_iter().enumerate().map(name).collect();
    let (mut known, mut twice) = (HashSet::new(), Vec::new());
    for name in &names {
        let shown = || format!("`{}`", show(name.as_bytes()));
        if !known.insert(name.as_str()) && !twice.contains(&shown()) {
            twice.push(shown());
        }
    }
    if !twice.is_empty() {
        let advice = match twice.len() {
            1 => "rename one of them",
            _ => "rename one of each",
        };
        let found = format!("{} twice", list(twice.into_iter()));
        return Err(malformed(path, "distinct column names", found, advice));
    }
    Ok(names)
}

/// Refuses a number of columns whose names alone would fill the memory.
pub(crate) fn check_columns(path: &Path, columns: u64) -> Result<()> {
    if columns > MOST_COLUMNS as u64 {
        let expected = format!("at most {MOST_COLUMNS} columns");
        let advice = "transpose it, or split it into several files";
        return Err(malformed(path, expected, columns.to_string(), advice));
    }
    Ok(())
}
