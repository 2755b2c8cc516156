//! What the model consists of: the strongest features of a network, or the terms of a kernel.

use serde::Serialize;
use thinfit::{Activation, Model, Scaler, Warp};
use thinfit_methods::{Crossing, KernelModel, Predictor, four_digits, two_digits};

/// Number of features that are described.
const MOST: usize = 6;
/// Inputs of a feature that are named, and the weight, relative to the largest, below which an input is not.
const MOST_INPUTS: usize = 4;
const LEAST: f64 = 0.05;
/// Spreads of the output beyond which terms cancel, so that single ones mean nothing.
const CANCELS: f64 = 10.0;
/// Ranges of an input beyond which a length is far above them.
const FAR: f64 = 10.0;

/// What the model consists of.
#[derive(Serialize)]
pub(crate) struct Features {
    /// A sentence before the list, for every output.
    words: Vec<String>,
    /// One line each, for every output; the same for all outputs of a sum of kernels.
    list: Vec<Vec<String>>,
    /// The plane of the hidden weights of a network of two inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    plane: Option<Plane>,
}

/// Hidden weights of two inputs.
#[derive(Serialize)]
struct Plane {
    /// What a weight counts.
    unit: &'static str,
    /// Weights over the range of each input.
    weights: Vec<[f64; 2]>,
    /// |b|/n of every neuron, per output.
    sizes: Vec<Vec<f64>>,
}

/// What the model consists of.
pub(crate) fn features(model: &Predictor) -> Features {
    match model {
        Predictor::Network(model) => network(model),
        Predictor::Kernel(model) => kernel(model),
    }
}

/// The width of the range of input `j`, in warped units where it is warped.
fn range(range: [f64; 2], scaler: &Scaler, j: usize) -> f64 {
    let [low, high] = range.map(|v| scaler.warped(j, v));
    high - low
}

/// Weights times the range of their input, both in warped units where an input is warped: n rows of d.
fn over_ranges(model: &Model) -> Vec<Vec<f64>> {
    let (w, scaler) = (model.hidden(), &model.input_scaler);
    let range = |j: usize| range(model.domain[j], scaler, j);
    let ranges: Vec<f64> = (0..model.dim()).map(range).collect();
    (0..w.nrows())
        .map(|l| (0..w.ncols()).map(|j| w[(l, j)] * ranges[j]).collect())
        .collect()
}

/// What a weight over the range of an input counts.
fn unit(activation: Activation) -> &'static str {
    match activation {
        Activation::Fourier => "cycles over the range of the input",
        Activation::Cosine => "half cycles over the range of the input",
        _ => "change of the argument over the range of the input",
    }
}

fn network(model: &Model) -> Features {
    let (weights, sizes) = (over_ranges(model), model.magnitudes());
    let unit = unit(model.activation());
    let line = |l: usize, o: usize| {
        let mut inputs: Vec<usize> = (0..model.dim()).collect();
        inputs.sort_by(|&i, &j| weights[l][j].abs().total_cmp(&weights[l][i].abs()));
        let largest = inputs.first().map_or(0.0, |&j| weights[l][j].abs());
        inputs.retain(|&j| weights[l][j].abs() > LEAST * largest);
        inputs.truncate(MOST_INPUTS);
        let named = inputs.iter().map(|&j| {
            let weight = two_digits(weights[l][j].abs());
            let sign = if weights[l][j] < 0.0 { "−" } else { "" };
            format!("{sign}{weight} of {}", model.inputs[j])
        });
        let named: Vec<String> = named.collect();
        let size = four_digits(sizes[(l, o)]);
        match named.is_empty() {
            true => format!("{size}: a constant"),
            false => format!("{size}: {}", named.join(", ")),
        }
    };
    let beyond = |o: usize| {
        let largest = sizes.col_as_slice(o).iter().copied().fold(0.0, f64::max);
        let spread = (model.record.validation_variance.get(o))
            .map_or(model.output_scaler.scale[o], |variance| variance.sqrt());
        Some(largest / spread).filter(|ratio| ratio.is_finite() && *ratio > CANCELS)
    };
    let strongest = |o: usize| {
        if beyond(o).is_some() {
            return vec![];
        }
        let mut order: Vec<usize> = (0..model.width()).collect();
        order.sort_by(|&a, &b| sizes[(b, o)].total_cmp(&sizes[(a, o)]));
        order.iter().take(MOST).map(|&l| line(l, o)).collect()
    };
    let c = model.outputs.len();
    let column = |o: usize| sizes.col_as_slice(o).to_vec();
    let what = match model.activation() {
        Activation::Fourier | Activation::Cosine => "waves",
        Activation::Relu => "ramps",
        Activation::Sigmoid | Activation::Tanh => "smooth steps",
    };
    let words = |o: usize| {
        let told = match beyond(o) {
            Some(ratio) => format!(
                "Their terms are up to {} times the spread of the output and nearly cancel: single terms mean nothing.",
                four_digits(ratio)
            ),
            None => format!(
                "The strongest, by the size of their term in the output, with their {unit}:"
            ),
        };
        format!("A sum of {} {what}. {told}", model.width())
    };
    Features {
        words: (0..c).map(words).collect(),
        list: (0..c).map(strongest).collect(),
        plane: (model.dim() == 2).then(|| Plane {
            unit,
            weights: weights.iter().map(|w| [w[0], w[1]]).collect(),
            sizes: (0..c).map(column).collect(),
        }),
    }
}

fn kernel(model: &KernelModel) -> Features {
    let (kernel, scaler) = (&model.body.kernel, &model.input_scaler);
    let mut list: Vec<String> = Vec::new();
    for part in &kernel.terms {
        let shape = part.shape.name();
        let lengths = part.inputs.iter().zip(&part.lengths);
        let lengths = lengths.map(|(&j, length)| match scaler.scale.get(j) {
            Some(scale) if length * scale > FAR * range(model.domain[j], scaler, j) => {
                format!("{} far above its range", model.inputs[j])
            }
            Some(scale) => format!("{} {}", model.inputs[j], four_digits(length * scale)),
            None => format!("edge {} {}", j - model.dim() + 1, four_digits(*length)),
        });
        let lengths: Vec<String> = lengths.collect();
        list.push(format!("{shape}; lengths: {}", lengths.join(", ")));
    }
    for (e, edge) in kernel.edges.iter().enumerate() {
        let what = match edge.crossing {
            Crossing::Jump => "jumps",
            Crossing::Bend => "bends",
        };
        let place = edge.place(&model.inputs, scaler);
        list.push(format!("edge {}: the function {what} where {place}", e + 1));
    }
    for (j, name) in model.inputs.iter().enumerate() {
        if let Some(Warp { centre, width }) = scaler.warp_of(j) {
            list.push(format!(
                "{name} is warped: its length is in units of asinh(({name} − {})/{})",
                four_digits(centre),
                four_digits(width)
            ));
        }
    }
    let words = format!(
        "A weighted sum of {} kernels, one at each sample: those within about a length of the point count most. Along an \
         input with a length far above its range the output is nearly straight or constant.",
        model.body.points.nrows()
    );
    Features {
        words: vec![words; model.outputs.len()],
        list: vec![list; model.outputs.len()],
        plane: None,
    }
}
