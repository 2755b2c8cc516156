//! A sum of kernels as one Python function that imports only `math`.

use super::{across, axes, described, outputs};
use crate::python::{head, numbers, push_results, push_scaled};
use std::fmt::Write;
use thinfit::MatRef;
use thinfit_methods::{Crossing, KernelModel, Shape};

/// The module with the function `name`.
pub(crate) fn module(model: &KernelModel, name: &str) -> String {
    let c = model.outputs.len();
    let (mut text, parameters) = head(
        name,
        &described(model),
        &model.record,
        (&model.inputs, &model.outputs),
    );
    let outputs: Vec<[f64; 3]> = outputs(model).collect();
    push_scaled(&mut text, &parameters, &model.input_scaler, &outputs);
    for edge in &model.body.kernel.edges {
        let argument = across(edge);
        let (u, value) = match edge.crossing {
            Crossing::Jump => (
                format!("max(-1.0, min({argument}, 1.0))"),
                "0.25 * u * (3.0 - u * u)",
            ),
            Crossing::Bend => (argument, "max(u, 0.0)"),
        };
        let _ = write!(text, "    u = {u}\n    x += ({value},)\n");
    }
    text.push_str("    # Per point: its scaled inputs, then its coefficients in the outputs.\n    points = (\n");
    let kernel = &model.body.kernel;
    let (points, alpha) = (
        kernel.widened(model.body.points.as_ref()),
        model.body.coefficients.as_ref(),
    );
    for i in 0..points.nrows() {
        let row = |a: MatRef<'_, f64>| numbers(&a.row(i).iter().copied().collect::<Vec<f64>>());
        let (p, a) = (row(points.as_ref()), row(alpha));
        let _ = writeln!(text, "        (({}), ({})),", p.trim_end(), a.trim_end());
    }
    text.push_str("    )\n    for p, a in points:\n        k = 0.0\n");
    for part in &kernel.terms {
        let weight = part.weight;
        let pairs: String = axes(part)
            .map(|(j, inverse)| format!("({j}, {inverse:?}), "))
            .collect();
        let each = format!("for j, inverse in ({}):", pairs.trim_end());
        let statements: &[String] = &match part.shape {
            Shape::Gaussian | Shape::Matern52 => {
                let mut lines = vec![
                    "q = 0.0".into(),
                    each,
                    "    t = (x[j] - p[j]) * inverse".into(),
                    // Not `t ** 2`, which raises an error where this is infinite.
                    "    q += t * t".into(),
                ];
                lines.extend(match part.shape {
                    Shape::Gaussian => vec![format!("k += {weight:?} * math.exp(-0.5 * q)")],
                    _ => vec![
                        // Beyond r = 1000 the kernel is zero; infinity times zero would not be.
                        "r = math.sqrt(min(5.0 * q, 1e6))".into(),
                        format!("k += {weight:?} * (1.0 + r + r * r / 3.0) * math.exp(-r)"),
                    ],
                });
                lines
            }
            Shape::Additive(order) => vec![
                format!("e = [1.0] + {order} * [0.0]"),
                each,
                "    t = (x[j] - p[j]) * inverse".into(),
                "    kappa = math.exp(-0.5 * t * t)".into(),
                format!("    for i in range({order}, 0, -1):"),
                "        e[i] += kappa * e[i - 1]".into(),
                format!("k += {weight:?} * e[{order}]"),
            ],
            Shape::Anova | Shape::AnovaMatern52 => {
                let axes: String = (axes(part).zip(&part.shares))
                    .map(|((j, inverse), share)| format!("({j}, {inverse:?}, {share:?}), "))
                    .collect();
                let mut lines = vec![
                    "product = 1.0".into(),
                    format!("for j, inverse, share in ({}):", axes.trim_end()),
                    "    t = (x[j] - p[j]) * inverse".into(),
                ];
                lines.extend(match part.shape {
                    Shape::Anova => vec!["    kappa = math.exp(-0.5 * t * t)".into()],
                    _ => vec![
                        "    r = math.sqrt(min(5.0 * t * t, 1e6))".into(),
                        "    kappa = (1.0 + r + r * r / 3.0) * math.exp(-r)".into(),
                    ],
                });
                lines.extend([
                    "    product *= 1.0 - share + share * kappa".into(),
                    format!("k += {weight:?} * product"),
                ]);
                lines
            }
        };
        for line in statements {
            let _ = writeln!(text, "        {line}");
        }
    }
    let _ = write!(
        text,
        "        for o in range({c}):\n            y[o] += a[o] * k\n"
    );
    push_results(&mut text, &outputs);
    text
}
