//! A model as C99 without dependencies: one source file and its header, for C and for C++.
//!
//! Rows are processed in blocks, in loops that compilers vectorise. Cosine and exponential are polynomials after an exact
//! reduction of the argument, so that these loops call no library function. Warped inputs need `asinh` of the library,
//! once per row.

use crate::kernels;
use crate::name::{identifier, levels, listed, remark};
use std::fmt::Write;
use thinfit::{Evaluator, Feature, LARGEST_NUMBER, Model, Record, Scaler};
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

/// Products summed in one pass over a block: as many as fit into registers.
const PRODUCTS: usize = 8;

/// Functions `void name(const double *x, double *y, size_t rows)`, from rows × d to rows × c numbers, row-major, and
/// `name_gradient`, to rows × c × d; `name` is made an [`identifier`].
pub fn c(model: &Predictor, name: &str) -> CSource {
    let name = identifier(name);
    let (header, source) = match model {
        Predictor::Network(model) => files(model, &name),
        Predictor::Kernel(model) => kernels::c::files(model, &name),
    };
    CSource {
        name,
        header,
        source,
    }
}

fn files(model: &Model, name: &str) -> (String, String) {
    let what = crate::described(model);
    let scaler = &model.input_scaler;
    let columns = (&model.inputs[..], &model.outputs[..]);
    let header = header(name, &what, &model.record, scaler, columns);
    (header, source(&model.evaluator(), scaler, name))
}

/// The header of the function `name`, which computes `what`, with the scaling of its inputs and the names of inputs and
/// outputs.
pub(crate) fn header(
    name: &str,
    what: &str,
    record: &Record,
    scaler: &Scaler,
    (inputs, outputs): (&[String], &[String]),
) -> String {
    let (d, c) = (inputs.len(), outputs.len());
    let guard = name.to_uppercase();
    format!(
        "/* {name}: {what}, fitted to {samples} samples by
   thinfit {version}.

   inputs:  {inputs}
   outputs: {outputs}{levels}

   Results agree with thinfit's up to rounding. Compile with -O3, and with -march=native if the program runs on this
   machine only; never with -ffast-math.{library} */
#ifndef {guard}_H
#define {guard}_H

#include <stddef.h>

#ifdef __cplusplus
extern \"C\" {{
#endif

/* Numbers in a row of x and in a row of y. */
enum {{ {guard}_INPUTS = {d}, {guard}_OUTPUTS = {c} }};

/* y[r][o] = f_o(x[r]) for the given number of rows: x is rows * {d} numbers, y rows * {c}, row by row. A row with NaN or an
   infinity gives NaN, here and in the gradient. */
void {name}(const double *x, double *y, size_t rows);

/* g[r][o][j] = df_o/dx_j at x[r]: g is rows * {c} * {d} numbers. */
void {name}_gradient(const double *x, double *g, size_t rows);

#ifdef __cplusplus
}}
#endif

#endif
",
        samples = record.samples,
        version = remark(&record.version),
        inputs = listed(inputs),
        outputs = listed(outputs),
        levels = levels(inputs, "\n\n   "),
        library = match scaler.warp.is_empty() {
            true => "",
            false => " Link with -lm, for asinh.",
        },
    )
}

/// Rows of a block: it and its gradient should fit into the first-level cache.
pub(crate) fn block(d: usize, c: usize) -> usize {
    (2048 / (d * c)).clamp(8, 64).next_power_of_two()
}

/// The start of a source file, with the `sizes` that it declares.
pub(crate) fn head(name: &str, includes: &str, sizes: &str) -> String {
    format!(
        "#include \"{name}.h\"\n#include <math.h>\n{includes}
#ifdef __FAST_MATH__
#error \"this file rounds by adding a large number, which -ffast-math takes out\"
#endif

enum {{ {sizes} }};

"
    )
}

/// Appends a table of constants.
pub(crate) fn table(
    text: &mut String,
    what: &str,
    name: &str,
    [count, columns]: [&str; 2],
    rows: impl Iterator<Item = impl AsRef<[f64]>>,
) {
    let _ = writeln!(
        text,
        "/* {what} */\nstatic const double {name}[{count}][{columns}] = {{"
    );
    for row in rows {
        let row: Vec<String> = row.as_ref().iter().map(|v| format!("{v:?}")).collect();
        let _ = writeln!(text, "    {{{}}},", row.join(", "));
    }
    text.push_str("};\n\n");
}

fn source(network: &Evaluator, scaler: &Scaler, name: &str) -> String {
    let (d, c, n) = (
        network.inputs.len(),
        network.outputs.len(),
        network.neurons().len(),
    );
    let planes = if network.feature == Feature::Pair {
        2
    } else {
        1
    };
    let includes = match network.feature {
        Feature::Sigmoid | Feature::Tanh => "#include <stdint.h>\n#include <string.h>\n",
        _ => "",
    };
    let sizes = format!(
        "BLOCK = {}, INPUTS = {d}, NEURONS = {n}, OUTPUTS = {c}, PLANES = {planes}",
        block(d, c)
    );
    let mut text = head(name, includes, &sizes);
    let inputs: Vec<&[f64]> = network.inputs.iter().map(|v| &v[..]).collect();
    let outputs: Vec<&[f64]> = network.outputs.iter().map(|v| &v[..]).collect();
    let (hidden, output): (Vec<&[f64]>, Vec<&[f64]>) = network.neurons().unzip();
    for (what, name, size, rows) in [
        (
            "shift and factor of every input",
            "inputs",
            ["INPUTS", "2"],
            inputs,
        ),
        (
            "bias, shift and scale of every output",
            "outputs",
            ["OUTPUTS", "3"],
            outputs,
        ),
        (
            "offset and weights of every neuron",
            "hidden",
            ["NEURONS", "1 + INPUTS"],
            hidden,
        ),
        (
            "output weights of every neuron",
            "weights",
            ["NEURONS", "PLANES * OUTPUTS"],
            output,
        ),
    ] {
        table(&mut text, what, name, size, rows.into_iter());
    }
    text.push_str(feature(network.feature));
    text.push_str(&products(d));
    let (values, slopes) = bodies(planes);
    let own = Derived::default();
    let frame = (name, "NEURONS", &own);
    text.push_str(&functions(frame, scaler, &values, &slopes));
    text
}

/// Macros for Φ and Φ′ of every plane.
fn feature(feature: Feature) -> &'static str {
    match feature {
        Feature::Cosine => concat!(
            include_str!("cosine.c"),
            "
#define VALUE_0(t) cosine(t)
#define SLOPE_0(t) (6.283185307179586 * cosine((t) + 0.25))
"
        ),
        Feature::Pair => concat!(
            include_str!("cosine.c"),
            "
#define VALUE_0(t) cosine(t)
#define SLOPE_0(t) (6.283185307179586 * cosine((t) + 0.25))
#define VALUE_1(t) cosine((t) - 0.25)
#define SLOPE_1(t) (6.283185307179586 * cosine(t))
"
        ),
        Feature::Sigmoid => concat!(
            include_str!("exponential.c"),
            "
static double sigmoid(double t) { return 1.0 / (1.0 + exponential(-t)); }

#define VALUE_0(t) sigmoid(t)
#define SLOPE_0(t) (sigmoid(t) * sigmoid(-(t)))
"
        ),
        Feature::Tanh => concat!(
            include_str!("exponential.c"),
            "
/* to 3e-16, absolute */
static double tangent(double t) { return 1.0 - 2.0 / (exponential(2.0 * t) + 1.0); }

#define VALUE_0(t) tangent(t)
#define SLOPE_0(t) (1.0 - tangent(t) * tangent(t))
"
        ),
        Feature::Relu => {
            "
#define VALUE_0(t) ((t) > 0.0 ? (t) : 0.0)
#define SLOPE_0(t) ((t) > 0.0 ? 1.0 : 0.0)
"
        }
    }
}

/// The function that computes t = offset + ⟨w, x⟩ for a block, a few inputs per pass, in their order.
fn products(d: usize) -> String {
    let mut text = String::from(
        "
/* t[k] = w[0] + sum over j of w[1 + j] * x[j][k] */
static void products(const double *w, double x[INPUTS][BLOCK], double t[BLOCK])
{
    int k;
",
    );
    for start in (0..d).step_by(PRODUCTS) {
        let first = if start == 0 { "w[0]" } else { "t[k]" };
        let terms: String = (start..d.min(start + PRODUCTS))
            .map(|j| format!(" + w[{}] * x[{j}][k]", j + 1))
            .collect();
        let _ = writeln!(
            text,
            "    for (k = 0; k < BLOCK; k++)\n        t[k] = {first}{terms};"
        );
    }
    text.push_str("}\n");
    text
}

/// How the inputs are scaled: definitions, and the expressions that use them.
struct ScaledInputs {
    definitions: String,
    /// Input j of row k before shift and factor.
    value: &'static str,
    /// The derivative of the scaled input.
    slope: &'static str,
}

impl ScaledInputs {
    fn of(scaler: &Scaler) -> Self {
        if scaler.warp.is_empty() {
            return ScaledInputs {
                definitions: String::new(),
                value: "x[k * INPUTS + j]",
                slope: "inputs[j][1]",
            };
        }
        let rows: String = (scaler.warp.iter())
            .map(|warp| warp.map_or((0.0, 0.0), |warp| (warp.centre, warp.width)))
            .map(|(centre, width)| format!("    {{{centre:?}, {width:?}}},\n"))
            .collect();
        ScaledInputs {
            definitions: format!(
                "
/* centre and width of every warped input; the others have width 0 */
static const double warps[INPUTS][2] = {{
{rows}}};

static double warped(double v, const double *warp)
{{
    return warp[1] > 0.0 ? asinh((v - warp[0]) / warp[1]) : v;
}}

static double warp_slope(double v, const double *warp)
{{
    return warp[1] > 0.0 ? 1.0 / hypot(warp[1], v - warp[0]) : 1.0;
}}
"
            ),
            value: "warped(x[k * INPUTS + j], warps[j])",
            slope: "inputs[j][1] * warp_slope(x[k * INPUTS + j], warps[j])",
        }
    }
}

/// What an exported function does for every `l`: more arrays of numbers, and statements that add to `sum`.
pub(crate) struct Body {
    pub variables: String,
    pub statements: String,
}

/// Inputs that are derived from the scaled ones and stand after them.
pub(crate) struct Derived {
    /// The name of the number of all inputs.
    pub columns: &'static str,
    /// Statements that compute them from `scaled`.
    pub values: &'static str,
    /// Statements that bring the slopes in them, in `sum`, to the inputs.
    pub slopes: &'static str,
}

impl Default for Derived {
    fn default() -> Self {
        Derived {
            columns: "INPUTS",
            values: "",
            slopes: "",
        }
    }
}

/// What the functions of a network do for every neuron.
fn bodies(planes: usize) -> (Body, Body) {
    let sums: String = (0..planes)
        .map(|p| {
            format!(
                "
            for (k = 0; k < BLOCK; k++)
                phi[k] = VALUE_{p}(t[k]);
            for (o = 0; o < OUTPUTS; o++)
                for (k = 0; k < BLOCK; k++)
                    sum[o][k] += weights[l][{p} * OUTPUTS + o] * phi[k];"
            )
        })
        .collect();
    let slopes: String = (0..planes)
        .map(|p| {
            format!(
                "
            for (k = 0; k < BLOCK; k++)
                phi[k] = SLOPE_{p}(t[k]);
            for (o = 0; o < OUTPUTS; o++)
                for (j = 0; j < INPUTS; j++)
                    for (k = 0; k < BLOCK; k++)
                        sum[o][j][k] += weights[l][{p} * OUTPUTS + o] * hidden[l][1 + j] * phi[k];"
            )
        })
        .collect();
    let body = |statements: &str| Body {
        variables: "t[BLOCK], phi[BLOCK]".into(),
        statements: format!("\n            products(hidden[l], scaled, t);{statements}"),
    };
    (body(&sums), body(&slopes))
}

/// The exported functions `name`, for `count` terms of scaled inputs and those derived from them.
pub(crate) fn functions(
    (name, count, derived): (&str, &str, &Derived),
    scaler: &Scaler,
    values: &Body,
    slopes: &Body,
) -> String {
    let ScaledInputs {
        definitions,
        value,
        slope,
    } = ScaledInputs::of(scaler);
    let Derived {
        columns,
        values: load,
        slopes: fold,
    } = derived;
    let (variables, sums) = (&values.variables, &values.statements);
    let (slope_variables, slopes) = (&slopes.variables, &slopes.statements);
    let largest = LARGEST_NUMBER;
    format!(
        "{definitions}
/* Zero at a row where thinfit predicts, NaN at one with NaN, an infinity or a number beyond {largest:e}. */
static double unusable(const double *x)
{{
    int j;
    for (j = 0; j < INPUTS; j++)
        if (!(x[j] >= -{largest:e} && x[j] <= {largest:e}))
            return NAN;
    return 0.0;
}}

/* The next rows, scaled and transposed; missing rows are zero. */
static void load(const double *x, size_t rows, double scaled[{columns}][BLOCK])
{{
    size_t j, k;
    for (j = 0; j < INPUTS; j++)
        for (k = 0; k < BLOCK; k++)
            scaled[j][k] = k < rows ? ({value} - inputs[j][0]) * inputs[j][1] : 0.0;{load}
}}

void {name}(const double *x, double *y, size_t rows)
{{
    double scaled[{columns}][BLOCK], {variables}, sum[OUTPUTS][BLOCK];
    int o, k, l;
    while (rows > 0) {{
        const int count = rows < BLOCK ? (int)rows : BLOCK;
        load(x, rows, scaled);
        for (o = 0; o < OUTPUTS; o++)
            for (k = 0; k < BLOCK; k++)
                sum[o][k] = outputs[o][0];
        for (l = 0; l < {count}; l++) {{{sums}
        }}
        for (k = 0; k < count; k++) {{
            const double lost = unusable(x + k * INPUTS);
            for (o = 0; o < OUTPUTS; o++)
                y[k * OUTPUTS + o] = outputs[o][1] + outputs[o][2] * sum[o][k] + lost;
        }}
        x += count * INPUTS;
        y += count * OUTPUTS;
        rows -= (size_t)count;
    }}
}}

void {name}_gradient(const double *x, double *g, size_t rows)
{{
    double scaled[{columns}][BLOCK], {slope_variables}, sum[OUTPUTS][{columns}][BLOCK];
    int o, j, k, l;
    while (rows > 0) {{
        const int count = rows < BLOCK ? (int)rows : BLOCK;
        load(x, rows, scaled);
        for (o = 0; o < OUTPUTS; o++)
            for (j = 0; j < {columns}; j++)
                for (k = 0; k < BLOCK; k++)
                    sum[o][j][k] = 0.0;
        for (l = 0; l < {count}; l++) {{{slopes}
        }}{fold}
        for (k = 0; k < count; k++) {{
            const double lost = unusable(x + k * INPUTS);
            for (o = 0; o < OUTPUTS; o++)
                for (j = 0; j < INPUTS; j++)
                    g[(k * OUTPUTS + o) * INPUTS + j] = outputs[o][2] * {slope} * sum[o][j][k] + lost;
        }}
        x += count * INPUTS;
        g += count * OUTPUTS * INPUTS;
        rows -= (size_t)count;
    }}
}}
"
    )
}
