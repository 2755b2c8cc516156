//! Configurations: either the settings of a fit or an error.

use crate::target::Outcome;
use std::path::Path;

/// Reads a configuration as `thinfit fit --config` does.
pub fn survive(input: &[u8], scratch: &Path) -> Outcome {
    let path = scratch.join("fit.toml");
    std::fs::write(&path, input).expect("the scratch folder can be written to");
    match thinfit_cli::configuration(&path) {
        Ok(settings) => Outcome::accepted(settings["method"].as_str().unwrap_or("network")),
        Err(message) => {
            let length = message.len();
            assert!(length < 10_000, "a message of {length} bytes");
            Outcome::refused(message.replace(&*path.to_string_lossy(), ""))
        }
    }
}
