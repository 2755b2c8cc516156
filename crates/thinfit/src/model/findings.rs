//! What a fit without settings found out about the data, kept in the record.

use serde::{Deserialize, Serialize};

/// What was found out about the data, and which candidates were tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Standard errors of the validation errors (c).
    pub standard_error: Vec<f64>,
    /// Standard deviation of the noise of each output, in its units (c); 0 where it cannot be told from rounding.
    pub noise: Vec<f64>,
    /// Ends of the 95 % interval of each noise, by the likelihood (c); empty where the rows cannot tell it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_range: Vec<[f64; 2]>,
    /// Folds of the cross-validation that the errors come from; 0 where there was another way.
    #[serde(default)]
    pub folds: usize,
    /// Whether everything was searched again without each fold, not only refined.
    #[serde(default)]
    pub nested: bool,
    /// Whether the model predicts the mean, because nothing was clearly better.
    #[serde(default)]
    pub is_mean: bool,
    /// What should make a reader doubt the errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
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

/// A reason to doubt the errors of a fit, or what was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Fitted to shuffled outputs the same procedure reports this r²; the reported error was raised accordingly.
    ShuffledFit {
        /// r² of the fit to shuffled outputs, by the same cross-validation.
        r2: f64,
    },
    /// The fit was stopped before everything was searched again without each fold, so the errors are optimistic.
    NotNested,
}

impl Caution {
    /// Whether its numbers are finite.
    pub(crate) fn is_finite(&self) -> bool {
        match self {
            Caution::ShuffledFit { r2 } => r2.is_finite(),
            Caution::NotNested => true,
        }
    }
}

/// A candidate with its errors on rows that it did not see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its name, in words.
    pub name: String,
    /// Mean squared error of each output, in its units (c).
    pub mse: Vec<f64>,
}
