//! A kernel expansion as a formula: f_o = shift + scale · (mean_o + Σ_i α_io Σ_t weight_t k_t(x, p_i)).

use crate::expression::{Expression, Function, Variable};
use crate::formula::{Axis, Formula, Operation, Reduction, Rows, Table, scaled, unscaled};
use thinfit::MatRef;
use thinfit_methods::{Crossing, Edge, KernelModel, KernelTerm, Shape};

pub(crate) fn formula(model: &KernelModel) -> Formula<'_> {
    let kernel = &model.body.kernel;
    let points = kernel.widened(model.body.points.as_ref());
    let mut names: Vec<String> = kernel.terms.iter().map(named).collect();
    names.dedup();
    let terms = kernel.terms.iter().enumerate().map(|(i, term)| {
        let value = Expression::from(Variable::Reduction(i));
        term.weight * profile(term.shape, value)
    });
    let sum = terms.reduce(|sum, term| sum + term);
    let scaler = &model.output_scaler;
    let units = scaler.shift.iter().zip(&scaler.scale);
    Formula {
        what: format!(
            "a sum of kernels at {} points ({})",
            points.nrows(),
            names.join(" + ")
        ),
        metadata: vec![],
        inputs: &model.inputs,
        outputs: &model.outputs,
        record: &model.record,
        domain: &model.domain,
        scaler: &model.input_scaler,
        scaled: scaled(&model.input_scaler),
        derived: kernel.edges.iter().map(derived).collect(),
        table: Table {
            rows: Rows::Points,
            numbers: rows(points.as_ref()),
            weights: rows(model.body.coefficients.as_ref()),
        },
        reductions: kernel.terms.iter().map(reduction).collect(),
        functions: sum.into_iter().collect(),
        constants: model.body.mean.clone(),
        results: unscaled(units.map(|(shift, scale)| [*shift, *scale])),
    }
}

fn rows(a: MatRef<'_, f64>) -> Vec<Vec<f64>> {
    let rows = a.row_iter();
    rows.map(|row| row.iter().copied().collect()).collect()
}

/// What a term of the kernel computes from all of its inputs.
fn reduction(term: &KernelTerm) -> Reduction {
    let t = || Expression::from(Variable::Difference);
    let mixed = |kappa: Expression| {
        let share = || Expression::from(Variable::Share);
        1.0 - share() + share() * kappa
    };
    let (operation, each) = match term.shape {
        Shape::Gaussian | Shape::Matern52 => (Operation::Sum, t() * t()),
        Shape::Additive(order) => (Operation::Symmetric(order), gaussian(t() * t())),
        Shape::Anova => (Operation::Product, mixed(gaussian(t() * t()))),
        Shape::AnovaMatern52 => (Operation::Product, mixed(matern52(t() * t()))),
    };
    let axes = term.inputs.iter().zip(&term.lengths).enumerate();
    let axes = axes.map(|(k, (&column, &length))| Axis {
        column,
        inverse: 1.0 / length,
        share: term.shares.get(k).copied().unwrap_or(1.0),
    });
    Reduction::OverAxes {
        operation,
        axes: axes.collect(),
        each,
    }
}

/// The value of a term without its weight, of what its reduction gives.
fn profile(shape: Shape, value: Expression) -> Expression {
    match shape {
        Shape::Gaussian => gaussian(value),
        Shape::Matern52 => matern52(value),
        Shape::Additive(_) | Shape::Anova | Shape::AnovaMatern52 => value,
    }
}

/// exp(−q/2).
fn gaussian(q: Expression) -> Expression {
    (-0.5 * q).exp()
}

/// (1 + r + r²/3) e⁻ʳ with r² = 5q. The derivative in q, −5/6 (1 + r) e⁻ʳ, would be 0/0 at q = 0 by the chain rule.
fn matern52(q: Expression) -> Expression {
    let r = || Expression::from(Variable::Named("r"));
    // Beyond r = 1000 the kernel is zero; infinity times zero would not be.
    let of_r = |body| {
        let square = (5.0 * q.clone()).capped(1e6);
        square.call(Function::Sqrt).named("r", body)
    };
    let value = of_r((1.0 + r() + r() * r() / 3.0) * (-r()).exp());
    let slope = of_r(-5.0 / 6.0 * ((1.0 + r()) * (-r()).exp()));
    value.with_slope(q.clone(), slope)
}

/// The column that is derived from an edge.
fn derived(edge: &Edge) -> Expression {
    let across = Expression::Affine {
        offset: -edge.offset,
        weights: edge.direction.clone(),
    };
    match edge.crossing {
        Crossing::Jump => {
            let c = || Expression::from(Variable::Named("c"));
            let of_c = |body| across.clone().clamped(-1.0, 1.0).named("c", body);
            let value = of_c(0.25 * c() * (3.0 - c() * c()));
            value.with_slope(across.clone(), of_c(0.75 * (1.0 - c() * c())))
        }
        Crossing::Bend => across.call(Function::Positive),
    }
}

fn named(term: &KernelTerm) -> String {
    match term.shape {
        Shape::Gaussian => "Gaussian".into(),
        Shape::Matern52 => "Matern 5/2".into(),
        Shape::Additive(order) => format!("additive of order {order}"),
        Shape::Anova => "anova".into(),
        Shape::AnovaMatern52 => "anova of Matern 5/2".into(),
    }
}
