//! A floating-point type, f32 or f64, with the functions that graphs use.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number of one precision; every operation is rounded to it.
pub(crate) trait Real:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// The nearest number.
    fn rounded(value: f64) -> Self;
    /// The same number.
    fn wide(self) -> f64;
    /// The numbers in the raw data of a tensor, little-endian.
    fn read(raw: &[u8]) -> Vec<Self>;
    /// The function of this name in ONNX; none for another name.
    fn function(name: &str) -> Option<fn(Self) -> Self>;
}

macro_rules! real {
    ($type:ident) => {
        impl Real for $type {
            const ZERO: Self = 0.0;

            fn rounded(value: f64) -> Self {
                value as $type
            }

            fn wide(self) -> f64 {
                self.into()
            }

            fn read(raw: &[u8]) -> Vec<Self> {
                let (numbers, _) = raw.as_chunks::<{ size_of::<$type>() }>();
                numbers.iter().copied().map($type::from_le_bytes).collect()
            }

            fn function(name: &str) -> Option<fn(Self) -> Self> {
                Some(match name {
                    "Abs" => $type::abs,
                    "Cos" => $type::cos,
                    "Exp" => $type::exp,
                    "Log" => $type::ln,
                    "Neg" => |t| -t,
                    "Relu" => |t| if t < 0.0 { 0.0 } else { t },
                    "Round" => $type::round_ties_even,
                    "Sigmoid" => |t| 1.0 / (1.0 + (-t).exp()),
                    "Sign" => |t| if t == 0.0 { 0.0 } else { t.signum() },
                    "Sin" => $type::sin,
                    "Sqrt" => $type::sqrt,
                    "Tanh" => $type::tanh,
                    _ => return None,
                })
            }
        }
    };
}

real!(f32);
real!(f64);
