//! Prints the points of a column of the paper's tables for some seeds as JSON, for other programs to fit. The rows
//! that our fit of a seed holds out for validation come last.
//!
//! `cargo run --release -p thinfit-experiments --example rows -- f3-10 1 2 3 > rows.json`

use std::error::Error;

use thinfit::{Config, Dataset, Mat};
use thinfit_experiments::Column;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let column: Column = words
        .next()
        .ok_or("expected a column such as f3-10, then seeds")?
        .parse()?;
    let draw = |word: String| -> Result<serde_json::Value, Box<dyn Error>> {
        let seed = word.parse()?;
        let (train, test) = column.draw(seed)?;
        let (rows, held) =
            Dataset::new(train.x, train.y)?.split(Config::paper().validation, seed)?;
        let x = [points(&rows.x), points(&held.x)].concat();
        let y = [rows.y.col_as_slice(0), held.y.col_as_slice(0)].concat();
        Ok(serde_json::json!({
            "x": x,
            "y": y,
            "test_x": points(&test.x),
            "test_y": test.y.col_as_slice(0),
        }))
    };
    let draws: Vec<_> = words.map(draw).collect::<Result<_, _>>()?;
    println!("{}", serde_json::to_string(&draws)?);
    Ok(())
}

fn points(x: &Mat<f64>) -> Vec<Vec<f64>> {
    let row = |i| x.row(i).iter().copied().collect();
    (0..x.nrows()).map(row).collect()
}
