//! NPZ files taken apart: named arrays, repacked with correct checksums and then perhaps with a wrong field.

use crate::corpus::Source;
use crate::random::Random;
use crate::{bytes, npy};
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Maximum number of bytes that an array is unpacked to here.
const MOST: u64 = 1 << 20;

/// Names and contents of an archive that can be read.
fn parts(file: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(file)).ok()?;
    let mut parts = Vec::new();
    for place in 0..archive.len().min(20) {
        let entry = archive.by_index(place).ok()?;
        let (name, mut content) = (entry.name().ok()?.to_string(), Vec::new());
        entry.take(MOST).read_to_end(&mut content).ok()?;
        parts.push((name, content));
    }
    Some(parts)
}

fn join(parts: &[(String, Vec<u8>)], random: &mut Random) -> Option<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        let method = match random.one_in(2) {
            true => CompressionMethod::Deflated,
            false => CompressionMethod::Stored,
        };
        let options = SimpleFileOptions::default().compression_method(method);
        archive.start_file(name.as_str(), options).ok()?;
        archive.write_all(content).ok()?;
    }
    Some(archive.finish().ok()?.into_inner())
}

/// Changes an array, its name or the number of arrays; the bytes of the file if it is no archive.
pub fn change(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    change_by(npy::change, file, source, random);
}

/// The same for an archive of other parts than arrays.
pub fn change_parts(file: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    change_by(bytes::change, file, source, random);
}

fn change_by(
    change_part: impl Fn(&mut Vec<u8>, &Source<'_>, &mut Random),
    file: &mut Vec<u8>,
    source: &Source<'_>,
    random: &mut Random,
) {
    let parts = parts(file).filter(|parts| !parts.is_empty());
    let Some(mut parts) = parts else {
        return bytes::change(file, source, random);
    };
    let at = random.below(parts.len());
    match random.below(8) {
        0 => parts[at].0 = source.text(random),
        1 => parts[at].0 += &source.text(random),
        2 => drop(parts.remove(at)),
        3 => {
            let name = format!(
                "{}{}.npy",
                parts[at].0.trim_end_matches(".npy"),
                random.below(9)
            );
            let content = parts[at].1.clone();
            parts.push((name, content));
        }
        _ => (0..random.few()).for_each(|_| change_part(&mut parts[at].1, source, random)),
    }
    if let Some(joined) = join(&parts, random) {
        *file = joined;
    }
    if random.one_in(3) {
        field(file, random);
    }
}

/// Puts an extreme number into one of the records that describe the entries.
fn field(file: &mut [u8], random: &mut Random) {
    let records: Vec<usize> = (0..file.len().saturating_sub(46))
        .filter(|at| matches!(&file[*at..*at + 4], b"PK\x01\x02" | b"PK\x03\x04"))
        .chain(file.len().checked_sub(22))
        .collect();
    if let Some(start) = (!records.is_empty()).then(|| *random.of(&records)) {
        let end = (start + 46).min(file.len());
        bytes::integer(&mut file[start + 4..end], random);
    }
}
