//! Long tables: hidden weights from a growing sample, output weights from all rows.
//!
//! Hidden weights describe where a function varies and how fast, which some thousand rows determine; output weights
//! are a linear fit, which every row improves. So a first pass over the rows draws a random sample. The features of
//! the best model of a part of it are polished on twice as many rows, repeatedly, until the error on the hold-out
//! stops falling. A second pass over all rows gives the output weights, and the hold-out gives their ridge and the
//! intervals.

use crate::auto::{Auto, model_rows};
use crate::network::{FeatureSampler, KAPPA, scaled_fit};
use crate::plan::{Plan, long_step, polish};
use crate::samples::OutOfFold;
use crate::state::LongState;
use faer::Mat;
use serde::{Deserialize, Serialize};
use thinfit::pieces::{Executor, SingleProcess};
use thinfit::{
    Activation, Block, Candidate, Choice, Control, Dataset, Draft, Features, Mergeable, Network,
    Observer, OutOfCoreTable, Progress, Record, Result, Subset, SubsetReason, Survey, TrainingRows,
    Tried, TsqrFactor, TsqrPass, polish_many, shared_pass,
};
use thinfit_model::CLEAN;
use thinfit_model::Predictor;

/// Most held-out rows: enough to know their error to one per cent.
const JUDGES: usize = 20_000;
/// Rows of the sample, and numbers in it, at most.
const ROWS: usize = 1 << 18;
const NUMBERS: usize = 1 << 25;
/// Steps of the polish on the part, and on each sample after it, from where the one before ended.
const STEPS: usize = 8;
const FEWER: usize = 2;
/// The share of the budget that the model of the part gets.
const PART: f64 = 1.0 / 3.0;
/// The share of the time that features of the terms of the part get, where there are such terms.
const TERMS: f64 = 0.25;
/// The first sample may take so many times the seconds; of features with more numbers there are none.
const FIRST: f64 = 3.0;
/// A network that misses so many times the squared error of the part will not catch up.
const HOPELESS: f64 = 100.0;
/// A part that lowers the squared error by less than this share is the last.
const GAIN: f64 = 0.03;
/// Squared errors below this share of the variance are no noise.
const ROUNDING: f64 = 1e-16;
/// The shares of the work that are done after the first pass and before the last.
const AFTER: f64 = 0.2;
const BEFORE: f64 = 0.6;

/// What was learned from the sample of a long table.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Learned {
    /// The best model of a part of it.
    #[serde(with = "model")]
    part: Predictor,
    /// Rows of this part.
    rows: usize,
    /// Whether these are all rows of the table.
    whole: bool,
    /// Whether it was stopped before it had tried everything.
    stopped: bool,
    /// Hidden weights that predict unseen rows better, and the rows they come from.
    grown: Option<(Draft, usize)>,
}

impl Learned {
    /// The network whose output weights all rows are to give; none where a model of a part is the best.
    pub fn draft(&self) -> Option<&Draft> {
        self.grown.as_ref().map(|(draft, _)| draft)
    }
}

/// A model within a state, which is checked like one in a file.
mod model {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::path::Path;
    use thinfit_model::Predictor;

    pub fn serialize<S: Serializer>(model: &Predictor, to: S) -> Result<S::Ok, S::Error> {
        match model {
            Predictor::Network(model) => model.serialize(to),
            Predictor::Kernel(model) => model.serialize(to),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Predictor, D::Error> {
        let json = serde_json::Value::deserialize(from)?.to_string();
        Predictor::from_json(&json, Path::new("the model of a part")).map_err(D::Error::custom)
    }
}

/// A random sample of a long table: held-out rows and training rows, in random order.
struct Sample {
    hold_out: Dataset,
    rows: Dataset,
    /// Row numbers of both, held-out rows first.
    numbers: Vec<u64>,
}

impl Sample {
    fn new(all: &Dataset, numbers: Vec<u64>) -> Self {
        let count = JUDGES.min(all.samples() / 4);
        Sample {
            hold_out: all.rows(&(0..count).collect::<Vec<_>>()),
            rows: all.rows(&(count..all.samples()).collect::<Vec<_>>()),
            numbers,
        }
    }

    /// The first `count` rows.
    fn first(&self, count: usize) -> Dataset {
        self.rows.rows(&(0..count).collect::<Vec<_>>())
    }

    /// The rows to learn from, condensed for a network.
    fn condensed(&self, draft: &Draft) -> Result<TsqrFactor> {
        // Here rows have other numbers, and the held-out rows are not among them.
        let draft = Draft {
            held_out: vec![],
            ..draft.clone()
        };
        let rows = Block {
            first: 0,
            x: self.rows.x.as_ref(),
            y: self.rows.y.as_ref(),
        };
        draft.tsqr_block(rows).finish(&draft)
    }

    /// Row numbers of the held-out rows, sorted.
    fn held_out(&self) -> Vec<u64> {
        let mut numbers = self.numbers[..self.hold_out.samples()].to_vec();
        numbers.sort_unstable();
        numbers
    }
}

impl Auto {
    /// The best model of the rows of a long table: two passes, and memory that does not grow with them. Processes that share the
    /// table get the model that one gets, to the last bit. Returned with it is the number of rows with gaps, which were left out.
    ///
    /// # Errors
    /// As [`Auto::fit`], rows that cannot be read, or a process that fails.
    pub fn fit_long(
        &self,
        table: &dyn OutOfCoreTable,
        executor: &dyn Executor,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<(Predictor, u64)> {
        let names = (table.inputs(), table.outputs());
        let state = LongState::new(self.clone(), seed, names, String::new());
        Auto::resume_long(state, table, executor, &mut |_| (), observe)
    }

    /// [`Auto::fit_long`] from where it was left. Wherever the table pauses, and between the passes, the first process hands the state to `keep`.
    ///
    /// # Errors
    /// As of [`Auto::fit_long`], or a state that does not fit the table.
    pub fn resume_long(
        mut state: LongState,
        table: &dyn OutOfCoreTable,
        executor: &dyn Executor,
        keep: &mut dyn FnMut(&LongState),
        observe: &Observer<'_>,
    ) -> Result<(Predictor, u64)> {
        let names = (table.inputs(), table.outputs());
        let (auto, seed) = (state.head.settings.clone(), state.head.seed);
        state.check(names, executor)?;
        let mut keep = |state: &LongState| {
            if executor.rank() == 0 {
                keep(state);
            }
        };
        if !state.head.surveyed {
            keep(&state);
            let before = (state.survey.clone(), state.head.seen);
            let survey = shared_pass(table, executor, before, &mut |survey, seen| {
                (state.survey, state.head.seen) = (survey.clone(), seen);
                keep(&state);
                Ok(())
            })?;
            (state.survey, state.head.seen, state.head.surveyed) = (survey, 0, true);
            keep(&state);
        }
        let mut learned = match state.head.learned.clone() {
            Some(learned) => learned,
            None => {
                let early = |at: &Progress<'_>| {
                    observe(&Progress::fraction(AFTER + (BEFORE - AFTER) * at.done))
                };
                let learned = auto.learn_over(executor, &state.survey, names, seed, &early)?;
                let learned = executor.broadcast(|| Ok(learned))?;
                // One that was stopped is learned again.
                if !learned.stopped {
                    state.head.learned = Some(learned.clone());
                    keep(&state);
                }
                learned
            }
        };
        let condensed = learned.draft().map(|draft| {
            let mut before = TsqrPass::new(draft);
            if !state.rows.is_empty() {
                before.merge(&state.rows)?;
            }
            let before = (before, state.head.seen);
            let rows = shared_pass(table, executor, before, &mut |rows, seen| {
                // The rows of a network that will be learned again are of no use.
                if state.head.learned.is_some() {
                    (state.rows, state.head.seen) = (rows.pack(), seen);
                    keep(&state);
                }
                Ok(())
            });
            rows?.finish(&state.survey)
        });
        let stopped = || observe(&Progress::fraction(BEFORE)) == Control::Stop;
        let condensed = match condensed {
            // Other processes would wait for one that goes on alone.
            Some(Err(_)) if executor.size() == 1 && stopped() => {
                learned.stopped = true;
                None
            }
            condensed => condensed.transpose()?,
        };
        observe(&Progress::fraction(1.0));
        let model = auto.conclude_long(&state.survey, names, learned, condensed, seed)?;
        Ok((model, state.survey.dropped()))
    }

    /// Rows of the sample that is taken of a long table of `d` inputs and `c` outputs.
    pub fn sample_rows(d: usize, c: usize) -> usize {
        ROWS.min(NUMBERS / (d + c).max(1))
    }

    /// The second of three pieces of [`Auto::fit_long`], for who makes the passes otherwise: what the sample of a survey
    /// tells. The names are those of inputs and outputs.
    ///
    /// # Errors
    /// As [`Auto::fit`].
    pub fn learn(
        &self,
        survey: &Survey,
        names: (&[String], &[String]),
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Learned> {
        self.learn_over(&SingleProcess, survey, names, seed, observe)
    }

    /// [`Auto::learn`] by processes that share the candidates; what the first has learned counts.
    fn learn_over(
        &self,
        executor: &dyn Executor,
        survey: &Survey,
        names: (&[String], &[String]),
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Learned> {
        self.check()?;
        let (sample, numbers) = survey.sample(names)?;
        let all = sample.samples();
        if survey.rows() == all as u64 && !self.is_long(all, sample.dim()) {
            let mut order: Vec<usize> = (0..all).collect();
            order.sort_unstable_by_key(|&i| numbers[i]);
            let rows: Vec<usize> = order.iter().map(|&i| numbers[i] as usize).collect();
            let data = sample.rows(&order);
            let mut model = self.fit_over(executor, &data, seed, observe)?;
            model.set_rows(&rows);
            model.record_mut().describe(data.x.as_ref());
            return Ok(Learned {
                rows: all,
                whole: true,
                stopped: model.record().stopped,
                part: model,
                grown: None,
            });
        }
        let sample = Sample::new(&sample, numbers);
        let searched = Auto {
            budget: PART * self.budget,
            ..self.clone()
        };
        let rows = model_rows(sample.rows.samples(), sample.rows.dim(), searched.budget);
        let part = sample.first(rows);
        let plan = Plan::new(rows, part.dim(), searched.budget);
        let (mut model, sampler) = searched.searched(&part, &plan, (executor, seed), observe)?;
        let places = &sample.numbers[sample.hold_out.samples()..];
        let places: Vec<usize> = places[..rows].iter().map(|n| *n as usize).collect();
        model.set_rows(&places);
        let others = executor.rank() > 0;
        let grown = match model.record().stopped || others {
            true => None,
            false => self.grown(&sample, &model, &sampler, (rows, observe))?,
        };
        Ok(Learned {
            part: model,
            rows,
            whole: false,
            stopped: observe(&Progress::fraction(1.0)) == Control::Stop,
            grown,
        })
    }

    /// The last piece of [`Auto::fit_long`]: the network with output weights from all rows, which [`Learned::draft`] has condensed, or
    /// from the sample where a pass over all of them was stopped; the model of a part where there is no draft.
    ///
    /// # Errors
    /// Pieces that do not fit each other, or numbers that are no longer finite.
    pub fn conclude_long(
        &self,
        survey: &Survey,
        names: (&[String], &[String]),
        learned: Learned,
        condensed: Option<TsqrFactor>,
        seed: u64,
    ) -> Result<Predictor> {
        let (sample, numbers) = survey.sample(names)?;
        let m = survey.rows();
        let mut part = learned.part;
        let record = part.record_mut();
        record.stopped |= learned.stopped;
        let Some((draft, rows)) = learned.grown else {
            if !learned.whole {
                let because = match record.stopped {
                    true => SubsetReason::Stopped,
                    false => SubsetReason::NoBetter,
                };
                record.diagnosis.get_or_insert_default().subset = Some(Subset {
                    used: learned.rows,
                    rows: m,
                    because,
                });
                record.describe(sample.x.as_ref());
            }
            return Ok(part);
        };
        let (all, sample) = (&sample, Sample::new(&sample, numbers));
        let settings = serde_json::to_value(self).expect("settings are finite numbers");
        let mut record = Record {
            chosen_by: Some("validation".into()),
            stopped: learned.stopped || condensed.is_none(),
            dependence: part.record().dependence.clone(),
            ..Record::of(Self::NAME, settings, seed, 0)
        };
        record.describe(all.x.as_ref());
        let (rest, held_out) = (&sample.rows, &sample.hold_out);
        let mut seen = m;
        let mut model = match condensed {
            Some(condensed) => draft.finish(condensed, survey, (rest, held_out), record)?,
            None => {
                let condensed = sample.condensed(&draft)?;
                let mut model = draft.finish(condensed, survey, (rest, held_out), record)?;
                model.record.samples = all.samples();
                model.record.rows = Some(TrainingRows::new(all));
                seen = all.samples() as u64;
                model
            }
        };
        let mut diagnosis = part.record().diagnosis.clone().unwrap_or_default();
        diagnosis.choice = Choice::Grown {
            hidden: rows,
            output: seen,
            rows: m,
        };
        for tried in &mut diagnosis.tried {
            tried.of_part = true;
        }
        diagnosis.tried.insert(
            0,
            Tried {
                candidate: Candidate::Grown {
                    neurons: model.width(),
                },
                mse: model.record.validation_mse.clone(),
                of_part: false,
            },
        );
        let unseen = model.record.validation_mse.iter();
        let unseen = unseen.zip(&model.record.validation_variance);
        for (o, (mse, variance)) in unseen.enumerate() {
            // What the part took for noise the network may predict.
            let most = match *mse > ROUNDING * variance {
                true => mse.sqrt(),
                false => 0.0,
            };
            let ends = diagnosis.noise_range.get_mut(o).into_iter().flatten();
            for noise in diagnosis.noise.get_mut(o).into_iter().chain(ends) {
                *noise = noise.min(most);
            }
        }
        diagnosis.standard_error = OutOfFold {
            residual: &held_out.y - model.predict(held_out.x.as_ref())?,
            deviation: Mat::zeros(0, 0),
        }
        .standard_error();
        // Those of the part; the network may know more, and has seen more rows.
        (diagnosis.folds, diagnosis.nested) = (0, false);
        diagnosis.cautions.clear();
        diagnosis.terms = None;
        diagnosis.outliers.clear();
        model.record.diagnosis = Some(diagnosis);
        Ok(model.into())
    }

    /// Whether a sample of the rows is taken.
    pub fn samples(&self, data: &Dataset) -> bool {
        data.weights.is_none() && self.is_long(data.samples(), data.dim())
    }

    /// Whether there are many more rows than a Gaussian process can have within the budget.
    pub(crate) fn is_long(&self, m: usize, d: usize) -> bool {
        m >= 2 * model_rows(m, d, self.budget)
    }

    /// Hidden weights that predict unseen rows better than the model of the part, if there are any, and the rows they come from.
    fn grown(
        &self,
        sample: &Sample,
        part: &Predictor,
        sampler: &FeatureSampler,
        (rows, watch): (usize, &Observer<'_>),
    ) -> Result<Option<(Draft, usize)>> {
        let scalers = match part {
            Predictor::Network(model) => (model.input_scaler.clone(), model.output_scaler.clone()),
            Predictor::Kernel(model) => (model.input_scaler.clone(), model.output_scaler.clone()),
        };
        let growth = Growth {
            hold_out: sample.hold_out.scaled(&scalers),
            rows: sample.rows.scaled(&scalers),
            sampler,
            width: self.width,
            watch,
        };
        let predicted = part.predict(sample.hold_out.x.as_ref())?;
        let difference = scalers.1.apply(predicted.as_ref()) - &growth.hold_out.y;
        let least = difference.squared_norm_l2() / (difference.nrows() * difference.ncols()) as f64;
        let best = growth.grown(rows, (1.0 - PART) * self.budget, least)?;
        let better = best.filter(|best| best.error < least);
        Ok(better.map(|best| {
            let draft = Draft {
                activation: best.network.activation,
                hidden: best.network.hidden,
                input_scaler: scalers.0,
                output_scaler: scalers.1,
                held_out: sample.held_out(),
            };
            (draft, best.rows)
        }))
    }
}

/// A network that was polished on `rows` rows, and its error on the held-out rows.
struct Stage {
    network: Network,
    error: f64,
    rows: usize,
}

/// Features on their way from a part of the sample to all of it, in the scaled units of the part.
struct Growth<'a> {
    hold_out: Dataset,
    rows: Dataset,
    /// Features that know the lengths and terms of the part.
    sampler: &'a FeatureSampler,
    width: usize,
    watch: &'a Observer<'a>,
}

impl Growth<'_> {
    /// The best network that is polished on more than `part` rows, within some seconds on two cores; none if there is no more.
    ///
    /// Features of the terms that the part has are cheap and sharp. But under noise, terms that it could not see are missing; so
    /// features of all inputs grow as well, and win where there are rows enough.
    fn grown(&self, part: usize, seconds: f64, least: f64) -> Result<Option<Stage>> {
        let clean = least <= CLEAN;
        let dense = self.sampler.dense(self.rows.dim()).filter(|_| !clean);
        let share = if dense.is_some() { TERMS } else { 1.0 };
        let rows = part * self.rows.y.ncols();
        let search = polish(
            rows,
            self.sampler.entries(self.width),
            2 * self.width,
            STEPS,
        ) / 2.0;
        let steps = if search > share * seconds { 0 } else { STEPS };
        let w = self.start(self.sampler, part, steps)?;
        let terms = self.grow((w, 0), part, share * seconds, least)?;
        let Some(dense) = dense else {
            return Ok(terms);
        };
        // There are too many numbers in it for a search with a polish.
        let w = self.start(&dense, part, 0)?;
        let dense = self.grow((w, STEPS), part, (1.0 - share) * seconds, least)?;
        let both = terms.into_iter().chain(dense);
        Ok(both.min_by(|a, b| a.error.total_cmp(&b.error)))
    }

    /// The best of a few draws of features on the part, after so many steps of the polish.
    fn start(&self, sampler: &FeatureSampler, part: usize, steps: usize) -> Result<Mat<f64>> {
        let data = self.first(part);
        let (network, _) = scaled_fit(&data, sampler, self.width, steps, self.watch)?;
        Ok(network.hidden)
    }

    /// Polishes hidden weights by some steps on `count` rows, then on twice as many, and again, while that pays and the seconds last.
    fn grow(
        &self,
        (mut w, mut steps): (Mat<f64>, usize),
        mut count: usize,
        seconds: f64,
        least: f64,
    ) -> Result<Option<Stage>> {
        let (most, outputs) = (self.rows.samples(), self.rows.y.ncols());
        let free = |j: usize| w.col(j).iter().filter(|v| **v != 0.0).count();
        let entries = (0..w.ncols()).map(free).sum();
        let (mut best, mut spent) = (None::<Stage>, 0.0);
        loop {
            spent += steps as f64 * long_step(count * outputs, entries, 2 * self.width);
            let most_spent = if best.is_some() {
                seconds
            } else {
                FIRST * seconds
            };
            let over = spent > most_spent;
            if over || (self.watch)(&Progress::fraction(0.9)) == Control::Stop {
                break;
            }
            let (data, start) = (self.first(count), Features { w, kappa: KAPPA });
            let polished = polish_many(&data, Activation::Fourier, start, steps, self.watch);
            let Ok(network) = polished else {
                break;
            };
            let error = self.error(&network);
            w = network.hidden.clone();
            let before = best.as_ref().map_or(f64::INFINITY, |best| best.error);
            let (rows, pays) = (count, error < (1.0 - GAIN) * before);
            if error < before {
                best = Some(Stage {
                    network,
                    error,
                    rows,
                });
            }
            if !pays || error > HOPELESS * least || count == most {
                break;
            }
            (count, steps) = ((2 * count).min(most), FEWER);
        }
        // All rows will give its output weights, so those of the sample validate it.
        let Some(Stage { network, rows, .. }) = best else {
            return Ok(None);
        };
        let start = Features {
            w: network.hidden,
            kappa: KAPPA,
        };
        let network = polish_many(&self.rows, Activation::Fourier, start, 0, self.watch)?;
        let error = self.error(&network);
        Ok(Some(Stage {
            network,
            error,
            rows,
        }))
    }

    /// The first `count` rows.
    fn first(&self, count: usize) -> Dataset {
        self.rows.rows(&(0..count).collect::<Vec<_>>())
    }

    /// The mean square of the errors on the held-out rows.
    fn error(&self, network: &Network) -> f64 {
        let difference = network.values(self.hold_out.x.as_ref()) - &self.hold_out.y;
        let error = difference.squared_norm_l2() / (difference.nrows() * difference.ncols()) as f64;
        if error.is_nan() { f64::INFINITY } else { error }
    }
}
