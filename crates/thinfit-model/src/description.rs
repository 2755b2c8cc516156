//! Describes in English what a fit found.

use crate::{InputColumn, Predictor};
use std::collections::BTreeSet;
use std::fmt::Write;
use thinfit::{
    Candidate, Caution, Choice, Dependence, Diagnosis, Record, Subset, SubsetReason, Tried,
    four_digits, r2_digits, two_digits,
};
use thinfit_gp::{Crossing, FoundEdge};

/// Inputs without an effect that are named; of more, those with an effect are.
const MOST_IDLE: usize = 12;
/// Rows are clean if the noise is at most this share of the variance.
pub const CLEAN: f64 = 1e-4;
/// Squared error, relative to the variance, above which a model explains nothing.
const EXPLAINS_NOTHING: f64 = 0.95;

impl Predictor {
    /// What the model is, in a few words.
    pub fn kind(&self) -> String {
        let record = self.record();
        match self {
            Predictor::Network(model) => {
                format!("{} {} neurons", model.width(), model.activation().name())
            }
            Predictor::Kernel(_) => {
                let found = record.diagnosis.as_ref();
                let best = found.and_then(|found| found.tried.first());
                let name = best.map_or(record.method.clone(), |best| name(best.candidate));
                if found.is_some_and(Diagnosis::is_mean) {
                    return name;
                }
                format!("{name}, a kernel at each sample")
            }
        }
    }

    /// What the model is, its held-out errors, and [`Predictor::diagnosis`].
    pub fn report(&self) -> String {
        let record = self.record();
        let mut text = format!(
            "{}, {} parameters, fitted to {} samples{}\n",
            self.kind(),
            self.parameters(),
            record.samples,
            in_groups(record)
        );
        let held_out = self.validation();
        for (o, name) in self.outputs().iter().enumerate() {
            let errors = (record.validation_mse.get(o)).zip(record.validation_variance.get(o));
            let _ = match errors {
                None => writeln!(text, "{name}: no rows were held out to measure the error"),
                Some((mse, variance)) => writeln!(
                    text,
                    "{name}: rmse {}, r² {}, {held_out}",
                    with_error(record, o, *mse),
                    r2_digits(explained(*mse, *variance)),
                ),
            };
        }
        text + &self.diagnosis().unwrap_or_default()
    }

    /// How the errors in the record were measured.
    pub fn validation(&self) -> String {
        let record = self.record();
        let rows = record.validation_samples;
        match record.diagnosis.as_ref().filter(|found| found.folds > 0) {
            Some(found) if found.nested => format!(
                "{}-fold nested cross-validation on {rows} rows",
                found.folds
            ),
            Some(found) => format!("{}-fold cross-validation on {rows} rows", found.folds),
            None if rows < record.samples => {
                format!("{rows} held-out rows (also used to select the model)")
            }
            None => format!("cross-validation on {rows} rows (also used to select the settings)"),
        }
    }

    /// What the default fit found out about the data, as text: why the model was chosen, noise, inputs that matter, outliers and the
    /// candidates. None for other methods.
    pub fn diagnosis(&self) -> Option<String> {
        let found = self.record().diagnosis.as_ref()?;
        let words = self.words();
        let mut text: String = words.iter().map(|words| format!("{words}\n")).collect();
        self.push_tried(&mut text, found);
        Some(text)
    }

    /// [`Predictor::diagnosis`] without the candidates, one line each; nothing for other methods.
    pub fn words(&self) -> Vec<String> {
        let Some(found) = &self.record().diagnosis else {
            return Vec::new();
        };
        let mut lines = self.choice(found);
        lines.extend(outliers(&found.outliers));
        lines.extend(found.cautions.iter().map(caution));
        lines.extend(self.record().dependence.iter().map(dependence));
        lines.extend(found.subset.map(subset));
        if let Predictor::Kernel(model) = self {
            lines.extend(model.body.edges(model).iter().map(edge));
        }
        lines.extend(self.noise(found));
        let warped = (0..self.inputs().len()).filter(|&j| self.input_scaler().warp_of(j).is_some());
        let warped: Vec<&str> = warped.map(|j| self.inputs()[j].as_str()).collect();
        if !warped.is_empty() {
            lines.push(format!(
                "skewed inputs, transformed by asinh: {}",
                warped.join(", ")
            ));
        }
        lines.extend(self.structure(found));
        lines
    }

    /// Whether there are reasons to doubt the held-out errors: cautions of the fit, or rows that depend on each other across folds.
    pub fn has_doubts(&self) -> bool {
        let record = self.record();
        let kept_together = |sign: &Dependence| matches!(sign, Dependence::NearRepeats { .. });
        let cautions = record.diagnosis.iter().flat_map(|found| &found.cautions);
        cautions.count() > 0 || !record.dependence.iter().all(kept_together)
    }

    /// Why this model was chosen.
    fn choice(&self, found: &Diagnosis) -> Vec<String> {
        let record = self.record();
        let chosen = found.tried.first();
        let chosen = chosen.map_or(record.method.clone(), |tried| with_article(tried.candidate));
        let together = match self.outputs().len() {
            1 => "",
            _ => ", all outputs together",
        };
        let mut lines = vec![match found.choice {
            Choice::Mean => {
                "no candidate predicts clearly better than the mean, so the model is the mean"
                    .into()
            }
            Choice::LowestError => format!("lowest cross-validation error{together}: {chosen}"),
            Choice::WithinChance { most_probable } => format!(
                "chosen: {chosen}; another candidate has a lower cross-validation error, by no more than chance{}",
                match most_probable {
                    true => ", and a lower likelihood",
                    false => "",
                }
            ),
            Choice::Faithful { to, lowest } => format!(
                "chosen: {chosen}; it follows the {} model ({}) so closely that nothing is lost",
                if lowest { "best" } else { "preferred" },
                name(to)
            ),
            Choice::Requested { best, excess } => format!(
                "a network, as requested; its squared error is {:.0} % above that of {}",
                100.0 * excess,
                with_article(best)
            ),
            Choice::Weighted => "weighted rows are fitted by a network".into(),
            Choice::Grown {
                hidden,
                output,
                rows,
            } => {
                let from = match output == rows {
                    true => format!("all {rows}"),
                    false => {
                        format!("a random sample of {output}: the pass over all {rows} was stopped")
                    }
                };
                format!(
                    "lowest held-out error: {chosen}; its hidden weights come from {hidden} rows, its output weights from {from}"
                )
            }
        }];
        if record.stopped {
            lines.push(
                "stopped before everything was tried: interrupted, or far over its budget".into(),
            );
        }
        lines
    }

    /// What is known about the noise of each output.
    fn noise(&self, found: &Diagnosis) -> Vec<String> {
        let record = self.record();
        let mut lines = Vec::new();
        for (o, output) in self.outputs().iter().enumerate() {
            let figures = (
                found.noise.get(o),
                record.validation_mse.get(o),
                record.validation_variance.get(o),
            );
            let (Some(noise), Some(mse), Some(variance)) = figures else {
                continue;
            };
            let constant = *variance == 0.0;
            if constant || found.is_mean() || matches!(found.choice, Choice::Weighted) {
                continue;
            }
            let of = match self.outputs().len() {
                1 => String::new(),
                _ => format!(" of {output}"),
            };
            if explains_nothing(*mse, *variance) {
                lines.push(format!(
                    "the model{of} predicts held-out rows no better than the mean"
                ));
                continue;
            }
            // Without a range the held-out errors contradict the model's noise, unless there are hardly any errors.
            let range = found.noise_range.get(o);
            let undetected = match range {
                Some([low, high]) => *noise == 0.0 || *low == 0.0 && *mse > 4.0 * high * high,
                None => *noise == 0.0 && *mse < CLEAN * variance,
            };
            if undetected {
                lines.push(format!(
                    "no noise{of} detected: more rows improve the model"
                ));
                continue;
            }
            let [low, high] = *range.unwrap_or(&[f64::NAN; 2]);
            let percent =
                |deviation: f64| format!("{} %", two_digits(100.0 * deviation / variance.sqrt()));
            lines.push(if low.is_nan() {
                format!("noise{of}: the rows do not determine how much of the error is noise")
            } else if low == 0.0 {
                format!("noise{of}: standard deviation at most {} ({} of that of the output)", two_digits(high), percent(high))
            } else {
                let advice = if *mse < 1.5 * low * low {
                    "; nearly all of the error, so more rows help little"
                } else if *mse > 2.0 * high * high {
                    "; less than half of the squared error, so more rows help"
                } else {
                    ""
                };
                format!(
                    "noise{of}: standard deviation {} to {} ({} to {} of that of the output){advice}",
                    two_digits(low), two_digits(high), percent(low), percent(high)
                )
            });
        }
        lines
    }

    /// Which columns interact, and which have no detectable effect. The fit knows inputs; a user knows columns, and the
    /// indicators of a text are one column.
    fn structure(&self, found: &Diagnosis) -> Vec<String> {
        let factors = InputColumn::all(self);
        let columns = |inputs: &[usize]| -> BTreeSet<usize> {
            let of_input = |&j: &usize| InputColumn::of_input(&factors, j);
            inputs.iter().filter_map(of_input).collect()
        };
        let listed = |set: &mut dyn Iterator<Item = usize>| {
            let names: Vec<&str> = set.map(|k| factors[k].name.as_str()).collect();
            names.join(", ")
        };
        let mut lines = Vec::new();
        let terms: Vec<BTreeSet<usize>> =
            found.terms.iter().flatten().map(|t| columns(t)).collect();
        let is_own = |k: usize| {
            let others = terms.iter().enumerate().filter(|(l, _)| *l != k);
            let mut holders = others.filter(|(l, other)| match terms[k] == **other {
                true => *l < k,
                false => terms[k].is_subset(other),
            });
            holders.next().is_none()
        };
        let own = (0..terms.len()).filter(|k| is_own(*k));
        let own: Vec<String> = own
            .map(|k| format!("f({})", listed(&mut terms[k].iter().copied())))
            .collect();
        if own.len() > 1 {
            lines.push(format!(
                "the function is a sum of terms: {}",
                own.join(" + ")
            ));
        }
        let undetected = self.undetected();
        let (d, seen) = (
            factors.len(),
            undetected.iter().filter(|idle| !**idle).count(),
        );
        let with = |idle: bool| listed(&mut (0..d).filter(|k| undetected[*k] == idle));
        if seen == 0 {
            lines.push("no input has a detectable effect".into());
        } else if d - seen > MOST_IDLE {
            lines.push(format!(
                "inputs that matter: {} ({seen} of {d})",
                with(false)
            ));
        } else if seen < d {
            lines.push(format!("no detectable effect: {}", with(true)));
        }
        lines
    }

    fn push_tried(&self, text: &mut String, found: &Diagnosis) {
        let names: Vec<String> = found.tried.iter().map(tried_name).collect();
        let Some(widest) = names.iter().map(|name| name.chars().count()).max() else {
            return;
        };
        let title = "tried; the first was chosen";
        let widest = widest.max(title.len()) + 2;
        let _ = write!(text, "\n{title:<widest$}");
        let of_output = |name: &String| match self.outputs().len() {
            1 => "rmse".into(),
            _ => format!("rmse of {name}"),
        };
        let titles: Vec<String> = self.outputs().iter().map(of_output).collect();
        for title in &titles {
            let _ = write!(text, "{title:>0$}", title.chars().count().max(12) + 2);
        }
        text.push('\n');
        for (tried, name) in found.tried.iter().zip(names) {
            let _ = write!(text, "{name:<widest$}");
            for (mse, title) in tried.mse.iter().zip(&titles) {
                let width = title.chars().count().max(12) + 2;
                let _ = write!(text, "{:>width$}", four_digits(mse.sqrt()));
            }
            text.push('\n');
        }
    }
}

/// The name of a candidate.
fn name(candidate: Candidate) -> String {
    let name = match candidate {
        Candidate::Gaussian => "Gaussian process with a Gaussian kernel",
        Candidate::Matern => "Gaussian process with a Matérn kernel",
        Candidate::Anova => "Gaussian process with an ANOVA kernel",
        Candidate::FreeAnova => "Gaussian process with a free ANOVA kernel",
        Candidate::RoughAnova => "Gaussian process with a rough ANOVA kernel",
        Candidate::OneLength => "Gaussian process with one length",
        Candidate::NearlyLinear => "nearly linear model",
        Candidate::Mean => "mean of the samples",
        Candidate::SumOfKernels => "Gaussian process with a sum of kernels",
        Candidate::SumOfTerms => "Gaussian process that is a sum of terms",
        Candidate::Jumps => "Gaussian process with jumps",
        Candidate::Bends => "Gaussian process with bends",
        Candidate::Network { neurons } => {
            return format!("network of {neurons} neurons, fitted to the rows");
        }
        Candidate::Distilled { neurons } => {
            return format!(
                "network of {neurons} neurons, distilled from the best Gaussian process"
            );
        }
        Candidate::Grown { neurons } => {
            return format!("network of {neurons} neurons, fitted to all rows");
        }
    };
    name.into()
}

/// The name of a candidate in a sentence.
fn with_article(candidate: Candidate) -> String {
    match candidate {
        Candidate::Mean => "the mean of the samples".into(),
        other => format!("a {}", name(other)),
    }
}

/// The name of a candidate in the list of those tried.
pub fn tried_name(tried: &Tried) -> String {
    match tried.of_part {
        true => format!("{}, on a part of the rows", name(tried.candidate)),
        false => name(tried.candidate),
    }
}

/// Which rows were used.
fn subset(subset: Subset) -> String {
    let why = match subset.because {
        SubsetReason::Budget => "more do not fit into the budget",
        SubsetReason::Stopped => "it was stopped before it used the others",
        SubsetReason::NoBetter => "a network fitted to all of them predicts no better",
    };
    format!(
        "fitted to {} of {} rows, drawn at random: {why}",
        subset.used, subset.rows
    )
}

/// An edge of the model.
fn edge(edge: &FoundEdge) -> String {
    let height = match edge.height {
        None => String::new(),
        Some([low, middle, high]) if high - low < 0.3 * middle => {
            format!(" by about {}", two_digits(middle))
        }
        Some([low, _, high]) => format!(" by {} to {}", two_digits(low), two_digits(high)),
    };
    match edge.crossing {
        Crossing::Jump => format!("the function seems to jump{height} where {}", edge.place),
        Crossing::Bend => format!("the function seems to have a kink where {}", edge.place),
    }
}

/// Numbers of rows, counted from 1.
fn numbers(rows: &[usize]) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|row| row.saturating_add(1).to_string())
        .collect();
    rows.join(", ")
}

/// The rows that were set aside.
fn outliers(rows: &[usize]) -> Option<String> {
    let what = match rows {
        [] => return None,
        [row] => format!("1 outlier set aside: row {}", row.saturating_add(1)),
        rows => format!("{} outliers set aside: rows {}", rows.len(), numbers(rows)),
    };
    Some(format!("{what}; errors are for the other rows"))
}

/// A caution as a sentence.
fn caution(caution: &Caution) -> String {
    match caution {
        Caution::OddRows { rows } => {
            let (rows, verb) = match rows.as_slice() {
                [row] => (format!("row {}", row.saturating_add(1)), "does"),
                rows => (format!("rows {}", numbers(rows)), "do"),
            };
            format!("{rows} {verb} not fit the other rows, which show no noise: a mistake or a sharp peak")
        }
        Caution::ShuffledFit { r2 } => format!(
            "the same procedure reaches r² {} on shuffled outputs: the reported error was raised accordingly",
            two_digits(*r2)
        ),
        Caution::NotNested => {
            "few rows per input, and the search was not repeated without each fold: the error is optimistic".into()
        }
    }
}

/// The groups of the samples, to follow their number; nothing where there were none.
pub fn in_groups(record: &Record) -> String {
    match &record.groups {
        None => String::new(),
        Some(groups) => match &groups.column {
            None => format!(" in {} groups", groups.count),
            Some(column) => format!(" in {} groups by {column}", groups.count),
        },
    }
}

/// A sign that rows were not independent, and what to do.
fn dependence(sign: &Dependence) -> String {
    match sign {
        Dependence::NearRepeats { groups } => format!(
            "nearly repeated rows: {groups} settings were kept together in cross-validation"
        ),
        Dependence::Clusters { clusters } => format!(
            "the rows lie in {clusters} clusters: between clusters, errors may be larger than in cross-validation; define groups to \
             keep dependent rows together"
        ),
        Dependence::Order { autocorrelation } => format!(
            "held-out residuals are autocorrelated in the order of the rows ({autocorrelation:.2}): errors may be larger than in \
             cross-validation; define groups to keep dependent rows together"
        ),
    }
}

/// The root of the mean squared error of output `o`, with its standard error where it is known.
fn with_error(record: &Record, o: usize, mse: f64) -> String {
    let rmse = mse.sqrt();
    match rmse_error(record, o) {
        Some(error) => format!("{} ± {}", four_digits(rmse), two_digits(error)),
        None => four_digits(rmse),
    }
}

/// The standard error of the root mean squared error of output `o`, where it is known: that of the mse over 2 rmse.
pub fn rmse_error(record: &Record, o: usize) -> Option<f64> {
    let found = record.diagnosis.as_ref()?;
    let (error, mse) = (found.standard_error.get(o)?, record.validation_mse.get(o)?);
    Some(root_error(*error, *mse))
}

/// The standard error of a root, given that of the number.
pub fn root_error(error: f64, number: f64) -> f64 {
    match number > 0.0 {
        true => 0.5 * error / number.sqrt(),
        false => 0.0,
    }
}

/// Whether a model with this error is no better than the mean, for all that a user can tell.
pub fn explains_nothing(mse: f64, variance: f64) -> bool {
    mse > EXPLAINS_NOTHING * variance
}

/// r² = 1 − mse/variance, 0 where there is nothing to explain.
pub fn explained(mse: f64, variance: f64) -> f64 {
    match variance > 0.0 {
        true => 1.0 - mse / variance,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::{Dataset, Mat};
    use thinfit_gp::GaussianProcess;

    #[test]
    fn a_report_tells_the_diagnosis_and_other_methods_have_none() {
        let x = Mat::from_fn(30, 3, |i, j| ((i * (7 + 4 * j)) % 31) as f64 / 31.0);
        let y = Mat::from_fn(30, 1, |i, _| x[(i, 0)] + x[(i, 1)]);
        let data = Dataset::new(x, y).unwrap();
        let fitted = crate::tests::fitted(GaussianProcess::NAME, &data, 1);
        assert_eq!(fitted.diagnosis(), None);
        let Predictor::Kernel(mut model) = fitted else {
            panic!("a Gaussian process is a kernel model");
        };
        model.record.validation_mse = vec![0.04];
        model.record.diagnosis = Some(Diagnosis {
            standard_error: vec![0.004],
            noise: vec![0.125],
            noise_range: vec![[0.11, 0.14]],
            cautions: vec![Caution::NotNested],
            inputs: vec![0, 2],
            terms: Some(vec![vec![0], vec![2]]),
            outliers: vec![4],
            tried: vec![Tried {
                candidate: Candidate::Matern,
                mse: vec![0.04],
                of_part: false,
            }],
            ..Diagnosis::default()
        });
        let report = Predictor::from(model).report();
        for words in [
            "Gaussian process with a Matérn kernel, a kernel at each sample",
            "y: rmse 0.2000 ± 0.010",
            "noise: standard deviation 0.11 to 0.14",
            "the error is optimistic",
            "no detectable effect: x2",
            "the function is a sum of terms: f(x1) + f(x3)",
            "1 outlier set aside: row 5",
            "lowest cross-validation error: a Gaussian process",
        ] {
            assert!(report.contains(words), "`{words}` is missing in\n{report}");
        }
    }
}
