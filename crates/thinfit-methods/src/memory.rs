//! Forecast of the memory that a fit takes, from its sizes alone and before it starts.
//!
//! Dimensions: `m` rows, `d` inputs, `c` outputs. A few large matrices dominate every method: m × m for kernels, m ×
//! the number of features for networks. How many of them coexist was measured at 2,000 and 4,000 rows on two threads
//! and rounded up, so that a forecast is rarely too low and at most about twice too high.

use crate::Method;
use thinfit_auto::model_rows;
use thinfit_baselines::KernelRidge;

/// Copies of the table: as given, scaled, divided into parts.
const TABLES: u64 = 4;
/// Points at which networks are distilled and compared, with their copies.
const LESSONS: u64 = 8000;
/// Matrices of the polish, m × free weights.
const JACOBIANS: u64 = 13;

impl Method {
    /// Bytes of memory that a fit of `m` rows with `d` inputs and `c` outputs takes, about.
    pub fn memory(&self, m: usize, d: usize, c: usize) -> u64 {
        let [m, d, c] = [m, d, c].map(|size| size as u64);
        let square = |count: u64, rows: u64| count.saturating_mul(rows).saturating_mul(rows);
        let columns = |count: u64, width: usize| {
            let width = count.saturating_mul(width as u64);
            width.saturating_mul(m)
        };
        // The planes of features and their derivatives, for the runs that train side by side.
        let thin = |width: usize| {
            let entries = (width as u64).saturating_mul(d + 1);
            let polish = JACOBIANS.saturating_mul(entries).saturating_mul(m);
            columns(30, width).saturating_add(polish.saturating_mul(c))
        };
        let numbers = match self {
            Method::KernelRidge(method) if method.name() == KernelRidge::NAMES[0] => square(3, m),
            Method::KernelRidge(_) => square(14, m),
            Method::GaussianProcess(_) | Method::Salsa(_) => square(9, m),
            Method::Auto(auto) => {
                let rows = model_rows(m as usize, d as usize, auto.budget) as u64;
                // Networks are distilled at thousands of points, however few rows there are.
                square(11, rows).saturating_add(LESSONS.saturating_mul(d + c))
            }
            Method::Harfe(method) => square(3 * method.features_per_sample as u64, m),
            Method::AnovaRff(method) => square(3 * method.features_per_sample as u64, m),
            Method::Shrimp(method) => columns(3, method.features),
            Method::Thin(config) => thin(config.width),
            Method::Swim(method) => columns(8, method.width),
            Method::Arff(method) => columns(8, method.width),
            Method::Rff(method) => columns(8, method.width),
            Method::Plain(method) => columns(8, method.width),
            Method::NoisyGradients(method) => columns(8, method.width),
            Method::FullySampled(method) => columns(8, method.width),
        };
        let table = TABLES.saturating_mul(m).saturating_mul(d + c);
        numbers.saturating_add(table).saturating_mul(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forecasts_are_above_what_was_measured_and_not_by_far() {
        // Peaks in MB of fits of f3 with 10 inputs (auto: 50 and 3), with default settings.
        for (name, m, d, measured) in [
            ("kernel-ridge", 4000, 10, 265.0),
            ("kernel-ridge-validated", 2000, 10, 452.0),
            ("kernel-ridge-validated", 4000, 10, 1210.0),
            ("gaussian-process", 2000, 10, 244.0),
            ("salsa", 2000, 10, 290.0),
            ("random", 4000, 10, 402.0),
            ("shrimp", 4000, 10, 630.0),
            ("harfe", 4000, 10, 3050.0),
            ("auto", 20_000, 50, 1290.0),
            ("auto", 100_000, 3, 1270.0),
        ] {
            let method = Method::named(name).unwrap();
            let forecast = method.memory(m, d, 1) as f64 / 1e6;
            let right = measured * 0.8..measured * 2.5;
            assert!(
                right.contains(&forecast),
                "{name} {m}: {forecast} MB, {measured} MB"
            );
        }
    }

    #[test]
    fn sizes_beyond_all_memory_do_not_overflow() {
        for name in Method::ALL {
            let method = Method::named(name).unwrap();
            let most = method.memory(usize::MAX / 2, 1 << 20, 1000);
            assert!(most > 1 << 40, "{name}: {most}");
        }
    }
}
