//! A real-valued expression as a tree, which every language writes.
//!
//! Operators of Rust build it: `(1.0 + r) * (-r).exp()`. Zeros, ones and operations between two numbers are folded.

use std::mem::discriminant;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What an expression depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// Input `j` as it is given.
    Input(usize),
    /// Column `j`: a scaled input, or after these a column that is derived from them.
    Column(usize),
    /// Reduction `i` over the columns, for one row of the table.
    Reduction(usize),
    /// (x_j − p_j)/ℓ_j on the axis of a reduction.
    Difference,
    /// The share of the axis of a reduction.
    Share,
    /// The sum of output `o` over all rows of the table.
    Sum(usize),
    /// A value with a name.
    Named(&'static str),
}

/// An elementary function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    Negative,
    Exp,
    Sqrt,
    /// cos 2πt.
    Cosine,
    /// sin 2πt.
    Sine,
    /// 1/(1 + e⁻ᵗ).
    Sigmoid,
    Tanh,
    /// max(t, 0).
    Positive,
    Asinh,
    /// 1 where t > 0, otherwise 0. In derivatives only, which only C has, as the next.
    Step,
    /// The derivative of asinh, 1/√(1 + t²).
    AsinhSlope,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Min,
    Max,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    Number(f64),
    Variable(Variable),
    Call(Function, Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// offset + Σ_j weights_j x_j over the scaled inputs.
    Affine {
        offset: f64,
        weights: Vec<f64>,
    },
    /// `body`, in which `name` is the value.
    Let {
        name: &'static str,
        value: Box<Expression>,
        body: Box<Expression>,
    },
    /// The smaller of an expression and a bound beyond which no digit of the result changes; formulas leave it out.
    Capped(Box<Expression>, f64),
    /// A function of `argument` whose derivative in it, `slope`, has a better form than the rules give.
    WithSlope {
        value: Box<Expression>,
        argument: Box<Expression>,
        slope: Box<Expression>,
    },
}

use Expression::{Affine, Binary, Call, Capped, Let, Number, WithSlope};

impl Expression {
    pub fn binary(operator: Operator, a: impl Into<Self>, b: impl Into<Self>) -> Self {
        Binary(operator, Box::new(a.into()), Box::new(b.into()))
    }

    pub fn call(self, function: Function) -> Self {
        Call(function, Box::new(self))
    }

    pub fn exp(self) -> Self {
        self.call(Function::Exp)
    }

    pub fn clamped(self, low: f64, high: f64) -> Self {
        Self::binary(Operator::Max, low, Self::binary(Operator::Min, self, high))
    }

    pub fn capped(self, bound: f64) -> Self {
        Capped(Box::new(self), bound)
    }

    /// `body`, in which `name` is this.
    pub fn named(self, name: &'static str, body: Self) -> Self {
        Let {
            name,
            value: Box::new(self),
            body: Box::new(body),
        }
    }

    /// This function of `argument`, with its derivative in it.
    pub fn with_slope(self, argument: Self, slope: Self) -> Self {
        WithSlope {
            value: Box::new(self),
            argument: Box::new(argument),
            slope: Box::new(slope),
        }
    }

    pub fn is_zero(&self) -> bool {
        *self == Number(0.0)
    }

    /// The value of a constant; NaN for any other expression.
    pub fn number(&self) -> f64 {
        match self {
            Number(number) => *number,
            _ => f64::NAN,
        }
    }

    /// The variable that it is.
    pub fn variable(&self) -> Option<Variable> {
        match self {
            Expression::Variable(variable) => Some(*variable),
            _ => None,
        }
    }

    /// What its outermost operation is applied to first; itself if there is none.
    pub fn first(&self) -> &Self {
        self.children().into_iter().next().unwrap_or(self)
    }

    /// The last one that it is applied to.
    pub fn second(&self) -> &Self {
        self.children().pop().unwrap_or(self)
    }

    /// Whether both have one form and differ in numbers and variables of one kind alone.
    pub fn is_like(&self, other: &Self) -> bool {
        let own = match (self, other) {
            (Call(a, _), Call(b, _)) => a == b,
            (Binary(a, ..), Binary(b, ..)) => a == b,
            (Capped(_, a), Capped(_, b)) => a == b,
            (Let { name: a, .. }, Let { name: b, .. }) => a == b,
            (Expression::Variable(a), Expression::Variable(b)) => {
                discriminant(a) == discriminant(b)
            }
            _ => discriminant(self) == discriminant(other),
        };
        let children = self.children().into_iter().zip(other.children());
        own && children.into_iter().all(|(a, b)| a.is_like(b))
    }

    /// The same with another expression for each variable.
    pub fn substituted(&self, other: &dyn Fn(Variable) -> Self) -> Self {
        let substituted = |e: &Self| e.substituted(other);
        match self {
            Number(_) => self.clone(),
            Expression::Variable(variable) => other(*variable),
            Call(function, argument) => substituted(argument).call(*function),
            Binary(operator, a, b) => {
                let (a, b) = (substituted(a), substituted(b));
                match operator {
                    Operator::Add => a + b,
                    Operator::Subtract => a - b,
                    Operator::Multiply => a * b,
                    Operator::Divide => a / b,
                    _ => Self::binary(*operator, a, b),
                }
            }
            Affine { .. } => substituted(&self.expanded()),
            Let { name, value, body } => substituted(value).named(name, substituted(body)),
            Capped(value, bound) => substituted(value).capped(*bound),
            WithSlope {
                value,
                argument,
                slope,
            } => substituted(value).with_slope(substituted(argument), substituted(slope)),
        }
    }

    /// An affine form as a sum of products, those with zero left out; anything else as it is.
    pub fn expanded(&self) -> Self {
        let Affine { offset, weights } = self else {
            return self.clone();
        };
        let terms = weights.iter().enumerate().filter(|(_, w)| **w != 0.0);
        let terms = terms.map(|(j, w)| *w * Self::from(Variable::Column(j)));
        match terms.reduce(Add::add) {
            None => (*offset).into(),
            Some(sum) if *offset < 0.0 => sum - Number(-offset),
            Some(sum) => sum + Number(*offset),
        }
    }

    /// Whether it contains a variable for which this holds.
    pub fn contains(&self, holds: &dyn Fn(Variable) -> bool) -> bool {
        match self {
            Number(_) => false,
            Expression::Variable(variable) => holds(*variable),
            Affine { weights, .. } => (0..weights.len()).any(|j| holds(Variable::Column(j))),
            _ => self.children().iter().any(|child| child.contains(holds)),
        }
    }

    /// What its value is computed from.
    fn children(&self) -> Vec<&Self> {
        match self {
            Number(_) | Expression::Variable(_) | Affine { .. } => vec![],
            Call(_, value) | Capped(value, _) | WithSlope { value, .. } => vec![value],
            Binary(_, a, b) => vec![a, b],
            Let { value, body, .. } => vec![value, body],
        }
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Number(number)
    }
}

impl From<Variable> for Expression {
    fn from(variable: Variable) -> Self {
        Expression::Variable(variable)
    }
}

impl Neg for Expression {
    type Output = Self;

    fn neg(self) -> Self {
        match self {
            Number(number) => Number(-number),
            other => other.call(Function::Negative),
        }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $name:ident, $symbol:tt, $($special:pat => $result:expr),+) => {
        impl $trait for Expression {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                match (self, other) {
                    // Languages have no literal for what is not finite.
                    (Number(a), Number(b)) if (a $symbol b).is_finite() => Number(a $symbol b),
                    $($special => $result,)+
                    (a, b) => Self::binary(Operator::$name, a, b),
                }
            }
        }

        impl $trait<f64> for Expression {
            type Output = Self;

            fn $method(self, other: f64) -> Self {
                self $symbol Number(other)
            }
        }

        impl $trait<Expression> for f64 {
            type Output = Expression;

            fn $method(self, other: Expression) -> Expression {
                Number(self) $symbol other
            }
        }
    };
}

operator!(Add, add, Add, +, (Number(0.0), b) => b, (a, Number(0.0)) => a);
operator!(Sub, sub, Subtract, -, (Number(0.0), b) => -b, (a, Number(0.0)) => a);
operator!(
    Mul, mul, Multiply, *,
    (Number(0.0), _) | (_, Number(0.0)) => Number(0.0),
    (Number(1.0), b) => b,
    (a, Number(1.0)) => a,
    (Number(-1.0), b) => -b,
    (a, Number(-1.0)) => -a
);
operator!(Div, div, Divide, /, (Number(0.0), _) => Number(0.0), (a, Number(1.0)) => a);
