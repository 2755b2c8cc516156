//! Figure 1 of the paper: the frequencies that four methods find for three functions of two inputs.
//!
//! The Fourier transform of a function p(⟨a_1, x⟩) + q(⟨a_2, x⟩) lies on the two lines through the origin along a_1 and
//! a_2. The share of a network is the part of Σ_l |b_l| whose w_l lie near one of them.

use std::path::Path;

use crate::{Column, Exhibit, Report, Row, Spectrum};
use thinfit_plot::{Canvas, FeatureGrid, Weights, feature_grid};

/// The largest frequency shown: the second summand of g oscillates up to ten times per unit.
const REACH: f64 = 10.0;

/// The spectra of all finished seeds, by row and function.
#[derive(Clone, Debug)]
pub struct Figure1 {
    panels: Vec<(Row, Column, Vec<Spectrum>)>,
}

impl Figure1 {
    /// The rows, from the top.
    pub const ROWS: [Row; 4] = [Row::Gft, Row::GftR, Row::AnovaRff, Row::NeuralNet];

    /// Reads the spectra of the fits in a report from the folder of their ledger.
    pub fn read(report: &Report, folder: &Path) -> Self {
        let panel = |row, column| {
            let mut comparisons = report.of(Exhibit::Figure1);
            let found = comparisons.find(|c| (c.cell.row, c.cell.column) == (row, column));
            let ours = found.and_then(|comparison| comparison.ours.as_ref());
            let entries = ours.map_or(&[][..], |ours| &ours.entries);
            let spectra = entries
                .iter()
                .filter_map(|entry| Spectrum::load(folder, &entry.job));
            (row, column, spectra.collect())
        };
        let columns = |row| Exhibit::Figure1.columns().map(move |c| panel(row, c));
        Figure1 {
            panels: Figure1::ROWS.into_iter().flat_map(columns).collect(),
        }
    }

    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(|(.., spectra)| spectra.is_empty())
    }

    /// Mean over the seeds of the part of Σ|b| near the lines, and the number of seeds.
    pub fn share(&self, row: Row, column: Column) -> Option<(f64, usize)> {
        let mut panels = self.panels.iter();
        let (.., spectra) = panels.find(|(r, c, _)| (*r, *c) == (row, column))?;
        let directions = directions(column);
        let sum: f64 = spectra.iter().map(|s| s.share(directions)).sum();
        (!spectra.is_empty()).then(|| (sum / spectra.len() as f64, spectra.len()))
    }

    /// The picture; each panel shows the first seed.
    pub fn canvas(&self) -> Canvas {
        let first = |panel: &(Row, Column, Vec<Spectrum>)| {
            let spectrum = panel.2.first().cloned().unwrap_or_default();
            (spectrum.w.concat(), spectrum.magnitude)
        };
        let networks: Vec<(Vec<f64>, Vec<f64>)> = self.panels.iter().map(first).collect();
        let networks: Vec<Weights<'_>> = networks
            .iter()
            .map(|(w, magnitude)| Weights { w, magnitude })
            .collect();
        let columns: Vec<Column> = Exhibit::Figure1.columns().collect();
        let names: Vec<&str> = columns.iter().map(|column| column.problem()).collect();
        let lines: Vec<&[[f64; 2]]> = columns.iter().map(|column| directions(*column)).collect();
        feature_grid(FeatureGrid {
            title: "Features by method and function",
            rows: &Figure1::ROWS.map(Row::label),
            columns: &names,
            networks: &networks,
            support: &lines,
            reach: Some(REACH),
        })
    }
}

/// Directions of the lines on which the Fourier transform of a function lies.
fn directions(column: Column) -> &'static [[f64; 2]] {
    match column {
        Column::Function(problem, ..) => problem.directions(),
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_sums_of_waves_along_their_directions() {
        for column in Exhibit::Figure1.columns() {
            let Column::Function(problem, ..) = column else {
                unreachable!("a function")
            };
            let lines = directions(column);
            let (a, b) = (lines[0], lines[1]);
            // f(x) = p(<a, x>) + q(<b, x>): mixed differences across both lines vanish.
            let (s, t) = ([-a[1], a[0]], [-b[1], b[0]]);
            let at = |i: f64, j: f64| {
                problem.evaluate(&[
                    0.3 + 0.1 * (i * s[0] + j * t[0]),
                    0.4 + 0.1 * (i * s[1] + j * t[1]),
                ])
            };
            let mixed = at(1.0, 1.0) - at(1.0, 0.0) - at(0.0, 1.0) + at(0.0, 0.0);
            assert!(mixed.abs() < 1e-12, "{column}: {mixed}");
        }
    }
}
