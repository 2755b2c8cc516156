//! What a fitted model computes, described once for all languages:
//!
//! ```text
//! x      scaled inputs, each an expression of one input, then columns that are derived from them
//! q_i    reductions over the columns, for one row p of a table: a neuron or a point
//! φ      expressions of the reductions
//! s_o    constant_o + Σ over the rows of Σ_φ weight_oφ φ
//! f_o    result_o, an expression of the sums
//! ```
//!
//! A row of inputs with NaN, an infinity or a number beyond [`thinfit::LARGEST_NUMBER`] has the value NaN.

use crate::expression::{Expression, Function, Operator, Variable};
use crate::{kernel, network};
use thinfit::{Record, Scaler, Warp};
use thinfit_methods::Predictor;

/// A model as expressions.
pub(crate) struct Formula<'a> {
    /// What the model is, in words.
    pub what: String,
    /// Metadata of the file other than the names.
    pub metadata: Vec<(&'static str, String)>,
    pub inputs: &'a [String],
    pub outputs: &'a [String],
    pub record: &'a Record,
    /// The range of each input in the samples, and the scaling that `scaled` writes out: single precision needs other forms of it.
    pub domain: &'a [[f64; 2]],
    pub scaler: &'a Scaler,
    /// Each scaled input, of the input as it is given.
    pub scaled: Vec<Expression>,
    /// The columns after the scaled inputs, of these.
    pub derived: Vec<Expression>,
    pub table: Table,
    pub reductions: Vec<Reduction>,
    /// The functions φ of the reductions.
    pub functions: Vec<Expression>,
    /// The constant of each sum.
    pub constants: Vec<f64>,
    /// Each output, of the sums.
    pub results: Vec<Expression>,
}

/// What the rows of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Offset and weights of a neuron.
    Neurons,
    /// The columns of a point.
    Points,
}

impl Rows {
    /// The numbers of a row, in words.
    pub fn of(self) -> &'static str {
        match self {
            Rows::Neurons => "Offset and weights of a neuron",
            Rows::Points => "The columns of a point",
        }
    }
}

/// Constants that the model sums over.
pub(crate) struct Table {
    pub rows: Rows,
    /// The numbers p of each row.
    pub numbers: Vec<Vec<f64>>,
    /// Its weights in the outputs, function by function.
    pub weights: Vec<Vec<f64>>,
}

/// A number that is computed from all columns x and a row p.
pub(crate) enum Reduction {
    /// p_0 + Σ_j p_{j+1} x_j.
    Inner,
    /// An expression of the difference on each axis, put together.
    OverAxes {
        operation: Operation,
        axes: Vec<Axis>,
        each: Expression,
    },
}

/// How the values of all axes are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Sum,
    Product,
    /// The elementary symmetric polynomial of this order.
    Symmetric(usize),
}

/// A column in a reduction.
pub(crate) struct Axis {
    pub column: usize,
    /// 1/ℓ.
    pub inverse: f64,
    /// The number of [`Variable::Share`], one if there is none.
    pub share: f64,
}

impl<'a> Formula<'a> {
    pub fn new(model: &'a Predictor) -> Self {
        match model {
            Predictor::Network(model) => network::formula(model),
            Predictor::Kernel(model) => kernel::formula(model),
        }
    }

    /// Scaled inputs and those derived from them.
    pub fn columns(&self) -> usize {
        self.scaled.len() + self.derived.len()
    }

    /// Whether an input is warped.
    pub fn is_warped(&self) -> bool {
        !self.scaler.warp.is_empty()
    }
}

impl Reduction {
    /// The axes; none for an inner product.
    pub fn axes(&self) -> &[Axis] {
        match self {
            Reduction::Inner => &[],
            Reduction::OverAxes { axes, .. } => axes,
        }
    }

    /// Whether the axes have shares.
    pub fn has_shares(&self) -> bool {
        match self {
            Reduction::Inner => false,
            Reduction::OverAxes { each, .. } => each.contains(&|v| v == Variable::Share),
        }
    }
}

/// The scaled inputs: (u − shift) · factor, where u is the input, or its warp asinh((x − centre)/width).
pub(crate) fn scaled(scaler: &Scaler) -> Vec<Expression> {
    let one = |j: usize| {
        let input = Expression::from(Variable::Input(j));
        let value = match scaler.warp_of(j) {
            None => input,
            Some(Warp { centre, width }) => {
                let moved = Expression::binary(Operator::Subtract, input, centre);
                Expression::binary(Operator::Divide, moved, width).call(Function::Asinh)
            }
        };
        // Not folded, so that all inputs have one form.
        let moved = Expression::binary(Operator::Subtract, value, scaler.shift[j]);
        Expression::binary(Operator::Multiply, moved, 1.0 / scaler.scale[j])
    };
    (0..scaler.shift.len()).map(one).collect()
}

/// The results shift + scale · sum.
pub(crate) fn unscaled(outputs: impl Iterator<Item = [f64; 2]>) -> Vec<Expression> {
    let one = |(o, [shift, scale]): (usize, [f64; 2])| {
        let stretched = Expression::binary(Operator::Multiply, scale, Variable::Sum(o));
        Expression::binary(Operator::Add, shift, stretched)
    };
    outputs.enumerate().map(one).collect()
}
