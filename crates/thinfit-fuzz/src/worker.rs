//! One batch of inputs in its own process. If it dies, the input that it last wrote to a file is the cause.

use crate::bytes::MOST;
use crate::corpus::{Corpus, Source};
use crate::random::Random;
use crate::target::{Outcome, Target};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use thinfit::file::fnv1a;

/// Maximum processor time for an input, in seconds.
const LONGEST: f64 = 10.0;
/// Maximum memory for an input, in bytes.
const LARGEST: u64 = 1 << 30;
/// Address space limit of the process: more than it may use, so that our own count reports first.
#[cfg(unix)]
const ADDRESSES: u64 = 3 << 30;
/// Maximum number of seeds that a run adds for a target.
const GROWN: usize = 300;

/// Which batch.
#[derive(clap::Args, Clone, Debug)]
pub struct Batch {
    /// The target
    #[arg(long)]
    pub target: String,
    /// The seed of the run
    #[arg(long)]
    pub seed: u64,
    /// Which batch of the target; number 0 is the corpus as it is
    #[arg(long)]
    pub number: u64,
    /// How many inputs
    #[arg(long)]
    pub count: u64,
    /// The first input of the batch to try
    #[arg(long)]
    pub first: u64,
    /// Where the run keeps its files
    #[arg(long)]
    pub folder: PathBuf,
}

/// What became of some inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub inputs: u64,
    pub accepted: u64,
    pub refused: u64,
    /// Bytes of all inputs.
    pub bytes: u64,
    /// Maximum processor time for an input, in seconds.
    pub slowest: f64,
    /// Peak memory allocated by the thread of an input, in bytes.
    pub memory: u64,
    /// Peak memory of the process, in bytes; 0 if unknown.
    pub resident: u64,
}

impl Tally {
    /// Adds those of `other`.
    pub fn add(&mut self, other: &Tally) {
        self.inputs += other.inputs;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.bytes += other.bytes;
        self.slowest = self.slowest.max(other.slowest);
        self.memory = self.memory.max(other.memory);
        self.resident = self.resident.max(other.resident);
    }
}

/// The file with the input that is being tried: its number in the batch, its length, and itself.
pub struct Current;

impl Current {
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("current")
    }

    fn write(file: &mut File, number: u64, input: &[u8]) -> std::io::Result<()> {
        let length = (input.len() as u64).to_le_bytes();
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&[&number.to_le_bytes()[..], &length, input].concat())
    }

    /// The number of the input, and the input.
    pub fn read(folder: &Path) -> Option<(u64, Vec<u8>)> {
        let bytes = std::fs::read(Current::path(folder)).ok()?;
        let (number, rest) = bytes.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        Some((u64::from_le_bytes(*number), rest.get(..length)?.to_vec()))
    }
}

/// Where the last panic of a batch says what it was.
pub fn last_words(folder: &Path) -> PathBuf {
    folder.join("last-words")
}

/// The folder of the seeds that a run adds for a target.
fn grown(folder: &Path, target: Target) -> PathBuf {
    folder.join("grown").join(target.name())
}

/// Where inputs are files for a moment in the process `id`: in memory, if the system has such a folder.
pub fn scratch(folder: &Path, id: u32) -> PathBuf {
    let memory = Path::new("/dev/shm");
    match memory.is_dir() {
        true => memory.join(format!("thinfit-fuzz-{id}")),
        false => folder.join("scratch"),
    }
}

/// Runs a batch and prints its tally.
pub fn work(batch: &Batch) -> Result<(), String> {
    let target = Target::named(&batch.target).ok_or("no such target")?;
    limit_memory();
    let words = last_words(&batch.folder);
    // What a library panics of and we catch is written, too, but only the last one counts.
    std::panic::set_hook(Box::new(move |panic| {
        let _ = std::fs::write(&words, panic.to_string());
    }));
    let tally =
        tally(batch, target).map_err(|error| format!("{}: {error}", batch.folder.display()))?;
    let text = serde_json::to_string(&tally).map_err(|error| error.to_string())?;
    println!("{text}");
    Ok(())
}

fn tally(batch: &Batch, target: Target) -> Result<Tally, String> {
    let said = |error: std::io::Error| error.to_string();
    let (folder, mut corpus) = (&batch.folder, Corpus::of(target)?);
    let (scratch, grown) = (scratch(folder, std::process::id()), grown(folder, target));
    std::fs::create_dir_all(&scratch).map_err(said)?;
    std::fs::create_dir_all(&grown).map_err(said)?;
    let own = corpus.seeds.len();
    if batch.number > 0 {
        corpus.extend(&grown)?;
    }
    let old = corpus.seeds.len() - own;
    let mut current = File::create(Current::path(folder)).map_err(said)?;
    // Streams of targets do not meet.
    let stream = fnv1a(target.name().bytes()) ^ batch.number;
    let mut random = Random::new(batch.seed, stream);
    let (mut tally, mut ends) = (Tally::default(), Ends::read(folder, target));
    let count = match batch.number {
        0 => own as u64,
        _ => batch.count,
    };
    for number in batch.first..count {
        let input = match batch.number {
            0 => corpus.seeds[number as usize].clone(),
            _ => {
                // Mutations of refused inputs are mostly refused as well.
                let known = if random.one_in(4) {
                    corpus.seeds.len()
                } else {
                    own
                };
                let seed = &corpus.seeds[random.below(known)];
                let source = Source {
                    other: &corpus.seeds[random.below(corpus.seeds.len())],
                    words: &corpus.words,
                };
                target.vary(seed, &source, &mut random)
            }
        };
        Current::write(&mut current, number, &input).map_err(said)?;
        let (outcome, cost) = measured(|| target.survive(&input, &scratch));
        cost.check();
        tally.inputs += 1;
        tally.bytes += input.len() as u64;
        tally.accepted += u64::from(outcome.accepted);
        tally.refused += u64::from(!outcome.accepted);
        tally.slowest = tally.slowest.max(cost.seconds);
        tally.memory = tally.memory.max(cost.memory);
        // Large ones would make all that grow from them slow.
        if ends.is_new(&outcome) && batch.number > 0 && input.len() < MOST / 50 {
            corpus.seeds.push(input);
        }
    }
    // At the end, so that a batch that is interrupted begins again with the same seeds.
    for (number, input) in corpus.seeds[own..].iter().enumerate().skip(old) {
        std::fs::write(grown.join(format!("{number:04}")), input).map_err(said)?;
    }
    ends.write(folder, target).map_err(said)?;
    tally.resident = resident();
    Ok(tally)
}

/// The ways in which inputs of a target have ended so far.
#[derive(Default, Serialize, Deserialize)]
struct Ends(BTreeSet<String>);

impl Ends {
    fn path(folder: &Path, target: Target) -> PathBuf {
        folder.join(format!("ends-{}.json", target.name()))
    }

    fn read(folder: &Path, target: Target) -> Self {
        let text = std::fs::read(Ends::path(folder, target)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    fn write(&self, folder: &Path, target: Target) -> std::io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        std::fs::write(Ends::path(folder, target), text)
    }

    /// Whether an input causes a new message, apart from quoted text and numbers.
    fn is_new(&mut self, outcome: &Outcome) -> bool {
        if self.0.len() >= GROWN {
            return false;
        }
        let unquoted = outcome
            .words
            .split(['`', '"', '\''])
            .step_by(2)
            .collect::<String>();
        let letters = |c: char| if c.is_ascii_alphabetic() { c } else { ' ' };
        let plain: String = unquoted.chars().take(300).map(letters).collect();
        let words: Vec<&str> = plain.split_whitespace().collect();
        self.0.insert(words.join(" "))
    }
}

/// What an input took.
pub struct Cost {
    /// Seconds of computing, its own and that of programs it started.
    pub seconds: f64,
    /// Bytes of memory, of its thread.
    pub memory: u64,
}

impl Cost {
    /// Panics if that is more than an input may take.
    pub fn check(&self) {
        let Cost { seconds, memory } = self;
        assert!(*seconds < LONGEST, "took {seconds:.1} s");
        assert!(*memory < LARGEST, "took {} MB", memory / 1_000_000);
    }
}

/// Runs `try_input` and says what it took.
pub fn measured(try_input: impl FnOnce() -> Outcome) -> (Outcome, Cost) {
    let (start, before) = (Instant::now(), computed());
    let mut outcome = None;
    let memory = allocation_counter::measure(|| outcome = Some(try_input()));
    let seconds = match (computed(), before) {
        (Some(after), Some(before)) => after - before,
        _ => start.elapsed().as_secs_f64(),
    };
    let outcome = outcome.expect("it was run");
    (
        outcome,
        Cost {
            seconds,
            memory: memory.bytes_max,
        },
    )
}

/// Seconds of computing of this process and of those it has waited for: a busy machine may suspend it for long.
#[cfg(unix)]
fn computed() -> Option<f64> {
    use nix::sys::resource::{UsageWho, getrusage};
    let seconds = |who| {
        let usage = getrusage(who).ok()?;
        let time = usage.user_time() + usage.system_time();
        Some(time.tv_sec() as f64 + 1e-6 * time.tv_usec() as f64)
    };
    Some(seconds(UsageWho::RUSAGE_SELF)? + seconds(UsageWho::RUSAGE_CHILDREN)?)
}

#[cfg(not(unix))]
fn computed() -> Option<f64> {
    None
}

/// An allocation beyond the limit ends the process, which the run detects.
#[cfg(unix)]
fn limit_memory() {
    use nix::sys::resource::{Resource, setrlimit};
    // Where there is no such limit, the count of allocations has to do.
    let _ = setrlimit(Resource::RLIMIT_AS, ADDRESSES, ADDRESSES);
}

#[cfg(not(unix))]
fn limit_memory() {}

/// Peak memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    number.unwrap_or(0) * 1024
}
