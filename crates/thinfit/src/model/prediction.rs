//! Prediction: values, derivatives, standard deviations and intervals at given rows.
//!
//! Dimensions: `m` rows, `d` inputs, `c` outputs. Rows are evaluated in blocks on all threads. Every result is finite
//! or an error, except for bounds at a level for which there are too few held-out errors.

use super::body::Body;
use super::calibration::Calibration;
use super::header::check_result;
use super::model::Model;
use crate::Result;
use crate::error::require;
use crate::math::columns::column_mut;
use faer::reborrow::ReborrowMut;
use faer::{Mat, MatRef};

/// Standard deviations at some points, in the units of the outputs (rows × c each).
#[derive(Clone, Debug)]
pub struct Deviation {
    /// Of f itself: the effect of noise in the training outputs on the model.
    pub model: Mat<f64>,
    /// Of a new observation: that of f plus the noise.
    pub observation: Mat<f64>,
}

/// Bounds at some points, in the units of the outputs (rows × c each).
#[derive(Clone, Debug)]
pub struct Interval {
    /// Lower bounds; −∞ where the level asks for more rows than calibrate the model, and far outside the ranges of the samples.
    pub low: Mat<f64>,
    /// Upper bounds; ∞ where the lower ones are −∞.
    pub high: Mat<f64>,
    /// How many rows calibrate the model.
    pub rows: usize,
}

/// All that is predicted at some points.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// f (rows × c).
    pub mean: Mat<f64>,
    /// Standard deviations, where they were asked for or an interval is made from them.
    pub deviation: Option<Deviation>,
    /// Bounds of a level, where one was given.
    pub interval: Option<Interval>,
}

impl Interval {
    /// Whether all bounds are finite.
    pub fn is_finite(&self) -> bool {
        self.low.is_all_finite() && self.high.is_all_finite()
    }
}

impl<B: Body> Model<B> {
    /// f at the rows of `x` (m × d): m × c. A row's result does not depend on other rows, to the last bit.
    ///
    /// # Errors
    /// A number of columns other than d, values that are not finite, or values so large that the result is not.
    pub fn predict(&self, x: MatRef<'_, f64>) -> Result<Mat<f64>> {
        let values = self.body.values(&self.header);
        self.by_blocks(x, self.outputs.len(), B::BLOCK, values)
    }

    /// The partial derivatives ∂f_o/∂x_j of output `o` at the rows of `x` (m × d): m × d.
    ///
    /// # Errors
    /// As [`Model::predict`], or an output that does not exist.
    pub fn gradient(&self, x: MatRef<'_, f64>, o: usize) -> Result<Mat<f64>> {
        self.check_output(o)?;
        self.by_blocks(x, self.dim(), B::BLOCK, |x, mut out| {
            let scaled = self.input_scaler.apply(x);
            self.body.slopes(scaled.as_ref(), o, out.rb_mut());
            for j in 0..self.dim() {
                let factor = self.output_scaler.scale[o] / self.input_scaler.scale[j];
                for (v, &x) in column_mut(out.rb_mut(), j).iter_mut().zip(x.col(j).iter()) {
                    *v *= factor * self.input_scaler.warp_slope(j, x);
                }
            }
        })
    }

    /// Standard deviations of f and of a new observation at the rows of `x` (m × d).
    ///
    /// # Errors
    /// As [`Model::predict`], or a body without standard deviations.
    pub fn deviation(&self, x: MatRef<'_, f64>) -> Result<Deviation> {
        let (unit, noise) = self.body.unit_variance(&self.header)?;
        let variance = self.body.variance(&self.header, x)?;
        let of = |added: f64| {
            check_result(Mat::from_fn(x.nrows(), self.outputs.len(), |i, o| {
                self.output_scaler.scale[o] * (unit[o] * (variance[(i, 0)] + added)).sqrt()
            }))
        };
        Ok(Deviation {
            model: of(0.0)?,
            observation: of(noise)?,
        })
    }

    /// Bounds between which a new observation lies with probability `level`, at the rows of `x` (m × d): f ± qσ with a quantile q of
    /// the held-out errors, each divided by its own σ. That is the standard deviation of an observation, or one where the body has
    /// none. The bounds are infinite where there are too few held-out errors for the level.
    ///
    /// # Errors
    /// As [`Model::predict`], a level outside (0, 1), or a body without intervals.
    pub fn interval(&self, x: MatRef<'_, f64>, level: f64) -> Result<Interval> {
        let mean = self.predict(x)?;
        let deviation = match self.body.unit_variance(&self.header) {
            Ok(_) => Some(self.deviation(x)?.observation),
            Err(_) => None,
        };
        self.interval_around(&mean, deviation.as_ref(), level)
    }

    /// [`Model::interval`] around predictions that are known, with the standard deviations of an observation there if the body has
    /// some (rows × c each).
    fn interval_around(
        &self,
        mean: &Mat<f64>,
        deviation: Option<&Mat<f64>>,
        level: f64,
    ) -> Result<Interval> {
        let is_level = level > 0.0 && level < 1.0;
        require(is_level, "level", "a number between 0 and 1", level)?;
        let calibration = self.held_out_scores()?;
        let c = self.outputs.len();
        let half: Vec<f64> = (0..c).map(|o| calibration.quantile(o, level)).collect();
        let bound = |sign: f64| {
            Mat::from_fn(mean.nrows(), c, |i, o| match half[o].is_finite() {
                true => mean[(i, o)] + sign * half[o] * deviation.map_or(1.0, |d| d[(i, o)]),
                // A deviation of zero must not make this NaN.
                false => sign * f64::INFINITY,
            })
        };
        let (mut low, mut high) = (bound(-1.0), bound(1.0));
        if half.iter().all(|half| half.is_finite()) {
            (low, high) = (check_result(low)?, check_result(high)?);
        }
        let rows = calibration.rows();
        Ok(Interval { low, high, rows })
    }

    /// f at the rows of `x` (m × d), with the standard deviations if `deviation` asks for them, and the bounds of a `level` if there is
    /// one: the same as [`Model::predict`], [`Model::deviation`] and [`Model::interval`], with each row evaluated once.
    ///
    /// # Errors
    /// As those of the three that are asked for.
    pub fn prediction(
        &self,
        x: MatRef<'_, f64>,
        deviation: bool,
        level: Option<f64>,
    ) -> Result<Prediction> {
        let mean = self.predict(x)?;
        let has_deviation = self.body.unit_variance(&self.header).is_ok();
        let deviation = match deviation || level.is_some() && has_deviation {
            true => Some(self.deviation(x)?),
            false => None,
        };
        let observation = deviation.as_ref().map(|deviation| &deviation.observation);
        let interval = level.map(|level| self.interval_around(&mean, observation, level));
        Ok(Prediction {
            interval: interval.transpose()?,
            mean,
            deviation,
        })
    }

    /// Half the width of an interval of output `o` at probability `level`, in standard deviations of an observation, or in the units
    /// of the output where the body has none; infinite where there are too few held-out errors.
    ///
    /// # Errors
    /// An output that does not exist, or a body without intervals.
    pub fn quantile(&self, o: usize, level: f64) -> Result<f64> {
        self.check_output(o)?;
        Ok(self.held_out_scores()?.quantile(o, level))
    }

    fn held_out_scores(&self) -> Result<&Calibration> {
        match &self.calibration {
            Some(calibration) => Ok(calibration),
            None => self.body.own_calibration(&self.header),
        }
    }
}
