//! `thinfit demo`: learns Friedman-1 from 500 points, and shows the errors beside those of the paper.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use thinfit::{Config, Control, Dataset, Mat, Model, Phase};
use thinfit_baselines::KernelRidge;
use thinfit_experiments::functions::input_names;
use thinfit_experiments::published::{self, Activation, Method, Setting};
use thinfit_experiments::{Problem, Split};
use thinfit_plot::{Canvas, Features, Series};

use crate::args::DemoArgs;
use crate::failure::Failure;
use crate::progress::Progress;

const PROBLEM: Problem = Problem::F3;
const DIM: usize = 5;
const SAMPLES: usize = 500;
const WIDTH: usize = 100;
const LABEL: &str = "thinfit, fast preset";

/// Dots of the PNG for each pixel of the SVG.
const DOTS: f64 = 2.0;

/// One line of the table; what a method does not have is left out.
struct Row {
    method: String,
    mse: Option<f64>,
    seconds: Option<f64>,
    published: Option<f64>,
}

/// The fitted network and how it did.
struct ThinFit {
    model: Model,
    predicted: Vec<f64>,
    /// Partial derivatives at the training points.
    gradient: Mat<f64>,
    seconds: f64,
}

/// What a fit is at, in a few words.
fn describe(at: &thinfit::Progress<'_>) -> String {
    let phase = match at.phase {
        Phase::Train(thinfit::Leaf::Parameters) => "generator",
        Phase::Train(thinfit::Leaf::Latents) => "refinement",
        Phase::Train(thinfit::Leaf::Weights) => "features",
        Phase::Polish => "polish",
    };
    format!(
        "{phase} {}/{}  loss {:.1e}  validation {:.1e}",
        at.step, at.steps, at.loss, at.validation
    )
}

/// Fits, compares, prints and draws.
pub fn run(args: &DemoArgs, out: &mut impl Write) -> Result<(), Failure> {
    // A folder that cannot be written to should not cost the time of a fit.
    std::fs::create_dir_all(&args.out).map_err(|error| {
        Failure::new(format!(
            "the folder `{}` for the pictures cannot be made: {error}; give one you may write to with --out DIR",
            args.out.display()
        ))
    })?;
    let train = PROBLEM.sample(DIM, SAMPLES, args.seed, Split::Train)?;
    let test = PROBLEM.sample(DIM, SAMPLES, args.seed, Split::Test)?;
    let truth = test.y.col_as_slice(0);

    let progress = Progress::new(args.quiet);
    progress.note(format!(
        "learning Friedman-1, y = {}, from {SAMPLES} points",
        PROBLEM.formula()
    ));

    let start = Instant::now();
    let config = Config {
        seed: args.seed,
        width: WIDTH,
        ..Config::fast()
    };
    let data = Dataset::new(train.x.clone(), train.y.clone())?;
    let model = thinfit::fit(&data, &config, &|at| {
        progress.step(at.done, || describe(at));
        Control::Continue
    })?;
    let thin = ThinFit {
        seconds: start.elapsed().as_secs_f64(),
        predicted: model.predict(test.x.as_ref())?.col_as_slice(0).to_vec(),
        gradient: model.gradient(train.x.as_ref(), 0)?,
        model,
    };

    let start = Instant::now();
    let kernel = KernelRidge::default().fit(train.x.as_ref(), train.y.as_ref())?;
    let kernel_seconds = start.elapsed().as_secs_f64();
    let kernel = kernel.predict(test.x.as_ref())?;
    let kernel = kernel.col_as_slice(0);
    progress.finish();

    let rows = [
        Row {
            method: LABEL.into(),
            mse: Some(mean_squared_error(&thin.predicted, truth)),
            seconds: Some(thin.seconds),
            published: None,
        },
        Row {
            method: "kernel ridge, median rule".into(),
            mse: Some(mean_squared_error(kernel, truth)),
            seconds: Some(kernel_seconds),
            published: paper(Method::KernelRidge, None),
        },
        Row {
            method: "GFT of the paper".into(),
            mse: None,
            seconds: None,
            published: paper(Method::Gft, Some(Activation::Fourier)),
        },
        Row {
            method: "GFT-r of the paper".into(),
            mse: None,
            seconds: None,
            published: paper(Method::GftR, Some(Activation::Fourier)),
        },
    ];
    write_table(out, &rows, args.seed)?;
    write_pictures(out, &args.out, &thin, truth, kernel)
}

fn paper(method: Method, activation: Option<Activation>) -> Option<f64> {
    let setting = Setting {
        problem: PROBLEM.name(),
        dim: DIM,
        samples: SAMPLES,
        width: WIDTH,
    };
    published::find(setting, method, activation).map(|cell| cell.mse)
}

fn mean_squared_error(predicted: &[f64], truth: &[f64]) -> f64 {
    let squares = predicted.iter().zip(truth).map(|(p, t)| (p - t) * (p - t));
    squares.sum::<f64>() / truth.len() as f64
}

fn write_table(out: &mut impl Write, rows: &[Row], seed: u64) -> Result<(), Failure> {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2e}"));
    let time = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2} s"));
    writeln!(
        out,
        "Friedman-1: {DIM} inputs, {SAMPLES} training points, {SAMPLES} fresh test points, no noise, seed {seed}\n"
    )?;
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
    writeln!(
        out,
        "\npublished: Table 1 of the paper, means over five runs; GFT with Fourier features, {WIDTH} neurons\n"
    )?;
    Ok(())
}

fn write_pictures(
    out: &mut impl Write,
    folder: &Path,
    thin: &ThinFit,
    truth: &[f64],
    kernel: &[f64],
) -> Result<(), Failure> {
    let (w, b) = (thin.model.hidden(), thin.model.magnitudes());
    let hidden: Vec<f64> = (0..w.nrows())
        .flat_map(|l| w.row(l).iter().copied())
        .collect();
    let slope: Vec<f64> = (0..DIM)
        .map(|j| {
            thin.gradient
                .col_as_slice(j)
                .iter()
                .map(|v| v.abs())
                .sum::<f64>()
                / SAMPLES as f64
        })
        .collect();
    let features = thinfit_plot::features(Features {
        title: "Features learned for Friedman-1",
        w: &hidden,
        magnitude: b.col_as_slice(0),
        importance: &slope,
        measure: "mean |∂f/∂x| on the training points, of the total",
        inputs: &input_names(DIM),
        unit: "cycles per unit of the input",
        support: &[],
    });
    let series = [
        Series {
            label: LABEL,
            predicted: &thin.predicted,
        },
        Series {
            label: "kernel ridge",
            predicted: kernel,
        },
    ];
    let title = format!("Friedman-1 learned from {SAMPLES} points");
    let fit = thinfit_plot::fit(&title, "y", truth, &series);
    for (name, canvas) in [("features", features), ("fit", fit)] {
        let (svg, png) = save(&canvas, folder, name)?;
        writeln!(out, "wrote {}\nwrote {}", svg.display(), png.display())?;
    }
    let path = folder.join("model.json");
    thin.model.save(&path)?;
    writeln!(out, "wrote {}", path.display())?;
    Ok(())
}

/// Writes a picture in both formats and returns the two paths.
fn save(canvas: &Canvas, folder: &Path, name: &str) -> Result<(PathBuf, PathBuf), Failure> {
    let png = canvas.to_png(DOTS).map_err(Failure::new)?;
    Ok((
        write_whole(folder, &format!("{name}.svg"), canvas.to_svg().as_bytes())?,
        write_whole(folder, &format!("{name}.png"), &png)?,
    ))
}

/// Writes under a temporary name first, so that no one ever sees half a file under the right one.
fn write_whole(folder: &Path, name: &str, content: &[u8]) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    let partial = folder.join(format!(".{name}.{}.partial", std::process::id()));
    let written = std::fs::write(&partial, content).and_then(|()| std::fs::rename(&partial, &path));
    written.map_err(|error| {
        // What is left of it is of no use; that it may not be there is no second error.
        let _ = std::fs::remove_file(&partial);
        Failure::new(format!(
            "`{}` cannot be written: {error}; make room, or give another folder with --out DIR",
            path.display()
        ))
    })?;
    Ok(path)
}
