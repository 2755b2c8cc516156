//! What the default fit found out about the data and why it selected its model, as numbers and enums; front ends put
//! it into words.

use serde::{Deserialize, Serialize};

/// What the default fit found out, and which candidates it tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Diagnosis {
    /// Why the model was chosen.
    pub choice: Choice,
    /// The candidates: the one that was chosen, then the others by their errors. Empty where there was no choice.
    pub tried: Vec<Tried>,
    /// Standard errors of the validation errors (c).
    pub standard_error: Vec<f64>,
    /// Folds of the cross-validation that the errors come from; 0 where there was another way.
    pub folds: usize,
    /// Whether the whole search was repeated in each fold.
    pub nested: bool,
    /// Reasons to doubt the errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cautions: Vec<Caution>,
    /// Standard deviation of the noise of each output, in its units (c); 0 where it is not distinguishable from rounding.
    pub noise: Vec<f64>,
    /// 95 % likelihood interval of each noise (c); empty where the rows do not determine it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise_range: Vec<[f64; 2]>,
    /// The inputs that have an effect, as columns.
    pub inputs: Vec<usize>,
    /// The sets of inputs that act together, if the function is a sum of functions of few inputs.
    pub terms: Option<Vec<Vec<usize>>>,
    /// Rows of the table, counted from 0, that were set aside as outliers.
    pub outliers: Vec<usize>,
    /// The rows that were used, if not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subset: Option<Subset>,
}

/// Why a model was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// It has the lowest held-out error.
    #[default]
    LowestError,
    /// Another candidate has a lower held-out error, by no more than chance.
    WithinChance {
        /// Whether it is the one with the highest likelihood.
        most_probable: bool,
    },
    /// It predicts the mean: no candidate is clearly better.
    Mean,
    /// A thin network that follows this candidate so closely that nothing is lost.
    Faithful {
        /// The candidate that it follows.
        to: Candidate,
        /// Whether that has the lowest held-out error.
        lowest: bool,
    },
    /// A network was requested.
    Requested {
        /// The best candidate.
        best: Candidate,
        /// Relative excess of the squared error of the network over that of the best candidate.
        excess: f64,
    },
    /// Rows with weights are fitted by a network.
    Weighted,
    /// A network whose hidden weights come from a sample of an out-of-core table.
    Grown {
        /// Rows that the hidden weights come from.
        hidden: usize,
        /// Rows that the output weights come from.
        output: u64,
        /// Rows of the table.
        rows: u64,
    },
}

/// A kind of model that the default fit tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidate {
    /// A Gaussian process with a Gaussian kernel.
    Gaussian,
    /// A Gaussian process with a Matérn kernel.
    Matern,
    /// A Gaussian process with an ANOVA kernel.
    Anova,
    /// The same without a prior.
    FreeAnova,
    /// A Gaussian process with a rough ANOVA kernel.
    RoughAnova,
    /// A Gaussian process with one length for all inputs.
    OneLength,
    /// A Gaussian process whose lengths are so long that it is nearly linear.
    NearlyLinear,
    /// The mean of the samples.
    Mean,
    /// A Gaussian process with a sum of kernels of several kinds.
    SumOfKernels,
    /// A Gaussian process with a kernel for each set of inputs that act together.
    SumOfTerms,
    /// A Gaussian process that jumps across hyperplanes.
    Jumps,
    /// A Gaussian process that has kinks along hyperplanes.
    Bends,
    /// A thin network fitted to the rows.
    Network {
        /// Number of neurons.
        neurons: usize,
    },
    /// A thin network fitted to the predictions of the best Gaussian process.
    Distilled {
        /// Number of neurons.
        neurons: usize,
    },
    /// A thin network whose hidden weights come from ever more rows of an out-of-core table.
    Grown {
        /// Number of neurons.
        neurons: usize,
    },
}

/// Rows drawn at random from a table that has more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subset {
    /// Rows that were used.
    pub used: usize,
    /// Rows of the table.
    pub rows: u64,
    /// Why not all.
    pub because: SubsetReason,
}

/// Why a model was fitted to some of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubsetReason {
    /// More do not fit into the budget.
    Budget,
    /// The fit was stopped before it used the others.
    Stopped,
    /// A network fitted to all rows predicts no better.
    NoBetter,
}

/// A reason to doubt the errors of a fit, or what was done about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// Fitted to shuffled outputs the same procedure reports this r²; the reported error was raised accordingly.
    ShuffledFit {
        /// r² of the fit to shuffled outputs, by the same cross-validation.
        r2: f64,
    },
    /// The search was not repeated in each fold, so the errors are optimistic.
    NotNested,
    /// Rows that do not fit the others, in a table that is otherwise free of noise: wrong, or on a sharp peak.
    OddRows {
        /// Rows of the table, counted from 0.
        rows: Vec<usize>,
    },
}

/// A candidate with its held-out errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// What it is.
    pub candidate: Candidate,
    /// Mean squared error of each output, in its units (c).
    pub mse: Vec<f64>,
    /// Whether it was fitted to a part of an out-of-core table and its errors are those on the part.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub of_part: bool,
}

impl Caution {
    /// The rows that it is about, for renumbering.
    pub fn rows_mut(&mut self) -> Option<&mut [usize]> {
        match self {
            Caution::OddRows { rows } => Some(rows),
            Caution::ShuffledFit { .. } | Caution::NotNested => None,
        }
    }
}

impl Diagnosis {
    /// Whether the model predicts the mean.
    pub fn is_mean(&self) -> bool {
        self.choice == Choice::Mean
    }

    /// Whether its numbers are consistent with this many inputs and outputs.
    pub(crate) fn is_sound(&self, inputs: usize, outputs: usize) -> bool {
        let sound = |values: &[f64]| values.iter().all(|v| v.is_finite() && *v >= 0.0);
        let errors = |values: &[f64]| sound(values) && [0, outputs].contains(&values.len());
        let columns = |set: &[usize]| set.iter().all(|&j| j < inputs);
        let choice = match self.choice {
            Choice::Requested { excess, .. } => excess.is_finite(),
            _ => true,
        };
        let caution = |caution: &Caution| match caution {
            Caution::ShuffledFit { r2 } => r2.is_finite(),
            Caution::NotNested | Caution::OddRows { .. } => true,
        };
        choice
            && errors(&self.standard_error)
            && errors(&self.noise)
            && self.noise_range.iter().all(|ends| sound(ends))
            && self.cautions.iter().all(caution)
            && columns(&self.inputs)
            && self.terms.iter().flatten().all(|set| columns(set))
            && self.tried.iter().all(|tried| errors(&tried.mse))
    }
}
