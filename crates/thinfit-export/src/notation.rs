//! Expressions as text in a language with infix operators, and code in lines with indentation.

use crate::expression::{Expression, Function, Operator, Variable};

/// How a language writes what differs between languages.
pub(crate) trait Notation {
    /// Any variable but a named one.
    fn variable(&self, variable: Variable) -> String;
    /// An operand of the strongest binding.
    fn call(&self, function: Function, argument: &Text) -> String;
    /// An operand of the strongest binding; the smaller or the larger of two values.
    fn extreme(&self, operator: Operator, a: &str, b: &str) -> String;
}

/// How strongly the outermost operator of a text binds.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Sum,
    Product,
    Operand,
}

/// An expression as text.
pub(crate) struct Text {
    text: String,
    binding: Binding,
}

impl Text {
    /// The text as it stands alone or between brackets.
    pub fn plain(&self) -> &str {
        &self.text
    }

    /// The text as an operand, in parentheses if necessary.
    pub fn operand(&self) -> String {
        self.at_least(Binding::Operand)
    }

    fn at_least(&self, binding: Binding) -> String {
        match self.binding >= binding {
            true => self.text.clone(),
            false => format!("({})", self.text),
        }
    }
}

/// An expression without named values as text.
pub(crate) fn written(expression: &Expression, notation: &dyn Notation) -> String {
    let mut code = Code::default();
    code.push_named(expression, notation, &|_, _| String::new())
}

struct Writer<'a> {
    notation: &'a dyn Notation,
    /// The names that are known, and what they are in the text.
    scope: Vec<(&'static str, String)>,
    /// All names so far.
    names: &'a mut Vec<&'static str>,
    /// Names and values that come first.
    named: Vec<(String, String)>,
}

impl Writer<'_> {
    fn write(&mut self, expression: &Expression) -> Text {
        let (text, binding) = match expression {
            Expression::Number(number) if *number < 0.0 => {
                (format!("{number:?}"), Binding::Product)
            }
            Expression::Number(number) => (format!("{number:?}"), Binding::Operand),
            Expression::Variable(Variable::Named(name)) => {
                let known = self.scope.iter().rev().find(|(known, _)| known == name);
                (
                    known.expect("a name has a value").1.clone(),
                    Binding::Operand,
                )
            }
            Expression::Variable(variable) => (self.notation.variable(*variable), Binding::Operand),
            Expression::Call(Function::Negative, argument) => {
                let argument = self.write(argument);
                (format!("-{}", argument.operand()), Binding::Product)
            }
            Expression::Call(function, argument) => {
                let argument = self.write(argument);
                (self.notation.call(*function, &argument), Binding::Operand)
            }
            Expression::Binary(operator, a, b) => {
                let (a, b) = (self.write(a), self.write(b));
                let (symbol, binding, right) = match operator {
                    Operator::Add => ('+', Binding::Sum, Binding::Product),
                    Operator::Subtract => ('-', Binding::Sum, Binding::Product),
                    Operator::Multiply => ('*', Binding::Product, Binding::Operand),
                    Operator::Divide => ('/', Binding::Product, Binding::Operand),
                    Operator::Min | Operator::Max => {
                        return self.extreme(*operator, &a, &b);
                    }
                };
                let (a, b) = (a.at_least(binding), b.at_least(right));
                (format!("{a} {symbol} {b}"), binding)
            }
            Expression::Affine { .. } => return self.write(&expression.expanded()),
            Expression::Let { name, value, body } => {
                let value = self.write(value).text;
                let same = self.names.iter().filter(|known| *known == name);
                let unique = match same.count() {
                    0 => (*name).to_owned(),
                    count => format!("{name}_{}", count + 1),
                };
                self.names.push(name);
                self.named.push((unique.clone(), value));
                self.scope.push((name, unique));
                let body = self.write(body);
                self.scope.pop();
                return body;
            }
            Expression::Capped(value, bound) => {
                let (value, bound) = (self.write(value), self.write(&(*bound).into()));
                return self.extreme(Operator::Min, &value, &bound);
            }
            Expression::WithSlope { value, .. } => return self.write(value),
        };
        Text { text, binding }
    }

    fn extreme(&self, operator: Operator, a: &Text, b: &Text) -> Text {
        Text {
            text: self.notation.extreme(operator, a.plain(), b.plain()),
            binding: Binding::Operand,
        }
    }
}

/// Code under construction.
#[derive(Default)]
pub(crate) struct Code {
    pub text: String,
    /// Blanks before every line.
    indentation: usize,
    /// The values that were named: each gets a name of its own.
    names: Vec<&'static str>,
}

impl Code {
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.extend(std::iter::repeat_n(' ', self.indentation));
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    /// Several lines.
    pub fn lines(&mut self, lines: impl AsRef<str>) {
        lines.as_ref().lines().for_each(|line| self.line(line));
    }

    /// Lines that stand `depth` blanks further in.
    pub fn indented(&mut self, depth: usize, lines: impl FnOnce(&mut Self)) {
        self.indentation += depth;
        lines(self);
        self.indentation -= depth;
    }

    /// Writes a line for every named value of an expression; returns the rest.
    pub fn push_named(
        &mut self,
        expression: &Expression,
        notation: &dyn Notation,
        line: &dyn Fn(&str, &str) -> String,
    ) -> String {
        let mut writer = Writer {
            notation,
            scope: vec![],
            names: &mut self.names,
            named: vec![],
        };
        let value = writer.write(expression).text;
        for (name, value) in writer.named {
            self.line(line(&name, &value));
        }
        value
    }
}

/// The numbers, separated by commas.
pub(crate) fn numbers(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|v| format!("{v:?}")).collect();
    values.join(", ")
}

/// A text with a capital letter first.
pub(crate) fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}
