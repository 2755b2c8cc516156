//! A network as a formula: its terms by falling weight.

use super::Latex;
use super::number::signed;
use crate::expression::{Expression, Function, Variable};
use std::f64::consts::TAU;

/// Products per line of a formula.
const PER_LINE: usize = 5;

/// The formula of each output.
pub(super) fn outputs(latex: &Latex<'_>) -> Vec<String> {
    let outputs = 0..latex.formula.outputs.len();
    outputs.map(|o| output(latex, o)).collect()
}

/// The formula of output `o`, the constant first.
fn output(latex: &Latex<'_>, o: usize) -> String {
    let (formula, name) = (latex.formula, latex.output(o));
    let (start, constant, scale) = match formula.results[o].affine_in(Variable::Sum(o)) {
        Some((constant, scale)) => (name, constant, scale),
        None => {
            let result = latex.plain(&formula.results[o]);
            let start = format!("{name} ={{}}& {result}, \\\\\ns_{{{}}}", o + 1);
            (start, 0.0, 1.0)
        }
    };
    let number = |value: f64| latex.number(value);
    let constant = number(scale.mul_add(formula.constants[o], constant));
    let mut text = format!("{start}\n={{}}& {constant}");
    for (amplitude, offset, w) in terms(latex, o, scale) {
        let mut argument = number(offset);
        for (j, w) in w.iter().enumerate() {
            if j > 0 && j % PER_LINE == 0 {
                argument.push_str(" \\\\\n&\\qquad");
            }
            argument += &format!(" {}\\,u_{{{}}}", signed(*w, &number), j + 1);
        }
        let function = latex.plain(&formula.functions[0]);
        let function = function.replace("q_{1}", &argument);
        text += &format!(" \\\\\n&{} {function}", signed(amplitude, &number));
    }
    text
}

/// (weight, offset, w) of every neuron for output `o`, in the units of the output, the largest weight first.
fn terms<'a>(latex: &Latex<'a>, o: usize, scale: f64) -> Vec<(f64, f64, &'a [f64])> {
    let (table, c) = (&latex.formula.table, latex.formula.outputs.len());
    let is_pair = matches!(
        latex.formula.functions[..],
        [
            Expression::Call(Function::Cosine, _),
            Expression::Call(Function::Sine, _)
        ]
    );
    let rows = table.numbers.iter().zip(&table.weights);
    let mut terms: Vec<_> = rows
        .map(|(p, weights)| match is_pair {
            // A cos 2πt + B sin 2πt = |A + iB| cos 2π(t − arg(A + iB)/2π).
            true => {
                let (a, b) = (weights[o], weights[c + o]);
                (scale * a.hypot(b), p[0] - b.atan2(a) / TAU, &p[1..])
            }
            false => (scale * weights[o], p[0], &p[1..]),
        })
        .collect();
    terms.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    terms
}
