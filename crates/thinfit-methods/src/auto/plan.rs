//! The plan of work: how much of everything a budget buys, from the sizes alone.
//!
//! The plan is made before the work starts and never looks at a clock, so the same rows, seed and budget give the same
//! model on a fast and on a busy machine. Costs are seconds on two cores of an ordinary server:
//!
//! ```text
//! one likelihood with its gradient    m³/2.5·10¹⁰ + m² d · (1 ns, with shares 5 ns) + 20 μs
//! ```

/// Shares of the budget: the race, the finalists on all rows and in the folds, sums of kernels and terms, networks.
const RACE: f64 = 0.15;
const FINAL: f64 = 0.25;
const FOLDS: f64 = 0.2;
const SUMS: f64 = 0.1;
const NETWORKS: f64 = 0.25;

/// Rows that any budget takes, and rows that none does: their matrices alone would fill the memory.
const SMALL: usize = 1000;
const MOST: usize = 10_000;

/// How much of everything is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Rows on which the processes race.
    pub race_rows: usize,
    /// Starts of every process in the race.
    pub starts: usize,
    /// Processes that go on to all rows.
    pub finalists: usize,
    /// Seconds of a finalist on all rows.
    pub seconds: f64,
    /// Folds that judge.
    pub folds: usize,
    /// Iterations of a finalist in each fold; none leaves the lengths as they are.
    pub fold_iterations: usize,
    /// Steps of the search for the weights of sums.
    pub sum_steps: usize,
    /// Whether the finalists are found from scratch in every fold.
    pub afresh: bool,
    /// Seconds left for networks.
    pub networks: f64,
    /// Whether a process of all rows fits into the budget at all.
    pub is_possible: bool,
}

/// Seconds of one likelihood with its gradient.
pub(crate) fn likelihood(m: usize, d: usize, shares: bool) -> f64 {
    let (m, d) = (m as f64, d as f64);
    m.powi(3) / 2.5e10 + m * m * d * if shares { 5e-9 } else { 1e-9 } + 2e-5
}

/// Seconds on one core of the race of a polish with `steps` steps: `rows` equations, `entries` free weights, `columns`
/// output weights.
pub(crate) fn polish(rows: usize, entries: usize, columns: usize, steps: usize) -> f64 {
    let (q, free, p) = (rows as f64, entries as f64, columns as f64);
    let jacobian = 2.0 * q.max(free) * q.min(free).powi(2) + 2.0 * (q + p) * p * free;
    let solves = 3.0 * 2.0 * (q + p) * p * p;
    let count = (3 * 10.min(steps) + 2 * steps) as f64;
    count * (jacobian + solves) / 1.6e10
}

impl Plan {
    /// The plan for `m` rows with `d` inputs and a budget in seconds.
    pub fn new(m: usize, d: usize, budget: f64) -> Self {
        let rows = |starts: usize| {
            let cost = |rows: usize| {
                // Three kinds with shares, four without; 20 iterations of every start, 60 of two.
                let steps = (20 * starts + 120) as f64;
                steps * (3.0 * likelihood(rows, d, true) + 4.0 * likelihood(rows, d, false))
            };
            let fits = |rows: &usize| cost(*rows) <= RACE * budget;
            (30..=500).rev().step_by(10).find(fits).unwrap_or(30)
        };
        let starts = if rows(6) >= m.min(200) { 6 } else { 3 };
        let mean = 0.5 * (likelihood(m, d, true) + likelihood(m, d, false));
        let finalists = ((FINAL * budget / (12.0 * mean)) as usize).clamp(2, 3);
        let folds = if m <= 300 { 10 } else { 5 };
        let kept = m - m / folds;
        let fold = 0.5 * (likelihood(kept, d, true) + likelihood(kept, d, false));
        // Folds run two at a time, each on one core.
        let fold = fold * (folds * finalists) as f64;
        let fold_iterations = ((FOLDS * budget / fold) as usize).min(25);
        Plan {
            race_rows: rows(starts).min(m),
            starts,
            finalists,
            seconds: FINAL * budget / finalists as f64,
            folds,
            fold_iterations: if fold_iterations < 3 {
                0
            } else {
                fold_iterations
            },
            sum_steps: ((SUMS * budget / (likelihood(m, 1, false) + fold)) as usize).clamp(4, 25),
            afresh: 360.0 * fold <= FOLDS * budget,
            networks: NETWORKS * budget,
            is_possible: m <= SMALL || m <= MOST && 8.0 * likelihood(m, 1, false) <= budget,
        }
    }

    /// Iterations on `m` rows that a finalist may make.
    pub fn iterations(&self, m: usize, d: usize, shares: bool) -> usize {
        ((self.seconds / likelihood(m, d, shares)) as usize).clamp(4, 60)
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
        ] {
            let plans = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0].map(|b| Plan::new(m, d, b));
            for pair in plans.windows(2) {
                let [less, more] = pair else { unreachable!() };
                assert!(
                    less.race_rows <= more.race_rows,
                    "{m} {d}: {less:?} {more:?}"
                );
                assert!(less.finalists <= more.finalists && less.afresh <= more.afresh);
            }
        }
    }
}
