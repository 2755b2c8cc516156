//! The targets: the number of inputs, the seeds, the mutations and the checks of each reader.

use crate::corpus::Source;
use crate::random::Random;
use crate::targets::{configuration, export, model, state, table};
use crate::{bytes, lines, mat, npy, npz, parquet, tree};
use std::path::Path;

/// A reader, or a model's way through a reader and an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Text,
    Npy,
    Npz,
    Xlsx,
    Mat,
    Parquet,
    Model,
    State,
    Configuration,
    Export,
}

/// How an input ended.
#[derive(Debug)]
pub struct Outcome {
    pub accepted: bool,
    /// The error, or what was read in a few words.
    pub words: String,
}

impl Outcome {
    pub fn accepted(words: impl Into<String>) -> Self {
        Outcome {
            accepted: true,
            words: words.into(),
        }
    }

    pub fn refused(error: impl ToString) -> Self {
        Outcome {
            accepted: false,
            words: error.to_string(),
        }
    }
}

impl Target {
    const EVERY: &[Target] = &[
        Target::Text,
        Target::Npy,
        Target::Npz,
        Target::Xlsx,
        Target::Mat,
        Target::Model,
        Target::State,
        Target::Configuration,
        Target::Export,
        Target::Parquet,
    ];
    /// All there are in this build: the last is an option.
    pub const ALL: &[Target] = {
        let left_out = if cfg!(feature = "parquet") { 0 } else { 1 };
        Target::EVERY.split_at(Target::EVERY.len() - left_out).0
    };

    pub fn named(name: &str) -> Option<Self> {
        Target::ALL
            .iter()
            .copied()
            .find(|target| target.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Target::Text => "text",
            Target::Npy => "npy",
            Target::Npz => "npz",
            Target::Xlsx => "xlsx",
            Target::Mat => "mat",
            Target::Parquet => "parquet",
            Target::Model => "model",
            Target::State => "state",
            Target::Configuration => "configuration",
            Target::Export => "export",
        }
    }

    /// Number of inputs out of 10,000; those of a state continue a fit, and those of an export start a compiler.
    pub fn share(self) -> u64 {
        match self {
            Target::Text => 1800,
            Target::Xlsx => 500,
            Target::Npy | Target::Npz | Target::Mat => 1500,
            Target::Model => 1600,
            Target::Parquet => 800,
            Target::Configuration => 700,
            Target::State => 98,
            Target::Export => 2,
        }
    }

    /// Inputs in a batch: a few seconds.
    pub fn batch(self) -> u64 {
        match self {
            Target::State => 1000,
            Target::Export => 20,
            _ => 20_000,
        }
    }

    /// The folder of its seeds.
    pub fn seeds(self) -> &'static str {
        match self {
            Target::Export => Target::Model.name(),
            target => target.name(),
        }
    }

    /// The name of its dictionary.
    pub fn words(self) -> &'static str {
        match self {
            Target::Npz => Target::Npy.name(),
            Target::State | Target::Export => Target::Model.name(),
            target => target.name(),
        }
    }

    /// A changed seed.
    pub fn vary(self, seed: &[u8], source: &Source<'_>, random: &mut Random) -> Vec<u8> {
        let mut file = seed.to_vec();
        let change = match self {
            Target::Text => lines::change,
            Target::Npy => npy::change,
            Target::Npz => npz::change,
            Target::Xlsx => npz::change_parts,
            Target::Mat => mat::change,
            Target::Parquet => parquet::change,
            Target::Model | Target::State | Target::Export => tree::change_json,
            Target::Configuration => tree::change_toml,
        };
        match random.below(5) {
            0 | 1 => (0..random.few()).for_each(|_| bytes::change(&mut file, source, random)),
            2 | 3 => (0..random.few()).for_each(|_| change(&mut file, source, random)),
            _ => {
                change(&mut file, source, random);
                bytes::change(&mut file, source, random);
            }
        }
        file.truncate(bytes::MOST);
        file
    }

    /// Reads the input and uses what was read. Panics where a promise is broken.
    pub fn survive(self, input: &[u8], scratch: &Path) -> Outcome {
        match self {
            Target::Text => table::survive("a.csv", input),
            Target::Npy => table::survive("a.npy", input),
            Target::Npz => table::survive("a.npz", input),
            Target::Xlsx => table::survive("a.xlsx", input),
            Target::Mat => table::survive("a.mat", input),
            Target::Parquet => table::survive("a.parquet", input),
            Target::Model => model::survive(input),
            Target::State => state::survive(input, scratch),
            Target::Configuration => configuration::survive(input, scratch),
            Target::Export => export::survive(input, scratch),
        }
    }
}
