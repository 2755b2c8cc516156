//! Random requests for proposals, and a check that every answer stays in its region in the units of the data.

mod ask;
mod linear;
mod ranges;

pub use ask::ask;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::{Column, Control, Dataset, Encoding, Levels, Mat};
use thinfit_methods::{KernelTerm, Method, Predictor, Shape};

/// The model with its first inputs taken for asinh((v − centre)/width) of columns with long tails, a centre and a width for each.
pub fn bent(model: &Predictor, warps: &[[f64; 2]]) -> Predictor {
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    let mut all = vec![serde_json::Value::Null; model.inputs().len()];
    for (j, [centre, width]) in warps.iter().enumerate() {
        let ends = model.domain()[j].map(|u| centre + width * u.sinh());
        json["domain"][j] = serde_json::json!(ends);
        all[j] = serde_json::json!({ "centre": centre, "width": width });
    }
    json["input_scaler"]["warp"] = all.into();
    Predictor::from_json(&json.to_string(), std::path::Path::new("bent.json")).unwrap()
}

/// The model with a kernel over its inputs and a jump and a bend in them.
pub fn edged(model: &Predictor) -> Predictor {
    let mut json: serde_json::Value = serde_json::from_str(&model.to_json()).unwrap();
    let d = model.inputs().len();
    let direction = |first: f64| -> Vec<f64> {
        let rest = (1..d).map(|j| 1.5 / (1 + j) as f64);
        std::iter::once(first).chain(rest).collect()
    };
    let part = KernelTerm {
        weight: 1.0,
        shape: Shape::Matern52,
        inputs: (0..d + 2).collect(),
        lengths: vec![0.8; d + 2],
        shares: vec![],
    };
    json["body"]["kernel"] = serde_json::json!({
        "parts": [part],
        "edges": [
            { "crossing": "jump", "direction": direction(3.0), "offset": 0.2 },
            { "crossing": "bend", "direction": direction(-2.0), "offset": -0.1 },
        ],
    });
    Predictor::from_json(&json.to_string(), std::path::Path::new("edged.json")).unwrap()
}

/// A model of three outputs of two columns with long tails, one without, a count, a switch, a text, and seconds since 1970.
pub fn model(method: &str, seed: u64) -> Predictor {
    let m = 60;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let long: Vec<f64> = (0..m).map(|_| 14.0 * random.random::<f64>()).collect();
    let both: Vec<f64> = (0..m)
        .map(|_| 16.0 * random.random::<f64>() - 8.0)
        .collect();
    let short: Vec<f64> = (0..m).map(|i| ((i * 23) % 61) as f64 / 60.0).collect();
    let count: Vec<f64> = (0..m).map(|i| (1 + (i * 7) % 9) as f64).collect();
    let seconds: Vec<f64> = (0..m)
        .map(|i| 1.7e9 + ((i * 17) % 60) as f64 * 10.0 + 0.3)
        .collect();
    let switch: Vec<f64> = (0..m).map(|i| (i / 3 % 2) as f64).collect();
    let codes: Vec<f64> = (0..m).map(|i| ((i * 5) % 3) as f64).collect();
    let levels = ["a", "b", "c"].map(str::to_owned);
    let text = Column::Text {
        levels: &levels,
        codes: &codes,
        levels_are: Levels::Found,
    };
    let columns = [
        Column::Numbers(&long),
        Column::Numbers(&both),
        Column::Numbers(&short),
        Column::Numbers(&count),
        Column::Numbers(&switch),
        text,
        Column::Numbers(&seconds),
    ];
    let names = [
        "long", "both", "short", "count", "switch", "kind", "seconds",
    ];
    let names = names.map(str::to_owned);
    let encoding = Encoding::learn(&names, &columns, false);
    let x = encoding.apply(&columns).unwrap();
    let y = Mat::from_fn(m, 3, |i, o| {
        let bent = 0.3 * long[i] - 2.0;
        let place = 0.2 * both[i] + short[i];
        match o {
            0 => bent * bent + (2.0 * place).sin() + 0.1 * (count[i] - 4.0).powi(2) + switch[i],
            1 => place * place - bent + 0.5 * codes[i] - 0.2 * count[i] * switch[i],
            _ => ((seconds[i] - 1.7e9) / 300.0 - 1.0).powi(2) + 0.3 * bent - place,
        }
    });
    let mut data = Dataset::new(x, y).unwrap();
    data.inputs = encoding.inputs();
    let fitted = Method::named(method).unwrap();
    let mut model = fitted.fit(&data, 1, &|_| Control::Continue).unwrap();
    model.set_encoding(encoding);
    bent(&model, &[[0.0, 1e-3], [0.5, 2.0]])
}
