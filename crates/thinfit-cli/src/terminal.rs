//! What the program prints: to standard output and standard error, without hidden characters, and never into the void.
//!
//! Column names and models are checked when they are read, but file names and text quoted in errors may contain
//! anything.

use std::io::{self, Stderr, StdoutLock, Write};

use thinfit_text::is_hidden;

use crate::failure::Failure;

/// Refuses to print a table if standard output was closed (`>&-`).
///
/// The standard library puts the null device, opened to read and write, in the place of a closed file before the program
/// begins. Other programs may open it like that, too (`subprocess.DEVNULL` of Python), and the system shows no difference; shells
/// (`> /dev/null`) open it to write. Whoever wants no table is told how to do without one; whoever loses one must know.
#[cfg(unix)]
pub fn check_open() -> Result<(), Failure> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    use std::os::unix::fs::MetadataExt;
    let (Ok(file), Ok(mode), Ok(null)) = (
        std::fs::metadata("/dev/stdout"),
        fcntl(io::stdout(), FcntlArg::F_GETFL),
        std::fs::metadata("/dev/null"),
    ) else {
        return Ok(());
    };
    let is_null = file.rdev() == null.rdev() && file.mode() == null.mode();
    let mode = OFlag::from_bits_truncate(mode) & OFlag::O_ACCMODE;
    match is_null && mode == OFlag::O_RDWR {
        false => Ok(()),
        true => Err(Failure::new(
            "standard output is closed; write the table to a file with -o FILE",
        )),
    }
}

/// Elsewhere the write fails.
#[cfg(not(unix))]
pub fn check_open() -> Result<(), Failure> {
    Ok(())
}

/// Standard output.
pub fn stdout() -> Plain<StdoutLock<'static>> {
    Plain {
        output: io::stdout().lock(),
        rest: Vec::new(),
    }
}

/// Standard error.
pub fn stderr() -> Plain<Stderr> {
    Plain {
        output: io::stderr(),
        rest: Vec::new(),
    }
}

/// UTF-8 text for a terminal or a file, with hidden characters escaped.
pub struct Plain<W> {
    output: W,
    /// The start of a character whose end is not there yet.
    rest: Vec<u8>,
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let ordinary = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t');
        if self.rest.is_empty() && bytes.iter().all(ordinary) {
            self.output.write_all(bytes)?;
            return Ok(bytes.len());
        }
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let after = self.rest.split_off(whole);
        let text = String::from_utf8_lossy(&self.rest);
        self.output.write_all(shown(&text).as_bytes())?;
        self.rest = after;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// The text with hidden characters as the escapes of JSON, which may be what is printed; but for line ends and tabs.
pub fn shown(text: &str) -> String {
    let hidden = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t');
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match hidden(c) {
            true => {
                let units = c.encode_utf16(&mut [0; 2]).to_vec();
                shown.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
            false => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_wherever_a_write_ends() {
        let text = "wrote \u{1b}[31m\u{202e}µ²温度\r\u{e0041}.json\n\tnext\n";
        let expected = "wrote \\u001b[31m\\u202eµ²温度\\u000d\\udb40\\udc41.json\n\tnext\n";
        for size in 1..=text.len() {
            let mut plain = Plain {
                output: Vec::new(),
                rest: Vec::new(),
            };
            for piece in text.as_bytes().chunks(size) {
                plain.write_all(piece).unwrap();
            }
            assert_eq!(String::from_utf8(plain.output).unwrap(), expected);
        }
    }
}
