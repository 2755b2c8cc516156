//! Conversion between NumPy arrays and matrices.

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use thinfit::{Mat, MatRef};

/// The array as a matrix, without a copy.
pub fn view<'a>(x: &'a PyReadonlyArray2<'_, f64>) -> PyResult<MatRef<'a, f64>> {
    let (rows, columns) = x.as_array().dim();
    let values = x.as_slice().map_err(layout)?;
    Ok(if x.is_c_contiguous() {
        MatRef::from_row_major_slice(values, rows, columns)
    } else {
        MatRef::from_column_major_slice(values, rows, columns)
    })
}

/// The entries of a matrix column by column, without padding, and its shape.
pub fn flat(a: Mat<f64>) -> (Vec<f64>, [usize; 2]) {
    let mut values = Vec::with_capacity(a.nrows() * a.ncols());
    (0..a.ncols()).for_each(|j| values.extend_from_slice(a.col_as_slice(j)));
    (values, [a.nrows(), a.ncols()])
}

/// A numpy array that takes over the numbers without a copy.
pub fn array(
    py: Python<'_>,
    (values, shape): (Vec<f64>, [usize; 2]),
) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let order = numpy::npyffi::NPY_ORDER::NPY_FORTRANORDER;
    PyArray1::from_vec(py, values).reshape_with_order(shape, order)
}

/// The exception for an array that is not contiguous.
pub fn layout(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("expected a contiguous array of float64: {error}"))
}
