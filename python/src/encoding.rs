//! The encoding of data frames with text, by the rules of the library.

use crate::array::{array, flat, layout};
use crate::compute::{bug, raise};
use numpy::{PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thinfit::{Code, Coded, Column, Levels};

/// A column of a frame: numbers, or text with its levels, the code of each cell (NaN if it is missing) and what is known of
/// the levels (`found`, `categories` or `ordered`). Dates are none.
#[derive(FromPyObject)]
pub enum Cells<'py> {
    #[pyo3(transparent)]
    Numbers(PyReadonlyArray1<'py, f64>),
    #[pyo3(transparent)]
    Text((Vec<String>, PyReadonlyArray1<'py, f64>, String)),
}

/// How the columns of a frame become the inputs of a model.
#[pyclass(frozen, module = "thinfit._native")]
pub struct Encoding(pub thinfit::Encoding);

#[pymethods]
impl Encoding {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let read = serde_json::from_str(text);
        let read = read.map_err(|error| PyValueError::new_err(format!("encoding: {error}")));
        read.map(Encoding)
    }

    /// The encoding of these columns, found from their cells.
    #[staticmethod]
    fn learn(names: Vec<String>, columns: Vec<Option<Cells<'_>>>) -> PyResult<Self> {
        let columns = cells(&columns)?;
        Ok(Encoding(thinfit::Encoding::learn(&names, &columns, false)))
    }

    /// The inputs from the columns that are used, in their order.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        columns: Vec<Option<Cells<'py>>>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, flat(self.0.apply(&cells(&columns)?).map_err(raise)?))
    }

    /// What pickle passes to `new`.
    fn __getnewargs__(&self) -> PyResult<(String,)> {
        let text = serde_json::to_string(&self.0);
        text.map(|text| (text,))
            .map_err(|error| bug(&error.to_string()))
    }

    /// Names of all columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let columns = self.0.columns().iter();
        columns.map(|coded| coded.name.clone()).collect()
    }

    /// Names of the columns that are not left out.
    #[getter]
    fn used(&self) -> Vec<String> {
        self.0.used().map(|coded| coded.name.clone()).collect()
    }

    #[getter]
    fn inputs(&self) -> Vec<String> {
        self.0.inputs()
    }

    /// Names of the columns that are left out since they number the rows.
    #[getter]
    fn row_numbers(&self) -> Vec<String> {
        let columns = self.0.columns().iter();
        let numbering = columns.filter(|coded| coded.code.numbers_rows());
        numbering.map(|coded| coded.name.clone()).collect()
    }

    /// What is left out, and why.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        let columns = self.0.columns().iter();
        let left_out = columns.filter(|coded| matches!(coded.code, Code::LeftOut { .. }));
        left_out.filter_map(Coded::note).collect()
    }
}

/// The columns as the library takes them.
fn cells<'a>(columns: &'a [Option<Cells<'_>>]) -> PyResult<Vec<Column<'a>>> {
    let column = |cells: &'a Option<Cells<'_>>| match cells {
        None => Ok(Column::Dates),
        Some(Cells::Numbers(values)) => Ok(Column::Numbers(values.as_slice().map_err(layout)?)),
        Some(Cells::Text((levels, codes, kind))) => Ok(Column::Text {
            levels,
            codes: codes.as_slice().map_err(layout)?,
            levels_are: match kind.as_str() {
                "categories" => Levels::Categories,
                "ordered" => Levels::Ordered,
                _ => Levels::Found,
            },
        }),
    };
    columns.iter().map(column).collect()
}
