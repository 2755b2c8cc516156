//! Shapley effects over the rows of a table, for dependent inputs.

use std::io::Write;

use serde::Serialize;
use thinfit::Mat;
use thinfit_methods::{InputColumn, Predictor};
use thinfit_study::Shapley;

use crate::digits::counted;
use crate::failure::Failure;
use crate::labels::Labels;

/// The Shapley effects of one output.
#[derive(Serialize)]
pub struct Effects {
    rows: usize,
    /// Variance of f over the rows.
    variance: f64,
    /// Number of random orders of the inputs; null if all sets were evaluated.
    orders: Option<usize>,
    effects: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    input: String,
    effect: f64,
    standard_error: f64,
}

impl Effects {
    /// On some rows, for output `o`, the largest first.
    pub fn of(model: &Predictor, rows: &Mat<f64>, o: usize) -> Result<Self, Failure> {
        let found = Shapley::of(model, rows.as_ref(), o, &|_| ())?;
        let lines = InputColumn::all(model).into_iter().enumerate();
        let lines = lines.map(|(j, factor)| Line {
            input: factor.name,
            effect: found.effects[j],
            standard_error: found.standard_error[j],
        });
        let mut effects: Vec<Line> = lines.collect();
        effects.sort_by(|a, b| b.effect.total_cmp(&a.effect));
        Ok(Effects {
            rows: rows.nrows(),
            variance: found.variance,
            orders: found.orders,
            effects,
        })
    }

    /// The table.
    pub fn write(&self, out: &mut impl Write) -> Result<(), Failure> {
        let names = self.effects.iter().map(|line| line.input.as_str());
        let labels = Labels::of(names, "input");
        writeln!(
            out,
            "{}{:>14}   standard error",
            labels.cell("input"),
            "Shapley effect"
        )?;
        for line in &self.effects {
            writeln!(
                out,
                "{}{:>14.4}   {:.4}",
                labels.cell(&line.input),
                line.effect,
                line.standard_error
            )?;
        }
        let over = match self.orders {
            None => "all sets of inputs".into(),
            Some(orders) => format!("{orders} random orders of the inputs"),
        };
        writeln!(
            out,
            "  (shares of the variance over {}, correlated inputs share what they explain together; from {over})\n",
            counted(self.rows, "row"),
        )?;
        Ok(())
    }
}
