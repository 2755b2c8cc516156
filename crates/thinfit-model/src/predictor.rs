//! The fitted model of any method, a network or a sum of kernels: prediction, integrals, files, names and record.
//!
//! [`Predictor::network`] gives access to the features, which only networks have.

use crate::extrapolation::Excess;
use std::path::Path;
use thinfit::file::{LARGEST, family, format, read_json};
use thinfit::{
    Body, Caution, Code, Dataset, Deviation, Diagnosis, Encoding, Error, Grouping, Header,
    Interval, Mat, MatRef, Model, Prediction, Record, Result, Scaler, TrainingRows,
};
use thinfit_gp::{KernelBody, KernelModel};

/// A fitted model of any method.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // There is one at a time, and its data are far larger.
pub enum Predictor {
    /// A two-layer network.
    Network(Model),
    /// A sum of kernels over the samples.
    Kernel(KernelModel),
}

/// The value of an expression that is written the same for both bodies.
macro_rules! either {
    ($predictor:expr, $model:ident => $value:expr) => {
        match $predictor {
            Predictor::Network($model) => $value,
            Predictor::Kernel($model) => $value,
        }
    };
}

impl From<Model> for Predictor {
    fn from(model: Model) -> Self {
        Predictor::Network(model)
    }
}

impl From<KernelModel> for Predictor {
    fn from(model: KernelModel) -> Self {
        Predictor::Kernel(model)
    }
}

impl Predictor {
    /// f at the rows of `x` (m × d): m × c.
    ///
    /// # Errors
    /// The wrong number of columns, values that are not finite, or values so large that the result is not.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        either!(self, model => model.predict(x))
    }

    /// Standard deviations of f and of a new observation at the rows of `x` (m × d). They grow outside the ranges of the samples, and are
    /// infinite from a fifth of a range on.
    ///
    /// # Errors
    /// As [`Predictor::predict`], or a method without deviations: only thinfit's own and the Gaussian process have them.
    pub fn deviation(&self, x: MatRef<'_, f64>) -> Result<Deviation> {
        let mut deviation = either!(self, model => model.deviation(x)?);
        if let Some(excess) = Excess::at(self, x)? {
            excess.add(&mut deviation);
        }
        Ok(deviation)
    }

    /// [`Predictor::predict`], with [`Predictor::deviation`] if `deviation` asks for it and [`Predictor::interval`] at `level` if there
    /// is one: the same numbers, with each row evaluated once.
    ///
    /// # Errors
    /// As those of the three that are asked for.
    pub fn prediction(
        &self,
        x: MatRef<'_, f64>,
        deviation: bool,
        level: Option<f64>,
    ) -> Result<Prediction> {
        let mut predicted = either!(self, model => model.prediction(x, deviation, level)?);
        if predicted.deviation.is_none() && predicted.interval.is_none() {
            return Ok(predicted);
        }
        if let Some(excess) = Excess::at(self, x)? {
            if let Some(deviation) = &mut predicted.deviation {
                excess.add(deviation);
            }
            if let Some((interval, level)) = predicted.interval.as_mut().zip(level) {
                excess.widen(interval, level);
            }
        }
        Ok(predicted)
    }

    /// The partial derivatives ∂f_o/∂x_j of output `o` at the rows of `x` (m × d): m × d.
    ///
    /// # Errors
    /// As [`Predictor::predict`], or an output that does not exist.
    pub fn gradient(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        either!(self, model => model.gradient(x, o))
    }

    /// Bounds between which a new observation lies with probability `level`, at the rows of `x` (m × d). They grow outside the ranges of
    /// the samples, and are infinite from a fifth of a range on.
    ///
    /// # Errors
    /// As [`Predictor::predict`], a level outside (0, 1), or a network without uncertainty.
    pub fn interval(&self, x: MatRef<'_, f64>, level: f64) -> Result<Interval> {
        let mut interval = self.interval_inside(x, level)?;
        if let Some(excess) = Excess::at(self, x)? {
            excess.widen(&mut interval, level);
        }
        Ok(interval)
    }

    /// The same as if every row were inside: infinite only where there are too few rows for the level.
    ///
    /// # Errors
    /// As [`Predictor::interval`].
    pub fn interval_inside(&self, x: MatRef<'_, f64>, level: f64) -> Result<Interval> {
        either!(self, model => model.interval(x, level))
    }

    /// Half the width of an interval of output `o` at probability `level`, in standard deviations of an observation, or in the units
    /// of the output where the model has none; infinite where there are too few held-out errors.
    ///
    /// # Errors
    /// An output that does not exist, or a model without intervals.
    pub fn quantile(&self, o: usize, level: f64) -> Result<f64> {
        either!(self, model => model.quantile(o, level))
    }

    /// The network, which has features.
    ///
    /// # Errors
    /// A sum of kernels.
    pub fn network(&self) -> Result<&Model> {
        match self {
            Predictor::Network(model) => Ok(model),
            Predictor::Kernel(model) => Err(Error::Data {
                what: "model",
                problem: format!(
                    "expected a network, found the sum of kernels that `{}` makes",
                    model.record.method
                ),
                advice: "fit the data with a method whose result is a network, such as gft-r",
            }),
        }
    }

    /// Everything but what predicts.
    pub fn header(&self) -> &Header {
        either!(self, model => &model.header)
    }

    pub(crate) fn header_mut(&mut self) -> &mut Header {
        either!(self, model => &mut model.header)
    }

    /// Names of the inputs (d).
    pub fn inputs(&self) -> &[String] {
        &self.header().inputs
    }

    /// Names of the outputs (c).
    pub fn outputs(&self) -> &[String] {
        &self.header().outputs
    }

    /// Smallest and largest value of each input among the samples (d).
    pub fn domain(&self) -> &[[f64; 2]] {
        &self.header().domain
    }

    /// The scaling of the inputs, with their warps.
    pub fn input_scaler(&self) -> &Scaler {
        &self.header().input_scaler
    }

    /// The scaling of the outputs.
    pub fn output_scaler(&self) -> &Scaler {
        &self.header().output_scaler
    }

    /// How many real numbers prediction needs.
    pub fn parameters(&self) -> usize {
        // The mean of the samples is kept as a process whose kernel is constant.
        let diagnosis = self.record().diagnosis.as_ref();
        if diagnosis.is_some_and(Diagnosis::is_mean) {
            return self.outputs().len();
        }
        either!(self, model => model.parameters())
    }

    /// How the model was made, and its errors on held-out rows.
    pub fn record(&self) -> &Record {
        &self.header().record
    }

    /// The record, for whoever made the model.
    pub fn record_mut(&mut self) -> &mut Record {
        &mut self.header_mut().record
    }

    /// The same model, whose record identifies its training rows.
    pub fn made_from(mut self, data: &Dataset) -> Self {
        let record = self.record_mut();
        record.rows.get_or_insert_with(|| TrainingRows::new(data));
        record.groups = data.groups.as_ref().map(|_| Grouping {
            column: None,
            count: data.grouped().len(),
        });
        self
    }

    /// How the columns of a table become the inputs; none where they are the inputs themselves.
    pub fn encoding(&self) -> Option<&Encoding> {
        self.header().encoding.as_ref()
    }

    /// Keeps `encoding`, whose inputs are those of the model, with the model. Where the fit found an effect of one level of a text, all
    /// inputs of the text count as having one.
    ///
    /// # Panics
    /// The encoding has other inputs.
    pub fn set_encoding(&mut self, encoding: Encoding) {
        assert!(encoding.fits(self.inputs()));
        if let Some(found) = &mut self.record_mut().diagnosis {
            found.inputs = encoding.inputs_of_same_columns(&found.inputs);
        }
        self.header_mut().encoding = Some(encoding);
    }

    /// Renumbers the outliers and odd rows of a fit to the rows of the user's table, in which sample i was row `rows[i]`: rows may have been
    /// left out before the fit.
    ///
    /// # Panics
    /// There are fewer rows than samples were fitted.
    pub fn set_rows(&mut self, rows: &[usize]) {
        let Some(found) = &mut self.record_mut().diagnosis else {
            return;
        };
        let odd = found.cautions.iter_mut().filter_map(Caution::rows_mut);
        for row in found.outliers.iter_mut().chain(odd.flatten()) {
            *row = rows[*row];
        }
    }

    /// Names the column that the groups of the fit came from, if there were any.
    pub fn set_groups_column(&mut self, name: &str) {
        if let Some(groups) = &mut self.record_mut().groups {
            groups.column = Some(name.into());
        }
    }

    /// Keeps the units of columns of the user's table, inputs or outputs, with the model; those of other columns are left out. Call it
    /// after [`Predictor::set_encoding`], which names the columns.
    pub fn set_units(&mut self, units: &[(String, String)]) {
        let (inputs, outputs) = (self.inputs().to_vec(), self.outputs().to_vec());
        let encoding = self.encoding().cloned();
        let record = self.record_mut();
        record.set_units(units, (&inputs, &outputs), encoding.as_ref());
    }

    /// The unit of a column of the table, an input or an output, where it is known: from its cells, or from a row of units.
    pub fn unit(&self, column: &str) -> Option<&str> {
        let coded = self.encoding().into_iter().flat_map(Encoding::used);
        let of_cells = coded
            .filter(|coded| coded.name == column)
            .find_map(|coded| match &coded.code {
                Code::Quantity { unit } => Some(unit.as_str()),
                _ => None,
            });
        of_cells.or_else(|| self.record().units.get(column).map(String::as_str))
    }

    /// The name of a column with its unit, as in `p [bar]`, for the axis of a picture.
    pub fn label(&self, column: &str) -> String {
        match self.unit(column) {
            Some(unit) => format!("{column} [{unit}]"),
            None => column.to_owned(),
        }
    }

    /// Whether a file begins like one that [`Predictor::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        Ok(<Model>::is_in(path)? || KernelModel::is_in(path)?)
    }

    /// Writes the model to a file; an interrupted write never leaves half a file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        either!(self, model => model.save(path))
    }

    /// Reads a model of either kind from a file.
    ///
    /// # Errors
    /// A file that cannot be read, and all errors of [`Model::from_json`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        Self::load_within(path, LARGEST)
    }

    /// [`Predictor::load`] for a file of at most `most` bytes; a model takes up to four times its file in memory.
    ///
    /// # Errors
    /// As [`Predictor::load`], or a larger file.
    pub fn load_within(path: impl AsRef<Path>, most: u64) -> Result<Self> {
        let path = path.as_ref();
        Self::from_json(&String::from_utf8_lossy(&read_json(path, most)?), path)
    }

    /// The model as JSON text.
    pub fn to_json(&self) -> String {
        either!(self, model => model.to_json())
    }

    /// Reads a model of either kind from JSON text; `name` stands for it in errors.
    ///
    /// # Errors
    /// All errors of [`Model::from_json`].
    pub fn from_json(text: &str, name: &Path) -> Result<Self> {
        let is_kernel = |format: String| family(&format) == family(KernelBody::FORMAT);
        if format(text).is_some_and(is_kernel) {
            KernelModel::from_json(text, name).map(Predictor::Kernel)
        } else {
            // If the text is neither kind, this says what is wrong with it.
            Model::from_json(text, name).map(Predictor::Network)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::{Column, Levels};
    use thinfit_gp::GaussianProcess;

    fn data() -> Dataset {
        let x = Mat::from_fn(40, 2, |i, j| ((i * (7 + 4 * j)) % 41) as f64 / 41.0);
        let y = Mat::from_fn(40, 1, |i, _| (2.0 * x[(i, 0)]).sin() + x[(i, 1)]);
        Dataset::new(x, y).unwrap()
    }

    fn fit(name: &str) -> Predictor {
        crate::tests::fitted(name, &data(), 3)
    }

    #[test]
    fn a_file_restores_the_kind_that_was_saved() {
        let folder = std::env::temp_dir().join(format!("thinfit-predictor-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("model.json");
        let x = data().x;
        for name in ["rff", "kernel-ridge-validated"] {
            let fitted = fit(name);
            fitted.save(&path).unwrap();
            let read = Predictor::load(&path).unwrap();
            assert_eq!(
                (read.record().method.as_str(), read.record().samples),
                (name, 40)
            );
            assert_eq!(
                (read.inputs(), read.outputs()),
                (fitted.inputs(), fitted.outputs())
            );
            assert_eq!(read.domain(), fitted.domain());
            assert_eq!(read.parameters(), fitted.parameters());
            assert!(read.record().validation_mse[0] < 1e-3 && !read.record().stopped);
            assert_eq!(read.record(), fitted.record());
            let values = |model: &Predictor| model.predict(x.as_ref()).unwrap();
            assert_eq!(values(&read), values(&fitted));
        }
        for (text, expected) in [
            ("{\"format\": \"thinfit-kernel/9\"}", "update thinfit"),
            (
                "{\"format\": \"else/1\"}",
                "give a model that thinfit wrote",
            ),
            ("{\"format\": \"thinfit-ker", "a truncated file"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Predictor::load(&path).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn one_prediction_has_the_numbers_of_its_parts_inside_and_outside() {
        let x = Mat::from_fn(30, 2, |i, j| (i * (1 + j)) as f64 / 27.0);
        let x = x.as_ref();
        for name in ["random", "kernel-ridge-validated", GaussianProcess::NAME] {
            let model = fit(name);
            let has_deviation = model.deviation(x).is_ok();
            for (wanted, level) in [
                (false, None),
                (true, None),
                (false, Some(0.8)),
                (true, Some(0.8)),
            ] {
                if wanted && !has_deviation {
                    assert!(model.prediction(x, wanted, level).is_err(), "{name}");
                    continue;
                }
                let found = model.prediction(x, wanted, level).unwrap();
                assert_eq!(found.mean, model.predict(x).unwrap(), "{name}");
                if wanted {
                    let (found, expected) = (found.deviation.unwrap(), model.deviation(x).unwrap());
                    assert_eq!(found.model, expected.model, "{name}");
                    assert_eq!(found.observation, expected.observation, "{name}");
                }
                let expected = level.map(|level| model.interval(x, level).unwrap());
                assert_eq!(found.interval.is_some(), expected.is_some());
                for (found, expected) in found.interval.iter().zip(&expected) {
                    assert_eq!(
                        (&found.low, &found.high),
                        (&expected.low, &expected.high),
                        "{name}"
                    );
                    assert_eq!(found.rows, expected.rows);
                }
            }
        }
    }

    #[test]
    fn deviations_and_bounds_beyond_the_range_of_numbers_are_errors() {
        let x = data().x;
        let text = fit(GaussianProcess::NAME).to_json();
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        // Predictions are zero, so that only the others overflow.
        let rows = json["body"]["coefficients"].as_array_mut().unwrap();
        rows.iter_mut().for_each(|row| row[0] = 0.0.into());
        json["body"]["mean"][0] = 0.0.into();
        json["output_scaler"]["scale"][0] = 1e308.into();
        json["body"]["signal"][0] = 1e60.into();
        let model = Predictor::from_json(&json.to_string(), Path::new("m.json")).unwrap();
        assert!(model.predict(x.as_ref()).is_ok());
        for error in [
            model.deviation(x.as_ref()).map(|_| ()).unwrap_err(),
            model.interval(x.as_ref(), 0.5).map(|_| ()).unwrap_err(),
        ] {
            assert!(matches!(error, Error::Overflow { row: 0, .. }), "{error}");
        }
    }

    #[test]
    fn an_encoding_is_kept_in_the_file_and_checked_against_the_inputs() {
        let levels = ["a".to_owned(), "b".to_owned()];
        let column = Column::Text {
            levels: &levels,
            codes: &[0.0, 1.0, 0.0, 1.0],
            levels_are: Levels::Found,
        };
        let names = ["x1", "x2", "day"].map(str::to_owned);
        let numbers = Column::Numbers(&[1.5, 2.5, 3.5, 4.5]);
        let encoding = Encoding::learn(&names, &[numbers, numbers, Column::Dates], false);
        let other = Encoding::learn(&names, &[numbers, column, Column::Dates], false);
        for name in ["rff", "kernel-ridge"] {
            let mut model = fit(name);
            assert!(!model.to_json().contains("encoding"));
            model.set_encoding(encoding.clone());
            let (text, path) = (model.to_json(), Path::new("model.json"));
            let read = Predictor::from_json(&text, path).unwrap();
            assert_eq!(read.encoding(), Some(&encoding));
            let [ours, theirs] = [&encoding, &other].map(|e| serde_json::to_string(e).unwrap());
            let spoilt = Predictor::from_json(&text.replace(&ours, &theirs), path);
            let error = spoilt.unwrap_err().to_string();
            assert!(error.contains("encoding that does not fit"), "{error}");
        }
    }

    #[test]
    fn a_sum_of_kernels_is_no_network_and_only_gaussian_processes_have_deviations() {
        let x = data().x;
        assert!(fit("rff").network().is_ok());
        let error = fit("kernel-ridge").network().unwrap_err().to_string();
        assert!(
            error.contains("kernel-ridge") && error.contains("gft-r"),
            "{error}"
        );
        assert!(fit("kernel-ridge").deviation(x.as_ref()).is_err());
        assert!(fit("rff").deviation(x.as_ref()).is_err());
        assert!(fit(GaussianProcess::NAME).deviation(x.as_ref()).is_ok());
    }

    #[test]
    fn every_kind_has_gradients_and_integrals_and_intervals_where_it_is_calibrated() {
        let x = data().x;
        for (name, calibrated) in [
            ("rff", false),
            ("kernel-ridge", true),
            ("salsa", true),
            (GaussianProcess::NAME, true),
        ] {
            let model = fit(name);
            assert_eq!(model.gradient(x.as_ref(), 0).unwrap().ncols(), 2);
            let total = model.sensitivity(0).unwrap().total;
            assert!(total.iter().all(|v| *v > 0.1), "{name}: {total:?}");
            let effect = model.effect(0, 1, &[0.2, 0.8]).unwrap();
            assert!(
                (effect[1] - effect[0] - 0.6).abs() < 0.1,
                "{name}: {effect:?}"
            );
            let interval = model.interval(x.as_ref(), 0.8);
            assert_eq!(interval.is_ok(), calibrated, "{name}");
            let ordered = |k: &Interval| (0..40).all(|i| k.low[(i, 0)] <= k.high[(i, 0)]);
            assert!(interval.is_ok_and(|k| k.is_finite() && ordered(&k)) == calibrated);
        }
    }
}
