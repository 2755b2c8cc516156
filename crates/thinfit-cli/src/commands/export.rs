//! `thinfit export`: a model as ONNX, C, Python, JavaScript or LaTeX.

use std::io::Write;

use thinfit::Precision;
use thinfit::file::write_whole;
use thinfit_export::files;
use thinfit_methods::Predictor;

use crate::args::{ExportArgs, Language};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{Output, check_distinct};

/// Translates the model and writes the file.
pub fn run(args: &ExportArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let precision = match args.f32 {
        true => Precision::F32,
        false => Precision::F64,
    };
    let language = match args.to {
        Language::Onnx => thinfit_export::Language::Onnx(precision),
        Language::C => thinfit_export::Language::C,
        Language::Python => thinfit_export::Language::Python,
        Language::Js => thinfit_export::Language::JavaScript,
        Language::Latex => thinfit_export::Language::Latex(args.digits.into()),
    };
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| args.model.with_extension(language.extension()));
    let header = language.header(&path);
    if header.as_deref() == Some(&*path) {
        return Err(Failure::new(format!(
            "{}: expected a name for the C source, found that of its header; give one that ends in .c",
            path.display()
        )));
    }
    let outputs = [Some(&path), header.as_ref()].into_iter().flatten();
    let outputs: Vec<Output<'_>> = outputs.map(|path| (&**path, "-o FILE")).collect();
    check_distinct(&[&args.model], &outputs)?;
    let model = &Predictor::load_within(&args.model, memory.of_model(&args.model)?)?;
    for (path, content) in files(model, language, &path) {
        write_whole(&path, &content)?;
        writeln!(out, "wrote {}", path.display())?;
    }
    Ok(())
}
