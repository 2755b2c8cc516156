//! The ranges of the inputs.

use crate::Error;
use serde::Deserialize;
use std::collections::HashSet;
use thinfit_text::{clean, shown};

/// What values an input may have.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Given")]
pub enum Range {
    /// Numbers, evenly.
    Real {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Positive numbers, evenly in their logarithm.
    Log {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// Whole numbers.
    Whole {
        /// The least.
        low: i64,
        /// The largest.
        high: i64,
    },
    /// Names.
    Levels(Vec<String>),
}

/// A range as people write it.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected `[low, high]`, levels such as `[\"steel\", \"brass\"]`, `[false, true]`, or `{ low = 1, high = 9 }` with `log = true` or `whole = true`"
)]
enum Given {
    Ends([f64; 2]),
    Levels(Vec<String>),
    Switch(Vec<bool>),
    Named(Named),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    low: f64,
    high: f64,
    #[serde(default)]
    log: bool,
    #[serde(default)]
    whole: bool,
}

impl TryFrom<Given> for Range {
    type Error = String;

    fn try_from(given: Given) -> Result<Self, String> {
        let Named {
            low,
            high,
            log,
            whole,
        } = match given {
            Given::Ends([low, high]) => return Ok(Range::Real { low, high }),
            Given::Levels(levels) => return Ok(Range::Levels(levels)),
            Given::Switch(values) => {
                let names = values.iter().map(bool::to_string);
                return Ok(Range::Levels(names.collect()));
            }
            Given::Named(named) => named,
        };
        let end = |x: f64| match x.fract() == 0.0 && x.abs() <= MOST {
            true => Ok(x as i64),
            false => Err(format!(
                "expected whole numbers as ends, found {x}; round it"
            )),
        };
        Ok(match (log, whole) {
            (false, false) => Range::Real { low, high },
            (true, false) => Range::Log { low, high },
            (false, true) => Range::Whole {
                low: end(low)?,
                high: end(high)?,
            },
            (true, true) => {
                return Err("expected `log` or `whole`, found both; leave one out".into());
            }
        })
    }
}

/// The largest whole number that a number holds exactly.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A value of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number.
    Number(f64),
    /// A name.
    Level(&'a str),
}

impl Range {
    /// The value at a place from 0 to 1. Whole numbers and levels have parts of equal size.
    pub fn at(&self, place: f64) -> Value<'_> {
        // The part of `count` in which the place is.
        let part = |count: f64| (place * count).floor().clamp(0.0, count - 1.0);
        match self {
            Range::Real { low, high } => Value::Number(low + place * (high - low)),
            Range::Log { low, high } => {
                let value = (low.ln() + place * (high / low).ln()).exp();
                Value::Number(value.clamp(*low, *high))
            }
            Range::Whole { low, high } => {
                let (low, high) = (*low as f64, *high as f64);
                Value::Number(low + part(high - low + 1.0))
            }
            Range::Levels(levels) => Value::Level(&levels[part(levels.len() as f64) as usize]),
        }
    }

    /// A number of the range with as many digits as it needs: to a millionth of the range, or of itself where numbers are even
    /// in their logarithm and that is less; within the range.
    pub fn rounded(&self, value: f64) -> f64 {
        let (low, high, size) = match self {
            Range::Real { low, high } => (*low, *high, high - low),
            // Far from zero, a range is narrower than its numbers.
            Range::Log { low, high } => (*low, *high, value.abs().min(high - low)),
            Range::Whole { .. } | Range::Levels(_) => return value,
        };
        let decimals = (5.0 - size.log10().floor()) as i32;
        let unit = 10f64.powi(-decimals);
        let round = |value: f64| match decimals {
            // Text is rounded to the nearest number of as many digits, a quotient only nearly.
            0..=300 => format!("{value:.0$}", decimals as usize)
                .parse()
                .unwrap_or(value),
            _ => (value / unit).round() * unit,
        };
        // Next to an end, the nearest of so few digits may be beyond it.
        let near = [value, value - unit, value + unit].map(round);
        let inside = near.into_iter().find(|near| (low..=high).contains(near));
        inside.unwrap_or(value.clamp(low, high))
    }

    /// The place of a value, the middle of its part for whole numbers and levels; that of the nearest one for a number beyond
    /// the range. None for a name that is no level, and for a number among levels.
    pub fn place(&self, value: Value<'_>) -> Option<f64> {
        Some(match (self, value) {
            (Range::Real { low, high } | Range::Log { low, high }, Value::Number(_))
                if low == high =>
            {
                0.5
            }
            (Range::Real { low, high }, Value::Number(x)) => {
                (x.clamp(*low, *high) - low) / (high - low)
            }
            (Range::Log { low, high }, Value::Number(x)) => {
                (x.clamp(*low, *high) / low).ln() / (high / low).ln()
            }
            (Range::Whole { low, high }, Value::Number(x)) => {
                let (low, high) = (*low as f64, *high as f64);
                (x.clamp(low, high) - low + 0.5) / (high - low + 1.0)
            }
            (Range::Levels(levels), Value::Level(name)) => {
                // Tables have 0 and 1 for `false` and `true`.
                let name = match name {
                    "0" if levels.iter().all(|level| is_switch(level)) => "false",
                    "1" if levels.iter().all(|level| is_switch(level)) => "true",
                    name => name,
                };
                let at = levels.iter().position(|level| level == name)?;
                (at as f64 + 0.5) / levels.len() as f64
            }
            _ => return None,
        })
    }

    fn check(&self, input: &str) -> Result<(), Error> {
        let flaw = |expected, found, advice| {
            Err(Error::Range {
                input: input.into(),
                expected,
                found,
                advice,
            })
        };
        match self {
            Range::Real { low, high } | Range::Log { low, high }
                if !(high - low).is_finite() || low > high =>
            {
                flaw(
                    "two numbers, the smaller first",
                    format!("{low} and {high}"),
                    "give the least and the largest value",
                )
            }
            Range::Log { low, high } if *low <= 0.0 => flaw(
                "positive numbers",
                format!("{low} to {high}"),
                "leave `log` out",
            ),
            Range::Whole { low, high } if low > high => flaw(
                "two whole numbers, the smaller first",
                format!("{low} and {high}"),
                "give the least and the largest value",
            ),
            Range::Levels(levels) => {
                let distinct: HashSet<&String> = levels.iter().collect();
                match levels.len() {
                    0 => flaw("a level or more", "none".into(), "name one"),
                    count if distinct.len() < count => flaw(
                        "distinct levels",
                        "one of them twice".into(),
                        "leave it out",
                    ),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}

/// Whether a level is one of a switch.
fn is_switch(level: &str) -> bool {
    ["false", "true"].contains(&level)
}

/// An input.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What values it may have.
    pub range: Range,
}

/// All inputs (d), with ranges that are some.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    inputs: Vec<Input>,
}

impl Space {
    /// The unit cube of `d` inputs.
    ///
    /// # Errors
    /// No inputs.
    pub fn cube(d: usize) -> Result<Self, Error> {
        let (low, high) = (0.0, 1.0);
        let input = |j: usize| Input {
            name: format!("x{}", j + 1),
            range: Range::Real { low, high },
        };
        Space::new((0..d).map(input).collect())
    }

    /// The space of these inputs.
    ///
    /// # Errors
    /// No inputs, a range of numbers without values, no levels, or names that are empty, hidden or not distinct.
    pub fn new(inputs: Vec<Input>) -> Result<Self, Error> {
        let mut names = HashSet::new();
        for Input { name, range } in &inputs {
            let flaw = |expected, advice| Error::Range {
                input: shown(name).into_owned(),
                expected,
                found: format!("`{}`", shown(name)),
                advice,
            };
            if name.trim().is_empty() || clean(name) != name.as_str() {
                return Err(flaw("a printable name", "give another name"));
            }
            if !names.insert(name) {
                return Err(flaw("a unique name", "give another name"));
            }
            range.check(name)?;
        }
        match inputs.is_empty() {
            true => Err(Error::Empty),
            false => Ok(Space { inputs }),
        }
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// How far rows are apart.
    pub(crate) fn metric(&self) -> Metric<'_> {
        let level = |input: &Input| matches!(input.range, Range::Levels(_));
        Metric {
            inputs: &self.inputs,
            levels: self.inputs.iter().map(level).collect(),
        }
    }
}

/// How far rows are apart in what their places stand for: each input counts from 0 to 1, and two levels are the same or not.
pub(crate) struct Metric<'a> {
    inputs: &'a [Input],
    /// Which inputs have levels.
    levels: Vec<bool>,
}

impl Metric<'_> {
    /// The coordinates of a row of places.
    pub fn coordinates(&self, places: &[f64]) -> Vec<f64> {
        let coordinate =
            |(input, place): (&Input, &f64)| match (&input.range, input.range.at(*place)) {
                (Range::Whole { low, high }, Value::Number(value)) => {
                    (value - *low as f64) / (*high as f64 - *low as f64).max(1.0)
                }
                // The middle of the part stands for the level.
                (Range::Levels(_), value) => input.range.place(value).unwrap_or(*place),
                _ => *place,
            };
        self.inputs.iter().zip(places).map(coordinate).collect()
    }

    /// The squared distance of two rows of coordinates, at most d.
    pub fn square(&self, a: &[f64], b: &[f64]) -> f64 {
        let pairs = a.iter().zip(b).zip(&self.levels);
        let squares = pairs.map(|((a, b), level)| match level {
            true => f64::from(u8::from(a != b)),
            false => (a - b) * (a - b),
        });
        squares.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Result<Range, String> {
        #[derive(Deserialize)]
        struct File {
            x: Range,
        }
        let file: Result<File, _> = toml::from_str(&format!("x = {text}"));
        let range = file.map_err(|error| error.message().to_owned())?.x;
        range.check("x").map_err(|error| error.to_string())?;
        Ok(range)
    }

    #[test]
    fn ranges_are_read_as_people_write_them() {
        let ends = |low, high| Range::Real { low, high };
        assert_eq!(range("[1, 2.5]"), Ok(ends(1.0, 2.5)));
        assert_eq!(range("{ low = -1, high = 2 }"), Ok(ends(-1.0, 2.0)));
        let log = Range::Log {
            low: 1.0,
            high: 100.0,
        };
        assert_eq!(range("{ low = 1, high = 1e2, log = true }"), Ok(log));
        let whole = Range::Whole { low: 2, high: 8 };
        assert_eq!(range("{ low = 2, high = 8, whole = true }"), Ok(whole));
        let levels = Range::Levels(vec!["a".into(), "b".into()]);
        assert_eq!(range("['a', 'b']"), Ok(levels));
        let alone = Range::Levels(vec!["a".into()]);
        assert_eq!(range("['a']"), Ok(alone));
        // A single number is a range, as a single level is.
        assert_eq!(range("[3, 3]"), Ok(ends(3.0, 3.0)));
        for text in [
            "{ low = 3, high = 3 }",
            "{ low = 3, high = 3, log = true }",
            "{ low = 3, high = 3, whole = true }",
        ] {
            let three = range(text).unwrap();
            assert_eq!(three.at(0.7), Value::Number(3.0), "{text}");
            assert_eq!(three.place(Value::Number(4.0)), Some(0.5), "{text}");
            assert_eq!(three.rounded(3.0), 3.0, "{text}");
        }
        let switch = range("[false, true]").unwrap();
        assert_eq!(switch, Range::Levels(vec!["false".into(), "true".into()]));
        // Tables are read with numbers for these words.
        assert_eq!(switch.place(Value::Level("1")), Some(0.75));
        for (text, word) in [
            ("3", "expected `[low, high]`"),
            ("[1, 2, 3]", "expected `[low, high]`"),
            ("[2, 1]", "the smaller first"),
            ("[nan, 1]", "the smaller first"),
            ("[-1e308, 1e308]", "the smaller first"),
            ("{ low = 0, high = 1, log = true }", "positive"),
            ("{ low = 0.5, high = 3, whole = true }", "whole numbers"),
            ("{ low = 1, high = 3, whole = true, log = true }", "both"),
            (
                "{ low = 1, high = 3, lag = true }",
                "expected `[low, high]`",
            ),
            ("[]", "a level or more"),
            ("['a', 'a']", "distinct"),
        ] {
            let error = range(text).unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn places_and_values_belong_together() {
        for text in [
            "[-3, 5]",
            "{ low = 1e-3, high = 1e3, log = true }",
            "{ low = -2, high = 4, whole = true }",
            "['a', 'b', 'c']",
        ] {
            let range = range(text).unwrap();
            for k in 0..=100 {
                let value = range.at(f64::from(k) / 100.0);
                let place = range.place(value).unwrap();
                match (value, range.at(place)) {
                    (Value::Number(a), Value::Number(b)) => {
                        assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{text}: {a} {b}");
                    }
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
        let whole = Range::Whole { low: 2, high: 3 };
        let real = Range::Real {
            low: 0.5,
            high: 2.0,
        };
        assert_eq!(real.rounded(1.234_567_890_123), 1.23457);
        assert_eq!(real.rounded(0.5 + 1e-9), 0.5);
        let (low, high) = (0.1 + 1e-9, 3.902_439_024_390_244);
        let measured = Range::Real { low, high };
        assert_eq!(measured.rounded(high), 3.90243);
        assert_eq!(measured.rounded(low), 0.10001);
        let log = Range::Log {
            low: 1e3,
            high: 1e12,
        };
        assert_eq!(log.rounded(1_234.567_89), 1_234.57);
        assert_eq!(log.rounded(123_456_789.0), 123_457_000.0);
        let seconds = Range::Log {
            low: 1.7e9,
            high: 1.7e9 + 600.0,
        };
        assert_eq!(seconds.rounded(1_700_000_123.456_78), 1_700_000_123.457);
        assert_eq!(whole.at(0.49), Value::Number(2.0));
        assert_eq!(whole.at(0.5), Value::Number(3.0));
        assert_eq!(whole.place(Value::Number(9.0)), Some(0.75));
        assert_eq!(whole.place(Value::Level("a")), None);
    }

    #[test]
    fn names_can_be_read_and_are_distinct() {
        let input = |name: &str| Input {
            name: name.into(),
            range: Range::Real {
                low: 0.0,
                high: 1.0,
            },
        };
        assert!(Space::new(vec![input("a"), input("b [m/s]")]).is_ok());
        assert_eq!(Space::new(vec![]), Err(Error::Empty));
        for names in [["a", "a"], ["a", " "], ["a", "b\u{202e}"]] {
            assert!(Space::new(names.map(input).to_vec()).is_err());
        }
    }
}
