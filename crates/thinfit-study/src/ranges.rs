//! Where new rows may lie: for each factor of a model the range of its samples, or one that the user gives.

use thinfit::{Error, Mat, Result};
use thinfit_design::{Range, Space, Value};
use thinfit_methods::{Factor, Predictor};

/// The factors of a model, with their ranges.
#[derive(Clone, Debug)]
pub struct Ranges {
    factors: Vec<Factor>,
    /// The ranges that the user gives, for each factor.
    given: Vec<Option<Range>>,
}

impl Ranges {
    /// The ranges of the samples.
    pub fn of(model: &Predictor) -> Self {
        let factors = Factor::all(model);
        let given = vec![None; factors.len()];
        Ranges { factors, given }
    }

    /// The ranges of `space` for the factors that it names, those of the samples for the others.
    ///
    /// # Errors
    /// A name that is no factor, a level that the model does not know, or levels of a factor of numbers and the reverse.
    pub fn within(model: &Predictor, space: &Space) -> Result<Self> {
        let mut ranges = Ranges::of(model);
        for input in space.inputs() {
            let refuse = |expected: String, advice| {
                let name = &input.name;
                Err(Error::Data {
                    what: "ranges",
                    problem: format!("`{name}`: expected {expected}"),
                    advice,
                })
            };
            let Some(k) = ranges.factors.iter().position(|f| f.name == input.name) else {
                let names: Vec<&str> = ranges.factors.iter().map(|f| f.name.as_str()).collect();
                let expected = format!("an input of the model ({})", names.join(", "));
                return refuse(expected, "leave the others out");
            };
            let factor = &ranges.factors[k];
            let known = |name: &String| factor.levels.iter().any(|level| level.name == *name);
            match &input.range {
                Range::Levels(levels) if !levels.iter().all(known) => {
                    let names: Vec<&str> = factor.levels.iter().map(|l| l.name.as_str()).collect();
                    let expected = match names.is_empty() {
                        true => "the ends of a range of numbers".into(),
                        false => format!("levels among {}", names.join(", ")),
                    };
                    return refuse(expected, "give values that the model knows");
                }
                Range::Levels(_) => {}
                _ if !factor.levels.is_empty() => {
                    return refuse("a list of levels".into(), "give names of levels");
                }
                _ => {}
            }
            ranges.given[k] = Some(input.range.clone());
        }
        Ok(ranges)
    }

    /// The factors.
    pub fn factors(&self) -> &[Factor] {
        &self.factors
    }

    /// The rows of inputs (n × d) at places from 0 to 1 of every factor (n × factors).
    pub(crate) fn rows(&self, places: &[Vec<f64>], d: usize) -> Mat<f64> {
        let mut rows = Mat::zeros(places.len(), d);
        for (i, places) in places.iter().enumerate() {
            let mut row = vec![0.0; d];
            let each = self.factors.iter().zip(&self.given).zip(places);
            for ((factor, given), &place) in each {
                match given.as_ref().map(|range| range.at(place)) {
                    None => factor.set(place, &mut row),
                    Some(Value::Number(number)) => row[factor.first] = number,
                    Some(Value::Level(name)) => {
                        let level = factor.levels.iter().find(|level| level.name == name);
                        let inputs = level.map_or(&[][..], |level| &level.inputs);
                        row[factor.first..][..inputs.len()].copy_from_slice(inputs);
                    }
                }
            }
            (0..d).for_each(|j| rows[(i, j)] = row[j]);
        }
        rows
    }

    /// The place of every factor in a row of inputs (d); that of the nearest end for a number beyond its range.
    pub(crate) fn places(&self, row: &[f64]) -> Vec<f64> {
        let each = self.factors.iter().zip(&self.given);
        each.map(|(factor, given)| {
            let place = given.as_ref().and_then(|range| match range {
                Range::Levels(_) => {
                    range.place(Value::Level(&factor.levels[factor.level(row)].name))
                }
                _ => range.place(Value::Number(row[factor.first])),
            });
            place.unwrap_or_else(|| factor.place(row))
        })
        .collect()
    }
}
