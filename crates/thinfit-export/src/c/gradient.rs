//! The C function that computes the gradient, from the derivatives of the expressions: of the results in the sums, of the functions
//! in the reductions, of these in the columns, and of the columns in the inputs.

use super::sums::{push_difference, push_reduction};
use super::{C, InLoop, each_row, push_assigned, push_named};
use crate::expression::{Expression, Variable};
use crate::formula::{Formula, Operation, Reduction};
use crate::notation::Code;

/// The function `name_gradient`.
pub(super) fn function(formula: &Formula<'_>, c: &C, name: &str) -> Code {
    let mut code = Code::default();
    let slopes = results(formula);
    let needs_sums = slopes
        .iter()
        .flatten()
        .any(|slope| slope.contains(&|variable| matches!(variable, Variable::Sum(_))));
    code.line(format!(
        "
void {name}_gradient(const double *row, double *g, size_t rows)
{{
    double x[COLUMNS][BLOCK], slopes[OUTPUTS][COLUMNS][BLOCK];"
    ));
    code.indented(4, |code| {
        if needs_sums {
            code.line("double sum[OUTPUTS][BLOCK];");
        }
        code.line("while (rows > 0) {");
        code.indented(4, |code| {
            code.line("const int count = rows < BLOCK ? (int)rows : BLOCK;");
            code.line("load(row, rows, x);");
            if needs_sums {
                code.line("sums(x, sum);");
            }
            code.line("memset(slopes, 0, sizeof slopes);");
            code.line("for (int l = 0; l < ROWS; l++) {");
            code.indented(4, |code| push_row(code, formula, c));
            code.line("}");
            push_derived(code, formula, c);
            code.line("for (int k = 0; k < count; k++) {");
            code.indented(4, |code| push_results(code, formula, c, &slopes));
            code.line("}");
            code.line("row += count * INPUTS;");
            code.line("g += count * OUTPUTS * INPUTS;");
            code.line("rows -= (size_t)count;");
        });
        code.line("}");
    });
    code.line("}");
    code
}

/// The derivatives of each output in each sum.
fn results(formula: &Formula<'_>) -> Vec<Vec<Expression>> {
    let sums = || (0..formula.constants.len()).map(Variable::Sum);
    let of = |result: &Expression| sums().map(|sum| result.derivative(sum)).collect();
    formula.results.iter().map(of).collect()
}

/// Adds the slopes of the row `p` with the weights `a`.
fn push_row(code: &mut Code, formula: &Formula<'_>, c: &C) {
    code.line("const double *p = numbers[l], *a = weights[l];");
    code.line("double d[BLOCK];");
    let of_axes = formula.reductions.iter().any(|r| !r.axes().is_empty());
    // The slopes of one output have its weight from the start, those of several get theirs together.
    let apart = of_axes && formula.outputs.len() > 1;
    let target = if apart { "slope" } else { "slopes[0]" };
    if apart {
        code.line("double slope[COLUMNS][BLOCK];");
    }
    let count = formula.reductions.len();
    let derivatives: Vec<Vec<Expression>> = (formula.functions.iter())
        .map(|function| {
            (0..count)
                .map(|i| function.derivative(Variable::Reduction(i)))
                .collect()
        })
        .collect();
    for (i, reduction) in formula.reductions.iter().enumerate() {
        let own = |variable| variable == Variable::Reduction(i);
        if derivatives
            .iter()
            .flatten()
            .any(|slope| slope.contains(&own))
        {
            code.line(format!("double q_{i}[BLOCK];"));
            push_reduction(code, c, i, reduction);
        }
    }
    for (f, derivatives) in derivatives.into_iter().enumerate() {
        if apart {
            code.line("memset(slope, 0, sizeof slope);");
        }
        for (i, outer) in derivatives.into_iter().enumerate() {
            match &formula.reductions[i] {
                _ if outer.is_zero() => {}
                Reduction::Inner => {
                    push_outer(code, c, &outer, None);
                    code.line(format!(
                        "for (int o = 0; o < OUTPUTS; o++)
                    for (int j = 0; j < INPUTS; j++)
                        for (int k = 0; k < BLOCK; k++)
                            slopes[o][j][k] += a[{f} * OUTPUTS + o] * p[1 + j] * d[k];"
                    ));
                }
                Reduction::OverAxes {
                    operation,
                    axes,
                    each,
                } => {
                    // Numbers go to the factor, which is computed once for all axes.
                    let (factor, rest) = each.derivative(Variable::Difference).factored();
                    let (outer_factor, outer) = outer.factored();
                    let factor = (factor * outer_factor).clamp(-f64::MAX, f64::MAX);
                    push_outer(code, c, &(factor.abs() * outer), (!apart).then_some(f));
                    let sign = if factor < 0.0 { "-=" } else { "+=" };
                    let column = format!("{target}[axes_{i}[j]][k] {sign}");
                    let operation = (*operation, axes.len());
                    push_axes(code, &c.in_loop(i), operation, (each, &rest), &column);
                }
            }
        }
        if apart {
            code.line(format!(
                "for (int o = 0; o < OUTPUTS; o++)
                for (int j = 0; j < COLUMNS; j++)
                    for (int k = 0; k < BLOCK; k++)
                        slopes[o][j][k] += a[{f} * OUTPUTS + o] * slope[j][k];"
            ));
        }
    }
}

/// Computes `d`, the derivative of a function in a reduction, times the weight of a function.
fn push_outer(code: &mut Code, c: &C, outer: &Expression, weight: Option<usize>) {
    each_row(code, |code| {
        push_assigned(code, &c.in_loop(0), "d[k] =", outer);
        if let Some(f) = weight {
            code.line(format!("d[k] *= a[{f}];"));
        }
    });
}

/// Adds `d` times the slopes of a reduction over axes to a `column`, from the value on an axis and its slope.
fn push_axes(
    code: &mut Code,
    notation: &InLoop<'_>,
    (operation, count): (Operation, usize),
    (each, rest): (&Expression, &Expression),
    column: &str,
) {
    let i = notation.reduction;
    if operation == Operation::Sum {
        code.line(format!("for (int j = 0; j < {count}; j++)"));
        code.indented(4, |code| {
            each_row(code, |code| {
                push_difference(code, i);
                let value = push_named(code, notation, rest);
                code.line(format!("{column} d[k] * ({value}) * inverse_{i}[j];"));
            });
        });
        return;
    }
    // The value on each axis and its slope are computed together, since they have much in common.
    code.line("{");
    code.indented(4, |code| {
        code.line("double kappa[AXES][BLOCK], bend[AXES][BLOCK];");
        code.line(format!("for (int j = 0; j < {count}; j++)"));
        code.indented(4, |code| {
            each_row(code, |code| {
                push_difference(code, i);
                push_assigned(code, notation, "kappa[j][k] =", each);
                let value = push_named(code, notation, rest);
                code.line(format!("bend[j][k] = ({value}) * inverse_{i}[j];"));
            });
        });
        code.lines(match operation {
            Operation::Symmetric(order) => symmetric(order, count, column),
            _ => product(count, column),
        });
    });
    code.line("}");
}

/// Adds the slopes of a product to a column: all values before an axis, times all after it, which are multiplied into d from the
/// last one on.
fn product(count: usize, column: &str) -> String {
    format!(
        "\
double before[AXES + 1][BLOCK];
for (int k = 0; k < BLOCK; k++)
    before[0][k] = 1.0;
for (int j = 0; j < {count}; j++)
    for (int k = 0; k < BLOCK; k++)
        before[j + 1][k] = before[j][k] * kappa[j][k];
for (int j = {count} - 1; j >= 0; j--)
    for (int k = 0; k < BLOCK; k++) {{
        {column} before[j][k] * d[k] * bend[j][k];
        d[k] *= kappa[j][k];
    }}"
    )
}

/// The same of a symmetric polynomial, backwards through e_p = e_p + kappa e_(p-1).
fn symmetric(order: usize, count: usize, column: &str) -> String {
    format!(
        "\
double before[AXES + 1][{order} + 1][BLOCK], adjoint[{order} + 1][BLOCK];
for (int o = 0; o <= {order}; o++)
    for (int k = 0; k < BLOCK; k++) {{
        before[0][o][k] = o == 0 ? 1.0 : 0.0;
        adjoint[o][k] = o == {order} ? d[k] : 0.0;
    }}
for (int j = 0; j < {count}; j++) {{
    for (int k = 0; k < BLOCK; k++)
        before[j + 1][0][k] = 1.0;
    for (int o = 1; o <= {order}; o++)
        for (int k = 0; k < BLOCK; k++)
            before[j + 1][o][k] = before[j][o][k] + kappa[j][k] * before[j][o - 1][k];
}}
for (int j = {count} - 1; j >= 0; j--)
    for (int o = 1; o <= {order}; o++) {{
        for (int k = 0; k < BLOCK; k++)
            {column} adjoint[o][k] * before[j][o - 1][k] * bend[j][k];
        for (int k = 0; k < BLOCK && o > 1; k++)
            adjoint[o - 1][k] += kappa[j][k] * adjoint[o][k];
    }}"
    )
}

/// Brings the slopes in derived columns to the scaled inputs.
fn push_derived(code: &mut Code, formula: &Formula<'_>, c: &C) {
    for (e, derived) in formula.derived.iter().enumerate() {
        for j in 0..formula.scaled.len() {
            let slope = derived.derivative(Variable::Column(j));
            if slope.is_zero() {
                continue;
            }
            let from = formula.scaled.len() + e;
            each_row(code, |code| {
                push_assigned(code, &c.in_loop(0), "const double factor =", &slope);
                code.line("for (int o = 0; o < OUTPUTS; o++)");
                code.line(format!(
                    "    slopes[o][{j}][k] += slopes[o][{from}][k] * factor;"
                ));
            });
        }
    }
}

/// Writes the gradient of row `k`.
fn push_results(code: &mut Code, formula: &Formula<'_>, c: &C, slopes: &[Vec<Expression>]) {
    let notation = c.in_loop(0);
    code.line("const double lost = unusable(row + k * INPUTS);");
    code.line("double inner[INPUTS];");
    for (j, scaled) in formula.scaled.iter().enumerate() {
        let slope = scaled.derivative(Variable::Input(j));
        push_assigned(code, &notation, &format!("inner[{j}] ="), &slope);
    }
    for (o, slopes) in slopes.iter().enumerate() {
        code.line("{");
        code.indented(4, |code| {
            let mut terms = Vec::new();
            for (s, slope) in slopes
                .iter()
                .enumerate()
                .filter(|(_, slope)| !slope.is_zero())
            {
                let target = format!("const double outer_{s} =");
                push_assigned(code, &notation, &target, slope);
                terms.push(format!("outer_{s} * slopes[{s}][j][k]"));
            }
            if terms.is_empty() {
                terms.push("0.0".into());
            }
            code.line("for (int j = 0; j < INPUTS; j++)");
            code.line(format!(
                "    g[(k * OUTPUTS + {o}) * INPUTS + j] = inner[j] * ({}) + lost;",
                terms.join(" + ")
            ));
        });
        code.line("}");
    }
}
