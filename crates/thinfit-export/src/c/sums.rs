//! The C function that computes the outputs.

use super::{C, each_row, push_assigned, push_named};
use crate::formula::{Formula, Operation, Reduction};
use crate::notation::{Code, numbers};

/// Products summed in one pass over a block: as many as fit into registers.
const PRODUCTS: usize = 8;

/// The functions `sums` and `name`.
pub(super) fn functions(formula: &Formula<'_>, c: &C, name: &str) -> Code {
    let mut code = Code::default();
    if formula
        .reductions
        .iter()
        .any(|r| matches!(r, Reduction::Inner))
    {
        push_products(&mut code, formula.scaled.len());
    }
    let constants = numbers(&formula.constants);
    code.line(format!(
        "
/* sum[o] = what output o is computed from */
static void sums(double x[COLUMNS][BLOCK], double sum[OUTPUTS][BLOCK])
{{
    static const double constants[OUTPUTS] = {{{constants}}};
    for (int o = 0; o < OUTPUTS; o++)
        for (int k = 0; k < BLOCK; k++)
            sum[o][k] = constants[o];
    for (int l = 0; l < ROWS; l++) {{
        const double *p = numbers[l], *a = weights[l];"
    ));
    code.indented(8, |code| {
        code.line("double phi[BLOCK];");
        for (i, reduction) in formula.reductions.iter().enumerate() {
            code.line(format!("double q_{i}[BLOCK];"));
            push_reduction(code, c, i, reduction);
        }
        for (f, function) in formula.functions.iter().enumerate() {
            each_row(code, |code| {
                push_assigned(code, &c.in_loop(0), "phi[k] =", function);
            });
            code.line("for (int o = 0; o < OUTPUTS; o++)");
            code.line("    for (int k = 0; k < BLOCK; k++)");
            code.line(format!(
                "        sum[o][k] += a[{f} * OUTPUTS + o] * phi[k];"
            ));
        }
    });
    code.line(format!(
        "    }}
}}

void {name}(const double *x, double *y, size_t rows)
{{
    double columns[COLUMNS][BLOCK], sum[OUTPUTS][BLOCK];
    while (rows > 0) {{
        const int count = rows < BLOCK ? (int)rows : BLOCK;
        load(x, rows, columns);
        sums(columns, sum);
        for (int k = 0; k < count; k++) {{
            const double lost = unusable(x + k * INPUTS);"
    ));
    code.indented(12, |code| {
        for (o, result) in formula.results.iter().enumerate() {
            let target = format!("y[k * OUTPUTS + {o}] = lost +");
            let value = push_named(code, &c.in_loop(0), result);
            code.line(format!("{target} ({value});"));
        }
    });
    code.line(
        "        }
        x += count * INPUTS;
        y += count * OUTPUTS;
        rows -= (size_t)count;
    }
}",
    );
    code
}

/// The function that computes p_0 + ⟨p, x⟩ for a block, a few inputs per pass, in their order.
fn push_products(code: &mut Code, d: usize) {
    code.line(
        "
/* q[k] = p[0] + sum over j of p[1 + j] * x[j][k] */
static inline void products(const double *p, double x[COLUMNS][BLOCK], double q[BLOCK])
{",
    );
    for start in (0..d).step_by(PRODUCTS) {
        let first = if start == 0 { "p[0]" } else { "q[k]" };
        let terms: String = (start..d.min(start + PRODUCTS))
            .map(|j| format!(" + p[{}] * x[{j}][k]", j + 1))
            .collect();
        code.line("    for (int k = 0; k < BLOCK; k++)");
        code.line(format!("        q[k] = {first}{terms};"));
    }
    code.line("}");
}

/// Statements that compute `q_i`.
pub(super) fn push_reduction(code: &mut Code, c: &C, i: usize, reduction: &Reduction) {
    let Reduction::OverAxes {
        operation,
        axes,
        each,
    } = reduction
    else {
        code.line(format!("products(p, x, q_{i});"));
        return;
    };
    let count = axes.len();
    let start = if *operation == Operation::Sum {
        0.0
    } else {
        1.0
    };
    match operation {
        Operation::Symmetric(order) => {
            // e[order] is the result.
            code.line(format!("double e_{i}[{order} + 1][BLOCK];"));
            code.line(format!("for (int o = 0; o <= {order}; o++)"));
            code.line("    for (int k = 0; k < BLOCK; k++)");
            code.line(format!("        e_{i}[o][k] = o == 0 ? 1.0 : 0.0;"));
        }
        _ => {
            code.line("for (int k = 0; k < BLOCK; k++)");
            code.line(format!("    q_{i}[k] = {start:?};"));
        }
    }
    code.line(format!("for (int j = 0; j < {count}; j++) {{"));
    code.indented(4, |code| {
        if let Operation::Symmetric(_) = operation {
            code.line("double kappa[BLOCK];");
        }
        each_row(code, |code| {
            push_difference(code, i);
            let target = match operation {
                Operation::Sum => format!("q_{i}[k] +="),
                Operation::Product => format!("q_{i}[k] *="),
                Operation::Symmetric(_) => "kappa[k] =".into(),
            };
            push_assigned(code, &c.in_loop(i), &target, each);
        });
        if let Operation::Symmetric(order) = operation {
            code.line(format!("for (int o = {order}; o > 0; o--)"));
            code.line("    for (int k = 0; k < BLOCK; k++)");
            code.line(format!(
                "        e_{i}[o][k] += kappa[k] * e_{i}[o - 1][k];"
            ));
        }
    });
    code.line("}");
    if let Operation::Symmetric(order) = operation {
        code.line("for (int k = 0; k < BLOCK; k++)");
        code.line(format!("    q_{i}[k] = e_{i}[{order}][k];"));
    }
}

/// The difference `t` in lengths on axis `j` of reduction `i`.
pub(super) fn push_difference(code: &mut Code, i: usize) {
    code.line(format!(
        "const double t = (x[axes_{i}[j]][k] - p[axes_{i}[j]]) * inverse_{i}[j];"
    ));
}
