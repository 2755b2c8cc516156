//! Random user ranges: parts of the samples' ranges and beyond, logarithmic ones, integers, and fewer levels.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use thinfit_design::{Input, Range, Space};
use thinfit_methods::{InputColumn, Predictor};
use thinfit_study::Ranges;

/// Ranges for some of the columns of a model, and how they are called.
pub fn given(model: &Predictor, random: &mut ChaCha8Rng) -> (Ranges, Vec<String>) {
    let factors = InputColumn::all(model);
    let mut inputs = Vec::new();
    for factor in &factors {
        if random.random_range(0..3) == 0 {
            let name = factor.name.clone();
            let range = range(factor, random);
            inputs.push(Input { name, range });
        }
    }
    if inputs.is_empty() {
        return (Ranges::of(model), vec![]);
    }
    let asked = inputs
        .iter()
        .map(|input| format!("{} in {:?}", input.name, input.range));
    let asked = asked.collect();
    let space = Space::new(inputs).unwrap();
    (Ranges::within(model, &space).unwrap(), asked)
}

fn range(factor: &InputColumn, random: &mut ChaCha8Rng) -> Range {
    if factor.is_switch() {
        let levels = [&["true"][..], &["false"], &["false", "true"]];
        return Range::Levels(
            levels[random.random_range(0..3)]
                .iter()
                .map(|s| (*s).into())
                .collect(),
        );
    }
    if !factor.levels.is_empty() {
        let most = factor.levels.len();
        let first = random.random_range(0..most);
        let count = random.random_range(1..=most);
        let levels = (0..count).map(|k| factor.levels[(first + k) % most].name.clone());
        return Range::Levels(levels.collect());
    }
    let mut row = vec![0.0; factor.first + 1];
    let ends = [0.0, 0.5].map(|from| {
        factor.set(from + 0.4 * random.random::<f64>(), &mut row);
        row[factor.first]
    });
    let [mut low, mut high] = ends;
    let width = factor.range[1] - factor.range[0];
    if random.random_range(0..3) == 0 {
        (low, high) = (factor.range[0] - 0.2 * width, factor.range[1] + 0.1 * width);
    }
    match random.random_range(0..4) {
        0 if high - low >= 2.0 => Range::Whole {
            low: low.ceil() as i64,
            high: high.floor() as i64,
        },
        1 if low > 0.0 && high > low => Range::Log { low, high },
        _ if high > low => Range::Real { low, high },
        _ => Range::Real {
            low,
            high: low + 1.0,
        },
    }
}
