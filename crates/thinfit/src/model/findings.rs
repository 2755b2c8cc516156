//! What a fit without settings found out about the data, kept in the record.

use serde::{Deserialize, Serialize};

/// What was found out about the data, and which candidates were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Standard errors of the validation errors (c).
    pub standard_error: Vec<f64>,
    /// Standard deviation of the noise of each output, in its units (c); 0 where it cannot be told from rounding.
    pub noise: Vec<f64>,
    /// The inputs that matter, as columns.
    pub inputs: Vec<usize>,
    /// The sets of inputs that act together, if the function is a sum of functions of few inputs.
    pub terms: Option<Vec<Vec<usize>>>,
    /// Rows of the table, counted from 0, that were taken for outliers and not fitted.
    pub outliers: Vec<usize>,
    /// The candidates: the one that was chosen, then the others by their errors.
    pub tried: Vec<Tried>,
    /// The rest in words: why this model, and what would help.
    pub words: Vec<String>,
}

/// A candidate with its errors on rows that it did not see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name, in words.
    pub name: String,
    /// Mean squared error of each output, in its units (c).
    pub mse: Vec<f64>,
}
