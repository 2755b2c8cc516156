//! Whether the report of the default fit claims too much on difficult tables. Small versions of the benchmarks in
//! `runs/`; each test is named after an observed failure.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use thinfit::{Caution, Control, Dataset, Dependence, Diagnosis, Mat};
use thinfit_methods::{Auto, Method, Predictor};

/// m rows of d uniform inputs with f of them and normal noise of this deviation.
fn draw(m: usize, d: usize, noise: f64, seed: u64, f: impl Fn(&[f64]) -> f64) -> Dataset {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let x = Mat::from_fn(m, d, |_, _| rng.random::<f64>());
    observed(x, noise, &mut rng, f)
}

fn observed(x: Mat<f64>, noise: f64, rng: &mut ChaCha8Rng, f: impl Fn(&[f64]) -> f64) -> Dataset {
    let y = Mat::from_fn(x.nrows(), 1, |i, _| {
        let row: Vec<f64> = x.row(i).iter().copied().collect();
        f(&row) + noise * rng.sample::<f64, _>(StandardNormal)
    });
    Dataset::new(x, y).unwrap()
}

fn fit(data: &Dataset, budget: f64) -> Predictor {
    let auto = Auto {
        budget,
        ..Auto::default()
    };
    Method::Auto(auto)
        .fit(data, 1, &|_| Control::Continue)
        .unwrap()
}

fn diagnosis(model: &Predictor) -> &Diagnosis {
    model.record().diagnosis.as_ref().unwrap()
}

/// The r² of the report.
fn claim(model: &Predictor) -> f64 {
    let record = model.record();
    1.0 - record.validation_mse[0] / record.validation_variance[0]
}

/// Mean squared error on other rows, and the share of them in 90 % intervals.
fn truth(model: &Predictor, fresh: &Dataset) -> (f64, f64) {
    let m = fresh.samples();
    let error = model.predict(fresh.x.as_ref()).unwrap() - &fresh.y;
    let interval = model.interval(fresh.x.as_ref(), 0.9).unwrap();
    let inside =
        |i: &usize| (interval.low[(*i, 0)]..=interval.high[(*i, 0)]).contains(&fresh.y[(*i, 0)]);
    let share = (0..m).filter(inside).count() as f64 / m as f64;
    (error.squared_norm_l2() / m as f64, share)
}

#[test]
fn pure_noise_is_not_explained_however_many_inputs_there_are() {
    let (mut claims, mut covered) = (Vec::new(), Vec::new());
    for (m, d) in [(15, 20), (20, 50), (40, 200), (80, 5), (60, 100)] {
        for seed in 0..2 {
            let model = fit(&draw(m, d, 1.0, 7 * seed + m as u64, |_| 0.0), 5.0);
            let fresh = draw(500, d, 1.0, 1000 + seed, |_| 0.0);
            claims.push(claim(&model));
            covered.push(truth(&model, &fresh).1);
        }
    }
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    assert!(mean(&claims) < 0.05, "{claims:?}");
    assert!(claims.iter().all(|claim| *claim < 0.3), "{claims:?}");
    assert!((0.84..0.97).contains(&mean(&covered)), "{covered:?}");
}

#[test]
fn pure_noise_gives_the_mean_and_no_input_has_an_effect() {
    let model = fit(&draw(80, 10, 1.0, 3, |_| 0.0), 5.0);
    assert!(diagnosis(&model).is_mean() && diagnosis(&model).inputs.is_empty());
    assert!(claim(&model) <= 0.0 && diagnosis(&model).nested);
    assert_eq!(model.parameters(), 1);
}

#[test]
fn idle_inputs_do_not_shrink_the_reported_error() {
    let f = |x: &[f64]| (3.0 * x[0]).sin() + x[0] * x[1];
    let (mut logs, mut covered) = (0.0, 0.0);
    for seed in 0..3 {
        let model = fit(&draw(100, 42, 0.2, seed, f), 5.0);
        let (mse, inside) = truth(&model, &draw(500, 42, 0.2, 100 + seed, f));
        logs += 0.5 * (model.record().validation_mse[0] / mse).ln() / 3.0;
        covered += inside / 3.0;
    }
    assert!((0.85..1.2).contains(&logs.exp()), "{}", logs.exp());
    assert!((0.84..0.96).contains(&covered), "{covered}");
}

#[test]
fn a_drop_in_few_rows_does_not_let_the_likelihood_choose_a_model_eleven_times_worse() {
    let lift = |x: &[f64]| {
        let stall = if x[0] > 0.95 {
            25.0 * (x[0] - 0.95)
        } else {
            0.0
        };
        6.0 * x[0] + 0.5 * x[1] * x[0] + 0.3 * (x[2] - 0.5).powi(2) - stall * (1.0 + x[1])
    };
    for seed in 0..2 {
        let model = fit(&draw(150, 3, 0.0, seed, lift), 5.0);
        let tried = &diagnosis(&model).tried;
        let least = tried
            .iter()
            .map(|tried| tried.mse[0])
            .fold(f64::MAX, f64::min);
        assert!(tried[0].mse[0] <= 4.0 * least, "{tried:?}");
        assert!(claim(&model) > 0.9, "{}", claim(&model));
        let (mse, _) = truth(&model, &draw(1000, 3, 0.0, 100 + seed, lift));
        assert!(mse < 0.1 * model.record().validation_variance[0], "{mse}");
    }
}

#[test]
fn bends_are_not_found_in_pure_noise() {
    // Few enough rows for an edge to fit noise, and enough for edges to be searched.
    for (m, d) in [(20, 50), (70, 5), (120, 8)] {
        let model = fit(&draw(m, d, 1.0, m as u64, |_| 0.0), 3.0);
        assert!(claim(&model) < 0.1, "{m} × {d}: {}", claim(&model));
    }
}

#[test]
fn intervals_are_as_wide_as_the_reported_error() {
    // Where another candidate is chosen without a fold, or the error was raised, the interval must follow.
    let f = |x: &[f64]| x[0];
    for seed in 0..4 {
        let model = fit(&draw(30, 12, 0.5, seed, f), 3.0);
        let fresh = draw(400, 12, 0.5, 100 + seed, f);
        let interval = model.interval(fresh.x.as_ref(), 0.9).unwrap();
        let width = (0..400).map(|i| interval.high[(i, 0)] - interval.low[(i, 0)]);
        let half = 0.5 * width.sum::<f64>() / 400.0;
        let rmse = model.record().validation_mse[0].sqrt();
        assert!((1.2..2.6).contains(&(half / rmse)), "{half} {rmse}");
    }
}

#[test]
fn repeated_rows_do_not_make_the_default_worse_than_a_linear_fit() {
    // Rough in one input, with a seventh of the rows twice: a process that takes the repeats for exactness is at a loss.
    let f = |x: &[f64]| x.iter().sum::<f64>() + 0.3 * (40.0 * x[0]).sin();
    let mut data = draw(240, 8, 0.4, 5, f);
    for i in 0..34 {
        for j in 0..8 {
            data.x[(200 + i, j)] = data.x[(i, j)];
        }
        data.y[(200 + i, 0)] = data.y[(i, 0)];
    }
    let model = fit(&data, 5.0);
    let record = model.record();
    assert!(record.validation_mse[0] < 1.1 * record.validation_linear[0]);
}

#[test]
fn a_correct_row_of_a_simulation_is_no_outlier() {
    // Drag rises steeply beyond a Mach number that depends on the incidence.
    let drag = |x: &[f64]| {
        let (mach, incidence) = (0.6 + 0.25 * x[0], 4.0 * x[1]);
        let rise = (mach - 0.8 + 0.02 * incidence).max(0.0);
        0.02 + 0.001 * incidence * incidence + 20.0 * rise.powi(4)
    };
    for seed in 0..3 {
        let model = fit(&draw(60, 2, 0.0, seed, drag), 5.0);
        assert_eq!(diagnosis(&model).outliers, [0; 0]);
    }
}

#[test]
fn a_row_that_does_not_fit_a_table_without_noise_is_named_and_kept() {
    let mut data = draw(80, 2, 0.0, 3, |x| (3.0 * x[0]).sin() + x[1]);
    data.y[(17, 0)] += 4.0;
    let mut model = fit(&data, 3.0);
    let odd = |rows: &[usize]| Caution::OddRows {
        rows: rows.to_vec(),
    };
    assert_eq!(diagnosis(&model).outliers, [0; 0]);
    assert!(diagnosis(&model).cautions.contains(&odd(&[17])));
    assert!(model.has_doubts() && model.report().contains("row 18 does not fit"));
    // As if the first row of the table had been left out.
    model.set_rows(&(1..81).collect::<Vec<_>>());
    assert!(diagnosis(&model).cautions.contains(&odd(&[18])));
}

#[test]
fn an_edge_on_few_of_many_rows_is_searched_in_every_fold() {
    let step = |x: &[f64]| x[1] + if x[0] > 0.95 { 3.0 } else { 0.0 };
    let model = fit(&draw(800, 2, 0.05, 6, step), 10.0);
    let (mse, inside) = truth(&model, &draw(500, 2, 0.05, 7, step));
    let ratio = (model.record().validation_mse[0] / mse).sqrt();
    assert!(
        (0.5..2.0).contains(&ratio) && inside > 0.82,
        "{ratio} {inside}"
    );
}

#[test]
fn three_random_rows_explain_nothing() {
    for seed in 0..5 {
        let model = fit(&draw(3, 1, 1.0, seed, |_| 0.0), 2.0);
        assert!(diagnosis(&model).is_mean() && claim(&model) <= 0.05);
    }
}

#[test]
fn noise_is_given_as_a_range_that_holds_the_truth_or_not_at_all() {
    let f = |x: &[f64]| (3.0 * x[0]).sin() + x[1] * x[2];
    let (mut given, mut held) = (0, 0);
    for seed in 0..16 {
        let noise = [0.03, 0.1, 0.3, 0.8][seed as usize % 4];
        let model = fit(&draw(60 + 10 * seed as usize, 4, noise, seed, f), 2.0);
        for [low, high] in &diagnosis(&model).noise_range {
            given += 1;
            held += usize::from((*low..=*high).contains(&noise));
        }
    }
    assert!(given >= 8 && 10 * held >= 8 * given, "{held} of {given}");
    let clean = fit(&draw(80, 3, 0.0, 4, f), 5.0);
    assert!(
        diagnosis(&clean)
            .noise_range
            .iter()
            .all(|[low, _]| *low < 1e-3)
    );
}

/// `copies` rows at each of `places` uniform places, each moved by normal jitter of this deviation.
fn scattered(
    places: usize,
    copies: usize,
    d: usize,
    jitter: f64,
    seed: u64,
) -> (Mat<f64>, ChaCha8Rng) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let centres = Mat::from_fn(places, d, |_, _| rng.random::<f64>());
    let x = Mat::from_fn(places * copies, d, |i, j| {
        centres[(i % places, j)] + jitter * rng.sample::<f64, _>(StandardNormal)
    });
    (x, rng)
}

#[test]
fn readings_written_five_times_with_jitter_are_not_five_times_as_many_rows() {
    let f = |x: &[f64]| (5.0 * x[0]).sin() + x[1];
    let (mut logs, mut covered) = (0.0, 0.0);
    for seed in 0..3 {
        let (x, mut rng) = scattered(20, 5, 4, 1e-6, seed);
        let single = observed(x.subrows(0, 20).to_owned(), 0.3, &mut rng, f);
        // The reading of a place is one, noise included.
        let y = Mat::from_fn(100, 1, |i, _| single.y[(i % 20, 0)]);
        let model = fit(&Dataset::new(x, y).unwrap(), 3.0);
        assert!(matches!(
            model.record().dependence[..],
            [Dependence::NearRepeats { groups: 20 }]
        ));
        let (mse, inside) = truth(&model, &draw(500, 4, 0.3, 100 + seed, f));
        logs += 0.5 * (model.record().validation_mse[0] / mse).ln() / 3.0;
        covered += inside / 3.0;
    }
    assert!((0.75..1.35).contains(&logs.exp()), "{}", logs.exp());
    assert!(covered > 0.8, "{covered}");
}

#[test]
fn clusters_are_named_and_groups_measure_the_error_between_them() {
    let f = |x: &[f64]| (6.0 * x[0]).sin() + x[1] * x[2];
    let (x, mut rng) = scattered(12, 8, 3, 0.004, 4);
    let data = observed(x, 0.01, &mut rng, f);
    let model = fit(&data, 3.0);
    let signs = &model.record().dependence;
    assert!(
        signs.contains(&Dependence::Clusters { clusters: 12 }),
        "{signs:?}"
    );
    let grouped = data.with_groups((0..96).map(|i| i % 12).collect()).unwrap();
    let grouped = fit(&grouped, 3.0);
    let errors = [&model, &grouped].map(|model| model.record().validation_mse[0]);
    assert!(errors[1] > 4.0 * errors[0], "{errors:?}");
    let (mse, inside) = truth(&grouped, &draw(500, 3, 0.01, 104, f));
    assert!(
        (0.5..2.0).contains(&(errors[1] / mse).sqrt()),
        "{errors:?}, {mse}"
    );
    assert!(inside > 0.75, "{inside}");
}

#[test]
fn noise_that_drifts_from_row_to_row_is_named() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let x = Mat::from_fn(150, 3, |_, _| rng.random::<f64>());
    let mut drift = 0.0;
    let y = Mat::from_fn(150, 1, |i, _| {
        drift = 0.9 * drift + 0.3 * rng.sample::<f64, _>(StandardNormal);
        (3.0 * x[(i, 0)]).sin() + drift
    });
    let model = fit(&Dataset::new(x, y).unwrap(), 3.0);
    let signs = &model.record().dependence;
    let order = |sign: &Dependence| matches!(sign, Dependence::Order { .. });
    assert!(signs.iter().any(order) && model.has_doubts(), "{signs:?}");
}
