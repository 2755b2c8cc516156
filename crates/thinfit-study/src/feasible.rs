//! Rows that a region admits: bounds, whole numbers, levels and constraints, all in the units of the data.
//!
//! A constraint is linear in the units of the data. Where it is about a warped column it is curved in the coordinates of the search,
//! which go on from its tangents, and every step is brought back to it.

use crate::constraint::{Constraint, Relation};
use crate::quadratic::{Face, dot, solve};
use crate::region::{Region, Variable};
use crate::search::cube;
use thinfit::Mat;
use thinfit_methods::Factor;

/// By how much of the ranges a constraint may be missed.
const ROUNDING: f64 = 1e-12;
/// By how much of its largest term a constraint may be missed at a point.
pub(crate) const MISSED: f64 = 1e-9;
/// The same where a search goes on.
const TIGHT: f64 = 1e-13;
/// Most tangents on the way back to curved constraints: one for each e-fold of a long tail, and some.
const TANGENTS: usize = 100;

impl Region<'_> {
    /// Whether `row` (d) is in its ranges, has whole numbers and levels where it must, and meets the constraints.
    pub(crate) fn admits(&self, row: &[f64]) -> bool {
        let allowed = |factor: &Factor| {
            let inputs = &row[factor.first..][..factor.inputs()];
            let [low, high] = factor.range;
            match factor.levels.is_empty() {
                true => {
                    (low..=high).contains(&inputs[0]) && (!factor.whole || inputs[0].fract() == 0.0)
                }
                false => factor.levels.iter().any(|level| level.inputs == inputs),
            }
        };
        self.factors().iter().all(allowed) && self.holds(row)
    }

    /// Whether the constraints hold at `row` (d).
    pub(crate) fn holds(&self, row: &[f64]) -> bool {
        self.constraints
            .iter()
            .all(|c| self.missed(c, row) <= MISSED)
    }

    /// The constraints that hold `row` (d) back: those met with equality.
    pub(crate) fn held_by(&self, row: &[f64]) -> Vec<String> {
        let binds = |constraint: &&Constraint| self.above(constraint, row).abs() <= MISSED;
        let held = self.constraints.iter().filter(binds);
        held.map(|constraint| constraint.text.clone()).collect()
    }

    /// By how much a constraint is missed at `row` (d), as a part of its largest term; negative where there is room.
    fn missed(&self, constraint: &Constraint, row: &[f64]) -> f64 {
        let above = self.above(constraint, row);
        match constraint.relation {
            Relation::AtMost => above,
            Relation::AtLeast => -above,
            Relation::Equal => above.abs(),
        }
    }

    /// How far the sum of a constraint is above its bound at `row` (d), as a part of its largest term.
    fn above(&self, constraint: &Constraint, row: &[f64]) -> f64 {
        let pairs = self.factors().iter().zip(&constraint.coefficients);
        let terms = pairs.filter(|(_, a)| **a != 0.0);
        let terms: Vec<f64> = terms.map(|(factor, a)| a * row[factor.first]).collect();
        let size = terms
            .iter()
            .fold(constraint.bound.abs(), |m, v| m.max(v.abs()));
        (terms.iter().sum::<f64>() - constraint.bound) / size.max(f64::MIN_POSITIVE)
    }

    /// What holds the coordinates `t` of the variables where the other inputs are those of `row` (d): the faces of the unit cube, then
    /// the tangents of the constraints; none if a constraint that no variable is in does not hold.
    pub(crate) fn faces(
        &self,
        variables: &[Variable],
        t: &[f64],
        row: &[f64],
    ) -> Option<Vec<Face>> {
        let mut row = row.to_vec();
        set(variables, t, &mut row);
        let mut faces = cube(variables.len());
        for constraint in &self.constraints {
            let slope = |variable: &Variable| {
                constraint.coefficients[variable.place] * variable.slope(&row)
            };
            let mut normal: Vec<f64> = variables.iter().map(slope).collect();
            let length = dot(&normal, &normal).sqrt();
            if !length.is_finite() {
                return None;
            }
            if length <= f64::MIN_POSITIVE {
                match self.missed(constraint, &row) <= MISSED {
                    true => continue,
                    false => return None,
                }
            }
            let terms = self.factors().iter().zip(&constraint.coefficients);
            let terms = terms.map(|(factor, a)| term(*a, row[factor.first]));
            let (sum, size) = terms.fold((0.0, constraint.bound.abs()), |(sum, size), v| {
                (sum + v, size.max(v.abs()))
            });
            let sign = match constraint.relation {
                Relation::AtMost => -1.0 / length,
                _ => 1.0 / length,
            };
            let bound = sign * (dot(&normal, t) - (sum - constraint.bound));
            normal.iter_mut().for_each(|v| *v *= sign);
            // What rounding alone misses is let pass.
            let least: f64 = normal.iter().map(|v| v.min(0.0)).sum();
            let most: f64 = normal.iter().map(|v| v.max(0.0)).sum();
            let inside = bound.clamp(least, most);
            let bound = match (bound - inside).abs() <= ROUNDING * size / length {
                true => inside,
                false => bound,
            };
            faces.push(Face {
                normal,
                bound,
                equal: constraint.relation == Relation::Equal,
            });
        }
        Some(faces)
    }

    /// A place that meets the constraints, near `t`: coordinates of the variables, with the other inputs as in `row` (d). None where
    /// none was found.
    pub(crate) fn restored(
        &self,
        variables: &[Variable],
        t: Vec<f64>,
        row: &[f64],
    ) -> Option<Vec<f64>> {
        let (mut row, mut t) = (row.to_vec(), t);
        let missed = |t: &[f64], row: &mut [f64]| {
            set(variables, t, row);
            let missed = self.constraints.iter().map(|c| self.missed(c, row));
            missed.fold(0.0, f64::max)
        };
        let mut last = f64::INFINITY;
        for _ in 0..TANGENTS {
            let now = missed(&t, &mut row);
            if now <= TIGHT {
                return Some(t);
            }
            if now <= MISSED && now >= last {
                break;
            }
            last = now;
            let faces = self.faces(variables, &t, &row)?;
            match nearest(&t, &faces) {
                Some(next) if next != t => t = next,
                _ => break,
            }
        }
        if missed(&t, &mut row) <= MISSED {
            return Some(t);
        }
        // Tangents may leave the cube where the constraint does not: then in the units of the data, where it is straight.
        let straight: Vec<Variable> = variables.iter().map(Variable::unwarped).collect();
        let at: Vec<f64> = straight.iter().map(|v| v.factor.place(&row)).collect();
        let faces = self.faces(&straight, &at, &row)?;
        let at = nearest(&at, &faces)?;
        set(&straight, &at, &mut row);
        let t: Vec<f64> = variables.iter().map(|v| v.factor.place(&row)).collect();
        (missed(&t, &mut row) <= MISSED).then_some(t)
    }

    /// The row (d) with whole numbers where it must have some, and moved to meet the constraints; none where that was not found.
    pub(crate) fn settled(&self, row: Vec<f64>) -> Option<Vec<f64>> {
        let (mut row, mut open) = (row, self.relaxed());
        if self.constraints.is_empty() {
            for factor in self.factors().iter().filter(|factor| factor.whole) {
                factor.choose(factor.choice(&row), &mut row);
            }
            return self.admits(&row).then_some(row);
        }
        let mut t: Vec<f64> = open.iter().map(|v| v.factor.place(&row)).collect();
        t = self.restored(&open, t, &row)?;
        set(&open, &t, &mut row);
        // One whole number after the other, and the rest goes on from there.
        while let Some(k) = open.iter().position(|v| self.factors()[v.place].whole) {
            let j = open[k].place;
            let (factor, first) = (&self.factors()[j], self.factors()[j].first);
            let value = row[first];
            open.remove(k);
            t.remove(k);
            let near = value.round();
            let other = if near > value { near - 1.0 } else { near + 1.0 };
            let found = [near, other].into_iter().find_map(|whole| {
                let mut row = row.clone();
                row[first] = whole;
                let inside = (factor.range[0]..=factor.range[1]).contains(&whole);
                let t = inside.then(|| self.restored(&open, t.clone(), &row))??;
                set(&open, &t, &mut row);
                Some((t, row))
            });
            (t, row) = found?;
        }
        self.admits(&row).then_some(row)
    }
}

/// A term of a constraint: columns that are not in it may be of any size.
fn term(a: f64, x: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a * x }
}

/// Sets the inputs of the variables in `row` (d) to coordinates `t`.
pub(crate) fn set(variables: &[Variable], t: &[f64], row: &mut [f64]) {
    for (variable, t) in variables.iter().zip(t) {
        variable.set(*t, row);
    }
}

/// The place inside the faces that is nearest to `t`; none where there is none.
fn nearest(t: &[f64], faces: &[Face]) -> Option<Vec<f64>> {
    let n = t.len();
    let towards: Vec<f64> = t.iter().map(|t| -t).collect();
    let found = solve(&Mat::identity(n, n), &towards, faces)?;
    Some(found.x.iter().map(|t| t.clamp(0.0, 1.0)).collect())
}
