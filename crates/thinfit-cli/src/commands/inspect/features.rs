//! The largest features of a network.

use std::io::Write;

use serde::Serialize;
use thinfit::Model;

use super::shorten;
use crate::digits::four_digits;
use crate::failure::Failure;

/// One neuron: hidden weights in the units of the data and |b|/n in the units of the output.
#[derive(Serialize)]
pub struct Feature {
    magnitude: f64,
    weights: Vec<f64>,
}

/// The `count` largest features of output `o`.
pub fn largest(model: &Model, o: usize, count: usize) -> Vec<Feature> {
    let (w, b) = (model.hidden(), model.magnitudes());
    let mut features: Vec<Feature> = (0..model.width())
        .map(|l| Feature {
            magnitude: b[(l, o)],
            weights: w.row(l).iter().copied().collect(),
        })
        .collect();
    features.sort_by(|a, b| b.magnitude.total_cmp(&a.magnitude));
    features.truncate(count);
    features
}

/// A line for each feature, with its weights by what the inputs mean; those that are zero do not act on the input.
pub fn write(
    out: &mut impl Write,
    features: &[Feature],
    meanings: &[String],
) -> Result<(), Failure> {
    if features.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "  largest features, |b|/n and weights per unit of each input:"
    )?;
    for feature in features {
        let weights = feature.weights.iter().zip(meanings);
        let weights: Vec<String> = weights
            .filter(|(weight, _)| **weight != 0.0)
            .map(|(weight, meaning)| format!("{meaning}: {}", four_digits(*weight)))
            .collect();
        let weights = match weights.is_empty() {
            true => "a constant".into(),
            false => shorten(&weights),
        };
        writeln!(out, "  {:>10}   {weights}", four_digits(feature.magnitude))?;
    }
    writeln!(out)?;
    Ok(())
}
