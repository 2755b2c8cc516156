//! How often the true index lies within two standard errors, for functions with known indices. Prints CSV, one line
//! for every index of every fit, and the shares on standard error:
//!
//! ```sh
//! cargo run --release -p thinfit-methods --example index_errors -- gaussian-process 20
//! ```

#[path = "../tests/known/mod.rs"]
mod known;

use known::{Known, fitted, friedman, g_function, ishigami};
use thinfit::Error;
use thinfit_methods::InputColumn;

/// Counts standard errors, and those for which the true index lies within two of them.
#[derive(Default)]
struct Held {
    inside: usize,
    count: usize,
    errors: Vec<f64>,
}

fn main() -> Result<(), Error> {
    let method = std::env::args().nth(1).expect("the name of a method");
    let seeds = std::env::args().nth(2).and_then(|n| n.parse().ok());
    println!("function,method,rows,noise,seed,kind,input,truth,found,error,inside");
    let mut all = Held::default();
    for known in [ishigami(), g_function(), friedman()] {
        for (rows, noise) in [(60, 0.0), (100, 0.0), (200, 0.0), (100, 0.1), (200, 0.1)] {
            let mut held = Held::default();
            for seed in 0..seeds.unwrap_or(20) {
                one(&known, &method, rows, noise, seed, &mut held)?;
            }
            held.tell(&format!("{} {rows} rows, noise {noise}", known.name));
            all.inside += held.inside;
            all.count += held.count;
            all.errors.extend(held.errors);
        }
    }
    all.tell("all");
    Ok(())
}

impl Held {
    fn tell(&mut self, what: &str) {
        self.errors.sort_by(f64::total_cmp);
        let share = self.inside as f64 / self.count.max(1) as f64;
        let median = self.errors.get(self.errors.len() / 2).unwrap_or(&0.0);
        let most = self.errors.last().unwrap_or(&0.0);
        eprintln!(
            "{what}: {share:.3} of {} inside, median error {median:.1e}, largest {most:.2}",
            self.count
        );
    }
}

/// Fits one model; the noise is in deviations of the function.
fn one(
    known: &Known,
    method: &str,
    rows: usize,
    noise: f64,
    seed: u64,
    held: &mut Held,
) -> Result<(), Error> {
    let model = fitted(known, method, rows, noise, seed)?;
    let found = model.sensitivity(0)?;
    let errors = match model.index_errors(0, &InputColumn::all(&model), &found) {
        Ok(errors) => errors,
        Err(why) => {
            eprintln!("{},{method},{rows},{noise},{seed}: {why}", known.name);
            return Ok(());
        }
    };
    for (kind, truth, found, errors) in [
        ("first", &known.first, &found.first, &errors.first),
        ("total", &known.total, &found.total, &errors.total),
    ] {
        for j in 0..truth.len() {
            // Up to the accuracy of sampling and four digits.
            let inside = (found[j] - truth[j]).abs() <= 2.0 * errors[j] + 1e-4;
            held.inside += usize::from(inside);
            held.count += 1;
            held.errors.push(errors[j]);
            println!(
                "{},{method},{rows},{noise},{seed},{kind},{},{:.5},{:.5},{:.6},{}",
                known.name,
                j + 1,
                truth[j],
                found[j],
                errors[j],
                u8::from(inside),
            );
        }
    }
    Ok(())
}
