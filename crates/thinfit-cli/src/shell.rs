//! Shell quoting, for the commands that the program suggests.

/// `word`, quoted for a shell where it needs to be.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-+./:=@%,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// How to call this program: by its name where the shell finds it, by its path where it does not, as behind `cargo run`.
pub fn this_program() -> String {
    let name = "thinfit";
    let found = std::env::var_os("PATH").is_some_and(|path| {
        let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
        std::env::split_paths(&path).any(|folder| folder.join(&file).is_file())
    });
    match (found, std::env::args().next()) {
        (false, Some(path)) => quoted(&path),
        _ => name.into(),
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
