use super::*;
use crate::KernelTerm;
use crate::evidence::evidence_of_sum;
use crate::kernel::tests::random;
use std::f64::consts::PI;

fn smooth(x: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(x.nrows(), 1, |i, _| {
        7.0 + (3.0 * x[(i, 0)]).sin() + x[(i, 0)] * x[(i, 1)]
    })
}

fn fit(settings: &GaussianProcess, x: &Mat<f64>, y: &Mat<f64>) -> KernelModel {
    let data = Dataset::new(x.clone(), y.clone()).unwrap();
    settings.fit(&data, 0, &|_| Control::Continue).unwrap()
}

#[test]
fn gradients_agree_with_central_differences() {
    let (x, y) = (random(37, 3, 1), random(37, 2, 2));
    for shape in [
        Shape::Gaussian,
        Shape::Matern52,
        Shape::Anova,
        Shape::AnovaMatern52,
    ] {
        let mut at = vec![0.4f64.ln(), 0.0, 2f64.ln(), 0.7, -1.5, 0.1];
        at.truncate(parameters(shape, 3) - 1);
        at.push(1e-3f64.ln());
        let exact = evidence(shape, &x, &y, &at, Par::Seq).unwrap().gradient;
        for (k, exact) in exact.into_iter().enumerate() {
            let shifted = |h: f64| {
                let mut at = at.clone();
                at[k] += h;
                evidence(shape, &x, &y, &at, Par::Seq).unwrap().value
            };
            let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!(
                (difference - exact).abs() < 1e-6 * exact.abs().max(1.0),
                "{shape:?} {k}: {difference} {exact}"
            );
        }
    }
}

#[test]
fn a_sum_of_terms_has_the_gradient_of_its_weights_and_lengths() {
    let (x, y) = (random(31, 3, 1), random(31, 2, 2));
    let term = |shape, inputs: &[usize]| KernelTerm {
        inputs: inputs.to_vec(),
        ..KernelTerm::full(shape, inputs.iter().map(|k| 0.5 + *k as f64).collect())
    };
    let radial = vec![
        term(Shape::Gaussian, &[0, 2]),
        term(Shape::Matern52, &[1]),
        term(Shape::Gaussian, &[2]),
    ];
    let mut fixed = radial.clone();
    fixed.push(KernelTerm {
        shares: vec![0.4, 0.7],
        ..term(Shape::Anova, &[1, 2])
    });
    let short = vec![0.3, -0.5, 0.2, 0.7, 1e-2f64.ln()];
    let long = vec![0.3, -0.5, 0.2, 0.1, -0.2, 0.3, 0.4, 1e-2f64.ln()];
    for (terms, at) in [(fixed, short), (radial, long)] {
        let value = |at: &[f64]| evidence_of_sum((&terms, None), &x, &y, at, Par::Seq).unwrap();
        for (k, exact) in value(&at).gradient.into_iter().enumerate() {
            let shifted = |h: f64| {
                let mut at = at.clone();
                at[k] += h;
                value(&at).value
            };
            let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!(
                (difference - exact).abs() < 1e-6 * exact.abs().max(1.0),
                "{k}: {difference} {exact}"
            );
        }
    }
}

#[test]
fn the_prior_and_a_shared_length_have_their_gradients() {
    let (x, y) = (random(31, 3, 1), random(31, 1, 2));
    for (kernel, isotropic) in [
        (Shape::Anova, false),
        (Shape::Anova, true),
        (Shape::Matern52, true),
    ] {
        let process = GaussianProcess {
            kernel,
            isotropic,
            ..GaussianProcess::default()
        };
        let value = |log: &[f64]| {
            let found = evidence(kernel, &x, &y, &process.untied(log, 3), Par::Seq).unwrap();
            process.with_prior(log, 3, found)
        };
        let at: Vec<f64> = (0..process.parameters(3))
            .map(|k| 0.3 * k as f64 - 1.0)
            .collect();
        for (k, exact) in value(&at).1.into_iter().enumerate() {
            let shifted = |h: f64| {
                let mut at = at.clone();
                at[k] += h;
                value(&at).0
            };
            let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
            assert!(
                (difference - exact).abs() < 1e-6 * exact.abs().max(1.0),
                "{kernel:?} {k}: {difference} {exact}"
            );
        }
    }
}

/// −ln p of N(μ, s²C) from the explicit inverse and determinant of the 3 × 3 matrix.
#[test]
fn the_value_is_the_density_of_the_outputs() {
    let (x, y) = (random(3, 1, 1), random(3, 1, 2));
    let result = evidence(
        Shape::Gaussian,
        &x,
        &y,
        &[0.5f64.ln(), 0.1f64.ln()],
        Par::Seq,
    )
    .unwrap();
    let (s, mu) = (result.signal[0], result.mean[0]);
    let covariance = Mat::from_fn(3, 3, |i, j| {
        let k = (-0.5 * ((x[(i, 0)] - x[(j, 0)]) / 0.5).powi(2)).exp();
        s * (k + if i == j { 0.1 } else { 0.0 })
    });
    let minor = |i: usize, j: usize| {
        let at = |r: usize, c: usize| covariance[((i + r) % 3, (j + c) % 3)];
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant: f64 = (0..3).map(|j| covariance[(0, j)] * minor(0, j)).sum();
    let form: f64 = (0..9)
        .map(|ij| {
            (y[(ij / 3, 0)] - mu) * minor(ij / 3, ij % 3) / determinant * (y[(ij % 3, 0)] - mu)
        })
        .sum();
    let expected = 0.5 * (form + determinant.ln() + 3.0 * (2.0 * PI).ln());
    assert!(
        (result.value - expected).abs() < 1e-10,
        "{} {expected}",
        result.value
    );
}

#[test]
fn a_smooth_function_is_learned_and_an_idle_input_ignored() {
    let x = random(80, 3, 3);
    let model = fit(&GaussianProcess::default(), &x, &smooth(&x));
    let fresh = random(200, 3, 4);
    let error = model.predict(fresh.as_ref()).unwrap() - smooth(&fresh);
    assert!(error.norm_max() < 1e-4, "{}", error.norm_max());
    let lengths = &model.body.kernel.terms[0].lengths;
    assert!(lengths[2] > 20.0 * lengths[0], "{lengths:?}");
    let mse = model.record.validation_mse[0];
    assert!(mse < 1e-9, "{mse}");
}

/// Ten inputs of which five act, two of them linearly, without noise.
fn friedman(x: &Mat<f64>) -> Mat<f64> {
    Mat::from_fn(x.nrows(), 1, |i, _| {
        let x = |j| x[(i, j)];
        10.0 * (PI * x(0) * x(1)).sin() + 20.0 * (x(2) - 0.5).powi(2) + 10.0 * x(3) + 5.0 * x(4)
    })
}

#[test]
fn on_clean_data_idle_inputs_leave_the_kernel_and_the_noise_vanishes() {
    let (x, fresh) = (random(200, 10, 1), random(500, 10, 2));
    let model = fit(&GaussianProcess::default(), &x, &friedman(&x));
    let lengths = &model.body.kernel.terms[0].lengths;
    assert!(lengths[5..].iter().all(|l| *l > 1e6), "{lengths:?}");
    assert!(model.record.ridge < 1e-13, "{}", model.record.ridge);
    let error = model.predict(fresh.as_ref()).unwrap() - friedman(&fresh);
    let mse = error.squared_norm_l2() / 500.0;
    assert!(mse < 1e-5, "{mse}");
}

#[test]
fn the_noise_stays_above_the_least_that_was_asked_for() {
    let x = random(60, 2, 3);
    let settings = |least_noise| GaussianProcess {
        least_noise,
        ..GaussianProcess::default()
    };
    let model = fit(&settings(1e-3), &x, &smooth(&x));
    assert!((1e-3..1.1e-3).contains(&model.record.ridge));
    let data = Dataset::new(x.clone(), smooth(&x)).unwrap();
    for wrong in [-1e-9, 2.0, f64::NAN] {
        let fitted = settings(wrong).fit(&data, 0, &|_| Control::Continue);
        let error = fitted.unwrap_err().to_string();
        assert!(
            error.contains("`least_noise`: expected a number from 0 to 1"),
            "{error}"
        );
    }
}

#[test]
fn the_selected_start_reaches_the_likelihood_of_all_starts() {
    let x = random(120, 3, 3);
    let likelihood = |selection_rows| {
        let settings = GaussianProcess {
            selection_rows,
            ..GaussianProcess::default()
        };
        fit(&settings, &x, &smooth(&x)).record.log_likelihood
    };
    let (whole, selected) = (likelihood(500).unwrap(), likelihood(60).unwrap());
    assert!(
        (whole - selected).abs() < 1e-3 * whole.abs(),
        "{whole} {selected}"
    );
}

#[test]
fn an_input_idle_in_the_selection_can_matter_in_the_end() {
    let mut x = random(120, 3, 3);
    let selected = random_subset(120, 60, &mut stream(0, Purpose::Starts, 1));
    for i in 0..120 {
        let low = if selected.contains(&i) { 0.0 } else { 0.5 };
        x[(i, 2)] = low + 0.5 * x[(i, 2)];
    }
    let bent = |x: &Mat<f64>| {
        let mut y = smooth(x);
        (0..x.nrows()).for_each(|i| y[(i, 0)] += (x[(i, 2)] - 0.5).max(0.0).powi(3));
        y
    };
    let settings = GaussianProcess {
        selection_rows: 60,
        ..GaussianProcess::default()
    };
    let model = fit(&settings, &x, &bent(&x));
    let lengths = &model.body.kernel.terms[0].lengths;
    assert!(lengths[2] < 100.0, "{lengths:?}");
}

#[test]
fn a_selection_on_constant_or_too_few_rows_does_no_harm() {
    let (x, fresh) = (random(120, 3, 3), random(50, 3, 4));
    let predict = |selection_rows, y: &Mat<f64>| {
        let settings = GaussianProcess {
            selection_rows,
            ..GaussianProcess::default()
        };
        fit(&settings, &x, y).predict(fresh.as_ref()).unwrap()
    };
    // Only three of 120 rows differ; the subset has none of them, so the race is skipped.
    let rare = Mat::from_fn(120, 1, |i, _| if i < 3 { x[(i, 0)] } else { 1.0 });
    assert_eq!(predict(4, &rare), predict(500, &rare));
    let error = predict(4, &smooth(&x)) - smooth(&fresh);
    assert!(error.norm_max() < 1e-3, "{}", error.norm_max());
}

#[test]
fn noise_is_estimated_and_deviations_cover_new_observations() {
    let x = random(150, 2, 5);
    let noise = |rows, seed| random(rows, 12, seed);
    let noisy = |x: &Mat<f64>, seed| {
        let draws = noise(x.nrows(), seed);
        // The sum of twelve uniform numbers has variance one.
        let mut y = smooth(x);
        (0..x.nrows()).for_each(|i| y[(i, 0)] += 0.2 * (draws.row(i).iter().sum::<f64>() - 6.0));
        y
    };
    for kernel in [Shape::Gaussian, Shape::Matern52] {
        let settings = GaussianProcess {
            kernel,
            starts: 2,
            ..GaussianProcess::default()
        };
        let model = fit(&settings, &x, &noisy(&x, 6));
        let fresh = random(500, 2, 7);
        let (f, y) = (model.predict(fresh.as_ref()).unwrap(), noisy(&fresh, 8));
        let deviation = model.deviation(fresh.as_ref()).unwrap();
        let inside = (0..500)
            .filter(|&i| (f[(i, 0)] - y[(i, 0)]).abs() < 1.645 * deviation.observation[(i, 0)])
            .count();
        assert!((420..480).contains(&inside), "{kernel:?} {inside}");
        assert!((0..500).all(|i| deviation.model[(i, 0)] < deviation.observation[(i, 0)]));
        // The factor is rebuilt from the file.
        let read = KernelModel::from_json(&model.to_json(), "m".as_ref()).unwrap();
        assert_eq!(
            read.deviation(fresh.as_ref()).unwrap().model,
            deviation.model
        );
    }
}

#[test]
fn degenerate_data_give_a_model() {
    let settings = GaussianProcess {
        starts: 2,
        iterations: 20,
        ..GaussianProcess::default()
    };
    let x = random(12, 2, 1);
    for (x, y) in [
        (x.clone(), Mat::from_fn(12, 1, |_, _| 4.0)),
        (Mat::from_fn(12, 2, |_, _| 1.0), random(12, 1, 2)),
        (Mat::from_fn(12, 2, |i, j| x[(i / 3, j)]), random(12, 2, 3)),
        (random(1, 1, 4), random(1, 1, 5)),
    ] {
        let model = fit(&settings, &x, &y);
        assert!(model.predict(x.as_ref()).unwrap().is_all_finite());
        assert!(
            model
                .deviation(x.as_ref())
                .unwrap()
                .observation
                .is_all_finite()
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    // From 400 samples on a lone search factorises on all threads; clean data take it to the noise floor.
    let (small, large) = (random(50, 2, 1), random(410, 5, 2));
    for (y, x) in [(random(50, 1, 2), small), (friedman(&large), large)] {
        let data = Dataset::new(x, y).unwrap();
        let settings = GaussianProcess {
            selection_rows: 100,
            iterations: 30,
            ..GaussianProcess::default()
        };
        let fit = || {
            let model = settings.fit(&data, 3, &|_| Control::Continue);
            model.unwrap().to_json()
        };
        let [one, three] = [1, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            pool.build().unwrap().install(fit)
        });
        assert_eq!(one, three);
    }
}

#[test]
fn a_likelihood_has_the_same_bits_on_any_number_of_threads() {
    // Enough rows that all threads factorise.
    let m = ALONE + 50;
    let (x, y) = (random(m, 3, 1), random(m, 2, 2));
    let bits = |found: Evidence| {
        let matrices = [&found.alpha, &found.left_out].map(|a| a.col_as_slice(1).to_vec());
        let lists = [vec![found.value], found.gradient, found.mean, found.signal];
        let all = lists.into_iter().chain(matrices).flatten();
        all.map(f64::to_bits).collect::<Vec<u64>>()
    };
    let terms = [
        KernelTerm::full(Shape::Gaussian, vec![0.5, 1.0, 2.0]),
        KernelTerm::full(Shape::Matern52, vec![1.0, 0.7, 0.4]),
    ];
    let noise = 1e-3f64.ln();
    let all = || {
        let mut all = Vec::new();
        for shape in [Shape::Gaussian, Shape::AnovaMatern52] {
            let mut at = vec![-0.5; parameters(shape, 3) - 1];
            at.push(noise);
            all.push(bits(evidence(shape, &x, &y, &at, threads(m)).unwrap()));
        }
        for lengths in [&[][..], &[-0.3; 6]] {
            let at = [&[0.4, -0.4], lengths, &[noise]].concat();
            let found = evidence_of_sum((&terms, None), &x, &y, &at, threads(m));
            all.push(bits(found.unwrap()));
        }
        all
    };
    let [one, three] = [1, 3].map(|count| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
        pool.build().unwrap().install(all)
    });
    assert!(one == three);
}

#[test]
fn a_stopped_fit_gives_a_model_and_an_additive_kernel_an_error() {
    let data = Dataset::new(random(50, 2, 1), random(50, 1, 2)).unwrap();
    let settings = GaussianProcess::default();
    let model = settings.fit(&data, 3, &|_| Control::Stop).unwrap();
    assert!(model.record.stopped);
    let wrong = GaussianProcess {
        kernel: Shape::Additive(2),
        ..settings
    };
    let error = wrong
        .fit(&data, 0, &|_| Control::Continue)
        .unwrap_err()
        .to_string();
    assert!(error.contains("config field `kernel`"), "{error}");
}
