//! Gaussian processes as candidates: found on all rows, judged by folds in which everything is found again.
//!
//! Leave-one-out errors at fixed lengths are in closed form, but the lengths saw the row that is left out: with sixty
//! rows and twenty lengths they are several times too small. So every fold searches its own lengths, from those of all
//! rows on.

use super::samples::{OutOfFold, Samples};
use crate::kernels::evidence::{Evidence, evidence_of_sum};
use crate::kernels::gaussian_process::threads;
use crate::kernels::kernel_model::KernelModel;
use crate::kernels::lbfgs::Lbfgs;
use crate::{Error, GaussianProcess, Part, Result, Shape};
use faer::{Mat, Par};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Ranks, Solo, shared};
use thinfit::{Control, Dataset, Progress, Record, Scaler};

/// Bounds of the lengths of terms.
const SHORTEST: f64 = 1e-2;
const LONGEST: f64 = 1e4;
/// Length of an input that a kernel forgets.
const FORGOTTEN: f64 = 1e8;
/// Least weight, as a logarithm, that a member of a sum starts with.
const FAINT: f64 = 6.0;

/// A Gaussian process found on all rows.
#[derive(Serialize, Deserialize)]
pub(crate) struct Teacher {
    /// Its name in words; other ranks know it.
    #[serde(skip)]
    pub name: &'static str,
    /// Its kernel on all rows.
    pub parts: Vec<Part>,
    /// Its kernel without each fold.
    fold_parts: Vec<Vec<Part>>,
    /// How many numbers the search found.
    pub numbers: usize,
    /// Everything else about it, on all rows.
    pub evidence: Evidence,
    /// What it predicts for rows that it did not see.
    pub out_of_fold: OutOfFold,
}

impl Teacher {
    /// The process with parameters `log` on all rows of `samples`; without each fold the search goes on from there.
    pub fn new(
        entrant: &Entrant,
        log: &[f64],
        samples: &Samples,
        fold_iterations: usize,
    ) -> Result<Self> {
        let again = GaussianProcess {
            iterations: fold_iterations,
            ..entrant.process.clone()
        };
        let whole = again.evidence(&samples.data, log)?;
        Self::judged(
            (entrant.name, log.len()),
            (samples, &Solo),
            whole,
            |data, _| {
                let on = |_: &Progress<'_>| Control::Continue;
                again.evidence(data, &again.search_from(data, vec![log.to_vec()], &on))
            },
        )
    }

    /// The same, but found from scratch without each fold: a search that goes on from what all rows gave stays near it,
    /// and few rows cannot tell many lengths.
    pub fn afresh(entrant: &Entrant, log: &[f64], samples: &Samples, seed: u64) -> Result<Self> {
        let process = GaussianProcess {
            starts: entrant.process.starts.min(3),
            ..entrant.process.clone()
        };
        let whole = process.evidence(&samples.data, log)?;
        Self::judged(
            (entrant.name, log.len()),
            (samples, &Solo),
            whole,
            |data, _| {
                let (log, _) = process.find(data, seed, &|_| Control::Continue)?;
                process.evidence(data, &log)
            },
        )
    }

    /// The process whose kernel is a sum of those of other teachers, with weights by evidence: it leans on whichever
    /// the rows support. The search starts from the members' own signals, each as credible as its score says.
    pub fn committee(
        members: &[Teacher],
        (samples, ranks): (&Samples, &dyn Ranks),
        (steps, fold_steps): (usize, usize),
    ) -> Result<Self> {
        let c = samples.data.y.ncols() as f64;
        let scores = members.iter().map(Teacher::score);
        let best = scores.fold(f64::INFINITY, f64::min);
        let (mut start, mut total, mut noise) = (Vec::new(), 0.0, 0.0);
        for member in members {
            let belief = (best - member.score()).max(-FAINT).exp();
            let weight = belief * member.evidence.signal.iter().sum::<f64>() / c;
            total += weight;
            noise += weight * member.evidence.ridge;
            start.extend((member.parts.iter()).map(|part| (part.weight * weight).ln()));
        }
        start.push((noise / total).ln());
        let parts: Vec<Part> = members.iter().flat_map(|m| m.parts.clone()).collect();
        let whole = sum_of_parts(&parts, &samples.data, start, steps)?;
        let found = weights_of(&whole);
        let numbers = members.iter().map(|member| member.numbers);
        let numbers = numbers.max().unwrap_or(0) + members.len();
        let name = "Gaussian process with a sum of kernels";
        Self::judged((name, numbers), (samples, ranks), whole, |data, k| {
            let parts = members.iter().flat_map(|m| m.fold_parts[k].clone());
            let parts: Vec<Part> = parts.collect();
            sum_of_parts(&parts, data, found.clone(), fold_steps)
        })
    }

    /// The same under the name of its entrant, which another rank does not tell.
    pub fn named(self, entrant: &Entrant) -> Self {
        Teacher {
            name: entrant.name,
            ..self
        }
    }

    /// The same kernel and noise on more rows, and in their folds.
    pub fn extended(&self, (samples, ranks): (&Samples, &dyn Ranks)) -> Result<Self> {
        let log = weights_of(&self.evidence);
        let find = |data: &Dataset| sum_of_parts(&self.parts, data, log.clone(), 0);
        let named = (self.name, self.numbers);
        let whole = find(&samples.data)?;
        Self::judged(named, (samples, ranks), whole, |data, _| find(data))
    }

    /// The process that is a sum of one Gaussian part for each set of inputs, with lengths and weights by evidence.
    pub fn sum_of_terms(
        terms: &[Vec<usize>],
        guide: &Teacher,
        (samples, ranks): (&Samples, &dyn Ranks),
        (steps, fold_steps): (usize, usize),
    ) -> Result<Self> {
        let d = samples.data.dim();
        // A first guess of the lengths: the shortest that the guide has for each input.
        let mut lengths = vec![LONGEST; d];
        for part in &guide.parts {
            for (&j, length) in part.inputs.iter().zip(&part.lengths) {
                lengths[j] = lengths[j].min(*length).max(0.1);
            }
        }
        let parts: Vec<Part> = (terms.iter())
            .map(|set| Part {
                inputs: set.clone(),
                ..Part::full(Shape::Gaussian, set.iter().map(|&j| lengths[j]).collect())
            })
            .collect();
        let mut start = vec![0.0; parts.len()];
        let all = parts.iter().flat_map(|part| &part.lengths);
        start.extend(all.map(|length| length.ln()));
        start.push(guide.evidence.ridge.ln());
        let whole = sum_of_parts(&parts, &samples.data, start, steps)?;
        let found = log_of(&whole);
        Self::judged(
            ("Gaussian process that is a sum of terms", found.len()),
            (samples, ranks),
            whole,
            |data, _| sum_of_parts(&parts, data, found.clone(), fold_steps),
        )
    }

    /// The process `evidence` of all rows, judged by those that `find` gives for the rows without fold `k`. Ranks share the folds.
    pub fn judged(
        (name, numbers): (&'static str, usize),
        (samples, ranks): (&Samples, &dyn Ranks),
        evidence: Evidence,
        find: impl Fn(&Dataset, usize) -> Result<Evidence> + Sync,
    ) -> Result<Self> {
        let fold = |k: usize| -> Result<(OutOfFold, Vec<Part>)> {
            let train = samples.data.rows(&samples.without(k));
            let held = samples.data.rows(&samples.folds[k]);
            let found = find(&train, k)?;
            let parts = found.kernel.parts.clone();
            let model = in_scaled_units(&train, &found)?;
            let f = model.predict(held.x.as_ref())?;
            let errors = OutOfFold {
                residual: &held.y - f,
                deviation: model.deviation(held.x.as_ref())?.observation,
            };
            Ok((errors, parts))
        };
        // A candidate that fails is no candidate, and on all ranks; they would wait for one that leaves.
        let alone = ranks.size() == 1;
        let told = |k: usize| match fold(k) {
            Err(error) if alone => Err(error),
            found => Ok(found.ok()),
        };
        let folds = shared(ranks, samples.folds.len(), |mine| {
            mine.into_par_iter().map(told).collect()
        })?;
        let folds = folds.into_iter().collect::<Option<Vec<_>>>();
        let folds = folds.ok_or_else(|| Error::Data {
            what: "x",
            problem: "a process cannot be fitted without one of the folds".into(),
            advice: "look for columns of extreme size",
        })?;
        let (folds, fold_parts): (Vec<OutOfFold>, Vec<_>) = folds.into_iter().unzip();
        Ok(Teacher {
            name,
            parts: evidence.kernel.parts.clone(),
            fold_parts,
            numbers,
            evidence,
            out_of_fold: OutOfFold::gather(samples, folds),
        })
    }

    /// The model of all rows of `data`, which `samples` has in scaled units.
    pub fn model(&self, data: &Dataset, samples: &Samples, record: Record) -> Result<KernelModel> {
        let record = Record {
            ridge: self.evidence.ridge,
            ..record
        };
        let expansion = self.evidence.expansion(samples.data.x.clone());
        KernelModel::new(data, samples.scalers.clone(), expansion, record)?
            .with_calibration(self.out_of_fold.scores())
    }

    /// What candidates are ranked by, the less the better: ½ m ln(error) + ½ k ln m − ln p with k numbers found by the
    /// search. Errors of few or noisy rows cannot tell candidates apart, and the likelihood alone trusts its kernel too
    /// much; each makes up for the other.
    pub fn score(&self) -> f64 {
        self.score_on(self.out_of_fold.residual.nrows())
    }

    /// The score to be expected on `m` rows, of which it saw only some.
    pub fn score_on(&self, m: usize) -> f64 {
        let (seen, c) = (
            self.out_of_fold.residual.nrows() as f64,
            self.out_of_fold.residual.ncols() as f64,
        );
        let error = self.error().max(f64::MIN_POSITIVE);
        let told = 0.5 * seen * c * error.ln() + self.evidence.value;
        told * m as f64 / seen + 0.5 * self.numbers as f64 * (m as f64).ln()
    }

    /// Mean square over all outputs and rows that were not seen, in scaled units.
    pub fn error(&self) -> f64 {
        self.out_of_fold.error()
    }

    /// The model in scaled units.
    pub fn scaled_model(&self, samples: &Samples) -> Result<KernelModel> {
        in_scaled_units(&samples.data, &self.evidence)
    }

    /// −ln p of the rows of `data` if the kernel forgets some inputs and everything else stays.
    pub fn value_without(&self, forgotten: &[usize], data: &Dataset) -> f64 {
        let x = self.evidence.kernel.widened(data.x.as_ref());
        let mut parts = self.parts.clone();
        for part in &mut parts {
            for (k, input) in part.inputs.iter().enumerate() {
                if forgotten.contains(input) {
                    part.lengths[k] = FORGOTTEN;
                    part.shares.get_mut(k).into_iter().for_each(|c| *c = 0.0);
                }
            }
        }
        let log = weights_of(&self.evidence);
        let found = evidence_of_sum((&parts, None), &x, &data.y, &log, Par::Seq);
        found.map_or(f64::INFINITY, |found| found.value)
    }

    /// Whether it jumps or bends along planes.
    pub fn is_sharp(&self) -> bool {
        !self.evidence.kernel.edges.is_empty()
    }

    /// Standard deviation of the noise, in scaled outputs (c).
    pub fn noise(&self) -> Vec<f64> {
        // Less than this is the rounding of the factorisation.
        let rounding = 1e2 * self.evidence.alpha.nrows() as f64 * f64::EPSILON;
        let ridge = self.evidence.ridge;
        let noise = if ridge > rounding { ridge } else { 0.0 };
        let signal = self.evidence.signal.iter();
        // The signal of a constant output is a floor, not a finding.
        let of = |s: &f64| if *s < 1e-100 { 0.0 } else { (s * noise).sqrt() };
        signal.map(of).collect()
    }
}

/// Teachers by score, best first; but one whose errors are clearly less than those of the first comes before it.
pub(crate) fn ranked(mut teachers: Vec<Teacher>) -> Vec<Teacher> {
    teachers.sort_by(|a, b| a.score().total_cmp(&b.score()));
    let first = &teachers[0].out_of_fold;
    let clearly = teachers.iter().enumerate().skip(1);
    let clearly = clearly.filter(|(_, teacher)| teacher.out_of_fold.is_clearly_below(first));
    let least = clearly.min_by(|a, b| a.1.error().total_cmp(&b.1.error()));
    if let Some((at, _)) = least {
        teachers[..=at].rotate_right(1);
    }
    teachers
}

/// The best weights, lengths (where `start` has them) and noise of a sum of parts.
fn sum_of_parts(parts: &[Part], data: &Dataset, start: Vec<f64>, steps: usize) -> Result<Evidence> {
    let par = threads(data.samples());
    let unit = |part: &Part| {
        let part = Part {
            weight: 1.0,
            ..part.clone()
        };
        part.gram(data.x.as_ref())
    };
    let fixed = start.len() == parts.len() + 1;
    let grams: Option<Vec<Mat<f64>>> = fixed.then(|| parts.iter().map(unit).collect());
    let parts = (parts, grams.as_deref());
    let evidence = |log: &[f64]| evidence_of_sum(parts, &data.x, &data.y, log, par);
    let objective = |log: &[f64]| evidence(log).map(|found| (found.value, found.gradient));
    let mut best = start;
    if steps > 0 {
        let mut bounds = vec![[-16.0, 16.0]; parts.0.len()];
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

/// The weights and the noise of a sum of parts whose lengths stay, to go on from.
fn weights_of(found: &Evidence) -> Vec<f64> {
    let weights = found.kernel.parts.iter().map(|part| part.weight.ln());
    weights.chain([log_noise(found)]).collect()
}

/// The parameters of a sum of parts, to go on from.
fn log_of(found: &Evidence) -> Vec<f64> {
    let parts = &found.kernel.parts;
    let weights = parts.iter().map(|part| part.weight.ln());
    let lengths = parts.iter().flat_map(|part| &part.lengths);
    let lengths = lengths.map(|length| length.ln());
    weights.chain(lengths).chain([log_noise(found)]).collect()
}

/// ln g: the ridge without the jitter, which every likelihood adds anew.
fn log_noise(found: &Evidence) -> f64 {
    let noise = found.ridge - found.alpha.nrows() as f64 * f64::EPSILON;
    noise.max(f64::EPSILON).ln()
}

/// A kind of process that enters the race.
pub(crate) struct Entrant {
    /// Its name in words.
    pub name: &'static str,
    pub process: GaussianProcess,
}

impl Entrant {
    /// Whether it is one of the two processes that everyone uses, which the model must not be worse than.
    pub fn is_control(&self) -> bool {
        !self.process.kernel.has_shares() && !self.process.isotropic
    }
}

/// The processes that race.
pub(crate) fn entrants(starts: usize) -> Vec<Entrant> {
    let of = |kernel| GaussianProcess {
        kernel,
        starts,
        spread: 2.5,
        heat: 20,
        race: usize::MAX,
        iterations: 80,
        ..GaussianProcess::default()
    };
    let entrant = |name, process| Entrant { name, process };
    vec![
        entrant(
            "Gaussian process with a Gaussian kernel",
            of(Shape::Gaussian),
        ),
        entrant("Gaussian process with a Matérn kernel", of(Shape::Matern52)),
        entrant("Gaussian process with an ANOVA kernel", of(Shape::Anova)),
        entrant(
            "Gaussian process with a free ANOVA kernel",
            GaussianProcess {
                prior: false,
                ..of(Shape::Anova)
            },
        ),
        entrant(
            "Gaussian process with a rough ANOVA kernel",
            of(Shape::AnovaMatern52),
        ),
        entrant(
            "Gaussian process with one length",
            GaussianProcess {
                isotropic: true,
                ..of(Shape::Gaussian)
            },
        ),
        entrant(
            "linear model",
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
fn in_scaled_units(data: &Dataset, found: &Evidence) -> Result<KernelModel> {
    let record = Record {
        ridge: found.ridge,
        ..Record::default()
    };
    let identity = |a: &Mat<f64>| Scaler::identity(a.ncols());
    let scalers = (identity(&data.x), identity(&data.y));
    KernelModel::new(data, scalers, found.expansion(data.x.clone()), record)
}
