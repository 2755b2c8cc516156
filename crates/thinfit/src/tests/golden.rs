//! Values, gradients and ten Adam steps against the autograd restatement in `tools/golden.py`.

use crate::data::rows::Rows;
use crate::train::adam::Adam;
use crate::train::generator::Generator;
use crate::train::objective::Objective;
use crate::{Activation, Ridge, Variation};
use faer::Mat;
use serde::Deserialize;

/// Relative to the largest entry of what is compared.
const TOLERANCE: f64 = 1e-9;

type Table = Vec<Vec<f64>>;

#[derive(Deserialize)]
struct Layer {
    weight: Table,
    bias: Vec<f64>,
}

#[derive(Deserialize)]
struct Steps<L> {
    rate: f64,
    losses: Vec<f64>,
    #[serde(rename = "final")]
    last: L,
}

#[derive(Deserialize)]
struct AllSteps {
    w: Steps<Table>,
    z: Steps<Table>,
    theta: Steps<Vec<Layer>>,
}

#[derive(Deserialize)]
struct Golden {
    activation: Activation,
    n: usize,
    d: usize,
    s: usize,
    eps: f64,
    cond: f64,
    lambda: f64,
    p: usize,
    q: usize,
    x: Table,
    y: Table,
    weights: Option<Vec<f64>>,
    points: Table,
    layers: Vec<Layer>,
    z: Table,
    w: Table,
    b_re: Table,
    b_im: Option<Table>,
    loss: f64,
    data_loss: f64,
    variation: f64,
    grad_w: Table,
    grad_z: Table,
    grad_theta: Vec<Layer>,
    adam: AllSteps,
}

fn matrix(rows: &Table) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j])
}

/// θ in the order of the generator: column-major weight, then bias, layer by layer.
fn flat(layers: &[Layer]) -> Vec<f64> {
    let columns = |layer: &Layer| -> Vec<f64> {
        (0..layer.weight[0].len())
            .flat_map(|j| layer.weight.iter().map(move |row| row[j]))
            .collect()
    };
    layers
        .iter()
        .flat_map(|layer| columns(layer).into_iter().chain(layer.bias.clone()))
        .collect()
}

fn by_columns(a: &Mat<f64>) -> Vec<f64> {
    (0..a.ncols())
        .flat_map(|j| a.col_as_slice(j).to_vec())
        .collect()
}

fn assert_close(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    let size = expected.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            (found - expected).abs() <= TOLERANCE * size,
            "{name}[{i}]: {found:e}, expected {expected:e}"
        );
    }
}

impl Golden {
    fn objective(&self) -> Objective {
        let (x, y) = (matrix(&self.x), matrix(&self.y));
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: self.weights.as_deref(),
        };
        let norm = match (self.p, self.q) {
            (1, 1) => Variation::Anisotropic,
            (1, 2) => Variation::Isotropic,
            _ => Variation::Dirichlet,
        };
        let objective = Objective::new(self.activation, Ridge::Absolute(self.eps), rows, self.n);
        let mut objective =
            objective.regularised(self.lambda, norm, self.s, vec![[0.0, 1.0]; self.d]);
        objective.place(matrix(&self.points).as_ref());
        objective
    }

    fn generator(&self) -> Generator<f64> {
        let dim = self.activation.weights(self.d);
        let mut sizes = vec![dim];
        sizes.extend(self.layers.iter().map(|layer| layer.bias.len()));
        let mut generator = Generator::new(&sizes, self.n);
        generator.theta = flat(&self.layers);
        generator
    }

    fn check(&self, name: &str) {
        assert!(self.cond <= 1e5, "{name}: cond(S) = {:e}", self.cond);
        self.check_gradients(name);
        self.check_parameter_steps(name);
        self.check_latent_steps(name);
        self.check_weight_steps(name);
    }

    /// w, the loss and its terms, b, and the gradients in all leaves.
    fn check_gradients(&self, name: &str) {
        let close = |what: &str, found: &[f64], expected: &[f64]| {
            assert_close(&format!("{name}: {what}"), found, expected);
        };
        let (mut objective, mut generator) = (self.objective(), self.generator());
        let z: Vec<f64> = self.z.concat();
        let expected = matrix(&self.w);
        let (mut w, mut dw) = (expected.clone(), expected.clone());
        generator.forward(&z, w.as_mut());
        close("w", &by_columns(&w), &by_columns(&expected));

        let loss = objective.gradient(w.as_ref(), dw.as_mut()).unwrap();
        let terms = [loss.total, loss.data];
        close("loss", &terms, &[self.loss, self.data_loss]);
        if self.lambda > 0.0 {
            close("variation", &[loss.variation], &[self.variation]);
        }
        let planes = self.b_re.iter().chain(self.b_im.iter().flatten());
        let planes: Table = planes.cloned().collect();
        close(
            "b",
            &by_columns(&objective.b),
            &by_columns(&matrix(&planes)),
        );
        close("dw", &by_columns(&dw), &by_columns(&matrix(&self.grad_w)));
        let mut dz = vec![0.0; z.len()];
        generator.backward(dw.as_ref(), Some(&mut dz));
        close("dz", &dz, &self.grad_z.concat());
        let dtheta = generator.parameter_gradient();
        close("dtheta", dtheta, &flat(&self.grad_theta));
    }

    fn check_parameter_steps(&self, name: &str) {
        let (mut objective, mut generator) = (self.objective(), self.generator());
        let (z, mut w) = (self.z.concat(), matrix(&self.w));
        let mut dw = w.clone();
        let mut adam = Adam::new(generator.theta.len());
        let steps = &self.adam.theta;
        for (step, &expected) in steps.losses.iter().enumerate() {
            generator.forward(&z, w.as_mut());
            let loss = objective.gradient(w.as_ref(), dw.as_mut()).unwrap();
            let context = format!("{name}: theta, step {step}");
            assert_close(&context, &[loss.total], &[expected]);
            generator.backward(dw.as_ref(), None);
            generator.descend(&mut adam, steps.rate);
        }
        let context = format!("{name}: theta");
        assert_close(&context, &generator.theta, &flat(&steps.last));
    }

    fn check_latent_steps(&self, name: &str) {
        let (mut objective, mut generator) = (self.objective(), self.generator());
        let (mut z, mut w) = (self.z.concat(), matrix(&self.w));
        let (mut dz, mut dw) = (z.clone(), w.clone());
        let mut adam = Adam::new(z.len());
        let steps = &self.adam.z;
        for (step, &expected) in steps.losses.iter().enumerate() {
            generator.forward(&z, w.as_mut());
            let loss = objective.gradient(w.as_ref(), dw.as_mut()).unwrap();
            let context = format!("{name}: z, step {step}");
            assert_close(&context, &[loss.total], &[expected]);
            generator.backward(dw.as_ref(), Some(&mut dz));
            adam.update(steps.rate, &mut z, &dz);
        }
        assert_close(&format!("{name}: z"), &z, &steps.last.concat());
    }

    fn check_weight_steps(&self, name: &str) {
        let (mut objective, w) = (self.objective(), matrix(&self.w));
        let (mut flat, mut dw) = (by_columns(&w), w.clone());
        let mut adam = Adam::new(flat.len());
        let steps = &self.adam.w;
        for (step, &expected) in steps.losses.iter().enumerate() {
            let w = faer::MatRef::from_column_major_slice(&flat, w.nrows(), w.ncols());
            let loss = objective.gradient(w, dw.as_mut()).unwrap();
            let context = format!("{name}: w, step {step}");
            assert_close(&context, &[loss.total], &[expected]);
            adam.update(steps.rate, &mut flat, &by_columns(&dw));
        }
        let last = by_columns(&matrix(&steps.last));
        assert_close(&format!("{name}: w"), &flat, &last);
    }
}

#[test]
fn golden_values_of_the_autograd_restatement() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let golden: Golden = serde_json::from_str(&text).unwrap();
        golden.check(&path.file_stem().unwrap().to_string_lossy());
        count += 1;
    }
    assert_eq!(count, 42, "golden files in {folder}");
}
