//! Describes the terms and edges of a kernel.

use std::io::Write;

use thinfit::Scaler;
use thinfit_methods::{Crossing, Kernel};

use super::shorten;
use crate::digits::four_digits;
use crate::failure::Failure;

/// The parts with their lengths, and the edges. `inputs` are the names of the inputs, `meanings` what they mean.
pub fn write(
    out: &mut impl Write,
    kernel: &Kernel,
    scaler: &Scaler,
    inputs: &[String],
    meanings: &[String],
) -> Result<(), Failure> {
    for part in &kernel.terms {
        let shape = part.shape.name();
        let weight = match part.weight {
            1.0 => String::new(),
            weight => format!(" of weight {}", four_digits(weight)),
        };
        let length = |(&j, length): (&usize, &f64)| match scaler.scale.get(j) {
            Some(scale) => format!("{}: {}", meanings[j], four_digits(length * scale)),
            None => format!(
                "edge {}: {}",
                j - scaler.scale.len() + 1,
                four_digits(*length)
            ),
        };
        let lengths: Vec<String> = part.inputs.iter().zip(&part.lengths).map(length).collect();
        writeln!(
            out,
            "  {shape}{weight}; length scales in the units of the inputs: {}",
            shorten(&lengths)
        )?;
    }
    for (e, edge) in kernel.edges.iter().enumerate() {
        let (what, place) = (edge.crossing, edge.place(inputs, scaler));
        let what = match what {
            Crossing::Jump => "jumps",
            Crossing::Bend => "bends",
        };
        writeln!(out, "  edge {}: {what} where {place}", e + 1)?;
    }
    writeln!(out)?;
    Ok(())
}
