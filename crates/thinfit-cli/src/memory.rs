//! Memory limit of a call: `--memory`, or a share of the free memory. Callers estimate what they need and ask here
//! before they allocate it.

use std::path::Path;
use std::str::FromStr;

use thinfit::State;
use thinfit_methods::LongState;
use thinfit_table::amount;

use crate::failure::Failure;

/// The share of the free memory that a call may take.
const SHARE: f64 = 0.8;
/// The limit if the free memory is unknown.
const PLAIN: u64 = 4_000_000_000;
/// Maximum number of copies of a table in memory: as in the file, without gaps, and as inputs.
pub const COPIES: u64 = 3;
/// Bytes of a page, where they are counted.
const PAGE: u64 = 4096;
/// Maximum memory of a model, in multiples of its file size.
const PARSED: u64 = 4;

/// A limit in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(u64);

impl Memory {
    /// The limit unless the user sets one.
    pub fn of_machine() -> Self {
        Memory(free().map_or(PLAIN, |free| (SHARE * free as f64) as u64))
    }

    /// Refuses work that needs more; `what` is its subject and verb.
    pub fn allow(self, what: &str, needed: u64, advice: &str) -> Result<(), Failure> {
        if needed <= self.0 {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{what} about {} of memory, above the limit of {}; {advice}, or pass --memory {} if the machine has that much",
            amount(needed),
            amount(self.0),
            rounded(needed)
        )))
    }

    /// Maximum number of bytes that the numbers of a table may take.
    pub fn of_table(self) -> u64 {
        self.0 / COPIES
    }

    /// Maximum size of a model file or stream in bytes; refuses larger files.
    pub fn of_model(self, path: &Path) -> Result<u64, Failure> {
        if let Ok(file) = std::fs::metadata(path) {
            self.allow_file(path, file.len())?;
        }
        Ok(self.0 / PARSED)
    }

    /// The state in a file.
    pub fn load_state(self, path: &Path) -> Result<State, Failure> {
        self.allow_state(path)?;
        Ok(State::load(path)?)
    }

    /// The state of a fit to a long table.
    pub fn load_long_state(self, path: &Path) -> Result<LongState, Failure> {
        self.allow_state(path)?;
        Ok(LongState::load(path)?)
    }

    fn allow_state(self, path: &Path) -> Result<(), Failure> {
        // A path that does not exist is reported when it is opened.
        let Ok(file) = std::fs::metadata(path) else {
            return Ok(());
        };
        if !file.is_file() {
            return Err(Failure::new(format!(
                "{}: expected a regular file, found a folder, a pipe or a device; give the file that --checkpoint wrote",
                path.display()
            )));
        }
        self.allow_file(path, file.len())
    }

    /// Refuses a file of this size if its content would take too much memory.
    fn allow_file(self, path: &Path, size: u64) -> Result<(), Failure> {
        let what = format!("{}: reading it takes", path.display());
        self.allow(&what, PARSED.saturating_mul(size), "give another file")
    }
}

impl FromStr for Memory {
    type Err = String;

    /// A number with a unit, such as 4GB, 500MB or 2GiB.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected an amount such as 4GB or 500MB".to_owned();
        let end = text.find(|c: char| c.is_ascii_alphabetic());
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let factor = match unit.to_ascii_lowercase().as_str() {
            "b" => 1.0,
            "k" | "kb" => 1e3,
            "m" | "mb" => 1e6,
            "g" | "gb" => 1e9,
            "t" | "tb" => 1e12,
            "kib" => 1024.0,
            "mib" => 1024f64.powi(2),
            "gib" => 1024f64.powi(3),
            "tib" => 1024f64.powi(4),
            _ => return Err(wrong()),
        };
        match number.trim().parse::<f64>() {
            Ok(number) if number > 0.0 && number * factor < 1e18 => {
                Ok(Memory((number * factor) as u64))
            }
            _ => Err(wrong()),
        }
    }
}

/// An amount that is at least as much, as typed by a user.
pub fn rounded(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{}MB", bytes.div_ceil(1_000_000)),
        _ => format!("{}GB", bytes.div_ceil(1_000_000_000)),
    }
}

/// Bytes of memory that are free, where the system says so: those of the machine, or fewer where a group of processes or this one
/// is limited.
fn free() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
    let machine = read("/proc/meminfo").and_then(|text| available(&text));
    let groups = read("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(|line| line.rsplit(':').next());
    let limits = limits.chain(["/"]).flat_map(|group| {
        let group = group.trim_end_matches('/');
        [
            (
                format!("/sys/fs/cgroup{group}/memory.max"),
                "memory.current",
            ),
            (
                format!("/sys/fs/cgroup/memory{group}/memory.limit_in_bytes"),
                "memory.usage_in_bytes",
            ),
        ]
    });
    let left = limits.filter_map(|(limit, used)| {
        let sibling =
            |name: &str| Some(Path::new(&limit).with_file_name(name).to_str()?.to_owned());
        let used = number(&sibling(used)?)?;
        // Pages of files that can be dropped count as used, but are as good as free.
        let cached = sibling("memory.stat").and_then(|path| read(&path));
        let cached = cached.and_then(|text| inactive(&text)).unwrap_or(0);
        Some(number(&limit)?.saturating_sub(used.saturating_sub(cached)))
    });
    let own = read("/proc/self/limits").and_then(|text| address_space(&text));
    let own = own.zip(read("/proc/self/statm")).map(|(limit, text)| {
        let pages = text.split(' ').next().and_then(|n| n.parse::<u64>().ok());
        limit.saturating_sub(pages.unwrap_or(0).saturating_mul(PAGE))
    });
    left.chain(machine).chain(own).min()
}

/// The limit on the addresses of this process (`ulimit -v`) in `/proc/self/limits`, in bytes.
fn address_space(text: &str) -> Option<u64> {
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// `inactive_file` of a group's `memory.stat`, in bytes.
fn inactive(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let line = lines.find(|(key, _)| ["inactive_file", "total_inactive_file"].contains(key))?;
    line.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        for (text, bytes) in [
            ("4GB", 4_000_000_000),
            ("1.5 g", 1_500_000_000),
            ("500mb", 500_000_000),
            ("2GiB", 2 << 30),
            ("123B", 123),
        ] {
            assert_eq!(text.parse(), Ok(Memory(bytes)), "{text}");
        }
        for text in [
            "", "GB", "-1GB", "0", "123", "4 apples", "1e300GB", "nan", "4GBB",
        ] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
        assert_eq!(
            [1, 999_999_999, 3_000_000_001].map(rounded),
            ["1MB", "1000MB", "4GB"]
        );
        for bytes in [1, 999_999_999, 3_000_000_001] {
            let limit: Memory = rounded(bytes).parse().unwrap();
            assert!(limit.allow("it takes", bytes, "").is_ok());
        }
    }

    #[test]
    fn the_limit_is_a_share_of_what_is_free() {
        let text = "MemTotal:  100 kB\nMemAvailable:     64 kB\nBuffers: 1 kB\n";
        assert_eq!(available(text), Some(65536));
        assert_eq!(available("MemTotal: 1 kB"), None);
        let text = "Max cpu time  unlimited\nMax address space   204800   unlimited  bytes\n";
        assert_eq!(address_space(text), Some(204_800));
        assert_eq!(address_space("Max address space unlimited"), None);
        assert_eq!(inactive("anon 5\ninactive_file 7\n"), Some(7));
        assert!(Memory::of_machine().0 > 0);
    }
}
