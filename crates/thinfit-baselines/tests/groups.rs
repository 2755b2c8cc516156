//! Kernel methods on rows in groups, which share errors.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::{Control, Dataset, Mat};
use thinfit_baselines::{KernelRidge, Salsa};
use thinfit_gp::{GaussianProcess, KernelModel};

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random())
}

/// Twelve settings, each read eight times with jitter, whose readings share an error.
fn readings() -> Dataset {
    let (places, jitter) = (random(12, 2, 1), random(96, 2, 2));
    let (shared, own) = (random(12, 1, 3), random(96, 1, 4));
    let x = Mat::from_fn(96, 2, |i, j| places[(i % 12, j)] + 1e-3 * jitter[(i, j)]);
    let y = Mat::from_fn(96, 1, |i, _| {
        x[(i, 0)] + 2.0 * shared[(i % 12, 0)] + 0.01 * own[(i, 0)]
    });
    Dataset::new(x, y).unwrap()
}

fn grouped(data: &Dataset) -> Dataset {
    let groups = (0..data.samples()).map(|i| (i % 12) as u64);
    data.clone().with_groups(groups.collect()).unwrap()
}

#[test]
fn readings_of_one_setting_do_not_judge_each_other() {
    let (plain, grouped) = (readings(), grouped(&readings()));
    type Fit = Box<dyn Fn(&Dataset) -> KernelModel>;
    let fits: [(&str, Fit); 3] = [
        (
            "process",
            Box::new(|data| {
                GaussianProcess::default()
                    .fit(data, 1, &|_| Control::Continue)
                    .unwrap()
            }),
        ),
        (
            "ridge",
            Box::new(|data| {
                KernelRidge::validated()
                    .fit(data, 1, &|_| Control::Continue)
                    .unwrap()
            }),
        ),
        (
            "salsa",
            Box::new(|data| {
                Salsa::default()
                    .fit(data, 1, &|_| Control::Continue)
                    .unwrap()
            }),
        ),
    ];
    for (name, fit) in fits {
        let (alone, together) = (fit(&plain), fit(&grouped));
        let width = |model: &KernelModel| {
            let bounds = model.interval(random(20, 2, 9).as_ref(), 0.8).unwrap();
            (bounds.high - bounds.low).norm_l1()
        };
        // The shared errors have a variance of 1/3.
        let mse = together.record.validation_mse[0];
        assert!(mse > 0.15, "{name}: {mse}");
        assert!(width(&together) > width(&alone), "{name}");
        assert_ne!(together.record.chosen_by.as_deref(), Some("leave-one-out"));
    }
}
