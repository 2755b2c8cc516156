//! Factors: what a user sets. There is one for every column of the table that a model uses, however many inputs it is
//! encoded into.
//!
//! A factor is a number in a range or a choice between levels. [`Encoding`](thinfit::Encoding) turns it into inputs
//! of a model: the number itself, a rank, or one indicator per level. Sampling, optimisation and sensitivity vary
//! factors, because a point between two indicators has no meaning for the user.

use crate::Predictor;
use serde::Serialize;
use thinfit::{Code, Scaler, Warp};

/// Number of integers above which a column is treated as continuous.
const MOST: f64 = 9_007_199_254_740_992.0;

/// A column of the user's table that a model uses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputColumn {
    /// Name of the column.
    pub name: String,
    /// Unit of its numbers, where its cells have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The first of the inputs that it sets.
    pub first: usize,
    /// The levels of a column of text; none for numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// Smallest and largest number among the samples; \[0, 1\] for levels.
    pub range: [f64; 2],
    /// The warp in whose units it is moved: that of its input, or a logarithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<Warp>,
    /// Whether its distribution is uniform in warped units; otherwise it is uniform over its range in the units of the data.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
    /// Whether it takes only integers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// A level and its encoding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// The values of the inputs from [`InputColumn::first`] on.
    pub inputs: Vec<f64>,
}

/// The value of a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting<'a> {
    /// A number.
    Number(f64),
    /// The name of a level.
    Level(&'a str),
}

impl InputColumn {
    /// The columns of a model, in the order of its inputs. Those whose samples say so take whole numbers alone
    /// ([`Record::integers`](thinfit::Record::integers)).
    pub fn all(model: &Predictor) -> Vec<InputColumn> {
        let mut columns = InputColumn::of_encoding(model);
        for column in columns.iter_mut().filter(|column| column.levels.is_empty()) {
            column.whole = model.record().integers.contains(&column.first)
                && column.range.iter().all(|end| end.fract() == 0.0);
            // Files are untrusted, and integers are enumerated.
            column.whole &= column.range[1] - column.range[0] < MOST;
        }
        columns
    }

    /// The columns, of which none is known to take whole numbers alone.
    fn of_encoding(model: &Predictor) -> Vec<InputColumn> {
        let (names, ranges, scaler) = (model.inputs(), model.domain(), model.input_scaler());
        let Some(encoding) = model.encoding() else {
            return InputColumn::numbers(names, ranges, scaler);
        };
        let number =
            |first: usize, name: &str| InputColumn::number(first, name, ranges[first], scaler);
        let mut columns = Vec::new();
        let mut first = 0;
        for coded in encoding.used() {
            let of_levels = |levels: &[String], inputs: &dyn Fn(usize) -> Vec<f64>| {
                let level = |(k, name): (usize, &String)| Level {
                    name: name.clone(),
                    inputs: inputs(k),
                };
                InputColumn {
                    levels: levels.iter().enumerate().map(level).collect(),
                    range: [0.0, 1.0],
                    warp: None,
                    ..number(first, &coded.name)
                }
            };
            let indicator = |on: bool| f64::from(u8::from(on));
            let column = match &coded.code {
                Code::LeftOut { .. } => continue,
                Code::Number => number(first, &coded.name),
                Code::Quantity { unit } => InputColumn {
                    unit: Some(unit.clone()),
                    ..number(first, &coded.name)
                },
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
            first += column.inputs();
            columns.push(column);
        }
        columns
    }

    /// The column, by number, that sets input `j` of a model with these columns.
    pub fn of_input(columns: &[InputColumn], j: usize) -> Option<usize> {
        columns.iter().rposition(|column| column.first <= j)
    }

    /// The meaning of each of its inputs: the column, or `column = level` where the input tells one level from all others.
    pub fn meanings(&self) -> Vec<String> {
        let meaning = |k: usize| {
            let mut on = self.levels.iter().filter(|level| level.inputs[k] == 1.0);
            let partly = |level: &Level| level.inputs[k] != 0.0 && level.inputs[k] != 1.0;
            match (on.next(), on.next()) {
                (Some(level), None) if !self.levels.iter().any(partly) => {
                    format!("{} = {}", self.name, level.name)
                }
                _ => self.name.clone(),
            }
        };
        (0..self.inputs()).map(meaning).collect()
    }

    /// Inputs as numbers, each a column of its own, whatever they stand for.
    pub(crate) fn numbers(
        names: &[String],
        ranges: &[[f64; 2]],
        scaler: &Scaler,
    ) -> Vec<InputColumn> {
        let inputs = names.iter().zip(ranges).enumerate();
        inputs
            .map(|(j, (name, &range))| InputColumn::number(j, name, range, scaler))
            .collect()
    }

    fn number(first: usize, name: &str, range: [f64; 2], scaler: &Scaler) -> InputColumn {
        InputColumn {
            name: name.into(),
            unit: None,
            first,
            levels: vec![],
            range,
            warp: scaler.warp_of(first),
            log: false,
            whole: false,
        }
    }

    /// How many inputs it sets.
    pub fn inputs(&self) -> usize {
        self.levels.first().map_or(1, |level| level.inputs.len())
    }

    /// How many choices it has: its levels or whole numbers; none for numbers of any size.
    pub fn choices(&self) -> Option<usize> {
        let [low, high] = self.range;
        match (self.levels.len(), self.whole) {
            (0, false) => None,
            (0, true) => Some((high - low) as usize + 1),
            (levels, _) => Some(levels),
        }
    }

    /// Whether it is either 0 or 1.
    pub fn is_switch(&self) -> bool {
        self.levels.is_empty() && self.whole && self.range == [0.0, 1.0]
    }

    /// Sets its inputs in `row` (d) to choice `k`, one of [`InputColumn::choices`].
    pub fn choose(&self, k: usize, row: &mut [f64]) {
        match self.levels.get(k) {
            Some(level) => row[self.first..][..level.inputs.len()].copy_from_slice(&level.inputs),
            None => row[self.first] = self.range[0] + k as f64,
        }
    }

    /// The choice, by number, that is nearest to its inputs in `row` (d).
    pub fn choice(&self, row: &[f64]) -> usize {
        match self.levels.is_empty() {
            true => {
                let [low, high] = self.range;
                (row[self.first].clamp(low, high) - low).round() as usize
            }
            false => self.level(row),
        }
    }

    /// Sets its inputs in `row` (d) to the quantile of its distribution at `share`, from 0 to 1: whole numbers and levels are equally
    /// likely.
    pub fn quantile(&self, share: f64, row: &mut [f64]) {
        match self.choices() {
            Some(count) => self.choose((count - 1).min((share * count as f64) as usize), row),
            None if self.log => self.set(share, row),
            None => {
                let [low, high] = self.range;
                row[self.first] = (low + share * (high - low)).clamp(low, high);
            }
        }
    }

    /// Sets its inputs in `row` (d) for a place from 0 to 1: numbers go evenly over their range, in warped units where they have some,
    /// and levels and whole numbers without a warp have parts of equal size.
    pub fn set(&self, place: f64, row: &mut [f64]) {
        if self.has_parts() {
            return self.quantile(place, row);
        }
        let [low, high] = self.range.map(|v| self.warped(v));
        let u = low + place * (high - low);
        let v = self.warp.map_or(u, |warp| warp.inverse(u));
        let v = if self.whole { v.round() } else { v };
        row[self.first] = v.clamp(self.range[0], self.range[1]);
    }

    /// The place of its inputs in `row` (d), from 0 to 1: that of the nearest end for a number beyond the range, and the middle of its part
    /// for a level or a whole number.
    pub fn place(&self, row: &[f64]) -> f64 {
        if let Some(count) = self.choices().filter(|_| self.has_parts()) {
            return (self.choice(row) as f64 + 0.5) / count as f64;
        }
        let [low, high] = self.range.map(|v| self.warped(v));
        let place = (self.warped(row[self.first]) - low) / (high - low);
        match high > low {
            true => place.clamp(0.0, 1.0),
            false => 0.5,
        }
    }

    /// Whether its choices have parts of equal size among its places.
    fn has_parts(&self) -> bool {
        self.choices().is_some() && self.warp.is_none()
    }

    /// The level, by number, that is nearest to its inputs in `row` (d).
    pub fn level(&self, row: &[f64]) -> usize {
        let inputs = &row[self.first..][..self.inputs()];
        let distance = |level: &Level| -> f64 {
            let pairs = level.inputs.iter().zip(inputs);
            pairs.map(|(a, b)| (a - b).powi(2)).sum()
        };
        let nearest = |&a: &usize, &b: &usize| {
            distance(&self.levels[a]).total_cmp(&distance(&self.levels[b]))
        };
        (0..self.levels.len()).min_by(nearest).unwrap_or(0)
    }

    /// What `row` (d) sets it to.
    pub fn setting(&self, row: &[f64]) -> Setting<'_> {
        match self.levels.is_empty() {
            true => Setting::Number(row[self.first]),
            false => Setting::Level(&self.levels[self.level(row)].name),
        }
    }

    /// The warp in whose units it is uniform; none where that is the units of the data.
    pub(crate) fn log_warp(&self) -> Option<Warp> {
        self.warp.filter(|_| self.log)
    }

    fn warped(&self, v: f64) -> f64 {
        self.warp.map_or(v, |warp| warp.value(v))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fitted;
    use thinfit::{Column, Dataset, Encoding, Levels, Mat};

    /// A model of a number with a long tail, a text with three levels and one with two.
    fn model() -> Predictor {
        let (m, three, two) = (60, ["a", "b", "c"], ["no", "yes"]);
        let numbers: Vec<f64> = (0..m).map(|i| (0.15 * i as f64).exp()).collect();
        let codes =
            |count: usize| -> Vec<f64> { (0..m).map(|i| ((i * 7) % count) as f64).collect() };
        let (first, second) = (codes(3), codes(2));
        let [three, two] = [
            three.map(str::to_owned).to_vec(),
            two.map(str::to_owned).to_vec(),
        ];
        let text = |levels, codes| Column::Text {
            levels,
            codes,
            levels_are: Levels::Found,
        };
        let table = [
            Column::Numbers(&numbers),
            text(&three, &first),
            text(&two, &second),
        ];
        let names = ["size", "kind", "wet"].map(str::to_owned);
        let encoding = Encoding::learn(&names, &table, false);
        let x = encoding.apply(&table).unwrap();
        let y = Mat::from_fn(m, 1, |i, _| x[(i, 0)].ln() + x[(i, 1)]);
        let mut data = Dataset::new(x, y).unwrap();
        data.inputs = encoding.inputs();
        let mut model = fitted("gaussian-process", &data, 0);
        model.set_encoding(encoding);
        model
    }

    #[test]
    fn input_columns_are_those_of_the_table_and_places_come_back() {
        let model = model();
        let columns = InputColumn::all(&model);
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["size", "kind", "wet"]);
        let firsts: Vec<usize> = columns.iter().map(|column| column.first).collect();
        assert_eq!(firsts, [0, 1, 4]);
        assert_eq!(model.inputs().len(), 5);
        let meanings: Vec<String> = columns.iter().flat_map(InputColumn::meanings).collect();
        let expected = ["size", "kind = a", "kind = b", "kind = c", "wet = yes"];
        assert_eq!(meanings, expected);
        let of_input = |j| InputColumn::of_input(&columns, j);
        assert_eq!([0, 2, 3, 4].map(of_input), [0, 1, 1, 2].map(Some));
        let mut row = vec![0.0; 5];
        for place in [0.0, 0.1, 0.5, 0.7, 1.0] {
            columns
                .iter()
                .for_each(|column| column.set(place, &mut row));
            let [low, high] = columns[0].range;
            assert!((low..=high).contains(&row[0]));
            assert!((columns[0].place(&row) - place).abs() < 1e-12);
            let k = ((3.0 * place) as usize).min(2);
            assert_eq!(columns[1].level(&row), k);
            assert_eq!(columns[1].place(&row), (k as f64 + 0.5) / 3.0);
            assert_eq!(row[1..4].iter().sum::<f64>(), 1.0);
            let wet = if place < 0.5 { "no" } else { "yes" };
            assert_eq!(columns[2].setting(&row), Setting::Level(wet));
        }
    }

    #[test]
    fn whole_numbers_have_parts_of_equal_size_and_logarithms_even_decades() {
        let mut column = InputColumn::all(&model())[0].clone();
        column.range = [2.0, 5.0];
        (column.warp, column.whole) = (None, true);
        assert_eq!(column.choices(), Some(4));
        let mut row = vec![0.0; 5];
        for (place, value) in [(0.0, 2.0), (0.24, 2.0), (0.26, 3.0), (0.9, 5.0), (1.0, 5.0)] {
            column.set(place, &mut row);
            assert_eq!(row[0], value);
            assert_eq!(column.place(&row), (value - 1.5) / 4.0);
        }
        row[0] = 9.0;
        assert_eq!((column.choice(&row), column.place(&row)), (3, 0.875));
        (column.range, column.whole) = ([1e-3, 1e3], false);
        column.warp = Some(Warp::logarithm(1e-3));
        for k in 0..=6 {
            column.set(f64::from(k) / 6.0, &mut row);
            assert!((row[0] / 10f64.powi(k - 3) - 1.0).abs() < 1e-13, "{row:?}");
        }
    }
}
