//! Sums of kernels in every language: f_o(x) = shift_o + scale_o · (mean_o + Σ_i α_io k(x′, x′_i)) with x′ the scaled inputs,
//! as in [`thinfit_methods::KernelModel`].

pub(crate) mod c;
pub(crate) mod javascript;
pub(crate) mod latex;
pub(crate) mod onnx;
pub(crate) mod python;

use thinfit_methods::{Edge, KernelModel, KernelTerm, Shape};

/// (j, 1/ℓ_j) of the inputs of a part.
fn axes(part: &KernelTerm) -> impl ExactSizeIterator<Item = (usize, f64)> + Clone + '_ {
    let pairs = part.inputs.iter().zip(&part.lengths);
    pairs.map(|(&input, length)| (input, 1.0 / length))
}

/// The distance from an edge, in its units, as an expression in the scaled inputs `x`.
fn across(edge: &Edge) -> String {
    let terms = edge.direction.iter().enumerate();
    let terms = terms.filter(|(_, v)| **v != 0.0);
    let sum: String = terms.map(|(j, v)| format!("{v:?} * x[{j}] + ")).collect();
    format!("{sum}{:?}", -edge.offset)
}

/// Whether the shape is a function of the distance.
fn is_radial(shape: Shape) -> bool {
    matches!(shape, Shape::Gaussian | Shape::Matern52)
}

/// Mean, shift and scale of every output.
fn outputs(model: &KernelModel) -> impl ExactSizeIterator<Item = [f64; 3]> + '_ {
    let scaler = &model.output_scaler;
    let triples = model.body.mean.iter().zip(&scaler.shift).zip(&scaler.scale);
    triples.map(|((mean, shift), scale)| [*mean, *shift, *scale])
}

/// What the model is, in words.
pub(crate) fn described(model: &KernelModel) -> String {
    let mut shapes: Vec<String> = model.body.kernel.terms.iter().map(named).collect();
    shapes.dedup();
    format!(
        "a sum of kernels at {} points ({})",
        model.body.points.nrows(),
        shapes.join(" + ")
    )
}

fn named(part: &KernelTerm) -> String {
    match part.shape {
        Shape::Gaussian => "Gaussian".into(),
        Shape::Matern52 => "Matern 5/2".into(),
        Shape::Additive(order) => format!("additive of order {order}"),
        Shape::Anova => "anova".into(),
        Shape::AnovaMatern52 => "anova of Matern 5/2".into(),
    }
}
