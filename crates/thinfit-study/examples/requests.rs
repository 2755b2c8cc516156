//! Random requests for minima, Pareto fronts and suggested rows, with ranges, fixed columns and constraints of all
//! kinds: every answer must satisfy them, as returned and as printed. Arguments: the number of requests, a file for
//! the table of all of them, and the first seed.
//!
//! ```sh
//! cargo run --release -p thinfit-study --example requests -- 10000 requests.csv
//! ```

#[path = "../tests/requests/mod.rs"]
#[allow(clippy::unwrap_used)]
mod requests;

use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

fn main() -> std::io::Result<()> {
    let number = |place: usize| -> Option<u64> { std::env::args().nth(place)?.parse().ok() };
    let (count, first) = (number(1).unwrap_or(1000), number(3).unwrap_or(0));
    let path = std::env::args()
        .nth(2)
        .unwrap_or_else(|| "requests.csv".into());
    let mut table = BufWriter::new(std::fs::File::create(path)?);
    writeln!(
        table,
        "seed,model,question,ranges,fixed,constraints,answers,failed"
    )?;
    let process = requests::model("gaussian-process", 1);
    let models = [
        ("edges", requests::edged(&process)),
        ("gaussian-process", process),
        (
            "kernel-ridge-validated",
            requests::model("kernel-ridge-validated", 1),
        ),
        ("gft-r", requests::model("gft-r", 1)),
    ];
    let mut totals: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for seed in first..first + count {
        let (name, model) = &models[seed as usize % models.len()];
        let answer = requests::ask(model, seed);
        let [ranges, fixed, constraints] = answer.given;
        let total = totals.entry(answer.question.clone()).or_default();
        total[0] += 1;
        let answers = match &answer.found {
            Ok(answers) => *answers,
            Err(why) => {
                total[2] += 1;
                println!("{name}, {why}");
                0
            }
        };
        total[1] += answers;
        writeln!(
            table,
            "{seed},{name},\"{}\",{ranges},{fixed},{constraints},{answers},{}",
            answer.question,
            u8::from(answer.found.is_err())
        )?;
        table.flush()?;
    }
    for (question, [requests, answers, failed]) in totals {
        println!("{question}: {requests} requests, {answers} answers, {failed} requests failed");
    }
    Ok(())
}
