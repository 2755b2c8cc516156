//! Reads generated tables with known content and counts losses: `loss 100000 1` checks 100,000 tables, starting with
//! seed 1. Prints counts as CSV, and every table that was not read as written.

#[path = "../tests/generated/mod.rs"]
mod generated;

use generated::{Format, check};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// What became of the tables of a format.
#[derive(Default)]
struct Sums {
    tables: u64,
    refused: u64,
    rows: u64,
    used: u64,
    dropped: u64,
    skipped: u64,
}

fn main() -> ExitCode {
    let mut arguments = std::env::args()
        .skip(1)
        .map(|text| text.parse::<u64>().ok());
    let mut next = |otherwise: u64| arguments.next().flatten().unwrap_or(otherwise);
    let (tables, first) = (next(10_000), next(1));
    let scratch = std::env::temp_dir().join(format!("thinfit-loss-{}", std::process::id()));
    let (mut sums, mut lost) = (BTreeMap::<Format, Sums>::new(), 0);
    for seed in first..first + tables {
        match check(seed, &scratch) {
            Ok(outcome) => {
                let sums = sums.entry(outcome.format).or_default();
                sums.tables += 1;
                sums.refused += u64::from(outcome.refused);
                if !outcome.refused {
                    sums.rows += outcome.rows;
                    sums.used += outcome.used;
                    sums.dropped += outcome.dropped;
                    sums.skipped += outcome.skipped;
                }
            }
            Err(table) => {
                lost += 1;
                eprintln!("{table}");
            }
        }
    }
    std::fs::remove_dir_all(scratch).ok();
    print(&sums);
    eprintln!("{tables} tables from seed {first}: {lost} not read as written");
    ExitCode::from(u8::from(lost > 0))
}

/// Prints the counts.
fn print(sums: &BTreeMap<Format, Sums>) {
    println!("format,tables,refused,rows,used,dropped,skipped");
    for (format, sums) in sums {
        let format = format!("{format:?}").to_lowercase();
        let Sums {
            tables,
            refused,
            rows,
            used,
            dropped,
            skipped,
        } = sums;
        println!("{format},{tables},{refused},{rows},{used},{dropped},{skipped}");
    }
}
