//! A network as one Python function that imports only `math`.

use crate::name::{identifier, identifiers, listed};
use std::fmt::Write;
use thinfit::{Feature, Model, Warp};

/// A module with the function `name(x1, …, xd)`, which returns a float, or a tuple of floats for several outputs.
///
/// Parameters are named after the columns; they and `name` are made [`identifier`]s.
pub fn python(model: &Model, name: &str) -> String {
    let (name, network) = (identifier(name), model.evaluator());
    let (d, c) = (network.inputs.len(), network.outputs.len());
    let parameters = identifiers(&model.inputs);
    let mut text = format!(
        "import math


def {name}({parameters}):
    \"\"\"{outputs} of {inputs}.

    A thin two-layer network of {neurons} neurons ({activation}), fitted to {samples} samples by thinfit {version}.
    \"\"\"
    # Per neuron: offset and weights of the scaled inputs, then weights of its value in the outputs.
    neurons = (
",
        parameters = parameters.join(", "),
        outputs = listed(&model.outputs),
        inputs = listed(&model.inputs),
        neurons = model.width(),
        activation = model.activation().name(),
        samples = model.record.samples,
        version = model.record.version,
    );
    let numbers = |values: &[f64]| -> String {
        values
            .iter()
            .map(|v| format!("{v:?}, "))
            .collect::<String>()
    };
    for (w, b) in network.neurons() {
        let _ = writeln!(
            text,
            "        (({}), ({})),",
            numbers(w).trim_end(),
            numbers(b).trim_end()
        );
    }
    text.push_str("    )\n    x = (\n");
    for (parameter, ([shift, factor], warp)) in
        (parameters.iter()).zip(network.inputs.iter().zip(&network.warps))
    {
        let value = match warp {
            None => parameter.clone(),
            Some(Warp { centre, width }) => {
                let centre = operand(*centre);
                format!("math.asinh(({parameter} - {centre}) / {width:?})")
            }
        };
        let _ = writeln!(
            text,
            "        ({value} - {}) * {factor:?},",
            operand(*shift)
        );
    }
    let biases: Vec<f64> = network.outputs.iter().map(|output| output[0]).collect();
    let value = match network.feature {
        Feature::Cosine => "(math.cos(math.tau * t),)",
        Feature::Pair => "(math.cos(math.tau * t), math.sin(math.tau * t))",
        // Unlike 1 / (1 + exp(-t)) this never overflows.
        Feature::Sigmoid => "(0.5 + 0.5 * math.tanh(0.5 * t),)",
        Feature::Tanh => "(math.tanh(t),)",
        Feature::Relu => "(max(t, 0.0),)",
    };
    let _ = write!(
        text,
        "    )
    y = [{biases}]
    for w, b in neurons:
        t = w[0]
        for j in range({d}):
            t += w[1 + j] * x[j]
        for p, value in enumerate({value}):
            for o in range({c}):
                y[o] += b[{c} * p + o] * value
    return ",
        biases = numbers(&biases).trim_end_matches(", "),
    );
    let results: Vec<String> = (network.outputs.iter().enumerate())
        .map(|(o, [_, shift, scale])| format!("{shift:?} + {} * y[{o}]", operand(*scale)))
        .collect();
    text.push_str(&results.join(", "));
    text.push('\n');
    text
}

/// A number as an operand, in brackets if it is negative.
fn operand(value: f64) -> String {
    if value < 0.0 {
        format!("({value:?})")
    } else {
        format!("{value:?}")
    }
}
