//! The first column of a printed table: names, never truncated.

use crate::digits::column_width;

/// Maximum width of a name with its numbers on the same line.
const WIDEST: usize = 40;

/// A column of names, which stands two blanks from the left.
pub struct Labels {
    width: usize,
}

impl Labels {
    /// A column for these names and a title above them.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>, title: &'a str) -> Self {
        let fits = |name: &&str| name.chars().count() <= WIDEST;
        let names = names.into_iter().filter(fits).chain([title]);
        Labels {
            width: column_width(names, 10),
        }
    }

    /// The start of a line: the name, or, where it is long, a line of its own and blanks below it.
    pub fn cell(&self, name: &str) -> String {
        let width = self.width;
        match name.chars().count() > width.max(WIDEST) {
            true => format!("  {name}\n  {:<width$}", ""),
            false => format!("  {name:<width$}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_have_a_line_of_their_own() {
        let long = "temperature of the cooling water at the inlet";
        let labels = Labels::of(["pressure", long], "input");
        assert_eq!(labels.cell("pressure"), "  pressure  ");
        assert_eq!(labels.cell(long), format!("  {long}\n            "));
    }
}
