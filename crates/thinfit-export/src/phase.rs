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

use crate::lowering::Lowering;
use std::f64::consts::TAU;

/// Bits of the coarse part of an input after the binary point.
const BITS: i32 = 11;
/// Bits of a number in single precision.
const DIGITS: i32 = 24;
/// How far beyond the ranges of the samples the sums are exact, as a factor.
const REACH: f64 = 1.5;

/// The phases of all neurons of a network of waves, in radians.
pub(crate) fn phases(lowering: &mut Lowering<'_>) -> String {
    let formula = lowering.formula;
    let (scaler, d, n) = (
        formula.scaler,
        formula.scaled.len(),
        formula.table.numbers.len(),
    );
    // The unit of each input, and how far it reaches in it.
    let unit = |j: usize| match scaler.warp_of(j) {
        None => scaler.scale[j].log2().ceil().exp2(),
        Some(_) => scaler.scale[j],
    };
    let reach = |j: usize| {
        let ends =
            formula.domain[j].map(|v| ((scaler.warped(j, v) - scaler.shift[j]) / unit(j)).abs());
        REACH * ends[0].max(ends[1])
    };
    let units: Vec<[f64; 2]> = (0..d).map(|j| [unit(j), reach(j)]).collect();
    // Weights per unit of c, the offset first.
    let weight = |p: &[f64], j: usize| p[j + 1] * (units[j][0] / scaler.scale[j]);
    let rows = formula.table.numbers.iter();
    let neurons: Vec<Vec<f64>> = rows
        .map(|p| {
            let weights = (0..d).map(|j| weight(p, j));
            std::iter::once(p[0]).chain(weights).collect()
        })
        .collect();
    let first: Vec<Vec<f64>> = neurons
        .iter()
        .map(|w| {
            let reach = units.iter().zip(&w[1..]).map(|(unit, w)| unit[1] * w.abs());
            let size = w[0].abs() + reach.sum::<f64>();
            let bits = DIGITS - BITS - 1 - size.max(f64::MIN_POSITIVE).log2().ceil() as i32;
            let grid = 2f64.powi(bits.clamp(-100, DIGITS));
            let round = |w: &f64| (w * grid).round_ties_even() / grid;
            w.iter().map(round).collect()
        })
        .collect();
    let second: Vec<Vec<f64>> = (neurons.iter().zip(&first))
        .map(|(w, first)| w.iter().zip(first).map(|(w, first)| w - first).collect())
        .collect();
    let Parts { c, e, coarse, fine } = parts(lowering, &units);
    let graph = &mut lowering.graph;
    let column =
        |weights: &[Vec<f64>], j: usize| -> Vec<f64> { weights.iter().map(|w| w[j]).collect() };
    let [first_matrix, second_matrix, matrix] = [&first, &second, &neurons].map(|weights| {
        let columns = (1..=d).flat_map(|j| column(weights, j));
        graph.constant(&[d, n], columns)
    });
    let [first_offset, second_offset] =
        [&first, &second].map(|weights| graph.constant(&[n], column(weights, 0)));
    let turns = graph.node("Gemm", &[&coarse, &first_matrix, &first_offset]);
    let whole = graph.node("Round", &[&turns]);
    let fraction = graph.node("Sub", &[&turns, &whole]);
    let of_fine = graph.node("Gemm", &[&fine, &first_matrix, &second_offset]);
    let of_second = graph.node("Gemm", &[&c, &second_matrix, &of_fine]);
    let small = graph.node("Gemm", &[&e, &matrix, &of_second]);
    let phase = graph.node("Add", &[&fraction, &small]);
    graph.with_number("Mul", &phase, TAU)
}

/// Names of the parts of the inputs.
struct Parts {
    /// The inputs less their shift in their units, and what is rounded off in this.
    c: String,
    e: String,
    /// The parts of `c`.
    coarse: String,
    fine: String,
}

fn parts(lowering: &mut Lowering<'_>, units: &[[f64; 2]]) -> Parts {
    let (formula, d) = (lowering.formula, units.len());
    let scaler = formula.scaler;
    let shift = |j: usize| f64::from(scaler.shift[j] as f32);
    let straight = |j: usize| f64::from(u8::from(scaler.warp_of(j).is_none()));
    let scaled = formula.is_warped().then(|| lowering.scaled());
    let graph = &mut lowering.graph;
    let near_shift = graph.constant(&[d], (0..d).map(shift));
    // What x − shift loses is computed from what it gives, without rounding.
    let shifted = graph.node("Sub", &["x", &near_shift]);
    let back = graph.node("Sub", &[&shifted, "x"]);
    let again = graph.node("Sub", &[&shifted, &back]);
    let lost_of_x = graph.node("Sub", &["x", &again]);
    let lost_of_shift = graph.node("Add", &[&back, &near_shift]);
    let lost = graph.node("Sub", &[&lost_of_x, &lost_of_shift]);
    let left = graph.with_row("Sub", &lost, (0..d).map(|j| scaler.shift[j] - shift(j)));
    let inverse = graph.constant(&[d], (0..d).map(|j| straight(j) / units[j][0]));
    let e = graph.node("Mul", &[&left, &inverse]);
    let mut c = graph.node("Mul", &[&shifted, &inverse]);
    if let Some(scaled) = scaled {
        // The warp of an input is rounded, and its unit is its scale.
        let bent = graph.with_row("Mul", &scaled, (0..d).map(|j| 1.0 - straight(j)));
        c = graph.node("Add", &[&c, &bent]);
    }
    let grid = f64::from(1 << BITS);
    let rough = graph.with_number("Mul", &c, grid);
    let round = graph.node("Round", &[&rough]);
    let coarse = graph.with_number("Mul", &round, 1.0 / grid);
    let fine = graph.node("Sub", &[&c, &coarse]);
    Parts { c, e, coarse, fine }
}
