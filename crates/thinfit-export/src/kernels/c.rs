//! A sum of kernels as C99, in the frame of `crate::c`.

use super::{axes, described, is_radial, outputs};
use crate::c::{Body, Derived, block, functions, head, header, table};
use std::fmt::Write;
use thinfit_methods::{Crossing, KernelModel, Shape};

/// The header and the source of the function `name`.
pub(crate) fn files(model: &KernelModel, name: &str) -> (String, String) {
    let columns = (&model.inputs[..], &model.outputs[..]);
    let scaler = &model.input_scaler;
    let header = header(name, &described(model), &model.record, scaler, columns);
    (header, source(model, name))
}

fn source(model: &KernelModel, name: &str) -> String {
    let kernel = &model.body.kernel;
    let points = kernel.widened(model.body.points.as_ref());
    let (d, c, m) = (model.dim(), model.outputs.len(), points.nrows());
    let columns = points.ncols();
    let sizes = format!(
        "BLOCK = {}, INPUTS = {d}, COLUMNS = {columns}, CENTRES = {m}, OUTPUTS = {c}",
        block(columns, c)
    );
    let mut text = head(name, "#include <stdint.h>\n#include <string.h>\n", &sizes);
    let what = "shift and factor of every input";
    let scaler = &model.input_scaler;
    let inputs =
        (scaler.shift.iter().zip(&scaler.scale)).map(|(shift, scale)| [*shift, 1.0 / scale]);
    table(&mut text, what, "inputs", ["INPUTS", "2"], inputs);
    let what = "mean, shift and scale of every output";
    table(&mut text, what, "outputs", ["OUTPUTS", "3"], outputs(model));
    for (what, name, columns, a) in [
        (
            "scaled inputs of every point",
            "centres",
            "COLUMNS",
            points.as_ref(),
        ),
        (
            "coefficients of every point",
            "weights",
            "OUTPUTS",
            model.body.coefficients.as_ref(),
        ),
    ] {
        let rows = a.row_iter().map(|row| row.iter().copied().collect());
        let rows: Vec<Vec<f64>> = rows.collect();
        table(&mut text, what, name, ["CENTRES", columns], rows.iter());
    }
    for (t, part) in kernel.terms.iter().enumerate() {
        let (inputs, inverse): (Vec<String>, Vec<String>) = axes(part)
            .map(|(j, inverse)| (j.to_string(), format!("{inverse:?}")))
            .unzip();
        let _ = write!(
            text,
            "/* inputs and inverse lengths of part {t} of the kernel */
static const int axes_{t}[] = {{{}}};
static const double inverse_{t}[] = {{{}}};

",
            inputs.join(", "),
            inverse.join(", ")
        );
        if !part.shares.is_empty() {
            let shares: Vec<String> = part.shares.iter().map(|v| format!("{v:?}")).collect();
            let _ = write!(
                text,
                "/* shares of its inputs */\nstatic const double shares_{t}[] = {{{}}};\n\n",
                shares.join(", ")
            );
        }
    }
    push_shapes(&mut text, model);
    let derived = push_edges(&mut text, model);
    let (values, slopes) = (calls(model, false), calls(model, true));
    let distances = if radial(model) { ", q[BLOCK]" } else { "" };
    text.push_str(&functions(
        (name, "CENTRES", &derived),
        scaler,
        &Body {
            variables: format!("value[BLOCK]{distances}"),
            statements: format!(
                "
            for (k = 0; k < BLOCK; k++)
                value[k] = 0.0;{values}
            for (o = 0; o < OUTPUTS; o++)
                for (k = 0; k < BLOCK; k++)
                    sum[o][k] += weights[l][o] * value[k];"
            ),
        },
        &Body {
            variables: format!("slope[COLUMNS][BLOCK]{distances}"),
            statements: format!(
                "
            for (j = 0; j < COLUMNS; j++)
                for (k = 0; k < BLOCK; k++)
                    slope[j][k] = 0.0;{slopes}
            for (o = 0; o < OUTPUTS; o++)
                for (j = 0; j < COLUMNS; j++)
                    for (k = 0; k < BLOCK; k++)
                        sum[o][j][k] += weights[l][o] * slope[j][k];"
            ),
        },
    ));
    text
}

/// Appends the edges and their functions, if there are any; the statements that compute the inputs derived from them.
fn push_edges(text: &mut String, model: &KernelModel) -> Derived {
    let edges = &model.body.kernel.edges;
    let columns = "COLUMNS";
    if edges.is_empty() {
        return Derived {
            columns,
            ..Derived::default()
        };
    }
    let _ = write!(text, "\nenum {{ EDGES = {} }};\n\n", edges.len());
    let rows = edges.iter().map(|edge| {
        let mut row = vec![-edge.offset];
        row.extend(&edge.direction);
        row
    });
    let rows: Vec<Vec<f64>> = rows.collect();
    let what = "offset and direction of every edge";
    table(text, what, "edges", ["EDGES", "1 + INPUTS"], rows.iter());
    let bends = edges.iter().map(|edge| match edge.crossing {
        Crossing::Jump => "0",
        Crossing::Bend => "1",
    });
    let bends: Vec<&str> = bends.collect();
    let _ = write!(
        text,
        "/* whether it is a bend */\nstatic const int bends[EDGES] = {{{}}};\n",
        bends.join(", ")
    );
    text.push_str(include_str!("edges.c"));
    Derived {
        columns,
        values: "
    for (j = 0; j < EDGES; j++)
        for (k = 0; k < BLOCK; k++)
            scaled[INPUTS + j][k] = edge((int)j, scaled, k);",
        slopes: "
        for (l = 0; l < EDGES; l++)
            for (k = 0; k < BLOCK; k++) {
                const double factor = edge_slope(l, scaled, (size_t)k);
                for (o = 0; o < OUTPUTS; o++)
                    for (j = 0; j < INPUTS; j++)
                        sum[o][j][k] += sum[o][INPUTS + l][k] * factor * edges[l][1 + j];
            }",
    }
}

/// Whether a part depends on the distance alone.
fn radial(model: &KernelModel) -> bool {
    let parts = &model.body.kernel.terms;
    parts.iter().any(|part| is_radial(part.shape))
}

/// Appends the functions of the shapes that occur; others would be unused.
fn push_shapes(text: &mut String, model: &KernelModel) {
    let parts = || model.body.kernel.terms.iter();
    let has = |shape: Shape| parts().any(|part| part.shape == shape);
    text.push_str(include_str!("../exponential.c"));
    if radial(model) {
        text.push('\n');
        text.push_str(include_str!("squares.c"));
    }
    if has(Shape::Gaussian) || has(Shape::Anova) {
        text.push_str(include_str!("gaussian.c"));
    }
    if has(Shape::Matern52) || has(Shape::AnovaMatern52) {
        text.push_str(include_str!("matern.c"));
    }
    let products = parts().filter(|part| !is_radial(part.shape));
    if let Some(axes) = products.map(|part| part.inputs.len()).max() {
        let _ = write!(text, "\nenum {{ AXES = {axes} }};\n");
    }
    let orders = parts().filter_map(|part| match part.shape {
        Shape::Additive(order) => Some(order),
        _ => None,
    });
    if let Some(order) = orders.max() {
        let _ = write!(text, "\nenum {{ ORDER = {order} }};\n");
        text.push_str(include_str!("additive.c"));
    }
    if has(Shape::Anova) || has(Shape::AnovaMatern52) {
        text.push_str(include_str!("anova.c"));
    }
}

/// Statements that add every part at the point `l`, or its derivatives.
fn calls(model: &KernelModel, slopes: bool) -> String {
    let mut text = String::new();
    for (t, part) in model.body.kernel.terms.iter().enumerate() {
        let (count, weight) = (part.inputs.len(), part.weight);
        let at = format!("axes_{t}, inverse_{t}, {count}");
        let (verb, out) = match slopes {
            true => ("descend", "slope"),
            false => ("add", "value"),
        };
        let shape = match part.shape {
            Shape::Gaussian | Shape::Anova => "gaussian",
            Shape::Matern52 | Shape::AnovaMatern52 => "matern",
            Shape::Additive(order) => {
                let _ = write!(
                    text,
                    "\n            {verb}_additive({at}, {order}, {weight:?}, centres[l], scaled, {out});"
                );
                continue;
            }
        };
        if !is_radial(part.shape) {
            let functions = match slopes {
                true => format!("{shape}, {shape}_slope"),
                false => shape.into(),
            };
            let _ = write!(
                text,
                "\n            {verb}_anova({functions}, {at}, shares_{t}, {weight:?}, centres[l], scaled, {out});"
            );
            continue;
        }
        let _ = write!(
            text,
            "\n            squares({at}, centres[l], scaled, q);\n            for (k = 0; k < BLOCK; k++)\n                "
        );
        let _ = match slopes {
            true => write!(
                text,
                "q[k] = {weight:?} * {shape}_slope(q[k]);\n            descend({at}, centres[l], scaled, q, slope);"
            ),
            false => write!(text, "value[k] += {weight:?} * {shape}(q[k]);"),
        };
    }
    text
}
