//! A sum of kernels as one JavaScript function.

use super::{across, axes, described, outputs};
use crate::javascript::{head, push_function, push_pairs, push_scaled, push_tail};
use std::fmt::Write;
use thinfit::MatRef;
use thinfit_methods::{Crossing, Edge, KernelModel, KernelTerm, Shape};

/// The script that declares `name`.
pub(crate) fn script(model: &KernelModel, name: &str) -> String {
    let (c, kernel) = (model.outputs.len(), &model.body.kernel);
    let (mut text, parameters) = head(
        name,
        &described(model),
        &model.record,
        (&model.inputs, &model.outputs),
    );
    text.push_str("  // Per point: its scaled inputs, then its coefficients in the outputs.\n  const points = [\n");
    let (points, alpha) = (
        kernel.widened(model.body.points.as_ref()),
        model.body.coefficients.as_ref(),
    );
    let row = |a: MatRef<'_, f64>, i: usize| a.row(i).iter().copied().collect::<Vec<f64>>();
    push_pairs(
        &mut text,
        (0..points.nrows()).map(|i| (row(points.as_ref(), i), row(alpha, i))),
    );
    text.push_str("  ];\n");
    push_edges(&mut text, &kernel.edges);
    let widened = if kernel.edges.is_empty() {
        ""
    } else {
        "widened"
    };
    push_scaled(&mut text, &parameters, &model.input_scaler, widened);
    push_axes(&mut text, &kernel.terms);
    text.push_str("  const kernel = (x, p) => {\n    let k = 0;\n");
    for (t, part) in kernel.terms.iter().enumerate() {
        push_part(&mut text, t, part);
    }
    text.push_str("    return k;\n  };\n");
    let statements = format!(
        "    for (const [p, a] of points) {{
      const k = kernel(x, p);
      for (let o = 0; o < {c}; o++) y[o] += a[o] * k;
    }}\n"
    );
    let outputs: Vec<[f64; 3]> = outputs(model).collect();
    push_function(&mut text, &outputs, &statements);
    push_tail(&mut text, &parameters, c, "scaled, kernel, points");
    text
}

/// Appends the function that puts the inputs derived from the edges after the others, if there are edges.
fn push_edges(text: &mut String, edges: &[Edge]) {
    if edges.is_empty() {
        return;
    }
    text.push_str("  const widened = (x) => {\n    let u;\n");
    for edge in edges {
        let argument = across(edge);
        let (u, value) = match edge.crossing {
            Crossing::Jump => (
                format!("Math.max(-1, Math.min({argument}, 1))"),
                "0.25 * u * (3 - u * u)",
            ),
            Crossing::Bend => (argument, "Math.max(u, 0)"),
        };
        let _ = write!(text, "    u = {u};\n    x.push({value});\n");
    }
    text.push_str("    return x;\n  };\n");
}

/// Appends the table of the inputs of each part: their number, their inverse length and, for products, their share.
fn push_axes(text: &mut String, parts: &[KernelTerm]) {
    text.push_str("  const axes = [\n");
    for part in parts {
        let each = axes(part).enumerate().map(|(i, (j, inverse))| {
            let share = part.shares.get(i);
            let share = share.map_or(String::new(), |share| format!(", {share:?}"));
            format!("[{j}, {inverse:?}{share}]")
        });
        let each: Vec<String> = each.collect();
        let _ = writeln!(text, "    [{}],", each.join(", "));
    }
    text.push_str("  ];\n");
}

/// Appends the statements that add part `t` of the kernel to `k`.
fn push_part(text: &mut String, t: usize, part: &KernelTerm) {
    let weight = part.weight;
    let lines: Vec<String> = match part.shape {
        Shape::Gaussian | Shape::Matern52 => {
            let mut lines = vec![
                "let q = 0;".into(),
                format!(
                    "for (const [j, inverse] of axes[{t}]) q += ((x[j] - p[j]) * inverse) ** 2;"
                ),
            ];
            lines.extend(match part.shape {
                Shape::Gaussian => vec![format!("k += {weight:?} * Math.exp(-0.5 * q);")],
                _ => vec![
                    // Beyond r = 1000 the kernel is zero; infinity times zero would not be.
                    "const r = Math.sqrt(Math.min(5 * q, 1e6));".into(),
                    format!("k += {weight:?} * (1 + r + r * r / 3) * Math.exp(-r);"),
                ],
            });
            lines
        }
        Shape::Additive(order) => vec![
            format!("const e = [1{}];", ", 0".repeat(order)),
            format!("for (const [j, inverse] of axes[{t}]) {{"),
            "  const kappa = Math.exp(-0.5 * ((x[j] - p[j]) * inverse) ** 2);".into(),
            format!("  for (let i = {order}; i > 0; i--) e[i] += kappa * e[i - 1];"),
            "}".into(),
            format!("k += {weight:?} * e[{order}];"),
        ],
        Shape::Anova | Shape::AnovaMatern52 => {
            let mut lines = vec![
                "let product = 1;".into(),
                format!("for (const [j, inverse, share] of axes[{t}]) {{"),
                "  const r = (x[j] - p[j]) * inverse;".into(),
            ];
            lines.extend(match part.shape {
                Shape::Anova => vec!["  const kappa = Math.exp(-0.5 * r * r);".to_owned()],
                _ => vec![
                    "  const s = Math.sqrt(Math.min(5 * r * r, 1e6));".into(),
                    "  const kappa = (1 + s + s * s / 3) * Math.exp(-s);".into(),
                ],
            });
            lines.extend([
                "  product *= 1 - share + share * kappa;".into(),
                "}".into(),
                format!("k += {weight:?} * product;"),
            ]);
            lines
        }
    };
    text.push_str("    {\n");
    for line in lines {
        let _ = writeln!(text, "      {line}");
    }
    text.push_str("    }\n");
}
