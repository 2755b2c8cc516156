//! `thinfit report`: writes a self-contained HTML report.

use std::io::Write;
use std::path::{Path, PathBuf};

use thinfit::file::write_whole;
use thinfit_methods::Predictor;
use thinfit_report::{Rows, page};

use crate::args::ReportArgs;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{check_distinct, check_writable, tell_written};
use crate::progress::Progress;
use crate::table::TableSource;
use crate::table::model_rows;

/// Reads the model and the table, and writes the page.
pub fn run(args: &ReportArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| args.model.with_extension("html"));
    let output = (&*path, "-o FILE");
    let inputs = [Some(&args.model), args.data.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    check_distinct(&inputs, &[output])?;
    let model = match args.data {
        Some(_) => super::load_before_table(&args.model, memory, "report")?,
        None => super::load(&args.model, memory)?,
    };
    check_writable(output)?;
    let rows = match &args.data {
        None => None,
        Some(data) => Some(rows(args, data, &model, memory)?),
    };
    let progress = Progress::patient_unless(args.quiet);
    let watch = |done: f64| progress.step(done, || "sensitivity indices".into());
    let html = page(&model, rows.as_ref(), &watch)?;
    progress.finish();
    if let Some(rows) = &rows {
        let seen = model.held_out(rows.x.as_ref(), rows.y.as_ref())?.seen;
        Progress::new(false).note(seen.caption(rows.x.nrows()));
    }
    write_whole(&path, html.as_bytes())?;
    tell_written(out, &path)
}

/// The rows of the table.
fn rows(
    args: &ReportArgs,
    data: &Path,
    model: &Predictor,
    memory: Memory,
) -> Result<Rows, Failure> {
    let table = TableSource::find(data, &[], &args.table, memory)?;
    let rows = model_rows::Rows::read(&table, model, Some(&args.target))?;
    rows.tell(&Progress::new(args.quiet));
    Ok(Rows {
        x: rows.inputs,
        y: rows.targets,
        numbers: Some(rows.places.iter().map(|row| row + 1).collect()),
    })
}
