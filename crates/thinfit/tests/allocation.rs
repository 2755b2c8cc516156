//! A training step does not allocate.

use thinfit::{Activation, Config, Dataset, Lambda, Leaf, Mat, Trainer};

#[test]
fn a_training_step_allocates_nothing() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let x = Mat::from_fn(300, 3, |i, j| ((i * (7 + 6 * j)) % 101) as f64 / 101.0);
    let y = Mat::from_fn(300, 1, |i, _| {
        (3.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 2)]
    });
    let data = Dataset::new(x, y)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| {
        for activation in Activation::ALL {
            for leaf in [Leaf::Parameters, Leaf::Latents, Leaf::Weights, Leaf::Both] {
                let config = Config {
                    activation,
                    lambda: Lambda::Fixed(1e-3),
                    width: 70,
                    ..Config::fast()
                };
                let mut trainer = Trainer::new(&data, &config, leaf)?;
                // The first steps may fill caches that live as long as the thread, those of the matrix products.
                (0..3).try_for_each(|_| trainer.step(1e-3).map(|_| ()))?;
                let mut outcome = Ok(());
                let count = allocation_counter::measure(|| {
                    outcome = (0..5).try_for_each(|_| trainer.step(1e-3).map(|_| ()));
                });
                outcome?;
                assert_eq!(count.count_total, 0, "{activation:?} {leaf:?}: {count:?}");
            }
        }
        Ok(())
    })
}
