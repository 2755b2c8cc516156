//! A model as a formula for a paper, with a given number of digits. The rows of a network are written out by falling weight; the
//! points and coefficients of a sum of kernels are symbols.

mod number;
mod terms;

use crate::expression::{Expression, Function, Operator, Variable};
use crate::formula::{Axis, Formula, Operation, Reduction, Rows};
use crate::name::remark;
use number::{escaped, number, signed};
use std::fmt::Write;
use thinfit_methods::Predictor;

/// A fragment of LaTeX (needs `amsmath`) with one formula per output and its symbols explained; numbers have `digits`
/// significant digits. The points and coefficients of a sum of kernels are symbols.
///
/// Fourier features are written with amplitude and phase, A cos 2π(θ + ⟨w, u⟩), in the scaled inputs u.
pub fn latex(model: &Predictor, digits: usize) -> String {
    fragment(&Formula::new(model), digits)
}

pub(crate) fn fragment(formula: &Formula<'_>, digits: usize) -> String {
    let warning = match formula.table.rows {
        Rows::Neurons => "and large terms cancel. Compute with",
        Rows::Points => "without points and coefficients, which are in",
    };
    let mut text = format!(
        "% {}, fitted to {} samples by thinfit {}; needs amsmath\n\
         % For reading only: rounded to {digits} digits, {warning} the JSON, C or Python file.\n\
         \\begingroup\\allowdisplaybreaks\n",
        formula.what,
        formula.record.samples,
        remark(&formula.record.version),
    );
    let latex = Latex { formula, digits };
    let blocks = match formula.table.rows {
        Rows::Neurons => terms::outputs(&latex),
        Rows::Points => vec![latex.kernel()],
    };
    for block in blocks {
        let _ = write!(text, "\\begin{{align*}}\n{block}\n\\end{{align*}}\n");
    }
    text.push_str("\\endgroup\nwith the scaled inputs\n\\begin{align*}\n");
    let scaled = (formula.scaled.iter().enumerate())
        .map(|(j, e)| format!("u_{{{}}} &= {}", j + 1, latex.plain(e)));
    let _ = writeln!(text, "{}\n\\end{{align*}}", joined(scaled));
    if text.contains("\\sigma\\bigl(") {
        text.push_str("and $\\sigma(t) = 1/(1 + e^{-t})$.\n");
    }
    if text.contains("\\bigr)_+") {
        text.push_str("and $(t)_+ = \\max(t, 0)$.\n");
    }
    text
}

/// The lines of a formula.
fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().collect::<Vec<_>>().join(", \\\\\n")
}

struct Latex<'a> {
    formula: &'a Formula<'a>,
    digits: usize,
}

/// The named values of a formula: what they are called in it, and a line for each.
#[derive(Default)]
struct Names {
    scope: Vec<(&'static str, String)>,
    lines: Vec<String>,
}

/// A formula, and whether it is a sum.
struct Text {
    text: String,
    is_sum: bool,
}

impl Latex<'_> {
    fn number(&self, value: f64) -> String {
        number(value, self.digits)
    }

    /// The name of an output.
    fn output(&self, o: usize) -> String {
        format!("\\text{{{}}}", escaped(&self.formula.outputs[o]))
    }

    /// The outputs as sums of kernels, the kernel, and what it consists of.
    fn kernel(&self) -> String {
        let (formula, m) = (self.formula, self.formula.table.numbers.len());
        let mut lines = Vec::new();
        for (o, result) in formula.results.iter().enumerate() {
            let sum = |factor: String| {
                format!(
                    "{factor} \\sum_{{i=1}}^{{{m}}} \\alpha_{{i,{}}}\\, k(u, u_i)",
                    o + 1
                )
            };
            let line = match result.affine_in(Variable::Sum(o)) {
                Some((constant, scale)) => format!(
                    "{} &= {} {}",
                    self.output(o),
                    self.number(scale.mul_add(formula.constants[o], constant)),
                    sum(signed(scale, &|v| self.number(v))),
                ),
                None => {
                    let constant = self.number(formula.constants[o]);
                    lines.push(format!("{} &= {}", self.output(o), self.plain(result)));
                    format!("s_{{{}}} &= {constant} + {}", o + 1, sum(String::new()))
                }
            };
            lines.push(line);
        }
        let kernel = self.with_named("k(u, v)", &formula.functions[0]);
        lines.extend(kernel);
        for (i, reduction) in formula.reductions.iter().enumerate() {
            lines.extend(self.reduction(i, reduction));
        }
        for (e, derived) in formula.derived.iter().enumerate() {
            let j = formula.scaled.len() + e + 1;
            let mut column = self.with_named(&format!("u_{{{j}}}"), derived);
            column[0] += &format!(", \\quad v_{{{j}}} \\text{{ likewise}}");
            lines.extend(column);
        }
        joined(lines)
    }

    /// q_i and what it consists of.
    fn reduction(&self, i: usize, reduction: &Reduction) -> Vec<String> {
        let Reduction::OverAxes {
            operation,
            axes,
            each,
        } = reduction
        else {
            return vec![];
        };
        let t = i + 1;
        let value = |axis: &Axis| {
            each.substituted(&|variable| match variable {
                Variable::Share => axis.share.into(),
                other => other.into(),
            })
        };
        let difference = |axis: &Axis, text: &str| {
            let (j, length) = (axis.column + 1, self.number(1.0 / axis.inverse));
            text.replace(
                DIFFERENCE,
                &format!("\\frac{{u_{{{j}}} - v_{{{j}}}}}{{{length}}}"),
            )
        };
        let numbers: Vec<String> = axes
            .iter()
            .map(|axis| (axis.column + 1).to_string())
            .collect();
        let numbers = numbers.join(", ");
        let put_together = match operation {
            Operation::Sum => {
                let terms = axes
                    .iter()
                    .map(|axis| difference(axis, &self.plain(&value(axis))));
                let terms: Vec<String> = terms.collect();
                let lines: Vec<String> = terms.chunks(3).map(|terms| terms.join(" + ")).collect();
                return vec![format!("q_{{{t}}} &= {}", lines.join(" \\\\\n&\\quad + "))];
            }
            Operation::Product => format!("\\prod_{{j \\in \\{{{numbers}\\}}}}"),
            Operation::Symmetric(order) => format!(
                "\\sum_{{S \\subseteq \\{{{numbers}\\}},\\, |S| = {order}}} \\prod_{{j \\in S}}"
            ),
        };
        let mut lines = vec![format!("q_{{{t}}} &= {put_together} \\kappa_{{{t},j}}")];
        for axis in axes {
            let name = format!("\\kappa_{{{t},{}}}", axis.column + 1);
            let of_axis = self.with_named(&name, &value(axis));
            let parts: Vec<String> = of_axis.iter().map(|line| difference(axis, line)).collect();
            // Names mean something else on every axis.
            let rest = parts[1..].iter().map(|line| line.replace(" &= ", " = "));
            let rest: String = rest
                .map(|line| format!(" \\quad\\text{{with }} {line}"))
                .collect();
            lines.push(format!("{}{rest}", parts[0]));
        }
        lines
    }

    /// `name` as an expression, then the values that are named in it.
    fn with_named(&self, name: &str, expression: &Expression) -> Vec<String> {
        let mut names = Names::default();
        let text = self.write(expression, &mut names).text;
        let mut lines = vec![format!("{name} &= {text}")];
        lines.extend(names.lines);
        lines
    }

    /// An expression whose named values are left out.
    fn plain(&self, expression: &Expression) -> String {
        self.write(expression, &mut Names::default()).text
    }

    fn write(&self, expression: &Expression, names: &mut Names) -> Text {
        let mut is_sum = false;
        let mut write = |e: &Expression| self.write(e, names);
        let text = match expression {
            Expression::Number(number) => self.plain_number(*number),
            Expression::Variable(variable) => self.variable(*variable, names),
            Expression::Call(function, argument) => {
                let argument = write(argument);
                let plain = &argument.text;
                match function {
                    Function::Negative => format!("-{}", argument.factor()),
                    Function::Exp if plain.contains(DIFFERENCE) => {
                        format!("\\exp\\bigl({plain}\\bigr)")
                    }
                    Function::Exp => format!("e^{{{plain}}}"),
                    Function::Sqrt => format!("\\sqrt{{{plain}}}"),
                    Function::Cosine => format!("\\cos 2\\pi\\bigl({plain}\\bigr)"),
                    Function::Sine => format!("\\sin 2\\pi\\bigl({plain}\\bigr)"),
                    Function::Sigmoid => format!("\\sigma\\bigl({plain}\\bigr)"),
                    Function::Tanh => format!("\\tanh\\bigl({plain}\\bigr)"),
                    Function::Positive => format!("\\bigl({plain}\\bigr)_+"),
                    Function::Asinh => format!("\\operatorname{{arsinh}}({plain})"),
                    Function::Step => format!("\\operatorname{{step}}({plain})"),
                    Function::AsinhSlope => format!("(1 + ({plain})^2)^{{-1/2}}"),
                }
            }
            Expression::Binary(operator, a, b) => {
                let (left, right) = (write(a), write(b));
                is_sum = matches!(operator, Operator::Add | Operator::Subtract);
                match operator {
                    Operator::Add => match right.text.strip_prefix('-') {
                        Some(term) => format!("{} - {term}", left.text),
                        None => format!("{} + {}", left.text, right.text),
                    },
                    Operator::Subtract => match b.number() {
                        v if v < 0.0 => format!("{} + {}", left.text, self.plain_number(-v)),
                        _ => format!("{} - {}", left.text, right.operand()),
                    },
                    Operator::Multiply if a == b => match a.variable() {
                        Some(Variable::Difference) => format!("\\Bigl({}\\Bigr)^2", left.text),
                        _ => format!("{}^2", left.factor()),
                    },
                    // The factors of scaled inputs are the inverse of what they are scaled by.
                    Operator::Multiply if !b.number().is_nan() => {
                        format!("{} / {}", left.factor(), self.number(1.0 / b.number()))
                    }
                    Operator::Multiply => format!("{}\\, {}", left.factor(), right.operand()),
                    Operator::Divide => format!("{} / {}", left.factor(), right.factor()),
                    Operator::Min => format!("\\min({}, {})", left.text, right.text),
                    Operator::Max => format!("\\max({}, {})", left.text, right.text),
                }
            }
            Expression::Affine { .. } => return self.write(&expression.expanded(), names),
            Expression::Let { name, value, body } => {
                let value = write(value).text;
                let unique = match names.lines.len() {
                    0 => (*name).to_owned(),
                    count => format!("{name}_{{{}}}", count + 1),
                };
                names.lines.push(format!("{unique} &= {value}"));
                names.scope.push((name, unique));
                let text = self.write(body, names).text;
                names.scope.pop();
                text
            }
            Expression::Capped(value, _) | Expression::WithSlope { value, .. } => {
                return self.write(value, names);
            }
        };
        Text { text, is_sum }
    }

    /// A number of the formula itself is short, one that was fitted is rounded.
    fn plain_number(&self, value: f64) -> String {
        let short = format!("{value}");
        match short.len() <= 4 {
            true => short,
            false => self.number(value),
        }
    }

    fn variable(&self, variable: Variable, names: &Names) -> String {
        match variable {
            Variable::Input(j) => format!("\\text{{{}}}", escaped(&self.formula.inputs[j])),
            Variable::Column(j) => format!("u_{{{}}}", j + 1),
            Variable::Reduction(i) => format!("q_{{{}}}", i + 1),
            Variable::Difference => DIFFERENCE.into(),
            Variable::Share => "c".into(),
            Variable::Sum(o) => format!("s_{{{}}}", o + 1),
            Variable::Named(name) => {
                let known = names.scope.iter().rev().find(|(known, _)| *known == name);
                known.map_or(name.into(), |(_, unique)| unique.clone())
            }
        }
    }
}

/// Stands for the difference on an axis until this is known.
const DIFFERENCE: &str = "\u{394}";

impl Text {
    /// The text as the first factor of a product.
    fn factor(&self) -> String {
        match self.is_sum {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// The text behind an operator.
    fn operand(&self) -> String {
        match self.is_sum || self.text.starts_with('-') {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }
}
