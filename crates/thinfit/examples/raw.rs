//! Fits and predicts arrays in raw files, controlled by commands on standard input. The tests of the Python package
//! compare their bits and times with it.
//!
//! `raw X Y ROWS DIM CONFIG [THREADS]`, with X and Y as float64, little-endian, row by row, and CONFIG a JSON file.
//! Each line `fit`, `predict [FILE]`, `save FILE` or `load FILE` is answered by the seconds it took.

use std::error::Error;
use std::io::Write;
use std::time::Instant;
use thinfit::{Config, Control, Dataset, Mat, MatRef, Model, fit};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [x, y, rows, dim, config, threads @ ..] = &arguments[..] else {
        return Err("expected X Y ROWS DIM CONFIG [THREADS]".into());
    };
    let (rows, dim): (usize, usize) = (rows.parse()?, dim.parse()?);
    let (x, y) = (numbers(x)?, numbers(y)?);
    let mut config: Config = serde_json::from_slice(&std::fs::read(config)?)?;
    config.threads = threads.first().map_or(Ok(0), |threads| threads.parse())?;
    let x = MatRef::from_row_major_slice(&x, rows, dim);
    let y = MatRef::from_row_major_slice(&y, rows, y.len() / rows);
    let mut model = None;
    for line in std::io::stdin().lines() {
        let line = line?;
        let begin = Instant::now();
        match (line.split_once(' ').unwrap_or((&line, "")), &model) {
            (("fit", _), _) => {
                let data = Dataset::new(x.to_owned(), y.to_owned())?;
                model = Some(fit(&data, &config, &|_| Control::Continue)?);
            }
            (("load", file), _) => model = Some(Model::load(file)?),
            (("save", file), Some(model)) => model.save(file)?,
            (("predict", file), Some(model)) => {
                let f = model.predict(x)?;
                if !file.is_empty() {
                    std::fs::write(file, bytes(&f))?;
                }
            }
            _ => return Err(format!("cannot run `{line}`, or no model yet").into()),
        }
        println!("{}", begin.elapsed().as_secs_f64());
        std::io::stdout().flush()?;
    }
    Ok(())
}

fn numbers(path: &str) -> std::io::Result<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let (chunks, _) = bytes.as_chunks();
    Ok(chunks.iter().copied().map(f64::from_le_bytes).collect())
}

fn bytes(f: &Mat<f64>) -> Vec<u8> {
    (0..f.nrows())
        .flat_map(|i| {
            f.row(i)
                .iter()
                .flat_map(|v| v.to_le_bytes())
                .collect::<Vec<_>>()
        })
        .collect()
}
