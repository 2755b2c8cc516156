//! `thinfit inspect`: what a model is, how accurate it is, and which inputs matter.

mod features;
mod importance;
mod kernel;
mod shapley;

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit::{Encoding, Mat, Record, Scaler, Warp};
use thinfit_methods::{Auto, InputColumn, Kernel, Predictor, explained, in_groups};

use self::features::Feature;
use self::importance::Importance;
pub use self::importance::largest_pairs;
use self::shapley::Effects;

use crate::args::InspectArgs;
use crate::digits::{counted, four_digits, r2_digits};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::check_distinct;
use crate::progress::Progress;
use crate::table::TableSource;
use crate::table::model_rows::Rows;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    #[serde(flatten)]
    kind: Kind<'a>,
    parameters: usize,
    inputs: &'a [String],
    /// The meaning of each input for the user, and the number of columns of the table they come from.
    #[serde(skip)]
    meanings: Vec<String>,
    #[serde(skip)]
    columns: usize,
    /// The ranges of the inputs over which is integrated.
    domain: Vec<[f64; 2]>,
    /// Whether ranges were given.
    #[serde(skip)]
    given: bool,
    outputs: Vec<Output<'a>>,
    /// A sentence on inputs that depend on each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    record: &'a Record,
}

/// What the model consists of.
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
    #[serde(flatten)]
    importance: Importance,
    /// Only where rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    shapley: Option<Effects>,
    /// Only a network has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<Feature>>,
}

/// Loads the model, integrates over its domain and prints.
pub fn run(args: &InspectArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let files: Vec<&Path> = [Some(&args.model), args.ranges.as_ref(), args.data.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| path.as_path())
        .collect();
    check_distinct(&files, &[])?;
    let model = match args.data {
        Some(_) => super::load_before_table(&args.model, memory, "inspect")?,
        None => super::load(&args.model, memory)?,
    };
    let ranges = super::ranges(args.ranges.as_deref(), &model)?;
    let rows = match &args.data {
        None => None,
        Some(path) => {
            let table = TableSource::find(path, &[], &args.table, memory)?;
            let rows = Rows::read(&table, &model, None)?;
            rows.tell(&Progress::new(false));
            Some(rows.inputs)
        }
    };
    let progress = Progress::patient();
    let mut outputs = Vec::new();
    for o in 0..model.outputs().len() {
        let done = |part: f64| (o as f64 + part) / model.outputs().len() as f64;
        let watch = |part: f64| progress.step(done(part), || "sensitivity indices".into());
        let asked = Asked {
            factors: ranges.factors(),
            rows: rows.as_ref(),
            features: args.features,
        };
        outputs.push(output(&model, o, &asked, &watch)?);
    }
    progress.finish();
    let factors = InputColumn::all(&model);
    let report = Report {
        model: &args.model,
        kind: match &model {
            Predictor::Network(model) => Kind::Network {
                activation: model.activation().name(),
                width: model.width(),
            },
            Predictor::Kernel(model) => Kind::Kernels {
                kernel: &model.body.kernel,
                scaler: &model.input_scaler,
            },
        },
        parameters: model.parameters(),
        inputs: model.inputs(),
        meanings: factors.iter().flat_map(InputColumn::meanings).collect(),
        columns: factors.len(),
        domain: domain(&model, ranges.factors()),
        given: args.ranges.is_some(),
        outputs,
        warning: model.warning(),
        record: model.record(),
    };
    if args.json {
        serde_json::to_writer(&mut *out, &report)?;
        writeln!(out)?;
        return Ok(());
    }
    write_report(out, &report)?;
    if let Some(found) = model.diagnosis() {
        writeln!(out, "{found}")?;
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
                "  {name} is warped: its weights, derivatives and length scales are per unit of asinh(({name} - {}) / {})",
                four_digits(centre),
                four_digits(width)
            )?;
        }
    }
    Ok(())
}

/// The ranges of the inputs of factors.
fn domain(model: &Predictor, factors: &[InputColumn]) -> Vec<[f64; 2]> {
    let mut domain = model.domain().to_vec();
    let numbers = factors.iter().filter(|factor| factor.levels.is_empty());
    numbers.for_each(|factor| domain[factor.first] = factor.range);
    domain
}

/// The request for every output.
struct Asked<'a> {
    factors: &'a [InputColumn],
    /// Rows for Shapley effects.
    rows: Option<&'a Mat<f64>>,
    /// Features to list.
    features: usize,
}

fn output<'a>(
    model: &'a Predictor,
    o: usize,
    asked: &Asked<'_>,
    watch: &dyn Fn(f64),
) -> Result<Output<'a>, Failure> {
    let record = model.record();
    let mse = record.validation_mse.get(o).copied();
    let spread = record.validation_variance.get(o).copied();
    Ok(Output {
        name: &model.outputs()[o],
        validation_rmse: mse.map(f64::sqrt),
        validation_r2: mse.zip(spread).map(|(mse, spread)| explained(mse, spread)),
        importance: Importance::of(model, asked.factors, o, watch)?,
        shapley: asked
            .rows
            .map(|rows| Effects::of(model, rows, o))
            .transpose()?,
        features: match model {
            Predictor::Network(model) => Some(features::largest(model, o, asked.features)),
            Predictor::Kernel(_) => None,
        },
    })
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
        counted(report.columns, "input"),
        counted(report.outputs.len(), "output"),
    )?;
    writeln!(
        out,
        "made by thinfit {} from {} samples{}: {}{}{}, seed {}{}\n",
        record.version,
        record.samples,
        in_groups(record),
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
        _ => "held-out rows",
    };
    for output in &report.outputs {
        let accuracy = match (output.validation_rmse, output.validation_r2) {
            (Some(rmse), Some(r2)) => format!(
                "rmse {}, r² {} on {} {rows}",
                four_digits(rmse),
                r2_digits(r2),
                record.validation_samples
            ),
            _ => "no rows were held out to measure the error".into(),
        };
        writeln!(
            out,
            "{}: {accuracy}; over the domain mean {}, deviation {}\n",
            output.name,
            four_digits(output.importance.mean),
            four_digits(output.importance.variance.sqrt()),
        )?;
        output.importance.write(out, report.given)?;
        write_warning(out, report, output)?;
        if let Some(effects) = &output.shapley {
            effects.write(out)?;
        }
        let features = output.features.as_deref().unwrap_or_default();
        features::write(out, features, &report.meanings)?;
    }
    match report.kind {
        Kind::Network { .. } => Ok(()),
        Kind::Kernels { kernel, scaler } => {
            kernel::write(out, kernel, scaler, report.inputs, &report.meanings)
        }
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
        None => " with settings from rules".into(),
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

/// Whether the indices can be trusted, and a blank line.
fn write_warning(
    out: &mut impl Write,
    report: &Report<'_>,
    output: &Output<'_>,
) -> Result<(), Failure> {
    if let Some(warning) = &report.warning {
        writeln!(out, "  {warning}")?;
        if output.shapley.is_none() {
            let model = report.model.display();
            writeln!(out, "  for these: thinfit inspect {model} TABLE")?;
        }
    }
    Ok(writeln!(out)?)
}

/// The first ten entries of a list.
fn shorten(list: &[String]) -> String {
    const MOST: usize = 10;
    match list.len() > MOST {
        true => format!("{}, …", list[..MOST].join(", ")),
        false => list.join(", "),
    }
}
