//! Sobol indices of the columns of the user's table, and whether they can be trusted.
//!
//! A text column counts as one factor, however many inputs it is encoded into. Numbers are uniform over their ranges
//! in the units of the data, or in their logarithm if the user's range says so; integers and levels are equally
//! likely. `index_error` computes the standard errors.

use super::{NetworkSensitivity, Sampled, Sensitivity};
use crate::sensitivity::kernel;
use crate::{InputColumn, Predictor};
use thinfit::{Error, Mat, MatRef, Model, Result, Scaler};
use thinfit_gp::KernelModel;

/// Work that an estimate may take, in products of a parameter and a value: some seconds on two cores.
const WORK: u64 = 1 << 33;
/// Pairs of columns that a warning names.
const NAMED: usize = 3;

/// Two columns that go together among the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependence {
    /// The columns, by number.
    pub columns: [usize; 2],
    /// Their rank correlation; for a text column that of its most correlated level.
    pub rank: f64,
}

/// A model as a function of its inputs.
pub(crate) trait Function {
    /// f at the rows of `x` (m × d): m × c.
    fn values(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>>;
    /// ∂f_o/∂x_j at the rows of `x` (m × d): m × d.
    fn slopes(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>>;
    /// Number of parameters that a value depends on.
    fn size(&self) -> usize;
    /// The variance of values of output `o` from rounding alone.
    fn noise(&self, o: usize) -> f64;
}

impl Function for Model {
    fn values(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.predict(x)
    }
    fn slopes(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        self.gradient(x, o)
    }
    fn size(&self) -> usize {
        self.parameters()
    }
    fn noise(&self, o: usize) -> f64 {
        let sum: f64 = self.magnitudes().col_as_slice(o).iter().sum();
        (f64::EPSILON * sum).powi(2)
    }
}

impl Function for KernelModel {
    fn values(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.predict(x)
    }
    fn slopes(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        self.gradient(x, o)
    }
    fn size(&self) -> usize {
        self.body.points.nrows() * self.body.kernel.parameters()
    }
    fn noise(&self, o: usize) -> f64 {
        kernel::rounding(self, o)
    }
}

impl Predictor {
    /// Sensitivity indices of output `o` over its columns, [`InputColumn::all`], inside the ranges of the samples.
    ///
    /// # Errors
    /// An output that does not exist, or numbers that leave the finite range.
    pub fn sensitivity(&self, o: usize) -> Result<Sensitivity> {
        self.sensitivity_over(o, &InputColumn::all(self), &|_| ())
    }

    /// Sensitivity indices of output `o` over `columns`: those of [`InputColumn::all`], which may have other ranges, fewer levels, other
    /// warps, or only integers. `watch` receives the progress from 0 to 1.
    ///
    /// # Errors
    /// As [`Predictor::sensitivity`].
    pub fn sensitivity_over(
        &self,
        o: usize,
        columns: &[InputColumn],
        watch: &dyn Fn(f64),
    ) -> Result<Sensitivity> {
        self.check_output(o)?;
        match self {
            Predictor::Network(model) => match self.plain(columns) {
                Some(domain) => model.sensitivity_watched(o, &domain, watch),
                None => estimated(model, columns, o, watch),
            },
            Predictor::Kernel(model) => kernel::sensitivity(model, columns, o, watch),
        }
    }

    /// The ranges of columns that are all inputs as they are.
    fn plain(&self, columns: &[InputColumn]) -> Option<Vec<[f64; 2]>> {
        let ranges = columns.iter().map(|column| {
            let plain = column.choices().is_none() && !column.log;
            plain.then_some(column.range)
        });
        ranges.collect()
    }

    /// The main effect of column `j` on output `o`: E\[f | x_j = v\] for every v of `at`, with the other columns as in
    /// [`Predictor::sensitivity`]. The levels of a text are 0, 1, ….
    ///
    /// # Errors
    /// An output or column that does not exist, a level that does not, or values that are not finite.
    pub fn effect(&self, o: usize, j: usize, at: &[f64]) -> Result<Vec<f64>> {
        self.effect_over(o, &InputColumn::all(self), j, at)
    }

    /// [`Predictor::effect`] with the columns of [`Predictor::sensitivity_over`].
    ///
    /// # Errors
    /// As [`Predictor::effect`].
    pub fn effect_over(
        &self,
        o: usize,
        columns: &[InputColumn],
        j: usize,
        at: &[f64],
    ) -> Result<Vec<f64>> {
        self.check_output(o)?;
        let mut columns = columns.to_vec();
        // How the column itself is spread does not matter.
        if let Some(column) = columns.get_mut(j).filter(|f| f.levels.is_empty()) {
            (column.whole, column.log) = (false, false);
        }
        if let (Predictor::Network(model), Some(domain)) = (self, self.plain(&columns)) {
            return model.effect_on(o, j, at, &domain);
        }
        let function: &dyn Function = match self {
            Predictor::Network(model) => model,
            Predictor::Kernel(model) => model,
        };
        let levels = columns.get(j).map_or(0, |column| column.levels.len());
        let known = |v: &f64| (0..levels).any(|k| *v == k as f64);
        if levels > 0 && !at.iter().all(known) {
            return Err(Error::Data {
                what: "at",
                problem: format!("not a level of `{}`", columns[j].name),
                advice: "number its levels from 0 on",
            });
        }
        let place = |v: &f64| match levels {
            0 => *v,
            _ => (v + 0.5) / levels as f64,
        };
        let places: Vec<f64> = at.iter().map(place).collect();
        let over = OverColumns {
            function,
            columns: &columns,
        };
        let cost = function
            .size()
            .saturating_mul(at.len())
            .saturating_mul(columns.len());
        over.sampled(o, Sampled::points_within(WORK, cost), |sampled| {
            sampled.effect(j, &places)
        })
    }

    fn check_output(&self, o: usize) -> Result<()> {
        let c = self.outputs().len();
        match o < c {
            true => Ok(()),
            false => Err(Error::Shape {
                what: "output of the sensitivity",
                expected: format!("an output below {c}"),
                found: o.to_string(),
            }),
        }
    }

    /// The correlated factors, the strongest correlation first.
    pub fn dependences(&self) -> Vec<Dependence> {
        let columns = InputColumn::all(self);
        let of = |input: usize| InputColumn::of_input(&columns, input);
        let mut found: Vec<Dependence> = Vec::new();
        for correlation in &self.record().correlations {
            let [Some(a), Some(b)] = correlation.inputs.map(of) else {
                continue;
            };
            // The indicators of one text exclude each other, which is no dependence of columns.
            if a != b && !found.iter().any(|known| known.columns == [a, b]) {
                found.push(Dependence {
                    columns: [a, b],
                    rank: correlation.rank,
                });
            }
        }
        found
    }

    /// A warning if indices over the box mislead because factors are correlated.
    pub fn warning(&self) -> Option<String> {
        let (columns, found) = (InputColumn::all(self), self.dependences());
        let pair = |known: &Dependence| {
            let [a, b] = known.columns.map(|k| &columns[k].name);
            let rank = known.rank;
            format!("{a} and {b} correlate at {rank:.2}")
        };
        let named: Vec<String> = found.iter().take(NAMED).map(pair).collect();
        let more = match found.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(", and {more} more pairs correlate"),
        };
        (!named.is_empty()).then(|| {
            format!(
                "{}{more}: indices over the box include combinations that do not occur; Shapley effects on the rows do not",
                named.join(", ")
            )
        })
    }
}

/// Indices of output `o` by values at the points of a lattice.
pub(crate) fn estimated(
    function: &dyn Function,
    columns: &[InputColumn],
    o: usize,
    watch: &dyn Fn(f64),
) -> Result<Sensitivity> {
    let over = OverColumns { function, columns };
    over.sampled(o, points(function, columns), |sampled| {
        sampled.sensitivity(function.noise(o), watch)
    })
}

/// Points of a lattice that are affordable.
fn points(function: &dyn Function, columns: &[InputColumn]) -> usize {
    let cost = function.size().saturating_mul(2 * columns.len() + 4);
    Sampled::points_within(WORK, cost)
}

/// A model as a function of columns.
struct OverColumns<'a> {
    function: &'a dyn Function,
    columns: &'a [InputColumn],
}

impl OverColumns<'_> {
    /// Output `o` on the box of its columns, for estimates at the points of a lattice.
    fn sampled<T>(&self, o: usize, points: usize, of: impl Fn(Sampled<'_>) -> T) -> T {
        let k = self.columns.len();
        let range = |column: &InputColumn| match column.choices() {
            None => column.range,
            Some(_) => [0.0, 1.0],
        };
        let domain: Vec<[f64; 2]> = self.columns.iter().map(range).collect();
        of(Sampled {
            domain: &domain,
            inputs: &Scaler {
                warp: self.columns.iter().map(InputColumn::log_warp).collect(),
                ..Scaler::identity(k)
            },
            value: &|at| {
                let values = self.function.values(self.rows(at).as_ref())?;
                Ok(values.col_as_slice(o).to_vec())
            },
            gradient: &|at| {
                let slopes = self.function.slopes(self.rows(at).as_ref(), o)?;
                // Choices have no slopes.
                Ok(Mat::from_fn(at.nrows(), k, |i, j| {
                    let column = &self.columns[j];
                    match column.choices() {
                        None => slopes[(i, column.first)],
                        Some(_) => 0.0,
                    }
                }))
            },
            points,
        })
    }

    /// The inputs of settings of the columns (m × columns): numbers as they are, choices by their places.
    fn rows(&self, at: MatRef<'_, f64>) -> Mat<f64> {
        let d = self.columns.iter().map(InputColumn::inputs).sum();
        let (mut x, mut row) = (Mat::zeros(at.nrows(), d), vec![0.0; d]);
        for i in 0..at.nrows() {
            for (j, column) in self.columns.iter().enumerate() {
                match column.choices() {
                    None => row[column.first] = at[(i, j)],
                    Some(_) => column.quantile(at[(i, j)], &mut row),
                }
            }
            (0..d).for_each(|j| x[(i, j)] = row[j]);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::{Column, Dataset, Encoding, Levels};

    /// A table of two numbers, the second of which may follow the first, and a text with three levels: y = 3a + b + level.
    fn fitted(method: &str, noise: f64, follows: bool) -> Predictor {
        let m = 120;
        let wave = |i: usize, k: usize| ((i * k) % 121) as f64 / 120.0;
        let a: Vec<f64> = (0..m).map(|i| wave(i, 7)).collect();
        let b: Vec<f64> = (0..m)
            .map(|i| wave(i, 39) + if follows { 3.0 * a[i] } else { 0.0 })
            .collect();
        let codes: Vec<f64> = (0..m).map(|i| ((i * 5) % 7 % 3) as f64).collect();
        let names = ["a", "b", "stone"].map(str::to_owned);
        let levels = ["granite", "marble", "slate"].map(str::to_owned);
        let kind = Column::Text {
            levels: &levels,
            codes: &codes,
            levels_are: Levels::Found,
        };
        let table = [Column::Numbers(&a), Column::Numbers(&b), kind];
        let encoding = Encoding::learn(&names, &table, false);
        let x = encoding.apply(&table).unwrap();
        let y = Mat::from_fn(m, 1, |i, _| {
            3.0 * a[i] + b[i] + codes[i] + noise * (wave(i, 53) - 0.5)
        });
        let data = Dataset::new(x, y).unwrap();
        let data = data
            .with_names(encoding.inputs(), vec!["y".into()])
            .unwrap();
        let mut model = crate::tests::fitted(method, &data, 1);
        model.set_encoding(encoding);
        model
    }

    #[test]
    fn a_text_is_one_factor_whose_levels_are_equally_likely() {
        // Variances 9/12, 1/12 and 2/3 of a uniform number, another and three levels.
        let parts = [9.0 / 12.0, 1.0 / 12.0, 2.0 / 3.0];
        for (method, slack) in [("gaussian-process", 2e-3), ("gft-r", 5e-3)] {
            let model = fitted(method, 0.0, false);
            assert_eq!(model.inputs().len(), 5);
            let found = model.sensitivity(0).unwrap();
            let variance: f64 = parts.iter().sum();
            assert!((found.variance / variance - 1.0).abs() < 0.02, "{found:?}");
            for (j, part) in parts.iter().enumerate() {
                let error = (found.first[j] - part / variance).abs();
                assert!(error < slack, "{method}: {found:?}");
                assert!((found.total[j] - part / variance).abs() < slack);
            }
            assert!((found.derivative[0] - 9.0).abs() < 0.2, "{found:?}");
            assert_eq!(found.derivative[2], 0.0);
            assert_eq!(found.closed_form, method == "gaussian-process");
            let effect = model.effect(0, 2, &[0.0, 1.0, 2.0]).unwrap();
            assert!((effect[2] - effect[0] - 2.0).abs() < 0.02, "{effect:?}");
            let effect = model.effect(0, 0, &[0.2, 0.8]).unwrap();
            assert!((effect[1] - effect[0] - 1.8).abs() < 0.02, "{effect:?}");
            assert!(model.effect(0, 2, &[0.5]).is_err() && model.effect(0, 3, &[0.0]).is_err());
            assert!(model.sensitivity(1).is_err() && model.effect(1, 0, &[0.0]).is_err());
        }
    }

    #[test]
    fn columns_that_go_together_are_warned_of_and_levels_of_one_text_are_not() {
        assert_eq!(fitted("kernel-ridge", 0.0, false).warning(), None);
        let model = fitted("kernel-ridge", 0.0, true);
        assert_eq!(model.dependences()[0].columns, [0, 1]);
        let words = model.warning().unwrap();
        assert!(words.starts_with("a and b correlate at 0.9"), "{words}");
        // Older files do not have it.
        let text = model.to_json();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let path = std::path::Path::new("m.json");
        assert_eq!(
            Predictor::from_json(&text, path).unwrap().warning(),
            Some(words)
        );
        json["record"]["correlations"][0]["rank"] = 1.5.into();
        let error = Predictor::from_json(&json.to_string(), path).unwrap_err();
        assert!(error.to_string().contains("correlations that do not fit"));
        json["record"]
            .as_object_mut()
            .unwrap()
            .remove("correlations");
        let former = Predictor::from_json(&json.to_string(), path).unwrap();
        assert_eq!(former.warning(), None);
    }
}
