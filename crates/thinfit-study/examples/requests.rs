//! Random requests for minima, fronts and new rows, with constraints on columns of all kinds: every answer must keep to them.
//!
//! ```sh
//! cargo run --release -p thinfit-study --example requests -- 10000
//! ```

#[path = "../tests/requests/mod.rs"]
#[allow(clippy::unwrap_used)]
mod requests;

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let models = ["gaussian-process", "kernel-ridge-validated", "gft-r"];
    let models = models.map(|method| requests::model(method, 1));
    let (mut answers, mut failed) = (0, 0);
    for seed in 0..count.unwrap_or(1000) {
        match requests::ask(&models[seed as usize % models.len()], seed) {
            Ok(found) => answers += found,
            Err(why) => {
                failed += 1;
                println!("{why}");
            }
        }
    }
    println!("{answers} answers, {failed} requests failed");
}
