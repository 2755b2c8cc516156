//! The plain two-layer network of the paper's comparisons: Adam trains both layers.
//!
//! f(x) = Re Σ_l b_l Φ(⟨w_l, x⟩) without the factor 1/n, and with an output bias where Φ has biases. The loss is mean_k
//! |f(x_k) − y_k|² + λ · mean_j ‖∇f(p_j)‖₁ over all rows and points p_j drawn afresh in every step. Both layers start
//! uniform in ±1/√(inputs of the layer). As in the paper, the result is the last iterate, not the best one. We use
//! double precision where the paper uses single.
//!
//! The steps are those of any [`Backend`], with both layers as the leaf; several fits can advance as one batch.

use crate::choice::{best_network, lambdas, stops};
use crate::prepared::Prepared;
use crate::range::{at_least_one, positive};
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Backend, Batch, Layers, Processor, Purpose, Task, initial, stream};
use thinfit::{
    Activation, Config, Dataset, Error, GeneratorConfig, Lambda, Leaf, Model, Network, Observer,
    Result, Scaling, Training, Variation,
};

/// Minimum number of points at which the variation is sampled.
pub(crate) const POINTS: usize = 1000;

/// Settings of the plain network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlainNetwork {
    /// Activation; Fourier.
    pub activation: Activation,
    /// Number of neurons; 100.
    pub width: usize,
    /// Strength λ of the total variation, or `auto` for the best of the grid by validation; 0.
    pub lambda: Lambda,
    /// Number of Adam steps; 100,000.
    pub steps: usize,
    /// Learning rate; 1e-3.
    pub rate: f64,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for PlainNetwork {
    fn default() -> Self {
        PlainNetwork {
            activation: Activation::Fourier,
            width: 100,
            lambda: Lambda::Fixed(0.0),
            steps: 100_000,
            rate: 1e-3,
            scaling: Scaling::None,
        }
    }
}

/// One of several fits that are trained together.
#[derive(Clone, Copy)]
pub struct PlainFit<'a> {
    /// Strength of the regulariser.
    pub lambda: Lambda,
    /// The samples; of one shape in all fits.
    pub data: &'a Dataset,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Observes the fit, and may stop it.
    pub observe: &'a Observer<'a>,
}

impl PlainNetwork {
    /// The name of the method.
    pub const NAME: &str = "plain";

    /// Fits `data`. A stopped fit keeps its last iterate.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        self.fit_on(&Processor, data, seed, observe)
    }

    /// [`PlainNetwork::fit`] with the training steps on a device.
    ///
    /// # Errors
    /// As [`PlainNetwork::fit`], and those of the device.
    pub fn fit_on(
        &self,
        backend: &dyn Backend,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Model> {
        let fit = PlainFit {
            lambda: self.lambda,
            data,
            seed,
            observe,
        };
        let mut models = self.fit_many_on(backend, &[fit])?;
        models.pop().expect("one model for each fit")
    }

    /// Trains several fits, which differ in samples, seed and λ alone, as one batch: a model for each of them.
    ///
    /// # Errors
    /// Those of the device and of any fit before its training; a fit that fails later fails alone.
    pub fn fit_many_on(
        &self,
        backend: &dyn Backend,
        fits: &[PlainFit<'_>],
    ) -> Result<Vec<Result<Model>>> {
        at_least_one("width", self.width)?;
        positive("rate", self.rate)?;
        let prepared = fits
            .iter()
            .map(|fit| Prepared::new(fit.data, self.scaling, fit.seed));
        let prepared: Vec<Prepared<'_>> = prepared.collect::<Result<_>>()?;
        same_shape(&prepared)?;
        let mut runs = Vec::new();
        for (of, fit) in fits.iter().enumerate() {
            runs.extend(lambdas(fit.lambda)?.into_iter().map(|lambda| (of, lambda)));
        }
        if fits.is_empty() {
            return Ok(vec![]);
        }
        // Inside the pool, because entering it at every step would be slow.
        let (mut trained, stopped) = rayon::scope(|_| self.train(backend, fits, &prepared, &runs))?;
        let models = fits.iter().zip(prepared).enumerate();
        let models = models.map(|(of, (fit, prepared))| {
            let method = PlainNetwork {
                lambda: fit.lambda,
                ..self.clone()
            };
            let mut record = prepared.record(Self::NAME, &method, fit.seed);
            record.stopped = stopped[of];
            let mine = runs.iter().filter(|(fit, _)| *fit == of);
            let networks = trained.drain(..mine.clone().count());
            let tried = mine.map(|(_, lambda)| *lambda).zip(networks).collect();
            best_network(prepared, record, tried)
        });
        Ok(models.collect())
    }

    /// The network of each run, a fit with one λ, and whether each fit was stopped.
    fn train(
        &self,
        backend: &dyn Backend,
        fits: &[PlainFit<'_>],
        prepared: &[Prepared<'_>],
        runs: &[(usize, f64)],
    ) -> Result<(Vec<Result<Network>>, Vec<bool>)> {
        let mut stopped = vec![false; fits.len()];
        let mut batch = self.start(backend, fits, prepared, runs)?;
        let mut diverged: Vec<Option<Error>> = runs.iter().map(|_| None).collect();
        let (mut step, mut going): (_, Vec<usize>) = (0, (0..runs.len()).collect());
        while step < self.steps && !going.is_empty() {
            let until = self.steps.min(step + batch.stride().max(1));
            let losses = batch.advance(&going, step..until, self.rate);
            for (&run, loss) in going.iter().zip(losses) {
                diverged[run] = match loss {
                    Ok(loss) if loss.total.is_finite() => None,
                    Ok(_) => Some(Error::Diverged {
                        what: "the loss",
                        step: until - 1,
                        advice: "lower the learning rate or scale the data",
                    }),
                    Err(error @ Error::Diverged { .. }) => Some(error),
                    Err(error) => return Err(error),
                };
            }
            step = until;
            for (fit, stopped) in fits.iter().zip(&mut stopped) {
                *stopped = *stopped || stops(fit.observe, step, self.steps);
            }
            going.retain(|&run| diverged[run].is_none() && !stopped[runs[run].0]);
        }
        let networks = diverged.into_iter().enumerate();
        let networks = networks.map(|(run, diverged)| match diverged {
            Some(error) => Err(error),
            None => self.network(&*batch, run),
        });
        Ok((networks.collect(), stopped))
    }

    /// Starts all runs, each at its own initial weights.
    fn start(
        &self,
        backend: &dyn Backend,
        fits: &[PlainFit<'_>],
        prepared: &[Prepared<'_>],
        runs: &[(usize, f64)],
    ) -> Result<Box<dyn Batch>> {
        let train = |of: usize| &prepared[of].train;
        let config = Config {
            // Nothing but both layers moves; the generator is not used.
            training: Training::Random,
            generator: GeneratorConfig {
                hidden: vec![1],
                ..Config::paper().generator
            },
            activation: self.activation,
            width: self.width,
            points: POINTS.max(train(0).samples()),
            variation: Variation::Anisotropic,
            ..Config::paper()
        };
        let domains: Vec<_> = prepared.iter().map(|of| of.train.domain()).collect();
        let tasks = runs.iter().map(|&(of, lambda)| {
            let task = Task {
                train: train(of),
                validation: &prepared[of].validation,
                lambda,
                domain: &domains[of],
            };
            (fits[of].seed, task)
        });
        let mut batch = backend.start(&config, &tasks.collect::<Vec<_>>())?;
        for (run, &(of, _)) in runs.iter().enumerate() {
            let (d, seed) = (train(of).dim(), fits[of].seed);
            let mut layers = self.layers(d, train(of).y.ncols());
            layers.initialise(&mut stream(seed, Purpose::BaselineParameters, 0));
            let mut start = initial(&config, seed, d);
            let (w, b) = layers.parts();
            (start.w, start.b) = (w.to_vec(), b.to_vec());
            batch.begin(run, Leaf::Both, Some(&start))?;
        }
        Ok(batch)
    }

    fn layers(&self, d: usize, c: usize) -> Layers {
        Layers::new(self.activation, self.width, self.activation.weights(d), c)
    }

    /// The current network of a run.
    fn network(&self, batch: &dyn Batch, run: usize) -> Result<Network> {
        let (snapshot, n) = (batch.snapshot(run, false)?, self.width);
        let (dim, k) = (snapshot.w.len() / n, self.activation.columns(n));
        let mut layers = Layers::new(self.activation, n, dim, snapshot.b.len() / k);
        layers.theta = [snapshot.w, snapshot.b].concat();
        Ok(layers.network())
    }
}

/// Refuses fits of different shapes.
fn same_shape(fits: &[Prepared<'_>]) -> Result<()> {
    let shape = |fit: &Prepared<'_>| {
        let (rows, held) = (fit.train.samples(), fit.validation.samples());
        let (inputs, outputs) = (fit.train.dim(), fit.train.y.ncols());
        format!("{rows} + {held} rows, {inputs} inputs, {outputs} outputs")
    };
    let others = fits.iter().skip(1).map(shape);
    let (Some(expected), mut others) = (fits.first().map(shape), others) else {
        return Ok(());
    };
    match others.find(|found| *found != expected) {
        None => Ok(()),
        Some(found) => Err(Error::Shape {
            what: "fits that are trained together",
            expected,
            found,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use thinfit::{Control, Progress};

    fn wave(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| ((i * (7 + 12 * j)) % 97) as f64 / 97.0);
        let y = Mat::from_fn(m, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        Dataset::new(x, y).unwrap()
    }

    #[test]
    fn every_activation_learns_a_wave_and_can_be_stopped() {
        let data = wave(90);
        for activation in [Activation::Fourier, Activation::Sigmoid, Activation::Relu] {
            let method = PlainNetwork {
                activation,
                width: 20,
                steps: 3000,
                rate: 1e-2,
                ..PlainNetwork::default()
            };
            let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
            let error = model.record.validation_mse[0];
            assert!(
                error < 1e-2 * model.record.validation_variance[0],
                "{activation:?} {error:e}"
            );
            let count = AtomicUsize::new(0);
            let stop = |_: &Progress<'_>| {
                if count.fetch_add(1, Ordering::Relaxed) < 9 {
                    Control::Continue
                } else {
                    Control::Stop
                }
            };
            let stopped = method.fit(&data, 1, &stop).unwrap();
            assert!(stopped.record.stopped && count.into_inner() == 10);
        }
    }

    #[test]
    fn fits_of_one_batch_are_those_alone_and_others_are_refused() {
        let (method, tables) = (
            PlainNetwork {
                width: 5,
                steps: 30,
                ..PlainNetwork::default()
            },
            [wave(40), wave(40), wave(50)],
        );
        let go_on = |_: &Progress<'_>| Control::Continue;
        let fit = |i: usize| PlainFit {
            lambda: Lambda::Fixed([0.0, 0.1, 0.0][i]),
            data: &tables[i],
            seed: 1 + i as u64,
            observe: &go_on,
        };
        let processor = Processor;
        let together = method.fit_many_on(&processor, &[fit(0), fit(1)]).unwrap();
        for (i, model) in together.into_iter().enumerate() {
            let PlainFit {
                lambda, data, seed, ..
            } = fit(i);
            let alone = PlainNetwork {
                lambda,
                ..method.clone()
            };
            assert_eq!(model.unwrap(), alone.fit(data, seed, &go_on).unwrap());
        }
        let error = method.fit_many_on(&processor, &[fit(0), fit(2)]);
        assert!(error.unwrap_err().to_string().contains("trained together"));
        assert!(method.fit_many_on(&processor, &[]).unwrap().is_empty());
    }

    #[test]
    fn auto_is_the_best_of_the_grid_by_validation() {
        let data = wave(40);
        let fit = |lambda| {
            let method = PlainNetwork {
                width: 5,
                steps: 200,
                lambda,
                rate: 1e-2,
                ..PlainNetwork::default()
            };
            let record = method
                .fit(&data, 2, &|_| Control::Continue)
                .unwrap()
                .header
                .record;
            (record.validation_mse[0], record.lambda)
        };
        let each = Lambda::GRID.map(|lambda| fit(Lambda::Fixed(lambda)));
        let best = each.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        assert!(best.1 > 0.0, "{each:?}");
        assert_eq!(fit(Lambda::Auto), best, "{each:?}");
    }
}
