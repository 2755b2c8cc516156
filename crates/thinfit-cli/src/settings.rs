//! Settings of a fit: the command line overrides the configuration file, which overrides the defaults of the method.
//!
//! A configuration file holds settings of the method next to options of the program; both mean the same as on the
//! command line. [`Request`](thinfit_methods::Request) parses the settings, here and for every other front end.
//!
//! The default method is `auto`. An option or setting that only networks have selects `gft-r`, unless `method` names
//! another.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::args::{FitArgs, Layer};
use crate::failure::Failure;

/// Maximum size of a configuration file in bytes; all settings together take a few thousand.
const LARGEST: u64 = 1_000_000;

/// The options that were typed over those of the configuration file, if there is one, and what else stands in the file: settings of the
/// method.
pub fn with_file(typed: FitArgs) -> Result<(FitArgs, Map<String, Value>), Failure> {
    let Some(path) = &typed.config else {
        return Ok((typed, Map::new()));
    };
    let mut file = read(path)?;
    let options = fit_options(&mut file)
        .map_err(|problem| Failure::new(format!("{}: {problem}", path.display())))?;
    Ok((typed.over(options), file))
}

/// Takes the options of `thinfit fit` out of a configuration file.
fn fit_options(file: &mut Map<String, Value>) -> Result<FitArgs, String> {
    Ok(FitArgs {
        columns: options_in(file)?,
        table: options_in(file)?,
        ..options_in(file)?
    })
}

/// Takes the options of this kind out of a configuration file.
fn options_in<T: Default + Serialize + DeserializeOwned>(
    file: &mut Map<String, Value>,
) -> Result<T, String> {
    let mut options = Map::new();
    if let Ok(Value::Object(known)) = serde_json::to_value(T::default()) {
        for key in known.keys() {
            options.extend(file.remove_entry(key));
        }
    }
    named(options)
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
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_refused_by_name() {
        for text in ["gamma=nan", "polish.kappa=inf", "thresholds=[0.1, -inf]"] {
            let error = changes(&[text.to_owned()]).unwrap_err().to_string();
            let key = text.split(['=', '.']).next().unwrap();
            assert!(error.contains(key) && error.contains("finite"), "{error}");
        }
    }
}
