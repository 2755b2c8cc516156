//! The settings of every row: a preset of the core library, or the defaults of another method with its authors'
//! choices for a column, and single changes to these.

use std::fmt;

use crate::{Column, Error, Job, Problem, Row};
use serde_json::{Map, Value, json};
use thinfit::Config;
use thinfit_methods::{Method, Request};

/// Settings that a job determines.
const GIVEN: [&str; 7] = [
    "method",
    "activation",
    "width",
    "lambda",
    "seed",
    "threads",
    "kernel",
];

/// The settings of all rows.
#[derive(Clone, Debug)]
pub struct Settings {
    preset: String,
    /// One for each key, sorted.
    changes: Vec<(String, Value)>,
}

impl Settings {
    /// A preset of thinfit's own methods, with `changes` (as in a configuration file) to all methods that have a setting
    /// of that name.
    ///
    /// # Errors
    /// An unknown preset, or a setting that no method has or none can read. Whether a number is in range is checked here
    /// for thinfit's own methods, and for others by their fits.
    pub fn new(
        preset: &str,
        changes: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Self, Error> {
        let changes = merged(changes);
        let given = |(key, _): &&(String, Value)| GIVEN.contains(&key.as_str());
        if let Some((key, _)) = changes.iter().find(given) {
            return Err(Error::Settings {
                problem: format!(
                    "`{key}` belongs to the cell of a table and cannot be set for all"
                ),
            });
        }
        let settings = Settings {
            preset: preset.into(),
            changes,
        };
        let methods: Vec<Method> = Row::ALL
            .into_iter()
            .map(|row| settings.default(row))
            .collect::<Result<_, Error>>()?;
        for (key, value) in &settings.changes {
            // A name may stand for different things in different methods: one that takes the value is enough.
            let tried = || {
                methods
                    .iter()
                    .filter_map(|method| change(method, key, value))
            };
            if !tried().any(|changed| changed.is_ok()) {
                let refused = tried().find_map(|changed| changed.err());
                let problem = refused.map(|error| error.to_string());
                return Err(Error::Settings {
                    problem: problem.unwrap_or_else(|| format!("no method has a setting `{key}`")),
                });
            }
        }
        if let Method::Thin(config) = settings.changed(settings.default(Row::GftR)?) {
            config.check()?;
        }
        Ok(settings)
    }

    /// The published settings.
    pub fn paper() -> Self {
        Settings {
            preset: "paper".into(),
            changes: Vec::new(),
        }
    }

    /// Name of the settings of a row: the preset, or `default` for methods without presets, then the changes.
    pub fn label(&self, row: Row) -> String {
        let name = match row.training() {
            Some(_) => self.preset.as_str(),
            None => "default",
        };
        let default = self.default(row);
        let taken = |(key, value): &&(String, Value)| {
            let changed = default.as_ref().ok().and_then(|m| change(m, key, value));
            changed.is_some_and(|changed| changed.is_ok())
        };
        let changes = self.changes.iter().filter(taken);
        changes.fold(name.to_owned(), |label, (key, value)| {
            format!("{label} {key}={value}")
        })
    }

    /// What a job asks for: the method of its row with what the cell says, what the authors of the method set for the
    /// column, and the changes, in this order. One thread, because jobs fill the cores.
    pub(crate) fn request(&self, job: &Job) -> Result<Request, Error> {
        let mut method = self.default(job.row)?;
        let cell = [
            ("width", Some(json!(job.width))),
            ("activation", job.activation.map(|v| json!(v))),
            ("lambda", job.lambda.map(|v| json!(v))),
        ];
        for (key, value) in cell {
            if let Some(changed) = value.and_then(|value| change(&method, key, &value)) {
                method = changed?;
            }
        }
        let method = method.changed(&published(job.row, job.column))?;
        Ok(Request {
            method: self.changed(method),
            seed: job.seed,
            threads: 1,
        })
    }

    /// The method of a row with the settings of the preset, or its defaults.
    fn default(&self, row: Row) -> Result<Method, Error> {
        if let Some(training) = row.training() {
            let config = Config::preset(&self.preset)?;
            return Ok(Method::Thin(Config { training, ..config }));
        }
        let name = match row {
            Row::GaussianProcessMatern => Row::GaussianProcess.name(),
            Row::ShrimpReal => Row::Shrimp.name(),
            row => row.name(),
        };
        Method::named(name).ok_or_else(|| Error::Settings {
            problem: format!("there is no method `{name}`"),
        })
    }

    /// The method with all changes that it takes.
    fn changed(&self, method: Method) -> Method {
        let changes = self.changes.iter();
        changes.fold(method, |method, (key, value)| {
            match change(&method, key, value) {
                Some(Ok(changed)) => changed,
                _ => method,
            }
        })
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
        let changes = changes.join(", ");
        write!(out, "; {changes} for all methods that have it")
    }
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

/// One change for each key, sorted: tables are merged, anything else replaced. The ridge is a choice between two keys; the
/// new choice replaces the old.
fn merged(changes: impl IntoIterator<Item = (String, Value)>) -> Vec<(String, Value)> {
    let mut merged = Map::new();
    for (key, value) in changes {
        match (merged.get_mut(&key), value) {
            (Some(Value::Object(under)), Value::Object(over)) if key != "ridge" => {
                under.extend(over);
            }
            (_, value) => {
                merged.insert(key, value);
            }
        }
    }
    merged.into_iter().collect()
}

/// The method with one setting changed; none without a setting of this name.
fn change(method: &Method, key: &str, value: &Value) -> Option<thinfit::Result<Method>> {
    let change = Map::from_iter([(key.to_owned(), value.clone())]);
    method.has(key).then(|| method.changed(&change))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Choice, Exhibit, Plan};

    fn changes(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn the_order_of_changes_makes_no_other_cell() {
        let label = |changes: &[Value]| {
            let changes = changes.iter().flat_map(|c| c.as_object().cloned().unwrap());
            Settings::new("paper", changes).unwrap().label(Row::GftR)
        };
        let (steps, rate) = (
            json!({ "generate": { "steps": 7 } }),
            json!({ "generate": { "rate": 0.1 } }),
        );
        let both = label(&[steps.clone(), rate.clone()]);
        assert_eq!(both, "paper generate={\"rate\":0.1,\"steps\":7}");
        assert_eq!(both, label(&[rate, steps]));
        let twice = label(&[json!({ "points": 3 }), json!({ "points": 5 })]);
        assert_eq!(twice, "paper points=5");
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
        for job in plan.jobs(&settings, &crate::job::tests::no_ledger()) {
            let request = settings.request(&job).unwrap();
            assert_eq!(request.config().is_ok(), job.row.training().is_some());
        }
    }

    #[test]
    fn changes_reach_the_methods_with_that_setting_and_their_labels() {
        let given = json!({ "generate": { "steps": 7 }, "rounds": 3 });
        let settings = Settings::new("paper", changes(given)).unwrap();
        let jobs = crate::job::tests::jobs(Row::GftR);
        let config = settings.request(&jobs[0]).unwrap().config().unwrap();
        assert_eq!(config.generate.steps, 7);
        assert_eq!(config.generate.rate, Config::paper().generate.rate);
        assert_eq!(settings.label(Row::Arff), "default rounds=3");
        assert_eq!(settings.label(Row::KernelRidge), "default");
        let label = settings.label(Row::GftR);
        assert_eq!(label, "paper generate={\"steps\":7}");
    }

    #[test]
    fn settings_that_no_method_accepts_are_named() {
        let error = Settings::new("paper", changes(json!({ "magic": 1 }))).unwrap_err();
        assert!(error.to_string().contains("`magic`"), "{error}");
        let error = Settings::new("paper", changes(json!({ "points": "many" }))).unwrap_err();
        assert!(error.to_string().contains("many"), "{error}");
        let error = Settings::new("paper", changes(json!({ "width": 7 }))).unwrap_err();
        assert!(error.to_string().contains("`width` belongs"), "{error}");
        // Two rows of a table differ in it alone.
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
