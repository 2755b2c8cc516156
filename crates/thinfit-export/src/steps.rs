//! An ONNX graph under construction: constants and nodes by name, the scaling of the inputs, that of the outputs.

use crate::message::{AttributeProto, DOUBLE, FLOAT, GraphProto, INT, NodeProto, TensorProto};
use thinfit::{LARGEST_NUMBER, Precision, Scaler};

/// The element type of a precision.
pub(crate) fn element(precision: Precision) -> i32 {
    match precision {
        Precision::F32 => FLOAT,
        Precision::F64 => DOUBLE,
    }
}

/// A graph under construction.
pub(crate) struct Steps {
    /// Of inputs, outputs and, as long as nodes are added, of all that is between.
    pub precision: Precision,
    pub graph: GraphProto,
}

impl Steps {
    /// A graph of inputs `x` (d) that begins with `unusable`, which is 0 in rows that the model takes and NaN in the others:
    /// those with NaN, an infinity or a number beyond the largest of the model.
    pub(crate) fn new(d: usize, precision: Precision) -> Self {
        let mut steps = Steps {
            precision,
            graph: GraphProto::default(),
        };
        let mut x = "x".to_owned();
        if precision == Precision::F64 {
            // What is larger becomes infinite; single precision has nothing that is larger.
            x = steps.times(&x, f64::MAX / LARGEST_NUMBER, "large");
        }
        // Not a product with 0, which onnxruntime moves into the matrix product as ∞ · 0.
        steps.node("Sub", &[&x, &x], "nothing");
        steps.constant("ones", &[d, 1], (0..d).map(|_| 1.0));
        steps.node("MatMul", &["nothing", "ones"], "unusable");
        steps
    }

    /// Adds the scaling of `x`, to `scaled`: (x − shift) · factor, after the warp where there is one.
    pub(crate) fn scaling(&mut self, inputs: &Scaler) {
        let (steps, d) = (self, inputs.shift.len());
        let own = |j: usize| [inputs.shift[j], 1.0 / inputs.scale[j]];
        let first = |j: usize| match inputs.warp_of(j) {
            None => own(j),
            Some(warp) => [warp.centre, 1.0 / warp.width],
        };
        let shift = || (0..d).map(|j| first(j)[0]);
        steps.constant("shift", &[d], shift());
        steps.node("Sub", &["x", "shift"], "moved");
        let mut moved = "moved";
        if steps.precision == Precision::F32 {
            // The part of the shifts that single precision drops; without it, columns far from zero would lose digits.
            steps.constant("rest", &[d], shift().map(|v| v - f64::from(v as f32)));
            steps.node("Sub", &["moved", "rest"], "centred");
            moved = "centred";
        }
        steps.constant("factor", &[d], (0..d).map(|j| first(j)[1]));
        if inputs.warp.is_empty() {
            steps.node("Mul", &[moved, "factor"], "scaled");
            return;
        }
        steps.node("Mul", &[moved, "factor"], "distance");
        // asinh t = sign t · log(|t| + √(t² + 1)): runtimes have no Asinh in double precision. The larger of |t| and 1 is taken out
        // of the root, so that no square overflows.
        steps.scalar("one", 1.0);
        steps.node("Sign", &["distance"], "sign");
        steps.node("Abs", &["distance"], "size");
        steps.node("Max", &["size", "one"], "larger");
        steps.node("Div", &["size", "larger"], "size_share");
        steps.node("Div", &["one", "larger"], "one_share");
        steps.node("Mul", &["size_share", "size_share"], "size_square");
        steps.node("Mul", &["one_share", "one_share"], "one_square");
        steps.node("Add", &["size_square", "one_square"], "square");
        steps.node("Sqrt", &["square"], "root_share");
        steps.node("Mul", &["root_share", "larger"], "root");
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
    }

    /// Ends the graph with shift + scale · `sum`, or NaN.
    pub(crate) fn unscaling(&mut self, sum: &str, outputs: &[[f64; 2]]) {
        let c = outputs.len();
        self.constant("scale", &[c], outputs.iter().map(|output| output[1]));
        self.constant("mean", &[c], outputs.iter().map(|output| output[0]));
        self.node("Mul", &[sum, "scale"], "stretched");
        self.node("Add", &["stretched", "mean"], "moved_back");
        self.node("Add", &["moved_back", "unusable"], "y");
    }

    /// The same graph of double precision for inputs and outputs of single precision.
    pub(crate) fn with_single_ends(mut self) -> Self {
        for node in &mut self.graph.node {
            let names = node.input.iter_mut().chain(&mut node.output);
            for name in names.filter(|name| matches!(name.as_str(), "x" | "y")) {
                name.push_str("_double");
            }
        }
        let cast = |input: &str, output: &str, to: i32| NodeProto {
            input: vec![input.into()],
            output: vec![output.into()],
            name: format!("{output}_cast"),
            op_type: "Cast".into(),
            attribute: vec![AttributeProto {
                name: "to".into(),
                i: to.into(),
                r#type: INT,
            }],
        };
        let nodes = &mut self.graph.node;
        nodes.insert(0, cast("x", "x_double", DOUBLE));
        nodes.push(cast("y_double", "y", FLOAT));
        self.precision = Precision::F32;
        self
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
            attribute: Vec::new(),
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
