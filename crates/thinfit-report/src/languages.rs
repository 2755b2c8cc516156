//! The exported code in every language, with its numbers stored only once: where a text repeats a list of numbers of
//! the script, it refers to it.

use serde::Serialize;
use std::collections::HashMap;
use thinfit_export::{CSource, JavaScript, c, latex, python};
use thinfit_methods::Predictor;

/// Significant digits of the formula, which is for reading.
const DIGITS: usize = 5;
/// Lists of numbers that are shorter than this many characters are repeated.
const SHORTEST: usize = 24;

/// A file in some language.
#[derive(Serialize)]
pub(crate) struct Language {
    pub name: &'static str,
    pub file: String,
    pub parts: Vec<Piece>,
}

/// A piece of a file.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Piece {
    Text(String),
    /// A part of the script, by its place and length in UTF-16.
    Part(usize, usize),
}

/// The languages other than JavaScript, which the page contains.
pub(crate) fn languages(model: &Predictor, script: &JavaScript) -> Vec<Language> {
    let known = places(&script.script);
    let CSource {
        header,
        source,
        name,
    } = c(model, &script.name);
    [
        ("Formula", "tex", latex(model, DIGITS)),
        ("Python", "py", python(model, &script.name)),
        ("C", "c", source),
        ("C header", "h", header),
    ]
    .map(|(language, extension, text)| Language {
        name: language,
        file: format!("{name}.{extension}"),
        parts: pieces(&text, &known),
    })
    .into()
}

/// The place in UTF-16 of each list of numbers in the script.
fn places(script: &str) -> HashMap<&str, usize> {
    let (mut units, mut bytes) = (0, 0);
    let mut known = HashMap::new();
    for (at, list) in lists(script) {
        units += script[bytes..at].encode_utf16().count();
        bytes = at;
        known.insert(list, units);
    }
    known
}

/// The text in pieces, with the known lists by their places.
fn pieces(text: &str, known: &HashMap<&str, usize>) -> Vec<Piece> {
    let (mut pieces, mut done) = (Vec::new(), 0);
    for (at, list) in lists(text) {
        if let Some(&place) = known.get(list) {
            pieces.push(Piece::Text(text[done..at].into()));
            pieces.push(Piece::Part(place, list.len()));
            done = at + list.len();
        }
    }
    pieces.push(Piece::Text(text[done..].into()));
    pieces
}

/// The lists of numbers in a text, with their places in bytes; each begins and ends with a digit or a sign.
fn lists(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let in_list = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | ',' | ' ');
    text.split(move |c| !in_list(c)).filter_map(move |run| {
        let list = run.trim_matches([' ', ',', 'e', '.']);
        let at = list.as_ptr() as usize - text.as_ptr() as usize;
        (list.len() >= SHORTEST).then_some((at, list))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text_again() {
        let script = "// größe 🔬\nconst a = [[0.123456789, -1.5e-7, 12345678.25], [1.0]];";
        let text = "    {0.123456789, -1.5e-7, 12345678.25},\n    {1.0}, {9.123456789, -1.5e-7, 12345678.25}";
        let units: Vec<u16> = script.encode_utf16().collect();
        let pieces = pieces(text, &places(script));
        assert_eq!(pieces.len(), 3);
        let made: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Part(at, length) => String::from_utf16(&units[*at..][..*length]).unwrap(),
            })
            .collect();
        assert_eq!(made, text);
    }
}
