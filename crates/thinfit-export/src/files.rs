//! The files of an export: one for each language, and for C also a header.

use crate::{
    Difference, Inaccurate, Onnx, c, difference_of_functions, identifier, javascript, latex, onnx,
    python,
};
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

/// The files of an export, and how far they are from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exported {
    /// Where each file goes, and what to write to it; that of the given name first.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// Their largest difference from what the model predicts, or a bound on it; none for a formula, which has the digits that were asked for.
    pub difference: Option<Difference>,
}

/// The files of the model in a language, the one called `path` first.
///
/// # Errors
/// They are further than [`TOLERANCE`](crate::TOLERANCE) from what the model predicts.
pub fn files(model: &Predictor, language: Language, path: &Path) -> Result<Exported, Inaccurate> {
    let name = stem(path);
    let of_functions = || difference_of_functions(model).checked(Precision::F64);
    let (content, header, difference) = match language {
        Language::Onnx(precision) => {
            let Onnx { bytes, difference } = onnx(model, precision)?;
            (bytes, None, Some(difference))
        }
        Language::C => {
            let difference = of_functions()?;
            let code = c(model, &name);
            let header = Some(code.header.into_bytes());
            (code.source.into_bytes(), header, Some(difference))
        }
        Language::Python => {
            let difference = of_functions()?;
            (python(model, &name).into_bytes(), None, Some(difference))
        }
        Language::JavaScript => {
            let difference = of_functions()?;
            let module = javascript(model, &name).module();
            (module.into_bytes(), None, Some(difference))
        }
        Language::Latex(digits) => (latex(model, digits).into_bytes(), None, None),
    };
    let header = language.header(path).zip(header);
    Ok(Exported {
        files: [(path.to_owned(), content)]
            .into_iter()
            .chain(header)
            .collect(),
        difference,
    })
}
