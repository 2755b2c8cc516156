//! The header of the C source.

use crate::formula::Formula;
use crate::name::{levels, listed, remark};

/// The header that declares the function `name` and its gradient.
pub(super) fn header(formula: &Formula<'_>, name: &str) -> String {
    let (d, c) = (formula.inputs.len(), formula.outputs.len());
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
        what = formula.what,
        samples = formula.record.samples,
        version = remark(&formula.record.version),
        inputs = listed(formula.inputs),
        outputs = listed(formula.outputs),
        levels = levels(formula.inputs, "\n\n   "),
        library = match formula.is_warped() {
            false => "",
            true => " Link with -lm, for asinh.",
        },
    )
}
