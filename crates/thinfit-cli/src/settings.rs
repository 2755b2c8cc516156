//! What a fit was asked to do: the preset, then the configuration file, then the command line, each over the one before.
//!
//! All three are TOML tables that are laid over each other and read as one [`Config`], so that an option means the same
//! wherever it is written.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use thinfit::Config;
use thinfit_methods::Method;
use toml::{Table, Value};

use crate::args::{FitArgs, Missing};
use crate::failure::Failure;

/// The options in a configuration file that are not settings of the fit itself.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    data: Option<PathBuf>,
    target: Columns,
    output: Option<PathBuf>,
    inputs: Columns,
    drop: Columns,
    weights: Option<String>,
    missing: Option<String>,
    preset: Option<String>,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
    json: bool,
    quiet: bool,
    delimiter: Option<String>,
    header: Option<bool>,
    decimal_comma: bool,
    array: Option<String>,
}

const OPTIONS: [&str; 16] = [
    "data",
    "target",
    "output",
    "inputs",
    "drop",
    "weights",
    "missing",
    "preset",
    "checkpoint",
    "resume",
    "json",
    "quiet",
    "delimiter",
    "header",
    "decimal_comma",
    "array",
];

/// One column or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Columns {
    One(String),
    Several(Vec<String>),
}

impl Default for Columns {
    fn default() -> Self {
        Columns::Several(Vec::new())
    }
}

impl Columns {
    /// Fills what the command line left open.
    fn under(self, given: &mut Vec<String>) {
        if given.is_empty() {
            *given = match self {
                Columns::One(name) => vec![name],
                Columns::Several(names) => names,
            };
        }
    }
}

/// What to fit with.
pub enum Asked {
    /// A fit of the core library, and whether any of its settings were given.
    Core(Box<Config>, bool),
    /// Another method.
    Other {
        /// The method with its settings.
        method: Method,
        /// Seed of everything random.
        seed: u64,
        /// Threads; 0 takes all cores.
        threads: usize,
    },
}

/// The names of all methods, those of the core library first.
pub fn methods() -> Vec<&'static str> {
    [&["random", "f-opt", "gft", "gft-r"][..], &Method::ALL].concat()
}

/// Completes `args` from its configuration file and returns what to fit with.
pub fn resolve(args: &mut FitArgs) -> Result<Asked, Failure> {
    let mut given = match &args.config {
        Some(path) => read(path)?,
        None => Table::new(),
    };
    let mut options = Table::new();
    for key in OPTIONS {
        if let Some(value) = given.remove(key) {
            options.insert(key.into(), value);
        }
    }
    complete(args, options)?;
    for (key, value) in [("method", &args.method), ("activation", &args.activation)] {
        if let Some(value) = value {
            given.insert(key.into(), Value::String(value.clone()));
        }
    }
    let numbers = [
        ("width", args.width.map(|v| v as u64)),
        ("seed", args.seed),
        ("threads", args.threads.map(|v| v as u64)),
    ];
    for (key, value) in numbers {
        if let Some(value) = value {
            let value = i64::try_from(value).map_err(|_| {
                Failure::new(format!(
                    "--{key}: expected a number below 2^63, found {value}"
                ))
            })?;
            given.insert(key.into(), Value::Integer(value));
        }
    }
    if let Some(lambda) = &args.lambda {
        given.insert("lambda".into(), lambda_value(lambda)?);
    }
    lay(&mut given, changes(&args.set)?);
    let name = given
        .get("method")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    if let Some(method) = Method::named(&name) {
        return other(args, given, &name, &method);
    }
    let any = args.preset.is_some() || given.keys().any(|key| key != "threads");
    let preset = Config::preset(args.preset.as_deref().unwrap_or("fast"))?;
    let mut table = Table::try_from(&preset)
        .map_err(|error| Failure::new(format!("the preset cannot be written as TOML: {error}")))?;
    lay(&mut table, given);
    let config: Config = named(table).map_err(|problem| {
        Failure::new(format!(
            "settings of the fit: {problem}; the README lists the settings"
        ))
    })?;
    config.check()?;
    Ok(Asked::Core(Box::new(config), any))
}

/// Another method with the settings that were given.
fn other(args: &FitArgs, mut given: Table, name: &str, method: &Method) -> Result<Asked, Failure> {
    let absent = [
        ("preset", args.preset.is_some()),
        ("checkpoint", args.checkpoint.is_some()),
        ("resume", args.resume.is_some()),
    ];
    if let Some((option, _)) = absent.iter().find(|(_, given)| *given) {
        return Err(Failure::new(format!(
            "--{option}: the method `{name}` has none; leave it out, or take one of random, f-opt, gft, gft-r"
        )));
    }
    let mut table = Table::try_from(method).map_err(|error| {
        Failure::new(format!("the settings cannot be written as TOML: {error}"))
    })?;
    // The papers of these methods take data that are scaled already; a user's are not.
    if table.contains_key("scaling") {
        table.insert("scaling".into(), Value::String("standard".into()));
    }
    given.remove("method");
    let mut number = |key: &str, default: u64| match given.remove(key) {
        None => Ok(default),
        Some(value) => value
            .as_integer()
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| Failure::new(format!("`{key}`: expected a whole number of at least 0"))),
    };
    let (seed, threads) = (number("seed", 1)?, number("threads", 0)?);
    let with = |changes: Table| -> Result<Method, String> {
        let mut table = table.clone();
        lay(&mut table, changes);
        named(table)
    };
    let method = with(given.clone()).map_err(|problem| {
        // The error does not say which of the settings is wrong: the one that is so alone.
        let alone = |(key, value)| Table::from_iter([(key, value)]);
        let wrong = given
            .into_iter()
            .find(|one| with(alone(one.clone())).is_err());
        let key = wrong.map_or(String::new(), |(key, _)| format!("`{key}`: "));
        Failure::new(format!("settings of {name}: {key}{problem}"))
    })?;
    Ok(Asked::Other {
        method,
        seed,
        threads: usize::try_from(threads).unwrap_or(usize::MAX).min(4096),
    })
}

/// Settings given one by one as KEY=VALUE.
pub fn changes(settings: &[String]) -> Result<Table, Failure> {
    let mut table = Table::new();
    for setting in settings {
        lay(&mut table, assignment(setting)?);
    }
    Ok(table)
}

/// Reads a table as a `T`; the error names the key.
fn named<T: DeserializeOwned>(table: Table) -> Result<T, String> {
    serde_path_to_error::deserialize(table).map_err(|error| {
        let message = error.inner().message();
        match error.path().to_string().as_str() {
            "." => message.to_owned(),
            key => format!("`{key}`: {message}"),
        }
    })
}

fn read(path: &Path) -> Result<Table, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!(
            "cannot read the configuration {}: {error}",
            path.display()
        ))
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        Failure::new(format!(
            "{}: expected TOML such as `width = 100`, found: {error}",
            path.display()
        ))
    })
}

/// Takes from the file what the command line left open.
fn complete(args: &mut FitArgs, options: Table) -> Result<(), Failure> {
    let Some(path) = args.config.clone() else {
        return Ok(());
    };
    let wrong = |message: String| Failure::new(format!("{}: {message}", path.display()));
    let file: Options = named(options).map_err(wrong)?;
    file.target.under(&mut args.target);
    file.inputs.under(&mut args.inputs);
    file.drop.under(&mut args.drop);
    if args.table.missing.is_none() {
        args.table.missing = match file.missing.as_deref() {
            None => None,
            Some("drop") => Some(Missing::Drop),
            Some("mean") => Some(Missing::Mean),
            Some(other) => {
                return Err(wrong(format!(
                    "`missing`: expected \"drop\" or \"mean\", found \"{other}\""
                )));
            }
        };
    }
    fn fill<T>(given: &mut Option<T>, file: Option<T>) {
        if given.is_none() {
            *given = file;
        }
    }
    fill(&mut args.data, file.data);
    fill(&mut args.output, file.output);
    fill(&mut args.weights, file.weights);
    fill(&mut args.preset, file.preset);
    fill(&mut args.checkpoint, file.checkpoint);
    fill(&mut args.resume, file.resume);
    fill(&mut args.table.delimiter, file.delimiter);
    fill(&mut args.table.array, file.array);
    args.json |= file.json;
    args.quiet |= file.quiet;
    args.table.decimal_comma |= file.decimal_comma;
    if !(args.table.header || args.table.no_header) {
        args.table.header = file.header == Some(true);
        args.table.no_header = file.header == Some(false);
    }
    Ok(())
}

fn lambda_value(text: &str) -> Result<Value, Failure> {
    if text == "auto" {
        return Ok(Value::String(text.into()));
    }
    text.parse().map(Value::Float).map_err(|_| {
        Failure::new(format!(
            "--lambda: expected `auto` or a number such as 1e-3, found `{text}`"
        ))
    })
}

/// `key=value` as TOML; a value that TOML does not know is taken as text.
fn assignment(text: &str) -> Result<Table, Failure> {
    let wrong = || {
        Failure::new(format!(
            "--set: expected KEY=VALUE such as polish.steps=50, found `{text}`"
        ))
    };
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let plain = format!("{key} = {value}").parse();
    let quoted = || format!("{key} = '{value}'").parse();
    plain.or_else(|_| quoted()).map_err(|_| wrong())
}

/// Lays `over` on `under`: tables key by key, anything else replaced.
fn lay(under: &mut Table, over: Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            // The ridge is a choice between two keys; the new choice replaces the old.
            (Some(Value::Table(under)), Value::Table(over)) if key != "ridge" => lay(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn the_file_in_the_readme_is_the_fast_preset() {
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
        let readme = std::fs::read_to_string(readme).unwrap();
        let (_, rest) = readme.split_once("```toml\n").unwrap();
        let (file, _) = rest.split_once("```").unwrap();
        let path = std::env::temp_dir().join(format!("thinfit-{}.toml", std::process::id()));
        std::fs::write(&path, file).unwrap();
        let config = format!("--config={}", path.display());
        let Some(Command::Fit(mut args)) = Cli::parse_from(["thinfit", "fit", &config]).command
        else {
            panic!("`fit` is a command");
        };
        let Ok(Asked::Core(config, given)) = resolve(&mut args) else {
            panic!("the file is for a fit of the core library");
        };
        std::fs::remove_file(&path).unwrap();
        assert_eq!(*config, Config::fast());
        assert_eq!(args.target, ["y"]);
        assert!(given);
        let keys = Table::try_from(Config::fast()).unwrap();
        let missing: Vec<_> = keys.keys().filter(|key| !file.contains(*key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
