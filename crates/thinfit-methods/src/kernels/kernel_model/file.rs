//! The file of a kernel model: JSON with a version in its first field, checked as a whole when it is read.

use super::KernelModel;
use crate::Result;
use faer::Mat;
use std::path::Path;
use thinfit::file::{LARGEST, begins_like, parse, read_json, write_whole};

/// Name of the file format.
pub(crate) const FAMILY: &str = "thinfit-kernel/";
/// Name and version of the file format.
pub(super) const FORMAT: &str = "thinfit-kernel/1";

impl KernelModel {
    /// The model as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a model holds only strings and finite numbers")
    }

    /// Reads a model from JSON text; `name` stands for it in errors.
    ///
    /// # Errors
    /// Text that is not JSON, is cut off, has a newer version, or is inconsistent.
    pub fn from_json(text: &str, name: &Path) -> Result<Self> {
        parse(text, name, FORMAT, KernelModel::flaw)
    }

    /// What is wrong with a model from a file, if anything.
    fn flaw(&self) -> Option<&'static str> {
        let (m, d, c) = (self.points.nrows(), self.dim(), self.outputs.len());
        let finite =
            |values: &[f64], count| values.len() == count && values.iter().all(|v| v.is_finite());
        let table =
            |a: &Mat<f64>, columns| a.nrows() == m && a.ncols() == columns && a.is_all_finite();
        let checks = [
            (m > 0 && d > 0 && c > 0, "no points, inputs or outputs"),
            (
                self.domain.len() == d && self.domain.iter().all(|r| finite(r, 2) && r[0] <= r[1]),
                "ranges that do not fit the inputs",
            ),
            (
                self.input_scaler.is_sound(d),
                "an input scaling that does not fit the inputs",
            ),
            (
                self.output_scaler.is_sound(c) && self.output_scaler.warp.is_empty(),
                "an output scaling that does not fit the outputs",
            ),
            (self.kernel.fits(d), "a kernel that does not fit the inputs"),
            (table(&self.points, d), "points that do not fit the inputs"),
            (
                table(&self.coefficients, c) && finite(&self.mean, c),
                "coefficients that do not fit the points and the outputs",
            ),
            (
                self.signal
                    .as_ref()
                    .is_none_or(|s| finite(s, c) && s.iter().all(|v| *v >= 0.0))
                    && self.calibration.as_ref().is_none_or(|k| k.is_sound(c)),
                "variances or errors that do not fit the outputs",
            ),
        ];
        let flaw = checks.iter().find(|check| !check.0).map(|check| check.1);
        let columns = (&self.inputs[..], &self.outputs[..]);
        flaw.or_else(|| self.record.flaw(columns, self.encoding.as_ref()))
    }

    /// Whether a file begins like one that [`KernelModel::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        begins_like(path, FORMAT)
    }

    /// Writes the model to a file; an interrupted write never leaves half a file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        write_whole(path.as_ref(), self.to_json().as_bytes())
    }

    /// Reads a model from a file.
    ///
    /// # Errors
    /// A file that cannot be read, and all errors of [`KernelModel::from_json`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        KernelModel::from_json(&String::from_utf8_lossy(&read_json(path, LARGEST)?), path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::tests::random;
    use crate::kernels::kernel_model::tests::model;

    #[test]
    fn a_file_restores_the_model_to_the_last_bit() {
        let (model, fresh) = (model(), random(30, 3, 6));
        let path = std::env::temp_dir().join(format!("thinfit-kernel-{}.json", std::process::id()));
        model.save(&path).unwrap();
        let read = KernelModel::load(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let (before, after) = (model.predict(fresh.as_ref()), read.predict(fresh.as_ref()));
        assert_eq!(before.unwrap(), after.unwrap());
        assert_eq!(read.to_json(), model.to_json());
        assert!(
            KernelModel::load(&path)
                .unwrap_err()
                .to_string()
                .starts_with("cannot read")
        );
    }

    #[test]
    fn bad_files_are_refused_with_the_reason() {
        let text = model().to_json();
        let read = |text: &str| {
            KernelModel::from_json(text, Path::new("m.json"))
                .unwrap_err()
                .to_string()
        };
        assert!(read(&text[..text.len() / 2]).contains("ends too early"));
        assert!(read("x1,x2").contains("not JSON"));
        assert!(read("{}").contains("JSON without a format"));
        assert!(read(&text.replace("kernel/1", "kernel/2")).contains("update thinfit"));
        assert!(
            read(&text.replace("thinfit-kernel/1", "thinfit/1")).contains("format `thinfit/1`")
        );
        let spoil = |field: &str, value: serde_json::Value| {
            let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
            *json.pointer_mut(field).unwrap() = value;
            read(&json.to_string())
        };
        assert!(spoil("/points/3", serde_json::json!([1.0])).contains("row 3"));
        assert!(spoil("/points", serde_json::json!([[1.0]])).contains("points that do not fit"));
        assert!(spoil("/kernel/lengths/0", 0.0.into()).contains("kernel that does not fit"));
        assert!(spoil("/kernel/shape", serde_json::json!({"additive": 9})).contains("kernel that"));
        assert!(spoil("/mean", serde_json::json!([])).contains("coefficients that do not fit"));
        assert!(spoil("/input_scaler/scale/0", 0.0.into()).contains("input scaling"));
        assert!(spoil("/points/0/0", serde_json::Value::Null).contains("cannot be read"));
    }
}
