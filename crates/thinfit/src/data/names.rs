//! Rules for column names, in samples and in model files.

use crate::{Error, Result};
use std::collections::HashSet;
use thinfit_text::{LONGEST_NAME, is_hidden, shown};

/// Maximum number of characters in the name of an input, which may be that of a column, a sign and a level.
const LONGEST_INPUT: usize = 2 * LONGEST_NAME + 1;

/// What is wrong with one name, if anything.
fn flaw_of_name(name: &str) -> Option<&'static str> {
    if name.contains(is_hidden) {
        return Some("a name with a control or invisible character");
    }
    (name.chars().nth(LONGEST_INPUT).is_some()).then_some("a name of more than 2001 characters")
}

/// What is wrong with the names, if anything, and the first name that is.
pub(crate) fn flaw_of_names(names: &[String]) -> Option<(&'static str, &str)> {
    let mut known = HashSet::new();
    names.iter().find_map(|name| {
        let flaw = flaw_of_name(name);
        let twice = || (!known.insert(name)).then_some("the same name twice");
        flaw.or_else(twice).map(|flaw| (flaw, name.as_str()))
    })
}

/// Refuses names of samples with which the file of their model could not be read.
pub(super) fn check_names(what: &'static str, names: &[String]) -> Result<()> {
    match flaw_of_names(names) {
        None => Ok(()),
        Some((flaw, name)) => {
            let start: String = name.chars().take(40).collect();
            Err(Error::Data {
                what,
                problem: format!("{flaw}, `{}`", shown(&start)),
                advice: "rename the column",
            })
        }
    }
}
