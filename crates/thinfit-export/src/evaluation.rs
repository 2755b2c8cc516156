//! An exported graph evaluated operation by operation in its own precision, each result rounded, sums in order: what a
//! runtime computes, up to the order in which it sums and its own roundings of elementary functions.

use crate::message::{FLOAT, GraphProto, NodeProto};
use crate::real::Real;
use std::collections::HashMap;
use thinfit::Precision;

/// Rows that go through the graph together, so that values of all nodes stay small.
const ROWS: usize = 32;

/// A row-major matrix.
#[derive(Clone)]
struct Table<T> {
    columns: usize,
    numbers: Vec<T>,
}

impl<T> Table<T> {
    fn rows(&self) -> usize {
        self.numbers.len() / self.columns.max(1)
    }

    /// Row `i`; the only row stands for all.
    fn row(&self, i: usize) -> &[T] {
        &self.numbers[(i % self.rows()) * self.columns..][..self.columns]
    }
}

/// The precision that a graph computes in: that of its constants.
pub(crate) fn arithmetic(graph: &GraphProto) -> Precision {
    let mut types = graph.initializer.iter().map(|tensor| tensor.data_type);
    match types.all(|element| element == FLOAT) {
        true => Precision::F32,
        false => Precision::F64,
    }
}

/// [`evaluate`] in the precision of the graph.
pub(crate) fn evaluated(graph: &GraphProto, x: &[f64], columns: usize) -> Result<Vec<f64>, String> {
    match arithmetic(graph) {
        Precision::F32 => evaluate::<f32>(graph, x, columns),
        Precision::F64 => evaluate::<f64>(graph, x, columns),
    }
}

/// `y` of the graph for the rows of `x` (row-major, `columns` numbers each), as f64.
///
/// # Errors
/// The name of an operator or value that is not known, which is a bug of the export.
fn evaluate<T: Real>(graph: &GraphProto, x: &[f64], columns: usize) -> Result<Vec<f64>, String> {
    let constants = graph.initializer.iter().map(|tensor| {
        let table = Table {
            columns: tensor.dims.last().map_or(1, |&dim| dim as usize),
            numbers: T::read(&tensor.raw_data),
        };
        (tensor.name.as_str(), table)
    });
    let constants: HashMap<&str, Table<T>> = constants.collect();
    // Values are dropped after their last use.
    let mut last: HashMap<&str, usize> = HashMap::new();
    for (place, node) in graph.node.iter().enumerate() {
        last.extend(node.input.iter().map(|name| (name.as_str(), place)));
    }
    let mut y = Vec::new();
    for block in x.chunks(ROWS * columns) {
        let x = Table {
            columns,
            numbers: block.iter().map(|&v| T::rounded(v)).collect(),
        };
        let mut values = HashMap::from([("x", x)]);
        for (place, node) in graph.node.iter().enumerate() {
            let value = apply(node, &constants, &values)?;
            values.insert(&node.output[0], value);
            values.retain(|name, _| last.get(name).is_none_or(|last| *last > place));
        }
        let result = values.remove("y").ok_or("y")?;
        y.extend(result.numbers.into_iter().map(T::wide));
    }
    Ok(y)
}

/// The value of a node.
fn apply<T: Real>(
    node: &NodeProto,
    constants: &HashMap<&str, Table<T>>,
    values: &HashMap<&str, Table<T>>,
) -> Result<Table<T>, String> {
    let input = |i: usize| {
        let name = node.input.get(i).map_or("", |name| name.as_str());
        let known = values.get(name).or_else(|| constants.get(name));
        known.ok_or(name)
    };
    let a = input(0)?;
    let operator = node.op_type.as_str();
    if let Some(function) = T::function(operator) {
        return Ok(Table {
            columns: a.columns,
            numbers: a.numbers.iter().map(|&v| function(v)).collect(),
        });
    }
    if operator == "Cast" {
        // A cast to double is of inputs, which were of single precision.
        let single = |v: &T| T::rounded(f64::from(v.wide() as f32));
        return Ok(Table {
            columns: a.columns,
            numbers: a.numbers.iter().map(single).collect(),
        });
    }
    if operator == "Concat" {
        let parts = (0..node.input.len()).map(input);
        return Ok(concatenated(&parts.collect::<Result<Vec<_>, _>>()?));
    }
    let b = input(1)?;
    Ok(match operator {
        "Add" => pairs(a, b, |a, b| a + b),
        "Sub" => pairs(a, b, |a, b| a - b),
        "Mul" => pairs(a, b, |a, b| a * b),
        "Div" => pairs(a, b, |a, b| a / b),
        "Min" => pairs(a, b, |a, b| if a > b { b } else { a }),
        "Max" => pairs(a, b, |a, b| if a < b { b } else { a }),
        "MatMul" => product(a, b, None),
        "Gemm" => product(a, b, Some(input(2)?)),
        other => return Err(other.into()),
    })
}

/// The operator for all pairs; a single row or column stands for as many as the other operand has.
fn pairs<T: Real>(a: &Table<T>, b: &Table<T>, operator: impl Fn(T, T) -> T) -> Table<T> {
    let (rows, columns) = (a.rows().max(b.rows()), a.columns.max(b.columns));
    let mut numbers = Vec::with_capacity(rows * columns);
    for i in 0..rows {
        let (a, b) = (a.row(i), b.row(i));
        match (a, b) {
            (&[a], b) => numbers.extend(b.iter().map(|&b| operator(a, b))),
            (a, &[b]) => numbers.extend(a.iter().map(|&a| operator(a, b))),
            _ => numbers.extend(a.iter().zip(b).map(|(&a, &b)| operator(a, b))),
        }
    }
    Table { columns, numbers }
}

/// The columns of all tables, in order.
fn concatenated<T: Real>(tables: &[&Table<T>]) -> Table<T> {
    let rows = tables.iter().map(|table| table.rows()).max().unwrap_or(0);
    let row = |i: usize| tables.iter().flat_map(move |table| table.row(i));
    Table {
        columns: tables.iter().map(|table| table.columns).sum(),
        numbers: (0..rows).flat_map(row).copied().collect(),
    }
}

/// a · b + c, sums in the order of the columns of `a`.
fn product<T: Real>(a: &Table<T>, b: &Table<T>, c: Option<&Table<T>>) -> Table<T> {
    let columns = b.columns;
    let mut numbers = Vec::with_capacity(a.rows() * columns);
    let mut sums = vec![T::ZERO; columns];
    for i in 0..a.rows() {
        sums.fill(T::ZERO);
        for (&a, b) in a.row(i).iter().zip(b.numbers.chunks_exact(columns)) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum = *sum + a * b;
            }
        }
        match c {
            None => numbers.extend_from_slice(&sums),
            Some(c) => numbers.extend(sums.iter().zip(c.row(i)).map(|(&sum, &c)| sum + c)),
        }
    }
    Table { columns, numbers }
}
