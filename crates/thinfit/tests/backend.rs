//! The extension points used from outside: a backend for the training steps, and sums over ranks, through the public
//! interface alone.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod common;

use common::{data, run, small};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use thinfit::pieces::{Backend, Batch, Processor, Snapshot, Task};
use thinfit::{
    Activation, Config, Control, Dataset, Error, Job, Lambda, Leaf, Loss, Mat, Model, Phase,
    Progress, Result, State, Training, fit, fit_many_on, fit_on, resume_on,
};

/// What goes wrong in the run of a seed and λ, in these steps.
type Fault = fn(u64, f64, &Range<usize>) -> Option<Error>;

/// The processor, with a count of the runs and steps that it is asked for, reports every `stride` steps, and faults.
struct Device {
    processor: Processor,
    runs: AtomicUsize,
    steps: Arc<AtomicUsize>,
    stride: usize,
    fault: Fault,
    /// The seed of runs whose weights are not finite.
    spoilt: Option<u64>,
}

impl Default for Device {
    fn default() -> Self {
        Device {
            processor: Processor,
            runs: AtomicUsize::default(),
            steps: Arc::default(),
            stride: 1,
            fault: |_, _, _| None,
            spoilt: None,
        }
    }
}

struct Runs {
    batch: Box<dyn Batch>,
    /// Seed and λ of each.
    names: Vec<(u64, f64)>,
    steps: Arc<AtomicUsize>,
    stride: usize,
    fault: Fault,
    spoilt: Option<u64>,
}

impl Backend for Device {
    fn start(&self, config: &Config, runs: &[(u64, Task<'_>)]) -> Result<Box<dyn Batch>> {
        self.runs.fetch_add(runs.len(), Ordering::Relaxed);
        Ok(Box::new(Runs {
            batch: self.processor.start(config, runs)?,
            names: runs
                .iter()
                .map(|(seed, task)| (*seed, task.lambda))
                .collect(),
            steps: Arc::clone(&self.steps),
            stride: self.stride,
            fault: self.fault,
            spoilt: self.spoilt,
        }))
    }
}

impl Batch for Runs {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        self.batch.begin(run, leaf, from)
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        self.steps
            .fetch_add(runs.len() * steps.len(), Ordering::Relaxed);
        let mut losses = self.batch.advance(runs, steps.clone(), rate);
        for (run, loss) in runs.iter().zip(&mut losses) {
            let (seed, lambda) = self.names[*run];
            if let Some(error) = (self.fault)(seed, lambda, &steps) {
                *loss = Err(error);
            }
        }
        losses
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        self.batch.validate(runs, step)
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        let mut w = self.batch.weights(run)?;
        if self.spoilt == Some(self.names[run].0) {
            w.fill(f64::NAN);
        }
        Ok(w)
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        self.batch.snapshot(run, moments)
    }

    fn stride(&self) -> usize {
        self.stride
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
        let device = Device::default();
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
    let (device, state) = (Device::default(), state.into_inner().unwrap().unwrap());
    let model = resume_on(&device, &data, state, &|_| Control::Continue).unwrap();
    assert_eq!(model.to_json(), run(&data, &config).unwrap().to_json());
    assert_eq!(device.steps.load(Ordering::Relaxed), 20);
}

/// Fits with different seeds and λ, one of them over all λ.
fn three(training: Training) -> [Config; 3] {
    [
        (1, Lambda::Fixed(0.0)),
        (2, Lambda::Auto),
        (3, Lambda::Fixed(1e-2)),
    ]
    .map(|(seed, lambda)| Config {
        seed,
        lambda,
        ..small(training, Activation::Fourier)
    })
}

/// Other samples of the same shape for each fit.
fn tables() -> [Dataset; 3] {
    [1.0, 0.5, 2.0].map(|factor| {
        let mut data = data(90);
        for i in 0..90 {
            data.y[(i, 0)] += (factor * data.x[(i, 1)]).cos();
        }
        data
    })
}

fn on(_: &Progress<'_>) -> Control {
    Control::Continue
}

fn json(models: Vec<Result<Model>>) -> Vec<String> {
    let models = models.into_iter().map(|model| model.unwrap().to_json());
    models.collect()
}

fn diverged() -> Error {
    Error::Diverged {
        what: "a test",
        step: 0,
        advice: "",
    }
}

/// What each fit gives when it is alone on the device.
fn singles(device: &Device, tables: &[Dataset], configs: &[Config]) -> Vec<String> {
    let fits = tables.iter().zip(configs);
    json(
        fits.map(|(data, config)| fit_on(device, data, config, &on))
            .collect(),
    )
}

fn jobs<'a>(tables: &'a [Dataset], configs: &[Config]) -> Vec<Job<'a>> {
    let fits = tables.iter().zip(configs);
    fits.map(|(data, config)| Job::new(data, config, &on))
        .collect()
}

#[test]
fn fits_that_are_trained_together_give_the_same_bytes_as_alone() {
    let tables = tables();
    for training in [
        Training::Random,
        Training::Direct,
        Training::Generative,
        Training::Refined,
    ] {
        let configs = three(training);
        let alone = singles(&Device::default(), &tables, &configs);
        assert!(alone[0] != alone[1] && alone[1] != alone[2]);
        for stride in [1, 4, 100] {
            let device = Device {
                stride,
                ..Device::default()
            };
            let models = fit_many_on(&device, jobs(&tables, &configs)).unwrap();
            assert_eq!(json(models), alone, "{training:?}, stride {stride}");
            let random = training == Training::Random;
            assert_eq!(device.runs.into_inner(), if random { 3 } else { 8 });
        }
    }
}

#[test]
fn each_fit_sees_its_own_progress() {
    let (tables, configs) = (tables(), three(Training::Refined));
    let seen: [Mutex<Vec<(usize, usize, usize)>>; 3] = Default::default();
    let observers = [0, 1, 2].map(|fit: usize| {
        let seen = &seen[fit];
        move |at: &Progress<'_>| {
            if at.phase == Phase::Train(Leaf::Latents) {
                seen.lock().unwrap().push((at.run, at.runs, at.step));
            }
            Control::Continue
        }
    });
    let jobs = (0..3).map(|i| Job::new(&tables[i], &configs[i], &observers[i]));
    let device = Device {
        stride: 5,
        ..Device::default()
    };
    fit_many_on(&device, jobs.collect()).unwrap();
    // Validation after every seventh step interrupts the strides of five.
    let steps = [5, 7, 12, 14, 19, 21, 26, 28, 30];
    for (seen, runs) in seen.into_iter().zip([1, 6, 1]) {
        let expected = steps.map(|step| (0..runs).map(move |run| (run, runs, step)));
        let expected: Vec<_> = expected.into_iter().flatten().collect();
        assert_eq!(seen.into_inner().unwrap(), expected);
    }
}

/// The state of a fit when its observer is called for the `call`-th time.
fn state_at(device: &Device, call: usize, data: &Dataset, config: &Config) -> State {
    let (calls, state) = (AtomicUsize::new(0), Mutex::new(None));
    let observe = |at: &Progress<'_>| {
        if calls.fetch_add(1, Ordering::Relaxed) + 1 < call {
            return Control::Continue;
        }
        state
            .lock()
            .unwrap()
            .get_or_insert_with(|| at.state().unwrap());
        Control::Stop
    };
    let model = fit_on(device, data, config, &observe).unwrap();
    assert!(model.record.stopped);
    state.into_inner().unwrap().unwrap()
}

#[test]
fn fits_resumed_at_different_steps_go_on_together_to_the_same_bytes() {
    let (tables, configs) = (tables(), three(Training::Refined));
    let alone = singles(&Device::default(), &tables, &configs);
    // In the refinement; in the generator's phase, with runs that were told and runs that were not; at its last step.
    for calls in [[44, 6 * 12 + 2, 30], [5, 6 * 40, 59], [1, 1, 60]] {
        let states = [0, 1, 2].map(|i| {
            let device = Device::default();
            state_at(&device, calls[i], &tables[i], &configs[i])
        });
        let resumed = tables.iter().zip(states);
        let resumed = resumed.map(|(data, state)| Job::resumed(data, state, &on));
        // And one from the start.
        let jobs = resumed.chain([Job::new(&tables[0], &configs[0], &on)]);
        let device = Device {
            stride: 9,
            ..Device::default()
        };
        let models = json(fit_many_on(&device, jobs.collect()).unwrap());
        assert_eq!(models[..3], alone, "{calls:?}");
        assert_eq!(models[3], alone[0]);
    }
}

#[test]
fn a_fit_that_is_stopped_leaves_the_others_untouched() {
    let (tables, configs) = (tables(), three(Training::Refined));
    let stop = |at: &Progress<'_>| match at.phase {
        Phase::Train(Leaf::Latents) if at.step == 10 => Control::Stop,
        _ => Control::Continue,
    };
    for stopped in 0..3 {
        let mut expected = singles(&Device::default(), &tables, &configs);
        let device = Device::default();
        let model = fit_on(&device, &tables[stopped], &configs[stopped], &stop).unwrap();
        assert!(model.record.stopped);
        expected[stopped] = model.to_json();
        let mut jobs = jobs(&tables, &configs);
        jobs[stopped] = Job::new(&tables[stopped], &configs[stopped], &stop);
        let device = Device::default();
        assert_eq!(json(fit_many_on(&device, jobs).unwrap()), expected);
        // 60 steps of eight runs, less 20 in each run of the stopped fit.
        let runs = if stopped == 1 { 6 } else { 1 };
        let steps = device.steps.load(Ordering::Relaxed);
        assert_eq!(steps, 60 * 8 - 20 * runs);
    }
}

#[test]
fn a_run_that_diverges_ends_its_phase_alone() {
    let (tables, configs) = (tables(), three(Training::Refined));
    // One of the λ of the second fit, and the third fit, in both phases.
    let device = || Device {
        fault: |seed, lambda, steps| {
            let spoils = (seed == 2 && lambda == 1.0) || seed == 3;
            (spoils && steps.contains(&12)).then(diverged)
        },
        ..Device::default()
    };
    let expected = singles(&device(), &tables, &configs);
    let sound = singles(&Device::default(), &tables, &configs);
    assert_eq!(expected[0], sound[0]);
    assert_ne!(expected[2], sound[2]);
    for stride in [1, 5] {
        let device = Device { stride, ..device() };
        let models = fit_many_on(&device, jobs(&tables, &configs)).unwrap();
        assert_eq!(json(models), expected);
    }
    // Saved while the run of λ = 1 waits for the next phase.
    let state = state_at(&device(), 6 * 20, &tables[1], &configs[1]);
    let model = resume_on(&device(), &tables[1], state, &on).unwrap();
    assert_eq!(model.to_json(), expected[1]);
}

#[test]
fn a_fit_that_fails_fails_alone() {
    let (tables, configs) = (tables(), three(Training::Direct));
    let alone = singles(&Device::default(), &tables, &configs);
    let device = Device {
        spoilt: Some(2),
        ..Device::default()
    };
    let mut models = fit_many_on(&device, jobs(&tables, &configs)).unwrap();
    let error = models.remove(1).unwrap_err();
    assert!(matches!(error, Error::Diverged { .. }), "{error}");
    assert_eq!(json(models), [alone[0].clone(), alone[2].clone()]);

    let mut broken = tables.clone();
    broken[0].x[(5, 1)] = 1e200;
    let state = state_at(&Device::default(), 5, &tables[2], &configs[2]);
    let mut jobs = jobs(&broken, &configs);
    jobs.push(Job::resumed(&tables[0], state, &on));
    let mut models = fit_many_on(&Device::default(), jobs).unwrap();
    let error = models.pop().unwrap().unwrap_err();
    assert!(matches!(error, Error::Format { .. }), "{error}");
    let error = models.remove(0).unwrap_err();
    assert!(error.to_string().contains("1e150"), "{error}");
    assert_eq!(json(models), alone[1..]);
}

#[test]
fn a_device_that_fails_fails_all_fits_in_training() {
    let (tables, configs) = (tables(), three(Training::Direct));
    let device = Device {
        fault: |seed, _, steps| {
            (seed == 1 && steps.contains(&20)).then(|| Error::Device {
                device: "test".into(),
                problem: "it fell off the bus".into(),
                advice: "put it back",
            })
        },
        ..Device::default()
    };
    let stop = |at: &Progress<'_>| match at.step {
        10 => Control::Stop,
        _ => Control::Continue,
    };
    let mut jobs = jobs(&tables, &configs);
    jobs[2] = Job::new(&tables[2], &configs[2], &stop);
    let mut models = fit_many_on(&device, jobs).unwrap();
    assert!(models.pop().unwrap().unwrap().record.stopped);
    for model in models {
        let error = model.unwrap_err();
        let expected = "test: it fell off the bus; put it back";
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn fits_that_do_not_match_are_refused() {
    let (tables, configs) = (tables(), three(Training::Direct));
    let refused = |data: &Dataset, config: &Config| {
        let jobs = vec![
            Job::new(&tables[0], &configs[0], &on),
            Job::new(data, config, &on),
        ];
        let device = Device::default();
        let error = fit_many_on(&device, jobs).unwrap_err();
        assert_eq!(device.runs.into_inner(), 0);
        error.to_string()
    };
    let config = &configs[1];
    let error = refused(
        &tables[1],
        &Config {
            width: 13,
            ..config.clone()
        },
    );
    let expected = "config field `width`: expected the same in all fits that are trained together, found 12 and 13";
    assert_eq!(error, expected);
    let expected = "fits that are trained together: expected 81 training and 9 validation rows, 2 inputs, 1 outputs, without weights, found ";
    let weighted = tables[1].clone().with_weights(vec![1.0; 90]).unwrap();
    for (data, found) in [
        (data(60), "54 training and 6 validation rows"),
        (weighted, "1 outputs, with weights"),
    ] {
        let error = refused(&data, config);
        assert!(
            error.starts_with(expected) && error.contains(found),
            "{error}"
        );
    }
    assert!(fit_many_on(&Device::default(), vec![]).unwrap().is_empty());
}
