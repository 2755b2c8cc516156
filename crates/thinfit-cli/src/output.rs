//! Files that commands write: the checks beforehand and the message afterwards, the same for all commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use thinfit::State;
use thinfit_methods::{LongState, Predictor};
use thinfit_table::Writer;
use thinfit_text::place;

use crate::failure::Failure;
use crate::interrupt;

/// An output file, and the option that sets it.
pub type Output<'a> = (&'a Path, &'a str);

/// Refuses a call in which an output file is an input file, or two outputs are the same, whatever their names; before any work.
pub fn check_distinct(inputs: &[&Path], outputs: &[Output<'_>]) -> Result<(), Failure> {
    let inputs: Vec<Identity> = inputs.iter().map(|path| Identity::of(path)).collect();
    let standard = Identity::of(Path::new("/dev/stdout"));
    if standard.node.is_some() && inputs.iter().any(|input| input.node == standard.node) {
        return Err(Failure::new(
            "standard output is one of the input files; redirect it to another file",
        ));
    }
    let mut others = inputs;
    for (output, option) in outputs {
        let identity = Identity::of(output);
        if others.iter().any(|other| other.is(&identity)) {
            let found = "this command uses it for something else";
            return Err(unsuitable(output, option, found));
        }
        others.push(identity);
    }
    Ok(())
}

/// Refuses a file that cannot be written, before a fit takes its time.
pub fn check_writable((output, option): Output<'_>) -> Result<(), Failure> {
    if output.is_dir() {
        return Err(unsuitable(output, option, "it is a folder"));
    }
    // Pipes and devices are written to, not replaced.
    if std::fs::metadata(output).is_ok_and(|file| !file.is_file()) {
        return Ok(());
    }
    let mut probe = place(output).into_os_string();
    probe.push(format!(".{}.probe", std::process::id()));
    std::fs::File::create(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| {
            let found = format!("it cannot be created ({error})");
            unsuitable(output, option, &found)
        })
}

/// What a fit writes.
#[derive(Clone, Copy)]
pub enum Written {
    Model,
    State,
}

/// Refuses to overwrite a file that was not written by a fit.
pub fn check_replaced((output, option): Output<'_>, written: Written) -> Result<(), Failure> {
    let is_file = std::fs::metadata(output).is_ok_and(|file| file.is_file() && file.len() > 0);
    let (sound, own) = match written {
        Written::Model => (Predictor::is_in(output)?, "a model"),
        Written::State => (
            State::is_in(output)? || LongState::is_in(output)?,
            "the state of a fit",
        ),
    };
    match is_file && !sound {
        true => Err(Failure::new(format!(
            "{}: not overwritten, because it is not {own}; remove it first, or choose another file with {option}",
            output.display()
        ))),
        false => Ok(()),
    }
}

/// Opens a table for writing; if Ctrl-C ends the program, the partial file is removed.
pub fn create_table(path: &Path) -> Result<Writer<'static>, Failure> {
    let writer = Writer::create(path)?;
    writer.partial().map_or(Ok(()), interrupt::tidy)?;
    Ok(writer)
}

/// Refuses a name with the extension of another format, since tables are written as text.
pub fn check_table_name((output, option): Output<'_>) -> Result<(), Failure> {
    const OTHERS: [&str; 9] = [
        "xlsx", "xlsm", "xls", "ods", "npy", "npz", "mat", "parquet", "json",
    ];
    let extension = output.extension().unwrap_or_default().to_string_lossy();
    match OTHERS
        .iter()
        .find(|other| extension.eq_ignore_ascii_case(other))
    {
        None => Ok(()),
        Some(other) => Err(Failure::new(format!(
            "{}: tables are written as CSV or TSV, not as .{other}; choose a name such as table.csv with {option}",
            output.display()
        ))),
    }
}

/// Reports that a file was written, except for a pipe or device, which this output may go to.
pub fn tell_written(out: &mut impl Write, path: &Path) -> Result<(), Failure> {
    if std::fs::metadata(path).is_ok_and(|file| file.is_file()) {
        writeln!(out, "wrote {}", path.display())?;
    }
    Ok(())
}

/// Reports after a blank line which files were written, if any.
pub fn tell_all_written(out: &mut impl Write, outputs: &[Output<'_>]) -> Result<(), Failure> {
    if !outputs.is_empty() {
        writeln!(out)?;
    }
    let mut files = outputs.iter().map(|(path, _)| path);
    files.try_for_each(|path| tell_written(out, path))
}

/// Whether two paths are the same file.
pub fn same_file(one: &Path, other: &Path) -> bool {
    Identity::of(one).is(&Identity::of(other))
}

fn unsuitable(output: &Path, option: &str, found: &str) -> Failure {
    Failure::new(format!(
        "{}: cannot be the output file, because {found}; choose another with {option}",
        output.display()
    ))
}

/// The identity of a file, independent of its path.
struct Identity {
    /// Its path without links; none for a pipe or a device, which may be read and written.
    path: Option<PathBuf>,
    /// Device and number, which hard links share.
    node: Option<(u64, u64)>,
}

impl Identity {
    fn of(path: &Path) -> Self {
        let path = &*place(path);
        let metadata = std::fs::metadata(path).ok();
        let special = metadata.as_ref().is_some_and(|file| !file.is_file());
        // A file that does not exist yet has no canonical path, but its folder may have one.
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let absent = || {
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")));
            let file = path.file_name().unwrap_or_default();
            let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.into());
            folder.map_or_else(|_| absolute(), |folder| folder.join(file))
        };
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| absent());
        Identity {
            path: (!special).then_some(whole),
            node: metadata.filter(|_| !special).and_then(node),
        }
    }

    fn is(&self, other: &Identity) -> bool {
        let same_path = self.path.is_some() && self.path == other.path;
        same_path || (self.node.is_some() && self.node == other.node)
    }
}

#[cfg(unix)]
fn node(file: std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn node(_: std::fs::Metadata) -> Option<(u64, u64)> {
    None
}
