//! The frequencies of a network with two inputs, with their magnitudes.

use std::path::{Path, PathBuf};

use crate::{Error, Job, file};
use serde::{Deserialize, Serialize};
use thinfit::Model;

/// Distance from a line up to which a frequency counts as on it.
const NEAR: f64 = 0.1;

/// The frequencies of a network of two inputs and one output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spectrum {
    /// Frequencies $w_l$, the hidden weights.
    pub w: Vec<[f64; 2]>,
    /// Magnitudes $|b_l|/n$.
    pub magnitude: Vec<f64>,
}

impl Spectrum {
    /// The spectrum of a network of two inputs and one output.
    pub(crate) fn of(model: &Model) -> Self {
        let (w, magnitude) = (model.hidden(), model.magnitudes());
        Spectrum {
            w: (0..w.nrows()).map(|l| [w[(l, 0)], w[(l, 1)]]).collect(),
            magnitude: magnitude.col_as_slice(0).to_vec(),
        }
    }

    /// The part of $\sum_l |b_l|$ within a distance of 0.1 of the lines through the origin in these directions.
    pub fn share(&self, directions: &[[f64; 2]]) -> f64 {
        let near = |w: &[f64; 2]| {
            let distance = |a: &[f64; 2]| (w[0] * a[1] - w[1] * a[0]).abs() / a[0].hypot(a[1]);
            directions.iter().any(|a| distance(a) <= NEAR)
        };
        let all: f64 = self.magnitude.iter().sum();
        let close = self.w.iter().zip(&self.magnitude).filter(|(w, _)| near(w));
        close.fold(0.0, |sum, (_, b)| sum + b) / all.max(f64::MIN_POSITIVE)
    }

    /// Saves it next to the ledger, as the spectrum of this job.
    pub(crate) fn save(&self, folder: &Path, job: &Job) -> Result<(), Error> {
        file::write(&path(folder, job), self)
    }

    /// The spectrum of a job, if it was saved.
    pub(crate) fn load(folder: &Path, job: &Job) -> Option<Self> {
        file::read(&path(folder, job))
    }
}

fn path(folder: &Path, job: &Job) -> PathBuf {
    folder.join("features").join(job.slug() + ".json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_that_of_the_frequencies_near_the_lines() {
        let spectrum = Spectrum {
            w: vec![[3.0, 0.05], [0.0, -2.0], [1.0, 1.0], [0.2, 0.2]],
            magnitude: vec![1.0, 2.0, 0.5, 0.5],
        };
        assert_eq!(spectrum.share(&[[1.0, 0.0], [0.0, 1.0]]), 0.75);
        assert_eq!(spectrum.share(&[[2.0, 2.0]]), 0.25);
        assert_eq!(Spectrum::default().share(&[[1.0, 0.0]]), 0.0);
    }
}
