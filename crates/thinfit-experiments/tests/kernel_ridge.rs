//! Kernel ridge on the paper's functions: errors near those of the published row and of our own runs.

use thinfit::{Control, Dataset};
use thinfit_experiments::published::{self, Heading};
use thinfit_experiments::{Problem, Row, Split};
use thinfit_methods::KernelRidge;

/// Mean over five seeds of the test error, with as many test points as training points.
fn error(problem: Problem, dim: usize, samples: usize) -> f64 {
    let seeds = 0..5;
    let errors = seeds.map(|seed| {
        let train = problem
            .sample(dim, samples, seed, Split::Train)
            .expect("f1 and f3 read at most five inputs");
        let test = problem
            .sample(dim, samples, seed, Split::Test)
            .expect("f1 and f3 read at most five inputs");
        let data = Dataset::new(train.x, train.y).expect("finite points of matching sizes");
        let fitted = KernelRidge::default()
            .fit(&data, 0, &|_| Control::Continue)
            .expect("finite points of matching sizes");
        assert_eq!(fitted.record.raised, 0);
        (fitted
            .predict(test.x.as_ref())
            .expect("finite points of matching sizes")
            - &test.y)
            .squared_norm_l2()
            / samples as f64
    });
    errors.sum::<f64>() / 5.0
}

#[test]
fn f1_with_300_points() {
    let mse = error(Problem::F1, 5, 300);
    assert!((0.6 * 4.4e-5..1.4 * 4.4e-5).contains(&mse), "{mse:e}");
}

#[test]
fn f3_with_500_points_is_near_the_published_error() {
    let mse = error(Problem::F3, 5, 500);
    assert!((0.8 * 8.4e-3..1.2 * 9.7e-3).contains(&mse), "{mse:e}");
    let heading = Heading {
        problem: "f3",
        dim: 5,
        samples: 500,
        width: 100,
    };
    let published = published::find(heading, Row::KernelRidge, None)
        .unwrap()
        .mse;
    assert!(
        (mse / published - 1.0).abs() < 0.4,
        "{mse:e} against the published {published:e}"
    );
}
