//! How far exports are from the model, and which are refused.

use super::random::ill_conditioned;
use super::{data, network, process};
use crate::difference::Probes;
use crate::formula::Formula;
use crate::lowering::lowered;
use crate::{Language, TOLERANCE, files, onnx};
use std::path::Path;
use thinfit::{Activation, Control, Dataset, Mat, Precision};
use thinfit_methods::{GaussianProcess, KernelRidge, Predictor, Shape};

/// A process with at least so much noise, of inputs that single precision resolves; without noise its coefficients cancel.
fn smooth(kernel: Shape, least_noise: f64) -> Predictor {
    let x = Mat::from_fn(90, 3, |i, j| {
        ((i + 1) as f64 * [0.618_034, 0.754_877, 0.569_840][j]).fract()
    });
    let data = Dataset::new(x, data(1).y).unwrap();
    let settings = GaussianProcess {
        kernel,
        least_noise,
        ..GaussianProcess::default()
    };
    settings
        .fit(&data, 0, &|_| Control::Continue)
        .unwrap()
        .into()
}

#[test]
fn single_precision_of_a_process_without_noise_was_off_by_deviations() {
    for kernel in [Shape::Gaussian, Shape::Anova, Shape::Matern52] {
        let model = smooth(kernel, 0.0);
        let single =
            Probes::new(&model).difference(&lowered(&Formula::new(&model), Precision::F32));
        assert!(single.largest > 0.1 && single.arithmetic == Precision::F32);
        let found = onnx(&model, Precision::F32).unwrap().difference;
        assert!(found.largest < 1e-4 && found.rows > 300, "{found:?}");
        assert_eq!(found.arithmetic, Precision::F64);
    }
    // With some noise, single precision is enough.
    for kernel in [Shape::Gaussian, Shape::Anova, Shape::Matern52] {
        let model = smooth(kernel, 1e-2);
        let found = onnx(&model, Precision::F32).unwrap().difference;
        assert_eq!(found.arithmetic, Precision::F32, "{found:?}");
    }
}

#[test]
fn single_precision_keeps_the_phases_of_steep_waves() {
    for outputs in [1, 3] {
        let Predictor::Network(model) = network(Activation::Fourier, outputs) else {
            panic!("a network");
        };
        let text = model.to_json();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        // A hundred turns over each input, and none far from zero.
        for row in json["body"]["hidden"].as_array_mut().unwrap() {
            for (j, w) in row.as_array_mut().unwrap().iter_mut().enumerate() {
                *w = (w.as_f64().unwrap().sin() * 100.0 + j as f64).into();
            }
        }
        json["input_scaler"] =
            serde_json::json!({"shift": [0.25, 0.3, 0.7], "scale": [1.1, 0.9, 3.0]});
        json["domain"] = serde_json::json!([[-0.25, 0.75], [-0.125, 0.75], [-0.75, 2.0]]);
        let steep = Predictor::from_json(&json.to_string(), Path::new("steep")).unwrap();
        let sum: f64 = match &steep {
            Predictor::Network(model) => model.magnitudes().as_ref().col(0).norm_l1(),
            Predictor::Kernel(_) => panic!("a network"),
        };
        let deviations = sum / steep.output_scaler().scale[0];
        let difference = onnx(&steep, Precision::F32).unwrap().difference;
        // Rounded inputs move a hundred turns by 2e-5 radians.
        let own = difference.largest - difference.rounded_inputs;
        assert!(own < 5e-7 * deviations, "{difference:?} {deviations}");
    }
}

#[test]
fn an_export_that_is_off_is_refused_with_its_difference() {
    let model = process(Shape::Gaussian, 3);
    let mut refused = 0;
    for size in [1e2, 1e6, 1e10, 1e13] {
        let model = ill_conditioned(&model, size).unwrap();
        let of_graph = crate::difference(&model, Precision::F64);
        let of_functions = crate::difference_of_functions(&model);
        for language in [
            Language::C,
            Language::Python,
            Language::JavaScript,
            Language::Onnx(Precision::F64),
        ] {
            let stated = match language {
                Language::Onnx(_) => &of_graph,
                _ => &of_functions,
            };
            match files(&model, language, Path::new("model.c")) {
                Ok(exported) => {
                    assert_eq!(exported.difference.as_ref(), Some(stated));
                    assert!(stated.largest <= TOLERANCE && size < 1e13, "{size:e}");
                }
                Err(error) => {
                    assert_eq!(&error.difference, stated);
                    assert!(stated.largest > TOLERANCE && size > 1e6, "{size:e}");
                    refused += 1;
                }
            }
        }
        assert!(
            files(&model, Language::Latex(4), Path::new("a"))
                .unwrap()
                .difference
                .is_none()
        );
    }
    assert!(refused >= 4);
}

#[test]
fn an_export_that_no_row_was_compared_with_is_refused() {
    let model = process(Shape::Gaussian, 1);
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    // Values beyond the largest number at every row.
    for row in json["body"]["coefficients"].as_array_mut().unwrap() {
        row[0] = 1e308.into();
    }
    let model = Predictor::from_json(&json.to_string(), Path::new("large")).unwrap();
    for language in [Language::C, Language::Onnx(Precision::F64)] {
        let error = files(&model, language, Path::new("model.c")).unwrap_err();
        assert_eq!(error.difference.rows, 0);
        assert!(error.to_string().contains("no row"), "{error}");
    }
}

#[test]
fn all_rows_of_the_fit_are_compared() {
    let x = Mat::from_fn(600, 1, |i, _| i as f64 / 599.0);
    let y = Mat::from_fn(600, 1, |i, _| (0.01 * i as f64).sin());
    let data = Dataset::new(x, y).unwrap();
    let ridge = KernelRidge {
        lambda: vec![1e-2],
        ..KernelRidge::default()
    };
    let ridge = ridge.fit(&data, 0, &|_| Control::Continue).unwrap();
    let found = crate::difference(&ridge.into(), Precision::F64);
    assert!(found.rows >= 600 + 256, "{found:?}");
}
