//! Linear constraints as users write them: `2*flow - "v [m/s]" <= 4`.
//!
//! A term is a number, a column, or a product or quotient of both. Columns are written as they are or in quotes; if a
//! text could begin with several column names, the longest is meant.

use crate::Error;
use thinfit_methods::InputColumn;
use thinfit_text::suggest;

/// How the two sides of a constraint compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Relation {
    AtMost,
    AtLeast,
    Equal,
}

/// Σ_j a_j x_j ≤ b, ≥ b or = b.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constraint {
    /// As it was written.
    pub text: String,
    /// a_j of factor j, one for each factor.
    pub coefficients: Vec<f64>,
    pub relation: Relation,
    /// b.
    pub bound: f64,
}

/// The unread rest.
struct Rest<'a> {
    text: &'a str,
    factors: &'a [InputColumn],
}

impl Constraint {
    /// Reads a constraint on the factors.
    pub fn read(text: &str, factors: &[InputColumn]) -> Result<Self, Error> {
        let flaw = |problem: String| Error::Constraint {
            text: text.into(),
            problem,
        };
        let mut rest = Rest { text, factors };
        let (left, constant) = rest.sum().map_err(flaw)?;
        let relation = rest.relation().ok_or_else(|| {
            let start = rest.text.trim_start();
            // `2 blades` is meant to be a product.
            let advice = match start.starts_with(|c: char| c.is_alphanumeric() || c == '"') {
                true => "write a product with `*` and a sum with `+`, as in `2*x1 - x2 <= 4`",
                false => "write it like `2*x1 - x2 <= 4`",
            };
            flaw(format!(
                "expected `<=`, `>=` or `=`, found {}; {advice}",
                rest.found()
            ))
        })?;
        let (right, bound) = rest.sum().map_err(flaw)?;
        if !rest.text.trim().is_empty() {
            return Err(flaw(format!(
                "expected one comparison, found {} after it; give one constraint at a time",
                rest.found()
            )));
        }
        let coefficients: Vec<f64> = left.iter().zip(&right).map(|(l, r)| l - r).collect();
        let bound = bound - constant;
        if !bound.is_finite() || coefficients.iter().any(|a| !a.is_finite()) {
            return Err(flaw(
                "expected finite numbers, found larger ones; use other units".into(),
            ));
        }
        if coefficients.iter().all(|a| *a == 0.0) {
            let columns = "expected a column of the model, found none; name one".into();
            return Err(flaw(columns));
        }
        Ok(Constraint {
            text: text.trim().into(),
            coefficients,
            relation,
            bound,
        })
    }
}

impl<'a> Rest<'a> {
    /// Reads a sum of terms: the coefficient of each factor, and a number.
    fn sum(&mut self) -> Result<(Vec<f64>, f64), String> {
        let (mut coefficients, mut constant) = (vec![0.0; self.factors.len()], 0.0);
        let mut first = true;
        loop {
            let sign = if self.eat("+") {
                1.0
            } else if self.eat("-") || self.eat("−") {
                -1.0
            } else if first {
                1.0
            } else {
                return Ok((coefficients, constant));
            };
            first = false;
            let (factor, number) = self.term()?;
            match factor {
                Some(j) => coefficients[j] += sign * number,
                None => constant += sign * number,
            }
        }
    }

    /// Reads a product of numbers and at most one column.
    fn term(&mut self) -> Result<(Option<usize>, f64), String> {
        let (mut factor, mut number) = self.atom()?;
        loop {
            let divide = match self.eat("*") || self.eat("·") {
                true => false,
                false if self.eat("/") => true,
                false => return Ok((factor, number)),
            };
            match self.atom()? {
                (Some(_), _) if divide || factor.is_some() => {
                    return Err(
                        "expected a sum of columns times numbers, found columns multiplied or divided; only linear \
                         constraints are known"
                            .into(),
                    );
                }
                (Some(j), _) => factor = Some(j),
                (None, by) if divide => number /= by,
                (None, by) => number *= by,
            }
        }
    }

    /// Reads a column or a number.
    fn atom(&mut self) -> Result<(Option<usize>, f64), String> {
        self.text = self.text.trim_start();
        if let Some((name, rest)) = quoted(self.text) {
            let found = self.factors.iter().position(|factor| factor.name == name);
            let j = found.ok_or_else(|| self.unknown(name))?;
            self.text = rest;
            return self.number_factor(j);
        }
        let starts = |factor: &InputColumn| {
            let rest = self.text.strip_prefix(factor.name.as_str())?;
            // `x1` is not the start of `x10`, which may be unknown.
            let goes_on = |text: &str| text.starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let word = factor
                .name
                .ends_with(|c: char| c.is_alphanumeric() || c == '_');
            (!(word && goes_on(rest))).then_some(rest)
        };
        let known = self.factors.iter().enumerate();
        let known = known.filter_map(|(j, factor)| Some((j, starts(factor)?)));
        if let Some((j, rest)) = known.min_by_key(|(_, rest)| rest.len()) {
            self.text = rest;
            return self.number_factor(j);
        }
        match number(self.text) {
            Some((number, rest)) => {
                self.text = rest;
                Ok((None, number))
            }
            None => {
                let stop = |c: char| "+-−*·/<>=≤≥".contains(c);
                let name = self.text.split(stop).next().unwrap_or_default().trim();
                match name {
                    "" => Err(format!(
                        "expected a column or a number, found {}; write it like `2*x1 - x2 <= 4`",
                        self.found()
                    )),
                    name => Err(self.unknown(name)),
                }
            }
        }
    }

    /// The factor, if it is a number.
    fn number_factor(&self, j: usize) -> Result<(Option<usize>, f64), String> {
        match self.factors[j].levels.is_empty() {
            true => Ok((Some(j), 1.0)),
            false => Err(format!(
                "expected columns of numbers, found `{}`, which has levels; fix it to one of them instead",
                self.factors[j].name
            )),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let names: Vec<&str> = self.factors.iter().map(|f| f.name.as_str()).collect();
        let unknown = Error::Unknown {
            name: name.into(),
            hint: suggest(&names, name),
        };
        unknown.to_string()
    }

    fn relation(&mut self) -> Option<Relation> {
        let signs = [
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("≤", Relation::AtMost),
            ("≥", Relation::AtLeast),
            ("==", Relation::Equal),
            ("=", Relation::Equal),
            ("<", Relation::AtMost),
            (">", Relation::AtLeast),
        ];
        let found = signs.into_iter().find(|(sign, _)| self.eat(sign));
        found.map(|(_, relation)| relation)
    }

    /// Skips blanks and the sign, if it is next.
    fn eat(&mut self, sign: &str) -> bool {
        let rest = self.text.trim_start().strip_prefix(sign);
        self.text = rest.unwrap_or(self.text);
        rest.is_some()
    }

    fn found(&self) -> String {
        match self.text.trim() {
            "" => "the end".into(),
            rest => format!("`{}`", thinfit_text::brief(rest)),
        }
    }
}

/// A name in quotes at the start of the text, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text
        .chars()
        .next()
        .filter(|c| ['"', '\'', '`'].contains(c))?;
    text[1..].split_once(quote)
}

/// The number at the start of the text, and what follows it.
fn number(text: &str) -> Option<(f64, &str)> {
    let part = |c: char| c.is_ascii_digit() || c == '.';
    let mut end = text.find(|c| !part(c)).unwrap_or(text.len());
    let exponent = text[end..].strip_prefix(['e', 'E']);
    let digits = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
    if let Some(digits) = digits.filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit())) {
        let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        end = text.len() - rest.len();
    }
    let value: f64 = text[..end].parse().ok()?;
    Some((value, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit_methods::Level;

    fn factor(name: &str) -> InputColumn {
        InputColumn {
            name: name.into(),
            unit: None,
            first: 0,
            levels: vec![],
            range: [0.0, 1.0],
            warp: None,
            log: false,
            whole: false,
        }
    }

    fn factors() -> Vec<InputColumn> {
        let mut factors: Vec<InputColumn> = ["x1", "x10", "v [m/s]", "a+b"].map(factor).into();
        let level = |name: &str| Level {
            name: name.into(),
            inputs: vec![0.0],
        };
        let levels = vec![level("steel"), level("brass")];
        factors.push(InputColumn {
            levels,
            ..factor("kind")
        });
        factors
    }

    #[test]
    fn constraints_are_read_as_people_write_them() {
        let read = |text: &str| {
            let found = Constraint::read(text, &factors()).unwrap();
            let sign = match found.relation {
                Relation::AtMost => "<",
                Relation::AtLeast => ">",
                Relation::Equal => "=",
            };
            (found.coefficients, sign, found.bound)
        };
        let expected = |a: [f64; 4], sign, bound| ([&a[..], &[0.0]].concat(), sign, bound);
        for (text, a, sign, bound) in [
            ("x1 <= 4", [1.0, 0.0, 0.0, 0.0], "<", 4.0),
            ("2*x1-x10>=4", [2.0, -1.0, 0.0, 0.0], ">", 4.0),
            (
                "-x1 + 3e-1 * v [m/s] ≤ 1.5",
                [-1.0, 0.0, 0.3, 0.0],
                "<",
                1.5,
            ),
            ("\"v [m/s]\"/2 = 'a+b' + 1", [0.0, 0.0, 0.5, -1.0], "=", 1.0),
            ("a+b + x1*2 >= x1", [1.0, 0.0, 0.0, 1.0], ">", 0.0),
            ("3 - x1 > 2 - 4", [-1.0, 0.0, 0.0, 0.0], ">", -5.0),
        ] {
            assert_eq!(read(text), expected(a, sign, bound), "{text}");
        }
    }

    #[test]
    fn what_is_no_constraint_is_named() {
        for (text, words) in [
            (
                "x2 <= 4",
                "expected a column of the model, found `x2`; did you mean `x1`?",
            ),
            ("x100 <= 4", "found `x100`"),
            ("kind <= 4", "found `kind`, which has levels"),
            ("x1", "expected `<=`, `>=` or `=`, found the end"),
            ("x1 <= ", "expected a column or a number, found the end"),
            ("x1 <= 4 <= x10", "one comparison"),
            ("x1*x10 <= 4", "linear"),
            ("1/x1 <= 4", "linear"),
            ("1 <= 4", "found none"),
            ("x1 - x1 <= 4", "found none"),
            ("x1 <= 1e999", "finite"),
            ("x1 / 0 <= 1", "finite"),
            ("", "found the end"),
            ("*", "found `*`"),
            ("'x1 <= 1", "expected"),
        ] {
            let error = Constraint::read(text, &factors()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
