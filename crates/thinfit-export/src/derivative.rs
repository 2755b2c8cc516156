//! Derivatives of expressions, and the forms of an expression that they need.

use crate::expression::Expression::{Affine, Binary, Call, Capped, Let, Number, WithSlope};
use crate::expression::{Expression, Function, Operator, Variable};

impl Expression {
    /// The derivative in a variable.
    pub fn derivative(&self, by: Variable) -> Self {
        match self {
            Number(_) => 0.0.into(),
            Expression::Variable(variable) => f64::from(u8::from(*variable == by)).into(),
            Call(function, argument) => {
                function.slope(argument.as_ref().clone()) * argument.derivative(by)
            }
            Binary(operator, a, b) => {
                let (da, db) = (a.derivative(by), b.derivative(by));
                let (a, b) = (a.as_ref().clone(), b.as_ref().clone());
                match operator {
                    Operator::Add => da + db,
                    Operator::Subtract => da - db,
                    Operator::Multiply if a == b => 2.0 * (da * a),
                    Operator::Multiply => da * b + a * db,
                    Operator::Divide => da / b.clone() - a * db / (b.clone() * b),
                    Operator::Min => {
                        let first = (b - a).call(Function::Step);
                        first.clone() * da + (1.0 - first) * db
                    }
                    Operator::Max => {
                        let first = (a - b).call(Function::Step);
                        first.clone() * da + (1.0 - first) * db
                    }
                }
            }
            Affine { weights, .. } => match by {
                Variable::Column(j) => weights.get(j).copied().unwrap_or(0.0).into(),
                _ => 0.0.into(),
            },
            Let { name, value, body } => {
                let own = body.derivative(Variable::Named(name)) * value.derivative(by);
                match body.derivative(by) + own {
                    Number(number) => number.into(),
                    slope => value.as_ref().clone().named(name, slope),
                }
            }
            Capped(value, _) => value.derivative(by),
            WithSlope {
                argument, slope, ..
            } => slope.as_ref().clone() * argument.derivative(by),
        }
    }

    /// (a, b) if it is a + b v for the variable v, without other variables.
    pub fn affine_in(&self, variable: Variable) -> Option<(f64, f64)> {
        let at_zero = self.substituted(&|other| match other == variable {
            true => 0.0.into(),
            false => other.into(),
        });
        match (at_zero, self.derivative(variable)) {
            (Number(a), Number(b)) => Some((a, b)),
            _ => None,
        }
    }

    /// Factor and rest of a product with a number: this is factor · rest.
    pub fn factored(self) -> (f64, Self) {
        match self {
            Number(number) => (number, 1.0.into()),
            Call(Function::Negative, value) => {
                let (factor, rest) = value.factored();
                (-factor, rest)
            }
            Binary(Operator::Multiply, a, b) => {
                let ((first, first_rest), (second, second_rest)) = (a.factored(), b.factored());
                let factor = (first * second).clamp(-f64::MAX, f64::MAX);
                (factor, first_rest * second_rest)
            }
            Let { name, value, body } => {
                let (factor, rest) = body.factored();
                match rest {
                    Number(_) => (factor, rest),
                    rest => (factor, value.named(name, rest)),
                }
            }
            other => (1.0, other),
        }
    }
}

impl Function {
    /// The derivative at `t`.
    fn slope(self, t: Expression) -> Expression {
        use std::f64::consts::TAU;
        let value = t.clone().call(self);
        match self {
            Function::Negative => (-1.0).into(),
            Function::Exp => value,
            Function::Sqrt => 0.5 / value,
            Function::Cosine => -TAU * t.call(Function::Sine),
            Function::Sine => TAU * t.call(Function::Cosine),
            Function::Sigmoid => value * (-t).call(Function::Sigmoid),
            Function::Tanh => 1.0 - value.clone() * value,
            Function::Positive => t.call(Function::Step),
            Function::Asinh => t.call(Function::AsinhSlope),
            Function::Step => 0.0.into(),
            Function::AsinhSlope => -t * value.clone() * value.clone() * value,
        }
    }
}
