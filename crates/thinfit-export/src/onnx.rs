//! A model as an ONNX graph; a network is one matrix product into the neurons, the activation, one product out of them.

use crate::kernels;
use crate::message::{
    DOUBLE, Dimension, FLOAT, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TensorShapeProto, TensorTypeProto, TypeProto,
    ValueInfoProto,
};
use prost::Message;
use std::f64::consts::TAU;
use thinfit::{Evaluator, Feature, Precision, Record, Scaler};
use thinfit_methods::Predictor;
use thinfit_text::clean;

/// Versions of the file format and of the operators, both of 2022: current runtimes read them.
const VERSIONS: (i64, i64) = (8, 17);

/// The bytes of an ONNX file: input `x` of shape \[N, d\], output `y` of shape \[N, c\], both of the given precision.
///
/// Column names are in the documentation strings and, as `inputs` and `outputs`, one per line, in the metadata.
pub fn onnx(model: &Predictor, precision: Precision) -> Vec<u8> {
    match model {
        Predictor::Network(model) => {
            let name = model.activation().name();
            let what = format!("a network of {} neurons, activation {name}", model.width());
            let columns = (&model.inputs[..], &model.outputs[..]);
            let more = vec![entry("activation", name.into())];
            let steps = Steps::of(&model.evaluator(), &model.input_scaler, precision);
            file(columns, &model.record, &what, more, steps)
        }
        Predictor::Kernel(model) => kernels::onnx::bytes(model, precision),
    }
}

/// The bytes of the file: names, description, metadata beside the names, and the graph.
pub(crate) fn file(
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

fn element(precision: Precision) -> i32 {
    match precision {
        Precision::F32 => FLOAT,
        Precision::F64 => DOUBLE,
    }
}

/// A graph under construction.
pub(crate) struct Steps {
    precision: Precision,
    graph: GraphProto,
}

impl Steps {
    /// A graph that begins with the scaling of `x`, to `scaled`: (x − shift) · factor, after the warp where there is one.
    pub(crate) fn scaling(inputs: &Scaler, precision: Precision) -> Self {
        let mut steps = Steps {
            precision,
            graph: GraphProto::default(),
        };
        let d = inputs.shift.len();
        let own = |j: usize| [inputs.shift[j], 1.0 / inputs.scale[j]];
        let first = |j: usize| match inputs.warp_of(j) {
            None => own(j),
            Some(warp) => [warp.centre, 1.0 / warp.width],
        };
        let shift = || (0..d).map(|j| first(j)[0]);
        steps.constant("shift", &[d], shift());
        steps.node("Sub", &["x", "shift"], "moved");
        let mut moved = "moved";
        if precision == Precision::F32 {
            // The part of the shifts that single precision drops; without it, columns far from zero would lose digits.
            steps.constant("rest", &[d], shift().map(|v| v - f64::from(v as f32)));
            steps.node("Sub", &["moved", "rest"], "centred");
            moved = "centred";
        }
        steps.constant("factor", &[d], (0..d).map(|j| first(j)[1]));
        if inputs.warp.is_empty() {
            steps.node("Mul", &[moved, "factor"], "scaled");
            return steps;
        }
        steps.node("Mul", &[moved, "factor"], "distance");
        // asinh t = sign t · log(|t| + √(t² + 1)): runtimes have no Asinh in double precision.
        steps.scalar("one", 1.0);
        steps.node("Sign", &["distance"], "sign");
        steps.node("Abs", &["distance"], "size");
        steps.node("Mul", &["size", "size"], "square");
        steps.node("Add", &["square", "one"], "above_one");
        steps.node("Sqrt", &["above_one"], "root");
        steps.node("Add", &["size", "root"], "above");
        steps.node("Log", &["above"], "log");
        steps.node("Mul", &["log", "sign"], "asinh");
        // straight + (asinh − warp_shift) · warp_factor, one of the two zero in each column.
        let straight = |j: usize| f64::from(u8::from(inputs.warp_of(j).is_none()));
        steps.constant("unwarped", &[d], (0..d).map(straight));
        steps.node("Mul", &["distance", "unwarped"], "straight");
        let second = |j: usize, k: usize| inputs.warp_of(j).map_or(0.0, |_| own(j)[k]);
        steps.constant("warp_shift", &[d], (0..d).map(|j| second(j, 0)));
        steps.constant("warp_factor", &[d], (0..d).map(|j| second(j, 1)));
        steps.node("Sub", &["asinh", "warp_shift"], "moved_asinh");
        steps.node("Mul", &["moved_asinh", "warp_factor"], "bent");
        steps.node("Add", &["straight", "bent"], "scaled");
        steps
    }

    fn of(network: &Evaluator, inputs: &Scaler, precision: Precision) -> Self {
        let mut steps = Steps::scaling(inputs, precision);
        let (d, n) = (network.inputs.len(), network.neurons().len());
        let c = network.outputs.len();
        // Runtimes expect radians; 2π in the weights saves a pass over all neurons.
        let unit = match network.feature {
            Feature::Cosine | Feature::Pair => TAU,
            Feature::Sigmoid | Feature::Tanh | Feature::Relu => 1.0,
        };
        let weights = |j: usize| network.neurons().map(move |(w, _)| unit * w[j]);
        steps.constant("hidden", &[d, n], (1..=d).flat_map(weights));
        steps.constant("offset", &[n], weights(0));
        steps.node("Gemm", &["scaled", "hidden", "offset"], "t");
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

    /// Ends the graph with shift + scale · `sum`.
    pub(crate) fn unscaling(&mut self, sum: &str, outputs: &[[f64; 2]]) {
        let c = outputs.len();
        self.constant("scale", &[c], outputs.iter().map(|output| output[1]));
        self.constant("mean", &[c], outputs.iter().map(|output| output[0]));
        self.node("Mul", &[sum, "scale"], "stretched");
        self.node("Add", &["stretched", "mean"], "y");
    }

    /// Adds a node and returns the name of its output.
    pub(crate) fn apply(&mut self, operator: &str, inputs: &[&str], output: String) -> String {
        self.node(operator, inputs, &output);
        output
    }

    /// Adds a product with a number and returns its name.
    pub(crate) fn times(&mut self, input: &str, factor: f64, output: &str) -> String {
        let name = format!("{output}_factor");
        self.scalar(&name, factor);
        self.apply("Mul", &[input, &name], output.into())
    }

    /// Adds a sum with a number and returns its name.
    pub(crate) fn plus(&mut self, input: &str, term: f64, output: &str) -> String {
        let name = format!("{output}_term");
        self.scalar(&name, term);
        self.apply("Add", &[input, &name], output.into())
    }

    /// Adds a number.
    pub(crate) fn scalar(&mut self, name: &str, value: f64) {
        self.constant(name, &[1], std::iter::once(value));
    }

    pub(crate) fn node(&mut self, operator: &str, inputs: &[&str], output: &str) {
        self.graph.node.push(NodeProto {
            input: inputs.iter().map(|&input| input.into()).collect(),
            output: vec![output.into()],
            name: output.into(),
            op_type: operator.into(),
        });
    }

    pub(crate) fn constant(
        &mut self,
        name: &str,
        dims: &[usize],
        values: impl Iterator<Item = f64>,
    ) {
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
