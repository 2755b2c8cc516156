//! A model as one Python function that imports only `math`.

use crate::kernels;
use crate::name::{identifier, levels, listed, parameters, remark};
use std::fmt::Write;
use thinfit::{Feature, LARGEST_NUMBER, Model, Record, Scaler, Warp};
use thinfit_methods::Predictor;

/// A module with the function `name(x1, …, xd)`, which returns a float, or a tuple of floats for several outputs; NaN where an
/// argument is NaN or infinite.
///
/// Parameters are named after the columns; they and `name` are made [`identifier`]s.
pub fn python(model: &Predictor, name: &str) -> String {
    match model {
        Predictor::Network(model) => module(model, name),
        Predictor::Kernel(model) => kernels::python::module(model, name),
    }
}

fn module(model: &Model, name: &str) -> String {
    let network = model.evaluator();
    let (d, c) = (network.inputs.len(), network.outputs.len());
    let what = crate::described(model);
    let columns = (&model.inputs[..], &model.outputs[..]);
    let (mut text, parameters) = head(name, &what, &model.record, columns);
    text.push_str(
        "    # Per neuron: offset and weights of the scaled inputs, then weights of its value in the outputs.
    neurons = (
",
    );
    for (w, b) in network.neurons() {
        let _ = writeln!(
            text,
            "        (({}), ({})),",
            numbers(w).trim_end(),
            numbers(b).trim_end()
        );
    }
    text.push_str("    )\n");
    push_scaled(
        &mut text,
        &parameters,
        &model.input_scaler,
        &network.outputs,
    );
    let value = match network.feature {
        // The remainder is exact, and the product does not overflow.
        Feature::Cosine => "(math.cos(math.tau * math.remainder(t, 1.0)),)",
        Feature::Pair => {
            "(math.cos(math.tau * math.remainder(t, 1.0)), math.sin(math.tau * math.remainder(t, 1.0)))"
        }
        // Unlike 1 / (1 + exp(-t)) this never overflows.
        Feature::Sigmoid => "(0.5 + 0.5 * math.tanh(0.5 * t),)",
        Feature::Tanh => "(math.tanh(t),)",
        Feature::Relu => "(max(t, 0.0),)",
    };
    let _ = write!(
        text,
        "    for w, b in neurons:
        t = w[0]
        for j in range({d}):
            t += w[1 + j] * x[j]
        for p, value in enumerate({value}):
            for o in range({c}):
                y[o] += b[{c} * p + o] * value
",
    );
    push_results(&mut text, &network.outputs);
    text
}

/// The start of the module up to the docstring of the function, which says `what` it computes, and the names of its
/// parameters.
pub(crate) fn head(
    name: &str,
    what: &str,
    record: &Record,
    (inputs, outputs): (&[String], &[String]),
) -> (String, Vec<String>) {
    let parameters = parameters(inputs);
    let (first, rest) = what.split_at(1);
    let text = format!(
        "import math


def {name}({parameters}):
    \"\"\"{outputs} of {inputs}.

    {first}{rest}, fitted to {samples} samples by thinfit {version}.{levels}
    \"\"\"
",
        name = identifier(name),
        parameters = parameters.join(", "),
        first = first.to_uppercase(),
        outputs = listed(outputs),
        inputs = listed(inputs),
        levels = levels(inputs, "\n    "),
        samples = record.samples,
        version = remark(&record.version),
    );
    (text, parameters)
}

/// Appends a check of the parameters, the scaled inputs `x` and the constants `y` of the outputs (constant, shift, scale).
pub(crate) fn push_scaled(
    text: &mut String,
    parameters: &[String],
    inputs: &Scaler,
    outputs: &[[f64; 3]],
) {
    let lost = vec!["math.nan"; outputs.len()].join(", ");
    let _ = write!(
        text,
        "    if not all(abs(v) <= {LARGEST_NUMBER:e} for v in ({},)):
        return {lost}
    x = (\n",
        parameters.join(", ")
    );
    for (j, parameter) in parameters.iter().enumerate() {
        let value = scaled(inputs, j, parameter, "math.asinh");
        let _ = writeln!(text, "        {value},");
    }
    let constants: Vec<f64> = outputs.iter().map(|output| output[0]).collect();
    let constants = numbers(&constants);
    let _ = write!(
        text,
        "    )\n    y = [{}]\n",
        constants.trim_end_matches(", ")
    );
}

/// Appends the result, `y` in the units of the outputs (constant, shift, scale).
pub(crate) fn push_results(text: &mut String, outputs: &[[f64; 3]]) {
    let _ = writeln!(text, "    return {}", results(outputs).join(", "));
}

/// Input `j`, which is called `parameter`, scaled, in a language whose function is called `asinh`.
pub(crate) fn scaled(inputs: &Scaler, j: usize, parameter: &str, asinh: &str) -> String {
    let value = match inputs.warp_of(j) {
        None => parameter.to_owned(),
        Some(Warp { centre, width }) => {
            let centre = operand(centre);
            format!("{asinh}(({parameter} - {centre}) / {width:?})")
        }
    };
    let (shift, factor) = (operand(inputs.shift[j]), 1.0 / inputs.scale[j]);
    format!("({value} - {shift}) * {factor:?}")
}

/// The results from the sums `y`, in the units of the outputs (constant, shift, scale).
pub(crate) fn results(outputs: &[[f64; 3]]) -> Vec<String> {
    (outputs.iter().enumerate())
        .map(|(o, [_, shift, scale])| format!("{shift:?} + {} * y[{o}]", operand(*scale)))
        .collect()
}

/// The numbers, each followed by a comma and a space.
pub(crate) fn numbers(values: &[f64]) -> String {
    values.iter().map(|v| format!("{v:?}, ")).collect()
}

/// A number as an operand, in brackets if it is negative.
fn operand(value: f64) -> String {
    if value < 0.0 {
        format!("({value:?})")
    } else {
        format!("{value:?}")
    }
}
