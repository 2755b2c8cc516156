//! Files in memory, assembled for the tests.

#![allow(dead_code)] // Each test uses some of them.

use std::io::{Cursor, Write};

/// An NPY file with this header.
pub fn npy(descr: &str, fortran: bool, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header =
        format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}      \n");
    let mut bytes = b"\x93NUMPY\x01\0".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(numbers);
    bytes
}

/// An NPZ file of these arrays.
pub fn npz(arrays: &[(&str, Vec<u8>)], deflated: bool) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let method = if deflated {
        zip::CompressionMethod::Deflated
    } else {
        zip::CompressionMethod::Stored
    };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in arrays {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A variable of a MAT file: name, class, type of the numbers, shape, numbers in little endian.
pub type Variable<'a> = (&'a str, u32, u32, [u32; 2], Vec<u8>);

/// A MAT file of these variables.
pub fn mat(variables: &[Variable<'_>], big: bool, compressed: bool) -> Vec<u8> {
    let word = |value: u32| {
        if big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        }
    };
    let element = |kind: u32, content: &[u8]| {
        let mut bytes = Vec::new();
        if !content.is_empty() && content.len() <= 4 {
            bytes.extend(word(((content.len() as u32) << 16) | kind));
            bytes.extend(content);
        } else {
            bytes.extend(word(kind));
            bytes.extend(word(content.len() as u32));
            bytes.extend(content);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    };
    let mut bytes = b"MATLAB 5.0 MAT-file, by hand".to_vec();
    bytes.resize(124, b' ');
    bytes.extend(if big { b"\x01\0MI" } else { b"\0\x01IM" });
    for (name, class, kind, shape, numbers) in variables {
        let size = match kind {
            9 => 8,
            4 => 2,
            _ => 1,
        };
        let mut numbers = numbers.clone();
        if big {
            numbers.chunks_exact_mut(size).for_each(<[u8]>::reverse);
        }
        let matrix = [
            element(6, &[word(*class), word(0)].concat()),
            element(5, &[word(shape[0]), word(shape[1])].concat()),
            element(1, name.as_bytes()),
            element(*kind, &numbers),
        ]
        .concat();
        let matrix = element(14, &matrix);
        if compressed {
            let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            zlib.write_all(&matrix).unwrap();
            let content = zlib.finish().unwrap();
            bytes.extend(word(15));
            bytes.extend(word(content.len() as u32));
            bytes.extend(content);
        } else {
            bytes.extend(matrix);
        }
    }
    bytes
}

/// A Parquet file of two groups of three rows; `b` is null in the second row of each.
#[cfg(feature = "parquet")]
pub fn parquet(compressed: bool) -> Vec<u8> {
    use parquet::basic::Compression;
    use parquet::data_type::{
        BoolType, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
    };
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use std::sync::Arc;
    let schema = "message table {
        REQUIRED DOUBLE a;
        OPTIONAL INT32 b;
        REQUIRED BYTE_ARRAY name (UTF8);
        REQUIRED INT64 u (UINT_64);
        REQUIRED INT32 i (INT_8);
        REQUIRED FLOAT f;
        REQUIRED BOOLEAN flag;
        REQUIRED INT32 price (DECIMAL(9, 2));
        REQUIRED INT64 day (TIMESTAMP_MILLIS);
    }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let compression = if compressed {
        Compression::SNAPPY
    } else {
        Compression::UNCOMPRESSED
    };
    let properties = WriterProperties::builder().set_compression(compression);
    let properties = Arc::new(properties.build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    for _ in 0..2 {
        let mut group = file.next_row_group().unwrap();
        macro_rules! column {
            ($type:ty, $values:expr, $levels:expr) => {
                let mut column = group.next_column().unwrap().unwrap();
                let typed = column.typed::<$type>();
                typed.write_batch(&$values, $levels, None).unwrap();
                column.close().unwrap();
            };
        }
        column!(DoubleType, [0.1, 1e300, -2.0], None);
        column!(Int32Type, [-7, 9], Some(&[1, 0, 1]));
        column!(
            ByteArrayType,
            ["one".into(), "two".into(), "three".into()],
            None
        );
        column!(Int64Type, [1, -1, 3], None);
        column!(Int32Type, [-1, 0, 1], None);
        column!(FloatType, [0.5, 1.5, 2.5], None);
        column!(BoolType, [true, false, true], None);
        column!(Int32Type, [150, -25, 1], None);
        column!(Int64Type, [1, 2, 3], None);
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}
