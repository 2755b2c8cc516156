//! The region of a search: which columns may vary, and under which constraints.

use crate::constraint::{Constraint, Relation};
use crate::feasible::ROUNDING;
use crate::{Error, Ranges};
use thinfit_methods::{InputColumn, Predictor, four_digits};
use thinfit_text::{brief, suggest};

/// An output to minimise, or to maximise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Goal {
    /// The output, counted from 0.
    pub output: usize,
    /// Whether it is maximised.
    pub maximise: bool,
}

impl Goal {
    /// Minimise the output.
    pub fn least(output: usize) -> Self {
        Goal {
            output,
            maximise: false,
        }
    }

    /// Maximise the output.
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

    /// The sign that turns the goal into one to minimise.
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
    /// Which factors have no detectable effect.
    undetected: Vec<bool>,
    /// The inputs (d): fixed factors at their values, those with no detectable effect at typical values.
    row: Vec<f64>,
    pub(crate) constraints: Vec<Constraint>,
}

/// A numeric column that varies.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    /// Its place among the factors.
    pub place: usize,
    /// Numbers of any size, even where it is to be whole in the end.
    pub factor: InputColumn,
    /// Whether it has a detectable effect.
    pub matters: bool,
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
        slope(&self.factor, row)
    }

    /// The same column with coordinates that are even in the units of the data.
    pub fn unwarped(&self) -> Self {
        let mut variable = self.clone();
        variable.factor.warp = None;
        variable
    }
}

impl<'a> Region<'a> {
    /// The ranges of the samples.
    pub fn new(model: &'a Predictor) -> Self {
        Region::within(model, Ranges::of(model))
    }

    /// Ranges of the columns of `model`.
    pub fn within(model: &'a Predictor, ranges: Ranges) -> Self {
        let factors = ranges.factors();
        Region {
            model,
            fixed: vec![false; factors.len()],
            undetected: model.undetected(),
            row: typical(model, factors),
            ranges,
            constraints: Vec::new(),
        }
    }

    /// The columns of the model.
    pub fn factors(&self) -> &[InputColumn] {
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

    /// The columns with no detectable effect that are not fixed.
    pub fn undetected(&self) -> Vec<String> {
        let each = self.factors().iter().zip(&self.undetected);
        let each = each
            .zip(&self.fixed)
            .filter(|((_, idle), fixed)| **idle && !**fixed);
        each.map(|((factor, _), _)| factor.name.clone()).collect()
    }

    /// The columns restricted to integers because all their samples are, and not by a range of the user.
    pub fn integers(&self) -> Vec<String> {
        let of_samples = |j: &usize| self.factors()[*j].whole && !self.given()[*j];
        let found = (0..self.factors().len()).filter(of_samples);
        found
            .filter(|j| !self.fixed[*j])
            .map(|j| self.factors()[j].name.clone())
            .collect()
    }

    /// Those of the columns of whole numbers that are either 0 or 1: they have no others.
    pub fn switches(&self) -> Vec<String> {
        let mut names = self.integers();
        let is_switch = |name: &String| {
            let mut named = self.factors().iter().filter(|factor| factor.name == *name);
            named.any(InputColumn::is_switch)
        };
        names.retain(is_switch);
        names
    }

    /// Fixes a column at a value: a number, with or without its unit, or a level.
    ///
    /// # Errors
    /// A column that the model does not have or that is fixed already, a number outside its range or between whole numbers, or a level
    /// that it does not have.
    pub fn fix(&mut self, column: &str, value: &str) -> Result<(), Error> {
        let j = position(self.factors(), column)?;
        let factor = &self.ranges.factors()[j];
        let inputs = match factor.levels.is_empty() {
            true => vec![self.number_in(j, value)?],
            false => factor.levels[level(factor, value)?].inputs.clone(),
        };
        if self.fixed[j] {
            return Err(Error::Column {
                column: column.into(),
                expected: "one value".into(),
                found: format!("a second one, {}", brief(value)),
                advice: "fix each column once".into(),
            });
        }
        self.row[factor.first..][..inputs.len()].copy_from_slice(&inputs);
        self.fixed[j] = true;
        Ok(())
    }

    /// The number in a text.
    ///
    /// # Errors
    /// One that column `j` cannot have.
    fn number_in(&self, j: usize, value: &str) -> Result<f64, Error> {
        let factor = &self.ranges.factors()[j];
        let [low, high] = factor.range;
        let number = number(factor, value);
        let inside = number.filter(|x| (low..=high).contains(x));
        let inside = inside.filter(|x| !factor.whole || x.fract() == 0.0);
        let what = if factor.whole {
            "a whole number"
        } else {
            "a number"
        };
        let of = if self.given()[j] {
            "given"
        } else {
            "of the samples"
        };
        inside.ok_or_else(|| Error::Column {
            column: factor.name.clone(),
            expected: format!("{what} in the range {of}, {low} to {high}"),
            found: match number {
                Some(_) => brief(value),
                None => format!("`{}`, which is not a number", brief(value)),
            },
            advice: "give one, or another range".into(),
        })
    }

    /// Adds a linear constraint on columns of numbers, such as `2*x1 - x2 <= 4`; `>=` and `=` are accepted as well.
    ///
    /// # Errors
    /// A text that is not such a constraint, or a column that the model does not have or that has levels.
    pub fn require(&mut self, text: &str) -> Result<(), Error> {
        let constraint = Constraint::read(text, self.factors())?;
        self.constraints.push(constraint);
        Ok(())
    }

    /// The columns of numbers of any size that move.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let mut variables = self.relaxed();
        variables.retain(|variable| !self.factors()[variable.place].whole);
        variables
    }

    /// The columns of numbers that move, whole ones as if they took all numbers.
    pub(crate) fn relaxed(&self) -> Vec<Variable> {
        let variable = |place: usize| Variable {
            place,
            factor: InputColumn {
                whole: false,
                ..self.factors()[place].clone()
            },
            matters: !self.undetected[place],
        };
        self.moving()
            .filter(|j| self.factors()[*j].levels.is_empty())
            .map(variable)
            .collect()
    }

    /// The columns of text and of whole numbers that move.
    pub(crate) fn choices(&self) -> Vec<InputColumn> {
        let moving = self.moving().map(|j| self.factors()[j].clone());
        moving.filter(|factor| factor.choices().is_some()).collect()
    }

    /// The columns that move: those that are not fixed and have an effect or a constraint.
    pub(crate) fn moving(&self) -> impl Iterator<Item = usize> {
        let constrained = |j: usize| self.constraints.iter().any(|c| c.coefficients[j] != 0.0);
        (0..self.factors().len())
            .filter(move |j| self.is_open(*j) && (!self.undetected[*j] || constrained(*j)))
    }

    /// Whether a column is not fixed and has more than one value.
    pub(crate) fn is_open(&self, j: usize) -> bool {
        let factor = &self.factors()[j];
        let several = match factor.choices() {
            Some(count) => count > 1,
            None => factor.range[0] < factor.range[1],
        };
        !self.fixed[j] && several
    }

    /// Whether a column has no detectable effect.
    pub(crate) fn is_undetected(&self, j: usize) -> bool {
        self.undetected[j]
    }

    /// The ranges.
    pub(crate) fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    /// A row (d) in which the fixed columns are what they are fixed at.
    pub(crate) fn row(&self) -> Vec<f64> {
        self.row.clone()
    }

    /// # Errors
    /// A constraint that cannot hold in the ranges.
    pub(crate) fn check(&self) -> Result<(), Error> {
        for constraint in &self.constraints {
            self.can_hold(constraint).map_err(|missed| Error::Constraint {
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

    /// # Errors
    /// The violation of a constraint that cannot hold in the ranges.
    fn can_hold(&self, constraint: &Constraint) -> Result<(), f64> {
        let (mut least, mut most, mut size) = (0.0, 0.0, constraint.bound.abs());
        let pairs = self
            .factors()
            .iter()
            .zip(&constraint.coefficients)
            .enumerate();
        for (j, (factor, a)) in pairs.filter(|(_, (_, a))| **a != 0.0) {
            let ends = match self.is_open(j) {
                true => factor.range,
                false => [self.row[factor.first]; 2],
            };
            let ends = ends.map(|end| a * end);
            least += ends[0].min(ends[1]);
            most += ends[0].max(ends[1]);
            size = size.max(ends[0].abs()).max(ends[1].abs());
        }
        let missed = match constraint.relation {
            Relation::AtMost => least - constraint.bound,
            Relation::AtLeast => constraint.bound - most,
            Relation::Equal => (least - constraint.bound).max(constraint.bound - most),
        };
        match missed > ROUNDING * size {
            true => Err(missed),
            false => Ok(()),
        }
    }

    /// The origin of the ranges, if they are all of the samples.
    fn whose(&self) -> &'static str {
        match self.given().contains(&true) {
            true => "",
            false => " of the samples",
        }
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

/// dx/dt of a column of numbers at `row`.
pub(crate) fn slope(factor: &InputColumn, row: &[f64]) -> f64 {
    let [low, high] = factor.range;
    match factor.warp {
        Some(warp) => (warp.value(high) - warp.value(low)) / warp.slope(row[factor.first]),
        None => high - low,
    }
}

/// The place of a column among the factors.
pub(crate) fn position(factors: &[InputColumn], column: &str) -> Result<usize, Error> {
    let names = || factors.iter().map(|factor| factor.name.as_str());
    let found = names().position(|name| name == column);
    found.ok_or_else(|| Error::unknown(&names().collect::<Vec<_>>(), column))
}

/// Notes on columns with no detectable effect, and on those restricted to integers because their samples are; `switches` among
/// them take only 0 and 1.
pub fn notes(undetected: &[String], integers: &[String], switches: &[String]) -> Vec<String> {
    let mut notes = Vec::new();
    if !undetected.is_empty() {
        let names = undetected.join(", ");
        notes.push(format!(
            "no detectable effect: {names}; left at typical values unless a constraint moves them; choose them freely"
        ));
    }
    let counts: Vec<&str> = (integers.iter())
        .filter(|name| !switches.contains(name))
        .map(String::as_str)
        .collect();
    if !counts.is_empty() {
        let names = counts.join(", ");
        notes.push(format!(
            "integers, as all samples are: {names}; a range such as `x1 = [2, 6]` allows others"
        ));
    }
    notes
}

/// A typical row of inputs (d): the median of the samples for a number and the most frequent level, as far as they are in
/// the ranges, and the middle of the range where the model does not keep them.
fn typical(model: &Predictor, factors: &[InputColumn]) -> Vec<f64> {
    let mut row = vec![0.0; model.inputs().len()];
    let samples = model.samples();
    for factor in factors {
        factor.set(0.5, &mut row);
        let Some(x) = samples.as_ref().filter(|x| x.nrows() > 0) else {
            continue;
        };
        if factor.levels.is_empty() {
            let mut values = x.col_as_slice(factor.first).to_vec();
            values.sort_by(f64::total_cmp);
            let [low, high] = factor.range;
            let median = values[(values.len() - 1) / 2].clamp(low, high);
            row[factor.first] = if factor.whole { median.round() } else { median };
        } else {
            let mut counts = vec![0_usize; factor.levels.len()];
            for i in 0..x.nrows() {
                let inputs: Vec<f64> = x.row(i).iter().copied().collect();
                counts[factor.level(&inputs)] += 1;
            }
            // The first of several.
            let most = counts.iter().max();
            let at = counts.iter().position(|count| Some(count) == most);
            factor.choose(at.unwrap_or(0), &mut row);
        }
    }
    row
}

/// The number in a text, which may have the unit of the factor; `true` and `false` of a column of these.
fn number(factor: &InputColumn, text: &str) -> Option<f64> {
    let text = text.trim();
    if factor.is_switch() {
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("true") || is("false") {
            return Some(f64::from(u8::from(is("true"))));
        }
    }
    let unit = factor.unit.as_deref().unwrap_or_default();
    text.strip_suffix(unit).unwrap_or(text).trim().parse().ok()
}

/// The level of this name.
pub(crate) fn level(factor: &InputColumn, name: &str) -> Result<usize, Error> {
    let names: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
    let found = names.iter().position(|known| *known == name);
    found.ok_or_else(|| Error::Column {
        column: factor.name.clone(),
        expected: "one of its levels".into(),
        found: format!("`{}`", brief(name)),
        advice: suggest(&names, name),
    })
}
