//! `thinfit minimise`: the minimum of an output, or the Pareto front of several.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use thinfit_methods::Predictor;
use thinfit_plot::{Tradeoffs, tradeoffs};
use thinfit_study::{Front, Goal, Minimum, Optimum, Region, Value, front, minimise, notes};
use thinfit_table::{Cell, Writer};
use thinfit_text::suggest;

use crate::args::MinimiseArgs;
use crate::digits::{all_digits, counted, six_digits, two_digits};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{
    Output, check_distinct, check_table_name, check_writable, create_table, tell_all_written,
};
use crate::picture::{check_format, save_as};

/// Points of a front that are printed; a file has all.
const SHOWN: usize = 12;

/// What `--json` prints, before what was found.
#[derive(Serialize)]
struct Answer<'a, T: Serialize> {
    model: &'a Path,
    #[serde(flatten)]
    found: T,
}

/// What `--json` prints of a minimum.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    optimum: &'a Optimum,
    words: Vec<String>,
}

/// Searches, prints what was found, and writes it.
pub fn run(args: &MinimiseArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let outputs = [
        args.output.as_deref().map(|path| (path, "-o FILE")),
        args.plot.as_deref().map(|path| (path, "--plot")),
    ];
    let outputs: Vec<Output<'_>> = outputs.into_iter().flatten().collect();
    let inputs = [Some(&args.model), args.ranges.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(|p| p.as_path()).collect();
    check_distinct(&inputs, &outputs)?;
    let table = outputs.first().filter(|_| args.output.is_some());
    table.copied().map_or(Ok(()), check_table_name)?;
    args.plot.as_deref().map_or(Ok(()), check_format)?;
    let model = super::load(&args.model, memory)?;
    let goals = goals(&model, args)?;
    let region = super::region(&model, args.ranges.as_deref(), &args.fix, &args.within)?;
    if args.plot.is_some() && goals.len() == 1 {
        return Err(Failure::new(
            "--plot draws the Pareto front of several outputs, and there is only one; remove it",
        ));
    }
    outputs
        .iter()
        .try_for_each(|output| check_writable(*output))?;
    if let [goal] = goals[..] {
        let found = minimise(&region, goal, args.seed)?;
        if let Some(path) = &args.output {
            write_minima(path, &found)?;
        }
        if args.json {
            let words = found.words();
            let optimum = &found;
            return write_json(out, &args.model, Told { optimum, words });
        }
        write_optimum(out, &region, &found)?;
        return tell_all_written(out, &outputs);
    }
    let found = front(&region, &goals, args.seed)?;
    if let Some(path) = &args.output {
        let mut writer = create_table(path)?;
        write_front(&mut writer, &found)?;
        writer.finish()?;
    }
    if let Some(path) = &args.plot {
        save_as(path, &picture(&found))?;
    }
    match args.json {
        true => write_json(out, &args.model, &found),
        false => {
            tell_front(out, args, &found)?;
            tell_all_written(out, &outputs)
        }
    }
}

fn write_json(out: &mut impl Write, model: &Path, found: impl Serialize) -> Result<(), Failure> {
    serde_json::to_writer(&mut *out, &Answer { model, found })?;
    Ok(writeln!(out)?)
}

/// The goals of the outputs.
fn goals(model: &Predictor, args: &MinimiseArgs) -> Result<Vec<Goal>, Failure> {
    let names = model.outputs();
    let targets = match args.target.is_empty() {
        true => (0..names.len()).collect(),
        false => output_indices(names, &args.target, "--target")?,
    };
    let mut goals: Vec<Goal> = targets.iter().map(|o| Goal::least(*o)).collect();
    match &args.maximise[..] {
        [] => (),
        // Without a name it applies to the only output.
        [name] if name.is_empty() => match &mut goals[..] {
            [goal] => goal.maximise = true,
            _ => {
                return Err(Failure::new(format!(
                    "--maximise: name which of the {} to maximise, or choose one with --target",
                    counted(goals.len(), "output")
                )));
            }
        },
        given => {
            for o in output_indices(names, given, "--maximise")? {
                let goal = goals.iter_mut().find(|goal| goal.output == o);
                let goal = goal.ok_or_else(|| {
                    let problem = format!(
                        "--maximise: `{}` is not among the outputs of --target",
                        names[o]
                    );
                    Failure::new(problem + "; add it there")
                })?;
                goal.maximise = true;
            }
        }
    }
    Ok(goals)
}

/// The places of outputs in the values of an option, each of which is one name, or several separated by commas.
pub fn output_indices(
    names: &[String],
    given: &[String],
    option: &str,
) -> Result<Vec<usize>, Failure> {
    let split = |given: &String| match names.contains(given) {
        true => vec![given.clone()],
        false => given.split(',').map(|name| name.trim().into()).collect(),
    };
    let mut places = Vec::new();
    for name in given.iter().flat_map(split) {
        let o = names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| {
                let hint = suggest(names, &name);
                Failure::new(format!(
                    "{option}: expected an output of the model, found `{name}`; {hint}"
                ))
            })?;
        if !places.contains(&o) {
            places.push(o);
        }
    }
    Ok(places)
}

/// A cell of a table.
pub fn cell(value: &Value) -> Cell<'_> {
    match value {
        Value::Number(number) => Cell::Number(*number),
        Value::Text(text) => Cell::Text(text),
    }
}

/// Writes the minimum and those that are about as good, the best first.
fn write_minima(path: &Path, found: &Optimum) -> Result<(), Failure> {
    let mut writer = create_table(path)?;
    let columns = found.best.point.0.iter().map(|(name, _)| name.clone());
    let mut names: Vec<String> = columns.chain([found.output.clone()]).collect();
    if found.best.interval.is_some() {
        names.extend(["low", "high"].map(|end| format!("{}_{end}", found.output)));
    }
    writer.names(&names)?;
    for minimum in std::iter::once(&found.best).chain(&found.others) {
        let cells = minimum.point.0.iter().map(|(_, value)| cell(value));
        let cells = cells.chain([Cell::Number(minimum.value)]);
        let bounds = minimum.interval.into_iter().flatten().map(Cell::Number);
        writer.cells(cells.chain(bounds))?;
    }
    Ok(writer.finish()?)
}

/// A value in readable form.
fn told(value: &Value) -> String {
    match value {
        Value::Number(number) => all_digits(*number),
        Value::Text(text) => text.clone(),
    }
}

fn write_optimum(
    out: &mut impl Write,
    region: &Region<'_>,
    found: &Optimum,
) -> Result<(), Failure> {
    let Minimum {
        rounded: point,
        value,
        interval,
        ..
    } = &found.best;
    let extremum = if found.maximised {
        "maximum"
    } else {
        "minimum"
    };
    writeln!(
        out,
        "{extremum} of {}: {} at\n",
        found.output,
        six_digits(*value)
    )?;
    let widest = point.0.iter().map(|(name, _)| name.chars().count()).max();
    let widest = widest.unwrap_or(0);
    let columns = point.0.iter().zip(region.factors()).zip(region.fixed());
    for (((name, value), factor), fixed) in columns {
        let unit = factor.unit.as_deref().unwrap_or_default();
        let note = match (*fixed, found.undetected.contains(name)) {
            (true, _) => "(fixed)",
            (false, true) => "(no detectable effect)",
            (false, false) => "",
        };
        let line = format!("  {name:<widest$}  {} {unit} {note}", told(value));
        writeln!(out, "{}", line.trim_end().replace("  (", " ("))?;
    }
    writeln!(out)?;
    match interval {
        Some([low, high]) => writeln!(
            out,
            "90 % interval of a new observation there: ± {}",
            two_digits(0.5 * (high - low))
        )?,
        None => writeln!(out, "the model has no intervals")?,
    }
    for words in found.words() {
        writeln!(out, "{words}")?;
    }
    if !found.others.is_empty() {
        writeln!(out)?;
        let name = |(name, _): &(String, Value)| name.clone();
        let names: Vec<String> = point
            .0
            .iter()
            .map(name)
            .chain([found.output.clone()])
            .collect();
        let row = |minimum: &Minimum| -> Vec<String> {
            let cells = minimum.rounded.0.iter().map(|(_, value)| told(value));
            cells.chain([six_digits(minimum.value)]).collect()
        };
        write_table(
            out,
            &names,
            &found.others.iter().map(row).collect::<Vec<_>>(),
        )?;
        if found.more > 0 {
            writeln!(out, "  and {} more", found.more)?;
        }
    }
    Ok(())
}

/// Columns of texts, flush right.
fn write_table(
    out: &mut impl Write,
    names: &[String],
    rows: &[Vec<String>],
) -> Result<(), Failure> {
    let width = |j: usize| {
        let cells = rows.iter().map(|row| &row[j]).chain([&names[j]]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    };
    let widths: Vec<usize> = (0..names.len()).map(width).collect();
    for row in std::iter::once(names).chain(rows.iter().map(Vec::as_slice)) {
        for (cell, width) in row.iter().zip(&widths) {
            write!(out, "{cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_front(writer: &mut Writer<'_>, found: &Front) -> Result<(), Failure> {
    let columns = found.points.iter().take(1).flat_map(|point| &point.point.0);
    let names = columns.map(|(name, _)| name.clone());
    let names: Vec<String> = names.chain(found.outputs.clone()).collect();
    writer.names(&names)?;
    for point in &found.points {
        let cells = point.point.0.iter().map(|(_, value)| cell(value));
        writer.cells(cells.chain(point.values.iter().map(|value| Cell::Number(*value))))?;
    }
    Ok(())
}

fn tell_front(out: &mut impl Write, args: &MinimiseArgs, found: &Front) -> Result<(), Failure> {
    writeln!(
        out,
        "{} on the Pareto front: none is better than another in every output\n",
        counted(found.points.len(), "point")
    )?;
    let columns = found.points.iter().take(1).flat_map(|point| &point.point.0);
    let names: Vec<String> = columns
        .map(|(name, _)| name.clone())
        .chain(labels(found))
        .collect();
    let row = |k: usize| -> Vec<String> {
        let point = &found.points[k];
        let cells = point.rounded.0.iter().map(|(_, value)| told(value));
        cells
            .chain(point.values.iter().map(|value| six_digits(*value)))
            .collect()
    };
    let last = found.points.len() - 1;
    let shown = SHOWN.min(found.points.len());
    // Evenly over the front, with both ends.
    let places = (0..shown).map(|k| k * last / (shown - 1).max(1));
    write_table(out, &names, &places.map(row).collect::<Vec<_>>())?;
    let notes = notes(&found.undetected, &found.integers, &found.switches);
    notes
        .iter()
        .try_for_each(|note| writeln!(out, "\n{note}"))?;
    if shown < found.points.len() {
        let all = match &args.output {
            Some(path) => format!("all of them are in {}", path.display()),
            None => "-o front.csv writes all of them".into(),
        };
        writeln!(out, "\n{} more; {all}", found.points.len() - shown)?;
    }
    Ok(())
}

/// The outputs of a front with their goals.
fn labels(found: &Front) -> Vec<String> {
    let label = |(name, maximised): (&String, &bool)| match maximised {
        true => format!("{name} (large)"),
        false => format!("{name} (small)"),
    };
    found
        .outputs
        .iter()
        .zip(&found.maximised)
        .map(label)
        .collect()
}

fn picture(found: &Front) -> thinfit_plot::Canvas {
    let points: Vec<Vec<f64>> = found
        .points
        .iter()
        .map(|point| point.values.clone())
        .collect();
    tradeoffs(Tradeoffs {
        title: "Pareto front",
        outputs: &labels(found),
        points: &points,
    })
}
