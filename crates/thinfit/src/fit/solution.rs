//! A candidate for the model: hidden weights, the solution for their output weights, and the model made of them.

use super::Fit;
use crate::config::Training;
use crate::data::rows::Rows;
use crate::model::header::Header;
use crate::model::model::Model;
use crate::model::network::NetworkBody;
use crate::model::posterior::{Posterior, spread};
use crate::model::record::{Record, Selection, Winner};
use crate::network::features::{fitted, planes};
use crate::polish::race::Origin;
use crate::solve::orthogonal::Orthogonal;
use crate::solve::ridge::KAPPAS;
use crate::solve::tsqr::TsqrFactor;
use crate::train::phases::Check;
use crate::{Config, Dataset, Error, Form, Network, Result, Ridge};
use faer::Mat;

/// Entries of the largest design matrix that is factored at once (64 MiB).
const FACTOR_ENTRIES: usize = 8 << 20;

/// Hidden weights (n × d′), their origin, and the solution for their output weights.
pub(super) struct Solution {
    pub w: Mat<f64>,
    pub origin: Origin,
    /// λ of the training.
    pub lambda: f64,
    pub solved: Solved,
    pub polish_steps: Option<usize>,
    /// [`Solved::errors`] of the features before the polish, if any.
    pub unpolished: Option<Vec<f64>>,
    pub stopped: bool,
    pub raised: usize,
    pub history: Vec<Check>,
}

/// The factored design matrix of the training rows, with the ridge that the validation rows chose.
pub(super) struct Solved {
    form: Form,
    /// `None` if it was dropped to save memory; [`Fit::finish`] then recomputes it.
    pub factor: Option<Orthogonal>,
    /// √ε/s_max; none where ε is given.
    kappa: Option<f64>,
    /// Error on the validation rows, in scaled outputs.
    pub validation: f64,
    /// The same for each output.
    pub errors: Vec<f64>,
}

impl Fit<'_> {
    /// Factors the design matrix of `w` on the training rows and chooses the ridge of the final output weights.
    ///
    /// An absolute ridge is used as given. A relative one is for the training steps; here validation chooses κ.
    pub(super) fn solve(&self, w: &Mat<f64>, form: Form) -> Result<Solved> {
        let activation = self.config.activation;
        let factor = self.factor(&self.train, w, form)?;
        let e = planes(activation, self.validation.x.as_ref(), w.as_ref());
        let held = Rows::of(&self.validation);
        let predicted = |factor: &Orthogonal, tau: f64| {
            let b = factor.coefficients(tau);
            fitted(activation, e.as_ref(), b.as_ref())
        };
        let chosen = match self.config.ridge {
            Ridge::Absolute(eps) => Some((
                None,
                held.mean_square(predicted(&factor, eps.sqrt()).as_ref()),
            )),
            Ridge::Relative(_) => factor
                .choose_by_validation(&KAPPAS, e.as_ref(), &held)
                .map(|(kappa, error)| (Some(kappa), error)),
        };
        match chosen {
            Some((kappa, validation)) if validation.is_finite() => Ok(Solved {
                form,
                errors: held.mean_squares(predicted(&factor, self.tau(&factor, kappa)).as_ref()),
                factor: Some(factor),
                kappa,
                validation,
            }),
            _ => Err(Error::Diverged {
                what: "the validation error",
                step: 0,
                advice: "check the scale of the data",
            }),
        }
    }

    fn factor(&self, data: &Dataset, w: &Mat<f64>, form: Form) -> Result<Orthogonal> {
        let (activation, rows) = (self.config.activation, Rows::of(data));
        let planes = |rows: &Rows<'_>| planes(activation, rows.x, w.as_ref());
        if rows.len() * activation.planes(w.nrows()) <= FACTOR_ENTRIES {
            let e = planes(&rows);
            return Orthogonal::new(activation, form, e.as_ref(), rows.y, rows.weights);
        }
        let factor = TsqrFactor::new(activation, form, &rows, planes);
        let factor = factor.unwrap_or_else(|| unreachable!("there are rows"));
        Orthogonal::of_tsqr(activation, factor)
    }

    /// τ of the final output weights for a factorisation of the same features.
    fn tau(&self, factor: &Orthogonal, kappa: Option<f64>) -> f64 {
        match (kappa, self.config.ridge) {
            (Some(kappa), _) => factor.tau(kappa),
            (None, Ridge::Absolute(eps) | Ridge::Relative(eps)) => eps.sqrt(),
        }
    }

    /// The model of the chosen features: output weights, noise and calibration.
    pub(super) fn finish(self, mut chosen: Solution) -> Result<Model> {
        let activation = self.config.activation;
        let factor = match chosen.solved.factor.take() {
            Some(factor) => factor,
            None => self.factor(&self.train, &chosen.w, chosen.solved.form)?,
        };
        let Solved { form, kappa, .. } = chosen.solved;
        let tau = self.tau(&factor, kappa);
        let b = factor.coefficients(tau);
        let e = planes(activation, self.validation.x.as_ref(), chosen.w.as_ref());
        let held_out = fitted(activation, e.as_ref(), b.as_ref());
        let residual = &self.validation.y - &held_out;
        let spread = spread(e.as_ref(), factor.covariance(tau).as_ref());

        let (b, tau, covariance) = if self.config.refit {
            let factor = self.factor(&self.all, &chosen.w, form)?;
            let tau = self.tau(&factor, kappa);
            (factor.coefficients(tau), tau, factor.covariance(tau))
        } else {
            (b, tau, factor.covariance(tau))
        };
        if !chosen.w.is_all_finite() || !b.is_all_finite() {
            return Err(Error::Diverged {
                what: "the network",
                step: 0,
                advice: "lower the learning rate or scale the data",
            });
        }
        let (posterior, calibration) = Posterior::new(
            covariance.as_ref(),
            residual.as_ref(),
            &spread,
            &self.validation,
        );
        let scale = &self.scalers.1.scale;
        let record = self.record(&chosen, tau * tau).validated(
            &self.train,
            &self.validation,
            held_out.as_ref(),
            scale,
        );
        let record = Record {
            rows: Some(self.rows),
            ..record
        };
        let network = Network {
            activation,
            hidden: chosen.w,
            output: b,
        };
        let header = Header {
            inputs: self.all.inputs,
            outputs: self.all.outputs,
            domain: self.domain,
            input_scaler: self.scalers.0,
            output_scaler: self.scalers.1,
            calibration: Some(calibration),
            record,
            encoding: None,
        };
        Ok(Model::new(
            header,
            NetworkBody::new(network, Some(posterior)),
        ))
    }

    /// The record of the chosen features and the ridge of their output weights, without the errors.
    fn record(&self, chosen: &Solution, ridge: f64) -> Record {
        // The polish has no regulariser, and neither has a random start.
        let unregularised =
            chosen.origin != Origin::Training || chosen.polish_steps.is_some_and(|steps| steps > 0);
        Record {
            method: self.config.training.name().into(),
            seed: self.config.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            samples: self.all.samples(),
            lambda: if unregularised { 0.0 } else { chosen.lambda },
            training_lambda: (unregularised && chosen.lambda > 0.0).then_some(chosen.lambda),
            start_scale: start_scale(&self.config, chosen.origin),
            selection: self.selection(chosen),
            form: chosen.solved.form,
            ridge,
            raised: chosen.raised,
            polish_steps: chosen.polish_steps,
            stopped: chosen.stopped,
            history: chosen.history.clone(),
            config: Some(Config {
                threads: 0,
                ..self.config.clone()
            }),
            ..Record::default()
        }
    }

    /// What the polish chose, if there was one.
    fn selection(&self, chosen: &Solution) -> Option<Selection> {
        let scale = self.scalers.1.scale.iter();
        let errors = chosen.unpolished.as_ref()?.iter().zip(scale);
        Some(Selection {
            winner: match (chosen.origin, chosen.polish_steps) {
                (Origin::Start(_), _) => Winner::PolishedRandom,
                (Origin::Training, Some(0) | None) => Winner::Trained,
                (Origin::Training, Some(_)) => Winner::Polished,
            },
            trained_mse: errors
                .map(|(mse, scale)| (mse * scale * scale).min(f64::MAX))
                .collect(),
        })
    }
}

/// Standard deviation of random weights of this origin; none if a generator made them.
fn start_scale(config: &Config, origin: Origin) -> Option<f64> {
    match (origin, config.training) {
        (Origin::Start(i), _) => Some(config.polish.starts[i].scale),
        (Origin::Training, Training::Random | Training::Direct) => Some(config.scale),
        (Origin::Training, Training::Generative | Training::Refined) => None,
    }
}
