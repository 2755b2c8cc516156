//! `thinfit inspect`: what a model is, how accurate it is, and which inputs matter.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit::{Encoding, Model, Record, Scaler, Sensitivity, Warp};
use thinfit_methods::{Auto, Crossing, Kernel, Predictor, Shape, explained};

use crate::args::InspectArgs;
use crate::digits::{counted, four_digits, r2_digits};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::check_distinct;
use crate::progress::Progress;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    #[serde(flatten)]
    kind: Kind<'a>,
    parameters: usize,
    inputs: &'a [String],
    domain: &'a [[f64; 2]],
    outputs: Vec<Output<'a>>,
    record: &'a Record,
}

/// What the model is made of.
#[derive(Serialize)]
#[serde(untagged)]
enum Kind<'a> {
    Network {
        activation: &'static str,
        width: usize,
    },
    Kernels {
        kernel: &'a Kernel,
        #[serde(skip)]
        scaler: &'a Scaler,
    },
}

/// One output: accuracy, sensitivities and largest features.
#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    /// Unknown where no rows were held out.
    validation_rmse: Option<f64>,
    validation_r2: Option<f64>,
    /// Mean of f over the domain.
    mean: f64,
    /// Variance of f over the domain.
    variance: f64,
    /// Whether the indices are exact integrals of the model rather than estimates by sampling.
    closed_form: bool,
    importance: Vec<Importance<'a>>,
    /// Only a network has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<Feature>>,
}

/// How much one input matters for one output.
#[derive(Serialize)]
struct Importance<'a> {
    input: &'a str,
    first_order: f64,
    total: f64,
    mean_squared_derivative: f64,
}

/// One neuron: hidden weights in the units of the data and |b|/n in the units of the output.
#[derive(Serialize)]
struct Feature {
    magnitude: f64,
    weights: Vec<f64>,
}

/// Loads the model, integrates over its domain and prints.
pub fn run(args: &InspectArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    check_distinct(&[&args.model], &[])?;
    let model = Predictor::load_within(&args.model, memory.of_model(&args.model)?)?;
    let progress = Progress::patient();
    let mut outputs = Vec::new();
    for o in 0..model.outputs().len() {
        let done = |part: f64| (o as f64 + part) / model.outputs().len() as f64;
        let watch = |part: f64| progress.step(done(part), || "which inputs matter".into());
        outputs.push(output(&model, o, args.features, &watch)?);
    }
    progress.finish();
    let report = Report {
        model: &args.model,
        kind: match &model {
            Predictor::Network(model) => Kind::Network {
                activation: model.activation().name(),
                width: model.width(),
            },
            Predictor::Kernel(model) => Kind::Kernels {
                kernel: model.kernel(),
                scaler: &model.input_scaler,
            },
        },
        parameters: model.parameters(),
        inputs: model.inputs(),
        domain: model.domain(),
        outputs,
        record: model.record(),
    };
    if args.json {
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    write_report(out, &report)?;
    if let Some(findings) = model.findings() {
        writeln!(out, "{findings}")?;
    }
    write_warps(out, model.inputs(), model.input_scaler())?;
    write_encoding(out, model.encoding())
}

/// What became of the columns of the table that are not numbers.
fn write_encoding(out: &mut impl Write, encoding: Option<&Encoding>) -> Result<(), Failure> {
    for note in encoding.iter().flat_map(|encoding| encoding.notes()) {
        writeln!(out, "{note}")?;
    }
    Ok(())
}

/// One line for each warped input.
fn write_warps(out: &mut impl Write, inputs: &[String], scaler: &Scaler) -> Result<(), Failure> {
    for (j, name) in inputs.iter().enumerate() {
        if let Some(Warp { centre, width }) = scaler.warp_of(j) {
            writeln!(
                out,
                "  {name} is warped: its weights, derivatives and lengths are per unit of asinh(({name} - {}) / {})",
                four_digits(centre),
                four_digits(width)
            )?;
        }
    }
    Ok(())
}

fn output<'a>(
    model: &'a Predictor,
    o: usize,
    count: usize,
    watch: &dyn Fn(f64),
) -> Result<Output<'a>, Failure> {
    let Sensitivity {
        mean,
        variance,
        first,
        total,
        derivative,
        closed_form,
        ..
    } = model.sensitivity_watched(o, watch)?;
    let importance = model.inputs().iter().enumerate();
    let mut importance: Vec<Importance<'_>> = importance
        .map(|(j, input)| Importance {
            input,
            first_order: first[j],
            total: total[j],
            mean_squared_derivative: derivative[j],
        })
        .collect();
    importance.sort_by(|a, b| b.total.total_cmp(&a.total));
    let record = model.record();
    let mse = record.validation_mse.get(o).copied();
    let spread = record.validation_variance.get(o).copied();
    Ok(Output {
        name: &model.outputs()[o],
        validation_rmse: mse.map(f64::sqrt),
        validation_r2: mse.zip(spread).map(|(mse, spread)| explained(mse, spread)),
        mean,
        variance,
        closed_form,
        importance,
        features: match model {
            Predictor::Network(model) => Some(largest_features(model, o, count)),
            Predictor::Kernel(_) => None,
        },
    })
}

fn largest_features(model: &Model, o: usize, count: usize) -> Vec<Feature> {
    let (w, b) = (model.hidden(), model.magnitudes());
    let mut features: Vec<Feature> = (0..model.width())
        .map(|l| Feature {
            magnitude: b[(l, o)],
            weights: w.row(l).iter().copied().collect(),
        })
        .collect();
    features.sort_by(|a, b| b.magnitude.total_cmp(&a.magnitude));
    features.truncate(count);
    features
}

fn write_report(out: &mut impl Write, report: &Report<'_>) -> Result<(), Failure> {
    let record = report.record;
    let made_of = match &report.kind {
        Kind::Network { activation, width } => format!("{width} {activation} neurons"),
        Kind::Kernels { .. } => format!("a kernel at each of {} samples", record.samples),
    };
    writeln!(
        out,
        "{}: {made_of}, {} parameters; {}, {}",
        report.model.display(),
        report.parameters,
        counted(report.inputs.len(), "input"),
        counted(report.outputs.len(), "output"),
    )?;
    writeln!(
        out,
        "made by thinfit {} from {} samples: {}{}{}, seed {}{}\n",
        record.version,
        record.samples,
        record.method,
        match report.kind {
            Kind::Network { .. } => training(record),
            Kind::Kernels { .. } => chosen(record),
        },
        ridge(record),
        record.seed,
        if record.stopped {
            " (stopped early)"
        } else {
            ""
        },
    )?;
    let rows = match report.kind {
        Kind::Network { .. } if record.method != Auto::NAME => "validation rows",
        _ => "rows left out",
    };
    for output in &report.outputs {
        let accuracy = match (output.validation_rmse, output.validation_r2) {
            (Some(rmse), Some(r2)) => format!(
                "rmse {}, r² {} on {} {rows}",
                four_digits(rmse),
                r2_digits(r2),
                record.validation_samples
            ),
            _ => "no samples were held out to measure the error".into(),
        };
        writeln!(
            out,
            "{}: {accuracy}; over the domain mean {}, deviation {}\n",
            output.name,
            four_digits(output.mean),
            four_digits(output.variance.sqrt()),
        )?;
        write_importance(out, report, output)?;
        if let Some(features) = output.features.as_ref().filter(|some| !some.is_empty()) {
            write_features(out, features)?;
        }
    }
    match report.kind {
        Kind::Network { .. } => Ok(()),
        Kind::Kernels { kernel, scaler } => write_kernel(out, report, kernel, scaler),
    }
}

/// The ridge of the last solve, if it had one.
fn ridge(record: &Record) -> String {
    match record.ridge {
        0.0 => String::new(),
        ridge => format!(", ridge {ridge:.1e}"),
    }
}

/// How the kernel and the ridge of a sum of kernels were chosen.
fn chosen(record: &Record) -> String {
    match &record.chosen_by {
        None => " with settings by rule".into(),
        Some(by) => format!(" with settings chosen by {by}"),
    }
}

/// Where the features started, whether they were polished, and λ.
fn training(record: &Record) -> String {
    let start = match record.start_scale {
        None => String::new(),
        Some(scale) => format!(" from random features of scale {scale}"),
    };
    let polish = match record.polish_steps {
        None | Some(0) => String::new(),
        Some(steps) => format!(", {steps} polish steps"),
    };
    let lambda = match (record.regulariser(), record.training_lambda) {
        (None, _) => String::new(),
        (_, Some(lambda)) => format!(", lambda 0 ({lambda} in the training)"),
        (Some(lambda), None) => format!(", lambda {lambda}"),
    };
    let device = match &record.device {
        None => String::new(),
        Some(name) => format!(", trained on {name}"),
    };
    format!("{start}{polish}{lambda}{device}")
}

/// The table of inputs, most important first.
fn write_importance(
    out: &mut impl Write,
    report: &Report<'_>,
    output: &Output<'_>,
) -> Result<(), Failure> {
    let names = output.importance.iter().map(|line| line.input);
    let widest = names.map(|name| name.chars().count()).max();
    let column = widest.unwrap_or(0).clamp(8, 40) + 2;
    writeln!(
        out,
        "  {:<column$}{:>13}{:>13}{:>16}   range",
        "input", "Sobol first", "Sobol total", "mean (∂f/∂x)²"
    )?;
    let ranges = report.inputs.iter().zip(report.domain);
    let ranges: HashMap<&str, [f64; 2]> = ranges.map(|(name, at)| (name.as_str(), *at)).collect();
    for line in &output.importance {
        let [low, high] = ranges.get(line.input).copied().unwrap_or([f64::NAN; 2]);
        writeln!(
            out,
            "  {:<column$}{:>13.6}{:>13.6}{:>16}   {} to {}",
            line.input,
            line.first_order,
            line.total,
            four_digits(line.mean_squared_derivative),
            four_digits(low),
            four_digits(high)
        )?;
    }
    let how = match output.closed_form {
        true => "integrated in closed form",
        false => "estimated by sampling",
    };
    writeln!(out, "  ({how} over the ranges of the samples)\n")?;
    Ok(())
}

/// The largest features.
fn write_features(out: &mut impl Write, features: &[Feature]) -> Result<(), Failure> {
    writeln!(
        out,
        "  largest features, |b|/n and weights per unit of each input:"
    )?;
    for feature in features {
        let weights: Vec<String> = feature.weights.iter().map(|w| four_digits(*w)).collect();
        let (size, weights) = (four_digits(feature.magnitude), shorten(&weights));
        writeln!(out, "  {size:>10}   ({weights})")?;
    }
    writeln!(out)?;
    Ok(())
}

/// The parts of a kernel with their lengths.
fn write_kernel(
    out: &mut impl Write,
    report: &Report<'_>,
    kernel: &Kernel,
    scaler: &Scaler,
) -> Result<(), Failure> {
    for part in &kernel.parts {
        let shape = match part.shape {
            Shape::Gaussian => "Gaussian kernel".into(),
            Shape::Matern52 => "Matérn 5/2 kernel".into(),
            Shape::Additive(order) => format!("additive kernel of order {order}"),
            Shape::Anova => "anova kernel".into(),
            Shape::AnovaMatern52 => "anova kernel (Matérn 5/2)".into(),
        };
        let weight = match part.weight {
            1.0 => String::new(),
            weight => format!(" of weight {}", four_digits(weight)),
        };
        let length = |(&j, length): (&usize, &f64)| match scaler.scale.get(j) {
            Some(scale) => format!("{} {}", report.inputs[j], four_digits(length * scale)),
            None => format!(
                "edge {} {}",
                j - scaler.scale.len() + 1,
                four_digits(*length)
            ),
        };
        let lengths: Vec<String> = part.inputs.iter().zip(&part.lengths).map(length).collect();
        writeln!(
            out,
            "  {shape}{weight}; lengths in the units of the inputs: {}",
            shorten(&lengths)
        )?;
    }
    for (e, edge) in kernel.edges.iter().enumerate() {
        let (what, place) = (edge.crossing, edge.place(report.inputs, scaler));
        let what = match what {
            Crossing::Jump => "jumps",
            Crossing::Bend => "bends",
        };
        writeln!(out, "  edge {}: {what} where {place}", e + 1)?;
    }
    writeln!(out)?;
    Ok(())
}

/// The first ten numbers.
fn shorten(weights: &[String]) -> String {
    const MOST: usize = 10;
    match weights.len() > MOST {
        true => format!("{}, …", weights[..MOST].join(", ")),
        false => weights.join(", "),
    }
}
