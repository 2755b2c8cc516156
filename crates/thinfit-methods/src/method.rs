//! All methods behind one name each.

use crate::{
    AnovaRff, Arff, FullySampled, GaussianProcess, Harfe, KernelRidge, NoisyGradients,
    PlainNetwork, Predictor, RandomFourier, Salsa, Shrimp, Swim,
};
use serde::{Deserialize, Serialize};
use thinfit::{Control, Dataset, Result};

/// What hears of the progress of a fit, as a fraction from 0 to 1, and may stop it; from any thread.
pub type Observer<'a> = dyn Fn(f64) -> Control + Sync + 'a;

/// A method with its settings; in a file, its settings and a field `method` with its name, which for kernel ridge
/// regression is `kernel-ridge` with and without a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
}

impl Method {
    /// The names of all methods.
    pub const ALL: [&str; 13] = [
        Shrimp::NAME,
        Harfe::NAME,
        AnovaRff::NAME,
        Swim::NAME,
        Arff::NAME,
        RandomFourier::NAME,
        PlainNetwork::NAME,
        NoisyGradients::NAME,
        FullySampled::NAME,
        KernelRidge::NAMES[0],
        KernelRidge::NAMES[1],
        Salsa::NAME,
        GaussianProcess::NAME,
    ];

    /// The method of this name with its default settings.
    pub fn named(name: &str) -> Option<Method> {
        if name == KernelRidge::NAMES[1] {
            return Some(Method::KernelRidge(KernelRidge::validated()));
        }
        serde_json::from_value(serde_json::json!({ "method": name })).ok()
    }

    /// The name as it stands in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
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
        }
    }

    /// Fits `data`. The same seed gives the same result, for any number of threads.
    ///
    /// A fit that `observe` stops returns the best that it has.
    ///
    /// # Errors
    /// Settings out of range, data that no fit can use or that have weights, or numbers that left the finite range.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Predictor> {
        // What is done cannot be stopped.
        let observe = &|done: f64| match observe(done) {
            Control::Stop if done < 1.0 => Control::Stop,
            _ => Control::Continue,
        };
        match self {
            Method::Shrimp(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Harfe(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::AnovaRff(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Swim(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Arff(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Rff(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Plain(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::NoisyGradients(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::FullySampled(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::KernelRidge(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::Salsa(method) => method.fit(data, seed, observe).map(Predictor::from),
            Method::GaussianProcess(method) => method.fit(data, seed, observe).map(Predictor::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_for_its_method_and_settings_survive_a_file() {
        for name in Method::ALL {
            let method = Method::named(name).unwrap();
            assert_eq!(method.name(), name);
            let text = serde_json::to_string(&method).unwrap();
            assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), method);
        }
        assert!(Method::named("magic").is_none());
    }

    /// The method with settings that make a fit short.
    fn quick(name: &str) -> Method {
        let mut settings = serde_json::to_value(Method::named(name).unwrap()).unwrap();
        for (key, value) in [
            ("steps", 20),
            ("features", 300),
            ("rounds", 2),
            ("starts", 2),
        ] {
            if let Some(setting) = settings.get_mut(key) {
                *setting = value.into();
            }
        }
        if let Some(hidden) = settings.get_mut("hidden") {
            *hidden = vec![16].into();
        }
        serde_json::from_value(settings).unwrap()
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
        for name in Method::ALL {
            for (what, x, size) in &odd {
                let y = mat(x.nrows(), 1, |i, _| size * (5.0 * wave(i, 1)).sin());
                let data = Dataset::new(x.clone(), y).unwrap();
                let fitted = quick(name).fit(&data, 1, &|_| Control::Continue);
                let predicted = fitted.and_then(|model| model.predict(x.as_ref()));
                if let Ok(f) = predicted {
                    assert!(f.is_all_finite(), "{name}, {what}");
                }
            }
        }
    }

    #[test]
    fn every_method_refuses_weights_and_gives_the_same_on_any_number_of_threads() {
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
            let error = method.fit(&weighted, 1, &|_| Control::Continue);
            assert!(error.unwrap_err().to_string().contains("weights"), "{name}");
            let values = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
                pool.build().unwrap().install(|| {
                    let model = method.fit(&data, 1, &|_| Control::Continue).unwrap();
                    assert_eq!((model.method(), model.stopped()), (name, false));
                    model.predict(data.x.as_ref()).unwrap()
                })
            };
            assert_eq!(values(1), values(3), "{name}");
        }
    }
}
