//! An ONNX graph under construction: nodes and constants, which name themselves.

use crate::message::{AttributeProto, DOUBLE, FLOAT, GraphProto, INT, NodeProto, TensorProto};
use thinfit::Precision;

/// The element type of a precision.
pub(crate) fn element(precision: Precision) -> i32 {
    match precision {
        Precision::F32 => FLOAT,
        Precision::F64 => DOUBLE,
    }
}

/// A graph from `x` to `y`.
pub(crate) struct Graph {
    /// Of inputs, outputs and, as long as nodes are added, of all that is between.
    pub precision: Precision,
    pub proto: GraphProto,
}

impl Graph {
    pub fn new(precision: Precision) -> Self {
        Graph {
            precision,
            proto: GraphProto::default(),
        }
    }

    /// Adds a node; returns the name of its output.
    pub fn node(&mut self, operator: &str, inputs: &[&str]) -> String {
        let output = format!("{}_{}", operator.to_lowercase(), self.proto.node.len());
        self.node_to(operator, inputs, output.clone());
        output
    }

    /// Adds a node whose output has this name.
    pub fn node_to(&mut self, operator: &str, inputs: &[&str], output: String) {
        self.proto.node.push(NodeProto {
            input: inputs.iter().map(|&input| input.into()).collect(),
            name: output.clone(),
            output: vec![output],
            op_type: operator.into(),
            attribute: vec![],
        });
    }

    /// Concatenates columns.
    pub fn concatenated(&mut self, columns: &[String]) -> String {
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let output = self.node("Concat", &columns);
        self.set_attribute("axis", 1);
        output
    }

    /// Sets a whole number of the last node.
    fn set_attribute(&mut self, name: &str, i: i64) {
        if let Some(node) = self.proto.node.last_mut() {
            node.attribute.push(AttributeProto {
                name: name.into(),
                i,
                r#type: INT,
            });
        }
    }

    /// Adds a constant; returns its name.
    pub fn constant(&mut self, dims: &[usize], values: impl IntoIterator<Item = f64>) -> String {
        let values = values.into_iter();
        let raw_data = match self.precision {
            Precision::F32 => values.flat_map(|v| (v as f32).to_le_bytes()).collect(),
            Precision::F64 => values.flat_map(f64::to_le_bytes).collect(),
        };
        let name = format!("constant_{}", self.proto.initializer.len());
        self.proto.initializer.push(TensorProto {
            dims: dims.iter().map(|&dim| dim as i64).collect(),
            data_type: element(self.precision),
            name: name.clone(),
            raw_data,
        });
        name
    }

    /// Adds an operation with a number on the right.
    pub fn with_number(&mut self, operator: &str, input: &str, number: f64) -> String {
        let number = self.constant(&[1], [number]);
        self.node(operator, &[input, &number])
    }

    /// Adds an operation with one number for each column on the right.
    pub fn with_row(
        &mut self,
        operator: &str,
        input: &str,
        row: impl ExactSizeIterator<Item = f64>,
    ) -> String {
        let row = self.constant(&[row.len()], row);
        self.node(operator, &[input, &row])
    }

    /// Column `j` of `table` (N × d). A single column is not multiplied: onnxruntime merges a product with a number into a matrix
    /// product that follows, and rounds the number to single precision.
    pub fn column(&mut self, table: &str, d: usize, j: usize) -> String {
        if d == 1 {
            return table.into();
        }
        let unit = self.constant(&[d, 1], (0..d).map(|k| f64::from(u8::from(k == j))));
        self.node("MatMul", &[table, &unit])
    }

    /// asinh t = sign t · log(|t| + √(t² + 1)): runtimes have no Asinh in double precision. The larger of |t| and 1 is taken out of
    /// the root, so that no square overflows.
    pub fn asinh(&mut self, t: &str) -> String {
        let one = self.constant(&[1], [1.0]);
        let (sign, size) = (self.node("Sign", &[t]), self.node("Abs", &[t]));
        let larger = self.node("Max", &[&size, &one]);
        let shares = [&size, &one].map(|part| self.node("Div", &[part, &larger]));
        let [a, b] = shares.map(|share| self.node("Mul", &[&share, &share]));
        let square = self.node("Add", &[&a, &b]);
        let root = self.node("Sqrt", &[&square]);
        let root = self.node("Mul", &[&root, &larger]);
        let sum = self.node("Add", &[&size, &root]);
        let log = self.node("Log", &[&sum]);
        self.node("Mul", &[&log, &sign])
    }

    /// The same graph of double precision for inputs and outputs of single precision.
    pub fn with_single_ends(mut self) -> Self {
        for node in &mut self.proto.node {
            let names = node.input.iter_mut().chain(&mut node.output);
            for name in names.filter(|name| matches!(name.as_str(), "x" | "y")) {
                name.push_str("_double");
            }
            node.name = node.output.concat();
        }
        self.node_to("Cast", &["x"], "x_double".into());
        self.set_attribute("to", DOUBLE.into());
        self.proto.node.rotate_right(1);
        self.node_to("Cast", &["y_double"], "y".into());
        self.set_attribute("to", FLOAT.into());
        self.precision = Precision::F32;
        self
    }
}
