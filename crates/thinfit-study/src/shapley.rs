//! Shapley effects: which factors matter if they depend on each other as in the rows.
//!
//! Dimensions: `m` rows, `k` factors. With c(u) = E Var(f | all factors but those of u), the part of the variance
//! that remains unknown without the factors of u, the effect of factor j is the mean of c(u ∪ j) − c(u) over all
//! orders of the factors, u being those before j. The effects are shares of Var f that sum to one, and dependent
//! factors share what they explain together.
//!
//! The rows are replaced by a distribution with the same margins and a Gaussian copula: ranks become normal scores
//! with correlation matrix R. Redrawing the scores of u given the rest v takes one more draw z′,
//!
//! z_u ← z′_u + R_uv R_vv⁻¹ (z_v − z′_v),
//!
//! and c(u) = ½ E (f − f redrawn)². The points are those of randomly shifted lattices, whose scatter gives the
//! standard error. Dependence that ranks and correlations do not show, such as points on a ring, is not detected.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::pieces::lattice;
use thinfit::{Error, Result, check_finite};
use thinfit_methods::{InputColumn, Predictor};

/// Maximum number of factors for which all sets are evaluated.
const MOST_EXACT: usize = 10;
/// Shifts of the lattice.
const SHIFTS: usize = 16;
/// Points of a shifted lattice, at least and at most.
const POINTS: [usize; 2] = [32, 4096];
/// Orders of the factors for each shift, where not all sets are worked out: every order is followed by its reverse.
const ORDERS: usize = 8;
/// Work of all values, in products of a parameter: some ten seconds on two cores.
const WORK: usize = 1 << 34;
/// Added to the diagonal of R: columns may repeat each other.
const RIDGE: f64 = 1e-9;
/// Seed of the shifts and orders.
const SEED: u64 = 1;

/// Shapley effects of one output on some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Shapley {
    /// Share of the variance of each factor (k); they sum to one, unless the variance is zero.
    pub effects: Vec<f64>,
    /// Standard errors of the effects (k) from random points and orders; the sampling error of the rows is not included.
    pub standard_error: Vec<f64>,
    /// Var f over the distribution of the rows.
    pub variance: f64,
    /// Number of random orders of the factors; `None` if all sets were evaluated.
    pub orders: Option<usize>,
}

impl Shapley {
    /// Shapley effects of the factors of a model ([`InputColumn::all`]) on output `o`, over rows of its inputs `x` (m × d). `watch` receives
    /// the progress from 0 to 1.
    ///
    /// # Errors
    /// Fewer than ten rows, rows that do not fit the model, an output that does not exist, or numbers that leave the finite range.
    pub fn of(
        model: &Predictor,
        x: MatRef<'_, f64>,
        o: usize,
        watch: &dyn Fn(f64),
    ) -> Result<Self> {
        let (d, c) = (model.inputs().len(), model.outputs().len());
        if o >= c || x.ncols() != d {
            return Err(Error::Shape {
                what: "rows of the Shapley effects",
                expected: format!("{d} columns, and an output below {c}"),
                found: format!("{} columns, and output {o}", x.ncols()),
            });
        }
        let value = |x: MatRef<'_, f64>| Ok(model.predict(x)?.col_as_slice(o).to_vec());
        Self::of_function(
            &value,
            model.parameters(),
            &InputColumn::all(model),
            x,
            watch,
        )
    }

    /// [`Shapley::of`] for any function of the inputs, whose value at a row takes `cost` products.
    fn of_function(
        value: &dyn Fn(MatRef<'_, f64>) -> Result<Vec<f64>>,
        cost: usize,
        factors: &[InputColumn],
        x: MatRef<'_, f64>,
        watch: &dyn Fn(f64),
    ) -> Result<Self> {
        let study = Study {
            value,
            factors,
            rows: Distribution::new(factors, x)?,
        };
        let k = factors.len();
        let affordable = WORK / cost.max(1) / SHIFTS;
        let exact = k <= MOST_EXACT;
        let points = match exact {
            true => affordable >> k,
            false => affordable / (ORDERS * k),
        };
        let points = 1 << points.clamp(POINTS[0], POINTS[1]).ilog2();
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        let mut found = Vec::new();
        for shift in 0..SHIFTS {
            let moved: Vec<f64> = (0..2 * k).map(|_| rng.random()).collect();
            let pair = study.pair(&lattice(points, 2 * k, &moved))?;
            found.push(match exact {
                true => study.over_sets(&pair)?,
                false => study.over_orders(&pair, &mut rng)?,
            });
            watch((shift + 1) as f64 / SHIFTS as f64);
        }
        let mean =
            |of: &dyn Fn(&Vec<f64>) -> f64| found.iter().map(of).sum::<f64>() / SHIFTS as f64;
        let variance = mean(&|parts| parts.iter().sum());
        let share = |part: f64| if variance > 0.0 { part / variance } else { 0.0 };
        let effects: Vec<f64> = (0..k).map(|j| share(mean(&|parts| parts[j]))).collect();
        // Of a ratio: the part that the variance does not explain.
        let error = |j: usize| {
            let of = |parts: &Vec<f64>| (parts[j] - effects[j] * parts.iter().sum::<f64>()).powi(2);
            share((mean(&of) / (SHIFTS - 1) as f64).sqrt())
        };
        Ok(Shapley {
            standard_error: (0..k).map(error).collect(),
            effects,
            variance,
            orders: (!exact).then_some(ORDERS * SHIFTS),
        })
    }
}

/// A function, its factors and the distribution of the rows.
struct Study<'a> {
    value: &'a dyn Fn(MatRef<'_, f64>) -> Result<Vec<f64>>,
    factors: &'a [InputColumn],
    rows: Distribution,
}

/// Scores of some points and of others to redraw from (points × k each), with inputs and values of the first.
struct Pair {
    z: Mat<f64>,
    other: Mat<f64>,
    x: Mat<f64>,
    f: Vec<f64>,
}

impl Study<'_> {
    /// Two points for each point of the unit cube (points × 2k).
    fn pair(&self, places: &Mat<f64>) -> Result<Pair> {
        let k = self.factors.len();
        let scores = |from: usize| {
            let normal = Mat::from_fn(places.nrows(), k, |i, j| {
                normal_quantile(places[(i, from + j)])
            });
            normal * self.rows.root.transpose()
        };
        let (z, other) = (scores(0), scores(k));
        let d = self.factors.iter().map(InputColumn::inputs).sum();
        let mut x = Mat::zeros(z.nrows(), d);
        (0..k).for_each(|j| self.set(j, &z, &mut x));
        let f = (self.value)(x.as_ref())?;
        Ok(Pair { z, other, x, f })
    }

    /// Sets the inputs of factor j in all rows of `x` from their scores.
    fn set(&self, j: usize, z: &Mat<f64>, x: &mut Mat<f64>) {
        let (factor, margin) = (&self.factors[j], &self.rows.margins[j]);
        for i in 0..x.nrows() {
            let value = margin.value(z[(i, j)]);
            match factor.levels.is_empty() {
                true => x[(i, factor.first)] = value,
                false => {
                    let inputs = factor.levels[value as usize].inputs.iter();
                    inputs
                        .zip(factor.first..)
                        .for_each(|(&v, at)| x[(i, at)] = v);
                }
            }
        }
    }

    /// c of the set u of factors.
    fn without(&self, pair: &Pair, u: &[bool]) -> Result<f64> {
        let split = |of: bool| -> Vec<usize> { (0..u.len()).filter(|&j| u[j] == of).collect() };
        let (redrawn, kept) = (split(true), split(false));
        let mut z = pair.other.clone();
        if !kept.is_empty() {
            let r = &self.rows.correlation;
            let kept_r = Mat::from_fn(kept.len(), kept.len(), |i, j| r[(kept[i], kept[j])]);
            let cross = Mat::from_fn(kept.len(), redrawn.len(), |i, j| r[(kept[i], redrawn[j])]);
            let factor = kept_r.llt(Side::Lower).map_err(|_| singular())?;
            let apart = Mat::from_fn(z.nrows(), kept.len(), |i, j| {
                pair.z[(i, kept[j])] - pair.other[(i, kept[j])]
            });
            let moved = apart * factor.solve(cross);
            for (k, &j) in redrawn.iter().enumerate() {
                (0..z.nrows()).for_each(|i| z[(i, j)] += moved[(i, k)]);
            }
        }
        let mut x = pair.x.clone();
        redrawn.iter().for_each(|&j| self.set(j, &z, &mut x));
        let f = (self.value)(x.as_ref())?;
        let squares = f.iter().zip(&pair.f).map(|(a, b)| (a - b).powi(2));
        Ok(0.5 * squares.sum::<f64>() / f.len() as f64)
    }

    /// The parts of the variance, from all sets of factors.
    fn over_sets(&self, pair: &Pair) -> Result<Vec<f64>> {
        let k = self.factors.len();
        let members = |set: usize| -> Vec<bool> { (0..k).map(|j| set >> j & 1 == 1).collect() };
        let mut costs = vec![0.0];
        for set in 1..1 << k {
            costs.push(self.without(pair, &members(set))?);
        }
        // Orders in which the factors of a set of this size come before j, and the others after, as a share of all.
        let mut weight = vec![1.0 / k as f64];
        for size in 1..k {
            weight.push(weight[size - 1] * size as f64 / (k - size) as f64);
        }
        let part = |j: usize| {
            let sets = (0..1usize << k).filter(|set| set >> j & 1 == 0);
            sets.map(|set| weight[set.count_ones() as usize] * (costs[set | 1 << j] - costs[set]))
                .sum()
        };
        Ok((0..k).map(part).collect())
    }

    /// The same from some random orders and their reverses.
    fn over_orders(&self, pair: &Pair, rng: &mut ChaCha8Rng) -> Result<Vec<f64>> {
        let k = self.factors.len();
        let all = self.without(pair, &vec![true; k])?;
        let mut parts = vec![0.0; k];
        let mut order: Vec<usize> = (0..k).collect();
        for number in 0..ORDERS {
            match number % 2 {
                0 => order.shuffle(rng),
                _ => order.reverse(),
            }
            let (mut set, mut before) = (vec![false; k], 0.0);
            for (place, &j) in order.iter().enumerate() {
                set[j] = true;
                let now = match place + 1 == k {
                    true => all,
                    false => self.without(pair, &set)?,
                };
                parts[j] += (now - before) / ORDERS as f64;
                before = now;
            }
        }
        Ok(parts)
    }
}

/// The distribution of rows: margins, and the correlation of their normal scores.
struct Distribution {
    margins: Vec<Margin>,
    /// R, k × k.
    correlation: Mat<f64>,
    /// L with LLᵀ = R.
    root: Mat<f64>,
}

impl Distribution {
    fn new(factors: &[InputColumn], x: MatRef<'_, f64>) -> Result<Self> {
        const FEWEST: usize = 10;
        if x.nrows() < FEWEST {
            return Err(Error::TooFew {
                what: "rows",
                needed: FEWEST,
                found: x.nrows(),
                advice: "give the rows that the model was fitted to",
            });
        }
        check_finite("x", x)?;
        let columns = factors.iter().map(|factor| -> Vec<f64> {
            let row = |i: usize| -> Vec<f64> { x.row(i).iter().copied().collect() };
            match factor.levels.is_empty() {
                true => x.col(factor.first).iter().copied().collect(),
                false => (0..x.nrows())
                    .map(|i| factor.level(&row(i)) as f64)
                    .collect(),
            }
        });
        let (margins, scores): (Vec<Margin>, Vec<Vec<f64>>) = columns.map(Margin::new).unzip();
        let size: Vec<f64> = scores
            .iter()
            .map(|z| z.iter().map(|z| z * z).sum::<f64>().sqrt())
            .collect();
        let correlation = Mat::from_fn(factors.len(), factors.len(), |i, j| {
            let product: f64 = scores[i].iter().zip(&scores[j]).map(|(a, b)| a * b).sum();
            match (i == j, size[i] * size[j]) {
                (true, _) => 1.0 + RIDGE,
                (_, size) if size > 0.0 => product / size,
                _ => 0.0,
            }
        });
        let root = correlation.llt(Side::Lower).map_err(|_| singular())?;
        Ok(Distribution {
            margins,
            root: root.L().to_owned(),
            correlation,
        })
    }
}

fn singular() -> Error {
    Error::Data {
        what: "x",
        problem: "the correlations of the columns cannot be factorised".into(),
        advice: "leave out columns that follow from others",
    }
}

/// The values of one column, as a function of a normal score.
struct Margin {
    sorted: Vec<f64>,
    /// Scores of the values in between which a value is interpolated, or those at which one value follows another.
    scores: Vec<f64>,
    /// Whether values repeat, so that there is nothing between them.
    steps: bool,
}

impl Margin {
    /// The margin of a column, and the scores of its rows, equal values sharing theirs.
    fn new(column: Vec<f64>) -> (Self, Vec<f64>) {
        let m = column.len();
        let mut order: Vec<usize> = (0..m).collect();
        order.sort_by(|&a, &b| column[a].total_cmp(&column[b]));
        let (mut own, mut from, mut distinct) = (vec![0.0; m], 0, 0);
        for equal in order.chunk_by(|&a, &b| column[a] == column[b]) {
            let rank = from as f64 + 0.5 * equal.len() as f64;
            let score = normal_quantile(rank / m as f64);
            equal.iter().for_each(|&i| own[i] = score);
            from += equal.len();
            distinct += 1;
        }
        let steps = 2 * distinct <= m;
        let at = |i: usize| match steps {
            true => normal_quantile((i + 1) as f64 / m as f64),
            false => normal_quantile((i as f64 + 0.5) / m as f64),
        };
        let margin = Margin {
            sorted: order.iter().map(|&i| column[i]).collect(),
            scores: (0..m - usize::from(steps)).map(at).collect(),
            steps,
        };
        (margin, own)
    }

    fn value(&self, z: f64) -> f64 {
        let above = self.scores.partition_point(|score| *score < z);
        if self.steps || above == 0 || above == self.scores.len() {
            return self.sorted[above.min(self.sorted.len() - 1)];
        }
        let [a, b] = [above - 1, above].map(|i| (self.scores[i], self.sorted[i]));
        a.1 + (b.1 - a.1) * (z - a.0) / (b.0 - a.0)
    }
}

/// The number below which a standard normal one is with probability p (Wichura's algorithm AS 241), p kept off 0 and 1 by 1e-11.
fn normal_quantile(p: f64) -> f64 {
    const INNER: [[f64; 8]; 2] = [
        [
            3.387_132_872_796_366_5,
            133.141_667_891_784_38,
            1_971.590_950_306_551_3,
            13_731.693_765_509_46,
            45_921.953_931_549_87,
            67_265.770_927_008_7,
            33_430.575_583_588_13,
            2_509.080_928_730_122_7,
        ],
        [
            1.0,
            42.313_330_701_600_91,
            687.187_007_492_057_9,
            5_394.196_021_424_751,
            21_213.794_301_586_597,
            39_307.895_800_092_71,
            28_729.085_735_721_943,
            5_226.495_278_852_855,
        ],
    ];
    const OUTER: [[f64; 8]; 2] = [
        [
            1.423_437_110_749_683_5,
            4.630_337_846_156_546,
            5.769_497_221_460_691,
            3.647_848_324_763_204_5,
            1.270_458_252_452_368_4,
            0.241_780_725_177_450_6,
            0.022_723_844_989_269_184,
            7.745_450_142_783_414e-4,
        ],
        [
            1.0,
            2.053_191_626_637_759,
            1.676_384_830_183_803_8,
            0.689_767_334_985_1,
            0.148_103_976_427_480_08,
            0.015_198_666_563_616_457,
            5.475_938_084_995_345e-4,
            1.050_750_071_644_416_9e-9,
        ],
    ];
    let ratio = |[over, under]: [[f64; 8]; 2], t: f64| {
        let sum = |c: [f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * t + c);
        sum(over) / sum(under)
    };
    let p = p.clamp(1e-11, 1.0 - 1e-11);
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(INNER, 0.180_625 - q * q);
    }
    let tail = (-p.min(1.0 - p).ln()).sqrt();
    q.signum() * ratio(OUTER, tail - 1.6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution as _, StandardNormal};

    fn numbers(x: &Mat<f64>) -> Vec<InputColumn> {
        let of = |j: usize| InputColumn {
            name: format!("x{}", j + 1),
            unit: None,
            first: j,
            levels: vec![],
            range: [-9.0, 9.0],
            warp: None,
            log: false,
            whole: false,
        };
        (0..x.ncols()).map(of).collect()
    }

    /// Rows of normal numbers in which each column goes with the one before by the correlation `rho`.
    fn chain(m: usize, k: usize, rho: f64) -> Mat<f64> {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut x = Mat::zeros(m, k);
        for i in 0..m {
            for j in 0..k {
                let fresh: f64 = StandardNormal.sample(&mut rng);
                x[(i, j)] = match j {
                    0 => fresh,
                    _ => rho * x[(i, j - 1)] + (1.0 - rho * rho).sqrt() * fresh,
                };
            }
        }
        x
    }

    #[test]
    fn normal_quantiles_are_those_of_tables() {
        for (p, z) in [
            (0.5, 0.0),
            (0.9, 1.281_551_565_544_600_4),
            (0.975, 1.959_963_984_540_054),
            (0.001, -3.090_232_306_167_813),
            (1e-6, -4.753_424_308_822_899),
        ] {
            assert!(
                (normal_quantile(p) - z).abs() < 1e-13 * (1.0 + z.abs()),
                "{p}"
            );
        }
    }

    #[test]
    fn effects_of_a_linear_function_of_two_normal_columns_are_those_of_the_formula() {
        // f = x1 + 2 x2 with correlation ρ: Var = 5 + 4ρ, and x1 has ½(1 + 2ρ)² + ½(1 − ρ²) of it.
        for rho in [0.0, 0.7, -0.4] {
            let x = chain(20_000, 2, rho);
            let f = |x: MatRef<'_, f64>| {
                Ok((0..x.nrows())
                    .map(|i| x[(i, 0)] + 2.0 * x[(i, 1)])
                    .collect())
            };
            let found = Shapley::of_function(&f, 10, &numbers(&x), x.as_ref(), &|_| ()).unwrap();
            let variance = 5.0 + 4.0 * rho;
            let first = 0.5 * ((1.0 + 2.0 * rho).powi(2) + 1.0 - rho * rho) / variance;
            assert!((found.effects[0] - first).abs() < 0.01, "{rho}: {found:?}");
            assert!((found.effects[1] - 1.0 + first).abs() < 0.01, "{found:?}");
            assert!((found.variance / variance - 1.0).abs() < 0.03, "{found:?}");
            assert!(found.standard_error.iter().all(|e| *e < 0.002), "{found:?}");
            assert_eq!(found.orders, None);
        }
    }

    #[test]
    fn many_factors_are_taken_in_random_orders() {
        // Independent columns of a sum: every effect is the square of its coefficient.
        let x = chain(5000, 12, 0.0);
        let coefficient = |j: usize| 1.0 + (j % 3) as f64;
        let f = |x: MatRef<'_, f64>| {
            let sum = |i: usize| (0..12).map(|j| coefficient(j) * x[(i, j)]).sum();
            Ok((0..x.nrows()).map(sum).collect())
        };
        let found = Shapley::of_function(&f, 1 << 12, &numbers(&x), x.as_ref(), &|_| ()).unwrap();
        let total: f64 = (0..12).map(|j| coefficient(j).powi(2)).sum();
        for j in 0..12 {
            let error = (found.effects[j] - coefficient(j).powi(2) / total).abs();
            // The rows have chance correlations of up to 0.03.
            assert!(error < 0.02, "{j}: {found:?}");
        }
        assert!(found.orders.is_some_and(|orders| orders >= 32));
        assert!((found.effects.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn repeated_constant_and_few_rows_are_no_trouble() {
        let x = Mat::from_fn(50, 3, |i, j| match j {
            2 => 1.0,
            _ => (i % 7) as f64,
        });
        let f = |x: MatRef<'_, f64>| {
            Ok((0..x.nrows())
                .map(|i| x[(i, 0)] + x[(i, 1)] + x[(i, 2)])
                .collect())
        };
        let found = Shapley::of_function(&f, 10, &numbers(&x), x.as_ref(), &|_| ()).unwrap();
        assert!((found.effects[0] - 0.5).abs() < 0.01 && found.effects[2].abs() < 1e-6);
        let few = x.as_ref().subrows(0, 9);
        assert!(Shapley::of_function(&f, 10, &numbers(&x), few, &|_| ()).is_err());
    }
}
