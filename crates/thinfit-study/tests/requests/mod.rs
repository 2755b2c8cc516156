//! Random requests for proposals, and whether every answer keeps to its region in the units of the data.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::{Column, Control, Dataset, Encoding, Levels, Mat};
use thinfit_methods::{Factor, Method, Predictor};
use thinfit_study::{Aim, Goal, Region, front, minimise, suggest};

/// By how much of its largest term a constraint may be missed.
const ROUNDING: f64 = 1e-9;

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

/// A model of two outputs of two columns with long tails, one without, a count, a switch and a text.
pub fn model(method: &str, seed: u64) -> Predictor {
    let m = 60;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let long: Vec<f64> = (0..m).map(|_| 14.0 * random.random::<f64>()).collect();
    let both: Vec<f64> = (0..m)
        .map(|_| 16.0 * random.random::<f64>() - 8.0)
        .collect();
    let short: Vec<f64> = (0..m).map(|i| ((i * 23) % 61) as f64 / 60.0).collect();
    let count: Vec<f64> = (0..m).map(|i| (1 + (i * 7) % 9) as f64).collect();
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
    ];
    let names = ["long", "both", "short", "count", "switch", "kind"].map(str::to_owned);
    let encoding = Encoding::learn(&names, &columns, false);
    let x = encoding.apply(&columns).unwrap();
    let y = Mat::from_fn(m, 2, |i, o| {
        let bent = 0.3 * long[i] - 2.0;
        let place = 0.2 * both[i] + short[i];
        match o {
            0 => bent * bent + (2.0 * place).sin() + 0.1 * (count[i] - 4.0).powi(2) + switch[i],
            _ => place * place - bent + 0.5 * codes[i] - 0.2 * count[i] * switch[i],
        }
    });
    let mut data = Dataset::new(x, y).unwrap();
    data.inputs = encoding.inputs();
    let fitted = Method::named(method).unwrap();
    let mut model = fitted.fit(&data, 1, &|_| Control::Continue).unwrap();
    model.set_encoding(encoding);
    bent(&model, &[[0.0, 1e-3], [0.5, 2.0]])
}

/// A sum of columns and its bound.
struct Linear {
    coefficients: Vec<f64>,
    relation: &'static str,
    bound: f64,
}

impl Linear {
    /// One that holds at `row`, on one to three columns of numbers.
    fn around(factors: &[Factor], row: &[f64], random: &mut ChaCha8Rng) -> Self {
        let numbers: Vec<usize> = (0..factors.len())
            .filter(|k| factors[*k].levels.is_empty())
            .collect();
        let mut coefficients = vec![0.0; factors.len()];
        for _ in 0..random.random_range(1..=3) {
            let k = numbers[random.random_range(0..numbers.len())];
            coefficients[k] = [1.0, -1.0, 0.5, 2.0, 10.0][random.random_range(0..5)];
        }
        let value: f64 = (factors.iter().zip(&coefficients))
            .map(|(factor, a)| a * row[factor.first])
            .sum();
        // An equation of whole numbers alone has few solutions.
        let real = |k: usize| coefficients[k] != 0.0 && !factors[k].whole;
        let relation = match random.random_range(0..6) {
            0 if numbers.iter().any(|k| real(*k)) => "=",
            0..3 => ">=",
            _ => "<=",
        };
        let room = value.abs().max(0.1) * random.random::<f64>();
        let room = if random.random::<bool>() { 0.0 } else { room };
        let bound = match relation {
            "<=" => value + room,
            ">=" => value - room,
            _ => value,
        };
        Linear {
            coefficients,
            relation,
            bound,
        }
    }

    fn text(&self, factors: &[Factor]) -> String {
        let terms = factors.iter().zip(&self.coefficients);
        let terms = terms.filter(|(_, a)| **a != 0.0);
        let terms: Vec<String> = terms.map(|(f, a)| format!("{a}*{}", f.name)).collect();
        let sum = terms.join(" + ").replace("+ -", "- ");
        format!("{sum} {} {}", self.relation, self.bound)
    }

    fn holds(&self, factors: &[Factor], row: &[f64]) -> bool {
        let terms = factors.iter().zip(&self.coefficients);
        let terms: Vec<f64> = terms.map(|(f, a)| a * row[f.first]).collect();
        let size = terms.iter().fold(self.bound.abs(), |m, v| m.max(v.abs()));
        let above = terms.iter().sum::<f64>() - self.bound;
        match self.relation {
            "<=" => above <= ROUNDING * size,
            ">=" => above >= -ROUNDING * size,
            _ => above.abs() <= ROUNDING * size,
        }
    }
}

/// Asks `model` for a minimum, a front or new rows in a random region, and checks every answer.
///
/// # Errors
/// What was asked, and what is wrong with the answer.
pub fn ask(model: &Predictor, seed: u64) -> Result<usize, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut region = Region::new(model);
    let factors = region.factors().to_vec();
    let mut row = vec![0.0; model.inputs().len()];
    factors
        .iter()
        .for_each(|factor| factor.set(random.random(), &mut row));
    let mut asked = Vec::new();
    if random.random_range(0..3) == 0 {
        let factor = &factors[random.random_range(0..factors.len())];
        let value = match factor.levels.is_empty() {
            true => row[factor.first].to_string(),
            false => factor.levels[factor.level(&row)].name.clone(),
        };
        asked.push(format!("{}={value}", factor.name));
        region.fix(&factor.name, &value).unwrap();
    }
    let constraints: Vec<Linear> = (0..random.random_range(0..=2))
        .map(|_| Linear::around(&factors, &row, &mut random))
        .collect();
    // Two equations may leave nothing but the place that they were made at.
    let equal = constraints.iter().filter(|c| c.relation == "=").count();
    let constraints = if equal > 1 {
        &constraints[..1]
    } else {
        &constraints[..]
    };
    for constraint in constraints {
        let text = constraint.text(&factors);
        region.require(&text).map_err(|why| why.to_string())?;
        asked.push(text);
    }
    let failed = |why: String| format!("seed {seed}, {}: {why}", asked.join(", "));
    let goals = [Goal::least(0), Goal::largest(1)];
    let rows: Vec<Vec<f64>> = match random.random_range(0..6) {
        0..3 => {
            let found = minimise(&region, goals[seed as usize % 2], seed);
            let found = found.map_err(|why| failed(why.to_string()))?;
            let others = found.others.iter().map(|one| one.row.clone());
            others.chain([found.best.row.clone()]).collect()
        }
        3 => {
            let found = front(&region, &goals, seed).map_err(|why| failed(why.to_string()))?;
            found.points.iter().map(|point| point.row.clone()).collect()
        }
        kind => {
            let aim = [Aim::Uncertainty, Aim::Minimum(0)][kind - 4];
            let none = Mat::zeros(0, model.inputs().len());
            let found = suggest(&region, aim, 4, none.as_ref(), seed);
            let found = found.map_err(|why| failed(why.to_string()))?;
            let row = |i: usize| found.row(i).iter().copied().collect();
            (0..found.nrows()).map(row).collect()
        }
    };
    for (k, found) in rows.iter().enumerate() {
        for (j, factor) in factors.iter().enumerate() {
            let inputs = &found[factor.first..][..factor.inputs()];
            let [low, high] = factor.range;
            let allowed = match factor.levels.is_empty() {
                true => {
                    (low..=high).contains(&inputs[0]) && (!factor.whole || inputs[0].fract() == 0.0)
                }
                false => factor.levels.iter().any(|level| level.inputs == inputs),
            };
            let kept = !region.fixed()[j] || inputs == &row[factor.first..][..factor.inputs()];
            if !(allowed && kept) {
                return Err(failed(format!("answer {k}: {} is {inputs:?}", factor.name)));
            }
        }
        for constraint in constraints {
            if !constraint.holds(&factors, found) {
                return Err(failed(format!("answer {k}: {found:?}")));
            }
        }
    }
    Ok(rows.len())
}
