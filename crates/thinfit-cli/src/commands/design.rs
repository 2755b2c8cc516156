//! `thinfit design`: plans where to take samples.

use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use thinfit_design::{Input, Range, Scheme, Space, Value, plan};
use thinfit_table::{Cell, Cells, Writer};
use thinfit_text::shown;

use crate::args::{self, DesignArgs};
use crate::failure::Failure;
use crate::memory::Memory;
use crate::notes;
use crate::output::{check_distinct, check_table_name, create_table, tell_written};
use crate::progress::Progress;
use crate::settings::read_toml;
use crate::table::{Purpose, TableSource};
use crate::terminal;

/// Plans the rows and writes the table.
pub fn run(args: &DesignArgs, memory: Memory, out: &mut impl Write) -> Result<(), Failure> {
    let existing = args.add_to.as_deref();
    let inputs: Vec<&Path> = [Some(args.ranges.as_path()), existing]
        .into_iter()
        .flatten()
        .collect();
    match &args.output {
        Some(output) => {
            check_distinct(&inputs, &[(output.as_path(), "--output")])?;
            check_table_name((output, "--output"))?;
        }
        None => terminal::check_open()?,
    }
    let space = space(&args.ranges)?;
    let taken = match existing {
        Some(table) => taken(table, args, &space, memory)?,
        None => Vec::new(),
    };
    let scheme = match args.scheme {
        args::Scheme::Maximin => Scheme::Maximin,
        args::Scheme::Latin => Scheme::Latin,
        args::Scheme::Sobol => Scheme::Sobol,
        args::Scheme::Halton => Scheme::Halton,
    };
    let rows = plan(&space, scheme, args.rows as usize, &taken, args.seed);
    let rows = rows.map_err(|error| Failure::new(format!("--scheme: {error}")))?;
    let mut writer = match &args.output {
        Some(path) => create_table(path)?,
        None => Writer::new("standard output", &mut *out),
    };
    let inputs = space.inputs();
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    writer.names(&names)?;
    for row in &rows {
        let values = inputs
            .iter()
            .zip(row)
            .map(|(input, place)| (&input.range, input.range.at(*place)));
        writer.cells(values.map(|(range, value)| match value {
            Value::Number(number) => Cell::Number(range.rounded(number)),
            Value::Level(text) => Cell::Text(text),
        }))?;
    }
    writer.finish()?;
    args.output
        .as_deref()
        .map_or(Ok(()), |path| tell_written(out, path))
}

/// The ranges in a file.
pub fn space(path: &Path) -> Result<Space, Failure> {
    let table = read_toml(path, "the ranges", "speed = [1, 9]")?;
    let inputs = table.into_iter().map(|(name, value)| {
        let range =
            Range::deserialize(value).map_err(|error| format!("`{name}`: {}", error.message()))?;
        Ok(Input { name, range })
    });
    let inputs: Result<Vec<Input>, String> = inputs.collect();
    let space = inputs.and_then(|inputs| Space::new(inputs).map_err(|error| error.to_string()));
    space.map_err(|problem| Failure::new(format!("{}: {problem}", path.display())))
}

/// The places of rows that exist.
fn taken(
    path: &Path,
    args: &DesignArgs,
    space: &Space,
    memory: Memory,
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut reader = TableSource::find(path, &[], &args.table, memory)?.open(Purpose::Compare)?;
    let columns = space
        .inputs()
        .iter()
        .map(|input| reader.column(&input.name));
    let columns = columns.collect::<Result<Vec<usize>, _>>()?;
    reader.select(&columns);
    let text = space.inputs().iter().zip(&columns);
    let text = text.filter(|(input, _)| matches!(input.range, Range::Levels(_)));
    reader.admit_text(&text.map(|(_, column)| *column).collect::<Vec<usize>>());
    let table = reader.read()?;
    notes::tell(&reader.notes(), &Progress::new(false));
    notes::tell_dropped(table.dropped, &Progress::new(false));
    let place = |i: usize, (j, input): (usize, &Input)| {
        let found;
        let value = match (table.cells(j), &input.range) {
            (Cells::Text { levels, codes }, _) => Value::Level(&levels[codes[i] as usize]),
            (Cells::Numbers(numbers), Range::Levels(_)) => {
                found = numbers[i].to_string();
                Value::Level(&found)
            }
            (Cells::Numbers(numbers), _) => Value::Number(numbers[i]),
            (Cells::Dates, _) => Value::Level("a date"),
        };
        input.range.place(value).ok_or_else(|| {
            let found = match value {
                Value::Level(name) => shown(name).into_owned(),
                Value::Number(number) => number.to_string(),
            };
            Failure::new(format!(
                "{}, row {}: expected a level of `{}` in {}, found `{found}`; add it there, or remove the row",
                path.display(),
                table.rows[i] + 1,
                input.name,
                args.ranges.display(),
            ))
        })
    };
    let row = |i| {
        let inputs = space.inputs().iter().enumerate();
        inputs.map(|input| place(i, input)).collect()
    };
    (0..table.x.nrows()).map(row).collect()
}
