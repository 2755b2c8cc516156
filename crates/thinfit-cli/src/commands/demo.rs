//! `thinfit demo`: fits a built-in problem and compares its error with the published ones.

use std::io::Write;
use std::time::Instant;

use thinfit::{Activation, Config, Control, Dataset, Model};
use thinfit_experiments::published::{self, Heading};
use thinfit_experiments::{Problem, Row, Split};
use thinfit_methods::{KernelRidge, NetworkSensitivity};
use thinfit_plot::{Series, fit};

use crate::args::DemoArgs;
use crate::commands::plot::{feature_picture, make_folder, save};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::shell::this_program;

/// The name of our fit in the table and the plot.
const LABEL: &str = "thinfit, fast preset";

/// One line of the table; `None` is shown as a dash.
struct Line {
    method: String,
    mse: Option<f64>,
    seconds: Option<f64>,
    published: Option<f64>,
}

/// Fits, compares, prints and plots.
pub fn run(args: &DemoArgs, out: &mut impl Write) -> Result<(), Failure> {
    // Fail before the fit, not after it.
    make_folder(&args.out)?;
    let problem: Problem = args.problem.parse()?;
    let (dim, samples) = problem.settings()[0];
    let train = problem.sample(dim, samples, args.seed, Split::Train)?;
    let test = problem.sample(dim, samples, args.seed, Split::Test)?;
    let truth = test.y.col_as_slice(0);

    let progress = Progress::new(args.quiet);
    let name = match problem {
        Problem::F3 => "Friedman-1",
        _ => problem.name(),
    };
    progress.note(format!(
        "learning {name}, y = {}, from {samples} points",
        problem.formula()
    ));
    let config = Config {
        seed: args.seed,
        ..Config::fast()
    };
    let data = Dataset::new(train.x.clone(), train.y.clone())?;
    let start = Instant::now();
    let model = thinfit::fit(&data, &config, &|at| {
        progress.fit(at, "gft-r");
        Control::Continue
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let predicted = model.predict(test.x.as_ref())?;
    let predicted = predicted.col_as_slice(0);

    let start = Instant::now();
    let kernel = KernelRidge::default().fit(&data, args.seed, &|_| Control::Continue)?;
    let kernel_seconds = start.elapsed().as_secs_f64();
    let kernel = kernel.predict(test.x.as_ref())?;
    let kernel = kernel.col_as_slice(0);
    progress.finish();

    let paper = |row, activation| {
        let heading = Heading {
            problem: problem.name(),
            dim,
            samples,
            width: config.width,
        };
        published::find(heading, row, activation).map(|cell| cell.mse)
    };
    let row = |method: &str, measured: Option<(&[f64], f64)>, published| Line {
        method: method.into(),
        mse: measured.map(|(predicted, _)| mean_squared_error(predicted, truth)),
        seconds: measured.map(|(_, seconds)| seconds),
        published,
    };
    let fourier = Some(Activation::Fourier);
    let rows = [
        row(LABEL, Some((predicted, seconds)), None),
        row(
            "kernel ridge, median rule",
            Some((kernel, kernel_seconds)),
            paper(Row::KernelRidge, None),
        ),
        row("GFT of the paper", None, paper(Row::Gft, fourier)),
        row("GFT-r of the paper", None, paper(Row::GftR, fourier)),
    ];
    writeln!(
        out,
        "{name}: {dim} inputs, {samples} training points, {samples} fresh test points, no noise, seed {}\n",
        args.seed
    )?;
    write_table(out, &rows)?;
    if rows.iter().any(|row| row.published.is_some()) {
        writeln!(
            out,
            "\npublished: tables of the paper, means over five runs; GFT with Fourier features, {} neurons",
            config.width
        )?;
    }
    writeln!(out)?;

    let title = format!("Features learned for {name}");
    let features = feature_picture(&model, 0, &model.sensitivity(0)?.total, &title);
    save(out, &args.out, "features", &features)?;
    let series = |label, predicted| Series { label, predicted };
    let series = [series(LABEL, predicted), series("kernel ridge", kernel)];
    let title = format!("{name} learned from {samples} points");
    save(out, &args.out, "fit", &fit(&title, "y", truth, &series))?;
    write_model(out, args, &model)
}

fn write_model(out: &mut impl Write, args: &DemoArgs, model: &Model) -> Result<(), Failure> {
    let path = args.out.join("model.json");
    model.save(&path)?;
    writeln!(out, "wrote {}\n\nnext:", path.display())?;
    let program = this_program();
    writeln!(out, "  {program} inspect {}", path.display())?;
    writeln!(
        out,
        "  {program} data f3 -o train.csv && {program} fit train.csv --target y"
    )?;
    Ok(())
}

fn mean_squared_error(predicted: &[f64], truth: &[f64]) -> f64 {
    let squares = predicted.iter().zip(truth).map(|(p, t)| (p - t) * (p - t));
    squares.sum::<f64>() / truth.len() as f64
}

fn write_table(out: &mut impl Write, rows: &[Line]) -> Result<(), Failure> {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2e}"));
    let time = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2} s"));
    writeln!(
        out,
        "{:<28}{:>12}{:>12}{:>12}",
        "method", "test MSE", "fit time", "published"
    )?;
    for row in rows {
        writeln!(
            out,
            "{:<28}{:>12}{:>12}{:>12}",
            row.method,
            number(row.mse),
            time(row.seconds),
            number(row.published)
        )?;
    }
    Ok(())
}
