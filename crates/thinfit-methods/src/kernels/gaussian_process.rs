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
//! Only the lengths ℓ and g, shared by all outputs, are searched, by L-BFGS in their logarithms. Several starts race on a
//! subset of the samples, and the winner continues on all of them. With Δ_k the differences in input k and k′ = ∂k/∂q
//! (q as in `kernel.rs`), and μ, s² at their optimum,
//!
//! ```text
//! −∂ ln p/∂ ln ℓ_k = ½ Σ_ab V_ab (−2k′_ab) Δ_k,ab²/ℓ_k²     −∂ ln p/∂ ln g = ½ g tr V     V = Σ_outputs (C⁻¹ − ααᵀ/s²)
//! ```
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

use crate::kernels::cholesky::{cholesky, inverse, solve, with_ridge};
use crate::kernels::kernel::radial;
use crate::kernels::kernel_model::{Expansion, check_data};
use crate::kernels::lbfgs::Lbfgs;
use crate::random::{Purpose, random_subset, stream};
use crate::{Error, Kernel, KernelModel, Result, Shape};
use faer::{Mat, Par};
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use thinfit::elementary::vectorised;
use thinfit::pieces::require;
use thinfit::{Control, Dataset, Observer, Progress, Record, Scaling};

/// Bounds of the lengths, in multiples of an input's range; the upper one is 1/√ε.
const LENGTHS: [f64; 2] = [1e-3, (1u64 << 26) as f64];
/// Bounds of the noise variance, in multiples of the signal variance.
const NOISE: [f64; 2] = [f64::EPSILON, 1e3];

/// Random starts spread this far to both sides of the first, in logarithms of the lengths.
const SPREAD: f64 = 1.5;

/// Below this many samples one thread factorises faster than several.
const ALONE: usize = 400;

/// Settings of Gaussian process regression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GaussianProcess {
    /// Gaussian or Matérn 5/2. Default: Gaussian.
    #[serde(deserialize_with = "radial")]
    pub kernel: Shape,
    /// Starting points of the search; the first is fixed, the others are random. Default: 4.
    pub starts: usize,
    /// Size of the random subset on which the starts race when there are more samples. Default: 500.
    pub race: usize,
    /// Maximum iterations of one search. Default: 200.
    pub iterations: usize,
    /// Smallest noise variance, in multiples of the signal variance; whatever it is, m times the machine precision is
    /// added as jitter. Default: 0, which leaves only the jitter.
    pub least_noise: f64,
}

impl Default for GaussianProcess {
    fn default() -> Self {
        GaussianProcess {
            kernel: Shape::Gaussian,
            starts: 4,
            race: 500,
            iterations: 200,
            least_noise: 0.0,
        }
    }
}

/// The likelihood at given lengths and noise, with everything computed along the way.
struct Evidence {
    /// −ln p, in scaled outputs.
    value: f64,
    /// Its derivatives in ln ℓ_1 … ln ℓ_d, ln g.
    gradient: Vec<f64>,
    mean: Vec<f64>,
    signal: Vec<f64>,
    /// m × c.
    alpha: Mat<f64>,
    /// Mean squares of the leave-one-out errors α_i/(C⁻¹)_ii, with the mean held fixed.
    leave_one_out: Vec<f64>,
    kernel: Kernel,
    ridge: f64,
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
        self.check()?;
        let scalers = Scaling::Box.scalers(data.x.as_ref(), data.y.as_ref());
        let (x, y) = (
            scalers.0.apply(data.x.as_ref()),
            scalers.1.apply(data.y.as_ref()),
        );
        let (m, d) = (data.samples(), data.dim());
        let starts = self.start_points(d, seed);
        let raced = self.race(&x, &y, &starts, seed, &|at| observe(&at.part(0, 2)));
        let (log, stopped) = match raced {
            None => self.search(&x, &y, starts.clone(), observe)?,
            Some((winner, true)) => (winner, true),
            Some((mut winner, false)) => {
                // An input idle on the subset may matter on all samples, but a very long length has no gradient left.
                let longest = middle(d) + SPREAD;
                winner[..d].iter_mut().for_each(|v| *v = v.min(longest));
                let share = |at: &Progress<'_>| observe(&at.part(1, 2));
                // Noise that suffices for the subset may be too little for all samples.
                let all = |_| self.search(&x, &y, starts.clone(), &share);
                self.search(&x, &y, vec![winner], &share).or_else(all)?
            }
        };
        let best = evidence(self.kernel, &x, &y, &log, threads(m))
            .or_else(|| evidence(self.kernel, &x, &y, &starts[0], threads(m)))
            .ok_or_else(no_likelihood)?;
        observe(&Progress::fraction(1.0));
        let scale = &scalers.1.scale;
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
        let record = record.left_out(data, &best.leave_one_out, scale, m);
        let expansion = Expansion {
            kernel: best.kernel,
            mean: best.mean,
            points: x,
            alpha: best.alpha,
            signal: Some(best.signal),
        };
        KernelModel::new(data, scalers, expansion, record)
    }

    /// The best point found from the starts on a subset of the samples, and whether the search was stopped; `None` if
    /// there is no race. A step on all samples costs (m/race)³ times as much.
    fn race(
        &self,
        x: &Mat<f64>,
        y: &Mat<f64>,
        starts: &[Vec<f64>],
        seed: u64,
        observe: &Observer<'_>,
    ) -> Option<(Vec<f64>, bool)> {
        if x.nrows() <= self.race || starts.len() == 1 {
            return None;
        }
        let rows = random_subset(x.nrows(), self.race, &mut stream(seed, Purpose::Starts, 1));
        let few = |a: &Mat<f64>| Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)]);
        let (x, y) = (few(x), few(y));
        // A constant output says nothing about the lengths.
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
        let objective = |par: Par| {
            move |log: &[f64]| {
                let evidence = evidence(self.kernel, x, y, log, par)?;
                Some((evidence.value, evidence.gradient))
            }
        };
        let mut bounds = vec![LENGTHS.map(f64::ln); x.ncols()];
        bounds.push([NOISE[0].max(self.least_noise), NOISE[1]].map(f64::ln));
        let mut searches: Vec<Lbfgs> = starts
            .into_par_iter()
            .map(|start| Lbfgs::new(start, bounds.clone(), &objective(Par::Seq)))
            .collect();
        let mut stopped = false;
        for iteration in 0..self.iterations {
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

    /// Starting points: logarithms of lengths and noise.
    fn start_points(&self, d: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = stream(seed, Purpose::Starts, 0);
        let noise = |exponent: f64| (10f64.powf(exponent)).max(self.least_noise).ln();
        (0..self.starts)
            .map(|start| {
                let mut log = vec![middle(d); d];
                let mut exponent = -4.0;
                if start > 0 {
                    log.iter_mut()
                        .for_each(|v| *v += rng.random_range(-SPREAD..SPREAD));
                    exponent = rng.random_range(-9.0..-1.0);
                }
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
            "`gaussian` or `matern52`",
            format!("{shape:?}"),
        )?;
        require(self.starts > 0, "starts", "at least 1", self.starts)?;
        require(self.race > 1, "race", "at least 2", self.race)?;
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
fn threads(m: usize) -> Par {
    if m < ALONE { Par::Seq } else { Par::rayon(0) }
}

fn no_likelihood() -> Error {
    Error::Data {
        what: "x",
        problem: "the likelihood is not finite at any start".into(),
        advice: "look for columns of extreme size",
    }
}

/// The likelihood at `log` = (ln ℓ, ln g); `None` if C cannot be factorised.
fn evidence(shape: Shape, x: &Mat<f64>, y: &Mat<f64>, log: &[f64], par: Par) -> Option<Evidence> {
    let (m, d, c) = (x.nrows(), x.ncols(), y.ncols());
    let kernel = Kernel {
        shape,
        lengths: log[..d].iter().map(|v| v.exp()).collect(),
    };
    let noise = log[d].exp();
    // The jitter is about what rounding does to the eigenvalues of K.
    let ridge = noise + m as f64 * f64::EPSILON;
    let gram = kernel.gram(x.as_ref());
    let l = cholesky(with_ridge(gram.as_ref(), ridge), par)?;

    let ones = Mat::from_fn(m, 1, |_, _| 1.0);
    let pull = solve(l.as_ref(), ones.as_ref());
    let total: f64 = pull.col_as_slice(0).iter().sum();
    let mean: Vec<f64> = (0..c)
        .map(|o| {
            let terms = pull.col_as_slice(0).iter().zip(y.col_as_slice(o));
            terms.map(|(p, y)| p * y).sum::<f64>() / total
        })
        .collect();
    let centred = Mat::from_fn(m, c, |i, o| y[(i, o)] - mean[o]);
    let alpha = solve(l.as_ref(), centred.as_ref());
    // A constant output has variance zero, which has no logarithm.
    let signal: Vec<f64> = (0..c)
        .map(|o| {
            ((0..m).map(|i| centred[(i, o)] * alpha[(i, o)]).sum::<f64>() / m as f64).max(1e-200)
        })
        .collect();
    let determinant = 2.0 * (0..m).map(|i| l[(i, i)].ln()).sum::<f64>();
    let value = signal
        .iter()
        .map(|s| 0.5 * (m as f64 * ((2.0 * PI * s).ln() + 1.0) + determinant))
        .sum::<f64>();
    if !value.is_finite() {
        return None;
    }

    // C⁻¹ is overwritten by V, then by V · (−2k′) below the diagonal.
    let mut v = inverse(l.as_ref(), par);
    let slopes = kernel.slopes(gram, x);
    let (mut leave_one_out, mut trace) = (vec![0.0; c], 0.0);
    let mut gradient = vec![0.0; d + 1];
    for j in 0..m {
        let column = &mut v.col_as_slice_mut(j)[j..];
        let diagonal = column[0];
        for (o, error) in leave_one_out.iter_mut().enumerate() {
            *error += (alpha[(j, o)] / diagonal).powi(2) / m as f64;
        }
        column.iter_mut().for_each(|v| *v *= c as f64);
        for (o, signal) in signal.iter().enumerate() {
            let factor = alpha[(j, o)] / signal;
            let alpha = &alpha.col_as_slice(o)[j..];
            column
                .iter_mut()
                .zip(alpha)
                .for_each(|(v, a)| *v -= factor * a);
        }
        trace += column[0];
        let below = &mut column[1..];
        let slopes = &slopes.col_as_slice(j)[j + 1..];
        below
            .iter_mut()
            .zip(slopes)
            .for_each(|(v, slope)| *v *= slope);
        for (k, length) in kernel.lengths.iter().enumerate() {
            let x_k = x.col_as_slice(k);
            gradient[k] += weighted_squares(below, &x_k[j + 1..], x_k[j], 1.0 / length);
        }
    }
    gradient[d] = 0.5 * noise * trace;
    Some(Evidence {
        value,
        gradient,
        mean,
        signal,
        alpha,
        leave_one_out,
        kernel,
        ridge,
    })
}

/// Σ_i w_i ((x_i − point) · inverse)², in eight lanes.
fn weighted_squares(w: &[f64], x: &[f64], point: f64, inverse: f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    vectorised(
        #[inline(always)]
        || {
            let (w8, w) = w.as_chunks::<8>();
            let (x8, x) = x.as_chunks::<8>();
            let mut sums = [0.0f64; 8];
            for (w, x) in w8.iter().zip(x8) {
                for ((sum, w), x) in sums.iter_mut().zip(w).zip(x) {
                    let t = (x - point) * inverse;
                    *sum = (w * t).mul_add(t, *sum);
                }
            }
            for ((sum, w), x) in sums.iter_mut().zip(w).zip(x) {
                let t = (x - point) * inverse;
                *sum = (w * t).mul_add(t, *sum);
            }
            lanes = sums;
        },
    );
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::kernel::tests::random;

    fn smooth(x: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), 1, |i, _| {
            7.0 + (3.0 * x[(i, 0)]).sin() + x[(i, 0)] * x[(i, 1)]
        })
    }

    fn fit(settings: &GaussianProcess, x: &Mat<f64>, y: &Mat<f64>) -> KernelModel {
        let data = Dataset::new(x.clone(), y.clone()).unwrap();
        settings.fit(&data, 0, &|_| Control::Continue).unwrap()
    }

    #[test]
    fn gradients_agree_with_central_differences() {
        let (x, y) = (random(37, 3, 1), random(37, 2, 2));
        for shape in [Shape::Gaussian, Shape::Matern52] {
            let at = [0.4f64.ln(), 0.0, 2f64.ln(), 1e-3f64.ln()];
            let exact = evidence(shape, &x, &y, &at, Par::Seq).unwrap().gradient;
            for (k, exact) in exact.into_iter().enumerate() {
                let shifted = |h: f64| {
                    let mut at = at;
                    at[k] += h;
                    evidence(shape, &x, &y, &at, Par::Seq).unwrap().value
                };
                let difference = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                assert!(
                    (difference - exact).abs() < 1e-6 * exact.abs().max(1.0),
                    "{shape:?} {k}: {difference} {exact}"
                );
            }
        }
    }

    /// −ln p of N(μ, s²C) from the explicit inverse and determinant of the 3 × 3 matrix.
    #[test]
    fn the_value_is_the_density_of_the_outputs() {
        let (x, y) = (random(3, 1, 1), random(3, 1, 2));
        let result = evidence(
            Shape::Gaussian,
            &x,
            &y,
            &[0.5f64.ln(), 0.1f64.ln()],
            Par::Seq,
        )
        .unwrap();
        let (s, mu) = (result.signal[0], result.mean[0]);
        let covariance = Mat::from_fn(3, 3, |i, j| {
            let k = (-0.5 * ((x[(i, 0)] - x[(j, 0)]) / 0.5).powi(2)).exp();
            s * (k + if i == j { 0.1 } else { 0.0 })
        });
        let minor = |i: usize, j: usize| {
            let at = |r: usize, c: usize| covariance[((i + r) % 3, (j + c) % 3)];
            at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
        };
        let determinant: f64 = (0..3).map(|j| covariance[(0, j)] * minor(0, j)).sum();
        let form: f64 = (0..9)
            .map(|ij| {
                (y[(ij / 3, 0)] - mu) * minor(ij / 3, ij % 3) / determinant * (y[(ij % 3, 0)] - mu)
            })
            .sum();
        let expected = 0.5 * (form + determinant.ln() + 3.0 * (2.0 * PI).ln());
        assert!(
            (result.value - expected).abs() < 1e-10,
            "{} {expected}",
            result.value
        );
    }

    #[test]
    fn a_smooth_function_is_learned_and_an_idle_input_ignored() {
        let x = random(80, 3, 3);
        let model = fit(&GaussianProcess::default(), &x, &smooth(&x));
        let fresh = random(200, 3, 4);
        let error = model.predict(fresh.as_ref()).unwrap() - smooth(&fresh);
        assert!(error.norm_max() < 1e-4, "{}", error.norm_max());
        let lengths = &model.kernel().lengths;
        assert!(lengths[2] > 20.0 * lengths[0], "{lengths:?}");
        let mse = model.record.validation_mse[0];
        assert!(mse < 1e-9, "{mse}");
    }

    /// Ten inputs of which five act, two of them linearly, without noise.
    fn friedman(x: &Mat<f64>) -> Mat<f64> {
        Mat::from_fn(x.nrows(), 1, |i, _| {
            let x = |j| x[(i, j)];
            10.0 * (PI * x(0) * x(1)).sin() + 20.0 * (x(2) - 0.5).powi(2) + 10.0 * x(3) + 5.0 * x(4)
        })
    }

    #[test]
    fn on_clean_data_idle_inputs_leave_the_kernel_and_the_noise_vanishes() {
        let (x, fresh) = (random(200, 10, 1), random(500, 10, 2));
        let model = fit(&GaussianProcess::default(), &x, &friedman(&x));
        let lengths = &model.kernel().lengths;
        assert!(lengths[5..].iter().all(|l| *l > 1e6), "{lengths:?}");
        assert!(model.record.ridge < 1e-13, "{}", model.record.ridge);
        let error = model.predict(fresh.as_ref()).unwrap() - friedman(&fresh);
        let mse = error.squared_norm_l2() / 500.0;
        assert!(mse < 1e-5, "{mse}");
    }

    #[test]
    fn the_noise_stays_above_the_least_that_was_asked_for() {
        let x = random(60, 2, 3);
        let settings = |least_noise| GaussianProcess {
            least_noise,
            ..GaussianProcess::default()
        };
        let model = fit(&settings(1e-3), &x, &smooth(&x));
        assert!((1e-3..1.1e-3).contains(&model.record.ridge));
        let data = Dataset::new(x.clone(), smooth(&x)).unwrap();
        for wrong in [-1e-9, 2.0, f64::NAN] {
            let fitted = settings(wrong).fit(&data, 0, &|_| Control::Continue);
            let error = fitted.unwrap_err().to_string();
            assert!(
                error.contains("`least_noise`: expected a number from 0 to 1"),
                "{error}"
            );
        }
    }

    #[test]
    fn the_race_winner_reaches_the_likelihood_of_all_starts() {
        let x = random(120, 3, 3);
        let likelihood = |race| {
            let settings = GaussianProcess {
                race,
                ..GaussianProcess::default()
            };
            fit(&settings, &x, &smooth(&x)).record.log_likelihood
        };
        let (whole, raced) = (likelihood(500).unwrap(), likelihood(60).unwrap());
        assert!(
            (whole - raced).abs() < 1e-3 * whole.abs(),
            "{whole} {raced}"
        );
    }

    #[test]
    fn an_input_idle_in_the_race_can_matter_in_the_end() {
        let mut x = random(120, 3, 3);
        let raced = random_subset(120, 60, &mut stream(0, Purpose::Starts, 1));
        for i in 0..120 {
            let low = if raced.contains(&i) { 0.0 } else { 0.5 };
            x[(i, 2)] = low + 0.5 * x[(i, 2)];
        }
        let bent = |x: &Mat<f64>| {
            let mut y = smooth(x);
            (0..x.nrows()).for_each(|i| y[(i, 0)] += (x[(i, 2)] - 0.5).max(0.0).powi(3));
            y
        };
        let settings = GaussianProcess {
            race: 60,
            ..GaussianProcess::default()
        };
        let model = fit(&settings, &x, &bent(&x));
        let lengths = &model.kernel().lengths;
        assert!(lengths[2] < 100.0, "{lengths:?}");
    }

    #[test]
    fn a_race_on_constant_or_too_few_rows_does_no_harm() {
        let (x, fresh) = (random(120, 3, 3), random(50, 3, 4));
        let predict = |race, y: &Mat<f64>| {
            let settings = GaussianProcess {
                race,
                ..GaussianProcess::default()
            };
            fit(&settings, &x, y).predict(fresh.as_ref()).unwrap()
        };
        // Only three of 120 rows differ; this race sees none of them and is called off.
        let rare = Mat::from_fn(120, 1, |i, _| if i < 3 { x[(i, 0)] } else { 1.0 });
        assert_eq!(predict(4, &rare), predict(500, &rare));
        let error = predict(4, &smooth(&x)) - smooth(&fresh);
        assert!(error.norm_max() < 1e-3, "{}", error.norm_max());
    }

    #[test]
    fn noise_is_estimated_and_deviations_cover_new_observations() {
        let x = random(150, 2, 5);
        let noise = |rows, seed| random(rows, 12, seed);
        let noisy = |x: &Mat<f64>, seed| {
            let draws = noise(x.nrows(), seed);
            // The sum of twelve uniform numbers has variance one.
            let mut y = smooth(x);
            (0..x.nrows())
                .for_each(|i| y[(i, 0)] += 0.2 * (draws.row(i).iter().sum::<f64>() - 6.0));
            y
        };
        for kernel in [Shape::Gaussian, Shape::Matern52] {
            let settings = GaussianProcess {
                kernel,
                starts: 2,
                ..GaussianProcess::default()
            };
            let model = fit(&settings, &x, &noisy(&x, 6));
            let fresh = random(500, 2, 7);
            let (f, y) = (model.predict(fresh.as_ref()).unwrap(), noisy(&fresh, 8));
            let deviation = model.deviation(fresh.as_ref()).unwrap();
            let inside = (0..500)
                .filter(|&i| (f[(i, 0)] - y[(i, 0)]).abs() < 1.645 * deviation.observation[(i, 0)])
                .count();
            assert!((420..480).contains(&inside), "{kernel:?} {inside}");
            assert!((0..500).all(|i| deviation.model[(i, 0)] < deviation.observation[(i, 0)]));
            // The factor is rebuilt from the file.
            let read = KernelModel::from_json(&model.to_json(), "m".as_ref()).unwrap();
            assert_eq!(
                read.deviation(fresh.as_ref()).unwrap().model,
                deviation.model
            );
        }
    }

    #[test]
    fn degenerate_data_give_a_model() {
        let settings = GaussianProcess {
            starts: 2,
            iterations: 20,
            ..GaussianProcess::default()
        };
        let x = random(12, 2, 1);
        for (x, y) in [
            (x.clone(), Mat::from_fn(12, 1, |_, _| 4.0)),
            (Mat::from_fn(12, 2, |_, _| 1.0), random(12, 1, 2)),
            (Mat::from_fn(12, 2, |i, j| x[(i / 3, j)]), random(12, 2, 3)),
            (random(1, 1, 4), random(1, 1, 5)),
        ] {
            let model = fit(&settings, &x, &y);
            assert!(model.predict(x.as_ref()).unwrap().is_all_finite());
            assert!(
                model
                    .deviation(x.as_ref())
                    .unwrap()
                    .observation
                    .is_all_finite()
            );
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
        // From 400 samples on a lone search factorises on all threads; clean data take it to the noise floor.
        let (small, large) = (random(50, 2, 1), random(410, 5, 2));
        for (y, x) in [(random(50, 1, 2), small), (friedman(&large), large)] {
            let data = Dataset::new(x, y).unwrap();
            let settings = GaussianProcess {
                race: 100,
                iterations: 30,
                ..GaussianProcess::default()
            };
            let fit = || {
                let model = settings.fit(&data, 3, &|_| Control::Continue);
                model.unwrap().to_json()
            };
            let [one, three] = [1, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(fit)
            });
            assert_eq!(one, three);
        }
    }

    #[test]
    fn a_stopped_fit_gives_a_model_and_an_additive_kernel_an_error() {
        let data = Dataset::new(random(50, 2, 1), random(50, 1, 2)).unwrap();
        let settings = GaussianProcess::default();
        let model = settings.fit(&data, 3, &|_| Control::Stop).unwrap();
        assert!(model.record.stopped);
        let wrong = GaussianProcess {
            kernel: Shape::Additive(2),
            ..settings
        };
        let error = wrong
            .fit(&data, 0, &|_| Control::Continue)
            .unwrap_err()
            .to_string();
        assert!(error.contains("config field `kernel`"), "{error}");
    }
}
