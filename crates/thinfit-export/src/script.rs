//! What Python and JavaScript have in common: one row of inputs at a time, in loops over the rows of the table.

use crate::expression::{Expression, Function, Operator, Variable};
use crate::formula::{Formula, Operation, Reduction};
use crate::notation::{Code, Notation, Text, numbers};

/// How a language writes what scripts consist of.
pub(crate) struct Dialect {
    pub indentation: usize,
    /// Where the elementary functions are, and before `min` and `max`.
    pub functions: &'static str,
    pub extremes: &'static str,
    /// 2π times the fraction of a number.
    pub angle: fn(&Text) -> String,
    /// Before the items of a list, after the last one, and at the end.
    pub brackets: [&'static str; 3],
    /// A name that keeps its value, and one that does not.
    pub constant: fn(&str, &str) -> String,
    pub variable: fn(&str, &str) -> String,
    /// The end of a statement.
    pub end: &'static str,
    /// A loop over `j` below a number, one over `i` from a number down to 1, and one over a list.
    pub below: fn(usize) -> String,
    pub down: fn(usize) -> String,
    pub each: fn(&str, &str) -> String,
    pub close: Option<&'static str>,
}

/// Code of a formula in a dialect.
pub(crate) struct Script<'a> {
    pub dialect: &'a Dialect,
    pub formula: &'a Formula<'a>,
    /// Names of the inputs.
    pub parameters: &'a [String],
}

impl Script<'_> {
    pub fn list(&self, items: &str) -> String {
        let [open, separator, close] = self.dialect.brackets;
        let separator = if items.is_empty() { "" } else { separator };
        format!("{open}{items}{separator}{close}")
    }

    /// Pairs of lists, one a line: the numbers of each row of the table, and its weights.
    pub fn push_table(&self, code: &mut Code) {
        let table = &self.formula.table;
        code.indented(self.dialect.indentation, |code| {
            for (p, a) in table.numbers.iter().zip(&table.weights) {
                let pair = [p, a].map(|values| self.list(&numbers(values)));
                code.line(format!("{},", self.list(&pair.join(", "))));
            }
        });
    }

    /// Columns, inverse lengths and shares of the axes of each reduction, if there are some.
    pub fn push_axes(&self, code: &mut Code) {
        let reductions = &self.formula.reductions;
        let lists = reductions.iter().map(|reduction| {
            let shares = reduction.has_shares();
            let axes = reduction.axes().iter().map(|axis| {
                let share = if shares {
                    format!(", {:?}", axis.share)
                } else {
                    String::new()
                };
                self.list(&format!("{}, {:?}{share}", axis.column, axis.inverse))
            });
            self.list(&axes.collect::<Vec<_>>().join(", "))
        });
        if reductions
            .iter()
            .any(|reduction| !reduction.axes().is_empty())
        {
            let lists: Vec<String> = lists.collect();
            code.line((self.dialect.constant)(
                "axes",
                &self.list(&lists.join(", ")),
            ));
        }
    }

    /// Statements that compute the functions of columns `x` and numbers `p`; their values.
    pub fn push_functions(&self, code: &mut Code) -> Vec<String> {
        for (i, reduction) in self.formula.reductions.iter().enumerate() {
            self.push_reduction(code, i, reduction);
        }
        let functions = self.formula.functions.iter();
        functions.map(|e| self.push_named(code, e)).collect()
    }

    fn push_reduction(&self, code: &mut Code, i: usize, reduction: &Reduction) {
        let (dialect, q) = (self.dialect, format!("q_{i}"));
        let Reduction::OverAxes {
            operation, each, ..
        } = reduction
        else {
            code.line((dialect.variable)(&q, "p[0]"));
            let header = (dialect.below)(self.formula.scaled.len());
            self.push_loop(code, header, |code| {
                code.line(format!("{q} += p[1 + j] * x[j]{}", dialect.end));
            });
            return;
        };
        match operation {
            Operation::Sum => code.line((dialect.variable)(&q, "0.0")),
            Operation::Product => code.line((dialect.variable)(&q, "1.0")),
            Operation::Symmetric(order) => {
                let e = format!("[1.0{}]", ", 0.0".repeat(*order));
                code.line((dialect.constant)(&format!("e_{i}"), &e));
            }
        }
        let share = if reduction.has_shares() {
            ", share"
        } else {
            ""
        };
        let header = (dialect.each)(&format!("j, inverse{share}"), &format!("axes[{i}]"));
        self.push_loop(code, header, |code| {
            // Squares are products: a power raises an error in Python where it is infinite.
            code.line((dialect.constant)("t", "(x[j] - p[j]) * inverse"));
            let value = self.push_named(code, each);
            match operation {
                Operation::Sum => code.line(format!("{q} += {value}{}", dialect.end)),
                Operation::Product => code.line(format!("{q} *= {value}{}", dialect.end)),
                Operation::Symmetric(order) => {
                    code.line((dialect.constant)("kappa", &value));
                    self.push_loop(code, (dialect.down)(*order), |code| {
                        code.line(format!("e_{i}[i] += kappa * e_{i}[i - 1]{}", dialect.end));
                    });
                }
            }
        });
        if let Operation::Symmetric(order) = operation {
            code.line((dialect.constant)(&q, &format!("e_{i}[{order}]")));
        }
    }

    /// A loop with this header.
    pub fn push_loop(&self, code: &mut Code, header: String, body: impl FnOnce(&mut Code)) {
        code.line(header);
        code.indented(self.dialect.indentation, body);
        if let Some(close) = self.dialect.close {
            code.line(close);
        }
    }

    /// Adds the values of the functions, times the weights `a`, to the sums `y`.
    pub fn push_weighted(&self, code: &mut Code, values: &[String]) {
        let c = self.formula.outputs.len();
        for (k, value) in values.iter().enumerate() {
            for o in 0..c {
                let at = k * c + o;
                code.line(format!("y[{o}] += a[{at}] * {value}{}", self.dialect.end));
            }
        }
    }

    /// Writes the named values of an expression; the rest.
    pub fn push_named(&self, code: &mut Code, expression: &Expression) -> String {
        code.push_named(expression, self, &self.dialect.constant)
    }
}

impl Notation for Script<'_> {
    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::Input(j) => self.parameters[j].clone(),
            Variable::Column(j) => format!("x[{j}]"),
            Variable::Reduction(i) => format!("q_{i}"),
            Variable::Difference => "t".into(),
            Variable::Share => "share".into(),
            Variable::Sum(o) => format!("y[{o}]"),
            Variable::Named(name) => name.into(),
        }
    }

    fn call(&self, function: Function, argument: &Text) -> String {
        let (plain, operand) = (argument.plain(), argument.operand());
        let functions = self.dialect.functions;
        match function {
            Function::Negative => format!("(-{operand})"),
            Function::Exp => format!("{functions}.exp({plain})"),
            Function::Sqrt => format!("{functions}.sqrt({plain})"),
            // Whole turns are taken off first, which is exact, so that the product does not overflow.
            Function::Cosine => format!("{functions}.cos({})", (self.dialect.angle)(argument)),
            Function::Sine => format!("{functions}.sin({})", (self.dialect.angle)(argument)),
            // Unlike 1 / (1 + exp(-t)) this never overflows.
            Function::Sigmoid => format!("(0.5 + 0.5 * {functions}.tanh(0.5 * {operand}))"),
            Function::Tanh => format!("{functions}.tanh({plain})"),
            Function::Positive => self.extreme(Operator::Max, plain, "0.0"),
            Function::Asinh => format!("{functions}.asinh({plain})"),
            Function::Step | Function::AsinhSlope => unreachable!("values have no slopes"),
        }
    }

    fn extreme(&self, operator: Operator, a: &str, b: &str) -> String {
        let name = match operator {
            Operator::Min => "min",
            _ => "max",
        };
        format!("{}{name}({a}, {b})", self.dialect.extremes)
    }
}
