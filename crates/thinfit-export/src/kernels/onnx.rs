//! A sum of kernels as an ONNX graph: differences to all points input by input, the kernel, one matrix product.

use super::{axes, outputs};
use crate::steps::Steps;
use thinfit::Precision;
use thinfit_methods::{Crossing, Edge, KernelModel, KernelTerm, Shape};

/// The graph of the model.
pub(crate) fn steps(model: &KernelModel, precision: Precision) -> Steps {
    let kernel = &model.body.kernel;
    let (points, alpha) = (
        kernel.widened(model.body.points.as_ref()),
        model.body.coefficients.as_ref(),
    );
    let (d, m, c) = (model.dim(), points.nrows(), alpha.ncols());
    let mut steps = Steps::new(d, precision);
    let scaler = &model.input_scaler;
    let exact = |j: usize| precision == Precision::F32 && j < d && scaler.warp_of(j).is_none();
    if (0..points.ncols()).any(|j| !exact(j)) {
        steps.scaling(scaler);
    }
    // (N × 1) − (1 × m) is the difference of every row to every point.
    for j in 0..points.ncols() {
        if exact(j) {
            difference_in_units_of_the_data(&mut steps, model, j);
            continue;
        }
        let column = match kernel.edges.get(j.wrapping_sub(d)) {
            None => column(&mut steps, "scaled", d, j),
            Some(edge) => derived(&mut steps, j, edge),
        };
        steps.constant(
            &format!("points_{j}"),
            &[1, m],
            points.col(j).iter().copied(),
        );
        let points = format!("points_{j}");
        steps.node("Sub", &[&column, &points], &format!("difference_{j}"));
    }
    let mut sum = String::new();
    for (t, part) in kernel.terms.iter().enumerate() {
        let mut value = match part.shape {
            Shape::Additive(order) => additive(&mut steps, t, part, order),
            Shape::Gaussian | Shape::Matern52 => radial(&mut steps, t, part),
            Shape::Anova | Shape::AnovaMatern52 => anova(&mut steps, t, part),
        };
        if part.weight != 1.0 {
            value = steps.times(&value, part.weight, &format!("weighted_{t}"));
        }
        sum = match t {
            0 => value,
            _ => steps.apply("Add", &[&sum, &value], format!("kernel_{t}")),
        };
    }
    let rows = alpha.row_iter().flat_map(|row| row.iter().copied());
    steps.constant("coefficients", &[m, c], rows);
    steps.constant("constant", &[c], outputs(model).map(|output| output[0]));
    steps.node("Gemm", &[&sum, "coefficients", "constant"], "sum");
    let scaling: Vec<[f64; 2]> = outputs(model)
        .map(|[_, shift, scale]| [shift, scale])
        .collect();
    steps.unscaling("sum", &scaling);
    steps
}

/// The name of column `j` of `rows` (N × d). A single column is not multiplied: onnxruntime merges a product with a number into a
/// matrix product that follows, and rounds the number to single precision.
fn column(steps: &mut Steps, rows: &str, d: usize, j: usize) -> String {
    if d == 1 {
        return rows.into();
    }
    let unit = (0..d).map(|k| f64::from(u8::from(k == j)));
    steps.constant(&format!("unit_{j}"), &[d, 1], unit);
    let factors = [rows, &format!("unit_{j}")];
    steps.apply("MatMul", &factors, format!("x_{j}"))
}

/// `difference_j` of an input as it is given to every point, over the scale of the input. A point is two numbers: near it
/// the difference to the first is exact, so that only the difference itself is rounded, not row and point.
fn difference_in_units_of_the_data(steps: &mut Steps, model: &KernelModel, j: usize) {
    let (d, m) = (model.dim(), model.body.points.nrows());
    let (shift, scale) = (model.input_scaler.shift[j], model.input_scaler.scale[j]);
    let place = |i: usize| model.body.points[(i, j)].mul_add(scale, shift);
    let first = |i: usize| f64::from(place(i) as f32);
    let mut name = column(steps, "x", d, j);
    steps.constant(&format!("points_{j}"), &[1, m], (0..m).map(first));
    let rest = (0..m).map(|i| place(i) - first(i));
    steps.constant(&format!("rest_{j}"), &[1, m], rest);
    for (part, next) in [("points", "near"), ("rest", "moved")] {
        name = steps.apply(
            "Sub",
            &[&name, &format!("{part}_{j}")],
            format!("{next}_{j}"),
        );
    }
    steps.times(&name, 1.0 / scale, &format!("difference_{j}"));
}

/// The name of the input `x_j` that is derived from an edge.
fn derived(steps: &mut Steps, j: usize, edge: &Edge) -> String {
    let along = match edge.direction[..] {
        [direction] => steps.times("scaled", direction, &format!("along_{j}")),
        _ => {
            let direction = format!("direction_{j}");
            let numbers = edge.direction.iter().copied();
            steps.constant(&direction, &[edge.direction.len(), 1], numbers);
            steps.apply("MatMul", &["scaled", &direction], format!("along_{j}"))
        }
    };
    let u = steps.plus(&along, -edge.offset, &format!("across_{j}"));
    match edge.crossing {
        Crossing::Jump => {
            let ends = [("Max", -1.0), ("Min", 1.0)];
            let c = ends.into_iter().fold(u, |c, (operator, end)| {
                let name = format!("{operator}_{j}");
                steps.scalar(&format!("{name}_end"), end);
                steps.apply(operator, &[&c, &format!("{name}_end")], name)
            });
            let square = steps.apply("Mul", &[&c, &c], format!("c_square_{j}"));
            let bend = steps.times(&square, -0.25, &format!("c_bend_{j}"));
            let factor = steps.plus(&bend, 0.75, &format!("c_factor_{j}"));
            steps.apply("Mul", &[&c, &factor], format!("x_{j}"))
        }
        Crossing::Bend => steps.apply("Relu", &[&u], format!("x_{j}")),
    }
}

/// The square of the difference in input `j` times `inverse`.
fn square(steps: &mut Steps, t: usize, j: usize, inverse: f64) -> String {
    let far = steps.times(&format!("difference_{j}"), inverse, &format!("far_{t}_{j}"));
    steps.apply("Mul", &[&far, &far], format!("square_{t}_{j}"))
}

/// The name of part `t`, a function of the distance, without its weight.
fn radial(steps: &mut Steps, t: usize, part: &KernelTerm) -> String {
    let mut q = String::new();
    for (count, (j, inverse)) in axes(part).enumerate() {
        let square = square(steps, t, j, inverse);
        q = match count {
            0 => square,
            _ => steps.apply("Add", &[&q, &square], format!("q_{t}_{count}")),
        };
    }
    profile(steps, part.shape, &q, &t.to_string())
}

/// The Gaussian or Matérn function of the squared distance `q`, for names that end in `of`.
fn profile(steps: &mut Steps, shape: Shape, q: &str, of: &str) -> String {
    if !matches!(shape, Shape::Matern52 | Shape::AnovaMatern52) {
        let exponent = steps.times(q, -0.5, &format!("exponent_{of}"));
        return steps.apply("Exp", &[&exponent], format!("value_{of}"));
    }
    let scaled = steps.times(q, 5.0, &format!("five_{of}"));
    // Beyond r = 1000 the kernel is zero; infinity times zero would not be.
    steps.scalar(&format!("cap_{of}"), 1e6);
    let r2 = steps.apply("Min", &[&scaled, &format!("cap_{of}")], format!("r2_{of}"));
    let r = steps.apply("Sqrt", &[&r2], format!("r_{of}"));
    let minus = steps.apply("Neg", &[&r], format!("minus_{of}"));
    let decay = steps.apply("Exp", &[&minus], format!("decay_{of}"));
    let third = steps.times(&r2, 1.0 / 3.0, &format!("third_{of}"));
    let sum = steps.apply("Add", &[&r, &third], format!("bend_{of}"));
    let polynomial = steps.plus(&sum, 1.0, &format!("polynomial_{of}"));
    steps.apply("Mul", &[&polynomial, &decay], format!("value_{of}"))
}

/// The name of part `t`, the product of 1 − c + c κ over its inputs.
fn anova(steps: &mut Steps, t: usize, part: &KernelTerm) -> String {
    let mut product = String::new();
    for (count, ((j, inverse), share)) in axes(part).zip(&part.shares).enumerate() {
        let (square, of) = (square(steps, t, j, inverse), format!("{t}_{j}"));
        let kappa = profile(steps, part.shape, &square, &of);
        let shared = steps.times(&kappa, *share, &format!("shared_{of}"));
        let whole = steps.plus(&shared, 1.0 - share, &format!("whole_{of}"));
        product = match count {
            0 => whole,
            _ => steps.apply("Mul", &[&product, &whole], format!("anova_{of}")),
        };
    }
    product
}

/// The name of part `t`, the polynomial e_order of one-dimensional kernels κ, by e_p ← e_p + κ e_{p−1}.
fn additive(steps: &mut Steps, t: usize, part: &KernelTerm, order: usize) -> String {
    let mut e: Vec<String> = Vec::new();
    for (count, (j, inverse)) in axes(part).enumerate() {
        let square = square(steps, t, j, inverse);
        let kappa = profile(steps, part.shape, &square, &format!("{t}_{j}"));
        // e_0 = 1 is not stored; e_p is there from the p-th input on.
        for p in (1..=order.min(count + 1)).rev() {
            let product = match p {
                1 => kappa.clone(),
                _ => steps.apply("Mul", &[&kappa, &e[p - 2]], format!("product_{t}_{j}_{p}")),
            };
            match e.get(p - 1) {
                None => e.push(product),
                Some(old) => {
                    let old = old.clone();
                    e[p - 1] = steps.apply("Add", &[&old, &product], format!("e_{t}_{j}_{p}"));
                }
            }
        }
    }
    e.swap_remove(order - 1)
}
