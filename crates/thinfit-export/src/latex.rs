//! A model as a formula for a paper: the terms of a network by falling weight, with a given number of digits.

use crate::kernels;
use crate::name::remark;
use std::f64::consts::TAU;
use std::fmt::Write;
use thinfit::{Evaluator, Feature, Model, Scaler, Warp};
use thinfit_methods::Predictor;
use thinfit_text::clean;

/// Products per line of a formula.
const PER_LINE: usize = 5;

/// A fragment of LaTeX (needs `amsmath`) with one formula per output and its symbols explained; numbers have `digits`
/// significant digits. The points and coefficients of a sum of kernels are symbols.
///
/// Fourier features are written with amplitude and phase, A cos 2π(θ + ⟨w, u⟩), in the scaled inputs u.
pub fn latex(model: &Predictor, digits: usize) -> String {
    match model {
        Predictor::Network(model) => fragment(model, digits),
        Predictor::Kernel(model) => kernels::latex::fragment(model, digits),
    }
}

fn fragment(model: &Model, digits: usize) -> String {
    let network = model.evaluator();
    let number = |value: f64| number(value, digits);
    let mut text = format!(
        "% {} neurons, activation {}, fitted to {} samples by thinfit {}; needs amsmath\n\
         % For reading only: rounded to {digits} digits, and large terms cancel. Compute with the JSON, C or Python file.\n",
        model.width(),
        model.activation().name(),
        model.record.samples,
        remark(&model.record.version),
    );
    text.push_str("\\begingroup\\allowdisplaybreaks\n");
    for (o, output) in model.outputs.iter().enumerate() {
        let _ = writeln!(text, "\\begin{{align*}}\n\\text{{{}}}", escaped(output));
        push_formula(&mut text, &network, o, &number);
        text.push_str("\n\\end{align*}\n");
    }
    text.push_str("\\endgroup\n");
    text.push_str(&scaled_inputs(&model.inputs, &model.input_scaler, &number));
    text.push_str(match network.feature {
        Feature::Sigmoid => "and $\\sigma(t) = 1/(1 + e^{-t})$.\n",
        Feature::Relu => "and $(t)_+ = \\max(t, 0)$.\n",
        _ => "",
    });
    text
}

/// The sentence that explains the scaled inputs u.
pub(crate) fn scaled_inputs(
    inputs: &[String],
    scaler: &Scaler,
    number: &impl Fn(f64) -> String,
) -> String {
    let lines: Vec<String> = (inputs.iter().zip(&scaler.shift))
        .zip(&scaler.scale)
        .enumerate()
        .map(|(j, ((name, &shift), &scale))| {
            let name = format!("\\text{{{}}}", escaped(name));
            let value = match scaler.warp_of(j) {
                None => name,
                Some(Warp { centre, width }) => format!(
                    "\\operatorname{{arsinh}}(({name} {}) / {})",
                    signed(-centre, number),
                    number(width)
                ),
            };
            let (moved, scale) = (signed(-shift, number), number(scale));
            format!("u_{{{}}} &= ({value} {moved}) / {scale}", j + 1)
        })
        .collect();
    let lines = lines.join(", \\\\\n");
    format!("with the scaled inputs\n\\begin{{align*}}\n{lines}\n\\end{{align*}}\n")
}

/// A number with the sign that adds it to what is before.
pub(crate) fn signed(value: f64, number: &impl Fn(f64) -> String) -> String {
    let sign = if value < 0.0 { '-' } else { '+' };
    format!("{sign} {}", number(value.abs()))
}

/// Appends the right side of the formula for output `o`, the constant first.
fn push_formula(text: &mut String, network: &Evaluator, o: usize, number: &impl Fn(f64) -> String) {
    let [bias, shift, scale] = network.outputs[o];
    let _ = write!(text, "={{}}& {}", number(scale.mul_add(bias, shift)));
    for (amplitude, offset, w) in terms(network, o) {
        let _ = write!(
            text,
            " \\\\\n&{} {}\\bigl({}",
            signed(amplitude, number),
            function(network.feature),
            number(offset),
        );
        for (j, w) in w.iter().enumerate() {
            if j > 0 && j % PER_LINE == 0 {
                text.push_str(" \\\\\n&\\qquad");
            }
            let _ = write!(text, " {}\\,u_{{{}}}", signed(*w, number), j + 1);
        }
        text.push_str(match network.feature {
            Feature::Relu => "\\bigr)_+",
            _ => "\\bigr)",
        });
    }
}

/// (weight, offset, w) of every neuron for output `o`, in the units of the output, the largest weight first.
fn terms(network: &Evaluator, o: usize) -> Vec<(f64, f64, &[f64])> {
    let (c, scale) = (network.outputs.len(), network.outputs[o][2]);
    let mut terms: Vec<_> = network
        .neurons()
        .map(|(w, b)| match network.feature {
            // A cos 2πt + B sin 2πt = |A + iB| cos 2π(t − arg(A + iB)/2π).
            Feature::Pair => {
                let (a, b) = (b[o], b[c + o]);
                (scale * a.hypot(b), w[0] - b.atan2(a) / TAU, &w[1..])
            }
            _ => (scale * b[o], w[0], &w[1..]),
        })
        .collect();
    terms.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    terms
}

fn function(feature: Feature) -> &'static str {
    match feature {
        Feature::Cosine | Feature::Pair => "\\cos 2\\pi",
        Feature::Sigmoid => "\\sigma",
        Feature::Tanh => "\\tanh",
        Feature::Relu => "",
    }
}

/// `value` with `digits` significant digits, as a decimal if that is short, otherwise with a power of ten.
pub(crate) fn number(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        // A product of the numbers of a model may be beyond all numbers.
        let sign = if value < 0.0 { "-" } else { "" };
        return format!("{sign}\\infty");
    }
    let digits = digits.clamp(1, 17);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("an exponent is a small integer");
    if value == 0.0 {
        return "0".into();
    }
    if (-3..digits.max(4) as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        return format!("{value:.decimals$}");
    }
    format!("{mantissa} \\cdot 10^{{{exponent}}}")
}

/// `text` with the special characters of LaTeX escaped and without hidden ones.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_given_digits() {
        for (value, digits, expected) in [
            (0.0, 3, "0"),
            (-0.5, 3, "-0.500"),
            (1234.56, 3, "1235"),
            (123456.0, 3, "1.23 \\cdot 10^{5}"),
            (1.5e-7, 2, "1.5 \\cdot 10^{-7}"),
            (0.00123456, 4, "0.001235"),
            (f64::NEG_INFINITY, 4, "-\\infty"),
        ] {
            assert_eq!(number(value, digits), expected);
        }
    }
}
