//! A network as an ONNX graph: one matrix product into the neurons, the activation, one product out of them.

use crate::message::{
    DOUBLE, Dimension, FLOAT, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};
use prost::Message;
use std::f64::consts::TAU;
use thinfit::{Evaluator, Feature, Model, Precision, Warp};

/// Versions of the file format and of the operators, both of 2022: current runtimes read them.
const VERSIONS: (i64, i64) = (8, 17);

/// The bytes of an ONNX file: input `x` of shape \[N, d\], output `y` of shape \[N, c\], both of the given precision.
///
/// Column names are in the documentation strings and, as `inputs` and `outputs`, one per line, in the metadata.
pub fn onnx(model: &Model, precision: Precision) -> Vec<u8> {
    let value = |name: &str, columns: &[String], what| ValueInfoProto {
        name: name.into(),
        doc_string: format!("{what}, one row per sample: {}", columns.join(", ")),
        r#type: Some(TypeProto {
            tensor_type: Some(TensorTypeProto {
                elem_type: element(precision),
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
    let entry = |key: &str, value: String| StringStringEntryProto {
        key: key.into(),
        value,
    };
    let graph = GraphProto {
        name: "thinfit".into(),
        input: vec![value("x", &model.inputs, "inputs")],
        output: vec![value("y", &model.outputs, "outputs")],
        ..Steps::of(&model.evaluator(), precision).graph
    };
    let description = format!(
        "{} of {} by a network of {} neurons, activation {}, fitted to {} samples",
        model.outputs.join(", "),
        model.inputs.join(", "),
        model.width(),
        model.activation().name(),
        model.record.samples,
    );
    ModelProto {
        ir_version: VERSIONS.0,
        producer_name: "thinfit".into(),
        producer_version: model.record.version.clone(),
        doc_string: description,
        graph: Some(graph),
        opset_import: vec![OperatorSetIdProto {
            domain: String::new(),
            version: VERSIONS.1,
        }],
        metadata_props: vec![
            entry("inputs", model.inputs.join("\n")),
            entry("outputs", model.outputs.join("\n")),
            entry("activation", model.activation().name().into()),
        ],
    }
    .encode_to_vec()
}

fn element(precision: Precision) -> i32 {
    match precision {
        Precision::F32 => FLOAT,
        Precision::F64 => DOUBLE,
    }
}

/// A graph under construction.
struct Steps {
    precision: Precision,
    graph: GraphProto,
}

impl Steps {
    fn of(network: &Evaluator, precision: Precision) -> Self {
        let mut steps = Steps {
            precision,
            graph: GraphProto::default(),
        };
        let (d, n) = (network.inputs.len(), network.neurons().len());
        let c = network.outputs.len();
        let scaled = steps.scaled_inputs(network);
        // Runtimes expect radians; 2π in the weights saves a pass over all neurons.
        let unit = match network.feature {
            Feature::Cosine | Feature::Pair => TAU,
            Feature::Sigmoid | Feature::Tanh | Feature::Relu => 1.0,
        };
        let weights = |j: usize| network.neurons().map(move |(w, _)| unit * w[j]);
        steps.constant("hidden", &[d, n], (1..=d).flat_map(weights));
        steps.constant("offset", &[n], weights(0));
        steps.node("Gemm", &[scaled, "hidden", "offset"], "t");
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
        steps.constant(
            "scale",
            &[c],
            network.outputs.iter().map(|output| output[2]),
        );
        steps.constant("mean", &[c], network.outputs.iter().map(|output| output[1]));
        steps.node("Mul", &[&sum, "scale"], "stretched");
        steps.node("Add", &["stretched", "mean"], "y");
        steps
    }

    /// The value that holds the scaled inputs: (x − shift) · factor, and after that the warp where there is one.
    fn scaled_inputs(&mut self, network: &Evaluator) -> &'static str {
        let d = network.inputs.len();
        let inputs = || network.inputs.iter().zip(&network.warps);
        let first = |(input, warp): (&[f64; 2], &Option<Warp>)| match warp {
            None => *input,
            Some(warp) => [warp.centre, 1.0 / warp.width],
        };
        let shift = || inputs().map(first).map(|[shift, _]| shift);
        self.constant("shift", &[d], shift());
        self.node("Sub", &["x", "shift"], "moved");
        let mut moved = "moved";
        if self.precision == Precision::F32 {
            // The part of the shifts that single precision drops; without it, columns far from zero would lose digits.
            self.constant("rest", &[d], shift().map(|v| v - f64::from(v as f32)));
            self.node("Sub", &["moved", "rest"], "centred");
            moved = "centred";
        }
        self.constant(
            "factor",
            &[d],
            inputs().map(first).map(|[_, factor]| factor),
        );
        self.node("Mul", &[moved, "factor"], "scaled");
        if network.warps.iter().all(Option::is_none) {
            return "scaled";
        }
        // asinh t = sign t · log(|t| + √(t² + 1)): runtimes have no Asinh in double precision.
        self.constant("one", &[1], std::iter::once(1.0));
        self.node("Sign", &["scaled"], "sign");
        self.node("Abs", &["scaled"], "size");
        self.node("Mul", &["size", "size"], "square");
        self.node("Add", &["square", "one"], "above_one");
        self.node("Sqrt", &["above_one"], "root");
        self.node("Add", &["size", "root"], "sum");
        self.node("Log", &["sum"], "log");
        self.node("Mul", &["log", "sign"], "asinh");
        // straight + (asinh − warp_shift) · warp_factor, one of the two zero in each column.
        let straight = |warp: &Option<Warp>| f64::from(u8::from(warp.is_none()));
        self.constant("unwarped", &[d], network.warps.iter().map(straight));
        self.node("Mul", &["scaled", "unwarped"], "straight");
        let second =
            |end: usize| inputs().map(move |(input, warp)| warp.map_or(0.0, |_| input[end]));
        self.constant("warp_shift", &[d], second(0));
        self.constant("warp_factor", &[d], second(1));
        self.node("Sub", &["asinh", "warp_shift"], "moved_asinh");
        self.node("Mul", &["moved_asinh", "warp_factor"], "bent");
        self.node("Add", &["straight", "bent"], "inputs");
        "inputs"
    }

    fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&input| input.into()).collect(),
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
        });
    }

    fn constant(&mut self, name: &str, dims: &[usize], values: impl Iterator<Item = f64>) {
        let raw_data = match self.precision {
            Precision::F32 => values.flat_map(|v| (v as f32).to_le_bytes()).collect(),
            Precision::F64 => values.flat_map(f64::to_le_bytes).collect(),
        };
        self.graph.initializer.push(TensorProto {
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            data_type: element(self.precision),
            name: name.into(),
            raw_data,
        });
    }
}
