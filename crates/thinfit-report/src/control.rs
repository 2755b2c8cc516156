//! What a reader can move: one control for every column of the table, however many inputs it becomes.

use serde::Serialize;
use thinfit::{Code, Mat};
use thinfit_methods::Predictor;
use thinfit_text::clean;

/// Most values of a column of numbers that are told apart.
const FEW: usize = 10;

/// A slider, or a choice between levels.
#[derive(Serialize)]
pub(crate) struct Control {
    /// Name of the column.
    pub name: String,
    /// Unit of its numbers, where the table has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The first of the inputs that it sets.
    pub first: usize,
    /// The levels of a column of text; none for numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Smallest and largest number among the samples.
    pub range: [f64; 2],
    /// The values of a column of numbers that has few among the samples; none where there are many, or they are not known.
    #[serde(skip)]
    pub values: Vec<f64>,
    /// Centre and width of the warp of its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<[f64; 2]>,
}

/// A level and the inputs that it stands for.
#[derive(Serialize)]
pub(crate) struct Level {
    pub name: String,
    pub inputs: Vec<f64>,
}

impl Control {
    /// Sets the inputs of `row` for a place in the range, from 0 to 1.
    pub fn set(&self, model: &Predictor, place: f64, row: &mut [f64]) {
        if self.levels.is_empty() {
            let (scaler, j) = (model.input_scaler(), self.first);
            let [low, high] = self.range.map(|v| scaler.warped(j, v));
            row[j] = scaler.unwarped(j, low + place * (high - low));
            return;
        }
        let last = self.levels.len() - 1;
        let level = &self.levels[last.min((place * self.levels.len() as f64) as usize)];
        row[self.first..][..level.inputs.len()].copy_from_slice(&level.inputs);
    }

    /// Moves a number of `row` to the nearest that a person would set.
    pub fn round(&self, row: &mut [f64]) {
        if !self.levels.is_empty() {
            return;
        }
        let v = row[self.first];
        let near = |a: &&f64, b: &&f64| (*a - v).abs().total_cmp(&(*b - v).abs());
        let nearest = self.values.iter().min_by(near);
        row[self.first] = nearest.map_or(rounded(v, self.range), |&nearest| nearest);
    }

    /// Looks for columns of few values among the samples `x` (m × d).
    pub fn find_values(&mut self, x: &Mat<f64>) {
        if !self.levels.is_empty() {
            return;
        }
        let column = x.col_as_slice(self.first).iter();
        let mut values: Vec<f64> = column.map(|&v| rounded(v, self.range)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() <= FEW && 2 * values.len() <= x.nrows() {
            self.values = values;
        }
    }
}

/// The value with so many decimals that the range has about a thousand steps, but within the range.
fn rounded(value: f64, [low, high]: [f64; 2]) -> f64 {
    let size = (high - low).max(f64::MIN_POSITIVE).log10().floor();
    let decimals = 3.0 - size;
    if !(0.0..=15.0).contains(&decimals) {
        return value.clamp(low, high);
    }
    let text = format!("{value:.0$}", decimals as usize);
    text.parse().unwrap_or(value).clamp(low, high)
}

/// The controls of a model, in the order of its inputs.
pub(crate) fn controls(model: &Predictor) -> Vec<Control> {
    let number = |first: usize, name: &str, unit: Option<&str>| Control {
        name: clean(name).into_owned(),
        unit: unit.map(|unit| clean(unit).into_owned()),
        first,
        levels: vec![],
        range: model.domain()[first],
        values: vec![],
        warp: (model.input_scaler().warp_of(first)).map(|warp| [warp.centre, warp.width]),
    };
    let Some(encoding) = model.encoding() else {
        let inputs = model.inputs().iter().enumerate();
        return inputs.map(|(j, name)| number(j, name, None)).collect();
    };
    let mut controls = Vec::new();
    let mut first = 0;
    for coded in encoding.used() {
        let of_levels = |levels: &[String], inputs: &dyn Fn(usize) -> Vec<f64>| {
            let level = |(k, name): (usize, &String)| Level {
                name: clean(name).into_owned(),
                inputs: inputs(k),
            };
            Control {
                levels: levels.iter().enumerate().map(level).collect(),
                range: [0.0, 1.0],
                warp: None,
                ..number(first, &coded.name, None)
            }
        };
        let indicator = |on: bool| f64::from(u8::from(on));
        let control = match &coded.code {
            Code::LeftOut { .. } => continue,
            Code::Number => number(first, &coded.name, None),
            Code::Quantity { unit } => number(first, &coded.name, Some(unit)),
            Code::Ordinal { levels } => {
                let most = (levels.len() - 1) as f64;
                of_levels(levels, &|k| vec![k as f64 / most])
            }
            Code::OneHot { levels } if levels.len() == 2 => {
                of_levels(levels, &|k| vec![indicator(k == 1)])
            }
            Code::OneHot { levels } => of_levels(levels, &|k| {
                (0..levels.len()).map(|l| indicator(l == k)).collect()
            }),
        };
        first += control.levels.first().map_or(1, |level| level.inputs.len());
        controls.push(control);
    }
    controls
}
