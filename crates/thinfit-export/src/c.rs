//! A model as C99 without dependencies: one source file and its header, for C and for C++.
//!
//! Rows are processed in blocks, in loops that compilers vectorise. Cosine, exponential and square root are polynomials after an
//! exact reduction of the argument, so that these loops call no library function. Warped inputs need `asinh` of the library, once
//! per row.

mod gradient;
mod header;
mod sums;

use crate::expression::{Expression, Function, Operator, Variable};
use crate::formula::Formula;
use crate::name::identifier;
use crate::notation::{Code, Notation, Text, numbers, written};
use std::cell::RefCell;
use std::collections::BTreeSet;
use thinfit::LARGEST_NUMBER;
use thinfit_methods::Predictor;

/// A source file and its header.
#[derive(Clone, Debug, PartialEq)]
pub struct CSource {
    /// The identifier; the files must be called `name.h` and `name.c`.
    pub name: String,
    /// Declarations of `name` and `name_gradient`.
    pub header: String,
    /// Their definitions; includes `name.h`.
    pub source: String,
}

/// Functions `void name(const double *x, double *y, size_t rows)`, from rows × d to rows × c numbers, row-major, and
/// `name_gradient`, to rows × c × d; `name` is made an [`identifier`].
pub fn c(model: &Predictor, name: &str) -> CSource {
    source(&Formula::new(model), name)
}

pub(crate) fn source(formula: &Formula<'_>, name: &str) -> CSource {
    let name = identifier(name);
    let c = C::default();
    let functions = [load, sums::functions, gradient::function];
    let functions = functions.map(|function| function(formula, &c, &name).text);
    CSource {
        header: header::header(formula, &name),
        source: beginning(formula, &c.used.into_inner(), &name) + &functions.concat(),
        name,
    }
}

/// Functions that the source may have, each before those that need it. They are inline, so that compilers vectorise the loops around
/// them.
const HELPERS: [(&str, &str); 8] = [
    ("exponential", include_str!("c/exponential.c")),
    ("cosine", include_str!("c/cosine.c")),
    ("root", include_str!("c/root.c")),
    (
        "sigmoid",
        "static inline double sigmoid(double t) { return 1.0 / (1.0 + exponential(-t)); }\n",
    ),
    (
        "tangent",
        "/* tanh to 3e-16, absolute */
static inline double tangent(double t) { return 1.0 - 2.0 / (exponential(2.0 * t) + 1.0); }\n",
    ),
    (
        "smaller",
        "static inline double smaller(double a, double b) { return a < b ? a : b; }\n",
    ),
    (
        "larger",
        "static inline double larger(double a, double b) { return a > b ? a : b; }\n",
    ),
    (
        "step",
        "static inline double step(double t) { return t > 0.0 ? 1.0 : 0.0; }\n",
    ),
];

/// Rows of a block: it and its gradient should fit into the first-level cache.
fn block(columns: usize, outputs: usize) -> usize {
    (2048 / (columns * outputs))
        .clamp(8, 64)
        .next_power_of_two()
}

/// The start of the source: sizes, tables and the helpers that are used.
fn beginning(formula: &Formula<'_>, used: &BTreeSet<&str>, name: &str) -> String {
    let (table, c) = (&formula.table, formula.outputs.len());
    let reductions = || formula.reductions.iter();
    let sizes = [
        ("BLOCK", block(formula.columns(), c)),
        ("INPUTS", formula.scaled.len()),
        ("COLUMNS", formula.columns()),
        ("OUTPUTS", c),
        ("ROWS", table.numbers.len()),
        ("NUMBERS", table.numbers.first().map_or(1, Vec::len)),
        ("WEIGHTS", c * formula.functions.len()),
        (
            "AXES",
            reductions().map(|r| r.axes().len()).max().unwrap_or(0),
        ),
    ];
    let sizes = sizes.map(|(name, size)| format!("{name} = {size}"));
    let mut text = format!(
        "#include \"{name}.h\"\n#include <math.h>\n#include <stdint.h>\n#include <string.h>\n
#ifdef __FAST_MATH__
#error \"this file rounds by adding a large number, which -ffast-math takes out\"
#endif

enum {{ {} }};
",
        sizes.join(", ")
    );
    for (what, name, columns, rows) in [
        (
            "numbers of each row of the model",
            "numbers",
            "NUMBERS",
            &table.numbers,
        ),
        (
            "weights of each row in the outputs",
            "weights",
            "WEIGHTS",
            &table.weights,
        ),
    ] {
        text += &format!("\n/* {what} */\nstatic const double {name}[ROWS][{columns}] = {{\n");
        text.extend(
            rows.iter()
                .map(|row| format!("    {{{}}},\n", numbers(row))),
        );
        text += "};\n";
    }
    for (i, reduction) in reductions()
        .enumerate()
        .filter(|(_, r)| !r.axes().is_empty())
    {
        let axes = reduction.axes().iter();
        let columns: Vec<String> = axes.clone().map(|axis| axis.column.to_string()).collect();
        let inverse: Vec<f64> = axes.clone().map(|axis| axis.inverse).collect();
        text += &format!(
            "\n/* columns and inverse lengths of term {i} */
static const int axes_{i}[] = {{{}}};
static const double inverse_{i}[] = {{{}}};\n",
            columns.join(", "),
            numbers(&inverse)
        );
        if reduction.has_shares() {
            let shares: Vec<f64> = axes.map(|axis| axis.share).collect();
            text += &format!(
                "static const double shares_{i}[] = {{{}}};\n",
                numbers(&shares)
            );
        }
    }
    for (name, helper) in HELPERS {
        let of_others = ["sigmoid", "tangent"]
            .iter()
            .any(|other| used.contains(other));
        if used.contains(name) || name == "exponential" && of_others {
            text += &format!("\n{helper}");
        }
    }
    text
}

/// The functions that check and scale inputs.
fn load(formula: &Formula<'_>, c: &C, _name: &str) -> Code {
    let mut code = Code::default();
    code.line(format!(
        "
/* Zero at a row where thinfit predicts, NaN at one with NaN, an infinity or a number beyond {LARGEST_NUMBER:e}. */
static double unusable(const double *x)
{{
    int j;
    for (j = 0; j < INPUTS; j++)
        if (!(x[j] >= -{LARGEST_NUMBER:e} && x[j] <= {LARGEST_NUMBER:e}))
            return NAN;
    return 0.0;
}}

/* The columns of the next rows, transposed; missing rows are zero. */
static void load(const double *row, size_t rows, double x[COLUMNS][BLOCK])
{{"
    ));
    code.indented(4, |code| {
        for (j, scaled) in formula.scaled.iter().enumerate() {
            let scaled = written(scaled, &c.in_loop(0));
            code.line("for (size_t k = 0; k < BLOCK; k++)");
            code.line(format!("    x[{j}][k] = k < rows ? {scaled} : 0.0;"));
        }
        for (e, derived) in formula.derived.iter().enumerate() {
            let place = format!("x[{}][k]", formula.scaled.len() + e);
            each_row(code, |code| {
                push_assigned(code, &c.in_loop(0), &format!("{place} ="), derived);
            });
        }
    });
    code.line("}");
    code
}

/// A loop over the rows of a block.
fn each_row(code: &mut Code, statements: impl FnOnce(&mut Code)) {
    code.line("for (int k = 0; k < BLOCK; k++) {");
    code.indented(4, statements);
    code.line("}");
}

/// `target` and the value of an expression.
fn push_assigned(code: &mut Code, notation: &InLoop<'_>, target: &str, value: &Expression) {
    let value = push_named(code, notation, value);
    code.line(format!("{target} {value};"));
}

/// Writes the named values of an expression; returns the rest.
fn push_named(code: &mut Code, notation: &InLoop<'_>, value: &Expression) -> String {
    code.push_named(value, notation, &|name, value| {
        format!("const double {name} = {value};")
    })
}

/// How expressions are written, and which helpers they have needed so far.
#[derive(Default)]
struct C {
    used: RefCell<BTreeSet<&'static str>>,
}

impl C {
    /// The notation in a loop over rows `k`, inside the axes `j` of a reduction.
    fn in_loop(&self, reduction: usize) -> InLoop<'_> {
        InLoop { c: self, reduction }
    }

    fn helper(&self, name: &'static str) -> &'static str {
        self.used.borrow_mut().insert(name);
        name
    }
}

struct InLoop<'a> {
    c: &'a C,
    reduction: usize,
}

impl Notation for InLoop<'_> {
    fn variable(&self, variable: Variable) -> String {
        match variable {
            Variable::Input(j) => format!("row[k * INPUTS + {j}]"),
            Variable::Column(j) => format!("x[{j}][k]"),
            Variable::Reduction(i) => format!("q_{i}[k]"),
            Variable::Difference => "t".into(),
            Variable::Share => format!("shares_{}[j]", self.reduction),
            Variable::Sum(o) => format!("sum[{o}][k]"),
            Variable::Named(name) => name.into(),
        }
    }

    fn call(&self, function: Function, argument: &Text) -> String {
        let (plain, operand) = (argument.plain(), argument.operand());
        let helper = |name| format!("{}({plain})", self.c.helper(name));
        match function {
            Function::Negative => format!("(-{operand})"),
            Function::Exp => helper("exponential"),
            Function::Sqrt => helper("root"),
            Function::Cosine => helper("cosine"),
            Function::Sine => format!("{}({operand} - 0.25)", self.c.helper("cosine")),
            Function::Sigmoid => helper("sigmoid"),
            Function::Tanh => helper("tangent"),
            Function::Positive => self.extreme(Operator::Max, plain, "0.0"),
            Function::Step => helper("step"),
            Function::Asinh => format!("asinh({plain})"),
            Function::AsinhSlope => format!("(1.0 / hypot(1.0, {plain}))"),
        }
    }

    fn extreme(&self, operator: Operator, a: &str, b: &str) -> String {
        let helper = match operator {
            Operator::Min => "smaller",
            _ => "larger",
        };
        format!("{}({a}, {b})", self.c.helper(helper))
    }
}
