//! Compares sensitivity indices of fitted models with the analytic ones, as CSV.
//!
//! `cargo run --release -p thinfit-experiments --example sensitivity -- [--seeds K] [--samples M] [PROBLEM...]` fits
//! `ishigami` and `sobol-g` (or those named) with the `fast` preset for K seeds, by default five. Columns: `test_mse` is
//! the error on fresh points relative to the variance, `cancellation` the size of the output weights relative
//! to the standard deviation of f, and the differences are model minus function.

use std::io::Write;
use std::time::Instant;
use thinfit::{Config, Control, Dataset, fit};
use thinfit_experiments::{Problem, Split};
use thinfit_methods::NetworkSensitivity;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut seeds, mut samples, mut problems) = (5, None, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().ok_or(format!("{argument} needs a number"));
        match argument.as_str() {
            "--seeds" => seeds = number()?.parse()?,
            "--samples" => samples = Some(number()?.parse()?),
            name => problems.push(name.parse()?),
        }
    }
    if problems.is_empty() {
        problems = vec![Problem::Ishigami, Problem::SobolG];
    }
    let mut out = std::io::stdout();
    writeln!(
        out,
        "problem,d,samples,seed,test_mse,cancellation,fit_seconds,indices_seconds,closed_form,input,first,analytic,difference,total,analytic,difference"
    )?;
    for problem in problems {
        let (d, m) = problem.settings()[0];
        let m = samples.unwrap_or(m);
        let known = problem
            .indices(d)
            .ok_or(format!("the indices of {problem} are not known"))?;
        for seed in 0..seeds {
            let (train, test) = (
                problem.sample(d, m, seed, Split::Train)?,
                problem.sample(d, m, seed, Split::Test)?,
            );
            let config = Config {
                seed,
                ..Config::fast()
            };
            let start = Instant::now();
            let model = fit(&Dataset::new(train.x, train.y)?, &config, &|_| {
                Control::Continue
            })?;
            let fitted = start.elapsed().as_secs_f64();
            let error = (model.predict(test.x.as_ref())? - &test.y).squared_norm_l2();
            let error = error / m as f64 / known.variance;
            let start = Instant::now();
            let found = model.sensitivity_on(0, &vec![problem.interval(); d])?;
            let seconds = start.elapsed().as_secs_f64();
            let cancellation = model.magnitudes().sum() / found.variance.sqrt();
            for j in 0..d {
                writeln!(
                    out,
                    "{problem},{d},{m},{seed},{error:.2e},{cancellation:.1e},{fitted:.1},{seconds:.3},{},x{},{:.6},{:.6},{:.1e},{:.6},{:.6},{:.1e}",
                    found.closed_form,
                    j + 1,
                    found.first[j],
                    known.first[j],
                    found.first[j] - known.first[j],
                    found.total[j],
                    known.total[j],
                    found.total[j] - known.total[j],
                )?;
            }
        }
    }
    Ok(())
}
