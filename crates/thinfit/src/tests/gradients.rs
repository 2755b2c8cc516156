//! Every activation × term × leaf, with one and three outputs, against central differences of fourth order.

use crate::data::rows::Rows;
use crate::math::random::{Purpose, stream};
use crate::train::generator::Generator;
use crate::train::objective::Objective;
use crate::train::ranks::Solo;
use crate::{Activation, Ridge, Variation};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;
use std::sync::Arc;

const N: usize = 7;
const M: usize = 30;
const D: usize = 3;
const STEP: f64 = 1e-4;

struct Setting {
    objective: Objective,
    generator: Generator<f64>,
    z: Vec<f64>,
    w: Mat<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LeafKind {
    W,
    Z,
    Theta,
}

impl Setting {
    fn new(activation: Activation, term: Option<Variation>, c: usize, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Weights, 0);
        let x = Mat::from_fn(M, D, |_, _| rng.random::<f64>());
        let y = Mat::from_fn(M, c, |i, o| {
            (x[(i, 0)] * 3.0 + o as f64).sin() + x[(i, 1)] * x[(i, 2)]
        });
        let weights: Vec<f64> = (0..M).map(|_| 0.5 + rng.random::<f64>()).collect();
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: (seed % 2 == 1).then_some(&weights),
        };
        let mut objective =
            Objective::new(activation, Ridge::Absolute(1e-4), rows, N, Arc::new(Solo));
        if let Some(norm) = term {
            objective = objective.regularised(0.3, norm, 9, vec![[0.0, 1.0]; D]);
            objective.scatter(&mut rng);
        }
        let dim = activation.weights(D);
        let mut generator = Generator::new(&[dim, 11, 8, dim], N);
        generator.initialise(&mut rng);
        // Spread the features: a fresh generator maps everything near zero.
        generator.theta.iter_mut().for_each(|p| *p *= 2.0);
        // And keep some ReLU features alive on the unit box: the last parameter is the bias of the biases.
        *generator.theta.last_mut().unwrap() += f64::from(activation.has_bias());
        let z = (0..N * dim).map(|_| rng.sample(StandardNormal)).collect();
        let w = Mat::from_fn(N, dim, |_, _| rng.sample::<f64, _>(StandardNormal));
        Setting {
            objective,
            generator,
            z,
            w,
        }
    }

    fn leaf(&mut self, kind: LeafKind) -> &mut [f64] {
        match kind {
            LeafKind::W => unreachable!("w is a matrix"),
            LeafKind::Z => &mut self.z,
            LeafKind::Theta => &mut self.generator.theta,
        }
    }

    fn entry(&mut self, kind: LeafKind, i: usize) -> &mut f64 {
        match kind {
            LeafKind::W => {
                let rows = self.w.nrows();
                &mut self.w[(i % rows, i / rows)]
            }
            _ => &mut self.leaf(kind)[i],
        }
    }

    fn value_and_gradient(&mut self, kind: LeafKind) -> (f64, Vec<f64>) {
        let mut dw = Mat::zeros(self.w.nrows(), self.w.ncols());
        if kind != LeafKind::W {
            self.generator.forward(&self.z, self.w.as_mut());
        }
        let loss = self
            .objective
            .gradient(self.w.as_ref(), dw.as_mut())
            .unwrap();
        let gradient = match kind {
            LeafKind::W => (0..dw.ncols())
                .flat_map(|j| dw.col_as_slice(j).to_vec())
                .collect(),
            LeafKind::Z => {
                let mut dz = vec![0.0; self.z.len()];
                self.generator.backward(dw.as_ref(), Some(&mut dz));
                dz
            }
            LeafKind::Theta => {
                self.generator.backward(dw.as_ref(), None);
                self.generator.parameter_gradient().to_vec()
            }
        };
        (loss.total, gradient)
    }

    fn value_at(&mut self, kind: LeafKind, i: usize, shift: f64) -> f64 {
        let old = *self.entry(kind, i);
        *self.entry(kind, i) = old + shift;
        let (value, _) = self.value_and_gradient(kind);
        *self.entry(kind, i) = old;
        value
    }
}

/// Compares all entries of the gradient; returns how many were left out because of a kink inside the step, and how
/// many there are. A draw whose gradient vanishes would test rounding errors only and gives none.
fn compare(
    activation: Activation,
    term: Option<Variation>,
    kind: LeafKind,
    c: usize,
    seed: u64,
) -> Option<(usize, usize)> {
    let mut setting = Setting::new(activation, term, c, seed);
    let start = setting.w.clone();
    let (_, gradient) = setting.value_and_gradient(kind);
    let size = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
    if size < 1e-5 {
        return None;
    }
    let mut kinks = 0;
    for (i, &exact) in gradient.iter().enumerate() {
        if kind == LeafKind::W {
            setting.w.copy_from(&start);
        }
        let [a, b, c_, d] = [-2.0, -1.0, 1.0, 2.0].map(|s| setting.value_at(kind, i, s * STEP));
        let numeric = (a - 8.0 * b + 8.0 * c_ - d) / (12.0 * STEP);
        // A kink shows as a fourth difference of the order of the step instead of its fourth power.
        let centre = setting.value_at(kind, i, 0.0);
        let fourth = (a - 4.0 * b + 6.0 * centre - 4.0 * c_ + d).abs();
        if fourth > 1e-7 * size * STEP {
            kinks += 1;
            continue;
        }
        assert!(
            (numeric - exact).abs() <= 1e-6 * size,
            "{activation:?} {term:?} {kind:?} c={c} seed={seed} entry {i}: {numeric:e} against {exact:e} (largest {size:e})"
        );
    }
    Some((kinks, gradient.len()))
}

#[test]
fn gradients_equal_central_differences_over_the_whole_grid() {
    let terms = [None].into_iter().chain(Variation::ALL.map(Some));
    for term in terms {
        for activation in Activation::ALL {
            for kind in [LeafKind::W, LeafKind::Z, LeafKind::Theta] {
                for c in [1, 3] {
                    let draws = (0..12).filter_map(|seed| compare(activation, term, kind, c, seed));
                    let draws: Vec<_> = draws.take(4).collect();
                    assert_eq!(draws.len(), 4, "{activation:?} {term:?} {kind:?} c={c}");
                    let (kinks, entries) = draws.iter().fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
                    assert!(
                        kinks * 3 <= entries,
                        "{activation:?} {term:?} {kind:?} c={c}: {kinks} kinks in {entries}"
                    );
                }
            }
        }
    }
}
