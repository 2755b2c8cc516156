//! The plan of work: how much of everything a budget buys, from the sizes alone.
//!
//! The plan is made before the work starts and never looks at a clock, so the same rows, seed and budget give the same
//! model on a fast and on a busy machine. Costs are seconds on two cores of an ordinary server:
//!
//! ```text
//! one likelihood with its gradient    m³/2.5·10¹⁰ + m² d · (1 ns, with shares 5 ns) + 20 μs
//! ```

/// How much of everything is done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Plan {
    /// Rows on which the processes race.
    pub race_rows: usize,
    /// Starts of every process in the race.
    pub starts: usize,
    /// Processes that go on to all rows.
    pub finalists: usize,
    /// Iterations of a finalist on all rows.
    pub iterations: usize,
    /// Folds that judge.
    pub folds: usize,
    /// Iterations of a finalist in each fold; none leaves the lengths as they are.
    pub fold_iterations: usize,
    /// Whether the finalists are found from scratch in every fold.
    pub afresh: bool,
    /// Seconds left for networks.
    pub networks: f64,
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
        // About a third is for finding, a third for judging, a third for networks.
        let third = budget / 3.0;
        let rows = |starts: usize, share: f64| {
            let cost = |rows: usize| {
                // Three kinds with shares, four without; 20 iterations of every start, 60 of two.
                let steps = (20 * starts + 120) as f64;
                steps * (3.0 * likelihood(rows, d, true) + 4.0 * likelihood(rows, d, false))
            };
            let fits = |rows: &usize| cost(*rows) <= share;
            (30..=500).rev().step_by(10).find(fits).unwrap_or(30)
        };
        let starts = if rows(6, 0.6 * third) >= m.min(200) {
            6
        } else {
            3
        };
        let race_rows = rows(starts, 0.6 * third).min(m);
        let one = likelihood(m, d, true);
        let affordable = |share: f64, least: usize, most: usize, cost: f64| {
            ((share / cost) as usize).clamp(least, most)
        };
        let finalists = affordable(0.6 * third, 1, 3, 10.0 * one);
        let iterations = affordable(0.6 * third, 4, 60, finalists as f64 * one);
        let folds = if m <= 300 { 10 } else { 5 };
        let kept = m - m / folds;
        let fold = likelihood(kept, d, true) * (folds * finalists) as f64;
        let fold_iterations = ((0.7 * third / fold) as usize).min(25);
        let afresh = 180.0 * fold * 2.0 <= third;
        Plan {
            race_rows,
            starts,
            finalists,
            iterations,
            folds,
            fold_iterations: if fold_iterations < 3 {
                0
            } else {
                fold_iterations
            },
            afresh,
            networks: third,
        }
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
