//! `thinfit inspect`: what a model is, how accurate it is, and which inputs matter.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit::{Model, Record, Scaler, Sensitivity, Warp};
use thinfit_methods::{KernelModel, Predictor};

use crate::args::InspectArgs;
use crate::commands::fit::explained;
use crate::digits::{counted, four_digits};
use crate::failure::Failure;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    activation: &'static str,
    width: usize,
    parameters: usize,
    inputs: &'a [String],
    domain: &'a [[f64; 2]],
    outputs: Vec<Output<'a>>,
    record: &'a Record,
}

/// One output: accuracy, sensitivities and largest features.
#[derive(Serialize)]
struct Output<'a> {
    name: &'a str,
    validation_rmse: f64,
    validation_r2: f64,
    /// Mean of f over the domain.
    mean: f64,
    /// Variance of f over the domain.
    variance: f64,
    /// Whether the indices are exact integrals of the model rather than estimates by sampling.
    closed_form: bool,
    importance: Vec<Importance<'a>>,
    features: Vec<Feature>,
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
pub fn run(args: &InspectArgs, out: &mut impl Write) -> Result<(), Failure> {
    let model = match Predictor::load(&args.model)? {
        Predictor::Network(model) => model,
        Predictor::Kernel(model) => return inspect_kernels(args, out, &model),
    };
    let mut outputs = Vec::new();
    for o in 0..model.outputs.len() {
        outputs.push(output(&model, o, args.features)?);
    }
    let report = Report {
        model: &args.model,
        activation: model.activation().name(),
        width: model.width(),
        parameters: model.parameters(),
        inputs: &model.inputs,
        domain: &model.domain,
        outputs,
        record: &model.record,
    };
    if args.json {
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    write_report(out, &report)?;
    write_warps(out, &model.inputs, &model.input_scaler)
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

/// What `--json` prints for a sum of kernels, which has no features and no integrals in closed form.
#[derive(Serialize)]
struct Kernels<'a> {
    model: &'a Path,
    parameters: usize,
    inputs: &'a [String],
    domain: &'a [[f64; 2]],
    outputs: &'a [String],
    kernel: &'a thinfit_methods::Kernel,
    record: &'a Record,
}

fn inspect_kernels(
    args: &InspectArgs,
    out: &mut impl Write,
    model: &KernelModel,
) -> Result<(), Failure> {
    let record = &model.record;
    if args.json {
        let report = Kernels {
            model: &args.model,
            parameters: model.parameters(),
            inputs: &model.inputs,
            domain: &model.domain,
            outputs: &model.outputs,
            kernel: model.kernel(),
            record,
        };
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    writeln!(
        out,
        "{}: {}, a kernel at each of {} samples, {} parameters; {}, {}",
        args.model.display(),
        record.method,
        record.samples,
        model.parameters(),
        counted(model.inputs.len(), "input"),
        counted(model.outputs.len(), "output"),
    )?;
    writeln!(
        out,
        "made by thinfit {}: settings {}, ridge {:.1e}, seed {}{}\n",
        record.version,
        match &record.chosen_by {
            None => "by rule".into(),
            Some(by) => format!("chosen by {by}"),
        },
        record.ridge,
        record.seed,
        if record.stopped { " (interrupted)" } else { "" },
    )?;
    for (o, name) in model.outputs.iter().enumerate() {
        match record.validation_mse.get(o) {
            Some(mse) => writeln!(
                out,
                "{name}: rmse {} on samples held out",
                four_digits(mse.sqrt())
            )?,
            None => writeln!(out, "{name}: no samples were held out to measure the error")?,
        }
    }
    let widest = model.inputs.iter().map(|name| name.chars().count()).max();
    let column = widest.unwrap_or(0).clamp(8, 40) + 2;
    let parts = &model.kernel().parts;
    for part in parts {
        if let [_, _, ..] = parts[..] {
            writeln!(out, "\npart of weight {}", four_digits(part.weight))?;
        } else {
            writeln!(out)?;
        }
        writeln!(out, "  {:<column$}{:>13}   range", "input", "length")?;
        for (&j, length) in part.inputs.iter().zip(&part.lengths) {
            let [low, high] = model.domain[j];
            writeln!(
                out,
                "  {:<column$}{:>13}   {} to {}",
                model.inputs[j],
                four_digits(length * model.input_scaler.scale[j]),
                four_digits(low),
                four_digits(high)
            )?;
        }
    }
    writeln!(out, "  (length of the kernel in the units of the input)")?;
    write_warps(out, &model.inputs, &model.input_scaler)
}

fn output(model: &Model, o: usize, count: usize) -> Result<Output<'_>, Failure> {
    let Sensitivity {
        mean,
        variance,
        first,
        total,
        derivative,
        closed_form,
        ..
    } = model.sensitivity(o)?;
    let mut importance: Vec<Importance<'_>> = (0..model.dim())
        .map(|j| Importance {
            input: &model.inputs[j],
            first_order: first[j],
            total: total[j],
            mean_squared_derivative: derivative[j],
        })
        .collect();
    importance.sort_by(|a, b| b.total.total_cmp(&a.total));
    let (w, b) = (model.hidden(), model.magnitudes());
    let mut features: Vec<Feature> = (0..model.width())
        .map(|l| Feature {
            magnitude: b[(l, o)],
            weights: w.row(l).iter().copied().collect(),
        })
        .collect();
    features.sort_by(|a, b| b.magnitude.total_cmp(&a.magnitude));
    features.truncate(count);
    let (mse, spread) = (
        model.record.validation_mse[o],
        model.record.validation_variance[o],
    );
    Ok(Output {
        name: &model.outputs[o],
        validation_rmse: mse.sqrt(),
        validation_r2: explained(mse, spread),
        mean,
        variance,
        closed_form,
        importance,
        features,
    })
}

fn write_report(out: &mut impl Write, report: &Report<'_>) -> Result<(), Failure> {
    let record = report.record;
    writeln!(
        out,
        "{}: {} {} neurons, {} parameters; {}, {}",
        report.model.display(),
        report.width,
        report.activation,
        report.parameters,
        counted(report.inputs.len(), "input"),
        counted(report.outputs.len(), "output"),
    )?;
    writeln!(
        out,
        "made by thinfit {} from {} samples: {}{}, ridge {:.1e}, seed {}{}\n",
        record.version,
        record.samples,
        record.method,
        training(record),
        record.ridge,
        record.seed,
        if record.stopped { " (interrupted)" } else { "" },
    )?;
    for output in &report.outputs {
        writeln!(
            out,
            "{}: rmse {}, r² {:.9} on {} validation rows; over the domain mean {}, deviation {}\n",
            output.name,
            four_digits(output.validation_rmse),
            output.validation_r2,
            record.validation_samples,
            four_digits(output.mean),
            four_digits(output.variance.sqrt()),
        )?;
        write_importance(out, report, output)?;
        write_features(out, output)?;
    }
    Ok(())
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
    format!("{start}{polish}{lambda}")
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
    for line in &output.importance {
        let j = report.inputs.iter().position(|name| name == line.input);
        let [low, high] = j.map_or([f64::NAN; 2], |j| report.domain[j]);
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
fn write_features(out: &mut impl Write, output: &Output<'_>) -> Result<(), Failure> {
    writeln!(
        out,
        "  largest features, |b|/n and weights per unit of each input:"
    )?;
    for feature in &output.features {
        let weights: Vec<String> = feature.weights.iter().map(|w| four_digits(*w)).collect();
        let (size, weights) = (four_digits(feature.magnitude), shorten(&weights));
        writeln!(out, "  {size:>10}   ({weights})")?;
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
