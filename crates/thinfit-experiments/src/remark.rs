//! A remark on each cell whose error differs from the published one by more than a factor of 3: what seeds, λ and the
//! paper tell about it. Remarks state facts that the ledger confirms, and what the paper leaves open.

use crate::comparison::{Comparison, Ours};
use crate::report::{power, ratio};
use crate::{Exhibit, Row};
use thinfit::Winner;

/// The factor between errors that are alike.
const FACTOR: f64 = 3.0;

/// Whether an error over the published one is within the factor.
pub(crate) fn alike(ratio: f64) -> bool {
    (1.0 / FACTOR..=FACTOR).contains(&ratio)
}

impl Comparison {
    /// The remark on a cell that differs from the published one; `None` if it agrees or is not compared.
    pub fn remark(&self) -> Option<String> {
        let (ours, published) = (self.ours.as_ref()?, self.published?);
        self.ratio().filter(|&ratio| !alike(ratio))?;
        let mut sentences = vec![scatter(ours, published.mse)];
        if let ([chosen], Some(lambda)) = (ours.lambdas().as_slice(), published.lambda)
            && *chosen != lambda
        {
            sentences.push(format!(
                "λ is {} here and {} there.",
                power(*chosen),
                power(lambda)
            ));
        }
        sentences.extend(self.reason().map(str::to_owned));
        Some(sentences.join(" "))
    }

    /// What the polish chose in how many of our fits, and the error without it; `None` if no fit was polished.
    pub fn polish(&self) -> Option<String> {
        let entries = &self.ours.as_ref()?.entries;
        let polished = entries.iter().filter_map(|entry| {
            let selection = entry.selection.as_ref()?;
            let before = selection.trained_mse.first()?;
            Some((selection.winner, entry.validation_mse?, before))
        });
        let polished: Vec<_> = polished.collect();
        let count = |winner| polished.iter().filter(|one| one.0 == winner).count();
        let words = [
            (Winner::PolishedRandom, "polished random features"),
            (Winner::Polished, "polished features of the method"),
            (Winner::Trained, "features of the method"),
        ];
        let words = words.map(|(winner, words)| (count(winner), words));
        let words: Vec<String> = (words.iter().filter(|(count, _)| *count > 0))
            .map(|(count, words)| format!("{words} in {count}"))
            .collect();
        let (after, before) = (polished.iter()).fold((0.0, 0.0), |sum, (_, after, before)| {
            (sum.0 + after, sum.1 + *before)
        });
        (!polished.is_empty()).then(|| {
            format!(
                "Chosen by validation: {} of {} fits. Without the polish the method has ×{} of this error there.",
                words.join(", "),
                polished.len(),
                ratio(before / after)
            )
        })
    }

    /// What the paper says or leaves open.
    fn reason(&self) -> Option<&'static str> {
        match (self.cell.row, self.cell.exhibit) {
            _ if !self.comparable() => {
                Some("The paper copied this number from elsewhere, probably of another domain.")
            }
            (Row::Shrimp | Row::Salsa, Exhibit::Table(3)) => {
                Some("The paper copied this number from elsewhere, of one split.")
            }
            (Row::FOpt, _) => Some("The paper leaves the step size of F-Opt open."),
            (Row::NoisyGradients, _) => {
                Some("The paper gives neither step size nor number of steps.")
            }
            (Row::FullySampled, _) => Some("The paper gives few of the settings."),
            (Row::KernelRidge, _) => Some("The paper gives neither ridge nor precision."),
            _ => None,
        }
    }
}

/// How the errors of the seeds compare with a published error.
fn scatter(ours: &Ours, published: f64) -> String {
    let mut ratios: Vec<f64> = (ours.entries.iter())
        .filter_map(|entry| Some(entry.mse? / published))
        .collect();
    ratios.sort_by(f64::total_cmp);
    let (Some(&least), Some(&most)) = (ratios.first(), ratios.last()) else {
        return String::new();
    };
    let (low, high) = (ratios[(ratios.len() - 1) / 2], ratios[ratios.len() / 2]);
    let median = (low + high) / 2.0;
    match ratios.len() {
        1 => format!("One seed, ×{}.", ratio(most)),
        count if alike(median) => {
            let apart = ratios.iter().filter(|ratio| !alike(**ratio)).count();
            format!(
                "{apart} of {count} seeds make the difference: the median is ×{}, the largest ×{}.",
                ratio(median),
                ratio(most)
            )
        }
        count => format!(
            "The {count} seeds lie between ×{} and ×{}, their median at ×{}.",
            ratio(least),
            ratio(most),
            ratio(median)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempt::blank;
    use crate::job::tests::jobs;
    use crate::{Entry, Exhibit};
    use thinfit::Selection;

    /// What is said of these errors of F-Opt on f1 (5, 300), as multiples of the published one.
    fn remark(multiples: &[f64]) -> Option<String> {
        let mut cells = Exhibit::Table(1).cells().into_iter();
        let cell = cells.find(|cell| cell.row == Row::FOpt && cell.column.name() == "f1-5")?;
        let published = cell.published();
        let entry = |multiple: &f64| Entry {
            mse: published.map(|cell| multiple * cell.mse),
            selected_lambda: Some(1e-2),
            ..blank(&jobs(Row::FOpt)[0], 1.0)
        };
        let comparison = Comparison {
            cell,
            published,
            preset: String::new(),
            ours: Some(Ours::new(multiples.iter().map(entry).collect())),
            best: false,
        };
        comparison.remark()
    }

    #[test]
    fn only_cells_that_differ_have_a_remark_and_it_tells_scatter_from_difference() {
        assert_eq!(remark(&[0.5, 1.0, 2.0]), None);
        let one = remark(&[0.5, 1.0, 20.0]).unwrap();
        assert!(
            one.starts_with("1 of 3 seeds make the difference: the median is ×1.00"),
            "{one}"
        );
        let all = remark(&[0.1, 0.2, 0.3]).unwrap();
        assert!(
            all.starts_with("The 3 seeds lie between ×0.10 and ×0.30"),
            "{all}"
        );
        assert!(all.contains("λ is 1e-2 here and 1e-4 there."), "{all}");
        assert!(
            all.ends_with("The paper leaves the step size of F-Opt open."),
            "{all}"
        );
    }

    #[test]
    fn a_table_says_that_random_features_won_and_how_good_the_method_is_alone() {
        let mut cells = Exhibit::Table(1).cells().into_iter();
        let cell = cells.find(|cell| cell.row == Row::GftR).unwrap();
        let entry = |winner: Option<Winner>| Entry {
            mse: Some(1e-6),
            validation_mse: Some(2e-6),
            selection: winner.map(|winner| Selection {
                winner,
                trained_mse: vec![8e-6],
            }),
            ..blank(&jobs(Row::GftR)[0], 1.0)
        };
        let of = |winners: &[Option<Winner>]| {
            let comparison = Comparison {
                published: cell.published(),
                cell,
                preset: "fast".into(),
                ours: Some(Ours::new(winners.iter().copied().map(entry).collect())),
                best: false,
            };
            comparison.polish()
        };
        let (random, trained) = (Some(Winner::PolishedRandom), Some(Winner::Trained));
        let text = of(&[random, trained, random]).unwrap();
        assert!(text.contains("polished random features in 2, features of the method in 1 of 3"));
        assert!(text.contains("×4"), "{text}");
        assert_eq!(of(&[None]), None);
    }
}
