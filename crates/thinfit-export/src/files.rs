//! The files of an export: one for each language, and for C a header beside the source.

use crate::{c, identifier, javascript, latex, onnx, python};
use std::path::{Path, PathBuf};
use thinfit::Precision;
use thinfit_methods::Predictor;

/// What a model can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// An ONNX graph.
    Onnx(Precision),
    /// A C source and its header.
    C,
    /// A Python module.
    Python,
    /// A JavaScript module.
    JavaScript,
    /// A formula with so many significant digits.
    Latex(usize),
}

impl Language {
    /// The usual ending of its files, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Language::Onnx(_) => "onnx",
            Language::C => "c",
            Language::Python => "py",
            Language::JavaScript => "js",
            Language::Latex(_) => "tex",
        }
    }

    /// The header that belongs to the C source `path`, which includes it under the name of the function.
    pub fn header(self, path: &Path) -> Option<PathBuf> {
        let header = || path.with_file_name(format!("{}.h", identifier(&stem(path))));
        (self == Language::C).then(header)
    }
}

/// The name that a file gives to the function in it.
fn stem(path: &Path) -> String {
    let stem = path.file_stem();
    stem.map_or("model".into(), |stem| stem.to_string_lossy().into_owned())
}

/// The files of the model in a language, the one called `path` first, with what to write to them.
pub fn files(model: &Predictor, language: Language, path: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let name = stem(path);
    let (content, header) = match language {
        Language::Onnx(precision) => (onnx(model, precision), None),
        Language::C => {
            let code = c(model, &name);
            (code.source.into_bytes(), Some(code.header.into_bytes()))
        }
        Language::Python => (python(model, &name).into_bytes(), None),
        Language::JavaScript => (javascript(model, &name).module().into_bytes(), None),
        Language::Latex(digits) => (latex(model, digits).into_bytes(), None),
    };
    let header = language.header(path).zip(header);
    [(path.to_owned(), content)]
        .into_iter()
        .chain(header)
        .collect()
}
