//! `thinfit propagate`: propagates input uncertainty to the outputs of a model.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thinfit_methods::{InputColumn, Setting};
use thinfit_plot::{Histogram, distributions};
use thinfit_study::{Block, Estimate, Given, Inputs, Propagation, Spread, Summary, propagate};
use thinfit_table::{Cell, Writer};

use crate::args::PropagateArgs;
use crate::commands::minimise::output_indices;
use crate::digits::{column_width, counted, six_digits, two_digits};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::output::{
    Output, check_distinct, check_table_name, check_writable, create_table, tell_all_written,
};
use crate::picture::{check_format, save_as};
use crate::progress::Progress;
use crate::settings::read_toml;

/// The probability of values beyond a limit.
#[derive(Serialize)]
struct Beyond {
    output: String,
    /// `above` or `below`.
    side: &'static str,
    limit: f64,
    /// Of the model's prediction.
    model: Estimate,
    /// Of a new observation.
    observation: Option<Estimate>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    model: &'a Path,
    #[serde(flatten)]
    found: &'a Propagation,
    beyond: &'a [Beyond],
}

/// Draws, prints the distributions, and writes the draws.
pub fn run(args: &PropagateArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let outputs = [
        args.output.as_deref().map(|path| (path, "-o FILE")),
        args.plot.as_deref().map(|path| (path, "--plot")),
    ];
    let outputs: Vec<Output<'_>> = outputs.into_iter().flatten().collect();
    check_distinct(&[&args.model, &args.inputs], &outputs)?;
    let table = outputs.first().filter(|_| args.output.is_some());
    table.copied().map_or(Ok(()), check_table_name)?;
    args.plot.as_deref().map_or(Ok(()), check_format)?;
    let model = super::load(&args.model, memory)?;
    let given = given(&args.inputs)?;
    let inputs = Inputs::new(&model, &given)
        .map_err(|error| Failure::new(format!("{}: {error}", args.inputs.display())))?;
    let limits = [("above", &args.above), ("below", &args.below)];
    let mut beyond = Vec::new();
    for (side, texts) in limits {
        for text in texts {
            let (o, limit) = limit(model.outputs(), text, side)?;
            beyond.push((side, o, limit));
        }
    }
    let rows = args.rows as usize;
    // The outputs of every draw and new observations of them, while they are sorted.
    let kept = (rows as u64).saturating_mul(24 * model.outputs().len() as u64);
    memory.allow(&format!("{rows} draws take"), kept, "ask for fewer --rows")?;
    outputs
        .iter()
        .try_for_each(|output| check_writable(*output))?;
    let factors = InputColumn::all(&model);
    let mut writer = args.output.as_deref().map(create_table).transpose()?;
    if let Some(writer) = &mut writer {
        let columns = factors.iter().map(|factor| factor.name.clone());
        let names: Vec<String> = columns.chain(model.outputs().to_vec()).collect();
        writer.names(&names)?;
    }
    let progress = Progress::patient();
    let mut done = 0;
    let watch = |block: Block<'_>| {
        done += block.x.nrows();
        progress.step(done as f64 / rows as f64, || format!("{done} draws"));
        match &mut writer {
            Some(writer) => write_block(writer, &factors, &block),
            None => Ok(()),
        }
    };
    let found = propagate(&model, &inputs, rows, args.seed, watch)?;
    progress.finish();
    if let Some(writer) = writer {
        writer.finish()?;
    }
    let probability = |(side, o, limit): &(&'static str, usize, f64)| {
        let spread = &found.outputs[*o];
        let estimate = |values: &[f64]| match *side {
            "above" => Spread::above(values, *limit),
            _ => Spread::below(values, *limit),
        };
        Beyond {
            output: spread.output.clone(),
            side,
            limit: *limit,
            model: estimate(&spread.values),
            observation: (spread.observation.is_some()).then(|| estimate(&spread.observations)),
        }
    };
    let beyond: Vec<Beyond> = beyond.iter().map(probability).collect();
    if let Some(path) = &args.plot {
        save_as(path, &picture(&found, &beyond))?;
    }
    if args.json {
        let answer = Answer {
            model: &args.model,
            found: &found,
            beyond: &beyond,
        };
        serde_json::to_writer(&mut *out, &answer)?;
        return Ok(writeln!(out)?);
    }
    write_report(out, &found, &beyond)?;
    tell_all_written(out, &outputs)
}

/// The distributions in a file.
fn given(path: &Path) -> Result<Vec<(String, Given)>, Failure> {
    let table = read_toml(path, "the inputs", "speed = { normal = [5, 0.2] }")?;
    let read = table.into_iter().map(|(name, value)| {
        let given = Given::deserialize(value).map_err(|error| {
            let problem = error.message();
            Failure::new(format!("{}: `{name}`: {problem}", path.display()))
        });
        Ok((name, given?))
    });
    read.collect()
}

/// The output and the limit in `3` or `y=3`.
fn limit(outputs: &[String], text: &str, side: &str) -> Result<(usize, f64), Failure> {
    let (name, number) = match text.rsplit_once('=') {
        Some((name, number)) => (Some(name.trim()), number),
        None => (None, text),
    };
    let number: Option<f64> = number.trim().parse().ok();
    let Some(number) = number.filter(|number| number.is_finite()) else {
        return Err(Failure::new(format!(
            "--{side}: expected a number such as 3, or y=3, found `{text}`; correct it"
        )));
    };
    match (name, outputs.len()) {
        (Some(name), _) => {
            let names = [name.to_owned()];
            Ok((
                output_indices(outputs, &names, &format!("--{side}"))?[0],
                number,
            ))
        }
        (None, 1) => Ok((0, number)),
        (None, count) => Err(Failure::new(format!(
            "--{side}: name one of the {}, such as {}={text}",
            counted(count, "output"),
            outputs[0]
        ))),
    }
}

fn write_block(
    writer: &mut Writer<'_>,
    factors: &[InputColumn],
    block: &Block<'_>,
) -> Result<(), Failure> {
    for i in 0..block.x.nrows() {
        let row: Vec<f64> = block.x.row(i).iter().copied().collect();
        let settings = factors.iter().map(|factor| match factor.setting(&row) {
            Setting::Number(number) => Cell::Number(number),
            Setting::Level(name) => Cell::Text(name),
        });
        let outputs = block.f.row(i).iter().map(|value| Cell::Number(*value));
        writer.cells(settings.chain(outputs).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn write_report(
    out: &mut impl Write,
    found: &Propagation,
    beyond: &[Beyond],
) -> Result<(), Failure> {
    writeln!(out, "{}", counted(found.rows, "draw"))?;
    if !found.unnamed.is_empty() {
        writeln!(
            out,
            "not specified, so uniform over the ranges of the samples: {}",
            found.unnamed.join(", ")
        )?;
    }
    for spread in &found.outputs {
        let first = column_width([spread.output.as_str()], 20);
        writeln!(
            out,
            "\n{:<first$}{:>14}{:>10}{}",
            spread.output,
            "model",
            "±",
            match spread.observation {
                Some(_) => format!("{:>18}{:>10}", "new observation", "±"),
                None => String::new(),
            }
        )?;
        let lines = |summary: &Summary| -> Vec<(String, Estimate)> {
            let quantiles = summary.quantiles.iter();
            let quantiles = quantiles.map(|q| (format!("{} %", 100.0 * q.level), q.at));
            let moments = [
                ("mean", summary.mean),
                ("standard deviation", summary.deviation),
            ];
            let moments = moments.map(|(name, estimate)| (name.to_owned(), estimate));
            moments.into_iter().chain(quantiles).collect()
        };
        let observed = spread.observation.as_ref().map(lines);
        for (k, (name, estimate)) in lines(&spread.model).iter().enumerate() {
            let observed = observed.as_ref().map(|lines| lines[k].1);
            write_line(out, (name, first), *estimate, observed)?;
        }
        for beyond in beyond
            .iter()
            .filter(|beyond| beyond.output == spread.output)
        {
            let name = format!("{} {}", beyond.side, beyond.limit);
            write_line(out, (&name, first), beyond.model, beyond.observation)?;
            let never = |estimate: &Estimate| estimate.value == 0.0;
            if never(&beyond.model) {
                writeln!(
                    out,
                    "  (no draw: the probability is below {}, at 95 % confidence)",
                    two_digits(3.0 / found.rows as f64)
                )?;
            }
        }
    }
    writeln!(out, "\n±: standard error of the random draws")?;
    if found
        .outputs
        .iter()
        .any(|spread| spread.observation.is_some())
    {
        writeln!(
            out,
            "new observation: includes the model error, drawn for each row from its calibrated interval"
        )?;
    }
    let outside = &found.outside;
    if outside.share > 0.0 {
        let percent = |share: f64| format!("{} %", two_digits(100.0 * share));
        let columns = outside.columns.iter().take(3);
        let columns: Vec<String> = columns
            .map(|(name, share)| format!("{name} {}", percent(*share)))
            .collect();
        writeln!(
            out,
            "warning: {} of the draws lie outside the ranges of the samples ({}), where the model extrapolates",
            percent(outside.share),
            columns.join(", ")
        )?;
    }
    Ok(())
}

fn write_line(
    out: &mut impl Write,
    (name, first): (&str, usize),
    model: Estimate,
    observed: Option<Estimate>,
) -> Result<(), Failure> {
    let observed = observed.map_or(String::new(), |observed| {
        format!(
            "{:>18}{:>10}",
            six_digits(observed.value),
            two_digits(observed.error)
        )
    });
    let (value, error) = (six_digits(model.value), two_digits(model.error));
    Ok(writeln!(
        out,
        "{name:<first$}{value:>14}{error:>10}{observed}"
    )?)
}

/// Histograms of the model's values, with the limits that were asked about.
fn picture(found: &Propagation, beyond: &[Beyond]) -> thinfit_plot::Canvas {
    let limits: Vec<Vec<(String, f64)>> = (found.outputs.iter())
        .map(|spread| {
            let of_output = beyond
                .iter()
                .filter(|beyond| beyond.output == spread.output);
            let named = |beyond: &Beyond| {
                let percent = two_digits(100.0 * beyond.model.value);
                (format!("{percent} % {}", beyond.side), beyond.limit)
            };
            let mut limits: Vec<(String, f64)> = of_output.map(named).collect();
            limits.sort_by(|a, b| a.1.total_cmp(&b.1));
            limits
        })
        .collect();
    let marks: Vec<Vec<(String, f64)>> = found
        .outputs
        .iter()
        .map(|spread| {
            let quantiles = spread.model.quantiles.iter();
            let shown = quantiles.filter(|q| [0.05, 0.5, 0.95].contains(&q.level));
            shown
                .map(|q| (format!("{} %", 100.0 * q.level), q.at.value))
                .collect()
        })
        .collect();
    let outputs: Vec<Histogram<'_>> = found
        .outputs
        .iter()
        .zip(marks.iter().zip(&limits))
        .map(|(spread, (marks, limits))| Histogram {
            quantity: &spread.output,
            values: &spread.values,
            marks,
            limits,
        })
        .collect();
    distributions("Distribution of the outputs", &outputs)
}
