//! A model as an ONNX file.

use crate::difference::{Difference, Inaccurate, Probes, TOLERANCE};
use crate::formula::Formula;
use crate::graph::{Graph, element};
use crate::lowering::lowered;
use crate::message::{
    Dimension, GraphProto, ModelProto, OperatorSetIdProto, StringStringEntryProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto,
};
use prost::Message;
use thinfit::Precision;
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
    let formula = Formula::new(model);
    let (graph, difference) = graph(&formula, precision, &Probes::new(model));
    let difference = difference.checked(precision)?;
    let bytes = bytes(&formula, graph);
    Ok(Onnx { bytes, difference })
}

/// The graph of the model, and how far it is from what the model predicts.
pub(crate) fn graph(
    formula: &Formula<'_>,
    precision: Precision,
    probes: &Probes,
) -> (Graph, Difference) {
    let graph = lowered(formula, precision);
    let difference = probes.difference(&graph);
    if difference.largest <= TOLERANCE || precision == Precision::F64 {
        return (graph, difference);
    }
    let graph = lowered(formula, Precision::F64).with_single_ends();
    let difference = probes.difference(&graph);
    (graph, difference)
}

/// The bytes of the file: names, description, further metadata, and the graph.
pub(crate) fn bytes(formula: &Formula<'_>, graph: Graph) -> Vec<u8> {
    // A line of the metadata is a name.
    let plain = |names: &[String]| -> Vec<String> {
        names.iter().map(|name| clean(name).into_owned()).collect()
    };
    let (inputs, outputs) = (&plain(formula.inputs)[..], &plain(formula.outputs)[..]);
    let value = |name: &str, columns: &[String], what| ValueInfoProto {
        name: name.into(),
        doc_string: format!("{what}, one row per sample: {}", columns.join(", ")),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorTypeProto {
                elem_type: element(graph.precision),
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
    let proto = GraphProto {
        name: "thinfit".into(),
        input: vec![value("x", inputs, "inputs")],
        output: vec![value("y", outputs, "outputs")],
        ..graph.proto
    };
    let description = format!(
        "{} of {} by {}, fitted to {} samples",
        outputs.join(", "),
        inputs.join(", "),
        formula.what,
        formula.record.samples,
    );
    let mut metadata = vec![
        entry("inputs", inputs.join("\n")),
        entry("outputs", outputs.join("\n")),
    ];
    let more = formula.metadata.iter();
    metadata.extend(more.map(|(key, value)| entry(key, value.clone())));
    ModelProto {
        ir_version: VERSIONS.0,
        producer_name: "thinfit".into(),
        producer_version: clean(&formula.record.version).into_owned(),
        doc_string: description,
        graph: Some(proto),
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
