//! A model as one JavaScript function, for pages and for Node.

use crate::kernels;
use crate::name::{javascript_identifier, javascript_parameters, levels, listed, remark};
use crate::python::{numbers, results, scaled};
use std::fmt::Write;
use thinfit::{Feature, LARGEST_NUMBER, Model, Record, Scaler};
use thinfit_methods::Predictor;

/// A script and the name that it declares.
#[derive(Clone, Debug, PartialEq)]
pub struct JavaScript {
    /// The identifier.
    pub name: String,
    /// Declares the constant `name`; can stand between `<script>` and `</script>` as it is.
    pub script: String,
}

impl JavaScript {
    /// The same as an ES module, which exports `name`.
    pub fn module(&self) -> String {
        format!("{}\nexport {{ {} }};\n", self.script, self.name)
    }
}

/// A function `name(x1, …, xd)`, which returns a number, or an array of numbers for several outputs; NaN where an
/// argument is NaN or infinite.
///
/// Parameters are named after the columns; they and `name` are made identifiers. What the function is computed from are
/// its properties: `scaled`, which scales the inputs, and `neurons`, or `kernel` and `points`.
pub fn javascript(model: &Predictor, name: &str) -> JavaScript {
    let name = javascript_identifier(name);
    let script = match model {
        Predictor::Network(model) => script(model, &name),
        Predictor::Kernel(model) => kernels::javascript::script(model, &name),
    };
    JavaScript { name, script }
}

fn script(model: &Model, name: &str) -> String {
    let network = model.evaluator();
    let (d, c) = (network.inputs.len(), network.outputs.len());
    let what = crate::described(model);
    let columns = (&model.inputs[..], &model.outputs[..]);
    let (mut text, parameters) = head(name, &what, &model.record, columns);
    text.push_str(
        "  // Per neuron: offset and weights of the scaled inputs, then weights of its value in the outputs.
  const neurons = [\n",
    );
    push_pairs(&mut text, network.neurons());
    text.push_str("  ];\n");
    push_scaled(&mut text, &parameters, &model.input_scaler, "");
    // Whole turns are taken off first, which is exact.
    let values = match network.feature {
        Feature::Cosine => "[Math.cos(2 * Math.PI * (t - Math.round(t)))]",
        Feature::Pair => {
            "[Math.cos(2 * Math.PI * (t - Math.round(t))), Math.sin(2 * Math.PI * (t - Math.round(t)))]"
        }
        Feature::Sigmoid => "[0.5 + 0.5 * Math.tanh(0.5 * t)]",
        Feature::Tanh => "[Math.tanh(t)]",
        Feature::Relu => "[Math.max(t, 0)]",
    };
    let statements = format!(
        "    for (const [w, b] of neurons) {{
      let t = w[0];
      for (let j = 0; j < {d}; j++) t += w[1 + j] * x[j];
      {values}.forEach((value, p) => {{
        for (let o = 0; o < {c}; o++) y[o] += b[{c} * p + o] * value;
      }});
    }}\n",
    );
    push_function(&mut text, &network.outputs, &statements);
    push_tail(&mut text, &parameters, c, "scaled, neurons");
    text
}

/// The start of the script, which says `what` it computes, and the names of its parameters.
pub(crate) fn head(
    name: &str,
    what: &str,
    record: &Record,
    (inputs, outputs): (&[String], &[String]),
) -> (String, Vec<String>) {
    let (first, rest) = what.split_at(1);
    let text = format!(
        "// {outputs} of {inputs}.
// {first}{rest}, fitted to {samples} samples by thinfit {version}.{levels}
const {name} = (() => {{
  \"use strict\";
",
        first = first.to_uppercase(),
        outputs = comment(&listed(outputs)),
        inputs = comment(&listed(inputs)),
        levels = levels(inputs, "\n// "),
        samples = record.samples,
        version = comment(&remark(&record.version)),
    );
    (text, javascript_parameters(inputs))
}

/// The remark without what a page would take for a tag or a comment, even in a script.
fn comment(remark: &str) -> String {
    remark.replace('<', "< ")
}

/// Appends pairs of lists, one a line.
pub(crate) fn push_pairs(
    text: &mut String,
    pairs: impl Iterator<Item = (impl AsRef<[f64]>, impl AsRef<[f64]>)>,
) {
    let list = |values: &[f64]| numbers(values).trim_end_matches(", ").to_owned();
    for (a, b) in pairs {
        let _ = writeln!(
            text,
            "    [[{}], [{}]],",
            list(a.as_ref()),
            list(b.as_ref())
        );
    }
}

/// Appends the function `scaled` of the parameters, whose list goes through the function `then`, if that is one.
pub(crate) fn push_scaled(text: &mut String, parameters: &[String], inputs: &Scaler, then: &str) {
    let _ = writeln!(
        text,
        "  const scaled = ({}) => {then}([",
        parameters.join(", ")
    );
    for (j, parameter) in parameters.iter().enumerate() {
        let value = scaled(inputs, j, parameter, "Math.asinh");
        let _ = writeln!(text, "    {value},");
    }
    text.push_str("  ]);\n");
}

/// Appends the function `values` of the scaled inputs `x`, whose `statements` add to the sums `y` of the outputs
/// (constant, shift, scale).
pub(crate) fn push_function(text: &mut String, outputs: &[[f64; 3]], statements: &str) {
    let constants: Vec<f64> = outputs.iter().map(|output| output[0]).collect();
    let constants = numbers(&constants);
    let results = match &results(outputs)[..] {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    let _ = write!(
        text,
        "  const values = (x) => {{
    const y = [{}];
{statements}    return {results};
  }};
",
        constants.trim_end_matches(", ")
    );
}

/// Appends the end of the script: the function of so many outputs with these properties.
pub(crate) fn push_tail(
    text: &mut String,
    parameters: &[String],
    outputs: usize,
    properties: &str,
) {
    let parameters = parameters.join(", ");
    let lost = match outputs {
        1 => "NaN".to_owned(),
        several => format!("[{}]", vec!["NaN"; several].join(", ")),
    };
    let _ = write!(
        text,
        "  const usable = (...row) => row.every((v) => Math.abs(v) <= {LARGEST_NUMBER:e});
  return Object.assign(
    ({parameters}) => (usable({parameters}) ? values(scaled({parameters})) : {lost}),
    {{ {properties} }},
  );
}})();\n",
    );
}
