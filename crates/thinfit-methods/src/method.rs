//! The list of methods: default settings, changes to them, and one function to fit.
//!
//! The mathematics of each method is in its own file; `request.rs` handles seeds, threads and layered settings.

use crate::Device;
use crate::settings::changed;
use serde::Serialize;
use serde_json::{Map, Value};
use thinfit::pieces::{Executor, SingleProcess};
use thinfit::{Config, Control, Dataset, Lambda, Observer, Progress, Result, Training};
use thinfit_auto::Auto;
use thinfit_baselines::{
    AnovaRff, Arff, FullySampled, Harfe, KernelRidge, NoisyGradients, PlainNetwork, RandomFourier,
    Salsa, Shrimp, Swim,
};
use thinfit_gp::GaussianProcess;
use thinfit_model::Predictor;

/// A method and its settings. In a file, the name is in the field `method` next to the settings; kernel ridge
/// regression is always `kernel-ridge` there, whether or not it chooses by leave-one-out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "kebab-case")]
#[allow(missing_docs)] // Each variant is the struct of its name.
pub enum Method {
    Shrimp(Shrimp),
    Harfe(Harfe),
    AnovaRff(AnovaRff),
    Swim(Swim),
    Arff(Arff),
    Rff(RandomFourier),
    Plain(PlainNetwork),
    NoisyGradients(NoisyGradients),
    FullySampled(FullySampled),
    KernelRidge(KernelRidge),
    Salsa(Salsa),
    GaussianProcess(GaussianProcess),
    Auto(Auto),
    /// Generative feature training and its variants, distinguished by [`Config::training`].
    #[serde(untagged)]
    Thin(Config),
}

impl Method {
    /// The names of thinfit's own methods.
    pub const THIN: [&str; 4] = ["random", "f-opt", "gft", "gft-r"];

    /// All methods: their names, and the idea of each.
    pub const IDEAS: [(&str, &str); 18] = [
        (
            Method::THIN[0],
            "network with random features; only the output weights are fitted",
        ),
        (
            Method::THIN[1],
            "network with directly trained features (F-Opt)",
        ),
        (
            Method::THIN[2],
            "network with features from a trained generator (GFT)",
        ),
        (
            Method::THIN[3],
            "GFT refined in latent space (GFT-r); the default for networks",
        ),
        (
            Shrimp::NAME,
            "network with random features of few inputs each, pruned by magnitude (SHRIMP)",
        ),
        (
            Harfe::NAME,
            "network with sparse random features, selected by hard thresholding pursuit (HARFE)",
        ),
        (
            AnovaRff::NAME,
            "network with random features of interacting inputs (ANOVA-RFF)",
        ),
        (
            Swim::NAME,
            "network with features between pairs of samples (SWIM)",
        ),
        (
            Arff::NAME,
            "network with frequencies adapted by Metropolis steps (ARFF)",
        ),
        (RandomFourier::NAME, "random Fourier features with a ridge"),
        (
            PlainNetwork::NAME,
            "network with both layers trained by Adam",
        ),
        (
            NoisyGradients::NAME,
            "network with both layers trained by noisy gradient descent",
        ),
        (
            FullySampled::NAME,
            "network with both layers drawn from a generator",
        ),
        (
            KernelRidge::NAMES[0],
            "kernel ridge regression: Gaussian kernel, median rule",
        ),
        (
            KernelRidge::NAMES[1],
            "kernel ridge regression, bandwidth and ridge chosen by leave-one-out",
        ),
        (
            Salsa::NAME,
            "kernel ridge regression with an additive kernel (SALSA)",
        ),
        (
            GaussianProcess::NAME,
            "Gaussian process with one length scale per input",
        ),
        (
            Auto::NAME,
            "best of several Gaussian processes and networks by cross-validation",
        ),
    ];

    /// The names of all methods.
    pub const ALL: [&str; 18] = {
        let (mut names, mut j) = ([""; 18], 0);
        while j < names.len() {
            names[j] = Method::IDEAS[j].0;
            j += 1;
        }
        names
    };

    /// The method of this name, with default settings.
    pub fn named(name: &str) -> Option<Method> {
        let thin = |training| {
            Method::Thin(Config {
                training,
                ..Config::fast()
            })
        };
        Some(match name {
            "random" => thin(Training::Random),
            "f-opt" => thin(Training::Direct),
            "gft" => thin(Training::Generative),
            "gft-r" => thin(Training::Refined),
            Shrimp::NAME => Method::Shrimp(Default::default()),
            Harfe::NAME => Method::Harfe(Default::default()),
            AnovaRff::NAME => Method::AnovaRff(Default::default()),
            Swim::NAME => Method::Swim(Default::default()),
            Arff::NAME => Method::Arff(Default::default()),
            RandomFourier::NAME => Method::Rff(Default::default()),
            PlainNetwork::NAME => Method::Plain(Default::default()),
            NoisyGradients::NAME => Method::NoisyGradients(Default::default()),
            FullySampled::NAME => Method::FullySampled(Default::default()),
            Salsa::NAME => Method::Salsa(Default::default()),
            GaussianProcess::NAME => Method::GaussianProcess(Default::default()),
            Auto::NAME => Method::Auto(Default::default()),
            _ if name == KernelRidge::NAMES[0] => Method::KernelRidge(Default::default()),
            _ if name == KernelRidge::NAMES[1] => Method::KernelRidge(KernelRidge::validated()),
            _ => return None,
        })
    }

    /// Its name in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Thin(config) => config.training.name(),
            Method::Shrimp(_) => Shrimp::NAME,
            Method::Harfe(_) => Harfe::NAME,
            Method::AnovaRff(_) => AnovaRff::NAME,
            Method::Swim(_) => Swim::NAME,
            Method::Arff(_) => Arff::NAME,
            Method::Rff(_) => RandomFourier::NAME,
            Method::Plain(_) => PlainNetwork::NAME,
            Method::NoisyGradients(_) => NoisyGradients::NAME,
            Method::FullySampled(_) => FullySampled::NAME,
            Method::KernelRidge(method) => method.name(),
            Method::Salsa(_) => Salsa::NAME,
            Method::GaussianProcess(_) => GaussianProcess::NAME,
            Method::Auto(_) => Auto::NAME,
        }
    }

    /// Whether it has a setting of this name.
    pub fn has(&self, setting: &str) -> bool {
        let settings = serde_json::to_value(self).expect("settings are numbers and names");
        setting != "method" && settings.get(setting).is_some()
    }

    /// Default settings of the method `name` for user tables, below any others: most papers assume data that
    /// are scaled already.
    pub fn for_raw_columns(name: &str) -> Map<String, Value> {
        let other = Method::named(name).filter(|_| !Method::THIN.contains(&name));
        let scaled = other.filter(|method| method.has("scaling"));
        let scaling = scaled.map(|_| ("scaling".into(), "standard".into()));
        scaling.into_iter().collect()
    }

    /// The same method with some settings changed, written as in a file.
    ///
    /// # Errors
    /// An unknown setting, or a value of the wrong type; the error names the setting. The fit checks ranges.
    pub fn changed(&self, changes: &Map<String, Value>) -> Result<Method> {
        Ok(match self {
            Method::Thin(settings) => Method::Thin(changed(settings, changes)?),
            Method::Shrimp(settings) => Method::Shrimp(changed(settings, changes)?),
            Method::Harfe(settings) => Method::Harfe(changed(settings, changes)?),
            Method::AnovaRff(settings) => Method::AnovaRff(changed(settings, changes)?),
            Method::Swim(settings) => Method::Swim(changed(settings, changes)?),
            Method::Arff(settings) => Method::Arff(changed(settings, changes)?),
            Method::Rff(settings) => Method::Rff(changed(settings, changes)?),
            Method::Plain(settings) => Method::Plain(changed(settings, changes)?),
            Method::NoisyGradients(settings) => Method::NoisyGradients(changed(settings, changes)?),
            Method::FullySampled(settings) => Method::FullySampled(changed(settings, changes)?),
            Method::KernelRidge(settings) => Method::KernelRidge(changed(settings, changes)?),
            Method::Salsa(settings) => Method::Salsa(changed(settings, changes)?),
            Method::Auto(settings) => Method::Auto(changed(settings, changes)?),
            Method::GaussianProcess(settings) => {
                Method::GaussianProcess(changed(settings, changes)?)
            }
        })
    }

    /// Fits `data`. The same seed gives the same result, for any number of threads.
    ///
    /// If `observe` stops the fit, it returns the best model so far.
    ///
    /// # Errors
    /// Settings out of range, data that cannot be fitted, sample weights that the method does not take, or numbers that
    /// leave the finite range.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Predictor> {
        self.fit_on(&Device::processor(), data, seed, observe)
    }

    /// [`Method::fit`] with the training steps on a device, which the record then names.
    ///
    /// # Errors
    /// As [`Method::fit`], those of the device, and a method that has no steps for it.
    pub fn fit_on(
        &self,
        device: &Device,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        self.fit_over(&SingleProcess, device, data, seed, observe)
    }

    /// [`Method::fit_on`] by several processes that all have `data`. What is independent in a method that [can be
    /// shared](Method::is_shared) is spread over them, any other each fits for itself; all get the model that one would.
    ///
    /// # Errors
    /// As [`Method::fit_on`], and a process that is gone.
    pub fn fit_over(
        &self,
        executor: &dyn Executor,
        device: &Device,
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        if device.name().is_some() {
            self.check_device()?;
        }
        let mut model = self.fit_alone((executor, device), data, seed, observe)?;
        // A long table is described by its sample, so that it is the same when it comes in blocks.
        if !matches!(self, Method::Auto(auto) if auto.samples(data)) {
            model.record_mut().describe(data.x.as_ref());
        }
        Ok(model)
    }

    /// Whether it has fits that do not depend on each other, which [several processes](Method::fit_over) can share: candidates, several λ,
    /// or starts of a polish.
    pub fn is_shared(&self) -> bool {
        match self {
            Method::Auto(_) => true,
            Method::Thin(config) => {
                let trained = config.training != Training::Random;
                let polished = matches!(config.training, Training::Random | Training::Refined);
                let starts =
                    polished && config.polish.steps > 0 && !config.polish.starts.is_empty();
                trained && config.lambda == Lambda::Auto || starts
            }
            _ => false,
        }
    }

    /// [`Method::fit_over`] without the common part of the record.
    fn fit_alone(
        &self,
        (executor, device): (&dyn Executor, &Device),
        data: &Dataset,
        seed: u64,
        observe: &Observer<'_>,
    ) -> Result<Predictor> {
        // A stop after the last step changes nothing, so it is not recorded as one.
        let watch = &|at: &Progress<'_>| match observe(at) {
            Control::Stop if at.done < 1.0 => Control::Stop,
            _ => Control::Continue,
        };
        let fitted = match self {
            Method::Thin(config) => {
                let config = Config {
                    seed,
                    ..config.clone()
                };
                thinfit::fit_over(executor, device, data, &config, observe)
                    .map(|model| device.recorded(model.into()))
            }
            Method::Shrimp(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Harfe(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::AnovaRff(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Swim(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Arff(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Rff(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Plain(method) => method
                .fit_on(device, data, seed, watch)
                .map(|model| device.recorded(model.into())),
            Method::NoisyGradients(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::FullySampled(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::KernelRidge(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Salsa(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::GaussianProcess(method) => method.fit(data, seed, watch).map(Predictor::from),
            Method::Auto(method) => method.fit_over(executor, data, seed, watch),
        };
        fitted.map(|model| model.made_from(data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_gives_its_method_and_settings_survive_a_file() {
        for name in Method::ALL {
            let method = Method::named(name).unwrap();
            assert_eq!(method.name(), name);
            let mut written = serde_json::to_value(&method).unwrap();
            let written = written.as_object_mut().unwrap();
            let tag = written.remove("method").unwrap();
            assert!(tag == name || name == KernelRidge::NAMES[1], "{tag} {name}");
            assert_eq!(method.changed(written).unwrap(), method);
        }
        assert!(Method::named("magic").is_none());
    }

    /// The method with settings for a quick fit.
    fn quick(name: &str) -> Method {
        let method = Method::named(name).unwrap();
        let settings = serde_json::to_value(&method).unwrap();
        let few = serde_json::json!({
            "steps": 20, "features": 300, "rounds": 2, "starts": 2, "hidden": [16],
            "generate": { "steps": 5 }, "refine": { "steps": 5 }, "direct": { "steps": 5 },
            "polish": { "steps": 2 }, "budget": 0.5,
        });
        let known = |(key, _): &(&String, &Value)| settings.get(*key).is_some();
        let few = few.as_object().unwrap().iter().filter(known);
        let few = few.map(|(key, value)| (key.clone(), value.clone()));
        method.changed(&few.collect()).unwrap()
    }

    #[test]
    fn odd_data_give_finite_models_or_errors() {
        fn mat(m: usize, d: usize, f: impl Fn(usize, usize) -> f64) -> thinfit::Mat<f64> {
            thinfit::Mat::from_fn(m, d, f)
        }
        let wave = |i: usize, j: usize| ((i * (7 + 4 * j)) % 61) as f64 / 61.0;
        let odd = [
            ("four rows", mat(4, 2, wave), 1.0),
            ("one input", mat(40, 1, wave), 1.0),
            (
                "a constant column",
                mat(40, 2, |i, j| wave(i, j) * j as f64),
                1.0,
            ),
            ("repeated rows", mat(40, 2, |i, j| wave(i % 3, j)), 1.0),
            ("one point", mat(40, 2, |_, _| 0.5), 1.0),
            ("a constant target", mat(40, 2, wave), 0.0),
            ("large inputs", mat(40, 2, |i, j| 1e100 * wave(i, j)), 1.0),
            ("small inputs", mat(40, 2, |i, j| 1e-100 * wave(i, j)), 1.0),
            ("a large target", mat(40, 2, wave), 1e100),
        ];
        let mut refused = Vec::new();
        for name in Method::ALL {
            for (what, x, size) in &odd {
                let y = mat(x.nrows(), 1, |i, _| size * (5.0 * wave(i, 1)).sin());
                let data = Dataset::new(x.clone(), y).unwrap();
                let fitted = quick(name).fit(&data, 1, &|_| Control::Continue);
                match fitted.and_then(|model| model.predict(x.as_ref())) {
                    Ok(f) => assert!(f.is_all_finite(), "{name}, {what}"),
                    Err(error) => refused.push((name, *what, error.to_string())),
                }
            }
        }
        // Everything that a method may refuse, and why; it must fit everything else.
        let expected = [
            ("fully-sampled", "large inputs", "the loss is not finite"),
            ("fully-sampled", "a large target", "the loss is not finite"),
            ("kernel-ridge", "one point", "are all equal"),
            ("kernel-ridge-validated", "one point", "are all equal"),
            ("salsa", "four rows", "at least 5 samples"),
            ("auto", "one point", "have the same inputs"),
        ];
        let as_expected = refused.len() == expected.len()
            && refused.iter().zip(expected).all(|(found, expected)| {
                (found.0, found.1) == (expected.0, expected.1) && found.2.contains(expected.2)
            });
        assert!(as_expected, "{refused:#?}");
    }

    #[test]
    fn weights_are_used_or_refused_and_threads_change_nothing() {
        let x = thinfit::Mat::from_fn(60, 3, |i, j| ((i * (7 + 4 * j)) % 61) as f64 / 61.0);
        let y = thinfit::Mat::from_fn(60, 2, |i, o| (3.0 * x[(i, o)]).sin() + x[(i, 2)]);
        let data = Dataset::new(x, y).unwrap();
        let weighted = Dataset {
            weights: Some(vec![1.0; 60]),
            ..data.clone()
        };
        for name in Method::ALL {
            let method = quick(name);
            assert_eq!(method.name(), name);
            let fitted = method.fit(&weighted, 1, &|_| Control::Continue);
            let takes = Method::THIN.contains(&name) || name == Auto::NAME;
            assert_eq!(fitted.is_ok(), takes, "{name}");
            if let Err(error) = fitted {
                assert!(error.to_string().contains("weights"), "{name}: {error}");
            }
            let values = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
                    let record = model.record();
                    assert_eq!((record.method.as_str(), record.stopped), (name, false));
                    model.predict(data.x.as_ref()).unwrap()
                })
            };
            assert_eq!(values(1), values(3), "{name}");
        }
    }
}
