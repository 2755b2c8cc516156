//! The format of a file, recognised by its first bytes and then by its extension.

use crate::error::malformed;
use crate::{Remedy, Result};
use memchr::memmem;
use std::path::Path;

/// How to read the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Npy,
    Npz,
    Mat,
    Parquet,
    Xlsx,
}

/// What is in the first bytes of a workbook, behind those of any ZIP archive.
const WORKBOOK: &[u8] = b"[Content_Types].xml";
/// What is in the first bytes of a spreadsheet of other programs.
const OPEN_DOCUMENT: &[u8] = b"mimetypeapplication/vnd.oasis.opendocument";

/// Kinds with their first bytes, extension and name.
const KNOWN: [(Kind, &[u8], &str, &str); 6] = [
    (Kind::Npy, b"\x93NUMPY", "npy", "an NPY file"),
    (Kind::Npz, b"PK", "npz", "an NPZ file"),
    (Kind::Mat, b"MATLAB 5.0", "mat", "a MAT file of version 5"),
    (Kind::Parquet, b"PAR1", "parquet", "a Parquet file"),
    (Kind::Xlsx, WORKBOOK, "xlsx", "an Excel file"),
    (Kind::Xlsx, WORKBOOK, "xlsm", "an Excel file"),
];

/// Files that users may give but that are not tables: first bytes, what they are, what to do.
const FOREIGN: [(&[u8], &str, &str); 8] = [
    (
        b"MATLAB 7.3",
        "a MAT file of version 7.3",
        "save it in MATLAB with `save(…, '-v7')`",
    ),
    (
        b"\x89HDF",
        "an HDF5 file",
        "save it as CSV or NPY, or in MATLAB with `save(…, '-v7')`",
    ),
    (b"\x1f\x8b", "a gzip archive", "unpack it with `gunzip`"),
    (
        b"\xd0\xcf\x11\xe0",
        "an old Excel file (XLS)",
        "save it as XLSX, or the sheet as CSV",
    ),
    (
        b"\x80\x02}",
        "a Python pickle",
        "save it with `numpy.save` or as CSV",
    ),
    (
        b"\x80\x04\x95",
        "a Python pickle",
        "save it with `numpy.save` or as CSV",
    ),
    (b"\xff\xfe", "UTF-16 text", "save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "save it as UTF-8"),
];

/// The kind of a file that begins with `head`.
pub(crate) fn kind(path: &Path, head: &[u8]) -> Result<Kind> {
    const TABLE: &str = "a table";
    if head.is_empty() {
        return Err(malformed(
            path,
            TABLE,
            "an empty file",
            "give a file with rows",
        ));
    }
    // As models begin.
    if head.starts_with(b"{\"format\":") {
        return Err(malformed(path, TABLE, "JSON", Remedy::NotJson));
    }
    if let Some((_, what, advice)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(malformed(path, TABLE, *what, *advice));
    }
    // Text may begin with `PK` or `PAR1` as well, but has no such bytes.
    let binary = head.iter().any(|byte| *byte < b'\t');
    let known = KNOWN.iter().find(|(_, magic, ..)| head.starts_with(magic));
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    if let Some((kind, ..)) = known.filter(|(kind, ..)| binary || *kind == Kind::Mat) {
        let holds = |bytes: &[u8]| memmem::find(head, bytes).is_some();
        return match kind {
            Kind::Npz if extension == "npz" => Ok(Kind::Npz),
            Kind::Npz if holds(OPEN_DOCUMENT) => Err(malformed(
                path,
                TABLE,
                "an OpenDocument file (ODS)",
                "save it as XLSX, or the sheet as CSV",
            )),
            Kind::Npz if extension == "xlsx" || extension == "xlsm" || holds(WORKBOOK) => {
                Ok(Kind::Xlsx)
            }
            kind => Ok(*kind),
        };
    }
    if let Some((_, _, _, name)) = KNOWN.iter().find(|known| extension == known.2) {
        let expected = format!("{name}, as its extension says");
        return Err(malformed(
            path,
            expected,
            "other content",
            "correct the extension or save it again",
        ));
    }
    if head.contains(&0) {
        let advice = "give text in UTF-8, or an NPY, NPZ, MAT, XLSX or Parquet file";
        return Err(malformed(path, TABLE, "binary content", advice));
    }
    Ok(Kind::Text)
}
