//! Every activation × term × leaf, with one and three outputs, against central differences of fourth order.

use crate::data::rows::Rows;
use crate::math::random::{Purpose, stream};
use crate::train::generator::Generator;
use crate::train::layers::Layers;
use crate::train::objective::Objective;
use crate::{Activation, Leaf, Ridge, Variation};
use faer::Mat;
use rand::RngExt;
use rand_distr::StandardNormal;

const N: usize = 7;
const M: usize = 30;
const D: usize = 3;
/// Steps of the differences, the first that agrees counts.
const STEPS: [f64; 3] = [1e-4, 1e-5, 1e-6];
const LEAVES: [Leaf; 4] = [Leaf::Weights, Leaf::Latents, Leaf::Parameters, Leaf::Both];
/// Relative to the largest entry of the gradient.
const TOLERANCE: f64 = 1e-6;

struct Setting {
    objective: Objective,
    generator: Generator<f64>,
    z: Vec<f64>,
    w: Mat<f64>,
    dw: Mat<f64>,
    layers: Layers,
}

#[derive(Debug, Default)]
struct Compared {
    entries: usize,
    /// Entries that needed a smaller step.
    retried: usize,
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
        let mut objective = Objective::new(activation, Ridge::Absolute(1e-4), rows, N);
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
        let mut layers = Layers::new(activation, N, dim, c);
        layers.initialise(&mut rng);
        Setting {
            layers,
            objective,
            generator,
            z,
            dw: w.clone(),
            w,
        }
    }

    fn entry(&mut self, leaf: Leaf, i: usize) -> &mut f64 {
        match leaf {
            Leaf::Weights => {
                let rows = self.w.nrows();
                &mut self.w[(i % rows, i / rows)]
            }
            Leaf::Latents => &mut self.z[i],
            Leaf::Parameters => &mut self.generator.theta[i],
            Leaf::Both => &mut self.layers.theta[i],
        }
    }

    /// The loss, and dL/dw in `dw`.
    fn evaluate(&mut self, leaf: Leaf) -> f64 {
        match leaf {
            Leaf::Weights => {}
            Leaf::Latents | Leaf::Parameters => {
                self.generator.forward(&self.z, self.w.as_mut());
            }
            Leaf::Both => return self.layers.evaluate(&mut self.objective).total,
        }
        let loss = self
            .objective
            .gradient(self.w.as_ref(), self.dw.as_mut())
            .unwrap();
        loss.total
    }

    /// The gradient in the leaf, by the backward functions.
    fn gradient(&mut self, leaf: Leaf) -> Vec<f64> {
        self.evaluate(leaf);
        match leaf {
            Leaf::Weights => self
                .dw
                .col_iter()
                .flat_map(|dw| dw.iter().copied())
                .collect(),
            Leaf::Latents => {
                let mut dz = vec![0.0; self.z.len()];
                self.generator.backward(self.dw.as_ref(), Some(&mut dz));
                dz
            }
            Leaf::Parameters => {
                self.generator.backward(self.dw.as_ref(), None);
                self.generator.parameter_gradient().to_vec()
            }
            Leaf::Both => self.layers.gradient.clone(),
        }
    }

    /// The derivative in entry `i` by the central difference of fourth order.
    fn difference(&mut self, leaf: Leaf, i: usize, step: f64) -> f64 {
        let old = *self.entry(leaf, i);
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|shift| {
            *self.entry(leaf, i) = old + shift * step;
            self.evaluate(leaf)
        });
        *self.entry(leaf, i) = old;
        (a - 8.0 * b + 8.0 * c - d) / (12.0 * step)
    }
}

/// Compares every entry of the gradient; none where the gradient vanishes and only rounding would be compared.
///
/// The loss has kinks: the generator's ReLUs, ReLU features, and |u| and ‖u‖ in the regularisers. Where one lies within
/// the step, the difference is wrong and a smaller step is tried. No entry is left out: a wrong one would have to agree
/// with a difference to a millionth by chance.
fn compare(
    activation: Activation,
    term: Option<Variation>,
    leaf: Leaf,
    c: usize,
    seed: u64,
) -> Option<Compared> {
    let mut setting = Setting::new(activation, term, c, seed);
    let gradient = setting.gradient(leaf);
    let size = gradient.iter().fold(0.0, |a: f64, g| a.max(g.abs()));
    if size < 1e-5 {
        return None;
    }
    let mut compared = Compared::default();
    for (i, &exact) in gradient.iter().enumerate() {
        let mut tried = Vec::new();
        let at = STEPS.iter().position(|&step| {
            let numeric = setting.difference(leaf, i, step);
            tried.push(numeric);
            (numeric - exact).abs() <= TOLERANCE * size
        });
        assert!(
            at.is_some(),
            "{activation:?} {term:?} {leaf:?} c={c} seed={seed} entry {i}: {exact:?}, differences {tried:?}, largest {size:?}"
        );
        compared.entries += 1;
        compared.retried += usize::from(at != Some(0));
    }
    Some(compared)
}

#[test]
fn gradients_equal_central_differences_over_the_whole_grid() {
    let mut compared = Compared::default();
    let terms = [None].into_iter().chain(Variation::ALL.map(Some));
    for term in terms {
        for activation in Activation::ALL {
            for leaf in LEAVES {
                for c in [1, 3] {
                    let draws = (0..12).filter_map(|seed| compare(activation, term, leaf, c, seed));
                    let draws: Vec<_> = draws.take(4).collect();
                    assert_eq!(draws.len(), 4, "{activation:?} {term:?} {leaf:?} c={c}");
                    for draw in draws {
                        compared.entries += draw.entries;
                        compared.retried += draw.retried;
                    }
                }
            }
        }
    }
    // A step of 1e-4 meets few of the kinks; many retries would mean that something else is wrong.
    assert!(500 * compared.retried <= compared.entries, "{compared:?}");
}
