//! Writes a plot in the format given by the file extension.

use std::path::Path;

use thinfit::file::write_whole;
use thinfit_plot::Canvas;

use crate::commands::plot::DOTS;
use crate::failure::Failure;

/// Refuses a name without a known extension, before any work.
pub fn check_format(path: &Path) -> Result<(), Failure> {
    match extension(path).as_str() {
        "svg" | "png" => Ok(()),
        _ => Err(Failure::new(format!(
            "{}: expected a name that ends in .svg or .png; choose another with --plot",
            path.display()
        ))),
    }
}

/// Writes the plot as SVG or PNG.
pub fn save_as(path: &Path, canvas: &Canvas) -> Result<(), Failure> {
    let content = match extension(path).as_str() {
        "png" => canvas.to_png(DOTS).map_err(Failure::new)?,
        _ => canvas.to_svg().into_bytes(),
    };
    Ok(write_whole(path, &content)?)
}

fn extension(path: &Path) -> String {
    let extension = path.extension().unwrap_or_default();
    extension.to_string_lossy().to_lowercase()
}
