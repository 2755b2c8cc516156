//! Where to look: the columns that may move, and what holds them.

use crate::constraint::{Constraint, Relation};
use crate::quadratic::{Face, dot};
use crate::search::cube;
use crate::{Error, Ranges};
use thinfit_methods::{Factor, Predictor, four_digits};
use thinfit_text::{brief, suggest};

/// By how much of the ranges a constraint may be missed.
const ROUNDING: f64 = 1e-12;
/// By how much of its terms a constraint may be missed at a point.
const MISSED: f64 = 1e-9;

/// An output to minimise, or to maximise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The output, counted from 0.
    pub output: usize,
    /// Whether it is to be large.
    pub maximise: bool,
}

impl Goal {
    /// The output is to be small.
    pub fn least(output: usize) -> Self {
        Goal {
            output,
            maximise: false,
        }
    }

    /// The output is to be large.
    pub fn largest(output: usize) -> Self {
        Goal {
            output,
            maximise: true,
        }
    }

    /// # Errors
    /// An output that the model does not have.
    pub(crate) fn check(self, model: &Predictor) -> thinfit::Result<()> {
        let count = model.outputs().len();
        match self.output < count {
            true => Ok(()),
            false => Err(thinfit::Error::Shape {
                what: "output to minimise",
                expected: format!("an output below {count}"),
                found: self.output.to_string(),
            }),
        }
    }

    /// What turns the goal into one to minimise.
    pub(crate) fn sign(self) -> f64 {
        if self.maximise { -1.0 } else { 1.0 }
    }
}

/// Ranges of a model's columns, of which some may be fixed and others constrained.
#[derive(Clone, Debug)]
pub struct Region<'a> {
    pub(crate) model: &'a Predictor,
    ranges: Ranges,
    /// Which factors are fixed.
    fixed: Vec<bool>,
    /// The inputs (d), right for those that are fixed.
    row: Vec<f64>,
    constraints: Vec<Constraint>,
}

/// A column of numbers that moves.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Without its warp where a constraint needs it to be linear.
    pub factor: Factor,
}

impl Variable {
    /// Sets its input in `row` to coordinate `t`, from 0 to 1.
    pub fn set(&self, t: f64, row: &mut [f64]) {
        self.factor.set(t, row);
        // The ends to the last digit.
        let [low, high] = self.factor.range;
        match t {
            t if t <= 0.0 => row[self.factor.first] = low,
            t if t >= 1.0 => row[self.factor.first] = high,
            _ => (),
        }
    }

    /// dx/dt at `row`.
    pub fn slope(&self, row: &[f64]) -> f64 {
        let [low, high] = self.factor.range;
        match self.factor.warp {
            Some(warp) => (warp.value(high) - warp.value(low)) / warp.slope(row[self.factor.first]),
            None => high - low,
        }
    }
}

impl<'a> Region<'a> {
    /// The ranges of the samples.
    pub fn new(model: &'a Predictor) -> Self {
        Region::within(model, Ranges::of(model))
    }

    /// Ranges of the columns of `model`.
    pub fn within(model: &'a Predictor, ranges: Ranges) -> Self {
        let mut row = vec![0.0; model.inputs().len()];
        let factors = ranges.factors();
        factors.iter().for_each(|factor| factor.set(0.5, &mut row));
        Region {
            model,
            fixed: vec![false; factors.len()],
            row,
            ranges,
            constraints: Vec::new(),
        }
    }

    /// The columns of the model.
    pub fn factors(&self) -> &[Factor] {
        self.ranges.factors()
    }

    /// Which columns have a range that the user gave.
    pub fn given(&self) -> &[bool] {
        self.ranges.given()
    }

    /// Which columns are fixed.
    pub fn fixed(&self) -> &[bool] {
        &self.fixed
    }

    /// Fixes a column at a value: a number, with or without its unit, or a level.
    ///
    /// # Errors
    /// A column that the model does not have, a number outside its range, or a level that it does not have.
    pub fn fix(&mut self, column: &str, value: &str) -> Result<(), Error> {
        let j = position(self.factors(), column)?;
        let factor = &self.ranges.factors()[j];
        if factor.levels.is_empty() {
            let [low, high] = factor.range;
            let number = number(factor, value);
            let inside = number.filter(|x| (low..=high).contains(x));
            let of = match self.given()[j] {
                true => "given",
                false => "of the samples",
            };
            self.row[factor.first] = inside.ok_or_else(|| Error::Column {
                column: column.into(),
                expected: format!("a number in the range {of}, {low} to {high}"),
                found: match number {
                    Some(_) => brief(value),
                    None => format!("`{}`, which is no number", brief(value)),
                },
                advice: "give one, or a wider range".into(),
            })?;
        } else {
            let inputs = &factor.levels[level(factor, value)?].inputs;
            self.row[factor.first..][..inputs.len()].copy_from_slice(inputs);
        }
        self.fixed[j] = true;
        Ok(())
    }

    /// Adds a linear constraint on columns of numbers, such as `2*x1 - x2 <= 4`; `>=` and `=` are known, too.
    ///
    /// # Errors
    /// A text that is no such constraint, or a column that the model does not have or that has levels.
    pub fn require(&mut self, text: &str) -> Result<(), Error> {
        let constraint = Constraint::read(text, self.factors())?;
        self.constraints.push(constraint);
        Ok(())
    }

    /// The columns of numbers of any size that move.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let mut variables = self.numbers();
        variables.retain(|variable| variable.factor.choices().is_none());
        variables
    }

    /// The columns of numbers that move, whole ones as well.
    fn numbers(&self) -> Vec<Variable> {
        let constrained = |j: usize| self.constraints.iter().any(|c| c.coefficients[j] != 0.0);
        let variable = |j: usize| {
            let mut factor = self.factors()[j].clone();
            factor.warp = factor.warp.filter(|_| !constrained(j));
            Variable { factor }
        };
        self.moving()
            .filter(|j| self.factors()[*j].levels.is_empty())
            .map(variable)
            .collect()
    }

    /// The columns of text and of whole numbers that move.
    pub(crate) fn choices(&self) -> Vec<Factor> {
        let moving = self.moving().map(|j| self.factors()[j].clone());
        moving.filter(|factor| factor.choices().is_some()).collect()
    }

    /// The columns that move.
    pub(crate) fn moving(&self) -> impl Iterator<Item = usize> {
        let moves = |j: &usize| {
            let [low, high] = self.factors()[*j].range;
            !self.fixed[*j] && low < high
        };
        (0..self.factors().len()).filter(moves)
    }

    /// A row (d) in which the fixed columns are what they are fixed at.
    pub(crate) fn row(&self) -> Vec<f64> {
        self.row.clone()
    }

    /// # Errors
    /// A constraint that cannot hold in the ranges.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let numbers = self.numbers();
        for constraint in &self.constraints {
            self.face(constraint, &numbers, &self.row).map_err(|missed| Error::Constraint {
                text: constraint.text.clone(),
                problem: format!(
                    "expected a constraint that can hold in the ranges{}, found one that is missed by at least {}; loosen it",
                    self.whose(),
                    four_digits(missed)
                ),
            })?;
        }
        Ok(())
    }

    /// Whose the ranges are, where they are all of the samples.
    fn whose(&self) -> &'static str {
        match self.given().contains(&true) {
            true => "",
            false => " of the samples",
        }
    }

    /// What holds the coordinates of the variables where the other inputs are those of `row` (d): the faces of the unit cube, then the
    /// constraints; none if one of these cannot hold.
    pub(crate) fn faces(&self, variables: &[Variable], row: &[f64]) -> Option<Vec<Face>> {
        let mut faces = cube(variables.len());
        for constraint in &self.constraints {
            faces.extend(self.face(constraint, variables, row).ok()?);
        }
        Some(faces)
    }

    /// The constraint in the coordinates of the variables, with the other inputs as in `row` (d); none where it is about these alone.
    ///
    /// # Errors
    /// By how much it is missed if it cannot hold.
    fn face(
        &self,
        constraint: &Constraint,
        variables: &[Variable],
        row: &[f64],
    ) -> Result<Option<Face>, f64> {
        let mut normal = vec![0.0; variables.len()];
        let mut bound = constraint.bound;
        let mut size = constraint.bound.abs();
        for (factor, a) in self.factors().iter().zip(&constraint.coefficients) {
            if *a == 0.0 {
                continue;
            }
            let moves = variables
                .iter()
                .position(|v| v.factor.first == factor.first);
            let [low, high] = factor.range;
            let start = match moves {
                Some(k) => {
                    normal[k] = a * (high - low);
                    low
                }
                None => row[factor.first],
            };
            bound -= a * start;
            size = size.max((a * start).abs()).max((a * high).abs());
        }
        let least: f64 = normal.iter().map(|v| v.min(0.0)).sum();
        let most: f64 = normal.iter().map(|v| v.max(0.0)).sum();
        let missed = match constraint.relation {
            Relation::AtMost => least - bound,
            Relation::AtLeast => bound - most,
            Relation::Equal => (least - bound).max(bound - most),
        };
        if missed > ROUNDING * size {
            return Err(missed);
        }
        let length = dot(&normal, &normal).sqrt();
        if length <= ROUNDING * size {
            return Ok(None);
        }
        let sign = match constraint.relation {
            Relation::AtMost => -1.0 / length,
            _ => 1.0 / length,
        };
        // What rounding alone misses is let pass.
        let bound = match constraint.relation {
            Relation::AtMost => bound.max(least),
            Relation::AtLeast => bound.min(most),
            Relation::Equal => bound.clamp(least, most),
        };
        normal.iter_mut().for_each(|v| *v *= sign);
        Ok(Some(Face {
            normal,
            bound: sign * bound,
            equal: constraint.relation == Relation::Equal,
        }))
    }

    /// The constraints that hold `row` (d) back: those met with equality.
    pub(crate) fn held_by(&self, row: &[f64]) -> Vec<String> {
        let binds = |constraint: &&Constraint| self.above(constraint, row).abs() <= MISSED;
        let held = self.constraints.iter().filter(binds);
        held.map(|constraint| constraint.text.clone()).collect()
    }

    /// Whether the constraints hold at `row` (d).
    pub(crate) fn holds(&self, row: &[f64]) -> bool {
        self.constraints.iter().all(|constraint| {
            let above = self.above(constraint, row);
            match constraint.relation {
                Relation::AtMost => above <= MISSED,
                Relation::AtLeast => above >= -MISSED,
                Relation::Equal => above.abs() <= MISSED,
            }
        })
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

    /// The error of constraints that hold one by one, but not together.
    pub(crate) fn infeasible(&self) -> Error {
        let texts: Vec<&str> = self.constraints.iter().map(|c| c.text.as_str()).collect();
        Error::Constraint {
            text: texts.join(", "),
            problem: format!(
                "expected constraints that can hold together in the ranges{}, found none that do; loosen one",
                self.whose()
            ),
        }
    }
}

/// The place of a column among the factors.
pub(crate) fn position(factors: &[Factor], column: &str) -> Result<usize, Error> {
    let names = || factors.iter().map(|factor| factor.name.as_str());
    let found = names().position(|name| name == column);
    found.ok_or_else(|| Error::unknown(&names().collect::<Vec<_>>(), column))
}

/// The number in a text, which may have the unit of the factor.
fn number(factor: &Factor, text: &str) -> Option<f64> {
    let text = text.trim();
    let unit = factor.unit.as_deref().unwrap_or_default();
    text.strip_suffix(unit).unwrap_or(text).trim().parse().ok()
}

/// The level of this name.
pub(crate) fn level(factor: &Factor, name: &str) -> Result<usize, Error> {
    let names: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
    let found = names.iter().position(|known| *known == name);
    found.ok_or_else(|| Error::Column {
        column: factor.name.clone(),
        expected: "one of its levels".into(),
        found: format!("`{}`", brief(name)),
        advice: suggest(&names, name),
    })
}
