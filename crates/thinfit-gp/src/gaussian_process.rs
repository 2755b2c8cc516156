//! Gaussian process regression with one length scale per input (ARD), fitted by marginal likelihood.
//!
//! The model is y = μ + f(x) + noise, where f has covariance s² k(x, x′) and the noise variance s² g. With C = K + gI, the
//! best constant μ and signal variance s² of each output have closed forms:
//!
//! ```text
//! μ = 1ᵀC⁻¹y / 1ᵀC⁻¹1      s² = (y − μ)ᵀα / m      α = C⁻¹(y − μ)
//! ln p = −½ Σ_outputs (m ln 2πs² + ln |C| + m)
//! ```
//!
//! Only the lengths ℓ and g, shared by all outputs, are searched, by L-BFGS in their logarithms. Several starts are compared on a
//! subset of the samples, and the winner continues on all of them. With Δ_k the differences in input k and k′ = ∂k/∂q
//! (q as in `kernel.rs`), and μ, s² at their optimum,
//!
//! ```text
//! −∂ ln p/∂ ln ℓ_k = ½ Σ_ab V_ab (−2k′_ab) Δ_k,ab²/ℓ_k²     −∂ ln p/∂ ln g = ½ g tr V     V = Σ_outputs (C⁻¹ − ααᵀ/s²)
//! ```
//!
//! The ANOVA shapes have a share c_j for each length, twice as many numbers to find, which the likelihood alone
//! overfits on few samples. They get Cauchy priors of scale 2, whose long tails leave clean data free: ln ℓ_j about
//! ln √d + √2, since lengths grow with the number of inputs, and logit c_j about 0. The other shapes have none.
//!
//! Where rows are few against inputs, chance offers some input that fits any noise. A sparsity prior on the inverse
//! lengths, of density 1/(1 + u/τ) with u_j = √c_j/ℓ_j and τ = e^(−price), makes each input that acts pay about `price`
//! units of log-likelihood, and costs an idle one nothing.
//!
//! One value with its gradient costs a factorisation, an inverse (m³ together) and O(m² d). Inputs are scaled to the unit
//! box, outputs to variance one.
//!
//! The bounds of the search bar nothing that double precision can tell apart. A length may grow to 1/√ε, ε the machine
//! precision, where its input adds at most ε to q and so has left the kernel; on clean data the likelihood rises until
//! then. It may shrink to a thousandth of the input's range, which inputs with clustered values need. The noise may fall
//! to ε, below the jitter mε that C always gets, which is about what rounding does to the eigenvalues of K. C⁻¹ then
//! reaches 1/(mε), so sums over pairs use differences of the inputs, never a product form, whose cancellation would ruin
//! the gradient.

use crate::cholesky::all_threads;
use crate::evidence::{Evidence, evidence, parameters};
use crate::kernel_model::held_out::{group_folds, judged_by_folds};
use crate::kernel_model::{check_data, kernel_model};
use crate::lbfgs::Lbfgs;
use crate::shape::of_process;
use crate::{KernelModel, Shape};
use faer::{Mat, Par};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Purpose, random_subset, require, stream};
use thinfit::{Control, Dataset, Error, Observer, Progress, Record, Result, Scaling};

/// Bounds of the lengths, in multiples of an input's range; the upper one is 1/√ε.
const LENGTHS: [f64; 2] = [1e-3, (1u64 << 26) as f64];
/// Bounds of the noise variance, in multiples of the signal variance.
const NOISE: [f64; 2] = [f64::EPSILON, 1e3];

/// Squared scale of the priors of the ANOVA shape.
const PRIOR: f64 = 4.0;

/// Inverse length below which an input is idle under a sparsity prior.
const IDLE: f64 = 0.02;

/// Bounds of the logits of the shares.
const LOGITS: [f64; 2] = [-14.0, 14.0];

/// Random starts spread this far to both sides of the first, in logarithms of the lengths.
const SPREAD: f64 = 1.5;

/// Below this many samples one thread factorises faster than several.
const ALONE: usize = 400;

/// Settings of Gaussian process regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianProcess {
    /// Gaussian, Matérn 5/2, or ANOVA with either. Default: Gaussian.
    #[serde(deserialize_with = "of_process")]
    pub kernel: Shape,
    /// Starting points of the search; the first is fixed, the others are random. Default: 4.
    pub starts: usize,
    /// Size of the random subset on which starts are selected when there are more samples. Default: 500.
    pub selection_rows: usize,
    /// How far the random starts spread to both sides of the first, in logarithms of the lengths. Default: 1.5.
    #[serde(skip_serializing_if = "is_default_spread")]
    pub spread: f64,
    /// Iterations after which only the two best starts continue; 0 continues all. Default: 0.
    #[serde(skip_serializing_if = "is_default_halve_after")]
    pub halve_after: usize,
    /// Maximum iterations of one search. Default: 200.
    pub iterations: usize,
    /// Smallest noise variance, in multiples of the signal variance; whatever it is, m times the machine precision is
    /// added as jitter. Default: 0, which leaves only the jitter.
    pub least_noise: f64,
    /// Whether all inputs share one length scale, which needs fewer samples than many. Default: no.
    #[serde(skip_serializing_if = "is_default_isotropic")]
    pub isotropic: bool,
    /// Shortest length, in multiples of an input's range; 1000 leaves linear functions. Default: 0.001.
    #[serde(skip_serializing_if = "is_default_shortest")]
    pub shortest: f64,
    /// Whether shares and their lengths have priors, see above. Default: yes.
    #[serde(skip_serializing_if = "is_default_prior")]
    pub prior: bool,
    /// Cost of an active input in units of log-likelihood: the sparsity prior above. Default: 0, no such prior.
    #[serde(skip_serializing_if = "is_default_price")]
    pub price: f64,
}

fn is_default_price(price: &f64) -> bool {
    *price == 0.0
}

fn is_default_spread(spread: &f64) -> bool {
    *spread == SPREAD
}

fn is_default_halve_after(halve_after: &usize) -> bool {
    *halve_after == 0
}

fn is_default_isotropic(isotropic: &bool) -> bool {
    !isotropic
}

fn is_default_shortest(shortest: &f64) -> bool {
    *shortest == LENGTHS[0]
}

fn is_default_prior(prior: &bool) -> bool {
    *prior
}

impl Default for GaussianProcess {
    fn default() -> Self {
        GaussianProcess {
            kernel: Shape::Gaussian,
            starts: 4,
            selection_rows: 500,
            spread: SPREAD,
            halve_after: 0,
            iterations: 200,
            least_noise: 0.0,
            isotropic: false,
            shortest: LENGTHS[0],
            prior: true,
            price: 0.0,
        }
    }
}

impl GaussianProcess {
    /// The name of the method.
    pub const NAME: &str = "gaussian-process";

    /// Finds the lengths and the noise, then the coefficients.
    ///
    /// # Errors
    /// Unusable data or settings, or a likelihood that is not finite at any start.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<KernelModel> {
        check_data(data)?;
        let folds = group_folds(data, seed)?;
        let scalers = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
        let scaled = data.scaled(&scalers);
        let (log, stopped) = self.find(&scaled, seed, observe)?;
        let best = self.evidence(&scaled, &log)?;
        observe(&Progress::fraction(1.0));
        let (m, scale) = (data.samples(), &scalers.1.scale);
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let record = Record {
            ridge: best.ridge,
            chosen_by: Some("likelihood".into()),
            log_likelihood: Some(
                -best.value - m as f64 * scale.iter().map(|s| s.ln()).sum::<f64>(),
            ),
            stopped,
            ..Record::of(Self::NAME, settings, seed, m)
        };
        let record = record.left_out(data, &best.leave_one_out(), scale, m);
        let model = kernel_model(data, scalers, best.expansion(scaled.x), record)?;
        judged_by_folds(model, data, folds)
    }

    /// The best logarithms of lengths and noise (with logits of shares between them) for samples in scaled units, and
    /// whether the search was stopped.
    pub fn find(
        &self,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<(Vec<f64>, bool)> {
        self.check()?;
        let (x, y, d) = (&data.x, &data.y, data.dim());
        let starts = self.start_points(d, seed);
        let selected = self.select(x, y, &starts, seed, &|at| observe(&at.part(0, 2)));
        match selected {
            None => self.search(x, y, starts, observe),
            Some((winner, true)) => Ok((winner, true)),
            Some((mut winner, false)) => {
                self.shorten(&mut winner, d);
                let share = |at: &Progress<'_>| observe(&at.part(1, 2));
                // Noise that suffices for the subset may be too little for all samples.
                let all = |_| self.search(x, y, starts.clone(), &share);
                self.search(x, y, vec![winner], &share).or_else(all)
            }
        }
    }

    /// The search from points found elsewhere, for samples in scaled units; the first point where nothing better is
    /// found.
    pub fn search_from(
        &self,
        data: &Dataset,
        starts: Vec<Vec<f64>>,
        observe: &Observer<'_>,
    ) -> Vec<f64> {
        let first = starts[0].clone();
        if self.iterations == 0 {
            return first;
        }
        let found = self.search(&data.x, &data.y, starts, observe);
        found.map_or(first, |found| found.0)
    }

    /// Brings very long lengths back to where the likelihood has a gradient: an input idle on a few rows may matter on
    /// more.
    pub fn shorten(&self, log: &mut [f64], d: usize) {
        let least = self.shortest.ln();
        let longest = (middle(d) + SPREAD).max(least);
        let lengths = log[..self.lengths(d)].iter_mut();
        lengths.for_each(|v| *v = v.clamp(least, longest));
    }

    /// The likelihood at `log` for samples in scaled units; at the first start where that has none.
    pub fn evidence(&self, data: &Dataset, log: &[f64]) -> Result<Evidence> {
        let par = threads(data.samples());
        let at = |log: &[f64]| {
            let log = self.untied(log, data.dim());
            evidence(self.kernel, &data.x, &data.y, &log, par)
        };
        let first = &self.start_points(data.dim(), 0)[0];
        at(log).or_else(|| at(first)).ok_or_else(no_likelihood)
    }

    /// The best point found from the starts on a subset of the samples, and whether the search was stopped; `None` if
    /// there is no selection. A step on all samples costs (m/rows)³ times as much.
    fn select(
        &self,
        x: &Mat<f64>,
        y: &Mat<f64>,
        starts: &[Vec<f64>],
        seed: u64,
        observe: &Observer<'_>,
    ) -> Option<(Vec<f64>, bool)> {
        if x.nrows() <= self.selection_rows || starts.len() == 1 {
            return None;
        }
        let rows = random_subset(
            x.nrows(),
            self.selection_rows,
            &mut stream(seed, Purpose::Starts, 1),
        );
        let few = |a: &Mat<f64>| Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)]);
        let (x, y) = (few(x), few(y));
        // A constant output does not determine the lengths.
        let varies = |o: usize| y.col_as_slice(o).iter().any(|v| *v != y[(0, o)]);
        if !(0..y.ncols()).all(varies) {
            return None;
        }
        self.search(&x, &y, starts.to_vec(), observe).ok()
    }

    /// The best logarithms of lengths and noise that L-BFGS finds from `starts`, and whether it was stopped.
    fn search(
        &self,
        x: &Mat<f64>,
        y: &Mat<f64>,
        starts: Vec<Vec<f64>>,
        observe: &Observer<'_>,
    ) -> Result<(Vec<f64>, bool)> {
        let d = x.ncols();
        let objective = |par: Par| {
            move |log: &[f64]| {
                let evidence = evidence(self.kernel, x, y, &self.untied(log, d), par)?;
                Some(self.with_prior(log, d, evidence))
            }
        };
        let lengths = [self.shortest, LENGTHS[1]].map(f64::ln);
        let mut bounds = vec![lengths; self.lengths(d)];
        bounds.resize(self.parameters(d) - 1, LOGITS);
        bounds.push([NOISE[0].max(self.least_noise), NOISE[1]].map(f64::ln));
        let mut searches: Vec<Lbfgs> = starts
            .into_par_iter()
            .map(|start| Lbfgs::new(start, bounds.clone(), &objective(Par::Seq)))
            .collect();
        let mut stopped = false;
        for iteration in 0..self.iterations {
            if iteration == self.halve_after && self.halve_after > 0 {
                searches.sort_by(|a, b| a.value.total_cmp(&b.value));
                searches.truncate(2);
            }
            let mut open: Vec<&mut Lbfgs> =
                searches.iter_mut().filter(|search| !search.done).collect();
            // Several searches run side by side; a single one may use all threads. Factors have the same bits either way.
            match open.as_mut_slice() {
                [] => break,
                [search] => search.step(&objective(threads(x.nrows()))),
                _ => open
                    .par_iter_mut()
                    .for_each(|search| search.step(&objective(Par::Seq))),
            }
            if observe(&Progress::fraction(
                iteration as f64 / self.iterations as f64,
            )) == Control::Stop
            {
                stopped = true;
                break;
            }
        }
        let best = searches
            .into_iter()
            .min_by(|a, b| a.value.total_cmp(&b.value))
            .filter(|best| best.value.is_finite())
            .ok_or_else(no_likelihood)?;
        Ok((best.x, stopped))
    }

    /// How many lengths are searched.
    fn lengths(&self, d: usize) -> usize {
        if self.isotropic { 1 } else { d }
    }

    /// How many parameters are searched.
    fn parameters(&self, d: usize) -> usize {
        parameters(self.kernel, d) - d + self.lengths(d)
    }

    /// The parameters with a length for every input.
    fn untied(&self, log: &[f64], d: usize) -> Vec<f64> {
        let rest = log[self.lengths(d)..].iter().copied();
        let length = |j: usize| log[if self.isotropic { 0 } else { j }];
        (0..d).map(length).chain(rest).collect()
    }

    /// −ln p and its derivatives in the parameters that are searched, with those of the prior added.
    fn with_prior(&self, log: &[f64], d: usize, evidence: Evidence) -> (f64, Vec<f64>) {
        let (mut value, mut gradient) = (evidence.value, evidence.gradient);
        if self.isotropic {
            let tied = gradient[..d].iter().sum();
            gradient.splice(..d, [tied]);
        }
        if self.prior && self.kernel.has_shares() {
            let lengths = self.lengths(d);
            let centre = 0.5 * (d as f64).ln() + std::f64::consts::SQRT_2;
            for (k, v) in log[..log.len() - 1].iter().enumerate() {
                let z = v - if k < lengths { centre } else { 0.0 };
                value += (z * z / PRIOR).ln_1p();
                gradient[k] += 2.0 * z / (PRIOR + z * z);
            }
        }
        if self.price > 0.0 && !self.isotropic {
            for j in 0..d {
                let u = (self.price + self.log_inverse_length(log, d, j)).exp();
                // u is relative to τ; at u = 10³⁰⁸ its ratio below is still 1.
                value += u.ln_1p();
                let slope = u / (1.0 + u);
                gradient[j] -= slope;
                if self.kernel.has_shares() {
                    gradient[d + j] += 0.5 * slope / (1.0 + log[d + j].exp());
                }
            }
        }
        (value, gradient)
    }

    /// ln √c_j/ℓ_j of input `j` at `log`.
    fn log_inverse_length(&self, log: &[f64], d: usize, j: usize) -> f64 {
        let share = match self.kernel.has_shares() {
            true => -0.5 * (-log[d + j]).exp().ln_1p(),
            false => 0.0,
        };
        share - log[j]
    }

    /// Number of effective parameters at `log`: all that are searched, less those of the inputs that a sparsity prior
    /// has made idle.
    pub fn active_parameters(&self, log: &[f64], d: usize) -> usize {
        if self.price == 0.0 || self.isotropic {
            return log.len();
        }
        let acts = |j: &usize| self.log_inverse_length(log, d, *j) > IDLE.ln();
        let each = if self.kernel.has_shares() { 2 } else { 1 };
        1 + each * (0..d).filter(acts).count()
    }

    /// Starting points: logarithms of lengths and noise, between them logits of the shares.
    fn start_points(&self, d: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = stream(seed, Purpose::Starts, 0);
        // Where lengths must be long, all that varies is about 1/ℓ² of the kernel, and noise is relative to that.
        let varies = self.shortest.max(1.0).powi(-2);
        let noise = |exponent: f64| (varies * 10f64.powf(exponent)).max(self.least_noise).ln();
        (0..self.starts)
            .map(|start| {
                let mut log = vec![middle(d).max(self.shortest.ln()); self.lengths(d)];
                let mut exponent = -4.0;
                if start > 0 {
                    let least = self.shortest.ln();
                    log.iter_mut().for_each(|v| {
                        *v = (*v + rng.random_range(-self.spread..self.spread)).max(least)
                    });
                    exponent = rng.random_range(-9.0..-1.0);
                }
                log.resize(self.parameters(d) - 1, 0.0);
                log.push(noise(exponent));
                log
            })
            .collect()
    }

    fn check(&self) -> Result<()> {
        let (shape, noise) = (self.kernel, self.least_noise);
        require(
            !matches!(shape, Shape::Additive(_)),
            "kernel",
            Shape::OF_PROCESSES,
            format!("{shape:?}"),
        )?;
        require(self.starts > 0, "starts", "at least 1", self.starts)?;
        require(
            self.spread > 0.0 && self.spread <= 10.0,
            "spread",
            "a number above 0 and up to 10",
            self.spread,
        )?;
        require(
            self.selection_rows > 1,
            "selection_rows",
            "at least 2",
            self.selection_rows,
        )?;
        require(
            (LENGTHS[0]..=1e6).contains(&self.shortest),
            "shortest",
            "a number from 0.001 to 1000000",
            self.shortest,
        )?;
        require(
            (0.0..=100.0).contains(&self.price),
            "price",
            "a number from 0 to 100",
            self.price,
        )?;
        require(
            (0.0..=1.0).contains(&noise),
            "least_noise",
            "a number from 0 to 1",
            noise,
        )
    }
}

/// Logarithm of the lengths of the first start; distances in the box grow like √d.
fn middle(d: usize) -> f64 {
    (0.5 * (d as f64).sqrt()).ln()
}

/// Parallelism for factorising a matrix of `m` rows.
pub fn threads(m: usize) -> Par {
    if m < ALONE { Par::Seq } else { all_threads() }
}

fn no_likelihood() -> Error {
    Error::Data {
        what: "x",
        problem: "the likelihood is not finite at any start".into(),
        advice: "look for columns of extreme size",
    }
}

#[cfg(test)]
mod tests;
