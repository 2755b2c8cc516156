//! The state of an unfinished fit to a long table, and its file, from which any number of ranks can continue.
//!
//! The file is a line of JSON, then the survey and the condensed rows as 64-bit words, lowest byte first, and a
//! checksum.

use crate::auto::Auto;
use crate::out_of_core::Learned;
use serde::{Deserialize, Serialize};
use std::path::Path;
use thinfit::file::{begins_like, fnv1a, read_whole, write_whole};
use thinfit::pieces::Executor;
use thinfit::{Error, LEAF, Mergeable, Result, Survey};

/// Name and version of the format.
const FORMAT: &str = "thinfit-long/3";

/// How far a fit to a long table has come.
#[derive(Clone, Debug)]
pub struct LongState {
    pub(crate) head: Head,
    /// What the first pass has found.
    pub(crate) survey: Survey,
    /// The rows that the second pass has condensed, packed.
    pub(crate) rows: Vec<u64>,
}

/// The first line of the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    format: String,
    pub settings: Auto,
    pub seed: u64,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// What table it is, in the words of whoever reads it.
    table: String,
    /// Whether the first pass is done.
    pub surveyed: bool,
    /// How many rows, the first of the table, the pass under way has seen.
    pub seen: u64,
    pub learned: Option<Learned>,
    /// Words of the survey and of the condensed rows.
    words: [u64; 2],
}

impl LongState {
    /// A fit that has not begun, of a table with these names of inputs and outputs; `table` tells it from others.
    pub fn new(
        settings: Auto,
        seed: u64,
        (inputs, outputs): (&[String], &[String]),
        table: String,
    ) -> Self {
        let shape = (inputs.len(), outputs.len());
        let rows = Auto::sample_rows(shape.0, shape.1);
        LongState {
            head: Head {
                format: FORMAT.into(),
                settings,
                seed,
                inputs: inputs.to_vec(),
                outputs: outputs.to_vec(),
                table,
                surveyed: false,
                seen: 0,
                learned: None,
                words: [0; 2],
            },
            survey: Survey::new(shape, rows, seed),
            rows: vec![],
        }
    }

    /// Whether the first pass is done.
    pub fn is_surveyed(&self) -> bool {
        self.head.surveyed
    }

    /// Whether no pass is under way.
    pub fn is_between_passes(&self) -> bool {
        self.head.seen == 0
    }

    /// Whether both are states of one fit: the same table, settings and seed.
    pub fn is_of(&self, other: &LongState) -> bool {
        let kind = |state: &LongState| (state.head.settings.clone(), state.head.seed);
        kind(self) == kind(other) && self.is_of_table(other)
    }

    /// Whether both are states of fits to one table.
    pub fn is_of_table(&self, other: &LongState) -> bool {
        let (own, other) = (&self.head, &other.head);
        own.inputs == other.inputs && own.outputs == other.outputs && own.table == other.table
    }

    /// Refuses a state that is not one of a table with these names of inputs and outputs, or not that of the other processes.
    pub(crate) fn check(
        &self,
        names: (&[String], &[String]),
        executor: &dyn Executor,
    ) -> Result<()> {
        let wrong = |expected: &str, found: &str| Error::Shape {
            what: "the state of a fit",
            expected: expected.into(),
            found: found.into(),
        };
        let head = &self.head;
        if (head.inputs.as_slice(), head.outputs.as_slice()) != names {
            return Err(wrong("one of this table", "other names of columns"));
        }
        let learned = head.learned.as_ref();
        let draft = learned.and_then(Learned::draft);
        let shape = (names.0.len(), names.1.len());
        let begun = head.seen > 0 || !self.rows.is_empty();
        let sound = head.seen.is_multiple_of(LEAF)
            && head.seen < u64::MAX / 2
            && draft.is_none_or(|draft| draft.is_sound(shape))
            && (head.surveyed || learned.is_none() && self.rows.is_empty())
            && !(head.surveyed && begun && draft.is_none());
        if !sound {
            return Err(wrong(
                "one that a fit has saved",
                "pieces that do not fit each other",
            ));
        }
        // Files of the same name may differ from machine to machine.
        let text = serde_json::to_string(head).expect("a state holds only texts and numbers");
        let all = executor.all(&(text, self.survey.rows(), self.rows.len()))?;
        match all.iter().all(|other| *other == all[0]) {
            true => Ok(()),
            false => Err(wrong("the same for all processes", "states that differ")),
        }
    }

    /// Writes the state to a file, under a temporary name first.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let survey = self.survey.pack();
        let head = Head {
            words: [survey.len() as u64, self.rows.len() as u64],
            ..self.head.clone()
        };
        let mut bytes = serde_json::to_vec(&head).expect("a state holds only texts and numbers");
        bytes.push(b'\n');
        let words = survey.iter().chain(&self.rows);
        bytes.extend(words.flat_map(|word| word.to_le_bytes()));
        bytes.extend(fnv1a(bytes.iter().copied()).to_le_bytes());
        write_whole(path, &bytes)
    }

    /// Whether a file begins like one that [`LongState::save`] has written, in any version.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_in(path: &Path) -> Result<bool> {
        begins_like(path, FORMAT)
    }

    /// Reads a state from a file.
    ///
    /// # Errors
    /// A file that cannot be read or is not a state of this version.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = read_whole(path)?;
        let wrong = |found: String| Error::Format {
            path: path.into(),
            expected: format!("a state of format `{FORMAT}`"),
            found,
            advice: "give the file that a fit of this version saved its state to, or start the fit afresh",
        };
        let line = bytes.iter().position(|byte| *byte == b'\n');
        let line = line.ok_or_else(|| wrong("no first line".into()))?;
        let head: Head =
            serde_json::from_slice(&bytes[..line]).map_err(|error| wrong(error.to_string()))?;
        if head.format != FORMAT {
            return Err(wrong("another format".into()));
        }
        let whole = bytes.split_last_chunk().filter(|(content, sum)| {
            content.len() > line && fnv1a(content.iter().copied()).to_le_bytes() == **sum
        });
        let (content, _) =
            whole.ok_or_else(|| wrong("a file that was cut off or damaged".into()))?;
        let (words, rest) = content[line + 1..].as_chunks();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let [survey, rows] = head.words;
        if survey.checked_add(rows) != Some(words.len() as u64) || !rest.is_empty() {
            return Err(wrong("other lengths than it says".into()));
        }
        let (survey, rows) = words.split_at(survey as usize);
        let names = (head.inputs.as_slice(), head.outputs.as_slice());
        let new = LongState::new(head.settings.clone(), head.seed, names, String::new());
        let mut all = new.survey;
        all.merge(survey)
            .map_err(|error| wrong(error.to_string()))?;
        Ok(LongState {
            survey: all,
            rows: rows.to_vec(),
            head,
        })
    }
}
