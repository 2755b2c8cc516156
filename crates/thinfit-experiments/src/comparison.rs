//! A cell of the paper with our fits of it, and counts of cells.

use std::fmt;

use crate::published::Published;
use crate::remark::alike;
use crate::{Cell, Entry, Exhibit, Row};

/// A cell: our fits and the published number.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The cell.
    pub cell: Cell,
    /// The published number to compare with, from [`Cell::reference`].
    pub published: Option<&'static Published>,
    /// Name of the settings, from [`Settings::label`](crate::Settings::label).
    pub preset: String,
    /// Our fits; none if no seed is done.
    pub ours: Option<Ours>,
    /// Whether our error is the smallest of this column of the table, among rows with all seeds and no failed fit.
    pub best: bool,
}

/// Our fits of a cell.
#[derive(Clone, Debug)]
pub struct Ours {
    /// The ledger's entries, by seed.
    pub entries: Vec<Entry>,
    /// Mean test error of the fits that did not fail; none if all did.
    pub mse: Option<f64>,
    /// Standard deviation of the test error over two or more seeds.
    pub spread: Option<f64>,
    /// Mean seconds of a fit.
    pub seconds: f64,
}

/// Numbers of cells with our own results: published cells, and others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Published cells.
    pub published: usize,
    /// Published cells with a number of ours.
    pub reproduced: usize,
    /// Of these, cells within a factor of 3 of the published number.
    pub alike: usize,
    /// Other cells with our own results: rows and columns that the paper does not have.
    pub own: usize,
}

impl Comparison {
    /// Our error over the published one, if there are both.
    pub fn ratio(&self) -> Option<f64> {
        Some(self.ours.as_ref()?.mse? / self.published?.mse)
    }

    /// Whether the published number is of the same experiment: the paper copied three rows of Table 1 from elsewhere.
    pub fn comparable(&self) -> bool {
        let copied = matches!(self.cell.row, Row::AnovaRff | Row::Shrimp | Row::Harfe);
        !(copied && self.cell.exhibit == Exhibit::Table(1))
    }
}

impl Ours {
    /// Our fits from their entries, at least one.
    pub(crate) fn new(mut entries: Vec<Entry>) -> Self {
        entries.sort_by_key(|entry| entry.job.seed);
        let errors: Vec<f64> = entries.iter().filter_map(|entry| entry.mse).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mse = (!errors.is_empty()).then(|| mean(&errors));
        let spread = mse.filter(|_| errors.len() > 1).map(|mse| {
            let squares = errors.iter().map(|error| (error - mse).powi(2));
            (squares.sum::<f64>() / (errors.len() - 1) as f64).sqrt()
        });
        let seconds: Vec<f64> = entries.iter().map(|entry| entry.seconds).collect();
        Ours {
            mse,
            spread,
            seconds: mean(&seconds),
            entries,
        }
    }

    /// Number of seeds whose fit failed, mostly because its numbers left the finite range.
    pub fn failed(&self) -> usize {
        let failed = self.entries.iter().filter(|entry| entry.mse.is_none());
        failed.count()
    }

    /// The different λ in use, from the smallest.
    pub fn lambdas(&self) -> Vec<f64> {
        let entries = self.entries.iter();
        let mut all: Vec<f64> = entries.filter_map(|entry| entry.selected_lambda).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The different commits, in the order of the seeds.
    pub fn commits(&self) -> Vec<&str> {
        distinct(self.entries.iter().map(|entry| entry.commit.as_str()))
    }

    /// The different GPUs that took training steps, in the order of the seeds.
    pub fn devices(&self) -> Vec<&str> {
        distinct(self.entries.iter().filter_map(|e| e.device.as_deref()))
    }
}

/// The different words, in the order of their first occurrence.
fn distinct<'a>(words: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct: Vec<&str> = Vec::new();
    for word in words {
        if !distinct.contains(&word) {
            distinct.push(word);
        }
    }
    distinct
}

impl Count {
    /// Counts these cells.
    pub(crate) fn of<'a>(comparisons: impl Iterator<Item = &'a Comparison>) -> Self {
        let mut count = Count::default();
        for comparison in comparisons {
            let ours = comparison.ours.as_ref().and_then(|ours| ours.mse).is_some();
            // Not `comparison.published`: f2 on the wide domain only stands beside a published cell.
            match comparison.cell.published().is_some() {
                true => {
                    count.published += 1;
                    count.reproduced += usize::from(ours);
                    count.alike += usize::from(comparison.ratio().is_some_and(alike));
                }
                false => count.own += usize::from(ours),
            }
        }
        count
    }
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.published == 0 {
            return write!(out, "{} cells, none of them published", self.own);
        }
        write!(
            out,
            "{} of {} published cells",
            self.reproduced, self.published
        )?;
        if self.reproduced > 0 {
            write!(out, ", {} of them within a factor of 3", self.alike)?;
        }
        match self.own {
            0 => Ok(()),
            own => write!(out, ", and {own} of our own"),
        }
    }
}
