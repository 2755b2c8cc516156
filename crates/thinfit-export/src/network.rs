//! A network as a formula: f_o = shift + scale · (bias_o + Σ_l b_lo Φ(θ_l + ⟨w_l, x⟩)), with the numbers of [`thinfit::Evaluator`].

use crate::expression::{Expression, Function, Variable};
use crate::formula::{Formula, Reduction, Rows, Table, scaled, unscaled};
use thinfit::{Feature, Model};

pub(crate) fn formula(model: &Model) -> Formula<'_> {
    let network = model.evaluator();
    let (name, width) = (model.activation().name(), model.width());
    let (numbers, weights) = (network.neurons())
        .map(|(w, b)| (w.to_vec(), b.to_vec()))
        .unzip();
    let phi = |function| Expression::from(Variable::Reduction(0)).call(function);
    Formula {
        what: format!("a thin two-layer network of {width} neurons ({name})"),
        metadata: vec![("activation", name.into())],
        inputs: &model.inputs,
        outputs: &model.outputs,
        record: &model.record,
        domain: &model.domain,
        scaler: &model.input_scaler,
        scaled: scaled(&model.input_scaler),
        derived: vec![],
        table: Table {
            rows: Rows::Neurons,
            numbers,
            weights,
        },
        reductions: vec![Reduction::Inner],
        functions: match network.feature {
            Feature::Cosine => vec![phi(Function::Cosine)],
            Feature::Pair => vec![phi(Function::Cosine), phi(Function::Sine)],
            Feature::Sigmoid => vec![phi(Function::Sigmoid)],
            Feature::Tanh => vec![phi(Function::Tanh)],
            Feature::Relu => vec![phi(Function::Positive)],
        },
        constants: network.outputs.iter().map(|output| output[0]).collect(),
        results: unscaled(
            network
                .outputs
                .iter()
                .map(|[_, shift, scale]| [*shift, *scale]),
        ),
    }
}
