//! Latin hypercubes: with m rows, each m-th of the range of every input contains one.

use crate::Space;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};

/// Fresh hypercubes that exchanges start from; the best is kept.
const STARTS: usize = 4;
/// Exchanges that are tried for each place of a plan.
const TRIES: usize = 100;
/// Differences of coordinates that a plan may take, about a second of computing.
const WORK: usize = 500_000_000;
/// Half the power of the distances in the criterion: large, so that the closest rows matter most.
const POWER: i32 = 10;

/// New rows of a hypercube that includes those taken, at random places in their parts.
pub(crate) fn random(
    d: usize,
    rows: usize,
    taken: &[Vec<f64>],
    random: &mut impl Rng,
) -> Vec<Vec<f64>> {
    let m = (rows + taken.len()) as f64;
    let mut plan = parts(d, rows, taken, random);
    for place in plan.iter_mut().flatten() {
        *place = (*place + random.random::<f64>()) / m;
    }
    plan
}

/// New rows of a hypercube that includes those taken, in the middle of their parts, and far from each other: pairs of rows
/// exchange a place where that lowers Σ distance⁻²⁰ over all pairs of rows.
pub(crate) fn spread(
    space: &Space,
    rows: usize,
    taken: &[Vec<f64>],
    random: &mut impl Rng,
) -> Vec<Vec<f64>> {
    let (d, m) = (space.inputs().len(), rows + taken.len());
    // Of very many rows all pairs would take too long, and there is nothing to choose between.
    let starts = match STARTS * rows * m * d < WORK {
        true => STARTS,
        false => 1,
    };
    let tries = (TRIES * rows * d).min(WORK / (starts * 4 * m * d).max(1));
    let metric = space.metric();
    let fixed: Vec<Vec<f64>> = taken.iter().map(|row| metric.coordinates(row)).collect();
    let mut best: Option<(f64, Vec<Vec<f64>>)> = None;
    for _ in 0..starts {
        let mut plan = parts(d, rows, taken, random);
        for place in plan.iter_mut().flatten() {
            *place = (*place + 0.5) / m as f64;
        }
        let mut points: Vec<Vec<f64>> = plan.iter().map(|row| metric.coordinates(row)).collect();
        // What one row adds to the sum, but for its distance to row `but`.
        let share = |points: &[Vec<f64>], row: usize, but: usize| -> f64 {
            let others = (0..rows).filter(|i| *i != row && *i != but);
            let others = others.map(|i| &points[i]).chain(&fixed);
            let squares = others.map(|other| metric.square(&points[row], other));
            squares.map(|square| square.powi(-POWER)).sum()
        };
        for _ in 0..if rows > 1 { tries } else { 0 } {
            let (a, j) = (random.random_range(0..rows), random.random_range(0..d));
            let b = (a + random.random_range(1..rows)) % rows;
            // The distance of the two stays the same.
            let before = share(&points, a, b) + share(&points, b, a);
            exchange(&mut points, a, b, j);
            match share(&points, a, b) + share(&points, b, a) < before {
                true => exchange(&mut plan, a, b, j),
                false => exchange(&mut points, a, b, j),
            }
        }
        let sum = match starts {
            1 => 0.0,
            _ => (0..rows).map(|row| share(&points, row, row)).sum(),
        };
        if best.as_ref().is_none_or(|(least, _)| sum < *least) {
            best = Some((sum, plan));
        }
    }
    best.map_or(Vec::new(), |(_, plan)| plan)
}

fn exchange(rows: &mut [Vec<f64>], a: usize, b: usize, j: usize) {
    let value = rows[a][j];
    rows[a][j] = rows[b][j];
    rows[b][j] = value;
}

/// The numbers of the parts of new rows (rows × d), from 0: for each input those that no row has taken, in random order.
fn parts(d: usize, rows: usize, taken: &[Vec<f64>], random: &mut impl Rng) -> Vec<Vec<f64>> {
    let m = rows + taken.len();
    let mut plan = vec![vec![0.0; d]; rows];
    for j in 0..d {
        let mut free = vec![true; m];
        for row in taken {
            free[((row[j] * m as f64) as usize).min(m - 1)] = false;
        }
        // At least as many as there are new rows.
        let mut parts: Vec<usize> = (0..m).filter(|part| free[*part]).collect();
        parts.shuffle(random);
        for (row, part) in plan.iter_mut().zip(parts) {
            row[j] = part as f64;
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use crate::{Input, Range, Scheme, Space, Value, plan};

    fn space(ranges: Vec<Range>) -> Space {
        let named = ranges.into_iter().enumerate();
        let inputs = named.map(|(j, range)| Input {
            name: format!("x{j}"),
            range,
        });
        Space::new(inputs.collect()).unwrap()
    }

    fn cube(d: usize) -> Space {
        space(vec![
            Range::Real {
                low: 0.0,
                high: 1.0
            };
            d
        ])
    }

    fn closest(space: &Space, rows: &[Vec<f64>]) -> f64 {
        let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let metric = space.metric();
        let points: Vec<Vec<f64>> = rows.iter().map(|row| metric.coordinates(row)).collect();
        let distances = pairs.map(|(i, j)| metric.square(&points[i], &points[j]).sqrt());
        distances.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn every_part_of_every_input_has_a_row_also_of_a_plan_that_grew() {
        let space = cube(4);
        for scheme in [Scheme::Latin, Scheme::Maximin] {
            let first = plan(&space, scheme, 12, &[], 1).unwrap();
            let second = plan(&space, scheme, 12, &first, 2).unwrap();
            let parts = |rows: &[Vec<f64>], j: usize| {
                let m = rows.len() as f64;
                let mut parts: Vec<usize> = rows.iter().map(|row| (row[j] * m) as usize).collect();
                parts.sort_unstable();
                parts.dedup();
                parts.len()
            };
            let all = [first.clone(), second.clone()].concat();
            for j in 0..4 {
                assert_eq!(parts(&first, j), 12);
                // Two old rows may share one of the finer parts, new ones do not.
                assert_eq!(second.len(), 12);
                assert!(parts(&all, j) >= 18, "{}", parts(&all, j));
            }
            assert_eq!(plan(&space, scheme, 12, &first, 2).unwrap(), second);
            assert!(plan(&space, scheme, 0, &first, 2).unwrap().is_empty());
            assert_eq!(plan(&space, scheme, 1, &[], 2).unwrap().len(), 1);
        }
    }

    #[test]
    fn maximin_keeps_rows_apart_from_each_other_and_from_those_taken() {
        let space = cube(3);
        for seed in 0..5 {
            let apart = |scheme, taken: &[Vec<f64>]| {
                let new = plan(&space, scheme, 20, taken, seed).unwrap();
                closest(&space, &[taken, &new].concat())
            };
            let (spread, random) = (apart(Scheme::Maximin, &[]), apart(Scheme::Latin, &[]));
            assert!(spread > 0.25 && spread > 1.5 * random, "{spread} {random}");
            let taken = plan(&space, Scheme::Maximin, 10, &[], 77).unwrap();
            let (spread, random) = (apart(Scheme::Maximin, &taken), apart(Scheme::Latin, &taken));
            assert!(spread > 0.15 && spread > random, "{spread} {random}");
        }
    }

    #[test]
    fn levels_and_whole_numbers_come_equally_often() {
        let levels = ["a", "b", "c"].map(String::from).to_vec();
        let space = space(vec![
            Range::Levels(levels),
            Range::Whole { low: 1, high: 4 },
            Range::Real {
                low: 0.0,
                high: 1.0,
            },
        ]);
        let rows = plan(&space, Scheme::Maximin, 12, &[], 3).unwrap();
        for (j, times) in [(0, 4), (1, 3)] {
            let range = &space.inputs()[j].range;
            let values: Vec<Value<'_>> = rows.iter().map(|row| range.at(row[j])).collect();
            for value in &values {
                assert_eq!(values.iter().filter(|other| *other == value).count(), times);
            }
        }
    }
}
