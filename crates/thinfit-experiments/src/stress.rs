//! Small and odd tables: few rows, many irrelevant inputs, skewed or integer inputs, repeated rows, steps and kinks,
//! useless columns, outliers and non-normal noise.
//!
//! A table is a distribution of points, a function f and a distribution of the noise, which is in units of the
//! standard deviation of f.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{StandardNormal, StudentT};

use crate::trial::deviation;
use crate::{Formula, Problem, Sample, Trial};
use faer::Mat;
use thinfit::Result;

/// A noise distribution; the number is its level, a multiple of the deviation of f.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Noise {
    Normal(f64),
    /// Normal; the level is the standard deviation.
    Alone(f64),
    /// Normal, but one value in fifty is ten deviations of f away, up or down.
    Outliers(f64),
    /// Student's t distribution with three degrees of freedom and the variance of the normal one.
    Heavy(f64),
    /// Normal, with a deviation that grows from zero in proportion to the first input; the level is that at one half.
    Growing(f64),
}

type Rng = ChaCha8Rng;
type Law = Box<dyn Fn(&mut Rng) -> Vec<f64> + Send + Sync>;
type Function = Box<dyn Fn(&[f64]) -> f64 + Send + Sync>;

/// A generator of tables.
pub struct Stress {
    /// What is odd about it, and the function if there are several; with rows and noise it names the table.
    pub name: String,
    /// Rows of the table.
    pub rows: usize,
    /// How often each point stands in the table.
    repeats: usize,
    noise: Noise,
    point: Law,
    f: Function,
}

/// Fresh points that a fit is judged by.
const FRESH: usize = 2000;

impl Stress {
    /// All tables.
    pub fn all() -> Vec<Stress> {
        let mut all = Vec::new();
        for formula in ["forrester-1", "lim-2", "otl-circuit-6"] {
            let Some(formula) = Formula::named(formula) else {
                continue;
            };
            for (rows, level) in [8, 12, 20, 40]
                .into_iter()
                .flat_map(|m| [(m, 0.0), (m, 0.1)])
            {
                let point = move |rng: &mut Rng| {
                    let within = |[low, high]: &[f64; 2]| low + (high - low) * rng.random::<f64>();
                    formula.ranges.iter().map(within).collect()
                };
                let name = format!("small-{}", formula.name);
                let f = move |x: &[f64]| formula.evaluate(x);
                all.push(Stress::new(name, rows, Noise::Normal(level), point, f));
            }
        }
        for noise in [Noise::Normal(0.0), Noise::Normal(0.1)] {
            all.extend(inputs(noise));
            all.extend(shapes(noise));
        }
        for level in [0.1, 0.5] {
            let table = Stress::new("repeats", 200, Noise::Normal(level), cube(5), friedman);
            all.push(Stress {
                repeats: 4,
                ..table
            });
        }
        for (name, noise) in [
            ("outliers", Noise::Outliers(0.01)),
            ("outliers", Noise::Outliers(0.1)),
            ("heavy-noise", Noise::Heavy(0.1)),
            ("heavy-noise", Noise::Heavy(0.3)),
            ("growing-noise", Noise::Growing(0.1)),
            ("growing-noise", Noise::Growing(0.3)),
        ] {
            all.push(Stress::new(name, 200, noise, cube(5), friedman));
        }
        all
    }

    /// Tables whose outputs are pure noise.
    pub fn null() -> Vec<Stress> {
        let mut tables = Vec::new();
        for rows in [15, 20, 40, 80, 150, 300] {
            for inputs in [5, 20, 50, 200, 500] {
                let name = format!("null-{inputs}");
                let noise = Noise::Alone(1.0);
                tables.push(Stress::new(name, rows, noise, cube(inputs), |_| 0.0));
            }
        }
        tables
    }

    /// Tables in which two inputs interact and all others are irrelevant.
    pub fn idle() -> Vec<Stress> {
        let product = |x: &[f64]| 10.0 * (std::f64::consts::PI * x[0] * x[1]).sin();
        let mut tables = Vec::new();
        for inputs in [10, 20, 42, 100] {
            for (rows, level) in [60, 100, 200]
                .into_iter()
                .flat_map(|m| [(m, 0.1), (m, 0.5)])
            {
                let (name, noise) = (format!("idle-{inputs}"), Noise::Normal(level));
                tables.push(Stress::new(name, rows, noise, cube(inputs), product));
            }
        }
        tables
    }

    fn new(
        name: impl Into<String>,
        rows: usize,
        noise: Noise,
        point: impl Fn(&mut Rng) -> Vec<f64> + Send + Sync + 'static,
        f: impl Fn(&[f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Stress {
            name: name.into(),
            rows,
            repeats: 1,
            noise,
            point: Box::new(point),
            f: Box::new(f),
        }
    }

    /// Level of the noise, in multiples of the deviation of f.
    pub fn level(&self) -> f64 {
        match self.noise {
            Noise::Normal(level)
            | Noise::Alone(level)
            | Noise::Outliers(level)
            | Noise::Heavy(level)
            | Noise::Growing(level) => level,
        }
    }

    /// The table of a seed, and 2,000 fresh points of the same distribution.
    ///
    /// # Errors
    /// Never, unless a function leaves the finite range.
    pub fn draw(&self, seed: u64) -> Result<Trial> {
        let stream = |number| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            rng.set_stream(number);
            rng
        };
        let train = self.sample(self.rows, self.repeats, &mut stream(4));
        let test = self.sample(FRESH, 1, &mut stream(5));
        let scale = match self.noise {
            Noise::Alone(_) => 1.0,
            _ => deviation(&test.y),
        };
        let mut rng = stream(6);
        let mut observed = |sample: &Sample| {
            Mat::from_fn(sample.y.nrows(), 1, |i, _| {
                let noise = self.noise.draw(sample.x[(i, 0)], &mut rng);
                sample.y[(i, 0)] + scale * noise
            })
        };
        let (y, fresh) = (observed(&train), observed(&test));
        let clean = Trial::new(Sample { x: train.x, y }, test)?;
        Ok(Trial {
            observed: fresh,
            ..clean
        })
    }

    /// `rows` rows, each point in `repeats` of them one after the other.
    fn sample(&self, rows: usize, repeats: usize, rng: &mut Rng) -> Sample {
        let points: Vec<Vec<f64>> = (0..rows.div_ceil(repeats))
            .map(|_| (self.point)(rng))
            .collect();
        let point = |i: usize| &points[i / repeats];
        Sample {
            x: Mat::from_fn(rows, point(0).len(), |i, k| point(i)[k]),
            y: Mat::from_fn(rows, 1, |i, _| (self.f)(point(i))),
        }
    }
}

impl Noise {
    /// One value, in deviations of f, at a row with this first input.
    fn draw(self, first: f64, rng: &mut Rng) -> f64 {
        match self {
            Noise::Normal(level) | Noise::Alone(level) => level * normal(rng),
            Noise::Outliers(level) => {
                let (value, share) = (level * normal(rng), rng.random::<f64>());
                match share {
                    ..0.01 => value - 10.0,
                    ..0.02 => value + 10.0,
                    _ => value,
                }
            }
            Noise::Heavy(level) => {
                let three = StudentT::new(3.0).expect("three is positive");
                level * rng.sample(three) / 3f64.sqrt()
            }
            Noise::Growing(level) => 2.0 * level * first * normal(rng),
        }
    }
}

/// Tables whose inputs are odd.
fn inputs(noise: Noise) -> Vec<Stress> {
    // Most of the function is where the rows are, at any skew: it is Friedman's of x/(1 + x).
    let share = |x: &[f64]| x.iter().map(|v| v / (1.0 + v)).collect::<Vec<_>>();
    let lognormal = |scale: f64| {
        move |rng: &mut Rng| {
            (0..6)
                .map(|_| (scale * normal(rng)).exp())
                .collect::<Vec<_>>()
        }
    };
    let with = |added: fn(&[f64], &mut Rng) -> f64| {
        move |rng: &mut Rng| {
            let mut x = cube(5)(rng);
            x.push(added(&x, rng));
            x
        }
    };
    let units = [1e-8, 1e-3, 1.0, 1e5, 1e9];
    vec![
        Stress::new("idle-100", 200, noise, cube(100), friedman),
        Stress::new("lognormal", 200, noise, lognormal(1.0), move |x| {
            friedman(&share(x))
        }),
        Stress::new("very-lognormal", 200, noise, lognormal(2.0), move |x| {
            friedman(&share(x))
        }),
        // Skewed outputs, too.
        Stress::new("power-law", 200, noise, lognormal(0.7), |x| {
            x[0] * x[1].sqrt() / x[2]
        }),
        Stress::new(
            "integers",
            100,
            noise,
            |rng| (0..5).map(|_| f64::from(rng.random_range(0..=5))).collect(),
            |x| friedman(&x.iter().map(|v| v / 5.0).collect::<Vec<_>>()),
        ),
        Stress::new(
            "binary",
            100,
            noise,
            |rng| {
                let mut x = cube(5)(rng);
                x[0] = x[0].round();
                x
            },
            friedman,
        ),
        Stress::new("constant-column", 200, noise, with(|_, _| 3.7), friedman),
        Stress::new("duplicate-column", 200, noise, with(|x, _| x[0]), friedman),
        Stress::new(
            "collinear-column",
            200,
            noise,
            with(|x, rng| x[0] + x[1] + 1e-4 * normal(rng)),
            friedman,
        ),
        Stress::new(
            "units",
            200,
            noise,
            move |rng| {
                let x = cube(5)(rng);
                x.iter()
                    .zip(units)
                    .map(|(x, unit)| unit * (x + 10.0))
                    .collect()
            },
            move |x| {
                let x = x.iter().zip(units).map(|(x, unit)| x / unit - 10.0);
                1e9 + 1e6 * friedman(&x.collect::<Vec<_>>())
            },
        ),
    ]
}

/// Tables whose function has steps or kinks.
fn shapes(noise: Noise) -> Vec<Stress> {
    let smooth = |x: &[f64]| (std::f64::consts::PI * x[1]).sin() + x[2] * x[2];
    let step = |up: bool| if up { 2.0 } else { 0.0 };
    let table = |name: &str, f: Function| Stress::new(name, 200, noise, cube(4), f);
    vec![
        table("step", Box::new(move |x| smooth(x) + step(x[0] > 0.6))),
        table(
            "slanted-step",
            Box::new(move |x| smooth(x) + step(x[0] + 0.7 * x[1] - 0.5 * x[2] > 0.6)),
        ),
        table(
            "kink-abs",
            Box::new(|x| (x[0] - 0.3).abs() + (x[1] - x[2]).abs() + 0.5 * x[3]),
        ),
        table(
            "kink-max",
            Box::new(|x| (2.0 * x[0]).max(x[1] + x[2]).max(0.8)),
        ),
    ]
}

fn friedman(x: &[f64]) -> f64 {
    Problem::F3.evaluate(x)
}

/// Uniform points of the unit cube in `d` inputs.
fn cube(d: usize) -> impl Fn(&mut Rng) -> Vec<f64> + Send + Sync {
    move |rng| (0..d).map(|_| rng.random()).collect()
}

fn normal(rng: &mut Rng) -> f64 {
    rng.sample(StandardNormal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draw(name: &str, level: f64) -> Trial {
        let named = |table: &&Stress| table.name == name && table.level() == level;
        let all = Stress::all();
        all.iter().find(named).unwrap().draw(1).unwrap()
    }

    /// Noise of the fresh points, in deviations of f.
    fn noise(trial: &Trial) -> Vec<f64> {
        let noise = &trial.observed - &trial.test.y;
        let unit = trial.deviation();
        noise.col_as_slice(0).iter().map(|v| v / unit).collect()
    }

    #[test]
    fn every_table_has_its_size_and_a_name_of_its_own_and_varies() {
        let all = Stress::all();
        let mut names = Vec::new();
        for table in &all {
            let (trial, again) = (table.draw(1).unwrap(), table.draw(1).unwrap());
            assert_eq!(trial.train.samples(), table.rows, "{}", table.name);
            assert_eq!(trial.test.samples(), FRESH, "{}", table.name);
            assert_eq!(
                (&trial.train.x, &trial.train.y),
                (&again.train.x, &again.train.y)
            );
            assert_ne!(trial.train.y, table.draw(2).unwrap().train.y);
            assert!(trial.observed.is_all_finite() && trial.deviation() > 0.0);
            if table.noise == Noise::Normal(0.0) {
                assert_eq!(trial.observed, trial.test.y);
            }
            names.push(format!("{} {} {}", table.name, table.rows, table.level()));
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all.len());
    }

    #[test]
    fn repeated_rows_share_their_point_and_not_their_noise() {
        let trial = draw("repeats", 0.5).train;
        for i in (0..200).step_by(4) {
            for k in 1..4 {
                assert_eq!(trial.x.row(i), trial.x.row(i + k));
                assert_ne!(trial.y[(i, 0)], trial.y[(i + k, 0)]);
            }
        }
        assert_ne!(trial.x.row(0), trial.x.row(4));
    }

    #[test]
    fn noise_has_its_law() {
        let far = |v: &&f64| v.abs() > 5.0;
        let outliers = noise(&draw("outliers", 0.1));
        let share = outliers.iter().filter(far).count() as f64 / FRESH as f64;
        assert!((0.01..0.03).contains(&share), "{share}");
        let heavy = noise(&draw("heavy-noise", 0.1));
        let ordinary = noise(&draw("step", 0.1));
        let beyond = |noise: &[f64]| noise.iter().filter(|v| v.abs() > 0.4).count();
        assert!(beyond(&heavy) >= 10 && beyond(&ordinary) <= 3);
        let trial = draw("growing-noise", 0.3);
        let square = |low: bool| {
            let noise = noise(&trial);
            let rows = (0..FRESH).filter(|&i| (trial.test.x[(i, 0)] < 0.5) == low);
            rows.map(|i| noise[i].powi(2)).sum::<f64>()
        };
        // ∫ x² over the upper half is seven times that over the lower
        let ratio = square(false) / square(true);
        assert!((5.0..9.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn odd_columns_and_shapes_are_what_their_names_say() {
        let x = draw("duplicate-column", 0.0).train.x;
        assert_eq!(x.col(0), x.col(5));
        let x = draw("constant-column", 0.0).train.x;
        assert!(x.col_as_slice(5).iter().all(|v| *v == 3.7));
        let x = draw("collinear-column", 0.0).train.x;
        assert!((0..200).all(|i| (x[(i, 5)] - x[(i, 0)] - x[(i, 1)]).abs() < 1e-3));
        let x = draw("integers", 0.0).train.x;
        assert!(
            x.col_as_slice(2)
                .iter()
                .all(|v| v.fract() == 0.0 && *v <= 5.0)
        );
        let value = |name: &str, x: &[f64]| {
            let all = Stress::all();
            (all.iter().find(|table| table.name == name).unwrap().f)(x)
        };
        let jump = value("step", &[0.61, 0.5, 0.5, 0.5]) - value("step", &[0.59, 0.5, 0.5, 0.5]);
        assert_eq!(jump, 2.0);
        assert_eq!(value("slanted-step", &[0.7, 0.0, 0.0, 0.0]), 2.0);
        assert_eq!(value("slanted-step", &[0.7, 0.0, 1.0, 0.0]), 1.0);
        assert_eq!(value("kink-max", &[0.0, 0.25, 0.25, 0.0]), 0.8);
        assert_eq!(value("kink-max", &[0.5, 0.25, 1.0, 0.0]), 1.25);
        assert_eq!(value("kink-abs", &[0.3, 0.25, 1.0, 1.0]), 1.25);
        // the units change nothing but the units
        let scaled = value("units", &[10e-8, 10e-3, 10.5, 10e5, 10e9]);
        assert!((scaled - 1e9).abs() < 1.0, "{scaled}");
        // x/(1 + x) of 1 is the middle of the cube, where only the wave and the slopes are left
        let middle = value("lognormal", &[1.0; 6]);
        assert!((middle - friedman(&[0.5; 5])).abs() < 1e-12);
        assert_eq!(value("power-law", &[3.0, 4.0, 2.0]), 3.0);
    }
}
