//! The rows that a region admits: bounds, integers, levels and constraints, in the units of the data.
//!
//! A constraint is linear in the units of the data, and curved in the coordinates of the search if it involves a
//! warped column. The search then works with its tangents, and every step is projected back onto it.

use crate::constraint::{Constraint, Relation};
use crate::quadratic::{Face, solve};
use crate::ranges;
use crate::region::{Region, Variable, slope};
use crate::search::cube;
use thinfit::Mat;
use thinfit::pieces::dot;
use thinfit_methods::InputColumn;

/// Rounding errors of a sum, as a part of its largest term. Columns far from zero, such as seconds since 1970, have large terms, so this
/// is little more than their last digits.
pub(crate) const ROUNDING: f64 = 1e-13;
/// Those of the coordinates.
const COORDINATES: f64 = 1e-12;
/// The part of these errors down to which a search returns to its constraints.
const TIGHT: f64 = 0.1;
/// A constraint is met with equality within this distance in the coordinates.
const BINDS: f64 = 1e-9;
/// Maximum number of tangent steps back to curved constraints: one for each e-fold of a long tail, and some.
const TANGENTS: usize = 100;

impl Region<'_> {
    /// Whether `row` (d) is in its ranges, has whole numbers and levels where it must, and meets the constraints.
    pub(crate) fn admits(&self, row: &[f64]) -> bool {
        let allowed = |factor: &InputColumn| {
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
        self.constraints.iter().all(|c| self.missed(c, row) <= 1.0)
    }

    /// `row` (d), one that the region admits, with numbers that a person would set, and still admitted. What is fixed or whole has all
    /// its digits, and so do columns of a constraint that fewer digits would break.
    pub(crate) fn rounded(&self, row: &[f64]) -> Vec<f64> {
        let free = |j: &usize| {
            let factor = &self.factors()[*j];
            !self.fixed()[*j] && factor.levels.is_empty() && !factor.whole
        };
        let with_few = |chosen: &dyn Fn(usize) -> bool| {
            let mut rounded = row.to_vec();
            for j in (0..self.factors().len())
                .filter(free)
                .filter(|j| chosen(*j))
            {
                let factor = &self.factors()[j];
                rounded[factor.first] = ranges::rounded(factor, row[factor.first]);
            }
            rounded
        };
        let constrained = |j: usize| self.constraints.iter().any(|c| c.coefficients[j] != 0.0);
        let few = with_few(&|_| true);
        match self.admits(&few) {
            true => few,
            false => with_few(&|j| !constrained(j)),
        }
    }

    /// The active constraints at `row` (d): those met with equality.
    pub(crate) fn held_by(&self, row: &[f64]) -> Vec<String> {
        let binds = |constraint: &&Constraint| {
            let sum = self.sum(constraint, row);
            sum.above.abs() <= sum.rounding().max(BINDS * sum.change)
        };
        let held = self.constraints.iter().filter(binds);
        held.map(|constraint| constraint.text.clone()).collect()
    }

    /// By how much a constraint is violated at `row` (d), in multiples of its rounding errors; negative if it is not.
    fn missed(&self, constraint: &Constraint, row: &[f64]) -> f64 {
        let sum = self.sum(constraint, row);
        let above = sum.above / sum.rounding().max(f64::MIN_POSITIVE);
        match constraint.relation {
            Relation::AtMost => above,
            Relation::AtLeast => -above,
            Relation::Equal => above.abs(),
        }
    }

    /// The sum of a constraint at `row` (d).
    fn sum(&self, constraint: &Constraint, row: &[f64]) -> Sum {
        let pairs = self.factors().iter().zip(&constraint.coefficients);
        let mut sum = Sum {
            above: 0.0,
            largest: constraint.bound.abs(),
            change: 0.0,
        };
        for (factor, a) in pairs.filter(|(_, a)| **a != 0.0) {
            let term = a * row[factor.first];
            sum.above += term;
            sum.largest = sum.largest.max(term.abs());
            let change = (a * slope(factor, row)).abs();
            // The ends of a long tail may be so far apart that no number is.
            sum.change = sum
                .change
                .max(if change.is_finite() { change } else { 0.0 });
        }
        sum.above -= constraint.bound;
        sum
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
                match self.missed(constraint, &row) <= 1.0 {
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
            // Violations within rounding are accepted.
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
            if now <= 1.0 && now >= last {
                break;
            }
            last = now;
            let faces = self.faces(variables, &t, &row)?;
            match nearest(&t, &faces) {
                Some(next) if next != t => t = next,
                _ => break,
            }
        }
        if missed(&t, &mut row) <= 1.0 {
            return Some(t);
        }
        // Tangents may leave the cube where the constraint does not: then in the units of the data, where it is straight.
        let straight: Vec<Variable> = variables.iter().map(Variable::unwarped).collect();
        let at: Vec<f64> = straight.iter().map(|v| v.factor.place(&row)).collect();
        let faces = self.faces(&straight, &at, &row)?;
        let at = nearest(&at, &faces)?;
        set(&straight, &at, &mut row);
        let t: Vec<f64> = variables.iter().map(|v| v.factor.place(&row)).collect();
        (missed(&t, &mut row) <= 1.0).then_some(t)
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
        // One integer after the other, and the rest continues from there.
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

/// The sum of a constraint at a point.
struct Sum {
    /// How far it is above its bound.
    above: f64,
    /// Its largest term, or its bound.
    largest: f64,
    /// The largest slope of a term along the coordinate of its column.
    change: f64,
}

impl Sum {
    /// What rounding alone may change.
    fn rounding(&self) -> f64 {
        ROUNDING * self.largest + COORDINATES * self.change
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

/// The point inside the faces that is nearest to `t`; `None` if there is none.
fn nearest(t: &[f64], faces: &[Face]) -> Option<Vec<f64>> {
    let n = t.len();
    let towards: Vec<f64> = t.iter().map(|t| -t).collect();
    let found = solve(&Mat::identity(n, n), &towards, faces)?;
    Some(found.x.iter().map(|t| t.clamp(0.0, 1.0)).collect())
}
