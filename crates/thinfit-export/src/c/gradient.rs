//! The C function that computes the gradient, from the derivatives of the expressions: of the results in the sums, of the functions
//! in the reductions, of these in the columns, and of the columns in the inputs.

use super::sums::{push_difference, push_reduction};
use super::{C, each_row, push_assigned, push_named};
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
        code.line("int k, l, o;");
        code.line("while (rows > 0) {");
        code.indented(4, |code| {
            code.line("const int count = rows < BLOCK ? (int)rows : BLOCK;");
            code.line("load(row, rows, x);");
            if needs_sums {
                code.line("sums(x, sum);");
            }
            code.line("memset(slopes, 0, sizeof slopes);");
            code.line("for (l = 0; l < ROWS; l++) {");
            code.indented(4, |code| push_row(code, formula, c));
            code.line("}");
            push_derived(code, formula, c);
            code.line("for (k = 0; k < count; k++) {");
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
    if of_axes {
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
        if of_axes {
            code.line("memset(slope, 0, sizeof slope);");
        }
        for (i, outer) in derivatives.into_iter().enumerate() {
            match &formula.reductions[i] {
                _ if outer.is_zero() => {}
                Reduction::Inner => {
                    push_outer(code, c, &outer);
                    code.line(format!(
                        "for (o = 0; o < OUTPUTS; o++)
                    for (int j = 0; j < INPUTS; j++)
                        for (k = 0; k < BLOCK; k++)
                            slopes[o][j][k] += a[{f} * OUTPUTS + o] * p[1 + j] * d[k];"
                    ));
                }
                Reduction::OverAxes {
                    operation,
                    axes,
                    each,
                } => push_axes(code, c, i, (*operation, axes.len()), (outer, each)),
            }
        }
        if of_axes {
            code.line(format!(
                "for (o = 0; o < OUTPUTS; o++)
                for (int j = 0; j < COLUMNS; j++)
                    for (k = 0; k < BLOCK; k++)
                        slopes[o][j][k] += a[{f} * OUTPUTS + o] * slope[j][k];"
            ));
        }
    }
}

/// Computes `d`, the derivative of a function in a reduction.
fn push_outer(code: &mut Code, c: &C, outer: &Expression) {
    each_row(code, |code| {
        push_assigned(code, &c.in_loop(0), "d[k] =", outer)
    });
}

/// Adds the slopes of a reduction over axes, times its factor `outer`, to `slope`.
fn push_axes(
    code: &mut Code,
    c: &C,
    i: usize,
    (operation, count): (Operation, usize),
    (outer, each): (Expression, &Expression),
) {
    // Numbers go to the factor, which is computed once for all axes.
    let (factor, rest) = each.derivative(Variable::Difference).factored();
    let (outer_factor, outer) = outer.factored();
    push_outer(code, c, &(factor * outer_factor * outer));
    let all_axes = format!("for (int j = 0; j < {count}; j++) {{");
    let from_last = format!("for (int j = {count} - 1; j >= 0; j--) {{");
    let add = |code: &mut Code, others: &str| {
        push_difference(code, i);
        let value = push_named(code, &c.in_loop(i), &rest);
        code.line(format!(
            "slope[axes_{i}[j]][k] += {others} * ({value}) * inverse_{i}[j];"
        ));
    };
    match operation {
        Operation::Sum => {
            code.line(all_axes);
            code.indented(4, |code| each_row(code, |code| add(code, "d[k]")));
            code.line("}");
        }
        // All values before an axis, times all after it: these are multiplied into d from the last one on.
        Operation::Product => {
            code.line("{");
            code.indented(4, |code| {
                code.line("double before[AXES + 1][BLOCK], kappa[AXES][BLOCK];");
                code.line("for (k = 0; k < BLOCK; k++)");
                code.line("    before[0][k] = 1.0;");
                code.line(all_axes);
                code.indented(4, |code| {
                    each_row(code, |code| {
                        push_difference(code, i);
                        push_assigned(code, &c.in_loop(i), "kappa[j][k] =", each);
                        code.line("before[j + 1][k] = before[j][k] * kappa[j][k];");
                    });
                });
                code.line("}");
                code.line(from_last);
                code.indented(4, |code| {
                    each_row(code, |code| {
                        add(code, "before[j][k] * d[k]");
                        code.line("d[k] *= kappa[j][k];");
                    });
                });
                code.line("}");
            });
            code.line("}");
        }
        // Backwards through e_p = e_p + kappa e_(p-1).
        Operation::Symmetric(order) => {
            code.line("{");
            code.indented(4, |code| {
                code.line(format!(
                    "double before[AXES + 1][{order} + 1][BLOCK], adjoint[{order} + 1][BLOCK], kappa[AXES][BLOCK];"
                ));
                code.line(format!("for (o = 0; o <= {order}; o++)"));
                code.indented(4, |code| {
                    each_row(code, |code| {
                        code.line("before[0][o][k] = o == 0 ? 1.0 : 0.0;");
                        code.line(format!("adjoint[o][k] = o == {order} ? d[k] : 0.0;"));
                    });
                });
                code.line(all_axes);
                code.indented(4, |code| {
                    each_row(code, |code| {
                        push_difference(code, i);
                        push_assigned(code, &c.in_loop(i), "kappa[j][k] =", each);
                        code.line("before[j + 1][0][k] = 1.0;");
                    });
                    code.line(format!("for (o = 1; o <= {order}; o++)"));
                    code.line("    for (k = 0; k < BLOCK; k++)");
                    code.line("        before[j + 1][o][k] = before[j][o][k] + kappa[j][k] * before[j][o - 1][k];");
                });
                code.line("}");
                code.line(from_last);
                code.indented(4, |code| {
                    code.line("double others[BLOCK] = {0};");
                    code.line(format!("for (o = 1; o <= {order}; o++)"));
                    code.indented(4, |code| {
                        each_row(code, |code| {
                            code.line("others[k] += adjoint[o][k] * before[j][o - 1][k];");
                            code.line("adjoint[o - 1][k] += kappa[j][k] * adjoint[o][k];");
                        });
                    });
                    each_row(code, |code| add(code, "others[k]"));
                });
                code.line("}");
            });
            code.line("}");
        }
    }
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
                code.line("for (o = 0; o < OUTPUTS; o++)");
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
