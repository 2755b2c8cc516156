//! The controls of a page: one for every factor of a model.

use serde::Serialize;
use thinfit::Mat;
use thinfit_methods::{InputColumn, Predictor};
use thinfit_text::clean;

/// Maximum number of distinct values of a numeric column.
const FEW: usize = 10;

/// A slider, or a choice between levels.
#[derive(Serialize)]
pub(crate) struct Control {
    #[serde(flatten)]
    pub factor: InputColumn,
    /// The values of a column of numbers that has few among the samples; none where there are many, or they are not known.
    #[serde(skip)]
    pub values: Vec<f64>,
}

impl Control {
    /// Moves a number of `row` to the nearest that a person would set.
    pub fn round(&self, row: &mut [f64]) {
        if !self.factor.levels.is_empty() {
            return;
        }
        let v = row[self.factor.first];
        let near = |a: &&f64, b: &&f64| (*a - v).abs().total_cmp(&(*b - v).abs());
        let nearest = self.values.iter().min_by(near);
        row[self.factor.first] = nearest.map_or(rounded(v, self.factor.range), |&nearest| nearest);
    }

    /// Looks for columns of few values among the samples `x` (m × d).
    pub fn find_values(&mut self, x: &Mat<f64>) {
        if !self.factor.levels.is_empty() {
            return;
        }
        let column = x.col_as_slice(self.factor.first).iter();
        let mut values: Vec<f64> = column.map(|&v| rounded(v, self.factor.range)).collect();
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
    let clean = |text: &mut String| *text = clean(text).into_owned();
    let control = |mut factor: InputColumn| {
        // The factors of a page are shown and never written into cells, so they may have the unit of a row of units.
        factor.unit = model.unit(&factor.name).map(str::to_owned);
        clean(&mut factor.name);
        factor.unit.iter_mut().for_each(clean);
        factor
            .levels
            .iter_mut()
            .for_each(|level| clean(&mut level.name));
        Control {
            factor,
            values: vec![],
        }
    };
    InputColumn::all(model).into_iter().map(control).collect()
}
