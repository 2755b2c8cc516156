//! Figure 1 of the paper: where the features of four methods lie for three functions of two inputs.
//!
//! A sum of functions of ⟨a_1, x⟩ and ⟨a_2, x⟩ has a Fourier transform on the two lines through the origin along a_1 and
//! a_2. The share of a network is the part of Σ_l |b_l| whose w_l lie near one of them.

use std::path::{Path, PathBuf};

use crate::{Column, Error, Job, Problem, Report, Row, What};
use serde::{Deserialize, Serialize};
use thinfit::Model;
use thinfit_plot::{Canvas, FeatureGrid, Weights, feature_grid};

/// Distance from a line at which a feature counts as on it.
const NEAR: f64 = 0.1;

/// The largest frequency that is shown: the second summand of g oscillates up to ten times per unit.
const REACH: f64 = 10.0;

/// Where the features of a network of two inputs lie.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// Hidden weights, a pair for each feature.
    pub w: Vec<[f64; 2]>,
    /// Magnitude |b|/n of each.
    pub magnitude: Vec<f64>,
}

impl Features {
    /// Of a network of two inputs and one output.
    pub(crate) fn of(model: &Model) -> Self {
        let (w, magnitude) = (model.hidden(), model.magnitudes());
        Features {
            w: (0..w.nrows()).map(|l| [w[(l, 0)], w[(l, 1)]]).collect(),
            magnitude: magnitude.col_as_slice(0).to_vec(),
        }
    }

    /// Part of Σ|b| within a distance of 0.1 of the lines through the origin in these directions.
    pub fn share(&self, lines: &[[f64; 2]]) -> f64 {
        let near = |w: &[f64; 2]| {
            let distance = |a: &[f64; 2]| (w[0] * a[1] - w[1] * a[0]).abs() / a[0].hypot(a[1]);
            lines.iter().any(|a| distance(a) <= NEAR)
        };
        let all: f64 = self.magnitude.iter().sum();
        let close = self.w.iter().zip(&self.magnitude).filter(|(w, _)| near(w));
        close.fold(0.0, |sum, (_, b)| sum + b) / all.max(f64::MIN_POSITIVE)
    }

    /// The file in which the features of a job are kept, beside the ledger.
    pub(crate) fn path(folder: &Path, job: &Job) -> PathBuf {
        folder.join("features").join(format!("{}.json", job.slug()))
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), Error> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::io("write", folder, source))?;
        }
        let text = serde_json::to_string(self).expect("features are numbers");
        Ok(thinfit::file::write_whole(path, text.as_bytes())?)
    }
}

/// The features of all seeds that are done, by method and function.
#[derive(Clone, Debug)]
pub struct Figure1 {
    panels: Vec<(Row, Column, Vec<Features>)>,
}

impl Figure1 {
    /// The rows.
    pub const ROWS: [Row; 4] = [Row::Gft, Row::GftR, Row::AnovaRff, Row::NeuralNet];

    /// Reads the features of the fits in a report of Figure 1 from the folder of their ledger.
    pub fn read(report: &Report, folder: &Path) -> Self {
        let read = |job: &Job| {
            let bytes = std::fs::read(Features::path(folder, job)).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        let panel = |row, column| {
            let mut entries = report.of(What::Figure1);
            let entry = entries.find(|e| (e.cell.row, e.cell.column) == (row, column));
            let ours = entry.and_then(|entry| entry.ours.as_ref());
            let records = ours.map_or(&[][..], |ours| &ours.records);
            let features = records
                .iter()
                .filter_map(|record| read(&record.job))
                .collect();
            (row, column, features)
        };
        let panels = Figure1::ROWS
            .into_iter()
            .flat_map(|row| {
                What::Figure1
                    .columns()
                    .map(move |column| panel(row, column))
            })
            .collect();
        Figure1 { panels }
    }

    /// Whether no fit is done.
    pub fn is_empty(&self) -> bool {
        self.panels.iter().all(|(.., features)| features.is_empty())
    }

    /// Mean over the seeds of the part of Σ|b| near the lines, and the number of seeds.
    pub fn share(&self, row: Row, column: Column) -> Option<(f64, usize)> {
        let (.., features) = self
            .panels
            .iter()
            .find(|(m, c, features)| (*m, *c) == (row, column) && !features.is_empty())?;
        let lines = support(column);
        let sum: f64 = features.iter().map(|features| features.share(&lines)).sum();
        Some((sum / features.len() as f64, features.len()))
    }

    /// The picture, of the first seed of each.
    pub fn canvas(&self) -> Canvas {
        let first = |panel: &(Row, Column, Vec<Features>)| {
            let features = panel.2.first().cloned().unwrap_or_default();
            (features.w.concat(), features.magnitude)
        };
        let networks: Vec<(Vec<f64>, Vec<f64>)> = self.panels.iter().map(first).collect();
        let networks: Vec<Weights<'_>> = networks
            .iter()
            .map(|(w, magnitude)| Weights { w, magnitude })
            .collect();
        let columns: Vec<Column> = What::Figure1.columns().collect();
        let names: Vec<&str> = columns.iter().map(|column| column.problem()).collect();
        let lines: Vec<Vec<[f64; 2]>> = columns.iter().map(|column| support(*column)).collect();
        let lines: Vec<&[[f64; 2]]> = lines.iter().map(Vec::as_slice).collect();
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

/// Directions of the lines on which the Fourier transform of a function of two inputs lies.
pub fn support(column: Column) -> Vec<[f64; 2]> {
    match column {
        Column::Function(Problem::G1, ..) => vec![[1.0, 0.0], [0.0, 1.0]],
        Column::Function(Problem::G2, ..) => vec![[1.0, 1.0], [-1.0, 1.0]],
        Column::Function(Problem::G3, ..) => vec![[1.0, 0.3], [0.3, 1.0]],
        _ => vec![],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_weights_near_the_lines() {
        let features = Features {
            w: vec![[3.0, 0.05], [0.0, -2.0], [1.0, 1.0], [0.2, 0.2]],
            magnitude: vec![1.0, 2.0, 0.5, 0.5],
        };
        assert_eq!(features.share(&[[1.0, 0.0], [0.0, 1.0]]), 0.75);
        assert_eq!(features.share(&[[2.0, 2.0]]), 0.25);
        assert_eq!(Features::default().share(&[[1.0, 0.0]]), 0.0);
    }

    #[test]
    fn functions_are_constant_across_their_lines() {
        for column in What::Figure1.columns() {
            let Column::Function(problem, ..) = column else {
                unreachable!("a function")
            };
            let lines = support(column);
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
