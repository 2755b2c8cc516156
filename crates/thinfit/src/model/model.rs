//! A fitted model: a body that predicts, and a header with everything else.
//!
//! The file is JSON with the format in its first field: a thin network is small, and every language reads JSON.

use super::body::Body;
use super::calibration::Calibration;
use super::header::Header;
use super::network::NetworkBody;
use crate::Result;
use crate::error::require;
use crate::file::{begins_like, parse, write_whole};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// A fitted model, by default a thin two-layer network. It dereferences to its [`Header`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "B: Body"))]
pub struct Model<B = NetworkBody> {
    format: String,
    /// Everything else.
    #[serde(flatten)]
    pub header: Header,
    /// The function.
    pub body: B,
}

impl<B> Deref for Model<B> {
    type Target = Header;

    fn deref(&self) -> &Header {
        &self.header
    }
}

impl<B> DerefMut for Model<B> {
    fn deref_mut(&mut self) -> &mut Header {
        &mut self.header
    }
}

impl<B: Body> Model<B> {
    /// A model of consistent parts.
    pub fn new(header: Header, body: B) -> Self {
        Model {
            format: B::FORMAT.into(),
            header,
            body,
        }
    }

    /// How many real numbers prediction needs.
    pub fn parameters(&self) -> usize {
        self.body.parameters()
    }

    /// The model with intervals from these scores, held-out errors in standard deviations of an observation: a list for every
    /// output, in any order.
    ///
    /// # Errors
    /// Scores that do not fit the outputs, are negative or not finite.
    pub fn with_calibration(mut self, scores: Vec<Vec<f64>>) -> Result<Self> {
        let (calibration, lists) = (Calibration::new(scores), self.outputs.len());
        require(
            calibration.is_sound(lists),
            "scores",
            "a list of finite numbers from 0 for every output",
            format!("{} lists", calibration.scores().len()),
        )?;
        self.calibration = Some(calibration);
        Ok(self)
    }

    /// The model as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a model holds only strings and finite numbers")
    }

    /// Reads a model from JSON text; `name` is its file name in errors.
    ///
    /// # Errors
    /// Text that is not JSON, is cut off, is of a newer version, or whose parts do not fit together.
    pub fn from_json(text: &str, name: &Path) -> Result<Self> {
        parse(text, name, B::FORMAT, Model::flaw)
    }

    /// What is wrong with a model, if anything.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        let body = || self.body.flaw(self.dim(), self.outputs.len());
        self.header.flaw().or_else(body)
    }

    /// Whether a file begins like one that [`Model::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        begins_like(path, B::FORMAT)
    }

    /// Writes the model to a file, under a temporary name first, so that there is never a partial file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_whole(path.as_ref(), self.to_json().as_bytes())
    }
}
