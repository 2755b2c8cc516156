//! A formula as an ONNX graph for all rows at once: a reduction is a matrix of N rows by the rows of the table, and the sums are
//! matrix products.

use crate::expression::{Expression, Function, Operator, Variable};
use crate::formula::{Axis, Formula, Operation, Reduction};
use crate::graph::Graph;
use crate::phase::phases;
use std::f64::consts::TAU;
use thinfit::{LARGEST_NUMBER, Precision};

/// The graph of a formula that computes in this precision.
pub(crate) fn lowered(formula: &Formula<'_>, precision: Precision) -> Graph {
    let is_wave =
        |e: &Expression| matches!(e, Expression::Call(Function::Cosine | Function::Sine, _));
    let mut lowering = Lowering {
        formula,
        graph: Graph::new(precision),
        waves: formula.functions.iter().all(is_wave),
        scaled: None,
        differences: vec![None; formula.columns()],
        difference: String::new(),
        reductions: vec![],
        sums: String::new(),
        named: vec![],
    };
    let unusable = lowering.unusable();
    for reduction in &formula.reductions {
        let value = lowering.reduction(reduction);
        lowering.reductions.push(value);
    }
    lowering.push_sums();
    let results: Vec<&Expression> = formula.results.iter().collect();
    let results = lowering.expressions(&results);
    lowering
        .graph
        .node_to("Add", &[&results, &unusable], "y".into());
    lowering.graph
}

/// A graph under construction, and the names of what is there.
pub(crate) struct Lowering<'a> {
    pub formula: &'a Formula<'a>,
    pub graph: Graph,
    /// Whether the functions are waves: then inner products are in radians.
    waves: bool,
    scaled: Option<String>,
    /// x_j − p_j for each column.
    differences: Vec<Option<String>>,
    /// The difference on the axis of a reduction.
    difference: String,
    reductions: Vec<String>,
    sums: String,
    /// The named values that are known.
    named: Vec<(&'static str, String)>,
}

impl Lowering<'_> {
    /// 0 in rows that the model takes, NaN in others: those with NaN, an infinity or a number beyond the largest of the model.
    fn unusable(&mut self) -> String {
        let (d, mut x) = (self.formula.scaled.len(), "x".to_owned());
        if self.graph.precision == Precision::F64 {
            // What is larger becomes infinite; single precision has nothing that is larger.
            x = self.graph.with_number("Mul", &x, f64::MAX / LARGEST_NUMBER);
        }
        // Not a product with 0, which onnxruntime moves into the matrix product as ∞ · 0.
        let nothing = self.graph.node("Sub", &[&x, &x]);
        let ones = self.graph.constant(&[d, 1], (0..d).map(|_| 1.0));
        self.graph.node("MatMul", &[&nothing, &ones])
    }

    /// The scaled inputs (N × d).
    pub fn scaled(&mut self) -> String {
        if let Some(scaled) = &self.scaled {
            return scaled.clone();
        }
        let expressions: Vec<&Expression> = self.formula.scaled.iter().collect();
        let scaled = self.expressions(&expressions);
        self.scaled.insert(scaled).clone()
    }

    /// Adds the sums of all outputs.
    fn push_sums(&mut self) {
        let (formula, c) = (self.formula, self.formula.constants.len());
        let constants = formula.constants.iter().copied();
        self.sums = self.graph.constant(&[c], constants);
        for (k, function) in formula.functions.iter().enumerate() {
            let value = self.expressions(&[function]);
            let weights = &formula.table.weights;
            let rows = weights.iter().flat_map(|row| row[k * c..][..c].iter());
            let weights = self.graph.constant(&[weights.len(), c], rows.copied());
            self.sums = self.graph.node("Gemm", &[&value, &weights, &self.sums]);
        }
    }

    fn reduction(&mut self, reduction: &Reduction) -> String {
        let rows = &self.formula.table.numbers;
        let Reduction::OverAxes {
            operation,
            axes,
            each,
        } = reduction
        else {
            if self.waves && self.graph.precision == Precision::F32 {
                return phases(self);
            }
            let scaled = self.scaled();
            // Runtimes expect radians; 2π in the weights saves a pass over all neurons.
            let unit = if self.waves { TAU } else { 1.0 };
            let (d, n) = (self.formula.scaled.len(), rows.len());
            let column = |j: usize| rows.iter().map(move |p| unit * p[j]);
            let weights = self.graph.constant(&[d, n], (1..=d).flat_map(column));
            let offset = self.graph.constant(&[n], column(0));
            return self.graph.node("Gemm", &[&scaled, &weights, &offset]);
        };
        // e_0 = 1 is not stored; e_p is there from the p-th axis on.
        let mut e: Vec<String> = Vec::new();
        let order = match operation {
            Operation::Symmetric(order) => *order,
            _ => 1,
        };
        for (count, axis) in axes.iter().enumerate() {
            let value = self.on_axis(axis, each);
            if let (Operation::Product, Some(product)) = (operation, e.first()) {
                e[0] = self.graph.node("Mul", &[product, &value]);
                continue;
            }
            for p in (1..=order.min(count + 1)).rev() {
                let product = match p {
                    1 => value.clone(),
                    _ => self.graph.node("Mul", &[&value, &e[p - 2]]),
                };
                match e.get(p - 1) {
                    None => e.push(product),
                    Some(old) => e[p - 1] = self.graph.node("Add", &[old, &product]),
                }
            }
        }
        e.swap_remove(order - 1)
    }

    /// The value of an expression on an axis.
    fn on_axis(&mut self, axis: &Axis, each: &Expression) -> String {
        let difference = self.difference(axis.column);
        self.difference = self.graph.with_number("Mul", &difference, axis.inverse);
        let each = each.substituted(&|variable| match variable {
            Variable::Share => axis.share.into(),
            other => other.into(),
        });
        self.expressions(&[&each])
    }

    /// x_j − p_j at all points: (N × 1) − (1 × m).
    fn difference(&mut self, j: usize) -> String {
        if let Some(difference) = &self.differences[j] {
            return difference.clone();
        }
        let (formula, d) = (self.formula, self.formula.scaled.len());
        let p = formula.table.numbers.iter().map(|p| p[j]);
        let (m, single) = (p.len(), self.graph.precision == Precision::F32);
        let difference = if single && j < d && formula.scaler.warp_of(j).is_none() {
            // In units of the data, where a point is two numbers: near it the difference to the first is exact, so that only the
            // difference itself is rounded, not row and point.
            let (shift, scale) = (formula.scaler.shift[j], formula.scaler.scale[j]);
            let places = p.map(|p| p.mul_add(scale, shift));
            let first = |v: f64| f64::from(v as f32);
            let near = self.graph.constant(&[1, m], places.clone().map(first));
            let rest = self.graph.constant(&[1, m], places.map(|v| v - first(v)));
            let x = self.graph.column("x", d, j);
            let moved = self.graph.node("Sub", &[&x, &near]);
            let moved = self.graph.node("Sub", &[&moved, &rest]);
            self.graph.with_number("Mul", &moved, 1.0 / scale)
        } else {
            let x = match formula.derived.get(j.wrapping_sub(d)) {
                Some(derived) => self.expressions(&[derived]),
                None => self.expressions(&[&Variable::Column(j).into()]),
            };
            let points = self.graph.constant(&[1, m], p);
            self.graph.node("Sub", &[&x, &points])
        };
        self.differences[j].insert(difference).clone()
    }

    /// The values of several expressions as columns, computed together where they have one form.
    pub fn expressions(&mut self, list: &[&Expression]) -> String {
        let first = list[0];
        if list.iter().any(|other| !first.is_like(other)) {
            return self.one_by_one(list);
        }
        let all = |of: fn(&Expression) -> &Expression| -> Vec<&Expression> {
            list.iter().map(|e| of(e)).collect()
        };
        match first {
            Expression::Number(_) => {
                let numbers = list.iter().map(|e| e.number());
                self.graph.constant(&[list.len()], numbers)
            }
            Expression::Variable(variable) => self.variable(*variable, list),
            Expression::Call(function, _) => {
                let argument = self.expressions(&all(Expression::first));
                let is_reduction = |e: &&Expression| {
                    matches!(e.first(), Expression::Variable(Variable::Reduction(_)))
                };
                self.call(
                    *function,
                    &argument,
                    self.waves && list.iter().all(is_reduction),
                )
            }
            Expression::Binary(operator, ..) => self.binary(*operator, list),
            Expression::Affine { offset, weights } if list.len() == 1 => {
                let scaled = self.scaled();
                let along = match weights[..] {
                    [weight] => self.graph.with_number("Mul", &scaled, weight),
                    _ => {
                        let dims = [weights.len(), 1];
                        let weights = self.graph.constant(&dims, weights.iter().copied());
                        self.graph.node("MatMul", &[&scaled, &weights])
                    }
                };
                self.graph.with_number("Add", &along, *offset)
            }
            Expression::Affine { .. } => self.one_by_one(list),
            Expression::Let { name, .. } => {
                let value = self.expressions(&all(Expression::first));
                self.named.push((name, value));
                let body = self.expressions(&all(Expression::second));
                self.named.pop();
                body
            }
            Expression::Capped(_, bound) => {
                let value = self.expressions(&all(Expression::first));
                self.graph.with_number("Min", &value, *bound)
            }
            Expression::WithSlope { .. } => self.expressions(&all(Expression::first)),
        }
    }

    fn one_by_one(&mut self, list: &[&Expression]) -> String {
        let columns = list.iter().map(|&e| self.expressions(&[e]));
        let columns: Vec<String> = columns.collect();
        self.graph.concatenated(&columns)
    }

    fn variable(&mut self, first: Variable, list: &[&Expression]) -> String {
        let (d, c) = (self.formula.scaled.len(), self.formula.constants.len());
        let (table, columns, of): (_, _, fn(usize) -> Variable) = match first {
            Variable::Input(_) => ("x".to_owned(), d, Variable::Input),
            Variable::Column(_) => (self.scaled(), d, Variable::Column),
            Variable::Sum(_) => (self.sums.clone(), c, Variable::Sum),
            Variable::Reduction(i) => return self.reductions[i].clone(),
            Variable::Difference | Variable::Share => return self.difference.clone(),
            Variable::Named(name) => {
                let known = self.named.iter().rev().find(|(known, _)| *known == name);
                return known.expect("a name has a value").1.clone();
            }
        };
        let is = |e: &Expression, variable: Variable| *e == Expression::Variable(variable);
        if (0..columns)
            .map(of)
            .eq(list.iter().filter_map(|e| e.variable()))
        {
            return table;
        }
        match (0..columns).find(|&j| list.iter().all(|e| is(e, of(j)))) {
            Some(j) => self.graph.column(&table, columns, j),
            None => self.one_by_one(list),
        }
    }

    fn binary(&mut self, operator: Operator, list: &[&Expression]) -> String {
        let (a, b): (Vec<&Expression>, Vec<&Expression>) =
            list.iter().map(|e| (e.first(), e.second())).unzip();
        let a_is_input = matches!(a[0].variable(), Some(Variable::Input(_)));
        let shifts: Vec<f64> = b.iter().map(|e| e.number()).collect();
        let value = self.expressions(&a);
        let name = match operator {
            Operator::Add => "Add",
            Operator::Subtract => "Sub",
            Operator::Multiply => "Mul",
            Operator::Divide => "Div",
            Operator::Min => "Min",
            Operator::Max => "Max",
        };
        let other = self.expressions(&b);
        let result = self.graph.node(name, &[&value, &other]);
        let single = self.graph.precision == Precision::F32;
        if single && a_is_input && operator == Operator::Subtract && !shifts[0].is_nan() {
            // The part of the shifts that single precision drops; without it, columns far from zero would lose digits.
            let rest = shifts.iter().map(|v| v - f64::from(*v as f32));
            return self.graph.with_row("Sub", &result, rest);
        }
        result
    }

    /// A function of `t`, of an angle in turns unless it is in radians.
    fn call(&mut self, function: Function, t: &str, radians: bool) -> String {
        let name = match function {
            Function::Negative => "Neg",
            Function::Exp => "Exp",
            Function::Sqrt => "Sqrt",
            Function::Cosine => "Cos",
            Function::Sine => "Sin",
            Function::Sigmoid => "Sigmoid",
            Function::Tanh => "Tanh",
            Function::Positive => "Relu",
            Function::Asinh => return self.graph.asinh(t),
            Function::Step | Function::AsinhSlope => unreachable!("values have no slopes"),
        };
        match function {
            Function::Cosine | Function::Sine if !radians => {
                let angle = self.graph.with_number("Mul", t, TAU);
                self.graph.node(name, &[&angle])
            }
            _ => self.graph.node(name, &[t]),
        }
    }
}
