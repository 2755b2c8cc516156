//! Test errors of the methods to compare with whose result is a two-layer network, as CSV on standard output.
//!
//! `cargo run --release -p thinfit-experiments --example networks -- [SEEDS] [METHOD…]`: one seed and all methods unless
//! said. Inputs are uniform on the unit cube and used as they are; settings are the defaults. A method may be given as
//! JSON, such as `'{"method":"plain","activation":"sigmoid","lambda":1e-4}'`.

use std::time::Instant;
use thinfit::{Control, Dataset};
use thinfit_baselines::Method;
use thinfit_experiments::{Problem, Split};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1).peekable();
    let seeds = match arguments.peek().and_then(|first| first.parse().ok()) {
        Some(seeds) => {
            arguments.next();
            seeds
        }
        None => 1,
    };
    let mut methods: Vec<String> = arguments.collect();
    if methods.is_empty() {
        methods = Method::ALL.map(String::from).to_vec();
    }
    println!("method,problem,d,samples,seed,width,mse,seconds");
    for name in &methods {
        let method = match name.starts_with('{') {
            true => serde_json::from_str(name)?,
            false => Method::named(name).ok_or_else(|| {
                format!(
                    "there is no method `{name}`; expected one of {:?}",
                    Method::ALL
                )
            })?,
        };
        for problem in [Problem::F1, Problem::F2, Problem::F3] {
            let (d, m) = problem.settings()[0];
            for seed in 0..seeds {
                let train = problem.sample(d, m, seed, Split::Train)?;
                let test = problem.sample(d, m, seed, Split::Test)?;
                let data = Dataset::new(train.x, train.y)?;
                let clock = Instant::now();
                let model = method.fit(&data, seed, &|_| Control::Continue)?;
                let seconds = clock.elapsed().as_secs_f64();
                let error = model.predict(test.x.as_ref())? - test.y;
                let mse = error.squared_norm_l2() / m as f64;
                let (name, width) = (method.name(), model.width());
                println!("{name},{problem},{d},{m},{seed},{width},{mse:.3e},{seconds:.2}");
            }
        }
    }
    Ok(())
}
