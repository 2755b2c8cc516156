//! The samples of a fit in memory: a table read whole, with text encoded.

use thinfit::{Code, Coded, Column, Dataset, Encoding, Levels, Mat, TwoValues};
use thinfit_table::{Cells, Note};

use crate::args;
use crate::failure::Failure;
use crate::notes;
use crate::progress::Progress;
use crate::shell::quoted;
use crate::table::roles::{FitColumns, Roles, roles};
use crate::table::{Purpose, TableSource};

/// What to learn from.
pub struct Samples {
    /// The samples.
    pub data: Dataset,
    /// How its inputs were made from the columns of the table, where they are not these columns.
    pub encoding: Option<Encoding>,
    /// The place of each sample among the rows of the table, counted from 0.
    pub rows: Vec<usize>,
    /// Rows left out because of missing values.
    pub dropped: usize,
    /// Number of missing values replaced by means or the most frequent text.
    pub filled: usize,
    /// What was done to the files of the table.
    pub notes: Vec<Note>,
    /// All columns that could be inputs, and how they are used.
    pub columns: Encoding,
    /// The input that could number the rows, if it is the only one of numbers.
    pub kept: Option<String>,
}

impl Samples {
    /// Reports what was skipped, interpreted and ignored.
    pub fn tell(&self, progress: &Progress) {
        notes::tell(&self.notes, progress);
        notes::tell_columns(&self.columns, self.kept.as_deref(), progress);
        for output in TwoValues::of(&self.data) {
            progress.warn(output.to_string());
        }
    }
}

/// The samples to learn from.
pub fn samples(source: &TableSource, named: &FitColumns) -> Result<Samples, Failure> {
    let mut reader = source.open(Purpose::Fit)?;
    let Roles {
        inputs,
        targets,
        weights,
        groups,
    } = roles(&mut reader, source, named)?;
    let names: Vec<String> = reader.names().to_vec();
    let pick =
        |columns: &[usize]| -> Vec<String> { columns.iter().map(|&j| names[j].clone()).collect() };
    let chosen = reader.selected().to_vec();
    reader.admit_text(&chosen);
    let raw = reader.read_raw()?;
    let columns: Vec<Column<'_>> = (0..inputs.len()).map(|j| column(raw.cells(j))).collect();
    let chosen_by_name = !named.args.inputs.is_empty();
    let mut encoding = Encoding::learn(&pick(&inputs), &columns, chosen_by_name);
    let kept = encoding.kept_row_number(&columns, chosen_by_name);
    let kept = kept.map(str::to_owned);
    if let Some(args::Missing::Mean) = source.missing() {
        encoding = encoding.filled_from(&columns);
    }
    // A row without a target cannot be learned from.
    let measured: Vec<usize> = (inputs.len()..chosen.len()).collect();
    // Groups may have any names.
    let mut numbers = measured[..targets.len() + weights.len()].to_vec();
    let mut used = Vec::new();
    for (j, Coded { name, code, .. }) in encoding.columns().iter().enumerate() {
        match code {
            Code::LeftOut { why } if chosen_by_name => {
                return Err(Failure::new(format!(
                    "`{name}` cannot be an input: {why}; remove it from --inputs, or write it as a number (a date, for \
                     instance, as hours since the first)"
                )));
            }
            Code::LeftOut { .. } => continue,
            Code::Number => numbers.push(j),
            _ => {}
        }
        used.push(j);
    }
    let (d, c) = (used.len(), targets.len());
    if d == 0 {
        return Err(Failure::new(format!(
            "{}: no input columns are left ({}); give a table with more columns, or encode some as numbers",
            source.first().display(),
            encoding.notes().join("; ")
        )));
    }
    used.extend(&measured);
    let raw = raw.measured(&measured).expect_numbers(&numbers);
    let table = raw.complete(&used)?;
    let cells = (0..d).flat_map(|j| table.x.col_as_slice(j));
    let filled = cells.filter(|value| value.is_nan()).count();
    let part = |from: usize, columns: usize| -> Mat<f64> {
        table.x.as_ref().subcols(from, columns).to_owned()
    };
    let columns: Vec<Column<'_>> = (0..d).map(|j| column(table.cells(j))).collect();
    let data = Dataset::new(encoding.apply(&columns)?, part(d, c))?;
    let data = data.with_names(encoding.inputs(), pick(&targets))?;
    let data = match weights.as_slice() {
        [] => data,
        _ => data.with_weights(table.x.col_as_slice(d + c).to_vec())?,
    };
    let data = match groups.as_slice() {
        [] => data,
        [column, ..] => {
            let cells = table.cells(d + c + weights.len());
            data.with_groups(numbered(cells, &names[*column])?)?
        }
    };
    Ok(Samples {
        data,
        encoding: Some(encoding.clone()).filter(|encoding| !encoding.is_plain()),
        rows: table.rows,
        dropped: table.dropped,
        filled,
        notes: reader.notes(),
        columns: encoding,
        kept,
    })
}

/// A number for each cell of the column `name`, the same for equal cells.
fn numbered(cells: Cells<'_>, name: &str) -> Result<Vec<u64>, Failure> {
    match cells {
        // Adding zero makes −0 equal to 0.
        Cells::Numbers(values) => Ok(values.iter().map(|v| (v + 0.0).to_bits()).collect()),
        Cells::Text { codes, .. } => Ok(codes.iter().map(|code| *code as u64).collect()),
        Cells::Dates => Err(Failure::new(format!(
            "--groups {}: expected numbers or text, found dates or times; write the column as text",
            quoted(name)
        ))),
    }
}

/// The cells of a table in the form of the library.
pub fn column(cells: Cells<'_>) -> Column<'_> {
    match cells {
        Cells::Numbers(values) => Column::Numbers(values),
        Cells::Text { levels, codes } => Column::Text {
            levels,
            codes,
            levels_are: Levels::Found,
        },
        Cells::Dates => Column::Dates,
    }
}
