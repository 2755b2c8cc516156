//! Settings of a fit: the command line overrides the configuration file, which overrides the defaults of the method.
//!
//! A configuration file holds settings of the method next to options of the program; both mean the same as on the
//! command line. [`Request`] parses the settings, here and for every other front end.
//!
//! The default method is `auto`. An option or setting that only networks have selects `gft-r`, unless `method` names
//! another.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thinfit_methods::{Auto, LongState, Method, Placement, Request};

use crate::args::{FitArgs, Missing};
use crate::failure::Failure;

/// Maximum size of a configuration file in bytes; all settings together take a few thousand.
const LARGEST: u64 = 1_000_000;

/// The options in a configuration file that are not settings of the method.
#[derive(Default, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    data: Option<PathBuf>,
    target: Columns,
    output: Option<PathBuf>,
    inputs: Columns,
    drop: Columns,
    weights: Option<String>,
    groups: Option<String>,
    missing: Option<String>,
    budget: Option<f64>,
    thin: bool,
    preset: Option<String>,
    device: Option<String>,
    checkpoint: Option<PathBuf>,
    resume: Option<PathBuf>,
    json: bool,
    quiet: bool,
    delimiter: Option<String>,
    header: Option<bool>,
    decimal_comma: bool,
    array: Option<String>,
    sheet: Option<String>,
    skip_rows: Option<u64>,
}

/// One column or several.
#[derive(Deserialize, Serialize)]
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
    /// Fills in options not given on the command line.
    fn under(self, given: &mut Vec<String>) {
        if given.is_empty() {
            *given = match self {
                Columns::One(name) => vec![name],
                Columns::Several(names) => names,
            };
        }
    }
}

/// The requested fit.
pub struct Asked {
    /// The method, its settings, the seed and the threads.
    pub request: Request,
    /// Whether any of its settings were given.
    pub given: bool,
    /// Where it is trained.
    pub placement: Placement,
}

/// Completes `args` from its configuration file and returns the requested fit.
///
/// `is_long`: whether the table is a long one, for which `auto` saves its state as well.
pub fn resolve(args: &mut FitArgs, is_long: impl Fn(&FitArgs) -> bool) -> Result<Asked, Failure> {
    let mut file = match &args.config {
        Some(path) => read(path)?,
        None => Map::new(),
    };
    let mut options = Map::new();
    if let Ok(Value::Object(known)) = serde_json::to_value(Options::default()) {
        for key in known.keys() {
            options.extend(file.remove_entry(key));
        }
    }
    complete(args, options)?;
    let mut typed = Map::new();
    for (key, value) in [("method", &args.method), ("activation", &args.activation)] {
        typed.extend(value.clone().map(|value| (key.into(), value.into())));
    }
    let numbers = [
        ("width", args.width.map(|v| v as u64)),
        ("seed", args.seed),
        ("threads", args.threads.map(|v| v as u64)),
    ];
    for (key, value) in numbers {
        typed.extend(value.map(|value| (key.into(), value.into())));
    }
    if let Some(lambda) = &args.lambda {
        typed.insert("lambda".into(), lambda_value(lambda)?);
    }
    let mut layers = vec![file, typed];
    layers.extend(changes(&args.set)?);
    let given = |layer: &Map<String, Value>| layer.keys().any(|key| key != "threads");
    let own = args.preset.is_some() || args.budget.is_some() || args.thin;
    let given = own || layers.iter().any(given);
    // Needed only if a state is asked for.
    let asked = args.checkpoint.is_some() || args.resume.is_some();
    let is_long = asked && is_long(args);
    let name = method(args, &layers, is_long)?;
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
    let request = Request::new(args.preset.as_deref(), layers).map_err(|error| match error {
        error @ thinfit::Error::Setting { .. } => {
            let page = match Method::THIN.contains(&name.as_str()) {
                true => "; docs/configuration.md lists the settings",
                false => "",
            };
            Failure::new(format!("settings of {name}: {error}{page}"))
        }
        error => error.into(),
    })?;
    Ok(Asked {
        request,
        given,
        placement: placement.unwrap_or_default(),
    })
}

/// The name of the method: the last one given, or what the other options and settings mean.
fn method(args: &FitArgs, layers: &[Map<String, Value>], is_long: bool) -> Result<String, Failure> {
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
    let resumed = args.resume.as_deref().map(LongState::is_in).transpose()?;
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

/// Settings given one by one as KEY=VALUE, a layer each.
pub fn changes(settings: &[String]) -> Result<Vec<Map<String, Value>>, Failure> {
    settings.iter().map(|text| assignment(text)).collect()
}

/// Reads options; the error names the key.
fn named<T: DeserializeOwned>(options: Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(options)).map_err(|error| {
        match error.path().to_string().as_str() {
            "." => error.inner().to_string(),
            key => format!("`{key}`: {}", error.inner()),
        }
    })
}

fn read(path: &Path) -> Result<Map<String, Value>, Failure> {
    let table = read_toml(path, "the configuration", "width = 100")?;
    settings(table).map_err(|problem| Failure::new(format!("{}: {problem}", path.display())))
}

/// The TOML in a file, which errors call `what`; `example` is a line of such a file.
pub fn read_toml(path: &Path, what: &str, example: &str) -> Result<toml::Table, Failure> {
    let bytes = thinfit::file::read_within(path, LARGEST).map_err(|error| match error {
        thinfit::Error::Io { source, .. } => {
            Failure::new(format!("cannot read {what} {}: {source}", path.display()))
        }
        error => error.into(),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(format!(
            "cannot read {what} {}: it is not UTF-8 text",
            path.display()
        ))
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        // It shows the line, which may be as long as the file.
        let mut found = error.to_string();
        if found.len() > 1000 {
            let before = text.get(..error.span().map_or(0, |span| span.start));
            let line = before.map_or(0, |text| text.matches('\n').count()) + 1;
            found = format!("in line {line}, {}", error.message());
        }
        let hint = match error
            .span()
            .and_then(|span| name_with_blanks(&text, span.start))
        {
            Some(name) => format!("\nquote names that contain blanks: \"{name}\" = …"),
            None => String::new(),
        };
        Failure::new(format!(
            "{}: expected TOML such as `{example}`, found: {}{hint}",
            path.display(),
            found.trim_end()
        ))
    })
}

/// The name in the line of this place of a TOML text, if it has blanks in it and no quotes around it.
fn name_with_blanks(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next()?;
    let name = line.split_once('=')?.0.trim();
    let bare = |c: char| c.is_alphanumeric() || c == ' ' || c == '_' || c == '-';
    (name.contains(' ') && name.chars().all(bare)).then_some(name)
}

/// A TOML table as settings; JSON has only finite numbers, and no setting needs others.
fn settings(table: toml::Table) -> Result<Map<String, Value>, String> {
    fn infinite(value: &toml::Value) -> Option<f64> {
        match value {
            toml::Value::Float(number) => Some(*number).filter(|number| !number.is_finite()),
            toml::Value::Array(values) => values.iter().find_map(infinite),
            toml::Value::Table(table) => table.values().find_map(infinite),
            _ => None,
        }
    }
    let found = table
        .iter()
        .find_map(|(key, value)| Some((key, infinite(value)?)));
    if let Some((key, number)) = found {
        return Err(format!("`{key}`: expected a finite number, found {number}"));
    }
    match serde_json::to_value(table) {
        Ok(Value::Object(settings)) => Ok(settings),
        Ok(_) => Ok(Map::new()),
        Err(error) => Err(error.to_string()),
    }
}

/// Takes options from the file that are not given on the command line.
fn complete(args: &mut FitArgs, options: Map<String, Value>) -> Result<(), Failure> {
    let Some(path) = args.config.clone() else {
        return Ok(());
    };
    let wrong = |message: String| Failure::new(format!("{}: {message}", path.display()));
    let file: Options = named(options).map_err(wrong)?;
    file.target.under(&mut args.columns.target);
    file.inputs.under(&mut args.columns.inputs);
    file.drop.under(&mut args.columns.drop);
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
    fill(&mut args.groups, file.groups);
    fill(&mut args.budget, file.budget);
    fill(&mut args.preset, file.preset);
    fill(&mut args.device, file.device);
    fill(&mut args.checkpoint, file.checkpoint);
    fill(&mut args.resume, file.resume);
    fill(&mut args.table.delimiter, file.delimiter);
    fill(&mut args.table.array, file.array);
    fill(&mut args.table.sheet, file.sheet);
    fill(&mut args.table.skip_rows, file.skip_rows);
    args.thin |= file.thin;
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
        return Ok(text.into());
    }
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(Value::from).ok_or_else(|| {
        Failure::new(format!(
            "--lambda: expected `auto` or a number such as 1e-3, found `{text}`"
        ))
    })
}

/// `key=value` as TOML; a value that is not TOML is taken as text.
fn assignment(text: &str) -> Result<Map<String, Value>, Failure> {
    let wrong = || {
        Failure::new(format!(
            "--set: expected KEY=VALUE such as polish.steps=50, found `{text}`"
        ))
    };
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    let plain = format!("{key} = {value}").parse();
    let quoted = || format!("{key} = '{value}'").parse();
    let table = plain.or_else(|_| quoted()).map_err(|_| wrong())?;
    settings(table).map_err(|problem| Failure::new(format!("--set: {problem}")))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use thinfit::Config;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn numbers_that_are_not_finite_are_refused_by_name() {
        for text in ["gamma=nan", "polish.kappa=inf", "thresholds=[0.1, -inf]"] {
            let error = changes(&[text.to_owned()]).unwrap_err().to_string();
            let key = text.split(['=', '.']).next().unwrap();
            assert!(error.contains(key) && error.contains("finite"), "{error}");
        }
        assert!(lambda_value("nan").is_err() && lambda_value("1e-3").is_ok());
    }

    /// The method that a command line selects, or the error.
    fn asked(words: &[&str]) -> Result<Value, String> {
        let words = [&["thinfit", "fit", "a.csv"], words].concat();
        let Some(Command::Fit(mut args)) = Cli::parse_from(words).command else {
            panic!("`fit` is a command");
        };
        let asked = resolve(&mut args, |_| false).map_err(|error| error.to_string())?;
        Ok(asked.request.settings())
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
        let config = format!("--config={}", path.display());
        let Some(Command::Fit(mut args)) = Cli::parse_from(["thinfit", "fit", &config]).command
        else {
            panic!("`fit` is a command");
        };
        let asked = resolve(&mut args, |_| false);
        std::fs::remove_file(&path).unwrap();
        let Ok(Asked { request, given, .. }) = asked else {
            panic!("the file is the configuration of a fit");
        };
        assert_eq!(request.config().unwrap(), Config::fast());
        assert_eq!(args.columns.target, ["y"]);
        assert!(given);
        let keys = serde_json::to_value(Config::fast()).unwrap();
        let keys = keys.as_object().unwrap().keys();
        let missing: Vec<_> = keys.filter(|key| !file.contains(*key)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
