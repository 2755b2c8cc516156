//! A request for a fit, as in a settings file: the method with its settings, a seed and a number of threads.

use crate::{Device, Method};
use serde_json::{Map, Value};
use thinfit::pieces::{Executor, SingleProcess};
use thinfit::{Config, Dataset, Error, Observer, Result, State, on_threads};
use thinfit_model::Predictor;

/// A method, a seed and a number of threads.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of threads, which never changes the result; 0 means those of the current pool.
    pub threads: usize,
}

impl Request {
    /// Reads layers of settings, each over the one before and the first over the method's defaults. Besides the
    /// method's own settings there are `method` (default `gft-r`), `seed` and `threads`. thinfit's own methods have
    /// presets; the default is `fast`.
    ///
    /// # Errors
    /// An unknown method, preset or setting, or a value of the wrong type or out of range.
    pub fn new(
        preset: Option<&str>,
        layers: impl IntoIterator<Item = Map<String, Value>>,
    ) -> Result<Self> {
        let mut layers: Vec<_> = layers.into_iter().collect();
        let mut last = |key: &str| {
            let given: Vec<Value> = layers.iter_mut().filter_map(|l| l.remove(key)).collect();
            given.into_iter().last()
        };
        let (name, seed, threads) = (last("method"), last("seed"), last("threads"));
        let mut method = match name {
            None => default(preset, "gft-r")?,
            Some(Value::String(name)) => default(preset, &name)?,
            Some(other) => return Err(unknown(&other.to_string())),
        };
        for layer in &layers {
            method = method.changed(layer)?;
        }
        let request = Request {
            method,
            seed: number("seed", seed, 1, MAX_SEED)?,
            threads: number("threads", threads, 0, MAX_THREADS)? as usize,
        };
        match &request.method {
            Method::Thin(_) => request.config()?.check()?,
            Method::Auto(auto) => auto.check()?,
            _ => {}
        }
        Ok(request)
    }

    /// The configuration, if the method is one of thinfit's own.
    ///
    /// # Errors
    /// Any other method.
    pub fn config(&self) -> Result<Config> {
        match &self.method {
            Method::Thin(config) => Ok(Config {
                seed: self.seed,
                threads: self.threads,
                ..config.clone()
            }),
            method => Err(Error::Setting {
                field: "method".into(),
                problem: format!(
                    "expected one of {}, found `{}`",
                    Method::THIN.join(", "),
                    method.name()
                ),
            }),
        }
    }

    /// The settings, written as in a file.
    pub fn settings(&self) -> Value {
        let settings = match self.config() {
            Ok(config) => serde_json::to_value(config),
            Err(_) => serde_json::to_value(&self.method),
        };
        settings.expect("settings are numbers and names")
    }

    /// Fits `data`.
    ///
    /// # Errors
    /// As [`Method::fit`], or threads that cannot be started.
    pub fn fit(&self, data: &Dataset, observe: &Observer<'_>) -> Result<Predictor> {
        self.fit_on(&Device::processor(), data, observe)
    }

    /// [`Request::fit`] with the training steps on a device.
    ///
    /// # Errors
    /// As [`Request::fit`], those of the device, and a method that has no steps for it.
    pub fn fit_on(
        &self,
        device: &Device,
        data: &Dataset,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        self.fit_over(&SingleProcess, device, data, observe)
    }

    /// [`Request::fit_on`] by several processes, as [`Method::fit_over`].
    ///
    /// # Errors
    /// As [`Request::fit_on`], and a process that is gone.
    pub fn fit_over(
        &self,
        executor: &dyn Executor,
        device: &Device,
        data: &Dataset,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        on_threads(self.threads, || {
            self.method
                .fit_over(executor, device, data, self.seed, observe)
        })
    }

    /// Resumes an interrupted fit on the threads of this request.
    ///
    /// # Errors
    /// As [`thinfit::resume`].
    pub fn resume(
        &self,
        data: &Dataset,
        state: State,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        self.resume_on(&Device::processor(), data, state, observe)
    }

    /// [`Request::resume`] with the training steps on a device, which need not be that of the steps before.
    ///
    /// # Errors
    /// As [`thinfit::resume_on`].
    pub fn resume_on(
        &self,
        device: &Device,
        data: &Dataset,
        state: State,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        let model = thinfit::resume_on(device, data, state.on_threads(self.threads), observe)?;
        let mut model = device.recorded(model.into());
        model.record_mut().describe(data.x.as_ref());
        Ok(model)
    }
}

/// The largest seed: TOML has no larger number.
const MAX_SEED: u64 = i64::MAX as u64;
/// Maximum number of threads.
const MAX_THREADS: u64 = 4096;

/// A whole number up to `most`.
fn number(key: &str, given: Option<Value>, default: u64, most: u64) -> Result<u64> {
    let Some(given) = given else {
        return Ok(default);
    };
    let number = given.as_u64().filter(|number| *number <= most);
    number.ok_or_else(|| Error::Setting {
        field: key.into(),
        problem: format!("expected a whole number from 0 to {most}, found {given}"),
    })
}

/// The method of this name, with the settings of the preset if there is one.
fn default(preset: Option<&str>, name: &str) -> Result<Method> {
    let method = Method::named(name).ok_or_else(|| unknown(name))?;
    match (method, preset) {
        (method, None) => Ok(method),
        (Method::Thin(config), Some(preset)) => Ok(Method::Thin(Config {
            training: config.training,
            ..Config::preset(preset)?
        })),
        (_, Some(preset)) => Err(Error::Setting {
            field: "preset".into(),
            problem: format!("the method `{name}` has no preset `{preset}`; leave it out"),
        }),
    }
}

fn unknown(name: &str) -> Error {
    Error::Setting {
        field: "method".into(),
        problem: format!("expected one of {}, found `{name}`", Method::ALL.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use thinfit::{Ridge, Training};

    fn read(preset: Option<&str>, settings: Value) -> Result<Request> {
        Request::new(preset, [settings.as_object().unwrap().clone()])
    }

    #[test]
    fn layers_override_the_defaults_and_each_other() {
        assert_eq!(
            read(None, json!({})).unwrap().config().unwrap(),
            Config::fast()
        );
        let settings = json!({
            "method": "gft", "seed": 7, "threads": 3, "generate": { "steps": 5 },
            "ridge": { "absolute": 1e-6 },
        });
        let config = read(Some("paper"), settings).unwrap().config().unwrap();
        let expected = Config {
            training: Training::Generative,
            seed: 7,
            threads: 3,
            ridge: Ridge::Absolute(1e-6),
            ..Config::paper()
        };
        assert_eq!(config.generate.steps, 5);
        assert_eq!(config.generate.rate, Config::paper().generate.rate);
        assert_eq!(
            Config {
                generate: Config::paper().generate,
                ..config
            },
            expected
        );
        let layer = |value: Value| value.as_object().unwrap().clone();
        let layers = [
            layer(json!({ "generate": { "steps": 5 }, "ridge": { "relative": 1e-9 } })),
            layer(json!({ "generate": { "rate": 0.5 }, "ridge": { "absolute": 1e-6 }, "seed": 3 })),
        ];
        let request = Request::new(None, layers).unwrap();
        let config = request.config().unwrap();
        assert_eq!((config.generate.steps, config.generate.rate), (5, 0.5));
        assert_eq!((config.ridge, config.seed), (Ridge::Absolute(1e-6), 3));
        let other = read(None, json!({ "method": "rff", "width": 7, "seed": 2 })).unwrap();
        assert_eq!((other.seed, other.method.name()), (2, "rff"));
        assert_eq!(serde_json::to_value(&other.method).unwrap()["width"], 7);
    }

    #[test]
    fn a_wrong_setting_is_named_by_its_place() {
        let half = json!({ "scale": 0.1, "kappa": null, "damping": 1.0 });
        for (preset, settings, place, problem) in [
            (None, json!({ "method": "magic" }), "method", "`magic`"),
            (None, json!({ "method": 3 }), "method", "found `3`"),
            (None, json!({ "width": "many" }), "width", "many"),
            (
                None,
                json!({ "generate": { "rate": "fast" } }),
                "generate.rate",
                "fast",
            ),
            (
                None,
                json!({ "generate": { "stepz": 3 } }),
                "generate.stepz",
                "`steps`",
            ),
            (
                None,
                json!({ "polish": { "starts": [half] } }),
                "polish.starts[0].kappa",
                "null",
            ),
            (None, json!({ "widht": 3 }), "widht", "`width`"),
            (None, json!({ "seed": -1 }), "seed", "-1"),
            (
                None,
                json!({ "seed": 1u64 << 63 }),
                "seed",
                "9223372036854775808",
            ),
            (
                None,
                json!({ "method": "rff", "threads": 5000 }),
                "threads",
                "5000",
            ),
            (Some("fast"), json!({ "method": "rff" }), "preset", "`rff`"),
            (None, json!({ "method": "rff", "width": -7 }), "width", "-7"),
            (
                None,
                json!({ "method": "gaussian-process", "kernel": "cubic" }),
                "kernel",
                "expected one of `gaussian`, `matern52`, `anova`, `anova-matern52`",
            ),
            (
                None,
                json!({ "method": "shrimp", "points": 7 }),
                "points",
                "`features`",
            ),
        ] {
            match read(preset, settings.clone()) {
                Err(Error::Setting {
                    field,
                    problem: found,
                }) => {
                    assert_eq!(field, place, "{settings}");
                    assert!(found.contains(problem), "{settings}: {found}");
                }
                other => panic!("{settings}: {other:?}"),
            }
        }
        for (preset, settings, place) in [
            (None, json!({ "validation": 1.5 }), "validation"),
            (Some("slow"), json!({}), "preset"),
        ] {
            match read(preset, settings.clone()) {
                Err(Error::Config { field, .. }) => assert_eq!(field, place, "{settings}"),
                other => panic!("{settings}: {other:?}"),
            }
        }
    }
}
