//! Gaussian processes as candidates: fitted to all rows and cross-validated, with a separate search in every fold.
//!
//! Leave-one-out errors at fixed length scales have a closed form, but the length scales were fitted to the row that
//! is left out: with sixty rows and twenty length scales those errors are several times too small. So every fold
//! searches its own length scales, starting from those of all rows, or from scratch if rows are few.

use crate::message::{self, Sent};
use crate::noise::intervals;
use crate::plan::{FoldSearch, Plan};
use crate::samples::{OutOfFold, Samples};
use crate::screening::{narrowed, renumbered, strongest};
use faer::{Mat, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Executor, SingleProcess, upper_median};
use thinfit::{Candidate, Control, Dataset, Error, Observer, Progress, Record, Result, Scaler};
use thinfit_gp::pieces::{Evidence, Lbfgs, evidence_of_sum, kernel_model, threads};
use thinfit_gp::{GaussianProcess, KernelModel, KernelTerm, Shape};

/// Bounds of the lengths of terms.
const SHORTEST: f64 = 1e-2;
const LONGEST: f64 = 1e4;
/// The noise of a process is reported if the mean square of its standardised held-out errors is within this factor of 1.
const CALIBRATED: f64 = 2.0;
/// Share of the held-out squared error above which noise counts as much of it.
const NOISY: f64 = 0.25;
/// Permutations of the outputs that measure optimism.
const PERMUTATIONS: u64 = 3;
/// Fewest search steps for the terms of a fold.
const FEWEST_STEPS: usize = 10;
/// Length of an input that a kernel ignores.
const FORGOTTEN: f64 = 1e8;
/// Largest discount of a member of a sum of kernels, as a logarithm.
const FAINT: f64 = 6.0;

/// A Gaussian process found on all rows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Process {
    /// What it is.
    pub candidate: Candidate,
    /// Its kernel on all rows.
    pub kernel_terms: Vec<KernelTerm>,
    /// What was found without each fold.
    #[serde(with = "message::list")]
    pub folds: Vec<Evidence>,
    /// Number of fitted kernel parameters.
    pub numbers: usize,
    /// Everything else about it, on all rows.
    #[serde(with = "message")]
    pub evidence: Evidence,
    /// Its cross-validation errors.
    pub out_of_fold: OutOfFold,
}

impl Process {
    /// The process with parameters `log` on all rows of `samples`; in each fold the search continues from there.
    pub fn new(
        configuration: &Configuration,
        log: &[f64],
        samples: &Samples,
        fold_iterations: usize,
    ) -> Result<Self> {
        let again = GaussianProcess {
            iterations: fold_iterations,
            ..configuration.process.clone()
        };
        let whole = again.evidence(&samples.data, log)?;
        let numbers = again.active_parameters(log, samples.data.dim());
        Self::cross_validated(
            (configuration.candidate, numbers),
            (samples, &SingleProcess),
            whole,
            |data, _| {
                let on = |_: &Progress<'_>| Control::Continue;
                again.evidence(data, &again.search_from(data, vec![log.to_vec()], &on))
            },
        )
    }

    /// The process `whole` of all rows, cross-validated by a search from scratch in each fold, screening of inputs
    /// included: a search that continues from the fit to all rows stays near it and leaks the held-out rows.
    pub fn afresh(
        configuration: &Configuration,
        whole: (usize, Evidence),
        samples: &Samples,
        search: &FoldSearch,
        seed: u64,
    ) -> Result<Self> {
        let process = search.of(&configuration.process);
        Self::cross_validated(
            (configuration.candidate, whole.0),
            (samples, &SingleProcess),
            whole.1,
            |data, _| {
                let on = |data: &Dataset| {
                    let (log, _) = process.find(data, seed, &|_| Control::Continue)?;
                    process.evidence(data, &log)
                };
                let Some(inputs) = strongest(data) else {
                    return on(data);
                };
                let mut found = on(&narrowed(data, &inputs))?;
                renumbered(&mut found.kernel.terms, &inputs);
                Ok(found)
            },
        )
    }

    /// The model that predicts the mean of the rows: the baseline that every other candidate must beat.
    pub fn mean(samples: &Samples) -> Result<Self> {
        let term = KernelTerm::full(Shape::Gaussian, vec![FORGOTTEN; samples.data.dim()]);
        // With a constant kernel, noise is all there is.
        let find = |data: &Dataset| {
            sum_of_kernel_terms(std::slice::from_ref(&term), data, vec![0.0, 0.0], 0)
        };
        let whole = find(&samples.data)?;
        let deviation =
            in_scaled_units(&samples.data, &whole)?.deviation(samples.data.x.as_ref())?;
        let mut mean = Self::cross_validated(
            (Candidate::Mean, 1),
            (samples, &SingleProcess),
            whole,
            |data, _| find(data),
        )?;
        // Without an extreme row the deviation is too small and the row's score too large, so few rows would cover too much.
        mean.out_of_fold.deviation = deviation.observation;
        Ok(mean)
    }

    /// The process whose kernel is the weighted sum of the kernels of other processes, with weights that maximise the
    /// likelihood. The search starts from the signal variances of the members, discounted by their scores.
    pub fn kernel_sum(
        members: &[Process],
        (samples, executor): (&Samples, &dyn Executor),
        (steps, fold_steps): (usize, usize),
    ) -> Result<Self> {
        let c = samples.data.y.ncols() as f64;
        let scores = members.iter().map(Process::score);
        let best = scores.fold(f64::INFINITY, f64::min);
        let sum = |of: &dyn Fn(&Process) -> Evidence, data: &Dataset, steps: usize| {
            let (mut start, mut kernel_terms) = (Vec::new(), Vec::new());
            let (mut total, mut noise) = (0.0, 0.0);
            for member in members {
                let found = of(member);
                let belief = (best - member.score()).max(-FAINT).exp();
                let weight = belief * found.signal.iter().sum::<f64>() / c;
                total += weight;
                noise += weight * found.ridge;
                start.extend(
                    found
                        .kernel
                        .terms
                        .iter()
                        .map(|term| (term.weight * weight).ln()),
                );
                kernel_terms.extend(found.kernel.terms);
            }
            start.push((noise / total).ln());
            sum_of_kernel_terms(&kernel_terms, data, start, steps)
        };
        let whole = sum(&|member| member.evidence.clone(), &samples.data, steps)?;
        let numbers = members.iter().map(|member| member.numbers);
        let numbers = numbers.max().unwrap_or(0) + members.len();
        Self::cross_validated(
            (Candidate::SumOfKernels, numbers),
            (samples, executor),
            whole,
            |data, k| sum(&|member| member.folds[k].clone(), data, fold_steps),
        )
    }

    /// The same with inputs renumbered from those screened to all.
    pub fn renumbered(mut self, inputs: &[usize]) -> Self {
        renumbered(&mut self.kernel_terms, inputs);
        let folds = self.folds.iter_mut();
        folds
            .chain([&mut self.evidence])
            .for_each(|of| renumbered(&mut of.kernel.terms, inputs));
        self
    }

    /// The same kernel and noise with more rows, cross-validated on them.
    pub fn extended(&self, (samples, executor): (&Samples, &dyn Executor)) -> Result<Self> {
        let log = weights_of(&self.evidence);
        let find = |data: &Dataset| sum_of_kernel_terms(&self.kernel_terms, data, log.clone(), 0);
        let named = (self.candidate, self.numbers);
        let whole = find(&samples.data)?;
        Self::cross_validated(named, (samples, executor), whole, |data, _| find(data))
    }

    /// The process that is a sum of one Gaussian kernel term for each set of inputs, with lengths and weights by maximum likelihood.
    /// With few rows a term may be noise, so `again` finds the terms of each fold from the guide there; none if there
    /// are none.
    pub fn sum_of_terms(
        terms: &[Vec<usize>],
        guide: &Process,
        (samples, executor): (&Samples, &dyn Executor),
        (steps, fold_steps): (usize, usize),
        again: Option<&TermsWithoutFold<'_>>,
    ) -> Result<Self> {
        let d = samples.data.dim();
        let (kernel_terms, start) = kernel_terms_of(terms, &guide.evidence, d);
        let whole = sum_of_kernel_terms(&kernel_terms, &samples.data, start, steps)?;
        let found = log_of(&whole);
        Self::cross_validated(
            (Candidate::SumOfTerms, found.len()),
            (samples, executor),
            whole,
            |data, k| {
                let Some(again) = again else {
                    return sum_of_kernel_terms(&kernel_terms, data, found.clone(), fold_steps);
                };
                let guide = &guide.folds[k];
                let Some(terms) = again(data, guide) else {
                    return Ok(guide.clone());
                };
                let (kernel_terms, start) = kernel_terms_of(&terms, guide, d);
                sum_of_kernel_terms(&kernel_terms, data, start, fold_steps.max(FEWEST_STEPS))
            },
        )
    }

    /// The process `evidence` of all rows, cross-validated by the processes that `find` fits without fold `k`. The executor
    /// may spread the folds.
    pub fn cross_validated(
        (candidate, numbers): (Candidate, usize),
        (samples, executor): (&Samples, &dyn Executor),
        evidence: Evidence,
        find: impl Fn(&Dataset, usize) -> Result<Evidence> + Sync,
    ) -> Result<Self> {
        let fold = |k: usize| -> Result<(OutOfFold, Sent)> {
            let train = samples.data.rows(&samples.without(k));
            let held = samples.data.rows(&samples.folds[k]);
            let found = find(&train, k)?;
            let model = in_scaled_units(&train, &found)?;
            let f = model.predict(held.x.as_ref())?;
            let errors = OutOfFold {
                residual: &held.y - f,
                deviation: model.deviation(held.x.as_ref())?.observation,
            };
            Ok((errors, Sent(found)))
        };
        // A candidate that fails is dropped everywhere; otherwise those that share the folds would wait for each other.
        let alone = executor.size() == 1;
        let told = |k: usize| match fold(k) {
            Err(error) if alone => Err(error),
            found => Ok(found.ok()),
        };
        let folds = executor.map(samples.folds.len(), |mine| {
            mine.into_par_iter().map(told).collect()
        })?;
        let folds = folds.into_iter().collect::<Option<Vec<_>>>();
        let folds = folds.ok_or_else(|| Error::Data {
            what: "x",
            problem: "a process cannot be fitted without one of the folds".into(),
            advice: "look for columns of extreme size",
        })?;
        let folds = folds
            .into_iter()
            .map(|(errors, Sent(found))| (errors, found));
        let (errors, folds): (Vec<OutOfFold>, Vec<_>) = folds.unzip();
        Ok(Process {
            candidate,
            kernel_terms: evidence.kernel.terms.clone(),
            folds,
            numbers,
            evidence,
            out_of_fold: OutOfFold::gather(samples, errors),
        })
    }

    /// The noise deviation found on all rows over the median of those found in the folds, at most 1, where noise makes up
    /// much of the held-out error (c): with few rows the final fit may underestimate the noise by chance.
    fn certainty(&self) -> Vec<f64> {
        let of = |found: &Evidence, o: usize| (found.signal[o] * found.ridge).sqrt();
        let each = self.out_of_fold.mse().into_iter().enumerate();
        each.map(|(o, mse)| {
            let folds = self.folds.iter().map(|fold| of(fold, o)).collect();
            let typical = upper_median(folds).unwrap_or(0.0);
            match typical * typical > NOISY * mse {
                true => (of(&self.evidence, o) / typical).min(1.0),
                false => 1.0,
            }
        })
        .collect()
    }

    /// The model of all rows of `data`, which `samples` has in scaled units, with intervals calibrated by the `errors` of
    /// the whole procedure.
    pub fn model(
        &self,
        (data, samples): (&Dataset, &Samples),
        errors: &OutOfFold,
        record: Record,
    ) -> Result<KernelModel> {
        let record = Record {
            ridge: self.evidence.ridge,
            ..record
        };
        let expansion = self.evidence.expansion(samples.data.x.clone());
        let scores = errors.scores().into_iter();
        let mut scores: Vec<Vec<f64>> = scores.map(|of| data.scores_of_groups(&of)).collect();
        for (scores, certainty) in scores.iter_mut().zip(self.certainty()) {
            scores
                .iter_mut()
                .for_each(|score| *score = (*score / certainty).min(f64::MAX));
        }
        kernel_model(data, samples.scalers.clone(), expansion, record)?.with_calibration(scores)
    }

    /// What ranks candidates whose errors do not differ clearly; lower is better:
    /// ½ m ln(error) + ½ k ln m − ln p with k fitted parameters. Errors on few or noisy rows do not separate
    /// candidates, and the likelihood alone trusts its kernel too much; the sum is better than either.
    pub fn score(&self) -> f64 {
        let rows = self.out_of_fold.residual.nrows();
        self.score_of(rows, self.error(), self.evidence.value)
    }

    /// The score on `rows` rows with this error and −ln p.
    fn score_of(&self, rows: usize, error: f64, value: f64) -> f64 {
        let (m, c) = (rows as f64, self.out_of_fold.residual.ncols() as f64);
        let told = 0.5 * m * c * error.max(f64::MIN_POSITIVE).ln() + value;
        told + 0.5 * self.numbers as f64 * m.ln()
    }

    /// The score to expect on `m` rows, given that on the rows used so far.
    pub fn score_on(&self, m: usize) -> f64 {
        let (seen, m) = (self.out_of_fold.residual.nrows() as f64, m as f64);
        let price = |rows: f64| 0.5 * self.numbers as f64 * rows.ln();
        (self.score() - price(seen)) * m / seen + price(m)
    }

    /// Mean squared cross-validation error over all outputs, in scaled units.
    pub fn error(&self) -> f64 {
        self.out_of_fold.error()
    }

    /// The model in scaled units.
    pub fn scaled_model(&self, samples: &Samples) -> Result<KernelModel> {
        in_scaled_units(&samples.data, &self.evidence)
    }

    /// −ln p of the rows of `data` when the kernel ignores some inputs and everything else stays.
    pub fn value_without(&self, forgotten: &[usize], data: &Dataset) -> f64 {
        let x = self.evidence.kernel.widened(data.x.as_ref());
        let mut kernel_terms = self.kernel_terms.clone();
        for term in &mut kernel_terms {
            for (k, input) in term.inputs.iter().enumerate() {
                if forgotten.contains(input) {
                    term.lengths[k] = FORGOTTEN;
                    term.shares.get_mut(k).into_iter().for_each(|c| *c = 0.0);
                }
            }
        }
        let log = weights_of(&self.evidence);
        let found = evidence_of_sum((&kernel_terms, None), &x, &data.y, &log, Par::Seq);
        found.map_or(f64::INFINITY, |found| found.value)
    }

    /// Ends of the 95 % interval of the standard deviation of the noise, in scaled outputs (c); none for the mean, which tells
    /// nothing of noise, and where the held-out errors contradict the predicted deviations, and so the noise.
    pub fn noise_range(&self, samples: &Samples) -> Option<Vec<[f64; 2]>> {
        let scores = self.out_of_fold.scores();
        let is_calibrated = |scores: &Vec<f64>| {
            let square = scores.iter().map(|s| s * s).sum::<f64>() / scores.len() as f64;
            (1.0 / CALIBRATED..=CALIBRATED).contains(&square)
        };
        if self.is_mean() || !scores.iter().all(is_calibrated) {
            return None;
        }
        let folds = |o: usize| self.folds.iter().map(|fold| fold.noise(o)).collect();
        let noise = self.noise().into_iter().enumerate();
        let noise: Vec<(f64, Vec<f64>)> = noise.map(|(o, noise)| (noise, folds(o))).collect();
        intervals(
            &samples.data,
            &self.evidence.kernel,
            log_noise(&self.evidence),
            &noise,
        )
    }

    /// The mean cross-validated r² of the same procedure on some permutations of the outputs: by how much its own is too large.
    /// One permutation is enough where it gives no more than `chance`. A process that the first round does not know is represented by
    /// one with a Gaussian kernel.
    pub fn optimism(
        &self,
        (samples, plan): (&Samples, &Plan),
        (chance, seed): (f64, u64),
        observe: &Observer<'_>,
    ) -> Result<f64> {
        let first = self.permuted_r2((samples, plan), seed, 0)?;
        if first <= chance {
            return Ok(first);
        }
        // The first, large by selection, does not count unless the fit is stopped.
        let (mut sum, mut count) = (0.0, 0);
        for draw in 1..=PERMUTATIONS {
            if observe(&Progress::fraction(0.98)) == Control::Stop {
                break;
            }
            sum += self.permuted_r2((samples, plan), seed, draw)?;
            count += 1;
        }
        Ok(if count > 0 {
            sum / f64::from(count)
        } else {
            first
        })
    }

    /// The cross-validated r² of the same procedure on one permutation of the outputs (largest over outputs).
    fn permuted_r2(&self, (samples, plan): (&Samples, &Plan), seed: u64, draw: u64) -> Result<f64> {
        let configurations = configurations(1, plan.price);
        let own = configurations
            .iter()
            .find(|configuration| configuration.candidate == self.candidate);
        let configuration = own.unwrap_or(&configurations[0]);
        let shuffled = samples.permuted(seed, draw);
        let search = FoldSearch {
            starts: 1,
            ..plan.afresh.clone().unwrap_or_else(FoldSearch::cheapest)
        };
        let errors = if plan.afresh.is_some() {
            // The fit to all rows does not affect the errors.
            let whole = (self.numbers, self.evidence.clone());
            Self::afresh(configuration, whole, &shuffled, &search, seed)?
        } else {
            let inputs = strongest(&shuffled.data);
            let narrow = inputs.map(|inputs| shuffled.narrowed(&inputs));
            let searched = narrow.as_ref().unwrap_or(&shuffled);
            let process = search.of(&configuration.process);
            let (log, _) = process.find(&searched.data, seed, &|_| Control::Continue)?;
            Self::new(configuration, &log, searched, plan.fold_iterations)?
        };
        let mean = Self::mean(&shuffled)?.out_of_fold;
        let pairs = errors.out_of_fold.mse().into_iter().zip(mean.mse());
        let explained = pairs.map(|(mse, mean)| if mean > 0.0 { 1.0 - mse / mean } else { 0.0 });
        Ok(explained.fold(f64::MIN, f64::max))
    }

    /// Whether it is the model that predicts the mean.
    pub fn is_mean(&self) -> bool {
        self.candidate == Candidate::Mean
    }

    /// Whether it has edges: jumps or kinks along hyperplanes.
    pub fn is_sharp(&self) -> bool {
        !self.evidence.kernel.edges.is_empty()
    }

    /// Standard deviation of the noise, in scaled outputs (c).
    pub fn noise(&self) -> Vec<f64> {
        (0..self.evidence.signal.len())
            .map(|o| self.evidence.noise(o))
            .collect()
    }
}

/// The candidates, best first: the one that is chosen, then the others by score.
pub(crate) fn ranked(mut processes: Vec<Process>, data: &Dataset) -> Vec<Process> {
    let every: Vec<usize> = (0..data.samples()).collect();
    let best = processes.remove(chosen(&processes, (&every, None), data));
    processes.sort_by(|a, b| a.score().total_cmp(&b.score()));
    processes.insert(0, best);
    processes
}

/// The candidate chosen by what `rows` tell, which are all or those without a fold: among those whose errors are not
/// clearly above the least, the one with the best score. The likelihood never overrules a clear difference in held-out
/// error, and a candidate whose predictions do not clearly follow the rows gives way to the mean.
fn chosen(
    processes: &[Process],
    (rows, without): (&[usize], Option<usize>),
    data: &Dataset,
) -> usize {
    let errors: Vec<f64> = processes
        .iter()
        .map(|t| t.out_of_fold.error_of(rows))
        .collect();
    let least = (0..errors.len()).min_by(|&a, &b| errors[a].total_cmp(&errors[b]));
    let least = &processes[least.unwrap_or(0)].out_of_fold;
    let level = |at: &usize| !least.is_clearly_below(&processes[*at].out_of_fold, rows);
    let score = |at: usize| {
        let process = &processes[at];
        let found = without.map_or(&process.evidence, |k| &process.folds[k]);
        process.score_of(rows.len(), errors[at], found.value)
    };
    let mean = processes.iter().position(|process| process.is_mean());
    let level: Vec<usize> = (0..processes.len())
        .filter(|at| Some(*at) != mean)
        .filter(level)
        .collect();
    let tells = |at: &usize| {
        let below = mean.is_none_or(|mean| errors[*at] < errors[mean]);
        below && processes[*at].out_of_fold.follows(data, rows)
    };
    let best =
        |of: &mut dyn Iterator<Item = usize>| of.min_by(|&a, &b| score(a).total_cmp(&score(b)));
    let telling = best(&mut level.iter().copied().filter(tells));
    telling
        .or(mean)
        .or_else(|| best(&mut level.into_iter()))
        .unwrap_or(0)
}

/// The errors of the whole procedure, selection included: each fold is predicted by the candidate that the other folds
/// choose, a process or the network that was fitted to the rows (`direct`), if there is one.
pub(crate) fn errors_of_choice(
    processes: &[Process],
    direct: Option<&OutOfFold>,
    samples: &Samples,
) -> OutOfFold {
    let mut errors = processes[0].out_of_fold.clone();
    for (k, fold) in samples.folds.iter().enumerate() {
        let others = samples.without(k);
        let best = chosen(processes, (&others, Some(k)), &samples.data);
        let process = &processes[best].out_of_fold;
        let wins = |direct: &&OutOfFold| direct.error_of(&others) < process.error_of(&others);
        errors.replace(fold, direct.filter(wins).unwrap_or(process));
    }
    errors
}

/// Finds the terms from the rows without a fold and the process fitted to them.
pub(crate) type TermsWithoutFold<'a> =
    dyn Fn(&Dataset, &Evidence) -> Option<Vec<Vec<usize>>> + Sync + 'a;

/// A kernel term for each set of inputs, of the shortest length that the guide has for each input, and where the search of
/// weights, lengths and noise starts.
fn kernel_terms_of(
    terms: &[Vec<usize>],
    guide: &Evidence,
    d: usize,
) -> (Vec<KernelTerm>, Vec<f64>) {
    let mut lengths = vec![LONGEST; d];
    for term in &guide.kernel.terms {
        for (&j, length) in term.inputs.iter().zip(&term.lengths) {
            lengths[j] = lengths[j].min(*length).max(0.1);
        }
    }
    let kernel_terms: Vec<KernelTerm> = (terms.iter())
        .map(|set| KernelTerm {
            inputs: set.clone(),
            ..KernelTerm::full(Shape::Gaussian, set.iter().map(|&j| lengths[j]).collect())
        })
        .collect();
    let mut start = vec![0.0; kernel_terms.len()];
    let all = kernel_terms.iter().flat_map(|term| &term.lengths);
    start.extend(all.map(|length| length.ln()));
    start.push(guide.ridge.ln());
    (kernel_terms, start)
}

/// The best weights, lengths (where `start` has them) and noise of a sum of kernel_terms.
fn sum_of_kernel_terms(
    kernel_terms: &[KernelTerm],
    data: &Dataset,
    start: Vec<f64>,
    steps: usize,
) -> Result<Evidence> {
    let par = threads(data.samples());
    let unit = |term: &KernelTerm| {
        let term = KernelTerm {
            weight: 1.0,
            ..term.clone()
        };
        term.gram(data.x.as_ref())
    };
    let fixed = start.len() == kernel_terms.len() + 1;
    let grams: Option<Vec<Mat<f64>>> = fixed.then(|| kernel_terms.iter().map(unit).collect());
    let kernel_terms = (kernel_terms, grams.as_deref());
    let evidence = |log: &[f64]| evidence_of_sum(kernel_terms, &data.x, &data.y, log, par);
    let objective = |log: &[f64]| evidence(log).map(|found| (found.value, found.gradient));
    let mut best = start;
    if steps > 0 {
        let mut bounds = vec![[-16.0, 16.0]; kernel_terms.0.len()];
        bounds.resize(best.len() - 1, [SHORTEST.ln(), LONGEST.ln()]);
        bounds.push([f64::EPSILON.ln(), 7.0]);
        let mut search = Lbfgs::new(best, bounds, &objective);
        for _ in 0..steps {
            if search.done {
                break;
            }
            search.step(&objective);
        }
        best = search.x;
    }
    evidence(&best).ok_or_else(|| Error::Data {
        what: "x",
        problem: "a sum of kernels cannot be factorised".into(),
        advice: "look for columns of extreme size",
    })
}

/// The weights and the noise of a sum of kernel_terms whose lengths stay, to go on from.
fn weights_of(found: &Evidence) -> Vec<f64> {
    let weights = found.kernel.terms.iter().map(|term| term.weight.ln());
    weights.chain([log_noise(found)]).collect()
}

/// The parameters of a sum of kernel_terms, to go on from.
fn log_of(found: &Evidence) -> Vec<f64> {
    let kernel_terms = &found.kernel.terms;
    let weights = kernel_terms.iter().map(|term| term.weight.ln());
    let lengths = kernel_terms.iter().flat_map(|term| &term.lengths);
    let lengths = lengths.map(|length| length.ln());
    weights.chain(lengths).chain([log_noise(found)]).collect()
}

/// ln g: the ridge without the jitter, which every likelihood adds anew.
fn log_noise(found: &Evidence) -> f64 {
    let noise = found.ridge - found.alpha.nrows() as f64 * f64::EPSILON;
    noise.max(f64::EPSILON).ln()
}

/// A kind of process that successive halving begins with.
pub(crate) struct Configuration {
    pub candidate: Candidate,
    pub process: GaussianProcess,
}

impl Configuration {
    /// Whether it is the linear model.
    pub fn is_linear(&self) -> bool {
        self.process.isotropic && self.process.shortest > 1.0
    }

    /// Whether it is one of the two standard processes, which the model must not be worse than.
    pub fn is_control(&self) -> bool {
        !self.process.kernel.has_shares() && !self.process.isotropic
    }
}

/// The processes that successive halving begins with; every active input costs `price` (see `gaussian_process`).
pub(crate) fn configurations(starts: usize, price: f64) -> Vec<Configuration> {
    let of = |kernel| GaussianProcess {
        price,
        kernel,
        starts,
        spread: 2.5,
        halve_after: 20,
        selection_rows: usize::MAX,
        iterations: 80,
        ..GaussianProcess::default()
    };
    let configuration = |candidate, process| Configuration { candidate, process };
    vec![
        configuration(Candidate::Gaussian, of(Shape::Gaussian)),
        configuration(Candidate::Matern, of(Shape::Matern52)),
        configuration(Candidate::Anova, of(Shape::Anova)),
        configuration(
            Candidate::FreeAnova,
            GaussianProcess {
                prior: false,
                ..of(Shape::Anova)
            },
        ),
        configuration(Candidate::RoughAnova, of(Shape::AnovaMatern52)),
        configuration(
            Candidate::OneLength,
            GaussianProcess {
                isotropic: true,
                ..of(Shape::Gaussian)
            },
        ),
        configuration(
            Candidate::NearlyLinear,
            GaussianProcess {
                isotropic: true,
                shortest: 1e2,
                starts: 2,
                ..of(Shape::Gaussian)
            },
        ),
    ]
}

/// The process of samples in scaled units.
pub(crate) fn in_scaled_units(data: &Dataset, found: &Evidence) -> Result<KernelModel> {
    let record = Record {
        ridge: found.ridge,
        ..Record::default()
    };
    let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
    let scalers = (identity(&data.x), identity(&data.y));
    kernel_model(data, scalers, found.expansion(data.x.clone()), record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::random;
    use thinfit::Scaling;

    #[test]
    fn shuffled_outputs_expose_a_search_that_has_seen_the_folds() {
        // Forty rows of sixty inputs: lengths that were fitted to a row predict it.
        let data = Dataset::new(random(40, 60, 1), random(40, 1, 2)).expect("finite numbers");
        let scalers = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
        let samples = Samples::new(&data, scalers, 10, 1);
        let nested = Plan {
            price: 0.0,
            ..Plan::new(40, 40, 30.0)
        };
        let leaky = Plan {
            afresh: None,
            fold_iterations: 0,
            ..nested.clone()
        };
        let mean = Process::mean(&samples).expect("a mean");
        let r2 = |plan: &Plan| {
            let found = mean.optimism((&samples, plan), (0.1, 1), &|_| Control::Continue);
            found.expect("a fit")
        };
        let (leaky, nested) = (r2(&leaky), r2(&nested));
        assert!(leaky > 0.2 && nested < 0.1, "{leaky} {nested}");
    }
}
