//! The methods whose result is a two-layer network, behind one name each.

use crate::{
    AnovaRff, Arff, FullySampled, Harfe, NoisyGradients, PlainNetwork, RandomFourier, Shrimp, Swim,
};
use serde::{Deserialize, Serialize};
use thinfit::{Control, Dataset, Model, Result};

/// What hears of the progress of a fit, as a fraction from 0 to 1, and may stop it.
pub type Observer<'a> = dyn Fn(f64) -> Control + 'a;

/// A method with its settings; in a file, its settings and a field `method` with its name.
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
}

impl Method {
    /// The names of all methods.
    pub const ALL: [&str; 9] = [
        Shrimp::NAME,
        Harfe::NAME,
        AnovaRff::NAME,
        Swim::NAME,
        Arff::NAME,
        RandomFourier::NAME,
        PlainNetwork::NAME,
        NoisyGradients::NAME,
        FullySampled::NAME,
    ];

    /// The method of this name with its default settings.
    pub fn named(name: &str) -> Option<Method> {
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
        }
    }

    /// Fits a network to `data`. The same seed gives the same model, for any number of threads.
    ///
    /// A fit that `observe` stops returns the network that it has.
    ///
    /// # Errors
    /// Settings out of range, data that no fit can use or that have weights, or numbers that left the finite range.
    pub fn fit(&self, data: &Dataset, seed: u64, observe: &Observer<'_>) -> Result<Model> {
        match self {
            Method::Shrimp(method) => method.fit(data, seed, observe),
            Method::Harfe(method) => method.fit(data, seed, observe),
            Method::AnovaRff(method) => method.fit(data, seed, observe),
            Method::Swim(method) => method.fit(data, seed, observe),
            Method::Arff(method) => method.fit(data, seed, observe),
            Method::Rff(method) => method.fit(data, seed, observe),
            Method::Plain(method) => method.fit(data, seed, observe),
            Method::NoisyGradients(method) => method.fit(data, seed, observe),
            Method::FullySampled(method) => method.fit(data, seed, observe),
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
}
