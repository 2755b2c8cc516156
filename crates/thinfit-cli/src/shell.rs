//! Words as a shell reads them, for commands that the program suggests.

/// `word`, quoted for a shell where it needs to be.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./:=@%,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("Sample ID"), "'Sample ID'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("runs/a-1.csv"), "runs/a-1.csv");
        assert_eq!(quoted(""), "''");
    }
}
