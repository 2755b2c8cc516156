//! Column names: made up where there are none, checked to be distinct, and suggested where one is misspelt.

use crate::Result;
use crate::error::{malformed, show};
use std::collections::HashSet;
use std::path::Path;
use thinfit_text::{LONGEST_NAME, clean};

/// The most columns a table may have.
const MOST_COLUMNS: usize = 1 << 20;
/// The most names in a message.
const MOST_SHOWN: usize = 12;

/// The names of columns without hidden characters, checked to be distinct and not endless; empty ones become `c1`, `c2`, …
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
    let mut known = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !known.insert(name.as_str())) {
        let found = format!("`{}` twice", show(twice.as_bytes()));
        return Err(malformed(
            path,
            "distinct column names",
            found,
            "rename one of them",
        ));
    }
    Ok(names)
}

/// Refuses so many columns that their names alone would fill the memory.
pub(crate) fn check_columns(path: &Path, columns: u64) -> Result<()> {
    if columns > MOST_COLUMNS as u64 {
        let expected = format!("at most {MOST_COLUMNS} columns");
        let advice = "transpose it, or split it into several files";
        return Err(malformed(path, expected, columns.to_string(), advice));
    }
    Ok(())
}

/// A hint for a `name` that is not among `names`.
pub(crate) fn suggest(names: &[String], name: &str) -> String {
    let length = name.chars().count();
    let near =
        |known: &&String| (..length.min(length.div_ceil(3) + 1)).contains(&distance(known, name));
    let nearest = names.iter().filter(near);
    let nearest = nearest.min_by_key(|known| distance(known, name));
    // `Yield` for `Yield (%)`.
    let longer =
        |known: &&String| length > 1 && known.to_lowercase().contains(&name.to_lowercase());
    match nearest.or_else(|| names.iter().find(longer)) {
        Some(nearest) => format!("did you mean `{}`?", show(nearest.as_bytes())),
        None => format!("it has {}", list(names.iter().map(|n| show(n.as_bytes())))),
    }
}

/// The first few words, and how many more there are.
pub(crate) fn list(words: impl ExactSizeIterator<Item = String>) -> String {
    let more = words.len().saturating_sub(MOST_SHOWN);
    let mut some: Vec<_> = words.take(MOST_SHOWN).collect();
    if more > 0 {
        some.push(format!("and {more} more"));
    }
    some.join(", ")
}

/// Edit distance: characters to insert, delete or change to turn one text into the other, ignoring case.
fn distance(one: &str, other: &str) -> usize {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let width = other.chars().count();
    let mut row: Vec<usize> = (0..=width).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.chars().enumerate() {
            let change = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[width]
}
