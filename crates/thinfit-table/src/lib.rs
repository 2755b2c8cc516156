//! Tables of numbers and text in files, read whole or in blocks of rows: rows are samples, columns have names.
//!
//! [`Reader`] reads text (comma, semicolon, tab or blanks between fields), NPY, NPZ, MAT (version 5, what MATLAB saves
//! with `-v7`), sheets of Excel workbooks (XLSX, feature `excel`) and, with the feature `parquet`, Parquet; in WebAssembly
//! neither NPZ nor XLSX. The format is recognised by the content, then by the
//! extension. [`Writer`] writes CSV. Numbers are preserved to the last bit.
//!
//! - **Text**: UTF-8 or Windows-1252, with or without a header, fields quoted or not. Lines that start with `#` are comments
//!   above the header or the first row, and rows below. Blank lines are skipped, except in a table of one column, where they
//!   are missing values. The first line is a header unless all its fields are numbers or missing. Without a header the columns
//!   are `c1`, `c2`, … A title above the header and a row of units below it are recognised and are not rows.
//! - **NPY**: one or two dimensions, real numbers (except half precision) or bool, either memory order, either byte order.
//!   The columns are `c1`, `c2`, …
//! - **NPZ and MAT**: all arrays of one or two dimensions, side by side, if they have the same number of rows; otherwise
//!   name the arrays in [`Options::array`]. The columns of `X` are `X1`, `X2`, …; an array of one column keeps its name.
//! - **XLSX**: the first sheet that is not hidden, or that of [`Options::sheet`]. Blank rows and columns around the table are
//!   skipped; blank rows inside it are treated like blank lines of a text. Formulas have their saved values; one without
//!   is an error. Dates are text, an error value such as `#DIV/0!` is an error, and `#N/A` is missing.
//! - **Parquet**: columns of numbers and bool, and text where admitted; null is missing. Arrow's durations are seconds.
//!
//! Checksums are verified if a format has them (NPZ, compressed MAT, pages of Parquet), and a shape that contradicts the
//! number of bytes is an error. Hidden characters in names, such as terminal controls, are removed; a line end in a name
//! becomes a blank.
//!
//! Numbers may have a Fortran exponent (`1D-3`), a typographic minus sign, apostrophes between thousands (`1'234`) or a currency
//! sign before them (`$1.2`). [`Reader::notes`] lists everything that was skipped or interpreted.
//!
//! A missing value is an empty field, `NA`, `N/A`, `#N/A`, `nan`, `null`, `none` or `?` in upper or lower case, a null, or
//! NaN in an array. `true` and `false` are 1 and 0. Any other text is an error, unless [`Reader::admit_text`] allows text
//! in the column: its cells are then codes, the indices of its distinct texts ([`Cells`]).
//!
//! ```
//! use std::path::Path;
//! use thinfit_table::{Options, Reader};
//!
//! let text = "name;x;y\nfirst;1;2.5\nsecond;3;4e-3\n";
//! let mut reader = Reader::from_bytes(Path::new("points.csv"), text.into(), &Options::default())?;
//! let y = reader.column("y")?;
//! reader.select(&[y, 1]);
//! let table = reader.read()?;
//! assert_eq!(table.names, ["y", "x"]);
//! assert_eq!(table.x[(1, 0)], 0.004);
//! # Ok::<(), thinfit_table::Error>(())
//! ```

mod array;
mod dialect;
#[cfg(feature = "parquet")]
mod durations;
mod error;
mod file_format;
mod files;
#[cfg(feature = "parquet")]
mod footer;
mod latin;
mod layout;
mod mat;
mod names;
mod note;
mod npy;
#[cfg(not(target_arch = "wasm32"))]
mod npz;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod reader;
mod records;
#[cfg(all(feature = "excel", not(target_arch = "wasm32")))]
mod sheet;
mod stray_quote;
mod table;
mod table_errors;
mod text;
mod text_cells;
mod units;
#[cfg(all(feature = "excel", not(target_arch = "wasm32")))]
mod workbook;
mod writer;

pub use dialect::Delimiter;
pub use error::{Amount, Error, Place, Position, Problem, Remedy, Result, amount};
pub use files::TableFiles;
pub use note::{Done, Note, Why};
pub use reader::{Missing, Options, Reader};
pub use table::{Cells, RawTable, Table};
pub use thinfit_text::Notation;
pub use writer::{Cell, Writer};
