//! Models of random parameters: every activation and shape of kernel, edges, warps, indicators, several outputs.

use serde_json::{Value, json};
use std::path::Path;
use thinfit::{Activation, Dataset, Mat, Model, Network, Record, Scaler, Warp};
use thinfit_methods::{Part, Predictor, Shape};

/// Coefficients of models whose terms cancel: a little, enough to be stated, and too much for an export.
const SIZES: [f64; 10] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e13];

/// Numbers by SplitMix64.
pub(super) struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between `low` and `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// Whether one of so many cases is met.
    fn once_in(&mut self, cases: usize) -> bool {
        self.below(cases) == 0
    }

    fn signed(&mut self) -> f64 {
        self.between(-1.0, 1.0)
    }
}

/// Model `number`: an even one is a network, an odd one a sum of kernels.
pub(super) fn model(number: usize) -> Predictor {
    let random = &mut Random(number as u64);
    let data = data(random);
    let scaler = scaler(random, &data);
    match number % 2 {
        0 => network(random, &data, scaler),
        _ => kernel(random, &data, scaler),
    }
}

/// What a row is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Ordinary,
    /// So far outside that waves have lost all digits of their phase.
    Far,
    /// With NaN, an infinity, or a number beyond the largest.
    Unusable,
}

/// Rows in the ranges of the samples and beyond, and rows that no model takes.
pub(super) fn rows(model: &Predictor, random: &mut Random) -> Vec<(Kind, Vec<f64>)> {
    let ranges = model.domain();
    let mut rows = Vec::new();
    for stretch in [0.0, 0.0, 0.0, 0.0, 0.2, 30.0] {
        let row = ranges.iter().map(|[low, high]| {
            let margin = stretch * (high - low);
            random.between(low - margin, high + margin)
        });
        rows.push((Kind::Ordinary, row.collect::<Vec<f64>>()));
    }
    let first = rows[0].1.clone();
    let mut with = |kind, value: f64| {
        let mut row = first.clone();
        row[random.below(first.len())] = value;
        rows.push((kind, row));
    };
    for value in [1e9, -1e40, 1e149, -1e149] {
        with(Kind::Far, value);
    }
    for value in [
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e151,
        -f64::MAX,
    ] {
        with(Kind::Unusable, value);
    }
    rows.push((Kind::Unusable, vec![f64::NAN; ranges.len()]));
    rows.push((Kind::Unusable, vec![f64::INFINITY; ranges.len()]));
    rows
}

/// The first `count` models with their names, and of every tenth another one whose terms cancel.
pub(super) fn models(count: usize) -> Vec<(String, Predictor)> {
    let mut models = Vec::new();
    for number in 0..count {
        let model = model(number);
        if number % 10 == 1 {
            let size = SIZES[number / 10 % SIZES.len()];
            let harsh = ill_conditioned(&model, size).expect("an odd number is a sum of kernels");
            models.push((format!("harsh_{number}"), harsh));
        }
        models.push((format!("model_{number}"), model));
    }
    models
}

/// Samples whose inputs have awkward scales; some are indicators of a level.
fn data(random: &mut Random) -> Dataset {
    let (d, c, m) = (
        1 + random.below(4),
        [1, 1, 2, 3][random.below(4)],
        5 + random.below(30),
    );
    let mut names = Vec::new();
    let mut x = Mat::zeros(m, d);
    for j in 0..d {
        let indicator = random.once_in(5);
        names.push(match indicator {
            true => format!("colour=level {j}"),
            false => format!("x{j}"),
        });
        let middle = [0.0, 1.0, -300.0, 2e4][random.below(4)];
        let width = 10f64.powf(random.between(-3.0, 3.0));
        for i in 0..m {
            x[(i, j)] = match indicator {
                true => ((i + random.below(2)) % 2) as f64,
                false => middle + width * random.signed(),
            };
        }
    }
    let unit = 10f64.powf(random.between(-4.0, 4.0));
    let y = Mat::from_fn(m, c, |_, o| unit * (o as f64 + random.signed()));
    let outputs = (0..c).map(|o| format!("y{o}")).collect();
    Dataset::new(x, y)
        .unwrap()
        .with_names(names, outputs)
        .unwrap()
}

/// The scaling of the inputs, in some models with warps.
fn scaler(random: &mut Random, data: &Dataset) -> Scaler {
    let warped = random.once_in(3);
    let warps: Vec<Option<Warp>> = (data.domain().iter())
        .map(|[low, high]| {
            let warp = Warp {
                centre: random.between(*low, *high),
                width: random.between(0.05, 0.5) * (high - low).max(1e-3),
            };
            (warped && random.once_in(2)).then_some(warp)
        })
        .collect();
    Scaler::to_box_warped(data.x.as_ref(), &warps)
}

fn record(data: &Dataset) -> Record {
    let errors = vec![1.0; data.outputs.len()];
    Record {
        validation_mse: errors.clone(),
        validation_variance: errors.clone(),
        validation_linear: errors,
        ..Record::of("random", json!({}), 0, data.samples())
    }
}

fn network(random: &mut Random, data: &Dataset, scaler: Scaler) -> Predictor {
    let activation = Activation::ALL[random.below(Activation::ALL.len())];
    let (n, d, c) = (1 + random.below(20), data.dim(), data.outputs.len());
    let columns = d + usize::from(activation.has_bias());
    let steep = random.between(0.5, 8.0);
    let hidden = Mat::from_fn(n, columns, |_, _| steep * random.signed());
    // Terms that cancel, as after a polish.
    let size = n as f64 * 10f64.powf(random.between(-1.0, 3.0));
    let rows = match activation {
        Activation::Fourier => 2 * n,
        _ => n + usize::from(activation.has_bias()),
    };
    let output = Mat::from_fn(rows, c, |_, _| size * random.signed());
    let network = Network {
        activation,
        hidden,
        output,
    };
    let scalers = (scaler, Scaler::to_standard(data.y.as_ref()));
    let model = Model::from_network(network, data, scalers, record(data));
    model.unwrap().into()
}

fn kernel(random: &mut Random, data: &Dataset, scaler: Scaler) -> Predictor {
    let (d, c, m) = (data.dim(), data.outputs.len(), data.samples());
    let edges: Vec<Value> = (0..[0, 0, 1, 2][random.below(4)])
        .map(|_| {
            json!({
                "crossing": (["jump", "bend"][random.below(2)]),
                "direction": (0..d).map(|_| 4.0 * random.signed()).collect::<Vec<f64>>(),
                "offset": 0.5 * random.signed(),
            })
        })
        .collect();
    let wide = d + edges.len();
    let parts: Vec<Part> = (0..1 + random.below(3))
        .map(|_| part(random, wide))
        .collect();
    let size = 10f64.powf(random.between(-1.0, 3.0));
    let rows = |a: &Mat<f64>| -> Vec<Vec<f64>> {
        a.row_iter()
            .map(|row| row.iter().copied().collect())
            .collect()
    };
    let coefficients = Mat::from_fn(m, c, |_, _| size * random.signed());
    with_record(json!({
        "format": "thinfit-kernel/1",
        "inputs": data.inputs,
        "outputs": data.outputs,
        "domain": data.domain(),
        "input_scaler": scaler,
        "output_scaler": Scaler::to_standard(data.y.as_ref()),
        "record": record(data),
        "body": {
            "kernel": { "parts": parts, "edges": edges },
            "points": rows(&scaler.apply(data.x.as_ref())),
            "mean": (0..c).map(|_| random.signed()).collect::<Vec<f64>>(),
            "coefficients": rows(&coefficients),
            "signal": null,
        },
    }))
}

fn with_record(json: Value) -> Predictor {
    Predictor::from_json(&json.to_string(), Path::new("random")).unwrap()
}

/// A term of the kernel over some of so many inputs.
fn part(random: &mut Random, wide: usize) -> Part {
    let mut inputs: Vec<usize> = (0..wide).filter(|_| !random.once_in(4)).collect();
    if inputs.is_empty() {
        inputs.push(random.below(wide));
    }
    let count = inputs.len();
    let shape = match random.below(5) {
        0 => Shape::Gaussian,
        1 => Shape::Matern52,
        2 => Shape::Additive(1 + random.below(count)),
        3 => Shape::Anova,
        _ => Shape::AnovaMatern52,
    };
    let shares = match shape {
        Shape::Anova | Shape::AnovaMatern52 => count,
        _ => 0,
    };
    Part {
        weight: random.between(0.2, 2.0),
        shape,
        inputs,
        lengths: (0..count)
            .map(|_| 10f64.powf(random.between(-1.0, 1.0)))
            .collect(),
        shares: (0..shares).map(|_| random.between(0.0, 1.0)).collect(),
    }
}

/// The model with coefficients that cancel: every second point lies a hair from the one before, with the opposite
/// coefficient, which is `size` times as large.
pub(super) fn ill_conditioned(model: &Predictor, size: f64) -> Option<Predictor> {
    let Predictor::Kernel(kernel) = model else {
        return None;
    };
    let mut json: Value = serde_json::from_str(&kernel.to_json()).unwrap();
    let (points, a) = (
        kernel.body.points.as_ref(),
        kernel.body.coefficients.as_ref(),
    );
    let (m, d, c) = (points.nrows() / 2 * 2, points.ncols(), a.ncols());
    let sign = |i: usize| if i.is_multiple_of(2) { size } else { -size };
    json["body"]["points"] = (0..m)
        .map(|i| {
            (0..d)
                .map(|j| points[(i / 2 * 2, j)] + (i % 2) as f64 / size)
                .collect()
        })
        .collect::<Vec<Vec<f64>>>()
        .into();
    json["body"]["coefficients"] = (0..m)
        .map(|i| (0..c).map(|o| sign(i) * a[(i / 2 * 2, o)]).collect())
        .collect::<Vec<Vec<f64>>>()
        .into();
    Some(with_record(json))
}
