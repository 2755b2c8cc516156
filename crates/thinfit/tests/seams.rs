//! The two seams from outside: a device for the training steps, and sums over ranks, with the public interface alone.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod common;

use common::{data, run, small};
use faer::MatMut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use thinfit::pieces::{Backend, Entries, Processor, Ranks, Snapshot, Task, TrainingRun};
use thinfit::{
    Activation, Config, Control, Lambda, Leaf, Loss, Mat, MatRef, Phase, Progress, Result, Timing,
    Training, fit, fit_on, resume_on,
};

/// The processor, with a count of the runs and steps that it is asked for.
#[derive(Default)]
struct Counting {
    processor: Processor,
    runs: AtomicUsize,
    steps: Arc<AtomicUsize>,
}

struct CountedRun {
    run: Box<dyn TrainingRun>,
    steps: Arc<AtomicUsize>,
}

impl Backend for Counting {
    fn start(&self, config: &Config, task: &Task<'_>) -> Result<Box<dyn TrainingRun>> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(CountedRun {
            run: self.processor.start(config, task)?,
            steps: Arc::clone(&self.steps),
        }))
    }
}

impl TrainingRun for CountedRun {
    fn begin(&mut self, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        self.run.begin(leaf, from)
    }

    fn step(&mut self, step: usize, rate: f64) -> Result<Loss> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.run.step(step, rate)
    }

    fn validate(&mut self, step: usize) -> Result<f64> {
        self.run.validate(step)
    }

    fn weights(&mut self) -> Mat<f64> {
        self.run.weights()
    }

    fn snapshot(&self) -> Snapshot {
        self.run.snapshot()
    }

    fn timing(&self) -> Timing {
        self.run.timing()
    }
}

#[test]
fn a_device_from_another_crate_gives_the_same_bytes() {
    let data = data(90);
    for (training, lambda, runs, steps) in [
        (Training::Random, Lambda::Fixed(0.0), 1, 0),
        (Training::Direct, Lambda::Fixed(1e-3), 1, 30),
        (Training::Refined, Lambda::Fixed(0.0), 1, 60),
        (Training::Generative, Lambda::Auto, 6, 180),
    ] {
        let config = Config {
            lambda,
            ..small(training, Activation::Fourier)
        };
        let device = Counting::default();
        let model = fit_on(&device, &data, &config, &|_| Control::Continue).unwrap();
        assert_eq!(model.to_json(), run(&data, &config).unwrap().to_json());
        assert_eq!(device.runs.into_inner(), runs, "{training:?}");
        assert_eq!(device.steps.load(Ordering::Relaxed), steps, "{training:?}");
    }
}

#[test]
fn a_fit_moves_from_one_device_to_another() {
    let data = data(90);
    let config = small(Training::Refined, Activation::Tanh);
    let state = Mutex::new(None);
    let stop_in_the_refinement = |progress: &Progress<'_>| {
        if progress.phase == Phase::Train(Leaf::Latents) && progress.step == 10 {
            *state.lock().unwrap() = progress.state();
            return Control::Stop;
        }
        Control::Continue
    };
    fit(&data, &config, &stop_in_the_refinement).unwrap();
    let (device, state) = (Counting::default(), state.into_inner().unwrap().unwrap());
    let model = resume_on(&device, &data, state, &|_| Control::Continue).unwrap();
    assert_eq!(model.to_json(), run(&data, &config).unwrap().to_json());
    assert_eq!(device.steps.load(Ordering::Relaxed), 20);
}

/// Two ranks in one process: the parts are dealt out in two shares, which are added one after the other.
#[derive(Default)]
struct TwoShares {
    /// Whether the second share comes first, against the contract.
    swapped: bool,
    shared_sums: AtomicUsize,
}

impl Ranks for TwoShares {
    fn add<'a>(
        &self,
        parts: &mut dyn Iterator<Item = MatRef<'a, f64>>,
        entries: Entries,
        factor: f64,
        mut total: MatMut<'_, f64>,
    ) {
        let parts: Vec<_> = parts.collect();
        let mut shares = [&parts[..parts.len() / 2], &parts[parts.len() / 2..]];
        if self.swapped {
            shares.reverse();
        }
        if shares.iter().all(|share| !share.is_empty()) {
            self.shared_sums.fetch_add(1, Ordering::Relaxed);
        }
        for part in shares.into_iter().flatten() {
            for j in 0..total.ncols() {
                let first = if entries == Entries::Lower { j } else { 0 };
                for i in first..total.nrows() {
                    total[(i, j)] += factor * part[(i, j)];
                }
            }
        }
    }
}

#[test]
fn sums_in_two_shares_give_the_same_bytes() {
    // Enough rows for three groups.
    let data = data(700);
    for activation in [Activation::Fourier, Activation::Sigmoid] {
        let config = Config {
            lambda: Lambda::Fixed(1e-3),
            ..small(Training::Refined, activation)
        };
        let on = |ranks: &Arc<TwoShares>| {
            let ranks: Arc<dyn Ranks> = Arc::clone(ranks) as _;
            let device = Processor::with_ranks(ranks);
            let model = fit_on(&device, &data, &config, &|_| Control::Continue);
            model.unwrap().to_json()
        };
        let alone = run(&data, &config).unwrap().to_json();
        let ranks = Arc::new(TwoShares::default());
        assert_eq!(on(&ranks), alone, "{activation:?}");
        // Five sums a step: Gram matrix, right side, loss, db, dw.
        assert!(ranks.shared_sums.load(Ordering::Relaxed) >= 5 * 60);
        // Out of order the last bits differ, so the test can tell.
        let swapped = Arc::new(TwoShares {
            swapped: true,
            ..TwoShares::default()
        });
        assert_ne!(on(&swapped), alone, "{activation:?}");
    }
}
