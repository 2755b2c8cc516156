//! The plan of a search: how much work the budget allows, from the sizes alone.
//!
//! The plan is made before the work starts and never looks at a clock, so the same rows, seed and budget give the
//! same model on a fast and on a busy machine (except for a fit that exceeds its budget by far, which is cut). Costs
//! are seconds on one core of an ordinary server; the plan assumes two. Measured at 100 to 2,000 rows with 2 to 60
//! inputs, they are right within a third:
//!
//! ```text
//! one likelihood with its gradient    m³/4.2·10¹⁰ + m² (15 ns + d · (0.4 ns, ANOVA 1.2 ns, rough ANOVA 2.7 ns)) + 20 μs
//! ```

use crate::screening::searched;
use thinfit_gp::{GaussianProcess, Shape};

/// Shares of the budget: the first, the second and the last round of successive halving, folds, sums of kernels and terms,
/// networks.
const FIRST_ROUND: f64 = 0.13;
const SECOND_ROUND: f64 = 0.08;
const LAST_ROUND: f64 = 0.19;
const FOLDS: f64 = 0.12;
const SUMS: f64 = 0.05;
const NETWORKS: f64 = 0.25;

/// Cores that the budget is for.
const CORES: f64 = 2.0;
/// Likelihoods in a step of a search.
const LIKELIHOODS_PER_STEP: f64 = 1.3;
/// Processes in the first round.
const KINDS: usize = 7;
/// Processes in the second round, iterations of each, and in each of its five folds.
const CONFIGURATIONS: usize = 4;
const STEPS: usize = 40;
const AGAIN: usize = 5;

/// Likelihoods of all rows that even the shortest search of everything takes, and of a process that is only extended to
/// all rows with its folds (a sum of terms has a matrix for each).
const SEARCH: f64 = 40.0;
const EXTENSION: f64 = 16.0;
/// Fewer rows for each input than this are few: a row must then be held out of every search that its error validates.
pub(crate) const ROWS_PER_INPUT: usize = 20;
/// Searches without a fold, best first, and what they cost: likelihoods on the rows of the first round, and on all after it.
const FOLD_SEARCHES: [(f64, f64, FoldSearch); 4] = [
    (360.0, 0.0, of(3, usize::MAX, 80)),
    (110.0, 0.0, of(1, usize::MAX, 80)),
    (80.0, 40.0, of(2, 200, 30)),
    (80.0, 15.0, of(2, 150, 12)),
];
/// Above this many inputs all share one length.
pub(crate) const MANY: usize = 1000;
/// Rows that any budget takes, and rows that none does: their matrices alone would fill the memory.
const SMALL: usize = 1000;
const MOST: usize = 10_000;

/// How much of everything is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Rows of the model: all, or as many as a process can have within the budget.
    pub model_rows: usize,
    /// Rows on which everything is searched; the best process is then extended to the others.
    pub rows: usize,
    /// Rows of the first round.
    pub first_rows: usize,
    /// Starts of every process in the first round.
    pub starts: usize,
    /// The second round, where all rows are many more than those of the first.
    pub second_round: Option<Round>,
    /// Processes that go on to all rows.
    pub survivors: usize,
    /// Seconds of a survivor on all rows.
    pub seconds: f64,
    /// Folds of the cross-validation.
    pub folds: usize,
    /// Iterations of a survivor in each fold; none leaves the lengths as they are.
    pub fold_iterations: usize,
    /// Steps of the search for the weights of sums.
    pub sum_steps: usize,
    /// Whether rows are few for each input: what was searched among them may then fit them by chance.
    pub few: bool,
    /// How the survivors are found from scratch in every fold; none where rows are so many that a search which goes on
    /// from what all rows gave leaks nothing that shows.
    pub afresh: Option<FoldSearch>,
    /// What an input that acts costs, in units of log-likelihood.
    pub price: f64,
    /// Seconds left for networks.
    pub networks: f64,
}

/// A search from scratch without a fold.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FoldSearch {
    pub starts: usize,
    /// Rows on which starts are selected.
    pub selection_rows: usize,
    pub iterations: usize,
}

impl FoldSearch {
    /// The one that costs least.
    pub fn cheapest() -> Self {
        FOLD_SEARCHES[FOLD_SEARCHES.len() - 1].2.clone()
    }

    /// A process that is searched so.
    pub fn of(&self, process: &GaussianProcess) -> GaussianProcess {
        GaussianProcess {
            starts: self.starts.min(process.starts),
            selection_rows: self.selection_rows,
            iterations: self.iterations.min(process.iterations),
            ..process.clone()
        }
    }
}

/// A search with so many starts selected on so many rows, then so many iterations.
const fn of(starts: usize, selection_rows: usize, iterations: usize) -> FoldSearch {
    FoldSearch {
        starts,
        selection_rows,
        iterations,
    }
}

/// Searches that go on from those before, on more rows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Round {
    pub rows: usize,
    /// How many processes take part.
    pub configurations: usize,
    pub iterations: usize,
    /// Iterations in each fold.
    pub fold_iterations: usize,
}

/// Seconds of one likelihood with its gradient.
fn likelihood(m: usize, d: usize, kernel: Shape) -> f64 {
    let (m, d) = (m as f64, d as f64);
    let entry = match kernel {
        Shape::AnovaMatern52 => 2.7e-9,
        Shape::Anova => 1.2e-9,
        _ => 0.4e-9,
    };
    m.powi(3) / 4.2e10 + m * m * (15e-9 + d * entry) + 2e-5
}

/// The mean over kernels, half of them plain; all of them where there are too many inputs for others.
fn mean(m: usize, d: usize) -> f64 {
    let of = |kernel| likelihood(m, d, kernel);
    if d > MANY {
        return of(Shape::Gaussian);
    }
    0.5 * of(Shape::Gaussian) + 0.25 * (of(Shape::Anova) + of(Shape::AnovaMatern52))
}

/// Seconds on one core of the starts and the end of a polish with `steps` steps: `rows` equations, `entries` free weights, `columns`
/// output weights.
pub(crate) fn polish(rows: usize, entries: usize, columns: usize, steps: usize) -> f64 {
    let (q, free, p) = (rows as f64, entries as f64, columns as f64);
    let jacobian = 2.0 * q.max(free) * q.min(free).powi(2) + 2.0 * (q + p) * p * free;
    let solves = 3.0 * 2.0 * (q + p) * p * p;
    let count = (3 * 10.min(steps) + 2 * steps) as f64;
    count * (jacobian + solves) / 1.6e10
}

/// Seconds on two cores of one step of the polish of many rows: triangles of blocks of rows, which merge, and two trials.
pub(crate) fn long_step(rows: usize, entries: usize, columns: usize) -> f64 {
    let (q, free, p) = (rows as f64, entries as f64, columns as f64);
    let triangle = |k: f64| 2.0 * (q + q / 8192.0 * k) * k * k;
    (triangle(p + free) + 2.0 * triangle(p)) / CORES / 2.4e10
}

impl Plan {
    /// The plan for `m` rows with `d` inputs and a budget in seconds.
    pub fn new(m: usize, d: usize, budget: f64) -> Self {
        let given = d;
        let d = searched(m, d);
        // Seconds of one core, for the trials of a search.
        let share = |of: f64| of * budget * CORES / LIKELIHOODS_PER_STEP;
        let most = |part: f64, count: f64| {
            let fits = |rows: &usize| count * mean(*rows, d) <= part * budget * CORES;
            let least = m.min(SMALL);
            let rows = (least..=m.min(MOST)).rev().step_by(10).find(fits);
            rows.unwrap_or(least)
        };
        let model_rows = most(1.0 - NETWORKS, EXTENSION);
        let m = most(LAST_ROUND + FOLDS + SUMS, SEARCH).min(model_rows);
        let first_round = |starts: usize| {
            let cost = |rows: usize| {
                // 20 iterations of every start, 60 of two, 15 in each of five folds.
                let steps = (20 * starts + 120) as f64;
                let folds = 15.0 * 5.0 * mean(rows - rows / 5, d);
                KINDS as f64 * (steps * mean(rows, d) + folds)
            };
            let fits = |rows: &usize| cost(*rows) <= share(FIRST_ROUND);
            (30..=500).rev().step_by(10).find(fits).unwrap_or(30)
        };
        let starts = if first_round(6) >= m.min(200) { 6 } else { 3 };
        let first_rows = first_round(starts).min(m);
        let second_round = |rows: &usize| {
            let folds = (AGAIN * 5) as f64 * mean(rows - rows / 5, d);
            CONFIGURATIONS as f64 * (STEPS as f64 * mean(*rows, d) + folds) <= share(SECOND_ROUND)
        };
        let second_round = (first_rows..=m).rev().step_by(10).find(second_round);
        let few = m < ROWS_PER_INPUT * d;
        let survivors = ((share(LAST_ROUND) / (40.0 * mean(m, d))) as usize).clamp(3, 4);
        // Few rows cannot tell more of them apart, and each is searched again without every fold.
        let survivors = if few { 3 } else { survivors };
        let many_folds = if m <= 300 { 10 } else { 5 };
        // Lengths that few rows must tell are told by chance, so the rows of a fold must not have seen them.
        let likelihoods = |rows: usize, folds: usize| {
            mean((m - m / folds).min(rows), d) * (folds * survivors) as f64
        };
        let cost = |folds: usize, (count, more, search): &(f64, f64, FoldSearch)| {
            let selected = count * likelihoods(search.selection_rows, folds);
            let all = if search.selection_rows < m {
                more * likelihoods(m, folds)
            } else {
                0.0
            };
            selected + all
        };
        let [best, others @ ..] = FOLD_SEARCHES;
        let ways = [(many_folds, best.clone()), (many_folds, others[0].clone())];
        let ways = ways
            .into_iter()
            .chain(others.into_iter().map(|search| (5, search)));
        let (folds, afresh) = match few {
            true => {
                let most = 2.5 * share(FOLDS);
                let affordable = ways.clone().find(|(folds, way)| cost(*folds, way) <= most);
                let last = ways
                    .last()
                    .filter(|(folds, way)| cost(*folds, way) <= 3.0 * most);
                let way = affordable.or(last);
                way.map_or((many_folds, None), |(folds, way)| (folds, Some(way.2)))
            }
            false => {
                let affordable = cost(many_folds, &best) <= share(FOLDS);
                (many_folds, affordable.then_some(best.2))
            }
        };
        let fold = likelihoods(m, folds);
        let price = match few {
            true => (given as f64).ln() + 0.5 * (m as f64).ln(),
            false => 0.0,
        };
        let fold_iterations = ((share(FOLDS) / fold) as usize).min(25);
        let fold_iterations = if fold_iterations < 3 {
            0
        } else {
            fold_iterations
        };
        let folds_cost = if fold_iterations > 0 { fold } else { 0.0 };
        Plan {
            model_rows,
            rows: m,
            first_rows,
            starts,
            // Little more rows than the first round had, or nearly all, are not worth a round of their own.
            second_round: second_round
                .filter(|&rows| rows > first_rows + first_rows / 3 && rows < m - m / 4)
                .map(|rows| Round {
                    rows,
                    configurations: CONFIGURATIONS,
                    iterations: STEPS,
                    fold_iterations: AGAIN,
                }),
            survivors,
            seconds: share(LAST_ROUND) / survivors as f64,
            folds,
            fold_iterations,
            sum_steps: ((share(SUMS) / (likelihood(m, 1, Shape::Gaussian) + folds_cost)) as usize)
                .clamp(4, 25),
            few,
            afresh,
            price,
            networks: NETWORKS * budget,
        }
    }

    /// Iterations on `m` rows that a survivor may make.
    pub fn iterations(&self, m: usize, d: usize, kernel: Shape) -> usize {
        ((self.seconds / likelihood(m, d, kernel)) as usize).clamp(4, 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_budget_never_buys_less() {
        for (m, d) in [
            (8, 1),
            (100, 5),
            (300, 10),
            (1000, 20),
            (2000, 60),
            (5000, 10),
            (50_000, 10),
        ] {
            let plans = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0].map(|b| Plan::new(m, d, b));
            for pair in plans.windows(2) {
                let [less, more] = pair else { unreachable!() };
                assert!(
                    less.first_rows <= more.first_rows,
                    "{m} {d}: {less:?} {more:?}"
                );
                assert!(
                    less.survivors <= more.survivors
                        && less.afresh.is_some() <= more.afresh.is_some()
                );
                assert!(less.rows <= more.rows && less.model_rows <= more.model_rows);
            }
        }
    }
}
