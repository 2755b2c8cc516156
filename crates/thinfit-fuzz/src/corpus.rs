//! Seeds and dictionaries, which are files of this repository, and the inputs that a run keeps.

use crate::random::Random;
use crate::target::Target;
use std::path::{Path, PathBuf};

/// Where the seeds are.
const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

/// What a change may take pieces from.
pub struct Source<'a> {
    /// Another seed.
    pub other: &'a [u8],
    /// The dictionary of the target; some words.
    pub words: &'a [Vec<u8>],
}

impl Source<'_> {
    /// A word of the dictionary.
    pub fn word(&self, random: &mut Random) -> &[u8] {
        &self.words[random.below(self.words.len())]
    }

    /// A word of the dictionary as text.
    pub fn text(&self, random: &mut Random) -> String {
        String::from_utf8_lossy(self.word(random)).into_owned()
    }
}

/// Seeds and words of a target.
pub struct Corpus {
    pub seeds: Vec<Vec<u8>>,
    pub words: Vec<Vec<u8>>,
}

impl Corpus {
    /// Those of the repository, in the order of their names.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn of(target: Target) -> Result<Self, String> {
        let folder = Path::new(CORPUS).join(target.seeds());
        let file = Path::new(CORPUS).join(format!("{}.dictionary", target.words()));
        let words = read(&file)?;
        let lines = words.split(|byte| *byte == b'\n');
        Ok(Corpus {
            seeds: read_all(&folder)?,
            words: lines
                .filter(|line| !line.is_empty())
                .map(unescaped)
                .collect(),
        })
    }

    /// Adds the files of a folder, if there is one.
    ///
    /// # Errors
    /// Files that cannot be read.
    pub fn extend(&mut self, folder: &Path) -> Result<(), String> {
        if folder.exists() {
            self.seeds.extend(read_all(folder)?);
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn read_all(folder: &Path) -> Result<Vec<Vec<u8>>, String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(wrong)?;
    let paths = entries.map(|entry| Ok(entry.map_err(wrong)?.path()));
    let mut paths = paths.collect::<Result<Vec<PathBuf>, String>>()?;
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

/// A line of a dictionary, in which `\xNN` is a byte.
fn unescaped(line: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), line);
    while let Some((first, after)) = rest.split_first() {
        let hex = after.strip_prefix(b"x").and_then(|digits| digits.get(..2));
        let hex = hex.and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'\\' => {
                bytes.push(byte);
                rest = &after[3..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_words_and_the_corpus_is_small() {
        let mut size = 0;
        for target in Target::ALL {
            let corpus = Corpus::of(*target).unwrap();
            assert!(corpus.seeds.len() > 2 && corpus.words.len() > 5);
            if target.name() == target.seeds() {
                size += corpus.seeds.iter().map(Vec::len).sum::<usize>();
            }
        }
        assert!(size < 200_000, "{size} bytes");
        assert_eq!(unescaped(br"a\x00\xffb\n\x"), b"a\0\xffb\\n\\x");
    }
}
