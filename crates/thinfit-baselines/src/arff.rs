//! ARFF (Kammonen et al. 2020): adaptive random Fourier features, whose frequencies perform a random walk.
//!
//! f(x) = Re Σ_l β_l e^{i⟨ω_l, x⟩} with (SᴴS + λmI)β = Sᴴy. All frequencies propose a step ω′ = ω + δξ, ξ ~ N(0, I); β′
//! is solved at all proposals together, and frequency l is accepted with probability min(1, (|β′_l|/|β_l|)^γ). This
//! evens out the magnitudes |β_l|. The validation rows choose the best iterate, and δ and λ if there are several.

use crate::choice::stops;
use crate::fourier::{complex, network, waves};
use crate::least_squares::{Solved, ridge};
use crate::prepared::Prepared;
use crate::range::{at_least_one, positives};
use faer::{Mat, MatRef, c64};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, require, stream};
use thinfit::{Dataset, Form, Model, Network, Observer, Progress, Result, Scaling};

/// Settings of ARFF.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Arff {
    /// Number of frequencies; 100.
    pub width: usize,
    /// Number of rounds; after each, β is solved at the accepted frequencies; 50.
    pub rounds: usize,
    /// Steps of the walk per round; 10.
    pub steps: usize,
    /// Candidates for the step size δ; 0.1, 0.5 and 2.
    pub deltas: Vec<f64>,
    /// Candidates for the ridge λ; 1e-8, 1e-5 and 1e-2.
    pub ridges: Vec<f64>,
    /// Exponent γ of the acceptance probability; 3d − 2 if none.
    pub gamma: Option<f64>,
    /// Scaling of the columns; none.
    pub scaling: Scaling,
}

impl Default for Arff {
    fn default() -> Self {
        Arff {
            width: 100,
            rounds: 50,
            steps: 10,
            deltas: vec![0.1, 0.5, 2.0],
            ridges: vec![1e-8, 1e-5, 1e-2],
            gamma: None,
            scaling: Scaling::None,
        }
    }
}

/// The best iterate so far: validation error, frequencies and λ.
struct Best {
    error: f64,
    omega: Mat<f64>,
    lambda: f64,
}

impl Arff {
    /// The name of the method.
    pub const NAME: &str = "arff";

    /// Fits `data`.
    ///
    /// # Errors
    /// Unusable data or settings.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        at_least_one("width", self.width)?;
        positives("deltas", &self.deltas)?;
        positives("ridges", &self.ridges)?;
        let gamma = self.gamma.is_none_or(|gamma| gamma >= 0.0);
        let found = self.gamma.unwrap_or_default();
        require(gamma, "gamma", "a number of at least 0", found)?;
        let prepared = Prepared::new(data, self.scaling, seed)?;
        let mut rng = stream(seed, Purpose::Frequencies, 0);
        let omega = Mat::from_fn(self.width, data.dim(), |_, _| {
            rng.sample::<f64, _>(StandardNormal)
        });
        let grid: Vec<(f64, f64)> = self
            .deltas
            .iter()
            .flat_map(|&delta| self.ridges.iter().map(move |&lambda| (delta, lambda)))
            .collect();
        let (mut best, mut stopped) = (None, false);
        for (i, &(delta, lambda)) in grid.iter().enumerate() {
            let part = |at: &Progress<'_>| observe(&at.part(i, grid.len()));
            let mut rng = stream(seed, Purpose::Walk, i as u64);
            let start = omega.clone();
            let step = (delta, lambda);
            stopped = self.walk(&prepared, start, step, &mut rng, &mut best, &part)?;
            if stopped {
                break;
            }
        }
        let best = best.expect("the start is an iterate");
        let fit = |rows: &Dataset| -> Result<(Network, usize)> {
            let Solved { b, raised } = coefficients(rows, best.omega.as_ref(), best.lambda)?;
            Ok((network(best.omega.as_ref(), b.as_ref()), raised))
        };
        let ((held_out, _), (network, raised)) = (fit(&prepared.train)?, fit(&prepared.all)?);
        let mut record = prepared.record(Self::NAME, self, seed);
        (record.form, record.ridge, record.stopped) = (Form::Complex, best.lambda, stopped);
        record.raised = raised;
        prepared.model(network, &held_out, record)
    }

    /// Walks from `omega`, keeping the best iterate in `best`; returns whether it was stopped.
    fn walk(
        &self,
        prepared: &Prepared<'_>,
        mut omega: Mat<f64>,
        (delta, lambda): (f64, f64),
        rng: &mut ChaCha8Rng,
        best: &mut Option<Best>,
        observe: &Observer<'_>,
    ) -> Result<bool> {
        let (n, d) = (omega.nrows(), omega.ncols());
        let gamma = self.gamma.unwrap_or(3.0 * d as f64 - 2.0);
        let size = |b: &Mat<c64>, l: usize| b.row(l).norm_l2();
        for round in 0..=self.rounds {
            let b = coefficients(&prepared.train, omega.as_ref(), lambda)?.b;
            let error = prepared.validate(&network(omega.as_ref(), b.as_ref()));
            if best.as_ref().is_none_or(|best| error < best.error) {
                *best = Some(Best {
                    error,
                    omega: omega.clone(),
                    lambda,
                });
            }
            if stops(observe, round + 1, self.rounds + 1) {
                return Ok(true);
            }
            if round == self.rounds {
                break;
            }
            let mut sizes: Vec<f64> = (0..n).map(|l| size(&b, l)).collect();
            for _ in 0..self.steps {
                let proposal = Mat::from_fn(n, d, |l, j| {
                    omega[(l, j)] + delta * rng.sample::<f64, _>(StandardNormal)
                });
                let b = coefficients(&prepared.train, proposal.as_ref(), lambda)?.b;
                for l in 0..n {
                    let proposed = size(&b, l);
                    // A feature of weight zero always moves.
                    let accepted =
                        sizes[l] == 0.0 || (proposed / sizes[l]).powf(gamma) > rng.random();
                    if accepted {
                        sizes[l] = proposed;
                        (0..d).for_each(|j| omega[(l, j)] = proposal[(l, j)]);
                    }
                }
            }
        }
        Ok(false)
    }
}

/// β for these frequencies, n × c.
fn coefficients(rows: &Dataset, omega: MatRef<'_, f64>, lambda: f64) -> Result<Solved<c64>> {
    let (s, y) = (waves(rows.x.as_ref(), omega), complex(rows.y.as_ref()));
    ridge(s.as_ref(), y.as_ref(), lambda)
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit::Control;

    #[test]
    fn the_walk_finds_a_high_frequency_that_the_start_lacks() {
        let x = Mat::from_fn(200, 1, |i, _| i as f64 / 200.0);
        let y = Mat::from_fn(200, 1, |i, _| (40.0 * x[(i, 0)]).cos());
        let data = Dataset::new(x, y).unwrap();
        let error = |rounds| {
            let method = Arff {
                width: 20,
                rounds,
                deltas: vec![3.0],
                ridges: vec![1e-6],
                ..Arff::default()
            };
            let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
            model.record.validation_mse[0]
        };
        let (start, end) = (error(0), error(100));
        assert!(start > 0.1 && end < 1e-3 * start, "{start:e} {end:e}");
    }

    #[test]
    fn without_rounds_it_is_the_ridge_fit_of_the_start() {
        let x = Mat::from_fn(40, 2, |i, j| ((i * (7 + 4 * j)) % 41) as f64 / 41.0);
        let y = Mat::from_fn(40, 1, |i, _| x[(i, 0)] * x[(i, 1)]);
        let data = Dataset::new(x, y).unwrap();
        let (lambda, width) = (1e-3, 12);
        let method = Arff {
            width,
            rounds: 0,
            ridges: vec![lambda],
            ..Arff::default()
        };
        let model = method.fit(&data, 4, &|_| Control::Continue).unwrap();
        // (SᴴS + λmI)β = Sᴴy at ω = 2πw, with β = b/n.
        let omega = model.hidden() * faer::Scale(2.0 * std::f64::consts::PI);
        let s = waves(data.x.as_ref(), omega.as_ref());
        let b = model.scaled_output();
        let beta = Mat::from_fn(width, 1, |l, _| {
            c64::new(b[(l, 0)], b[(width + l, 0)]) * (1.0 / width as f64)
        });
        let residual = complex(data.y.as_ref()) - &s * &beta;
        let gradient = s.adjoint() * residual - &beta * faer::Scale(c64::new(40.0 * lambda, 0.0));
        assert!(gradient.norm_max() < 1e-10, "{:e}", gradient.norm_max());
    }
}
