//! stub
use serde::{Deserialize, Serialize};
/// form
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// complex
    #[default]
    Complex,
    /// real
    Real,
}
