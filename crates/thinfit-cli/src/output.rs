//! Checks of files before they are written.

use std::path::Path;

use crate::failure::Failure;

/// Refuses a file that cannot be written, before a fit takes its time, and one that the command uses for something else.
pub fn check_output(output: &Path, option: &str, others: &[&Path]) -> Result<(), Failure> {
    let wrong = |found: String| {
        Failure::new(format!(
            "{}: expected a file to write to, found {found}; give another one with {option} FILE",
            output.display()
        ))
    };
    // A file that does not exist yet has no canonical path, but its folder does.
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).unwrap_or_default();
        let file = path.file_name().unwrap_or_default();
        std::fs::canonicalize(path).unwrap_or_else(|_| folder.join(file))
    };
    if others.iter().any(|other| place(other) == place(output)) {
        return Err(wrong(
            "one that this command uses for something else".into(),
        ));
    }
    if output.is_dir() {
        return Err(wrong("a folder".into()));
    }
    // Pipes and devices are written to, not replaced.
    if std::fs::metadata(output).is_ok_and(|file| !file.is_file()) {
        return Ok(());
    }
    let mut probe = output.as_os_str().to_owned();
    probe.push(format!(".{}.probe", std::process::id()));
    std::fs::File::create(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| wrong(format!("one that cannot be created ({error})")))
}
