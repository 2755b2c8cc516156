//! A model as an ONNX graph; a network is one matrix product into the neurons, the activation, one product out of them.

use crate::difference::{Difference, Inaccurate, Probes, TOLERANCE};
use crate::kernels;
use crate::message::{
    Dimension, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use crate::phases::push_phases;
use crate::steps::{Steps, element};
use prost::Message;
use std::f64::consts::TAU;
use thinfit::{Feature, Model, Precision, Record};
use thinfit_methods::Predictor;
use thinfit_text::clean;

/// Versions of the file format and of the operators, both of 2022: current runtimes read them.
const VERSIONS: (i64, i64) = (8, 17);

/// An ONNX file, and how far it is from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Onnx {
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// Its largest difference from what the model predicts.
    pub difference: Difference,
}

/// An ONNX file: input `x` of shape \[N, d\], output `y` of shape \[N, c\], both of the given precision. A row with NaN or an
/// infinity gives NaN.
///
/// Column names are in the documentation strings and, as `inputs` and `outputs`, one per line, in the metadata. In single
/// precision a graph that would be too far from the model computes in double precision between its inputs and its outputs, where
/// terms cancel less.
///
/// # Errors
/// The graph is further than [`TOLERANCE`] from what the model predicts.
pub fn onnx(model: &Predictor, precision: Precision) -> Result<Onnx, Inaccurate> {
    let probes = Probes::new(model);
    let (steps, difference) = steps(model, precision, &probes);
    let difference = difference.checked(precision)?;
    let bytes = bytes(model, steps);
    Ok(Onnx { bytes, difference })
}

/// The graph of the model, and how far it is from what the model predicts.
pub(crate) fn steps(
    model: &Predictor,
    precision: Precision,
    probes: &Probes,
) -> (Steps, Difference) {
    let steps = plain(model, precision);
    let difference = probes.difference(&steps);
    if difference.largest <= TOLERANCE || precision == Precision::F64 {
        return (steps, difference);
    }
    let steps = plain(model, Precision::F64).with_single_ends();
    let difference = probes.difference(&steps);
    (steps, difference)
}

/// The graph of the model, all of it in this precision.
pub(crate) fn plain(model: &Predictor, precision: Precision) -> Steps {
    match model {
        Predictor::Network(model) => network(model, precision),
        Predictor::Kernel(model) => kernels::onnx::steps(model, precision),
    }
}

/// The bytes of the file with a graph of the model.
pub(crate) fn bytes(model: &Predictor, steps: Steps) -> Vec<u8> {
    let (what, more) = match model {
        Predictor::Network(model) => {
            let name = model.activation().name();
            let what = format!("a network of {} neurons, activation {name}", model.width());
            (what, vec![entry("activation", name.into())])
        }
        Predictor::Kernel(model) => (kernels::described(model), vec![]),
    };
    let columns = (model.inputs(), model.outputs());
    file(columns, model.record(), &what, more, steps)
}

/// The bytes of the file: names, description, metadata beside the names, and the graph.
fn file(
    (inputs, outputs): (&[String], &[String]),
    record: &Record,
    what: &str,
    more: Vec<StringStringEntryProto>,
    steps: Steps,
) -> Vec<u8> {
    // A line of the metadata is a name.
    let plain = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| clean(name).into_owned()).collect()
    };
    let (inputs, outputs) = (&plain(inputs)[..], &plain(outputs)[..]);
    let value = |name: &str, columns: &[String], what| ValueInfoProto {
        name: name.into(),
        doc_string: format!("{what}, one row per sample: {}", columns.join(", ")),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorTypeProto {
                elem_type: element(steps.precision),
                shape: Some(TensorShapeProto {
                    dim: vec![
                        Dimension {
                            dim_param: Some("N".into()),
                            ..Dimension::default()
                        },
                        Dimension {
                            dim_value: Some(columns.len() as i64),
                            ..Dimension::default()
                        },
                    ],
                }),
            }),
        }),
    };
    let graph = GraphProto {
        name: "thinfit".into(),
        input: vec![value("x", inputs, "inputs")],
        output: vec![value("y", outputs, "outputs")],
        ..steps.graph
    };
    let description = format!(
        "{} of {} by {what}, fitted to {} samples",
        outputs.join(", "),
        inputs.join(", "),
        record.samples,
    );
    let mut metadata = vec![
        entry("inputs", inputs.join("\n")),
        entry("outputs", outputs.join("\n")),
    ];
    metadata.extend(more);
    ModelProto {
        ir_version: VERSIONS.0,
        producer_name: "thinfit".into(),
        producer_version: clean(&record.version).into_owned(),
        doc_string: description,
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: VERSIONS.1,
        }],
        metadata_props: metadata,
    }
    .encode_to_vec()
}

fn entry(key: &str, value: String) -> StringStringEntryProto {
    StringStringEntryProto {
        key: key.into(),
        value,
    }
}

/// The graph of a network.
fn network(model: &Model, precision: Precision) -> Steps {
    let (network, inputs) = (&model.evaluator(), &model.input_scaler);
    let mut steps = Steps::new(model.dim(), precision);
    let waves = matches!(network.feature, Feature::Cosine | Feature::Pair);
    if waves && precision == Precision::F32 {
        push_phases(&mut steps, network, model);
    } else {
        steps.scaling(inputs);
        let (d, n) = (network.inputs.len(), network.neurons().len());
        // Runtimes expect radians; 2π in the weights saves a pass over all neurons.
        let unit = if waves { TAU } else { 1.0 };
        let weights = |j: usize| network.neurons().map(move |(w, _)| unit * w[j]);
        steps.constant("hidden", &[d, n], (1..=d).flat_map(weights));
        steps.constant("offset", &[n], weights(0));
        steps.node("Gemm", &["scaled", "hidden", "offset"], "t");
    }
    let (n, c) = (network.neurons().len(), network.outputs.len());
    let mut sum = "bias".to_owned();
    steps.constant("bias", &[c], network.outputs.iter().map(|output| output[0]));
    let planes: &[&str] = match network.feature {
        Feature::Cosine => &["Cos"],
        Feature::Pair => &["Cos", "Sin"],
        Feature::Sigmoid => &["Sigmoid"],
        Feature::Tanh => &["Tanh"],
        Feature::Relu => &["Relu"],
    };
    for (p, plane) in planes.iter().enumerate() {
        let (name, next) = (format!("output_{plane}"), format!("sum_{plane}"));
        steps.node(plane, &["t"], plane);
        let output = network.neurons();
        let output = output.flat_map(|(_, b)| b[p * c..][..c].iter().copied());
        steps.constant(&name, &[n, c], output);
        steps.node("Gemm", &[plane, &name, &sum], &next);
        sum = next;
    }
    let outputs = network.outputs.iter();
    let scaling: Vec<[f64; 2]> = outputs.map(|[_, shift, scale]| [*shift, *scale]).collect();
    steps.unscaling(&sum, &scaling);
    steps
}
