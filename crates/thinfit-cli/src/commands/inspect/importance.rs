//! Sobol indices of inputs and pairs of inputs.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;
use thinfit_methods::{InputColumn, Predictor, Sensitivity};

use crate::digits::{four_digits, two_digits};
use crate::failure::Failure;
use crate::labels::Labels;

/// Pairs of inputs that are listed.
const PAIRS: usize = 5;
/// Maximum number of decimals of an index, and that of a sampled one, whose error is unknown.
const DECIMALS: i32 = 6;
const SAMPLED: i32 = 3;

/// How much the inputs matter for one output, alone and in pairs.
#[derive(Serialize)]
pub struct Importance {
    /// Mean of f over the domain.
    pub mean: f64,
    /// Variance of f over the domain.
    pub variance: f64,
    /// Whether the indices are exact integrals of the model rather than estimates by sampling.
    closed_form: bool,
    importance: Vec<Line>,
    /// Interactions of pairs of inputs, by name; empty if they would take minutes.
    second_order: BTreeMap<String, BTreeMap<String, f64>>,
    /// The standard error of these shares from sampling; 0 in closed form.
    second_order_error: f64,
    #[serde(skip)]
    pairs: Vec<Pair>,
    /// Whether a pair is omitted because its interaction is below the error of the model.
    #[serde(skip)]
    doubtful: bool,
    /// The smallest share of a pair that is reported.
    #[serde(skip)]
    least_pair: f64,
    /// Why indices have no standard errors, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_errors: Option<String>,
}

/// How much one input matters for one output.
#[derive(Serialize)]
struct Line {
    input: String,
    first_order: f64,
    total: f64,
    /// Standard errors that result from the error of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_order_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_error: Option<f64>,
    /// Whether the fit found no effect of it, whatever its share in the model.
    no_detectable_effect: bool,
    /// Text and whole numbers have none.
    mean_squared_derivative: Option<f64>,
    #[serde(skip)]
    range: String,
}

/// The interaction of two inputs.
pub struct Pair {
    /// Their names.
    pub inputs: [String; 2],
    /// The share of the variance.
    pub share: f64,
    /// Their places among the factors.
    factors: [usize; 2],
    error: Option<f64>,
}

/// The pairs of factors with the largest interactions above sampling errors, at most `count` of them.
pub fn largest_pairs(
    factors: &[InputColumn],
    sensitivity: &Sensitivity,
    count: usize,
) -> Vec<Pair> {
    let second = &sensitivity.second;
    let pairs = (0..second.nrows()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut pairs: Vec<Pair> = pairs
        .map(|(i, j)| Pair {
            inputs: [i, j].map(|k| factors[k].name.clone()),
            share: second[(i, j)],
            factors: [i, j],
            error: None,
        })
        .filter(|pair| pair.share >= sensitivity.least_pair())
        .collect();
    pairs.sort_by(|a, b| b.share.total_cmp(&a.share));
    pairs.truncate(count);
    pairs
}

/// The range of a factor as text, with its unit.
fn range(factor: &InputColumn, unit: Option<&str>) -> String {
    let range = match factor.levels.len() {
        0 if factor.whole => {
            format!("whole, {} to {}", factor.range[0], factor.range[1])
        }
        0 => {
            let [low, high] = factor.range.map(four_digits);
            format!("{low} to {high}")
        }
        levels => return format!("{levels} levels"),
    };
    match unit {
        Some(unit) => format!("{range} {unit}"),
        None => range,
    }
}

impl Importance {
    /// Of output `o`, over the ranges of the factors. `watch` receives the progress from 0 to 1.
    pub fn of(
        model: &Predictor,
        factors: &[InputColumn],
        o: usize,
        watch: &dyn Fn(f64),
    ) -> Result<Self, Failure> {
        let sensitivity = model.sensitivity_over(o, factors, watch)?;
        let errors = model.index_errors(o, factors, &sensitivity);
        let undetected = model.undetected();
        let lines = factors.iter().enumerate();
        let mut lines: Vec<Line> = lines
            .map(|(j, factor)| Line {
                input: factor.name.clone(),
                first_order: sensitivity.first[j],
                total: sensitivity.total[j],
                first_order_error: errors.as_ref().ok().map(|errors| errors.first[j]),
                total_error: errors.as_ref().ok().map(|errors| errors.total[j]),
                no_detectable_effect: undetected[j],
                mean_squared_derivative: factor
                    .choices()
                    .is_none()
                    .then(|| sensitivity.derivative[j]),
                range: range(factor, model.unit(&factor.name)),
            })
            .collect();
        lines.sort_by(|a, b| b.total.total_cmp(&a.total));
        let named = |i: usize| {
            let others = (0..factors.len()).filter(|j| *j != i);
            let share = |j: usize| (factors[j].name.clone(), sensitivity.second[(i, j)]);
            (factors[i].name.clone(), others.map(share).collect())
        };
        let mut pairs = largest_pairs(factors, &sensitivity, PAIRS);
        for pair in &mut pairs {
            if let Ok(errors) = &errors {
                pair.error =
                    Some(model.pair_error(o, factors, pair.factors, pair.share, errors)?);
            }
        }
        let found = pairs.len();
        pairs.retain(|pair| pair.error.is_none_or(|error| pair.share > 2.0 * error));
        Ok(Importance {
            mean: sensitivity.mean,
            variance: sensitivity.variance,
            closed_form: sensitivity.closed_form,
            importance: lines,
            second_order: (0..sensitivity.second.nrows()).map(named).collect(),
            second_order_error: sensitivity.second_error,
            doubtful: pairs.len() < found,
            pairs,
            least_pair: sensitivity.least_pair(),
            no_errors: errors.err().map(|why| why.to_string()),
        })
    }

    /// The table of inputs, most important first, and the interactions; `given`: whether ranges were given.
    pub fn write(&self, out: &mut impl Write, given: bool) -> Result<(), Failure> {
        let names = self.importance.iter().map(|line| line.input.as_str());
        let labels = Labels::of(names, "input");
        writeln!(
            out,
            "{}{:<22}{:<22}{:>13}   range",
            labels.cell("input"),
            "Sobol first",
            "Sobol total",
            "mean (∂f/∂x)²"
        )?;
        for line in &self.importance {
            let slope = line.mean_squared_derivative;
            writeln!(
                out,
                "{}{:<22}{:<22}{:>13}   {}",
                labels.cell(&line.input),
                self.index(line.first_order, line.first_order_error),
                self.index(line.total, line.total_error),
                slope.map_or("-".into(), four_digits),
                match line.no_detectable_effect {
                    true => format!("{}; no detectable effect", line.range),
                    false => line.range.clone(),
                },
            )?;
        }
        let how = match self.closed_form {
            true => "integrated in closed form",
            false => "estimated by sampling",
        };
        let whose = if given { "given" } else { "of the samples" };
        writeln!(out, "  ({how}, numbers uniform over the ranges {whose})")?;
        match &self.no_errors {
            None => writeln!(
                out,
                "  (±: standard error, from the posterior covariance of the model and its error on held-out rows)"
            )?,
            Some(why) => writeln!(out, "  (no standard errors: {why})")?,
        }
        if self.importance.iter().any(|line| line.no_detectable_effect) {
            writeln!(
                out,
                "  (no detectable effect: the rows are as likely without it; the model may still use it in place of a correlated input)"
            )?;
        }
        self.write_pairs(out)
    }

    fn write_pairs(&self, out: &mut impl Write) -> Result<(), Failure> {
        for pair in &self.pairs {
            let share = self.index(pair.share, pair.error);
            let [a, b] = &pair.inputs;
            writeln!(out, "  interaction of {a} and {b}: {share}")?;
        }
        if self.doubtful {
            let other = if self.pairs.is_empty() { "" } else { "other " };
            writeln!(
                out,
                "  {other}interactions are not larger than the error of the model"
            )?;
        } else if self.pairs.is_empty()
            && !self.second_order.is_empty()
            && self.importance.len() > 1
        {
            match self.closed_form {
                true => writeln!(out, "  no interactions between inputs")?,
                false => writeln!(
                    out,
                    "  no interaction above {}, the accuracy of the sampling",
                    two_digits(self.least_pair)
                )?,
            }
        }
        Ok(())
    }

    /// An index with its standard error, to the digits that it leaves.
    fn index(&self, index: f64, error: Option<f64>) -> String {
        let most = match self.closed_form {
            true => DECIMALS,
            false => SAMPLED,
        };
        let Some(around) = error else {
            return format!("{index:.0$}", most as usize);
        };
        let decimals = match around > 0.0 {
            true => (1 - around.log10().floor() as i32).clamp(2, DECIMALS),
            false => most,
        };
        let least = 10f64.powi(-decimals);
        match around < least {
            true => format!("{index:.0$} ± {1}", decimals as usize, two_digits(around)),
            false => format!("{index:.0$} ± {around:.0$}", decimals as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn importance(closed_form: bool, second_order_error: f64) -> Importance {
        Importance {
            mean: 0.0,
            variance: 1.0,
            closed_form,
            importance: vec![],
            second_order: BTreeMap::new(),
            second_order_error,
            pairs: vec![],
            doubtful: false,
            least_pair: 5e-4,
            no_errors: None,
        }
    }

    #[test]
    fn an_index_has_as_many_digits_as_its_error_leaves() {
        let exact = importance(true, 0.0);
        for (index, error, text) in [
            (0.543525, Some(0.016), "0.544 ± 0.016"),
            (0.3, Some(0.2), "0.30 ± 0.20"),
            (0.351243, Some(1e-8), "0.351243 ± 1.0e-8"),
            (0.0, Some(0.0), "0.000000 ± 0"),
            (0.351243, None, "0.351243"),
        ] {
            assert_eq!(exact.index(index, error), text);
        }
        let sampled = importance(false, 2e-3);
        assert_eq!(sampled.index(0.351243, None), "0.351");
        assert_eq!(sampled.index(0.351243, Some(0.002)), "0.3512 ± 0.0020");
    }
}
