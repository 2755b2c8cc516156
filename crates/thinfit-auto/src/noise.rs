//! A confidence interval for the noise of a Gaussian process.
//!
//! The likelihood at fixed length scales gives an interval; the noise found in each fold shows what the search for length
//! scales adds (the grouped jackknife). The wider end counts.

use faer::{Mat, MatRef, Par};
use thinfit::Dataset;
use thinfit_gp::Kernel;
use thinfit_gp::pieces::threads;
use thinfit_gp::pieces::{cholesky, solve, with_ridge};

/// Most rows of the likelihood profile that gives the interval of the noise.
const PROFILED: usize = 1000;
/// Ratios of noise to signal at which the likelihood is profiled, as distances of their logarithms from the best.
const NOISE_STEPS: [f64; 15] = [
    0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 4.5, 7.0, 11.0, 17.0, 26.0,
];
/// By how much −ln p rises at the ends of a 95 % interval.
const TWO_DEVIATIONS: f64 = 2.0;

/// Ends of the 95 % interval of the standard deviation of the noise of each output, in scaled outputs (c): of a process with
/// this kernel whose ratio of noise to signal has the logarithm `best`, from its noise on all rows and without each fold.
pub(crate) fn intervals(
    data: &Dataset,
    kernel: &Kernel,
    best: f64,
    noise: &[(f64, Vec<f64>)],
) -> Option<Vec<[f64; 2]>> {
    let m = data.samples().min(PROFILED);
    let rows: Vec<usize> = (0..m).collect();
    let gram = kernel.gram(data.rows(&rows).x.as_ref());
    let y = data.y.subrows(0, m).to_owned();
    let steps = NOISE_STEPS.iter();
    let ratios = steps.flat_map(|step| [best - step, best + step]);
    let ratios = ratios.filter(|log| (f64::EPSILON.ln()..7.0).contains(log));
    let profiles: Vec<Profile> = ratios
        .filter_map(|log| Profile::new(gram.as_ref(), &y, log.exp(), threads(m)))
        .collect();
    // Less than the rounding of the factorisation is none.
    let rounding = (1e2 * m as f64 * f64::EPSILON).sqrt();
    let ends = |(o, (noise, folds)): (usize, &(f64, Vec<f64>))| {
        let [low, high] = likely_noise(&profiles, m, o)?;
        let [least, most] = jackknifed(*noise, folds);
        let low = low.min(least);
        Some([if low > rounding { low } else { 0.0 }, high.max(most)])
    };
    noise.iter().enumerate().map(ends).collect()
}

/// What the likelihood needs of a kernel's matrix K with a ratio g of noise to signal: with ŝ² = yᵀ(K + gI)⁻¹y/m less the constant,
/// −ln p = ½ m (ln s² + ŝ²/s²) + ½ ln det(K + gI) at signal variance s².
struct Profile {
    g: f64,
    /// ŝ² of each output (c).
    signal: Vec<f64>,
    /// ½ ln det(K + gI).
    determinant: f64,
}

impl Profile {
    /// `gram` is the lower triangle of K; none if it cannot be factorised.
    fn new(gram: MatRef<'_, f64>, y: &Mat<f64>, g: f64, par: Par) -> Option<Self> {
        let (m, c) = (y.nrows(), y.ncols());
        let l = cholesky(with_ridge(gram, g + m as f64 * f64::EPSILON), par)?;
        let ones = Mat::from_fn(m, 1, |_, _| 1.0);
        let pull = solve(l.as_ref(), ones.as_ref());
        let total: f64 = pull.col_as_slice(0).iter().sum();
        let along = solve(l.as_ref(), y.as_ref());
        let signal = (0..c).map(|o| {
            let dot = |a: &[f64]| {
                let pairs = a.iter().zip(y.col_as_slice(o));
                pairs.map(|(a, y)| a * y).sum::<f64>()
            };
            let (own, shift) = (dot(along.col_as_slice(o)), dot(pull.col_as_slice(0)));
            ((own - shift * shift / total) / m as f64).max(1e-200)
        });
        let profile = Profile {
            g,
            signal: signal.collect(),
            determinant: (0..m).map(|i| l[(i, i)].ln()).sum(),
        };
        profile.determinant.is_finite().then_some(profile)
    }

    /// −ln p of `m` rows where output `o` has noise of this variance, the others the most probable.
    fn value(&self, m: usize, o: usize, noise: f64) -> f64 {
        let of = |(other, best): (usize, &f64)| match other == o {
            true => (noise / self.g).ln() + best * self.g / noise,
            false => best.ln() + 1.0,
        };
        let outputs: f64 = self.signal.iter().enumerate().map(of).sum();
        0.5 * m as f64 * outputs + self.signal.len() as f64 * self.determinant
    }
}

/// Ends of a 95 % interval of the noise by the jackknife over folds, in scaled outputs, whose deviation noise does not exceed.
fn jackknifed(noise: f64, folds: &[f64]) -> [f64; 2] {
    let k = folds.len() as f64;
    let logs: Vec<f64> = folds.iter().map(|noise| noise.ln()).collect();
    let mean = logs.iter().sum::<f64>() / k;
    let squares = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>();
    let error = ((k - 1.0) / k * squares).sqrt();
    let [least, most] = match error.is_finite() {
        true => [-1.96, 1.96].map(|z| noise * (z * error).exp()),
        // A fold has no noise.
        false => [0.0, folds.iter().copied().fold(0.0, f64::max)],
    };
    [least, most.min(1.0)]
}

/// Ends of the 95 % interval of the standard deviation of the noise of output `o` by its likelihood, profiled over the signal.
fn likely_noise(profiles: &[Profile], m: usize, o: usize) -> Option<[f64; 2]> {
    let value = |noise: f64| {
        let values = profiles.iter().map(|profile| profile.value(m, o, noise));
        values.fold(f64::INFINITY, f64::min)
    };
    let centre = |profile: &Profile| profile.signal[o] * profile.g;
    let best = profiles
        .iter()
        .min_by(|a, b| value(centre(a)).total_cmp(&value(centre(b))))?;
    let (centre, least) = (centre(best).ln(), value(centre(best)));
    let end = |far: f64| {
        let likely = |log: f64| value(log.exp()) < least + TWO_DEVIATIONS;
        if likely(far) {
            return far;
        }
        let (mut inside, mut outside) = (centre, far);
        for _ in 0..30 {
            let middle = 0.5 * (inside + outside);
            let side = if likely(middle) {
                &mut inside
            } else {
                &mut outside
            };
            *side = middle;
        }
        outside
    };
    let [low, high] = [f64::EPSILON.ln(), centre.max(0.0) + 7.0].map(end);
    Some([low, high].map(|log| (0.5 * log).exp()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jackknife_is_finite_where_a_fold_has_no_noise() {
        assert_eq!(jackknifed(1e-5, &[1e-5, 0.0, 3e-5]), [0.0, 3e-5]);
        assert_eq!(jackknifed(0.0, &[0.0, 0.0]), [0.0, 0.0]);
        // Noise of 1e-8 in one fold and 0.3 in another tells nothing, and is no more than the outputs.
        let [least, most] = jackknifed(0.1, &[1e-8, 0.3, 0.2]);
        assert!(least < 1e-8 && most == 1.0);
        let [least, most] = jackknifed(0.1, &[0.1, 0.1, 0.1]);
        assert!((least - 0.1).abs() < 1e-12 && (most - 0.1).abs() < 1e-12);
    }
}
