//! NPZ: a ZIP archive of NPY files, one per array, each with a checksum.

use crate::array::{Array, Arrays, Listed, choose, left_out};
use crate::error::{malformed, show};
use crate::npy::Header;
use crate::reader::Seekable;
use crate::{Error, Remedy, Result};
use std::io::Read;
use std::path::Path;
use zip::ZipArchive;

/// Opens an NPZ file and lists the arrays that make up the table; they are unpacked when they are read.
pub(crate) fn open(path: &Path, input: Box<dyn Seekable>, wanted: Option<&str>) -> Result<Arrays> {
    let damaged = |why: String| flawed(path, why);
    let mut archive = ZipArchive::new(input).map_err(|error| damaged(error.to_string()))?;
    // Many names for one block would unpack it as many times.
    match archive.has_overlapping_files() {
        Ok(false) => {}
        Ok(true) => return Err(damaged("arrays that overlap".into())),
        Err(error) => return Err(damaged(error.to_string())),
    }
    let (mut listed, mut places, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for place in 0..archive.len() {
        let entry = archive.by_index(place);
        let mut entry = entry.map_err(|error| damaged(error.to_string()))?;
        let name = entry.name().map_err(|error| damaged(error.to_string()))?;
        let Some(name) = name.strip_suffix(".npy").map(str::to_owned) else {
            others.push(show(name.as_bytes()));
            continue;
        };
        let header = Header::read(&mut entry).map_err(damaged)?;
        listed.push(Listed {
            name,
            shape: header.shape,
            layout: header.layout,
        });
        places.push(place);
    }
    if listed.is_empty() {
        return Err(damaged("a ZIP archive without arrays".into()));
    }
    let chosen = choose(path, &listed, wanted)?;
    // Unless arrays were selected, damage must not hide one.
    if wanted.is_none() {
        if let Some(other) = others.first() {
            return Err(malformed(
                path,
                "only arrays",
                format!("`{other}`"),
                Remedy::Array,
            ));
        }
        for at in left_out(&listed, &chosen) {
            let entry = archive.by_index(places[at]);
            let mut entry = entry.map_err(|error| damaged(error.to_string()))?;
            let read = std::io::copy(&mut entry, &mut std::io::sink());
            read.map_err(|error| damaged(error.to_string()))?;
        }
    }
    let member = |at: &usize| {
        let Listed { name, layout, .. } = &listed[*at];
        let layout = layout.clone().map_err(damaged)?;
        let size = layout.size().unwrap_or(u64::MAX);
        let array = Array::new(Some(name.clone()), layout);
        Ok((array, (places[*at], size)))
    };
    let members = chosen.iter().map(member).collect::<Result<Vec<_>>>()?;
    let (arrays, places): (Vec<_>, Vec<_>) = members.into_iter().unzip();
    let file = path.to_owned();
    let unpack = move |at: usize| {
        let (place, size) = places[at];
        unpack(&mut archive, place, size).map_err(|why| flawed(&file, why))
    };
    Arrays::new(path, arrays, Some(Box::new(unpack)))
}

/// The bytes of the numbers of an entry, which should be `size`.
fn unpack(
    archive: &mut ZipArchive<Box<dyn Seekable>>,
    place: usize,
    size: u64,
) -> std::result::Result<Vec<u8>, String> {
    let mut entry = archive.by_index(place).map_err(|error| error.to_string())?;
    Header::read(&mut entry)?;
    let mut bytes = Vec::new();
    // Hardly more than the header says, whatever the archive unpacks to. The checksum is compared at the end of the
    // entry, which only a read beyond its last byte reaches.
    let read = entry.take(size.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// The error of a file with a flaw.
fn flawed(path: &Path, why: String) -> Error {
    let advice = "copy it again, or save it again with `numpy.savez`; save a spreadsheet as CSV";
    malformed(path, "an NPZ file", why, advice)
}
