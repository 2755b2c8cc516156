//! `thinfit export`: a model as ONNX, C, Python, JavaScript or LaTeX.

use std::io::Write;
use std::path::Path;

use thinfit::Precision;
use thinfit::file::write_whole;
use thinfit_methods::Predictor;

use crate::args::{ExportArgs, Language};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{Output, check_distinct};

/// Translates the model and writes the file.
pub fn run(args: &ExportArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let extension = match args.to {
        Language::Onnx => "onnx",
        Language::C => "c",
        Language::Python => "py",
        Language::Js => "js",
        Language::Latex => "tex",
    };
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| args.model.with_extension(extension));
    let name = path
        .file_stem()
        .map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    // The source includes its header under the name of the function.
    let header = path.with_file_name(format!("{}.h", thinfit_export::identifier(&name)));
    let mut outputs: Vec<Output<'_>> = vec![(&path, "-o FILE")];
    if let Language::C = args.to {
        if header == path {
            return Err(Failure::new(format!(
                "{}: expected a name for the C source, found that of its header; give one that ends in .c",
                path.display()
            )));
        }
        outputs.push((&header, "-o FILE"));
    }
    check_distinct(&[&args.model], &outputs)?;
    let model = &Predictor::load_within(&args.model, memory.of_model(&args.model)?)?;
    let mut write = |path: &Path, content: &[u8]| -> Result<(), Failure> {
        write_whole(path, content)?;
        Ok(writeln!(out, "wrote {}", path.display())?)
    };
    match args.to {
        Language::Onnx => {
            let precision = if args.f32 {
                Precision::F32
            } else {
                Precision::F64
            };
            write(&path, &thinfit_export::onnx(model, precision))
        }
        Language::C => {
            let code = thinfit_export::c(model, &name);
            write(&path, code.source.as_bytes())?;
            write(&header, code.header.as_bytes())
        }
        Language::Python => write(&path, thinfit_export::python(model, &name).as_bytes()),
        Language::Js => {
            let code = thinfit_export::javascript(model, &name);
            write(&path, code.module().as_bytes())
        }
        Language::Latex => {
            let digits = usize::from(args.digits);
            write(&path, thinfit_export::latex(model, digits).as_bytes())
        }
    }
}
