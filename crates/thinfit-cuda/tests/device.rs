//! Compares the device with the CPU through the public interface. Without a GPU these tests print a message and pass.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use thinfit::pieces::{Backend, Batch, Processor, Snapshot, Task, Values, initial};
use thinfit::{
    Activation, Config, Control, Dataset, GeneratorConfig, Job, Lambda, Leaf, Mat, Model, Phase,
    Precision, Progress, Ridge, Schedule, Variation, fit_many_on, fit_on, resume_on,
};
use thinfit_cuda::Cuda;

const LEAVES: [Leaf; 4] = [Leaf::Weights, Leaf::Latents, Leaf::Parameters, Leaf::Both];

/// The GPU, or a message on standard error that there is none.
fn device() -> Option<Cuda> {
    match Cuda::open() {
        Ok(device) => Some(device),
        Err(error) => {
            eprintln!("SKIPPED: {error}");
            None
        }
    }
}

/// Some samples of a smooth function with `c` outputs.
fn samples(m: usize, d: usize, c: usize, weighted: bool, seed: usize) -> Dataset {
    let x = Mat::from_fn(m, d, |i, j| {
        (((i + 31 * seed + 1) * (7919 + 104_729 * j)) % 1009) as f64 / 1009.0 - 0.3
    });
    let y = Mat::from_fn(m, c, |i, o| {
        (0..d)
            .map(|j| (2.0 * x[(i, j)] * (1 + o + j) as f64).sin())
            .sum()
    });
    let data = Dataset::new(x, y).unwrap();
    match weighted {
        true => data
            .with_weights((0..m).map(|i| (i % 4) as f64 * 0.5).collect())
            .unwrap(),
        false => data,
    }
}

fn settings(activation: Activation, n: usize, hidden: &[usize], precision: Precision) -> Config {
    Config {
        activation,
        width: n,
        generator: GeneratorConfig {
            hidden: hidden.to_vec(),
            precision,
        },
        // Well conditioned: what is compared is the arithmetic.
        ridge: Ridge::Relative(1.0),
        points: 150,
        scale: 0.5,
        ..Config::paper()
    }
}

/// Runs with the seeds 1, 2, … and these λ, on both devices.
struct Pair {
    cuda: Box<dyn Batch>,
    processor: Box<dyn Batch>,
    runs: Vec<usize>,
}

fn pair(
    device: &Cuda,
    config: &Config,
    lambdas: &[f64],
    rows: [usize; 2],
    (d, c, weighted): (usize, usize, bool),
) -> Pair {
    let data = |part: usize| -> Vec<Dataset> {
        (0..lambdas.len())
            .map(|i| samples(rows[part], d, c, weighted, 10 * i + part))
            .collect()
    };
    let (train, validation) = (data(0), data(1));
    let domains: Vec<_> = train.iter().map(Dataset::domain).collect();
    let runs: Vec<(u64, Task<'_>)> = (0..lambdas.len())
        .map(|i| {
            let task = Task {
                train: &train[i],
                validation: &validation[i],
                lambda: lambdas[i],
                domain: &domains[i],
            };
            (1 + i as u64, task)
        })
        .collect();
    Pair {
        cuda: device.start(config, &runs).unwrap(),
        processor: Processor.start(config, &runs).unwrap(),
        runs: (0..lambdas.len()).collect(),
    }
}

fn wide(values: &Values) -> Vec<f64> {
    match values {
        Values::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
        Values::F64(values) => values.clone(),
    }
}

/// |a − b| / |b|, as vectors.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let square = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let (error, size) = (
        square(&mut a.iter().zip(b).map(|(a, b)| a - b)),
        square(&mut b.iter().copied()),
    );
    if size == 0.0 { error } else { error / size }
}

fn first_moment(snapshot: &Snapshot) -> Vec<f64> {
    wide(&snapshot.moments.as_ref().unwrap()[0])
}

/// Where a run that moves `leaf` begins: where both layers are the leaf, at output weights other than 0.
fn start(
    config: &Config,
    leaf: Leaf,
    run: usize,
    (d, c, _): (usize, usize, bool),
) -> Option<Snapshot> {
    (leaf == Leaf::Both).then(|| {
        let outputs = config.activation.columns(config.width) * c;
        Snapshot {
            b: (0..outputs).map(|i| (1.7 * i as f64).sin()).collect(),
            ..initial(config, 1 + run as u64, d)
        }
    })
}

/// One step on both devices from the same state: losses, gradients (a tenth of which is the first moment) and the
/// validation errors.
fn compare_step(
    device: &Cuda,
    config: &Config,
    leaf: Leaf,
    shape: (usize, usize, bool),
    rows: [usize; 2],
    what: &str,
) {
    let mut pair = pair(device, config, &[0.0, 0.3], rows, shape);
    for batch in [&mut pair.cuda, &mut pair.processor] {
        for &run in &pair.runs {
            let from = start(config, leaf, run, shape);
            batch.begin(run, leaf, from.as_ref()).unwrap();
        }
    }
    let moves_double = matches!(leaf, Leaf::Weights | Leaf::Both);
    let double = config.generator.precision == Precision::F64 || moves_double;
    let bound = if double { 1e-12 } else { 1e-5 };
    let errors = [&mut pair.cuda, &mut pair.processor].map(|batch| batch.validate(&pair.runs, 0));
    for (run, (a, b)) in errors[0].iter().zip(&errors[1]).enumerate() {
        let (a, b) = (a.as_ref().unwrap(), b.as_ref().unwrap());
        assert!(
            (a - b).abs() <= bound * b,
            "{what}: validation of run {run}: {a} and {b}"
        );
    }
    // Validation leaves other latents behind; a phase begins with its own.
    let losses = [&mut pair.cuda, &mut pair.processor].map(|batch| {
        for &run in &pair.runs {
            let from = start(config, leaf, run, shape);
            batch.begin(run, leaf, from.as_ref()).unwrap();
        }
        batch.advance(&pair.runs, 0..1, 1e-3)
    });
    for (run, (a, b)) in losses[0].iter().zip(&losses[1]).enumerate() {
        let (a, b) = (a.as_ref().unwrap(), b.as_ref().unwrap());
        assert!(
            (a.data - b.data).abs() <= bound * b.data,
            "{what}: loss of run {run}: {a:?} and {b:?}"
        );
        let terms = (a.variation - b.variation).abs();
        assert!(
            terms <= bound * b.variation,
            "{what}: variation of run {run}: {a:?} and {b:?}"
        );
        let snapshots =
            [&pair.cuda, &pair.processor].map(|batch| batch.snapshot(run, true).unwrap());
        let [a, b] = [first_moment(&snapshots[0]), first_moment(&snapshots[1])];
        let error = difference(&a, &b);
        assert!(
            error <= 10.0 * bound,
            "{what}: gradient of run {run} differs by {error:e}"
        );
    }
}

#[test]
fn gradients_agree_for_every_activation_term_and_leaf() {
    let Some(device) = device() else { return };
    for activation in Activation::ALL {
        for leaf in LEAVES {
            for precision in [Precision::F64, Precision::F32] {
                for variation in Variation::ALL {
                    for shape in [(3, 1, false), (2, 2, true)] {
                        let config = Config {
                            variation,
                            ..settings(activation, 21, &[70, 40, 80], precision)
                        };
                        let what = format!(
                            "{activation:?} {leaf:?} {precision:?} {variation:?} {shape:?}"
                        );
                        compare_step(&device, &config, leaf, shape, [90, 25], &what);
                    }
                }
            }
        }
    }
}

#[test]
fn every_width_and_generator_agrees() {
    let Some(device) = device() else { return };
    for n in [1, 7, 8, 33, 100, 121, 200, 401] {
        for activation in [Activation::Fourier, Activation::Sigmoid] {
            let config = settings(activation, n, &[30], Precision::F64);
            compare_step(
                &device,
                &config,
                Leaf::Weights,
                (4, 1, false),
                [450, 40],
                &format!("{activation:?} {n}"),
            );
        }
    }
    for hidden in [&[][..], &[5], &[512, 512, 512], &[100, 3, 100], &[65, 66]] {
        for leaf in [Leaf::Latents, Leaf::Parameters] {
            let config = settings(Activation::Fourier, 40, hidden, Precision::F64);
            compare_step(
                &device,
                &config,
                leaf,
                (6, 1, false),
                [100, 10],
                &format!("{hidden:?} {leaf:?}"),
            );
        }
    }
}

#[test]
fn many_inputs_agree() {
    let Some(device) = device() else { return };
    for d in [9, 10, 33, 59] {
        for activation in [Activation::Fourier, Activation::Sigmoid] {
            for leaf in LEAVES {
                let config = settings(activation, 140, &[70, 40], Precision::F64);
                let what = format!("{activation:?} {leaf:?} {d}");
                compare_step(&device, &config, leaf, (d, 1, false), [90, 25], &what);
            }
        }
    }
}

#[test]
fn many_rows_in_chunks_agree() {
    let Some(device) = device() else { return };
    let config = settings(Activation::Fourier, 12, &[30], Precision::F64);
    for leaf in [Leaf::Weights, Leaf::Both] {
        let rows = [70_001, 40_000];
        compare_step(&device, &config, leaf, (3, 1, true), rows, "chunks");
    }
}

#[test]
fn a_ridge_is_raised_where_a_pivot_fails() {
    let Some(device) = device() else { return };
    // Three distinct rows cannot tell thirty neurons apart.
    let config = Config {
        ridge: Ridge::Absolute(0.0),
        ..settings(Activation::Fourier, 30, &[20], Precision::F64)
    };
    let mut pair = pair(&device, &config, &[0.0], [3, 3], (2, 1, false));
    for batch in [&mut pair.cuda, &mut pair.processor] {
        batch.begin(0, Leaf::Weights, None).unwrap();
        let loss = batch.advance(&[0], 0..3, 1e-3).remove(0).unwrap();
        assert!(loss.total.is_finite());
        assert!(batch.snapshot(0, true).unwrap().raised > 0);
    }
}

#[test]
fn the_first_steps_of_ten_fits_follow_those_of_the_processor() {
    let Some(device) = device() else { return };
    for activation in [Activation::Fourier, Activation::Sigmoid] {
        let config = Config {
            ridge: Ridge::Absolute(1e-7),
            points: 1000,
            ..settings(activation, 100, &[512, 512, 512], Precision::F32)
        };
        let lambdas = [0.0, 0.0, 0.0, 0.0, 0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1e-5];
        let mut pair = pair(&device, &config, &lambdas, [270, 30], (5, 1, false));
        for batch in [&mut pair.cuda, &mut pair.processor] {
            pair.runs
                .iter()
                .for_each(|&run| batch.begin(run, Leaf::Parameters, None).unwrap());
        }
        for step in 0..20 {
            let [a, b] = [&mut pair.cuda, &mut pair.processor]
                .map(|batch| batch.advance(&pair.runs, step..step + 1, 1e-4));
            for (run, (a, b)) in a.iter().zip(&b).enumerate() {
                let (a, b) = (a.as_ref().unwrap().total, b.as_ref().unwrap().total);
                assert!(
                    (a - b).abs() <= 1e-3 * b,
                    "{activation:?}, run {run}, step {step}: {a} and {b}"
                );
            }
        }
    }
}

#[test]
fn a_state_of_one_device_resumes_on_the_other() {
    let Some(device) = device() else { return };
    for leaf in LEAVES {
        let config = settings(Activation::Fourier, 20, &[40, 40], Precision::F64);
        let mut pair = pair(&device, &config, &[0.0, 0.1], [80, 20], (3, 1, false));
        for batch in [&mut pair.cuda, &mut pair.processor] {
            for &run in &pair.runs {
                let from = start(&config, leaf, run, (3, 1, false));
                batch.begin(run, leaf, from.as_ref()).unwrap();
            }
        }
        pair.cuda.advance(&pair.runs, 0..7, 1e-3);
        for &run in &pair.runs {
            let state = pair.cuda.snapshot(run, true).unwrap();
            pair.processor.begin(run, leaf, Some(&state)).unwrap();
        }
        let [a, b] = [&mut pair.cuda, &mut pair.processor].map(|batch| {
            // More steps than one graph has.
            batch.advance(&pair.runs, 7..44, 1e-3);
            let weights = pair.runs.iter().flat_map(|&run| {
                let w = batch.weights(run).unwrap();
                let w: Vec<f64> = w.col_iter().flat_map(|w| w.iter().copied()).collect();
                [w, batch.snapshot(run, false).unwrap().b].concat()
            });
            weights.collect::<Vec<f64>>()
        });
        let error = difference(&a, &b);
        assert!(error < 1e-9, "{leaf:?}: {error:e}");
    }
}

#[test]
fn a_run_that_waits_does_not_change() {
    let Some(device) = device() else { return };
    let config = settings(Activation::Fourier, 20, &[40, 40], Precision::F64);
    let leaf = Leaf::Parameters;
    let mut both = pair(&device, &config, &[0.0, 0.1], [80, 20], (3, 1, false)).cuda;
    let mut alone = pair(&device, &config, &[0.0, 0.1], [80, 20], (3, 1, false)).cuda;
    for batch in [&mut both, &mut alone] {
        (0..2).for_each(|run| batch.begin(run, leaf, None).unwrap());
    }
    both.advance(&[0, 1], 0..5, 1e-3);
    alone.advance(&[1], 0..5, 1e-3);
    assert_eq!(
        both.snapshot(1, true).unwrap().theta,
        alone.snapshot(1, true).unwrap().theta
    );
    alone.advance(&[0], 0..5, 1e-3);
    assert_eq!(
        both.snapshot(0, true).unwrap().theta,
        alone.snapshot(0, true).unwrap().theta
    );
}

#[test]
fn numbers_that_are_not_finite_end_one_run_alone() {
    let Some(device) = device() else { return };
    let config = settings(Activation::Relu, 10, &[10], Precision::F64);
    let mut batch = pair(&device, &config, &[0.0, 0.0], [40, 10], (2, 1, false)).cuda;
    for run in 0..2 {
        batch.begin(run, Leaf::Weights, None).unwrap();
    }
    let mut state = batch.snapshot(1, true).unwrap();
    state.w.fill(1e300);
    batch.begin(1, Leaf::Weights, Some(&state)).unwrap();
    let losses = batch.advance(&[0, 1], 0..3, 1e-3);
    assert!(losses[0].is_ok() && losses[1].is_err());
}

#[test]
fn without_a_gpu_the_error_says_what_to_do() {
    match Cuda::open() {
        Ok(device) => assert!(!device.name().is_empty()),
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.contains("cuda") && text.contains("device cpu"),
                "{text}"
            );
        }
    }
}

#[test]
fn batches_side_by_side_end_as_they_do_alone() {
    let Some(device) = device() else { return };
    let table = samples(90, 3, 1, false, 1);
    let observe = |_: &Progress<'_>| Control::Continue;
    let fitted = |seed: u64| fit_on(&device, &table, &short(seed), &observe).unwrap();
    let alone: Vec<Model> = (1..=4).map(fitted).collect();
    let beside: Vec<Model> = std::thread::scope(|scope| {
        let fits: Vec<_> = (1..=4)
            .map(|seed| scope.spawn(move || fitted(seed)))
            .collect();
        fits.into_iter().map(|fit| fit.join().unwrap()).collect()
    });
    for (alone, beside) in alone.iter().zip(&beside) {
        assert_eq!(alone.hidden(), beside.hidden());
    }
}

/// A short configuration of GFT-r with its six λ.
fn short(seed: u64) -> Config {
    Config {
        seed,
        lambda: Lambda::Auto,
        generate: Schedule {
            steps: 230,
            rate: 1e-3,
        },
        refine: Schedule {
            steps: 130,
            rate: 1e-3,
        },
        check_every: 50,
        ..settings(Activation::Fourier, 20, &[80, 80], Precision::F64)
    }
}

#[test]
fn whole_fits_end_where_those_of_the_processor_do() {
    let Some(device) = device() else { return };
    let tables: Vec<Dataset> = (0..3).map(|i| samples(90, 3, 1, false, i)).collect();
    let observe = |_: &Progress<'_>| Control::Continue;
    let fitted = |backend: &dyn Backend| -> Vec<Model> {
        let jobs = tables
            .iter()
            .zip(1..)
            .map(|(table, seed)| Job::new(table, &short(seed), &observe));
        let models = fit_many_on(backend, jobs.collect()).unwrap();
        models.into_iter().map(Result::unwrap).collect()
    };
    let (ours, theirs) = (fitted(&device), fitted(&Processor));
    for ((ours, theirs), table) in ours.iter().zip(&theirs).zip(&tables) {
        let x = table.x.as_ref();
        let error = (ours.predict(x).unwrap() - theirs.predict(x).unwrap()).norm_max();
        assert!(error < 1e-6, "{error:e}");
    }
}

#[test]
fn a_stopped_fit_resumes_on_the_device() {
    let Some(device) = device() else { return };
    let table = samples(90, 3, 1, false, 1);
    let saved = std::sync::Mutex::new(None);
    let stop = |at: &Progress<'_>| {
        let mut saved = saved.lock().unwrap();
        if saved.is_none() && at.phase == Phase::Train(Leaf::Latents) && at.step >= 60 {
            *saved = at.state();
        }
        if saved.is_some() {
            Control::Stop
        } else {
            Control::Continue
        }
    };
    fit_on(&device, &table, &short(1), &stop).unwrap();
    let state = saved.into_inner().unwrap().unwrap();
    let go_on = |_: &Progress<'_>| Control::Continue;
    let resumed = resume_on(&device, &table, state, &go_on).unwrap();
    let whole = fit_on(&device, &table, &short(1), &go_on).unwrap();
    let x = table.x.as_ref();
    let error = (resumed.predict(x).unwrap() - whole.predict(x).unwrap()).norm_max();
    assert!(error < 1e-9, "{error:e}");
}
