//! A data set and a configuration that fit within milliseconds.

use thinfit::{
    Activation, Config, Control, Dataset, GeneratorConfig, Mat, Model, Polish, Precision, Schedule,
    Training, fit,
};

/// Short schedules, twelve neurons, three steps of polish and no random starts.
pub fn small(training: Training, activation: Activation) -> Config {
    let schedule = Schedule {
        steps: 30,
        rate: 1e-3,
    };
    Config {
        training,
        activation,
        width: 12,
        generator: GeneratorConfig {
            hidden: vec![16, 16],
            precision: Precision::F32,
        },
        generate: schedule,
        refine: schedule,
        direct: schedule,
        check_every: 7,
        points: 40,
        polish: Polish {
            steps: 3,
            starts: vec![],
            ..Config::fast().polish
        },
        ..Config::fast()
    }
}

/// `m` samples of a smooth function of two inputs.
pub fn data(m: usize) -> Dataset {
    let x = Mat::from_fn(m, 2, |i, j| ((i * (7 + 6 * j)) % 101) as f64 / 101.0);
    let y = Mat::from_fn(m, 1, |i, _| (3.0 * x[(i, 0)]).sin() + x[(i, 1)] * x[(i, 0)]);
    Dataset::new(x, y).unwrap()
}

pub fn run(data: &Dataset, config: &Config) -> thinfit::Result<Model> {
    fit(data, config, &|_| Control::Continue)
}
