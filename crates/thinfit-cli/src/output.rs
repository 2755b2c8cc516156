//! Checks of files before they are written: one rule for all commands.

use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file to write, and the option that gives another one.
pub type Output<'a> = (&'a Path, &'a str);

/// Refuses a call in which a file to write is one to read, or two are the same, whatever they are called; before any work.
pub fn check_distinct(inputs: &[&Path], outputs: &[Output<'_>]) -> Result<(), Failure> {
    let inputs: Vec<Identity> = inputs.iter().map(|path| Identity::of(path)).collect();
    let standard = Identity::of(Path::new("/dev/stdout"));
    if standard.node.is_some() && inputs.iter().any(|input| input.node == standard.node) {
        return Err(Failure::new(
            "standard output: expected another file than those to read, found one of them; redirect it elsewhere",
        ));
    }
    let mut others = inputs;
    for (output, option) in outputs {
        let identity = Identity::of(output);
        if others.iter().any(|other| other.is(&identity)) {
            let found = "one that this command uses for something else";
            return Err(unsuitable(output, option, found));
        }
        others.push(identity);
    }
    Ok(())
}

/// Refuses a file that cannot be written, before a fit takes its time.
pub fn check_writable((output, option): Output<'_>) -> Result<(), Failure> {
    if output.is_dir() {
        return Err(unsuitable(output, option, "a folder"));
    }
    // Pipes and devices are written to, not replaced.
    if std::fs::metadata(output).is_ok_and(|file| !file.is_file()) {
        return Ok(());
    }
    let mut probe = output.as_os_str().to_owned();
    probe.push(format!(".{}.probe", std::process::id()));
    std::fs::File::create(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| {
            let found = format!("one that cannot be created ({error})");
            unsuitable(output, option, &found)
        })
}

/// Whether two names are of the same file.
pub fn same_file(one: &Path, other: &Path) -> bool {
    Identity::of(one).is(&Identity::of(other))
}

fn unsuitable(output: &Path, option: &str, found: &str) -> Failure {
    Failure::new(format!(
        "{}: expected a file to write to, found {found}; give another one with {option}",
        output.display()
    ))
}

/// What makes a file the same under two names.
struct Identity {
    /// Its path without links; none for a pipe or a device, which may be read and written.
    path: Option<PathBuf>,
    /// Device and number, which hard links share.
    node: Option<(u64, u64)>,
}

impl Identity {
    fn of(path: &Path) -> Self {
        let metadata = std::fs::metadata(path).ok();
        let special = metadata.as_ref().is_some_and(|file| !file.is_file());
        // A file that does not exist yet has no canonical path, but its folder may have one.
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let place = || {
            let folder = std::fs::canonicalize(folder.unwrap_or(Path::new(".")));
            let file = path.file_name().unwrap_or_default();
            let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.into());
            folder.map_or_else(|_| absolute(), |folder| folder.join(file))
        };
        let whole = std::fs::canonicalize(path).unwrap_or_else(|_| place());
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
