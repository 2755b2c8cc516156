//! The default fit: accuracy relative to baselines, reported errors, coverage, structure, and odd rows. Small
//! versions of the benchmarks in `runs/`; every bound leaves room for other seeds, and none holds by construction.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use thinfit::{Choice, Control, Dataset, Mat};
use thinfit_methods::{Auto, GaussianProcess, Method, Predictor, Shape};

/// A function of `d` inputs from 0 to 1.
struct Problem {
    d: usize,
    f: fn(&[f64]) -> f64,
}

/// A sum of terms in {x1, x2}, {x3} and {x4}; x5 is idle.
const TERMS: Problem = Problem {
    d: 5,
    f: |x| (3.0 * x[0] * x[1]).sin() + 2.0 * (x[2] - 0.5).powi(2) + x[3],
};
/// A wave along a slanted direction: no sum of terms.
const DENSE: Problem = Problem {
    d: 4,
    f: |x| (2.0 * (x[0] + x[1] - x[2] + 0.5 * x[3])).sin(),
};

impl Problem {
    /// m rows with normal noise of this deviation.
    fn draw(&self, m: usize, noise: f64, seed: u64) -> Dataset {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let x = Mat::from_fn(m, self.d, |_, _| rng.random::<f64>());
        let y = Mat::from_fn(m, 1, |i, _| {
            let row: Vec<f64> = x.row(i).iter().copied().collect();
            (self.f)(&row) + noise * rng.sample::<f64, _>(StandardNormal)
        });
        Dataset::new(x, y).unwrap()
    }

    /// Mean squared error against f without noise.
    fn error(&self, model: &Predictor) -> f64 {
        let fresh = self.draw(800, 0.0, 99);
        let error = model.predict(fresh.x.as_ref()).unwrap() - &fresh.y;
        error.squared_norm_l2() / 800.0
    }
}

fn fit(method: Method, data: &Dataset) -> Predictor {
    method.fit(data, 1, &|_| Control::Continue).unwrap()
}

fn auto(budget: f64) -> Method {
    Method::Auto(Auto {
        budget,
        ..Auto::default()
    })
}

fn process(kernel: Shape) -> Method {
    Method::GaussianProcess(GaussianProcess {
        kernel,
        ..GaussianProcess::default()
    })
}

#[test]
fn clean_rows_are_learned_far_better_than_by_either_process() {
    let data = TERMS.draw(80, 0.0, 3);
    let model = fit(auto(10.0), &data);
    let error = TERMS.error(&model);
    for kernel in [Shape::Gaussian, Shape::Matern52] {
        let control = TERMS.error(&fit(process(kernel), &data));
        assert!(error < 0.1 * control, "{kernel:?}: {error} {control}");
    }
    let found = model.record().diagnosis.clone().unwrap();
    assert_eq!(found.inputs, [0, 1, 2, 3]);
    assert_eq!(found.terms, Some(vec![vec![0, 1], vec![2], vec![3]]));
    assert!(model.network().is_ok(), "clean rows deserve a network");
}

#[test]
fn numeric_columns_named_like_levels_of_one_text_are_judged_apart() {
    let data = TERMS.draw(80, 0.0, 3);
    let names = ["x1", "x2", "x3", "p=1", "p=2"].map(str::to_owned);
    let data = data.with_names(names.to_vec(), vec!["y".into()]).unwrap();
    let found = fit(auto(2.0), &data).record().diagnosis.clone().unwrap();
    assert_eq!(found.inputs, [0, 1, 2, 3]);
}

#[test]
fn a_function_of_all_inputs_together_has_no_terms() {
    let model = fit(auto(10.0), &DENSE.draw(80, 0.0, 1));
    let found = model.record().diagnosis.clone().unwrap();
    assert_eq!((found.inputs, found.terms), (vec![0, 1, 2, 3], None));
}

#[test]
fn only_the_lowest_error_is_called_the_best() {
    for seed in 0..4 {
        let model = fit(auto(2.0), &TERMS.draw(30, 0.3, seed));
        let found = model.record().diagnosis.as_ref().unwrap();
        let tried = &found.tried;
        match found.choice {
            Choice::LowestError => {
                assert!(
                    tried.iter().all(|other| tried[0].mse[0] <= other.mse[0]),
                    "{found:?}"
                );
            }
            // What is not clearly better than the mean gives way to it; a distilled network is above what it follows by its distance.
            Choice::Mean | Choice::WithinChance { .. } | Choice::Faithful { .. } => {}
            _ => panic!("{found:?}"),
        }
    }
}

/// Twelve noisy fits serve three claims at once.
#[test]
fn noisy_rows_are_learned_better_than_by_either_process_and_the_report_is_right() {
    let (mut logs, mut claimed, mut true_errors) = ([[0.0f64; 2]; 2], 0.0, 0.0);
    let mut inside = [0u32; 2];
    for seed in 0..6 {
        for (problem, logs) in [&TERMS, &DENSE].into_iter().zip(&mut logs) {
            let data = problem.draw(60, 0.1, 10 + seed);
            let model = fit(auto(10.0), &data);
            let error = problem.error(&model);
            for (kernel, sum) in [Shape::Gaussian, Shape::Matern52]
                .into_iter()
                .zip(logs.iter_mut())
            {
                *sum += (error / problem.error(&fit(process(kernel), &data))).ln();
            }
            let fresh = problem.draw(500, 0.1, 1000 + seed);
            let error = model.predict(fresh.x.as_ref()).unwrap() - &fresh.y;
            true_errors += error.squared_norm_l2() / 500.0;
            claimed += model.record().validation_mse[0];
            for (level, inside) in [0.9, 0.95].into_iter().zip(&mut inside) {
                let interval = model.interval(fresh.x.as_ref(), level).unwrap();
                let within = |i: usize| {
                    (interval.low[(i, 0)]..=interval.high[(i, 0)]).contains(&fresh.y[(i, 0)])
                };
                *inside += (0..500).map(|i| u32::from(within(i))).sum::<u32>();
            }
        }
    }
    // Geometric means of the ratios to either process: terms pay, and where there are none nothing is lost.
    let [terms, dense] = logs.map(|logs| logs.map(|sum| f64::exp(sum / 6.0)));
    assert!(terms.iter().all(|ratio| *ratio < 0.95), "{terms:?}");
    assert!(dense.iter().all(|ratio| *ratio < 1.15), "{dense:?}");
    let ratio = claimed / true_errors;
    assert!((0.85..1.15).contains(&ratio), "reported over true: {ratio}");
    let share = inside.map(|inside| f64::from(inside) / 6000.0);
    assert!((0.86..0.94).contains(&share[0]), "90 %: {share:?}");
    assert!((0.92..0.98).contains(&share[1]), "95 %: {share:?}");
}

#[test]
fn too_few_rows_for_a_level_give_an_infinite_interval() {
    let data = DENSE.draw(12, 0.0, 1);
    let model = fit(auto(2.0), &data);
    assert!(model.interval(data.x.as_ref(), 0.9).unwrap().is_finite());
    let wide = model.interval(data.x.as_ref(), 0.95).unwrap();
    assert!(wide.low[(0, 0)] == f64::NEG_INFINITY && wide.high[(0, 0)] == f64::INFINITY);
}

#[test]
fn outliers_are_set_aside_and_named() {
    let mut data = TERMS.draw(100, 0.02, 5);
    let wild = [7, 42, 77];
    for (row, sign) in wild.into_iter().zip([1.0, -1.0, 1.0]) {
        data.y[(row, 0)] += 25.0 * sign;
    }
    let model = fit(auto(5.0), &data);
    assert_eq!(model.record().diagnosis.as_ref().unwrap().outliers, wild);
    assert!(TERMS.error(&model) < 1e-3, "{}", TERMS.error(&model));
    let kept = Auto {
        robust: false,
        budget: 2.0,
        ..Auto::default()
    };
    let kept = fit(Method::Auto(kept), &data);
    assert!(TERMS.error(&kept) > 10.0 * TERMS.error(&model));
}

#[test]
fn thin_means_a_network_and_the_limit_of_its_width_holds() {
    let thin = Auto {
        thin: true,
        width: 40,
        budget: 5.0,
        ..Auto::default()
    };
    let model = fit(Method::Auto(thin), &DENSE.draw(60, 0.1, 2));
    assert!(model.network().unwrap().width() <= 40);
    assert!(DENSE.error(&model) < 0.05, "{}", DENSE.error(&model));
}

#[test]
fn one_seed_gives_one_model_for_any_number_of_threads() {
    let data = TERMS.draw(40, 0.1, 4);
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| fit(auto(2.0), &data).to_json())
    };
    assert_eq!(text(1), text(3));
}

#[test]
fn a_fit_that_is_stopped_gives_the_best_so_far_and_progress_never_falls_back() {
    let data = TERMS.draw(60, 0.0, 6);
    let stopped = auto(10.0).fit(&data, 1, &|_| Control::Stop).unwrap();
    let whole = fit(auto(10.0), &data);
    assert!(stopped.record().stopped && !whole.record().stopped);
    let tried = |model: &Predictor| model.record().diagnosis.clone().unwrap().tried.len();
    assert!(tried(&stopped) < tried(&whole));
    let furthest = std::sync::Mutex::new(0.0);
    let watch = |at: &thinfit::Progress<'_>| {
        let mut furthest = furthest.lock().unwrap();
        assert!(at.done >= *furthest, "{} after {furthest}", at.done);
        *furthest = at.done.max(*furthest);
        Control::Continue
    };
    auto(10.0).fit(&data, 1, &watch).unwrap();
}

#[test]
fn a_small_budget_degrades_gracefully() {
    let data = TERMS.draw(60, 0.05, 6);
    let [little, much] = [0.05, 10.0].map(|budget| TERMS.error(&fit(auto(budget), &data)));
    assert!(little < 0.05 && much < 1.1 * little, "{little} {much}");
}
