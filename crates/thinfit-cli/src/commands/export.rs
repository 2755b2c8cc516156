//! `thinfit export`: exports a model to ONNX, C, Python, JavaScript or LaTeX.

use std::io::Write;

use thinfit::Precision;
use thinfit::file::write_whole;
use thinfit_export::{Difference, Inaccurate, files};
use thinfit_methods::two_digits;

use crate::args::{ExportArgs, Language};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{Output, check_distinct, tell_written};

/// Significant digits of a formula.
const DIGITS: u8 = 6;

/// Refuses options that do not apply to the language.
fn check_options(args: &ExportArgs) -> Result<(), Failure> {
    let (onnx, latex) = (
        matches!(args.to, Language::Onnx),
        matches!(args.to, Language::Latex),
    );
    let stray = [
        ("--f32", "onnx", args.f32 && !onnx),
        ("--digits", "latex", args.digits.is_some() && !latex),
    ];
    match stray.iter().find(|(.., stray)| *stray) {
        None => Ok(()),
        Some((option, language, _)) => Err(Failure::new(format!(
            "{option} needs `--to {language}`; remove it, or change the language"
        ))),
    }
}

/// Translates the model and writes the file.
pub fn run(args: &ExportArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    check_options(args)?;
    let precision = match args.f32 {
        true => Precision::F32,
        false => Precision::F64,
    };
    let language = match args.to {
        Language::Onnx => thinfit_export::Language::Onnx(precision),
        Language::C => thinfit_export::Language::C,
        Language::Python => thinfit_export::Language::Python,
        Language::Js => thinfit_export::Language::JavaScript,
        Language::Latex => thinfit_export::Language::Latex(args.digits.unwrap_or(DIGITS).into()),
    };
    let path = args
        .output
        .clone()
        .unwrap_or_else(|| args.model.with_extension(language.extension()));
    let header = language.header(&path);
    if header.as_deref() == Some(&*path) {
        return Err(Failure::new(format!(
            "{}: this would be the name of the header; give the C source a name that ends in .c",
            path.display()
        )));
    }
    let outputs = [Some(&path), header.as_ref()].into_iter().flatten();
    let outputs: Vec<Output<'_>> = outputs.map(|path| (&**path, "-o FILE")).collect();
    check_distinct(&[&args.model], &outputs)?;
    let model = &super::load(&args.model, memory)?;
    let exported = files(model, language, &path).map_err(|error| refused(args, &error))?;
    for (path, content) in exported.files {
        write_whole(&path, &content)?;
        tell_written(out, &path)?;
    }
    if let Some(Difference {
        largest,
        output,
        rows,
        arithmetic,
        bounded,
        ..
    }) = exported.difference
    {
        let largest = two_digits(largest);
        let what = match bounded {
            true => "difference from predict: at most",
            false => "largest difference from predict:",
        };
        writeln!(
            out,
            "{what} {largest} standard deviations of {output} ({rows} rows)"
        )?;
        if args.f32 && arithmetic == Precision::F64 {
            writeln!(
                out,
                "computes in double precision between its inputs and outputs, because its terms cancel in single precision"
            )?;
        }
    }
    Ok(())
}

/// The error of an export that differs too much from the model.
fn refused(args: &ExportArgs, error: &Inaccurate) -> Failure {
    let advice = match error.precision {
        Precision::F32 => "remove --f32",
        Precision::F64 => {
            "its terms cancel too far for other programs to reproduce it; fit a network (--thin), or a process with more noise"
        }
    };
    Failure::new(format!("{}: {error}; {advice}", args.model.display()))
}
