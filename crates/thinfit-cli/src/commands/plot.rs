//! `thinfit plot`: plots a model, its training and its errors on a table.

use std::io::Write;
use std::path::{Path, PathBuf};

use thinfit::file::write_whole;
use thinfit::{Activation, Mat, Model, Phase};
use thinfit_methods::{InputColumn, Predictor, Sensitivity};
use thinfit_plot::{
    Canvas, Effect, Effects, Features, Importance, Learning, Prediction, effects, features,
    importance, learning, prediction, residuals,
};

use crate::args::PlotArgs;
use crate::commands::inspect::largest_pairs;
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{Output, check_distinct, tell_written};
use crate::progress::Progress;
use crate::table::TableSource;
use crate::table::model_rows::Rows;

/// The formats of every plot.
const FORMATS: [&str; 2] = ["svg", "png"];
/// PNG pixels per SVG pixel.
pub const DOTS: f64 = 2.0;
/// Number of effects that are drawn, the most important first.
const CURVES: usize = 60;
/// Pairs of inputs that are named below the bars.
const PAIRS: usize = 3;
/// Points on the curve of an effect.
const CURVE: usize = 101;
/// Marks on the axis of an effect: quantiles of the input.
const MARKS: usize = 21;
/// Probability of the intervals, which the pictures call 90 %.
const LEVEL: f64 = 0.9;
/// Deviations of a normal variable within which it lies with this probability.
const DEVIATIONS: f64 = 1.645;
/// Training steps that one polish step is drawn as wide as.
const POLISH: f64 = 50.0;

/// Makes all plots.
pub fn run(args: &PlotArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let model = match args.data {
        Some(_) => super::load_before_table(&args.model, memory, "plot")?,
        None => super::load(&args.model, memory)?,
    };
    check_pictures(args, model.outputs())?;
    let rows = match &args.data {
        None => None,
        Some(path) => {
            let table = TableSource::find(path, &[], &args.table, memory)?;
            let rows = Rows::read(&table, &model, Some(&args.target))?;
            rows.tell(&Progress::new(args.quiet));
            Some(rows)
        }
    };
    let ranges = super::ranges(args.ranges.as_deref(), &model)?;
    let factors = ranges.factors();
    make_folder(&args.out)?;
    let outputs = model.outputs();
    let name = |o: usize, picture: &str| picture_name(outputs, o, picture);
    if let Predictor::Network(network) = &model
        && !network.record.history.is_empty()
    {
        save(out, &args.out, "learning", &learning_curve(network))?;
    }
    let x = rows.as_ref().map(|rows| &rows.inputs);
    for (o, output) in outputs.iter().enumerate() {
        let progress = Progress::patient_unless(args.quiet);
        let watch = |done: f64| progress.step(done, || "sensitivity indices".into());
        let sensitivity = model.sensitivity_over(o, factors, &watch)?;
        progress.finish();
        if let Predictor::Network(network) = &model {
            let title = format!("Features of {output}");
            let picture = feature_picture(network, o, &by_input(factors, &sensitivity), &title);
            save(out, &args.out, &name(o, "features"), &picture)?;
        }
        let picture = importance_bars(&model, factors, o, &sensitivity);
        save(out, &args.out, &name(o, "importance"), &picture)?;
        let picture = effect_curves(&model, factors, o, &sensitivity, x)?;
        save(out, &args.out, &name(o, "effects"), &picture)?;
    }
    if let Some(rows) = &rows {
        let x = rows.inputs.as_ref();
        let held_out = model.held_out(x, rows.targets.as_ref())?;
        let bounds = held_out.interval(&model, x, LEVEL);
        let caption = held_out.seen.caption(x.nrows());
        let kind = model.kind();
        for (o, output) in outputs.iter().enumerate() {
            let quantity = &model.label(output);
            let bounds = bounds.as_ref();
            let picture = Prediction {
                title: "Predicted and measured values",
                notes: &[&caption, &kind],
                quantity,
                measured: rows.targets.col_as_slice(o),
                predicted: held_out.predicted.col_as_slice(o),
                bounds: bounds.map(|b| (b.low.col_as_slice(o), b.high.col_as_slice(o))),
            };
            save(out, &args.out, &name(o, "prediction"), &prediction(picture))?;
            let picture = Prediction {
                title: "Errors: measured minus predicted",
                ..picture
            };
            save(out, &args.out, &name(o, "residuals"), &residuals(picture))?;
        }
        Progress::new(false).note(format!("predictions and residuals: {caption}"));
    }
    Ok(())
}

/// Refuses a plot that would overwrite the model or the table.
fn check_pictures(args: &PlotArgs, outputs: &[String]) -> Result<(), Failure> {
    let names = (0..outputs.len()).flat_map(|o| {
        let of = [
            "features",
            "importance",
            "effects",
            "prediction",
            "residuals",
        ];
        of.map(|picture| picture_name(outputs, o, picture))
    });
    let names = names.chain(["learning".into()]);
    let files: Vec<PathBuf> = names
        .flat_map(|name| FORMATS.map(|format| picture_file(&args.out, &name, format)))
        .collect();
    let files: Vec<Output<'_>> = files.iter().map(|file| (&**file, "-o DIR")).collect();
    let inputs = [Some(&args.model), args.ranges.as_ref(), args.data.as_ref()]
        .into_iter()
        .flatten();
    let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
    check_distinct(&inputs, &files)
}

/// The name of a plot of output `o`, without its extension.
fn picture_name(outputs: &[String], o: usize, picture: &str) -> String {
    match outputs.len() {
        1 => picture.to_owned(),
        _ => format!("{picture}-{}-{}", o + 1, file_name(&outputs[o])),
    }
}

fn picture_file(folder: &Path, name: &str, format: &str) -> PathBuf {
    folder.join(format!("{name}.{format}"))
}

/// Creates a folder for plots.
pub fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).map_err(|error| {
        Failure::new(format!(
            "cannot create the folder `{}` for the plots: {error}; choose a writable one with -o DIR",
            path.display()
        ))
    })
}

/// Writes a plot as SVG and PNG and reports the files.
pub fn save(
    out: &mut impl Write,
    folder: &Path,
    name: &str,
    canvas: &Canvas,
) -> Result<(), Failure> {
    let png = canvas.to_png(DOTS).map_err(Failure::new)?;
    for (format, content) in FORMATS.into_iter().zip([canvas.to_svg().as_bytes(), &png]) {
        let path = picture_file(folder, name, format);
        write_whole(&path, content)?;
        tell_written(out, &path)?;
    }
    Ok(())
}

/// `text` as a file name that every file system accepts.
fn file_name(text: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() { c } else { '_' };
    text.chars().map(plain).take(60).collect()
}

/// The hidden weights, and the importance of the inputs.
pub fn feature_picture(model: &Model, o: usize, importance: &[f64], title: &str) -> Canvas {
    let w = model.hidden();
    // Weights per range, since inputs have different units; both in warped units where an input is warped.
    let ranges: Vec<f64> = (0..model.dim())
        .map(|j| model.domain[j].map(|v| model.input_scaler.warped(j, v)))
        .map(|[low, high]| high - low)
        .collect();
    let rows: Vec<f64> = (0..w.nrows())
        .flat_map(|l| w.row(l).iter().zip(&ranges).map(|(w, range)| w * range))
        .collect();
    features(Features {
        title,
        w: &rows,
        magnitude: model.magnitudes().col_as_slice(o),
        importance,
        measure: "total Sobol index",
        inputs: &model.inputs,
        unit: match model.activation() {
            Activation::Fourier => "cycles over the range of",
            Activation::Cosine => "half cycles over the range of",
            _ => "change of the argument over the range of",
        },
        support: &[],
    })
}

/// The total index of the factor of every input.
fn by_input(factors: &[InputColumn], sensitivity: &Sensitivity) -> Vec<f64> {
    let factors = factors.iter().zip(&sensitivity.total);
    factors
        .flat_map(|(factor, total)| vec![*total; factor.inputs()])
        .collect()
}

/// Factors in descending order of their total index.
fn by_importance(sensitivity: &Sensitivity) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sensitivity.total.len()).collect();
    order.sort_by(|&i, &j| sensitivity.total[j].total_cmp(&sensitivity.total[i]));
    order
}

fn importance_bars(
    model: &Predictor,
    factors: &[InputColumn],
    o: usize,
    sensitivity: &Sensitivity,
) -> Canvas {
    let order = by_importance(sensitivity);
    let pick = |values: &[f64]| order.iter().map(|&j| values[j]).collect::<Vec<_>>();
    let inputs: Vec<String> = order.iter().map(|&j| factors[j].name.clone()).collect();
    let mut notes: Vec<String> = largest_pairs(factors, sensitivity, PAIRS)
        .iter()
        .map(|pair| {
            format!(
                "{} do {:.3} together",
                pair.inputs.join(" and "),
                pair.share
            )
        })
        .collect();
    notes.extend(model.warning());
    importance(Importance {
        title: &format!("Which inputs matter for {}", model.outputs()[o]),
        inputs: &inputs,
        first: &pick(&sensitivity.first),
        total: &pick(&sensitivity.total),
        notes: &notes,
    })
}

/// The effect of each column of the table, the most important first.
fn effect_curves(
    model: &Predictor,
    factors: &[InputColumn],
    o: usize,
    sensitivity: &Sensitivity,
    x: Option<&Mat<f64>>,
) -> Result<Canvas, Failure> {
    let mut curves = Vec::new();
    for k in by_importance(sensitivity).into_iter().take(CURVES) {
        curves.push(Curve::new(model, o, factors, k, x)?);
    }
    let panels: Vec<Effect<'_>> = curves.iter().map(Curve::panel).collect();
    let bands = match curves.iter().any(|curve| curve.band.is_some()) {
        true => "; bands: at least 90 % confidence",
        false => "",
    };
    let note = format!("averaged over the other inputs{bands}\n{}", model.kind());
    Ok(effects(Effects {
        title: &format!("Effect of each input on {}", model.outputs()[o]),
        note: &note,
        quantity: &model.label(&model.outputs()[o]),
        effects: &panels,
    }))
}

/// The panel of one column.
struct Curve<'a> {
    factor: &'a InputColumn,
    label: String,
    levels: Vec<String>,
    x: Vec<f64>,
    y: Vec<f64>,
    band: Option<(Vec<f64>, Vec<f64>)>,
    rug: Vec<f64>,
}

impl<'a> Curve<'a> {
    fn new(
        model: &Predictor,
        o: usize,
        factors: &'a [InputColumn],
        k: usize,
        x: Option<&Mat<f64>>,
    ) -> Result<Self, Failure> {
        let factor = &factors[k];
        let effect = model.column_effect(o, factors, k, CURVE)?;
        let levels: Vec<String> = factor.levels.iter().map(|l| l.name.clone()).collect();
        let mut row = vec![0.0; model.inputs().len()];
        let value = |(i, place): (usize, &f64)| match levels.is_empty() {
            true => {
                factor.set(*place, &mut row);
                row[factor.first]
            }
            false => i as f64,
        };
        let at = effect.places.iter().enumerate().map(value).collect();
        let band = effect.deviation.map(|deviation| {
            let ends = effect.mean.iter().zip(&deviation);
            ends.map(|(mean, d)| (mean - DEVIATIONS * d, mean + DEVIATIONS * d))
                .unzip()
        });
        let numbers = x.filter(|_| levels.is_empty());
        Ok(Curve {
            factor,
            label: model.label(&factor.name),
            rug: numbers.map_or(Vec::new(), |x| quantiles(x.col_as_slice(factor.first))),
            levels,
            x: at,
            y: effect.mean,
            band,
        })
    }

    fn panel(&self) -> Effect<'_> {
        Effect {
            input: &self.label,
            levels: &self.levels,
            x: &self.x,
            y: &self.y,
            band: self.band.as_ref().map(|(low, high)| (&**low, &**high)),
            warp: self.factor.warp.map(|warp| [warp.centre, warp.width]),
            rug: &self.rug,
        }
    }
}

fn quantiles(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => Vec::new(),
        m => (0..MARKS)
            .map(|k| sorted[k * (m - 1) / (MARKS - 1)])
            .collect(),
    }
}

fn learning_curve(model: &Model) -> Canvas {
    let (mut loss, mut validation, mut phases) = (Vec::new(), Vec::new(), Vec::new());
    let (mut begin, mut end, mut now, mut last) = (0.0, 0.0, None, 0);
    for check in &model.record.history {
        let phase = check.phase();
        let width = if phase == Phase::Polish { POLISH } else { 1.0 };
        if now != Some(phase) {
            let steps = match width {
                1.0 => String::new(),
                width => format!(", steps ×{width}"),
            };
            phases.push((end, format!("{}{steps}", phase.name())));
        }
        // The polish counts from zero again once its best candidates are known.
        if now != Some(phase) || check.step < last {
            (begin, now) = (end, Some(phase));
        }
        last = check.step;
        end = begin + width * check.step as f64;
        loss.extend(check.loss.map(|loss| (end, loss)));
        validation.push((end, check.validation));
    }
    let phases: Vec<(f64, &str)> = phases.iter().map(|(end, name)| (*end, &**name)).collect();
    learning(Learning {
        title: "Learning curve",
        measure: "mean squared error, scaled outputs",
        loss: &loss,
        validation: &validation,
        phases: &phases,
    })
}
