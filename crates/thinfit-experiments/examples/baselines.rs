//! Test errors of the methods to compare with, one CSV line per fit on standard output.
//!
//! `cargo run --release -p thinfit-experiments --example baselines -- NAME SEEDS METHOD…`, where NAME is f1 … g3, a measured
//! data set such as galaxy, or all. Inputs are used as they are; settings are the defaults. A method may be given as JSON,
//! such as `'{"method":"plain","activation":"sigmoid","lambda":1e-4}'`.

use std::error::Error;
use std::time::Instant;
use thinfit::{Control, Dataset};
use thinfit_baselines::Method;
use thinfit_experiments::{Measured, Problem, Sample, Split};

fn report(
    method: &Method,
    name: &str,
    seed: u64,
    (train, test): (Sample, Sample),
) -> Result<(), Box<dyn Error>> {
    let data = Dataset::new(train.x, train.y)?;
    let start = Instant::now();
    let model = method.fit(&data, seed, &|_| Control::Continue)?;
    let seconds = start.elapsed().as_secs_f64();
    let error = model.predict(test.x.as_ref())? - &test.y;
    println!(
        "{},{name},{},{},{seed},{},{:.4e},{:.4e},{seconds:.3}",
        method.name(),
        data.dim(),
        data.samples(),
        model.parameters(),
        error.squared_norm_l2() / test.y.nrows() as f64,
        model.validation_mse().map_or(f64::NAN, |mse| mse[0]),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seeds, methods @ ..] = arguments.as_slice() else {
        return Err("expected NAME SEEDS METHOD…; see the head of this example".into());
    };
    println!("method,problem,inputs,samples,seed,parameters,mse,validation_mse,seconds");
    let wanted = |other: &str| name == "all" || name == other;
    for text in methods {
        let method = match text.starts_with('{') {
            true => serde_json::from_str(text)?,
            false => Method::named(text).ok_or_else(|| {
                let known = Method::ALL.join(", ");
                format!("there is no method `{text}`; expected one of {known}")
            })?,
        };
        for seed in 0..seeds.parse()? {
            for problem in Problem::ALL.into_iter().filter(|p| wanted(p.name())) {
                for &(dim, samples) in problem.settings() {
                    let split = |split| problem.sample(dim, samples, seed, split);
                    let pair = (split(Split::Train)?, split(Split::Test)?);
                    report(&method, problem.name(), seed, pair)?;
                }
            }
            for measured in Measured::ALL.into_iter().filter(|m| wanted(m.name())) {
                report(&method, measured.name(), seed, measured.read(seed)?)?;
            }
        }
    }
    Ok(())
}
