//! Test errors of the kernel methods on the paper's functions and measured data, one CSV line per fit.
//!
//! `cargo run --release -p thinfit-experiments --example kernels -- METHOD NAME [SEEDS]`, where METHOD is kernel-ridge, validated,
//! salsa, gaussian or matern52 (Gaussian processes), and NAME is f1 … g3, a data set such as galaxy, or all.

use std::error::Error;
use std::time::Instant;
use thinfit::{Control, Dataset};
use thinfit_baselines::{
    GaussianProcess, KernelModel, KernelRidge, Result as Fitted, Salsa, Shape,
};
use thinfit_experiments::{Measured, Problem, Sample, Split};

fn fit(method: &str, data: &Dataset, seed: u64) -> Result<Fitted<KernelModel>, String> {
    let go = |_| Control::Continue;
    let process = |kernel| GaussianProcess {
        kernel,
        ..GaussianProcess::default()
    };
    Ok(match method {
        "kernel-ridge" => KernelRidge::default().fit(data, seed, &go),
        "validated" => KernelRidge::validated().fit(data, seed, &go),
        "salsa" => Salsa::default().fit(data, seed, &go),
        "gaussian" => process(Shape::Gaussian).fit(data, seed, &go),
        "matern52" => process(Shape::Matern52).fit(data, seed, &go),
        _ => {
            return Err(format!(
                "there is no method `{method}`; see the head of this example"
            ));
        }
    })
}

fn report(
    method: &str,
    name: &str,
    seed: u64,
    (train, test): (Sample, Sample),
) -> Result<(), Box<dyn Error>> {
    let data = Dataset::new(train.x, train.y)?;
    let start = Instant::now();
    let model = fit(method, &data, seed)??;
    let seconds = start.elapsed().as_secs_f64();
    let error = model.predict(test.x.as_ref())? - &test.y;
    println!(
        "{method},{name},{},{},{seed},{:.4e},{seconds:.3},{:.2e}",
        data.dim(),
        data.samples(),
        error.squared_norm_l2() / test.y.nrows() as f64,
        model.record.ridge
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [method, name, rest @ ..] = arguments.as_slice() else {
        return Err("expected METHOD NAME [SEEDS]; see the head of this example".into());
    };
    let seeds: u64 = rest.first().map_or(Ok(1), |text| text.parse())?;
    println!("method,problem,inputs,samples,seed,mse,seconds,ridge");
    let wanted = |other: &str| name == "all" || name == other;
    for seed in 0..seeds {
        for problem in Problem::ALL.into_iter().filter(|p| wanted(p.name())) {
            for &(dim, samples) in problem.settings() {
                let split = |split| problem.sample(dim, samples, seed, split);
                let pair = (split(Split::Train)?, split(Split::Test)?);
                report(method, problem.name(), seed, pair)?;
            }
        }
        for measured in Measured::ALL.into_iter().filter(|m| wanted(m.name())) {
            report(method, measured.name(), seed, measured.read(seed)?)?;
        }
    }
    Ok(())
}
