//! A sum of kernels as a formula: the kernel with its lengths in full, the points by their symbol.

use super::is_radial;
use crate::latex::{escaped, number, scaled_inputs, signed};
use crate::name::remark;
use std::fmt::Write;
use thinfit_methods::{Crossing, Edge, KernelModel, KernelTerm, Shape};

/// The fragment of LaTeX, with numbers of `digits` digits.
pub(crate) fn fragment(model: &KernelModel, digits: usize) -> String {
    let number = |value: f64| number(value, digits);
    let m = model.body.points.nrows();
    let mut text = format!(
        "% a sum of kernels at {m} points, fitted to {} samples by thinfit {}; needs amsmath\n\
         % For reading only: rounded to {digits} digits. Points and coefficients are in the JSON, C or Python file.\n",
        model.record.samples,
        remark(&model.record.version),
    );
    text.push_str("\\begingroup\\allowdisplaybreaks\n\\begin{align*}\n");
    let outputs: Vec<String> = (model.outputs.iter().enumerate())
        .map(|(o, name)| {
            let (shift, scale) = (model.output_scaler.shift[o], model.output_scaler.scale[o]);
            let constant = scale.mul_add(model.body.mean[o], shift);
            format!(
                "\\text{{{}}} &= {} {} \\sum_{{i=1}}^{{{m}}} \\alpha_{{i,{}}}\\, k(u, u_i)",
                escaped(name),
                number(constant),
                signed(scale, &number),
                o + 1,
            )
        })
        .collect();
    let _ = write!(text, "{}, \\\\\nk(u, v) &= ", outputs.join(", \\\\\n"));
    for (t, part) in model.body.kernel.terms.iter().enumerate() {
        if t > 0 {
            text.push_str(" \\\\\n&\\quad + ");
        }
        if part.weight != 1.0 {
            let _ = write!(text, "{}\\, ", number(part.weight));
        }
        text.push_str(&shape(part, t + 1));
    }
    for (t, part) in model.body.kernel.terms.iter().enumerate() {
        if is_radial(part.shape) {
            let _ = write!(text, ", \\\\\nq_{{{}}} &= ", t + 1);
            push_distance(&mut text, part, &number);
        }
    }
    for (t, part) in model.body.kernel.terms.iter().enumerate() {
        if !is_radial(part.shape) {
            push_factors(&mut text, part, t + 1, &number);
        }
    }
    for (e, edge) in model.body.kernel.edges.iter().enumerate() {
        push_edge(&mut text, edge, model.dim() + e + 1, &number);
    }
    text.push_str("\n\\end{align*}\n\\endgroup\n");
    text.push_str(&scaled_inputs(&model.inputs, &model.input_scaler, &number));
    text
}

/// Appends the input u_j that is derived from an edge; v_j is the same of v.
fn push_edge(text: &mut String, edge: &Edge, j: usize, number: &impl Fn(f64) -> String) {
    let mut argument = number(-edge.offset);
    for (k, v) in edge
        .direction
        .iter()
        .enumerate()
        .filter(|(_, v)| **v != 0.0)
    {
        let _ = write!(argument, " {} u_{{{}}}", signed(*v, number), k + 1);
    }
    let value = match edge.crossing {
        Crossing::Jump => format!(
            "\\tfrac14 c\\, (3 - c^2) \\quad\\text{{with }} c = \\max\\bigl(-1, \\min({argument}, 1)\\bigr)"
        ),
        Crossing::Bend => format!("\\max\\bigl({argument},\\, 0\\bigr)"),
    };
    let _ = write!(
        text,
        ", \\\\\nu_{{{j}}} &= {value} , \\quad v_{{{j}}} \\text{{ likewise}}"
    );
}

fn shape(part: &KernelTerm, t: usize) -> String {
    match part.shape {
        Shape::Gaussian => format!("e^{{-q_{{{t}}}/2}}"),
        Shape::Matern52 => format!(
            "\\bigl(1 + \\sqrt{{5 q_{{{t}}}}} + \\tfrac53 q_{{{t}}}\\bigr)\\, e^{{-\\sqrt{{5 q_{{{t}}}}}}}"
        ),
        Shape::Additive(order) => format!(
            "\\sum_{{S \\subseteq \\{{{}\\}},\\, |S| = {order}}} \\prod_{{j \\in S}} \\kappa_{{{t},j}}",
            listed(part)
        ),
        Shape::Anova | Shape::AnovaMatern52 => {
            format!(
                "\\prod_{{j \\in \\{{{}\\}}}} \\kappa_{{{t},j}}",
                listed(part)
            )
        }
    }
}

/// The numbers of the inputs of a part, from one.
fn listed(part: &KernelTerm) -> String {
    let inputs: Vec<String> = part.inputs.iter().map(|j| (j + 1).to_string()).collect();
    inputs.join(", ")
}

/// Appends the factors κ_tj of part `t`, one for each of its inputs.
fn push_factors(text: &mut String, part: &KernelTerm, t: usize, number: &impl Fn(f64) -> String) {
    for (k, (j, length)) in part.inputs.iter().zip(&part.lengths).enumerate() {
        let (j, length) = (j + 1, number(*length));
        let mixed = part.shares.get(k).map_or(String::new(), |share| {
            format!("{} + {}\\, ", number(1.0 - share), number(*share))
        });
        let value = match part.shape {
            Shape::AnovaMatern52 => format!(
                "\\bigl(1 + r + \\tfrac13 r^2\\bigr)\\, e^{{-r}} \\quad\\text{{with }} r = \\sqrt5\\, |u_{{{j}}} - v_{{{j}}}| / {length}"
            ),
            _ => format!("\\exp\\bigl(-\\tfrac12 ((u_{{{j}}} - v_{{{j}}}) / {length})^2\\bigr)"),
        };
        let _ = write!(text, ", \\\\\n\\kappa_{{{t},{j}}} &= {mixed}{value}");
    }
}

/// Appends Σ_j ((u_j − v_j)/ℓ_j)², some terms per line.
fn push_distance(text: &mut String, part: &KernelTerm, number: &impl Fn(f64) -> String) {
    for (count, (j, length)) in part.inputs.iter().zip(&part.lengths).enumerate() {
        text.push_str(match count {
            0 => "",
            _ if count % 3 == 0 => " \\\\\n&\\quad + ",
            _ => " + ",
        });
        let (j, length) = (j + 1, number(*length));
        let _ = write!(
            text,
            "\\Bigl(\\frac{{u_{{{j}}} - v_{{{j}}}}}{{{length}}}\\Bigr)^2"
        );
    }
}
