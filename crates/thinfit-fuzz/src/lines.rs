//! Mutations of the lines and fields of a text table.

use crate::corpus::Source;
use crate::random::Random;

/// Changes a line or a field.
pub fn change(bytes: &mut Vec<u8>, source: &Source<'_>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(Vec::from).collect();
    let at = random.below(lines.len());
    let line = lines[at].clone();
    match random.below(8) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, line),
        2 => {
            let to = random.below(lines.len());
            lines.swap(at, to);
        }
        3 => lines.insert(at, source.word(random).to_vec()),
        _ => {
            let separator = *random.of(b",;\t ");
            let mut fields: Vec<&[u8]> = line.split(|byte| *byte == separator).collect();
            let field = random.below(fields.len());
            let new = match random.below(3) {
                0 => random.number().into_bytes(),
                _ => source.word(random).to_vec(),
            };
            match random.below(4) {
                0 => drop(fields.remove(field)),
                1 => fields.insert(field, &new),
                _ => fields[field] = &new,
            }
            lines[at] = fields.join(&separator);
        }
    }
    *bytes = lines.join(&b'\n');
}
