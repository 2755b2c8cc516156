//! The phases of waves in single precision, to nearly its last digit.
//!
//! A phase is t = θ + Σ w_j x_j in turns, of which only the fraction matters. Rounded to 24 bits, ten turns leave four bits
//! fewer. So inputs and weights are cut in two: coarse parts with so few bits that the sum of their products is exact, whose
//! whole turns are then taken off exactly; and the rest, whose products are small.
//!
//! ```text
//! c + e = x − shift, exactly, in units of a power of two        c = coarse + fine        w = first + second
//! t = frac(θ₁ + Σ first · coarse) + (θ₂ + Σ first · fine + Σ second · c + Σ w e)
//! ```

use crate::steps::Steps;
use std::f64::consts::TAU;
use thinfit::{Evaluator, Model};

/// Bits of the coarse part of an input after the binary point.
const BITS: i32 = 11;
/// Bits of a number in single precision.
const DIGITS: i32 = 24;
/// How far beyond the ranges of the samples the sums are exact, as a factor.
const REACH: f64 = 1.5;

/// Adds `t` in radians, the phases of all neurons of a network of waves, from `x`.
pub(crate) fn push_phases(steps: &mut Steps, network: &Evaluator, model: &Model) {
    let (d, n) = (network.inputs.len(), network.neurons().len());
    let scaler = &model.input_scaler;
    // The unit of each input, and how far it reaches in it.
    let unit = |j: usize| match scaler.warp_of(j) {
        None => scaler.scale[j].log2().ceil().exp2(),
        Some(_) => scaler.scale[j],
    };
    let reach = |j: usize| {
        let ends =
            model.domain[j].map(|v| ((scaler.warped(j, v) - scaler.shift[j]) / unit(j)).abs());
        REACH * ends[0].max(ends[1])
    };
    let units: Vec<[f64; 2]> = (0..d).map(|j| [unit(j), reach(j)]).collect();
    push_inputs(steps, model, &units);
    // Weights per unit of c, the offset first.
    let weight = |w: &[f64], j: usize| w[j + 1] * (units[j][0] / scaler.scale[j]);
    let neurons: Vec<Vec<f64>> = network
        .neurons()
        .map(|(w, _)| {
            let weights = (0..d).map(|j| weight(w, j));
            std::iter::once(w[0]).chain(weights).collect()
        })
        .collect();
    let first: Vec<Vec<f64>> = neurons
        .iter()
        .map(|w| {
            let reach = units.iter().zip(&w[1..]).map(|(unit, w)| unit[1] * w.abs());
            let size = w[0].abs() + reach.sum::<f64>();
            let bits = DIGITS - BITS - 1 - size.max(f64::MIN_POSITIVE).log2().ceil() as i32;
            let grid = 2f64.powi(bits.clamp(-100, DIGITS));
            w.iter()
                .map(|w| (w * grid).round_ties_even() / grid)
                .collect()
        })
        .collect();
    let of =
        |weights: &[Vec<f64>], j: usize| -> Vec<f64> { weights.iter().map(|w| w[j]).collect() };
    let second = |j: usize| -> Vec<f64> {
        let pairs = neurons.iter().zip(&first);
        pairs.map(|(w, first)| w[j] - first[j]).collect()
    };
    let matrix =
        |column: &dyn Fn(usize) -> Vec<f64>| -> Vec<f64> { (1..=d).flat_map(column).collect() };
    steps.constant("first", &[d, n], matrix(&|j| of(&first, j)).into_iter());
    steps.constant("second", &[d, n], matrix(&second).into_iter());
    steps.constant("hidden", &[d, n], matrix(&|j| of(&neurons, j)).into_iter());
    steps.constant("first_offset", &[n], of(&first, 0).into_iter());
    steps.constant("second_offset", &[n], second(0).into_iter());
    steps.node("Gemm", &["coarse", "first", "first_offset"], "turns");
    steps.node("Round", &["turns"], "whole_turns");
    steps.node("Sub", &["turns", "whole_turns"], "fraction");
    steps.node("Gemm", &["fine", "first", "second_offset"], "of_fine");
    steps.node("Gemm", &["c", "second", "of_fine"], "of_second");
    steps.node("Gemm", &["e", "hidden", "of_second"], "small");
    steps.node("Add", &["fraction", "small"], "phase");
    steps.times("phase", TAU, "t");
}

/// Adds `c` and `e`, the inputs less their shift in their units and what is rounded off in this, and `coarse` and `fine`, the
/// parts of `c`.
fn push_inputs(steps: &mut Steps, model: &Model, units: &[[f64; 2]]) {
    let (scaler, d) = (&model.input_scaler, units.len());
    let shift = |j: usize| f64::from(scaler.shift[j] as f32);
    let warped = |j: usize| scaler.warp_of(j).is_some();
    let straight = |j: usize| f64::from(u8::from(!warped(j)));
    steps.constant("near_shift", &[d], (0..d).map(shift));
    steps.constant(
        "far_shift",
        &[d],
        (0..d).map(|j| scaler.shift[j] - shift(j)),
    );
    // What x − shift loses is computed from what it gives, without rounding.
    steps.node("Sub", &["x", "near_shift"], "shifted");
    steps.node("Sub", &["shifted", "x"], "back");
    steps.node("Sub", &["shifted", "back"], "again");
    steps.node("Sub", &["x", "again"], "lost_of_x");
    steps.node("Add", &["back", "near_shift"], "lost_of_shift");
    steps.node("Sub", &["lost_of_x", "lost_of_shift"], "lost");
    steps.node("Sub", &["lost", "far_shift"], "left");
    let inverse = (0..d).map(|j| straight(j) / units[j][0]);
    steps.constant("unit", &[d], inverse);
    steps.node("Mul", &["left", "unit"], "e");
    let bent = (0..d).any(warped);
    let straight_part = if bent { "c_straight" } else { "c" };
    steps.node("Mul", &["shifted", "unit"], straight_part);
    if bent {
        // The warp of an input is rounded, and its unit is its scale.
        steps.scaling(scaler);
        steps.constant("bent_only", &[d], (0..d).map(|j| 1.0 - straight(j)));
        steps.node("Mul", &["scaled", "bent_only"], "c_bent");
        steps.node("Add", &["c_straight", "c_bent"], "c");
    }
    let grid = f64::from(1 << BITS);
    let rough = steps.times("c", grid, "rough");
    let round = steps.apply("Round", &[&rough], "round".into());
    steps.times(&round, 1.0 / grid, "coarse");
    steps.node("Sub", &["c", "coarse"], "fine");
}
