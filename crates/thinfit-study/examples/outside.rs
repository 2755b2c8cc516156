//! Coverage and width of intervals outside the ranges of the samples, with and without the extrapolation rule.
//! `outside [METHODS [SEEDS]]` prints a table.
//!
//! Every published function is fitted on the middle of its box, which reaches 20 % beyond the ranges of the samples
//! on either side. Test rows are uniform inside, except for one input, or each with probability 1/2, which exceeds
//! its range by a given share.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;
use thinfit::Interval;
use thinfit::{Control, Dataset, Mat};
use thinfit_experiments::Formula;
use thinfit_methods::Method;

const SAMPLES: usize = 150;
const ROWS: usize = 60;
const SHARES: [f64; 4] = [0.02, 0.05, 0.1, 0.199];
const LEVELS: [f64; 3] = [0.5, 0.9, 0.99];
/// The part of the box that is sampled.
const PART: f64 = 1.0 / 1.4;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let methods: Vec<&str> = words
        .first()
        .map_or(vec!["gaussian-process"], |w| w.split(',').collect());
    let seeds: u64 = words.get(1).and_then(|w| w.parse().ok()).unwrap_or(1);
    println!(
        "method,function,inputs,noise,seed,share,beyond,level,rows,held_before,width_before,held,width"
    );
    for formula in Formula::ALL {
        let d = formula.dim();
        let inner: Vec<[f64; 2]> = (formula.ranges.iter())
            .map(|[low, high]| {
                let cut = 0.5 * (1.0 - PART) * (high - low);
                [low + cut, high - cut]
            })
            .collect();
        for seed in 0..seeds {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let x = Mat::from_fn(SAMPLES, d, |_, j| {
                inner[j][0] + random.random::<f64>() * (inner[j][1] - inner[j][0])
            });
            let row = |x: &Mat<f64>, i: usize| x.row(i).iter().copied().collect::<Vec<f64>>();
            let y: Vec<f64> = (0..SAMPLES)
                .map(|i| formula.evaluate(&row(&x, i)))
                .collect();
            let mean = y.iter().sum::<f64>() / SAMPLES as f64;
            let spread =
                (y.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / SAMPLES as f64).sqrt();
            for noise in [0.0, 0.1] {
                let added: Vec<f64> = (0..SAMPLES)
                    .map(|_| random.sample(StandardNormal))
                    .collect();
                let y = Mat::from_fn(SAMPLES, 1, |i, _| y[i] + noise * spread * added[i]);
                let data = Dataset::new(x.clone(), y).expect("data");
                for method in &methods {
                    let fitted = Method::named(method)
                        .expect("a method")
                        .fit(&data, seed, &|_| Control::Continue);
                    let Ok(model) = fitted else { continue };
                    for share in SHARES {
                        for several in [false, true] {
                            if several && d == 1 {
                                continue;
                            }
                            let domain = model.domain();
                            let mut test = Mat::zeros(ROWS, d);
                            for i in 0..ROWS {
                                let only = random.random_range(0..d);
                                for j in 0..d {
                                    let [low, high] = domain[j];
                                    let out = if several {
                                        random.random::<f64>() < 0.5
                                    } else {
                                        j == only
                                    };
                                    test[(i, j)] = match (out, random.random::<f64>()) {
                                        (true, u) if u < 0.5 => low - share * (high - low),
                                        (true, _) => high + share * (high - low),
                                        (false, u) => low + u * (high - low),
                                    };
                                }
                            }
                            let truth: Vec<f64> = (0..ROWS)
                                .map(|i| formula.evaluate(&row(&test, i)))
                                .collect();
                            let held = |bounds: Interval| {
                                let inside = |&i: &usize| {
                                    (bounds.low[(i, 0)]..=bounds.high[(i, 0)]).contains(&truth[i])
                                };
                                let mut widths: Vec<f64> = (0..ROWS)
                                    .map(|i| bounds.high[(i, 0)] - bounds.low[(i, 0)])
                                    .collect();
                                widths.sort_by(f64::total_cmp);
                                ((0..ROWS).filter(inside).count(), widths[ROWS / 2] / spread)
                            };
                            for level in LEVELS {
                                let before = held(
                                    model.interval_inside(test.as_ref(), level).expect("bounds"),
                                );
                                let after =
                                    held(model.interval(test.as_ref(), level).expect("bounds"));
                                let beyond = if several { "several" } else { "one" };
                                println!(
                                    "{method},{},{d},{noise},{seed},{share},{beyond},{level},{ROWS},{},{:.4},{},{:.4}",
                                    formula.name, before.0, before.1, after.0, after.1
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
