//! The settings of every method in one call: a preset of the core library, the defaults of the other methods with what
//! their own papers do for a column, and changes of single settings laid over both.

use std::fmt;

use crate::{Column, Error, Job, Problem, Row};
use serde_json::{Map, Value, json};
use thinfit::{Config, Lambda};

/// What a job says itself.
const GIVEN: [&str; 7] = [
    "method",
    "activation",
    "width",
    "lambda",
    "seed",
    "threads",
    "kernel",
];

/// Settings of all methods.
#[derive(Clone, Debug)]
pub struct Settings {
    preset: String,
    config: Config,
    changes: Map<String, Value>,
}

impl Settings {
    /// A preset of the core library, with `changes` (as in a configuration file) to it and to all other methods that
    /// have a setting of that name.
    ///
    /// # Errors
    /// An unknown preset, or a setting that no method has or that none reads; whether a number is in range is seen by the
    /// core library at once, by other methods in their fits.
    pub fn new(preset: &str, changes: Map<String, Value>) -> Result<Self, Error> {
        if let Some(key) = GIVEN.iter().find(|key| changes.contains_key(**key)) {
            return Err(Error::Settings {
                problem: format!(
                    "`{key}` belongs to the cell of a table and cannot be changed for all"
                ),
            });
        }
        let mut config = to_map(&Config::preset(preset)?);
        for (key, value) in &changes {
            // A name may stand for different things in different methods: one that takes the value is enough.
            let mut taken = Err(format!(
                "no method has a setting `{key}`; see `thinfit fit --help`"
            ));
            if let Some(laid) = with::<Config>(&config, key, value) {
                taken = laid.map(|laid| config = to_map(&laid));
            }
            let names = thinfit_methods::Method::ALL;
            for method in names
                .iter()
                .filter_map(|name| thinfit_methods::Method::named(name))
            {
                match with::<thinfit_methods::Method>(&to_map(&method), key, value) {
                    Some(laid) if taken.is_err() => taken = laid.map(|_| ()),
                    _ => {}
                }
            }
            taken.map_err(|problem| Error::Settings { problem })?;
        }
        let config: Config = serde_json::from_value(Value::Object(config)).map_err(wrong)?;
        config.check()?;
        Ok(Settings {
            preset: preset.into(),
            config,
            changes,
        })
    }

    /// The published settings.
    pub fn paper() -> Self {
        Settings {
            preset: "paper".into(),
            config: Config::paper(),
            changes: Map::new(),
        }
    }

    /// Name of the settings of a method, `default` for those without presets; changes to them stand behind it.
    pub fn label(&self, row: Row) -> String {
        let (name, known) = match row.core() {
            Some(_) => (self.preset.as_str(), to_map(&self.config)),
            None => (
                "default",
                named(row).as_ref().map(to_map).unwrap_or_default(),
            ),
        };
        let taken = |(key, value): &(&String, &Value)| match row.core() {
            Some(_) => with::<Config>(&known, key, value).is_some_and(|laid| laid.is_ok()),
            None => {
                with::<thinfit_methods::Method>(&known, key, value).is_some_and(|laid| laid.is_ok())
            }
        };
        let changes = self.changes.iter().filter(taken);
        changes.fold(name.to_owned(), |label, (key, value)| {
            format!("{label} {key}={value}")
        })
    }

    /// The configuration of a job of the core library.
    pub(crate) fn config(&self, job: &Job, method: thinfit::Method) -> Config {
        Config {
            method,
            activation: job.activation.unwrap_or_default(),
            width: job.width,
            lambda: job.lambda.unwrap_or(Lambda::Fixed(0.0)),
            seed: job.seed,
            threads: 1,
            ..self.config.clone()
        }
    }

    /// The settings of a job of another method.
    pub(crate) fn baseline(&self, job: &Job) -> Result<thinfit_methods::Method, Error> {
        let known = named(job.row).ok_or_else(|| Error::Settings {
            problem: format!("`{}` is not there", job.row.name()),
        })?;
        let mut settings = to_map(&known);
        let set = |settings: &mut Map<String, Value>, key: &str, value: Value| {
            if settings.contains_key(key) {
                lay(settings, key, &value);
            }
        };
        set(&mut settings, "width", json!(job.width));
        if let Some(activation) = job.activation {
            set(&mut settings, "activation", json!(activation));
        }
        if let Some(lambda) = job.lambda {
            set(&mut settings, "lambda", json!(lambda));
        }
        // A key that the method does not have is a mistake here, and is refused below.
        settings.extend(published(job.row, job.column));
        for (key, value) in &self.changes {
            if let Some(Ok(laid)) = with::<thinfit_methods::Method>(&settings, key, value) {
                settings = to_map(&laid);
            }
        }
        serde_json::from_value(Value::Object(settings)).map_err(wrong)
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "preset `{}` for F-Opt, GFT and GFT-r", self.preset)?;
        if self.changes.is_empty() {
            return Ok(());
        }
        let changes = self.changes.iter();
        let changes: Vec<String> = changes
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        write!(out, ", with {}", changes.join(", "))
    }
}

/// Other methods with their defaults.
fn named(row: Row) -> Option<thinfit_methods::Method> {
    thinfit_methods::Method::named(match row {
        Row::GaussianProcessMatern => Row::GaussianProcess.name(),
        Row::ShrimpReal => Row::Shrimp.name(),
        row => row.name(),
    })
}

/// What the authors of a method set for a column.
fn published(row: Row, column: Column) -> Map<String, Value> {
    use Problem::{F1, F2, F3, G1, G2, G3, Ishigami};
    let settings = match (row, column) {
        (Row::GaussianProcessMatern, _) => json!({ "kernel": "matern52" }),
        // The published errors lie between those of these two ridges.
        (Row::KernelRidge, Column::Measured(_)) => json!({ "lambda": [1e-5] }),
        (Row::KernelRidge, _) => json!({ "lambda": [1e-4] }),
        // Table 1 has the numbers of a variant with complex features on all pairs of inputs.
        (Row::Shrimp, Column::Function(F1 | F2 | F3 | Ishigami, _, samples)) => {
            json!({ "variant": "complex", "features": 5 * samples, "orders": [2] })
        }
        // As in the scripts for measured data.
        (Row::Shrimp, _) => {
            json!({ "prune": 0.2, "steps": 50, "orders": (1..=10).collect::<Vec<_>>() })
        }
        // The thresholds of the authors' scripts.
        (Row::AnovaRff, Column::Function(F2 | Ishigami, ..)) => json!({ "thresholds": [0.005] }),
        (Row::AnovaRff, Column::Function(F3, ..)) => json!({ "thresholds": [0.001] }),
        // Figure 1 shows what features on the axes can do.
        (Row::AnovaRff, Column::Function(G1 | G2 | G3, ..)) => json!({ "order": 1 }),
        _ => json!({}),
    };
    match settings {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn wrong(error: serde_json::Error) -> Error {
    Error::Settings {
        problem: error.to_string(),
    }
}

fn to_map(settings: &impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The settings with one changed; none without a setting of this name, an error where it cannot have this value.
fn with<T: serde::de::DeserializeOwned>(
    settings: &Map<String, Value>,
    key: &str,
    value: &Value,
) -> Option<Result<T, String>> {
    let mut settings = settings.clone();
    settings.contains_key(key).then(|| {
        lay(&mut settings, key, value);
        serde_json::from_value(Value::Object(settings)).map_err(|error| format!("`{key}`: {error}"))
    })
}

/// Lays a value over that of a key: tables key by key, anything else replaced.
fn lay(under: &mut Map<String, Value>, key: &str, value: &Value) {
    match (under.get_mut(key), value) {
        // The ridge is a choice between two keys; the new choice replaces the old.
        (Some(Value::Object(under)), Value::Object(over)) if key != "ridge" => {
            over.iter().for_each(|(key, value)| lay(under, key, value));
        }
        _ => {
            under.insert(key.into(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, Exhibit, Plan};

    fn changes(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn every_job_of_every_table_has_settings() {
        let plan = Plan {
            cells: Exhibit::ALL
                .iter()
                .flat_map(|exhibit| exhibit.cells())
                .collect(),
            seeds: vec![1],
            lambda: Choice::Published,
        };
        let settings = Settings::paper();
        for job in plan.jobs(&settings) {
            match job.row.core() {
                Some(method) => settings.config(&job, method).check().unwrap(),
                None => drop(settings.baseline(&job).unwrap()),
            }
        }
    }

    #[test]
    fn changes_reach_the_methods_that_have_the_setting_and_their_labels() {
        let given = json!({ "generate": { "steps": 7 }, "rounds": 3 });
        let settings = Settings::new("paper", changes(given)).unwrap();
        assert_eq!(settings.config.generate.steps, 7);
        assert_eq!(settings.config.generate.rate, Config::paper().generate.rate);
        assert_eq!(settings.label(Row::Arff), "default rounds=3");
        assert_eq!(settings.label(Row::KernelRidge), "default");
        let label = settings.label(Row::GftR);
        assert_eq!(label, "paper generate={\"steps\":7}");
    }

    #[test]
    fn what_no_method_has_is_named() {
        let error = Settings::new("paper", changes(json!({ "magic": 1 }))).unwrap_err();
        assert!(error.to_string().contains("`magic`"), "{error}");
        let error = Settings::new("paper", changes(json!({ "points": "many" }))).unwrap_err();
        assert!(error.to_string().contains("many"), "{error}");
        let error = Settings::new("paper", changes(json!({ "width": 7 }))).unwrap_err();
        assert!(error.to_string().contains("`width` belongs"), "{error}");
        // Two rows of a table differ by it alone.
        assert!(Settings::new("paper", changes(json!({ "kernel": "gaussian" }))).is_err());
        // The ridge of the core library is a choice, that of SHRIMP a number.
        for (ridge, core, other) in [
            (json!({ "relative": 1e-9 }), true, false),
            (json!(1e-6), false, true),
        ] {
            let settings = Settings::new("paper", changes(json!({ "ridge": ridge }))).unwrap();
            assert_eq!(settings.label(Row::Gft).contains("ridge"), core);
            assert_eq!(settings.label(Row::Shrimp).contains("ridge"), other);
        }
        for wrong in [json!({ "rounds": "many" }), json!({ "starts": -1 })] {
            assert!(Settings::new("paper", changes(wrong)).is_err());
        }
        assert!(Settings::new("slow", Map::new()).is_err());
    }
}
