//! Draws every plot from made-up data: `cargo run -p thinfit-plot --example gallery -- FOLDER`.

use std::error::Error;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};
use std::path::PathBuf;

use thinfit_plot::{
    Canvas, Effect, Effects, FeatureGrid, Features, Importance, Learning, Prediction, Series,
    Weights, effects, feature_grid, features, fit, importance, learning, prediction, residuals,
};

/// Normally distributed numbers, the same in every run.
struct Normal(u64);

impl Normal {
    fn draw(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 33) as f64 / (1u64 << 31) as f64
        };
        let (a, b) = (uniform(), uniform());
        (-2.0 * (1.0 - a).ln()).sqrt() * (TAU * b).cos()
    }

    fn many(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.draw()).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: gallery FOLDER")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    let pictures = [
        ("features-1", feature_picture(&names(1))),
        ("features-2", feature_picture(&names(2))),
        ("features-3", feature_picture(&names(3))),
        ("features-9", feature_picture(&long_names(9))),
        ("features-30", feature_picture(&long_names(30))),
        ("feature-grid", grid_picture()),
        ("importance-5", importance_picture(&names(5))),
        ("importance-60", importance_picture(&long_names(60))),
        ("learning", learning_picture()),
        ("prediction", prediction(prediction_of(&normal_pairs(500)))),
        (
            "prediction-many",
            prediction(prediction_of(&normal_pairs(100_000))),
        ),
        (
            "prediction-none",
            prediction(prediction_of(&[vec![], vec![]])),
        ),
        ("residuals", residuals(prediction_of(&normal_pairs(800)))),
        (
            "residuals-many",
            residuals(prediction_of(&normal_pairs(100_000))),
        ),
        ("effects-2", effects_picture(&names(2))),
        ("effects-8", effects_picture(&long_names(8))),
        ("effects-30", effects_picture(&names(30))),
        ("fit", fit_picture()),
    ];
    for (name, picture) in pictures {
        save(&folder, name, &picture)?;
    }
    Ok(())
}

fn save(folder: &std::path::Path, name: &str, picture: &Canvas) -> Result<(), Box<dyn Error>> {
    std::fs::write(folder.join(format!("{name}.svg")), picture.to_svg())?;
    std::fs::write(folder.join(format!("{name}.png")), picture.to_png(2.0)?)?;
    Ok(())
}

fn names(count: usize) -> Vec<String> {
    (1..=count).map(|k| format!("x{k}")).collect()
}

fn long_names(count: usize) -> Vec<String> {
    let kinds = [
        "temperature [K]",
        "p < 3 & q",
        "a rather long name of a column",
        "age",
    ];
    (0..count)
        .map(|k| format!("{} {}", kinds[k % 4], k + 1))
        .collect()
}

fn feature_picture(inputs: &[String]) -> Canvas {
    let (d, width, mut normal) = (inputs.len(), 120, Normal(1));
    let mut w: Vec<f64> = normal.many(d * width).iter().map(|v| 0.03 * v).collect();
    for (l, row) in w.chunks_exact_mut(d).enumerate() {
        row[l % d] += 2.0 * normal.draw();
    }
    let magnitude: Vec<f64> = normal.many(width).iter().map(|v| (1.5 * v).exp()).collect();
    let importance: Vec<f64> = (0..d).map(|k| 1.0 / (1.0 + k as f64)).collect();
    features(Features {
        title: "Features learned for a sum of functions of one input",
        w: &w,
        magnitude: &magnitude,
        importance: &importance,
        measure: "mean |∂f/∂x| on the training points, of the total",
        inputs,
        unit: "cycles per unit of the input",
        support: &[[1.0, 0.0], [0.0, 1.0]],
    })
}

fn grid_picture() -> Canvas {
    let mut normal = Normal(2);
    let c = FRAC_1_SQRT_2;
    let support = [
        [[1.0, 0.0], [0.0, 1.0]],
        [[c, c], [-c, c]],
        [[1.0, 0.3], [0.3, 1.0]],
    ];
    let mut weights = Vec::new();
    for spread in [0.5, 0.02, 3.0, 0.2] {
        for lines in &support {
            let mut w = Vec::new();
            for l in 0..100 {
                let (along, [u, v]) = (5.0 * normal.draw(), lines[l % 2]);
                w.push(along * u + spread * normal.draw());
                w.push(along * v + spread * normal.draw());
            }
            let magnitude: Vec<f64> = normal.many(100).iter().map(|v| v.exp()).collect();
            weights.push((w, magnitude));
        }
    }
    let networks: Vec<Weights<'_>> = weights
        .iter()
        .map(|(w, magnitude)| Weights { w, magnitude })
        .collect();
    feature_grid(FeatureGrid {
        title: "",
        rows: &["GFT", "GFT-r", "F-Opt", "ANOVA-RFF"],
        columns: &["g₁", "g₂", "g₃"],
        networks: &networks,
        support: &support.each_ref().map(|lines| lines.as_slice()),
        reach: None,
    })
}

fn importance_picture(inputs: &[String]) -> Canvas {
    let total: Vec<f64> = (0..inputs.len())
        .map(|k| 0.48 * 0.8f64.powi(k as i32))
        .collect();
    let first: Vec<f64> = total
        .iter()
        .enumerate()
        .map(|(k, t)| t * [0.9, 0.5, 0.7][k % 3])
        .collect();
    importance(Importance {
        title: "Importance of the inputs",
        inputs,
        first: &first,
        total: &total,
        notes: &[],
    })
}

fn learning_picture() -> Canvas {
    let mut normal = Normal(3);
    let error = |step: f64| 2.0 * (-step / 300.0).exp() + 3e-3 * (-step / 900.0).exp() + 1e-5;
    let mut loss: Vec<(f64, f64)> = (0..3000)
        .map(|step| {
            (
                f64::from(step),
                error(f64::from(step)) * (0.2 * normal.draw()).exp(),
            )
        })
        .collect();
    let mut validation: Vec<(f64, f64)> = (0..=150)
        .map(|k| (20.0 * f64::from(k), 1.6 * error(20.0 * f64::from(k)) + 2e-5))
        .collect();
    for step in 0..30 {
        loss.push((f64::from(3000 + step), 1e-4 * 0.7f64.powi(step)));
        validation.push((
            f64::from(3000 + step),
            1.5e-4 * 0.7f64.powi(step) + 1e-7 * f64::from(step),
        ));
    }
    learning(Learning {
        title: "Learning curve",
        measure: "mean squared error",
        loss: &loss,
        validation: &validation,
        phases: &[
            (0.0, "generator"),
            (2000.0, "refinement"),
            (3000.0, "polish"),
        ],
    })
}

/// True values and noisy predictions.
fn normal_pairs(count: usize) -> [Vec<f64>; 2] {
    let mut normal = Normal(4);
    let truth: Vec<f64> = normal.many(count).iter().map(|v| 14.0 + 5.0 * v).collect();
    let predicted = truth.iter().map(|t| t + 0.6 * normal.draw()).collect();
    [truth, predicted]
}

fn prediction_of([truth, predicted]: &[Vec<f64>; 2]) -> Prediction<'_> {
    Prediction {
        title: "Test points",
        notes: &[],
        quantity: "compressive strength [MPa]",
        measured: truth,
        predicted,
        bounds: None,
    }
}

fn effects_picture(inputs: &[String]) -> Canvas {
    let mut normal = Normal(5);
    let curve = |k: usize| {
        let scale = [1.0, 1000.0, 1e-4][k % 3];
        let x: Vec<f64> = (0..=60).map(|i| scale * f64::from(i) / 60.0).collect();
        let y = x
            .iter()
            .map(|x| (TAU * x / scale * (1.0 + 0.2 * k as f64)).sin() * 3.0 / (1.0 + k as f64));
        let y: Vec<f64> = y.collect();
        let bound = |sign: f64| y.iter().map(|y| y + sign * 0.4).collect::<Vec<f64>>();
        (x, bound(-1.0), bound(1.0), y)
    };
    let curves: Vec<_> = (0..inputs.len()).map(curve).collect();
    let rugs: Vec<Vec<f64>> = curves
        .iter()
        .map(|(x, ..)| {
            (0..20)
                .map(|_| x[60] * (0.5 + 0.15 * normal.draw()))
                .collect()
        })
        .collect();
    let each: Vec<Effect<'_>> = curves
        .iter()
        .zip(inputs.iter().zip(&rugs))
        .map(|((x, low, high, y), (input, rug))| Effect {
            input,
            levels: &[],
            x,
            y,
            band: Some((low, high)),
            warp: None,
            rug,
        })
        .collect();
    effects(Effects {
        title: "Main effects",
        note: "",
        quantity: "strength [MPa]",
        effects: &each,
    })
}

fn fit_picture() -> Canvas {
    let [truth, kernel] = normal_pairs(500);
    let mut normal = Normal(6);
    let thin: Vec<f64> = truth.iter().map(|t| t + 0.02 * normal.draw()).collect();
    let series = [("thinfit, fast preset", &thin), ("kernel ridge", &kernel)];
    let series = series.map(|(label, predicted)| Series { label, predicted });
    fit("Friedman-1 learned from 500 points", "y", &truth, &series)
}
