//! Megabytes per second of writing and reading CSV on one core: `cargo run --release -p thinfit-table --example
//! csv_speed`.

use faer::Mat;
use std::time::Instant;
use thinfit_table::{Options, Reader, Result, Writer};

fn main() -> Result<()> {
    let (rows, columns, blocks) = (10_000, 10, 100);
    // As many digits as a double has.
    let block = Mat::from_fn(rows, columns, |i, j| {
        ((i * 7919 + j * 31) % 10_007) as f64 / 9_973.0
    });
    let path = std::env::temp_dir().join(format!("thinfit-speed-{}.csv", std::process::id()));
    let rate = |what: &str, start: Instant| {
        let (bytes, seconds) = (
            std::fs::metadata(&path).map_or(0, |m| m.len()),
            start.elapsed().as_secs_f64(),
        );
        let million = (rows * columns * blocks) as f64 / 1e6;
        println!(
            "{what}: {:.0} MB/s, {:.1} million numbers/s",
            bytes as f64 / 1e6 / seconds,
            million / seconds
        );
    };
    let start = Instant::now();
    let mut writer = Writer::create(&path)?;
    (0..blocks).try_for_each(|_| writer.rows(block.as_ref()))?;
    writer.finish()?;
    rate("write", start);
    let start = Instant::now();
    let mut reader = Reader::open(&path, &Options::default())?;
    while reader.next_block(rows)?.is_some() {}
    rate("read in blocks", start);
    let start = Instant::now();
    let table = Reader::open(&path, &Options::default())?.read()?;
    rate("read whole", start);
    assert_eq!(table.x.nrows(), rows * blocks);
    let _ = std::fs::remove_file(&path);
    Ok(())
}
