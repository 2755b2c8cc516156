//! A fit to a long table from given hidden weights: one pass condenses the rows, and held-out rows choose the ridge
//! and calibrate the intervals.
//!
//! Nothing here depends on how the rows are divided into blocks or among processes: a leaf is [`LEAF`] rows by row
//! number, and leaves are merged in a tree that depends on these numbers alone (`solve/tsqr.rs`).

use crate::data::out_of_core::{Block, LEAF};
use crate::data::rows::Rows;
use crate::data::survey::Survey;
use crate::model::header::Header;
use crate::model::model::Model;
use crate::model::network::NetworkBody;
use crate::model::posterior::{Posterior, spread};
use crate::model::record::Record;
use crate::model::training_rows::TrainingRows;
use crate::network::features::{fitted, planes};
use crate::solve::orthogonal::Orthogonal;
use crate::solve::ridge::KAPPAS;
use crate::solve::tsqr::TsqrFactor;
use crate::{Activation, Dataset, Error, Form, Network, Result, Scaler};
use faer::{Mat, MatRef};
use serde::{Deserialize, Serialize};

/// A network without output weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// Activation Φ.
    pub activation: Activation,
    /// Hidden weights in scaled inputs (n × d′).
    #[serde(with = "crate::math::row_list")]
    pub hidden: Mat<f64>,
    /// Scaling of the inputs.
    pub input_scaler: Scaler,
    /// Scaling of the outputs.
    pub output_scaler: Scaler,
    /// Numbers of the rows that are held out, sorted.
    pub held_out: Vec<u64>,
}

/// Unprocessed rows of a leaf (rows × d, rows × c).
pub(super) struct Leaf {
    pub number: u64,
    /// How many arrived, including those that do not count.
    pub rows: u64,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
}

impl Leaf {
    /// These rows, and then others of the same leaf.
    pub fn followed_by(mut self, next: Leaf) -> Self {
        self.rows += next.rows;
        self.x.extend(next.x);
        self.y.extend(next.y);
        self
    }
}

impl Draft {
    /// Whether its pieces fit each other and a table of so many inputs and outputs.
    pub fn is_sound(&self, (d, c): (usize, usize)) -> bool {
        self.hidden.nrows() > 0
            && self.hidden.ncols() == self.activation.weights(d)
            && self.hidden.is_all_finite()
            && self.input_scaler.is_sound(d)
            && self.output_scaler.is_sound(c)
            && self.held_out.is_sorted()
    }

    /// The rows of a block that lie in one leaf, but for those that do not count.
    pub(super) fn gathered(&self, block: Block<'_>) -> Leaf {
        let (first, count) = (block.first, block.x.nrows());
        let held = |row: u64| self.held_out.partition_point(|held| *held < row);
        let held = &self.held_out[held(first)..held(first + count as u64)];
        let counts =
            |i: &usize| held.binary_search(&(first + *i as u64)).is_err() && block.is_complete(*i);
        let kept: Vec<usize> = (0..count).filter(counts).collect();
        let values = |of: MatRef<'_, f64>| {
            let row = |&i: &usize| (0..of.ncols()).map(move |j| of[(i, j)]);
            kept.iter().flat_map(row).collect()
        };
        Leaf {
            number: first / LEAF,
            rows: count as u64,
            x: values(block.x),
            y: values(block.y),
        }
    }

    /// The condensed rows of a leaf.
    pub(super) fn leaf(&self, leaf: &Leaf) -> TsqrFactor {
        let scaled = |scaler: &Scaler, values: &[f64]| {
            let k = scaler.scale.len();
            let rows = MatRef::from_row_major_slice(values, values.len() / k, k);
            scaler.apply(rows)
        };
        let x = scaled(&self.input_scaler, &leaf.x);
        let y = scaled(&self.output_scaler, &leaf.y);
        let rows = Rows {
            x: x.as_ref(),
            y: y.as_ref(),
            weights: None,
        };
        let planes = |some: &Rows<'_>| planes(self.activation, some.x, self.hidden.as_ref());
        TsqrFactor::leaf(self.activation, Form::Real, &rows, planes)
    }

    /// The network with the output weights of factored rows, all of the survey but `held_out`; `sample` are some of them, and
    /// `record` says how the hidden weights were found.
    ///
    /// # Errors
    /// Rows whose numbers do not fit the draft, or are no longer finite.
    pub fn finish(
        &self,
        rows: TsqrFactor,
        survey: &Survey,
        (sample, held_out): (&Dataset, &Dataset),
        record: Record,
    ) -> Result<Model> {
        let scalers = (self.input_scaler.clone(), self.output_scaler.clone());
        let factor = Orthogonal::of_tsqr(self.activation, rows)?;
        let held = held_out.scaled(&scalers);
        let e = planes(self.activation, held.x.as_ref(), self.hidden.as_ref());
        let chosen = factor.choose_by_validation(&KAPPAS, e.as_ref(), &Rows::of(&held));
        let (kappa, _) = chosen.ok_or(Error::Diverged {
            what: "the error on the rows held out",
            step: 0,
            advice: "check the scale of the data",
        })?;
        let tau = factor.tau(kappa);
        let (output, covariance) = (factor.coefficients(tau), factor.covariance(tau));
        let predicted = fitted(self.activation, e.as_ref(), output.as_ref());
        let residual = &held.y - &predicted;
        let spread = spread(e.as_ref(), covariance.as_ref());
        let (posterior, calibration) =
            Posterior::new(covariance.as_ref(), residual.as_ref(), &spread, &held);
        let sample = sample.scaled(&scalers);
        let record = record.validated(&sample, &held, predicted.as_ref(), &scalers.1.scale);
        let record = Record {
            samples: usize::try_from(survey.rows()).unwrap_or(usize::MAX),
            form: Form::Real,
            ridge: tau * tau,
            rows: Some(TrainingRows::of_sum(survey.marks())),
            ..record
        };
        let network = Network {
            activation: self.activation,
            hidden: self.hidden.clone(),
            output,
        };
        let header = Header {
            domain: survey.domain().to_vec(),
            calibration: Some(calibration),
            ..Header::new(held_out, scalers, record)
        };
        Ok(Model::new(
            header,
            NetworkBody::new(network, Some(posterior)),
        ))
    }
}

pub(super) fn no_rows() -> Error {
    Error::TooFew {
        what: "rows",
        needed: 1,
        found: 0,
        advice: "give a table with rows",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::data::out_of_core::{OutOfCoreTable, Visitor};
    use crate::executor::SingleProcess;
    use crate::fit::tsqr_block::TsqrPass;
    use crate::shared_pass;

    pub fn factor(draft: &Draft, table: &dyn OutOfCoreTable) -> TsqrFactor {
        let none = TsqrPass::new(draft);
        let rows = shared_pass(table, &SingleProcess, (none, 0), &mut |_, _| Ok(())).unwrap();
        rows.finish(&surveyed(table, 10)).unwrap()
    }

    pub fn data(m: usize) -> Dataset {
        let x = Mat::from_fn(m, 2, |i, j| ((31 * i + 17 * j) as f64).sin());
        let y = Mat::from_fn(m, 1, |i, _| {
            x[(i, 0)] * x[(i, 1)] + 1e-3 * ((7 * i) as f64).cos()
        });
        Dataset::new(x, y).unwrap()
    }

    pub fn draft() -> Draft {
        Draft {
            activation: Activation::Fourier,
            hidden: Mat::from_fn(6, 2, |l, j| 0.3 * ((3 * l + 5 * j + 1) as f64).sin()),
            input_scaler: Scaler::identity(2),
            output_scaler: Scaler::identity(1),
            held_out: (0..400).map(|k| 25 * k).collect(),
        }
    }

    /// A table in blocks of so many rows.
    struct Blocks(Dataset, usize);

    impl OutOfCoreTable for Blocks {
        fn inputs(&self) -> &[String] {
            &self.0.inputs
        }
        fn outputs(&self) -> &[String] {
            &self.0.outputs
        }
        fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
            let m = self.0.samples();
            (0..m).step_by(self.1).try_for_each(|first| {
                let count = self.1.min(m - first);
                visitor.take(Block {
                    first: first as u64,
                    x: self.0.x.subrows(first, count),
                    y: self.0.y.subrows(first, count),
                })
            })
        }
    }

    fn surveyed(table: &dyn OutOfCoreTable, capacity: usize) -> Survey {
        let none = Survey::new((2, 1), capacity, 1);
        shared_pass(table, &SingleProcess, (none, 0), &mut |_, _| Ok(())).unwrap()
    }

    fn model(table: &dyn OutOfCoreTable) -> Model {
        let survey = surveyed(table, 1000);
        let all = data(10_000);
        let held: Vec<usize> = draft().held_out.iter().map(|n| *n as usize).collect();
        let rows = factor(&draft(), table);
        let sample = all.rows(&[1, 2, 3, 4, 5]);
        let held = all.rows(&held);
        draft()
            .finish(rows, &survey, (&sample, &held), Record::default())
            .unwrap()
    }

    #[test]
    fn blocks_change_no_bit_and_the_weights_are_those_of_one_solve() {
        let whole = model(&data(10_000));
        for rows in [1000, 4096, 9999] {
            assert_eq!(model(&Blocks(data(10_000), rows)), whole, "{rows}");
        }
        let (all, draft) = (data(10_000), draft());
        let train: Vec<usize> = (0..10_000).filter(|i| i % 25 > 0).collect();
        let train = all.rows(&train);
        let e = planes(draft.activation, train.x.as_ref(), draft.hidden.as_ref());
        let at_once = Orthogonal::new(
            draft.activation,
            Form::Real,
            e.as_ref(),
            train.y.as_ref(),
            None,
        )
        .unwrap();
        let b = at_once.coefficients(whole.record.ridge.sqrt());
        let f = fitted(draft.activation, e.as_ref(), b.as_ref());
        let g = whole.predict(train.x.as_ref()).unwrap();
        assert!((f - g).norm_max() < 1e-10);
        assert_eq!(whole.record.samples, 10_000);
        assert_eq!(whole.record.validation_samples, 400);
    }

    #[test]
    fn rows_with_gaps_do_not_count_but_keep_their_numbers() {
        let mut gappy = data(10_000);
        for i in (1..10_000).step_by(100) {
            gappy.x[(i, 1)] = f64::NAN;
        }
        let survey = surveyed(&gappy, 10);
        assert_eq!((survey.rows(), survey.dropped()), (9900, 100));
        // Those with gaps are left out, and those held out are still the ones with these numbers.
        let kept: Vec<usize> = (0..10_000)
            .filter(|i| i % 100 != 1 && i % 25 != 0)
            .collect();
        let same = factor(&draft(), &gappy);
        let none_held = Draft {
            held_out: vec![],
            ..draft()
        };
        let other = factor(&none_held, &data(10_000).rows(&kept));
        let solved = |rows| {
            Orthogonal::of_tsqr(Activation::Fourier, rows)
                .unwrap()
                .coefficients(1e-6)
        };
        assert!((solved(same) - solved(other)).norm_max() < 1e-7);
    }
}
