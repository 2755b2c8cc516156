//! What `thinfit fit` will do: the options, settled once before anything is read.
//!
//! Without a method it is `auto`. An option or a setting that only networks have selects the network method `gft-r`, unless `method`
//! says otherwise.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use thinfit::pieces::Executor;
use thinfit_methods::{Auto, LongState, Method, Placement, Request};

use crate::args::FitArgs;
use crate::failure::Failure;
use crate::long;
use crate::memory::Memory;
use crate::output::{Output, Written, check_distinct, check_replaced, check_writable, same_file};
use crate::settings;
use crate::table::TableSource;
use crate::table::roles::FitColumns;

/// A fit: of which columns of which table, by which method, where, and what becomes of it.
pub struct FitPlan {
    /// The table, with the limit on memory.
    pub table: TableSource,
    /// Its columns.
    pub columns: FitColumns,
    /// The method with its settings.
    pub method: MethodChoice,
    /// Files of states.
    pub states: StateFiles,
    /// Where the model goes.
    pub output: PathBuf,
    /// Print the result as JSON.
    pub json: bool,
    /// Show no progress.
    pub quiet: bool,
    /// The table as it was typed.
    pub data: PathBuf,
    /// The configuration file.
    config: Option<PathBuf>,
}

/// What to fit with.
pub struct MethodChoice {
    /// The method, its settings, the seed and the threads.
    pub request: Request,
    /// Whether any of its settings were given.
    pub has_settings: bool,
    /// Where it trains.
    pub placement: Placement,
}

/// Files of the state of a fit.
pub struct StateFiles {
    /// Where it is saved.
    pub checkpoint: Option<PathBuf>,
    /// Where it comes from.
    pub resume: Option<PathBuf>,
}

impl StateFiles {
    /// Where states are saved: a fit that is resumed keeps saving to the same file.
    pub fn saved(&self) -> Option<&Path> {
        self.checkpoint.as_deref().or(self.resume.as_deref())
    }

    /// Whether the state to resume is that of a table read in blocks; none if there is no such state.
    pub fn resumes_blocks(&self) -> Result<Option<bool>, Failure> {
        Ok(self.resume.as_deref().map(LongState::is_in).transpose()?)
    }
}

impl FitPlan {
    /// Settles what was typed, over a configuration file and the defaults of the method.
    pub fn resolve(
        typed: FitArgs,
        memory: Memory,
        executor: &dyn Executor,
    ) -> Result<Self, Failure> {
        let (args, file) = settings::with_file(typed)?;
        let data = args.data.clone().ok_or_else(|| {
            Failure::new("which table? give a file, as in `thinfit fit train.csv --target y`")
        })?;
        let table = TableSource::find(&data, &args.more, &args.table, memory)?;
        let columns = FitColumns {
            args: args.columns.clone(),
            weights: args.weights.clone(),
            groups: args.groups.clone(),
        };
        let states = StateFiles {
            checkpoint: args.checkpoint.clone(),
            resume: args.resume.clone(),
        };
        let is_long = || long::is_long(&table, &columns, &states, executor);
        Ok(FitPlan {
            method: MethodChoice::resolve(&args, file, &states, is_long)?,
            table,
            columns,
            states,
            output: args.output.unwrap_or_else(|| "model.json".into()),
            json: args.json,
            quiet: args.quiet,
            data,
            config: args.config,
        })
    }

    /// Refuses files that the fit would overwrite, or cannot write.
    pub fn check_files(&self) -> Result<(), Failure> {
        // A fit saves its state to the file that it is resumed from.
        let resumed = self.states.resume.as_deref();
        let other = |state: &&Path| resumed.is_none_or(|resumed| !same_file(resumed, state));
        let state = self.states.checkpoint.as_deref().filter(other);
        let inputs = [self.config.as_deref(), resumed].into_iter().flatten();
        let files = self.table.files().iter().map(PathBuf::as_path);
        let inputs: Vec<&Path> = inputs.chain(files).collect();
        let outputs = [
            Some(((self.output.as_path(), "-o FILE"), Written::Model)),
            state.map(|state| ((state, "--checkpoint FILE"), Written::State)),
        ];
        let outputs: Vec<(Output<'_>, Written)> = outputs.into_iter().flatten().collect();
        let files: Vec<Output<'_>> = outputs.iter().map(|(output, _)| *output).collect();
        check_distinct(&inputs, &files)?;
        for (output, written) in &outputs {
            check_replaced(*output, *written)?;
            check_writable(*output)?;
        }
        Ok(())
    }
}

impl MethodChoice {
    /// The method that the options and the settings of a configuration `file` ask for.
    ///
    /// `is_long` tells whether the table is read in blocks, of which `auto` saves its state.
    pub fn resolve(
        args: &FitArgs,
        file: Map<String, Value>,
        states: &StateFiles,
        is_long: impl Fn() -> bool,
    ) -> Result<Self, Failure> {
        let mut layers = vec![file];
        if let Ok(Value::Object(typed)) = serde_json::to_value(&args.settings) {
            layers.push(typed);
        }
        layers.extend(settings::changes(&args.set)?);
        let is_set = |layer: &Map<String, Value>| layer.keys().any(|key| key != "threads");
        let own = args.preset.is_some() || args.budget.is_some() || args.thin;
        let has_settings = own || layers.iter().any(is_set);
        // Needed only if a state is asked for.
        let is_long = states.saved().is_some() && is_long();
        let name = method(args, &layers, states, is_long)?;
        layers.push(Map::from_iter([("method".into(), name.clone().into())]));
        if name == Auto::NAME {
            let budget = args.budget.map(|budget| ("budget".into(), budget.into()));
            let thin = args.thin.then(|| ("thin".into(), true.into()));
            layers.push(budget.into_iter().chain(thin).collect());
        }
        if !Method::THIN.contains(&name.as_str()) {
            refuse_options(args, &name, is_long)?;
            layers.insert(0, Method::for_raw_columns(&name));
        }
        let placement = args.device.as_deref().map(str::parse).transpose()?;
        let request =
            Request::new(args.preset.as_deref(), layers).map_err(|error| match error {
                error @ thinfit::Error::Setting { .. } => {
                    let page = match Method::THIN.contains(&name.as_str()) {
                        true => "; docs/configuration.md lists the settings",
                        false => "",
                    };
                    Failure::new(format!("settings of {name}: {error}{page}"))
                }
                error => error.into(),
            })?;
        Ok(MethodChoice {
            request,
            has_settings,
            placement: placement.unwrap_or_default(),
        })
    }

    /// The method of a configuration file alone.
    pub fn of_file(path: &Path) -> Result<Self, Failure> {
        let (args, file) = settings::with_file(FitArgs {
            config: Some(path.to_owned()),
            ..FitArgs::default()
        })?;
        let states = StateFiles {
            checkpoint: args.checkpoint.clone(),
            resume: args.resume.clone(),
        };
        MethodChoice::resolve(&args, file, &states, || false)
    }
}

/// The name of the method: the last one given, or what the other options and settings mean.
fn method(
    args: &FitArgs,
    layers: &[Map<String, Value>],
    states: &StateFiles,
    is_long: bool,
) -> Result<String, Failure> {
    let given = layers
        .iter()
        .rev()
        .find_map(|layer| layer.get("method"))
        .map(|name| name.as_str().map_or(name.to_string(), str::to_owned));
    let auto = [("--budget", args.budget.is_some()), ("--thin", args.thin)];
    let auto = auto.iter().find(|(_, given)| *given).map(|(name, _)| *name);
    if let Some(method) = given {
        return match auto {
            Some(option) if method != Auto::NAME => Err(Failure::new(format!(
                "{option} needs the method `{}`, but `{method}` is selected; remove one of them",
                Auto::NAME
            ))),
            _ => Ok(method),
        };
    }
    let resumed = states.resumes_blocks()?;
    let options = [
        ("--preset", args.preset.is_some()),
        ("--device cuda", args.device.as_deref() == Some("cuda")),
        ("--weights", args.weights.is_some()),
        (
            "--checkpoint",
            args.checkpoint.is_some() && args.resume.is_none() && !is_long,
        ),
        ("--resume", resumed == Some(false)),
    ];
    let own = Method::Auto(Auto::default());
    let own = |key: &str| own.has(key) || ["seed", "threads"].contains(&key);
    let setting = (layers.iter().flat_map(Map::keys)).find(|key| !own(key));
    let option = options.iter().find(|(_, given)| *given);
    let network = (option.map(|(name, _)| format!("`{name}`")))
        .or(setting.map(|key| format!("the setting `{key}`")));
    match (network, auto) {
        (None, _) => Ok(Auto::NAME.into()),
        (Some(_), None) => Ok("gft-r".into()),
        (Some(network), Some(auto)) => Err(Failure::new(format!(
            "`{auto}` belongs to the method auto, but {network} selects a network method; remove one of them"
        ))),
    }
}

/// Refuses options that only GFT methods, or `auto` on long tables, support.
fn refuse_options(args: &FitArgs, method: &str, is_long: bool) -> Result<(), Failure> {
    let auto = method == Auto::NAME;
    let stateless = !(auto && is_long);
    let absent = [
        ("preset", args.preset.is_some()),
        ("checkpoint", args.checkpoint.is_some() && stateless),
        ("resume", args.resume.is_some() && stateless),
    ];
    let Some((option, _)) = absent.iter().find(|(_, given)| *given) else {
        return Ok(());
    };
    let why = match auto && *option != "preset" {
        true => " for a table that fits into memory",
        false => "",
    };
    Err(Failure::new(format!(
        "`{method}` does not support --{option}{why}; remove it, or choose a method among {}",
        Method::THIN.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use thinfit::Config;

    use super::*;
    use crate::args::{Cli, Command};

    /// The method that a command line selects, or the error.
    fn asked(words: &[&str]) -> Result<Value, String> {
        let words = [&["thinfit", "fit", "a.csv"], words].concat();
        let Some(Command::Fit(args)) = Cli::parse_from(words).command else {
            panic!("`fit` is a command");
        };
        let states = StateFiles {
            checkpoint: args.checkpoint.clone(),
            resume: args.resume.clone(),
        };
        let method = MethodChoice::resolve(&args, Map::new(), &states, || false);
        Ok(method
            .map_err(|error| error.to_string())?
            .request
            .settings())
    }

    #[test]
    fn without_a_method_it_is_auto_unless_an_option_of_networks_is_given() {
        let name = |words: &[&str]| {
            let settings = asked(words).unwrap();
            settings
                .get("method")
                .and_then(Value::as_str)
                .map_or("gft-r".into(), str::to_owned)
        };
        for words in [
            &[][..],
            &["--width=30", "--seed=3", "--threads=1"],
            &["--thin"],
            &["--budget=5"],
            &["--set=budget=5", "--set=seed=2"],
            &["--method=auto", "--thin"],
            &["--device=auto"],
            &["--device=cpu", "--thin"],
        ] {
            assert_eq!(name(words), "auto", "{words:?}");
        }
        for words in [
            &["--preset=fast"][..],
            &["--activation=tanh"],
            &["--lambda=auto", "--width=30"],
            &["--set=polish.steps=3"],
            &["--weights=w"],
            &["--checkpoint=a.state"],
            &["--resume=a.state"],
            &["--device=cuda"],
        ] {
            assert_eq!(name(words), "gft-r", "{words:?}");
        }
        assert_eq!(name(&["--method=salsa", "--seed=3"]), "salsa");
        let settings = asked(&["--thin", "--budget=7", "--width=30"]).unwrap();
        assert_eq!(
            (&settings["thin"], &settings["width"]),
            (&true.into(), &30.into())
        );
        assert_eq!(settings["budget"], 7.0);
        for (words, expected) in [
            (&["--thin", "--lambda=auto"][..], "`--thin`"),
            (&["--budget=5", "--preset=paper"], "`--preset`"),
            (&["--thin", "--device=cuda"], "`--device cuda`"),
            (&["--thin", "--method=gft"], "`gft`"),
            (&["--method=auto", "--lambda=0"], "lambda"),
            (&["--method=auto", "--checkpoint=a.state"], "--checkpoint"),
        ] {
            let error = asked(words).unwrap_err();
            assert!(error.contains(expected), "{words:?}: {error}");
        }
    }

    #[test]
    fn a_file_in_one_long_line_is_refused_in_few_words() {
        let path = std::env::temp_dir().join(format!("thinfit-long-{}.toml", std::process::id()));
        let long = "a".repeat(100_000);
        for (text, expected) in [
            (format!("x = 1\ny = [{}", "1, ".repeat(50_000)), "line 2"),
            (format!("{long} = 1"), "expected one of `method`"),
            (format!("method = '{long}'"), "expected one of"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = crate::configuration(&path).unwrap_err();
            std::fs::remove_file(&path).unwrap();
            assert!(error.len() < 4000, "{} bytes", error.len());
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_file_in_the_book_is_the_fast_preset() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let page = std::fs::read_to_string(page).unwrap();
        let (_, rest) = page.split_once("```toml\n").unwrap();
        let (file, _) = rest.split_once("```").unwrap();
        let path = std::env::temp_dir().join(format!("thinfit-{}.toml", std::process::id()));
        std::fs::write(&path, file).unwrap();
        let typed = FitArgs {
            config: Some(path.clone()),
            ..FitArgs::default()
        };
        let args = settings::with_file(typed).map(|(args, _)| args);
        let method = MethodChoice::of_file(&path);
        std::fs::remove_file(&path).unwrap();
        let (Ok(args), Ok(method)) = (args, method) else {
            panic!("the file is the configuration of a fit");
        };
        assert_eq!(method.request.config().unwrap(), Config::fast());
        assert_eq!(args.columns.target, ["y"]);
        assert!(method.has_settings);
        let keys = serde_json::to_value(Config::fast()).unwrap();
        let keys = keys.as_object().unwrap().keys();
        let missing: Vec<_> = keys.filter(|key| !file.contains(*key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
