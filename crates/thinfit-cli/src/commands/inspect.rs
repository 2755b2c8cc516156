//! `thinfit inspect`: what a model is, how accurate it is, and which inputs matter.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit::{Encoding, Mat, Model, Record, Scaler, Sensitivity, Warp};
use thinfit_methods::{Auto, Bounds, Crossing, Factor, Kernel, Predictor, Shape, explained};
use thinfit_study::Shapley;

use crate::args::InspectArgs;
use crate::columns::{match_inputs, open, read};
use crate::commands::predict::tell_dropped;
use crate::digits::{column_width, counted, four_digits, r2_digits};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::check_distinct;
use crate::progress::Progress;

/// Pairs of inputs that are listed, and the least share of the variance that is worth a line.
const PAIRS: usize = 5;
const LEAST_PAIR: f64 = 5e-4;

/// Widest column of names.
const WIDEST: usize = 42;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    model: &'a Path,
    #[serde(flatten)]
    kind: Kind<'a>,
    parameters: usize,
    inputs: &'a [String],
    /// The ranges of the inputs over which is integrated.
    domain: Vec<[f64; 2]>,
    /// Whether ranges were given.
    #[serde(skip)]
    given: bool,
    outputs: Vec<Output<'a>>,
    /// Which inputs depend on each other, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
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
    importance: Vec<Importance>,
    /// What two inputs do together beyond what each does alone, by their names; empty where pairs would take minutes.
    second_order: BTreeMap<String, BTreeMap<String, f64>>,
    #[serde(skip)]
    pairs: Vec<(String, String, f64)>,
    /// Why indices have no bounds, where they have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_bounds: Option<String>,
    /// Only where rows were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    shapley: Option<Effects>,
    /// Only a network has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    features: Option<Vec<Feature>>,
}

/// How much one input matters for one output.
#[derive(Serialize)]
struct Importance {
    input: String,
    first_order: f64,
    total: f64,
    /// Bounds: what the model does not know of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_order_bounds: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_bounds: Option<[f64; 2]>,
    /// Text and whole numbers have none.
    mean_squared_derivative: Option<f64>,
    #[serde(skip)]
    range: String,
}

/// Shapley effects on the rows of a table.
#[derive(Serialize)]
struct Effects {
    rows: usize,
    /// Variance of f over the rows.
    variance: f64,
    /// Orders of the inputs that were drawn; null where all sets of inputs were worked out.
    orders: Option<usize>,
    effects: Vec<ShapleyEffect>,
}

#[derive(Serialize)]
struct ShapleyEffect {
    input: String,
    effect: f64,
    standard_error: f64,
}

/// One neuron: hidden weights in the units of the data and |b|/n in the units of the output.
#[derive(Serialize)]
struct Feature {
    magnitude: f64,
    weights: Vec<f64>,
}

/// Loads the model, integrates over its domain and prints.
pub fn run(args: &InspectArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let files: Vec<&Path> = [Some(&args.model), args.ranges.as_ref(), args.data.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| path.as_path())
        .collect();
    check_distinct(&files, &[])?;
    let model = Predictor::load_within(&args.model, memory.of_model(&args.model)?)?;
    let ranges = super::ranges(args.ranges.as_deref(), &model)?;
    let rows = match &args.data {
        None => None,
        Some(path) => {
            let mut reader = open(path, &args.table, memory, true)?;
            match_inputs(&mut reader, &model, &[])?;
            let table = read(&mut reader, &model)?;
            tell_dropped(table.dropped, &Progress::new(false));
            Some(table.x)
        }
    };
    let progress = Progress::patient();
    let mut outputs = Vec::new();
    for o in 0..model.outputs().len() {
        let done = |part: f64| (o as f64 + part) / model.outputs().len() as f64;
        let watch = |part: f64| progress.step(done(part), || "which inputs matter".into());
        let asked = Asked {
            factors: ranges.factors(),
            rows: rows.as_ref(),
            features: args.features,
        };
        outputs.push(output(&model, o, &asked, &watch)?);
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
    if let Some(findings) = model.findings() {
        writeln!(out, "{findings}")?;
    }
    write_warps(out, model.inputs(), model.input_scaler())?;
    write_encoding(out, model.encoding())
}

/// The ranges of the inputs of factors.
fn domain(model: &Predictor, factors: &[Factor]) -> Vec<[f64; 2]> {
    let mut domain = model.domain().to_vec();
    let numbers = factors.iter().filter(|factor| factor.levels.is_empty());
    numbers.for_each(|factor| domain[factor.first] = factor.range);
    domain
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

/// The pairs of factors that do most together, at most `count` of them.
pub fn largest_pairs(
    factors: &[Factor],
    sensitivity: &Sensitivity,
    count: usize,
) -> Vec<(String, String, f64)> {
    let second = &sensitivity.second;
    let pairs = (0..second.nrows()).flat_map(|j| (0..j).map(move |i| (i, j)));
    let mut pairs: Vec<(String, String, f64)> = pairs
        .map(|(i, j)| {
            let [a, b] = [i, j].map(|k| factors[k].name.clone());
            (a, b, second[(i, j)])
        })
        .filter(|pair| pair.2 >= LEAST_PAIR)
        .collect();
    pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
    pairs.truncate(count);
    pairs
}

/// What is asked of every output.
struct Asked<'a> {
    factors: &'a [Factor],
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
    let factors = asked.factors;
    let sensitivity = model.sensitivity_over(o, factors, watch)?;
    let bounds = model.bounds(o, factors, &sensitivity);
    let importance = factors.iter().enumerate();
    let mut importance: Vec<Importance> = importance
        .map(|(j, factor)| Importance {
            input: factor.name.clone(),
            first_order: sensitivity.first[j],
            total: sensitivity.total[j],
            first_order_bounds: bounds.as_ref().ok().map(|bounds| bounds.first[j]),
            total_bounds: bounds.as_ref().ok().map(|bounds| bounds.total[j]),
            mean_squared_derivative: factor
                .choices()
                .is_none()
                .then(|| sensitivity.derivative[j]),
            range: match factor.levels.len() {
                0 if factor.whole => format!("whole, {} to {}", factor.range[0], factor.range[1]),
                0 => {
                    let [low, high] = factor.range.map(four_digits);
                    format!("{low} to {high}")
                }
                levels => format!("{levels} levels"),
            },
        })
        .collect();
    importance.sort_by(|a, b| b.total.total_cmp(&a.total));
    let named = |i: usize| {
        let others = (0..factors.len()).filter(|j| *j != i);
        let share = |j: usize| (factors[j].name.clone(), sensitivity.second[(i, j)]);
        (factors[i].name.clone(), others.map(share).collect())
    };
    let shapley = asked.rows.map(|rows| effects(model, factors, rows, o));
    let record = model.record();
    let mse = record.validation_mse.get(o).copied();
    let spread = record.validation_variance.get(o).copied();
    Ok(Output {
        name: &model.outputs()[o],
        validation_rmse: mse.map(f64::sqrt),
        validation_r2: mse.zip(spread).map(|(mse, spread)| explained(mse, spread)),
        mean: sensitivity.mean,
        variance: sensitivity.variance,
        closed_form: sensitivity.closed_form,
        importance,
        second_order: (0..sensitivity.second.nrows()).map(named).collect(),
        pairs: largest_pairs(factors, &sensitivity, PAIRS),
        no_bounds: bounds.err().map(|why| why.to_string()),
        shapley: shapley.transpose()?,
        features: match model {
            Predictor::Network(model) => Some(largest_features(model, o, asked.features)),
            Predictor::Kernel(_) => None,
        },
    })
}

/// The Shapley effects on some rows, the largest first.
fn effects(
    model: &Predictor,
    factors: &[Factor],
    rows: &Mat<f64>,
    o: usize,
) -> Result<Effects, Failure> {
    let found = Shapley::of(model, rows.as_ref(), o, &|_| ())?;
    let effects = factors.iter().enumerate().map(|(j, factor)| ShapleyEffect {
        input: factor.name.clone(),
        effect: found.effects[j],
        standard_error: found.standard_error[j],
    });
    let mut effects: Vec<ShapleyEffect> = effects.collect();
    effects.sort_by(|a, b| b.effect.total_cmp(&a.effect));
    Ok(Effects {
        rows: rows.nrows(),
        variance: found.variance,
        orders: found.orders,
        effects,
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

/// The table of inputs, most important first, what pairs do together, and whether to trust it.
fn write_importance(
    out: &mut impl Write,
    report: &Report<'_>,
    output: &Output<'_>,
) -> Result<(), Failure> {
    let names = output.importance.iter().map(|line| line.input.as_str());
    let column = column_width(names, 10).min(WIDEST);
    let index = |index: f64, bounds: Option<[f64; 2]>| {
        let around = bounds.map_or(String::new(), |bounds| {
            format!("± {:.6}", Bounds::around(index, bounds))
        });
        format!("{index:>12.6} {around:<10}")
    };
    writeln!(
        out,
        "  {:<column$}{:>12}{:>23}{:>27}   range",
        "input", "Sobol first", "Sobol total", "mean (∂f/∂x)²"
    )?;
    for line in &output.importance {
        let first = index(line.first_order, line.first_order_bounds);
        let total = index(line.total, line.total_bounds);
        let slope = line.mean_squared_derivative;
        writeln!(
            out,
            "  {:<column$}{first}{total}{:>16}   {}",
            line.input,
            slope.map_or("-".into(), four_digits),
            line.range,
        )?;
    }
    let how = match output.closed_form {
        true => "integrated in closed form",
        false => "estimated by sampling",
    };
    let whose = if report.given {
        "given"
    } else {
        "of the samples"
    };
    writeln!(out, "  ({how} over the ranges {whose})")?;
    match &output.no_bounds {
        None => writeln!(
            out,
            "  (±: by how much the errors of the model, as unseen rows show them, may move an index at most)"
        )?,
        Some(why) => writeln!(out, "  (no bounds on the indices: {why})")?,
    }
    for (a, b, share) in &output.pairs {
        writeln!(
            out,
            "  {a} and {b} do {share:.6} together, beyond what each does alone"
        )?;
    }
    if output.pairs.is_empty() && !output.second_order.is_empty() && output.importance.len() > 1 {
        writeln!(out, "  no two inputs do anything together: each acts alone")?;
    }
    if let Some(warning) = &report.warning {
        writeln!(out, "  {warning}")?;
        if output.shapley.is_none() {
            let model = report.model.display();
            writeln!(out, "  for these: thinfit inspect {model} TABLE")?;
        }
    }
    writeln!(out)?;
    match &output.shapley {
        None => Ok(()),
        Some(effects) => write_effects(out, effects),
    }
}

/// The Shapley effects.
fn write_effects(out: &mut impl Write, found: &Effects) -> Result<(), Failure> {
    let column = column_width(found.effects.iter().map(|line| line.input.as_str()), 10).min(WIDEST);
    writeln!(
        out,
        "  {:<column$}{:>14}   standard error",
        "input", "Shapley effect"
    )?;
    for line in &found.effects {
        writeln!(
            out,
            "  {:<column$}{:>14.4}   {:.4}",
            line.input, line.effect, line.standard_error
        )?;
    }
    let over = match found.orders {
        None => "all sets of inputs".into(),
        Some(orders) => format!("{orders} random orders of the inputs"),
    };
    writeln!(
        out,
        "  (shares of the variance over {}, inputs that go together sharing what they explain; from {over})\n",
        counted(found.rows, "row"),
    )?;
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
