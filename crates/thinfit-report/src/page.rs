//! The page as one file: template, style, scripts, and the content security policy.

use crate::content::Content;
use crate::digest::source;
use crate::rows::Rows;
use thinfit::{Error, Result};
use thinfit_export::javascript;
use thinfit_methods::Predictor;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
/// One script in its own scope; each file can use those before it.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("page/number.js"),
    include_str!("page/interval.js"),
    include_str!("page/picture.js"),
    include_str!("page/controls.js"),
    include_str!("page/contour.js"),
    include_str!("page/evidence.js"),
    include_str!("page/page.js"),
    "})();\n"
);
/// The name of the function in the script of the model.
const FUNCTION: &str = "model";

/// The page of a model, and of some rows with known outputs. `watch` receives the progress from 0 to 1.
///
/// # Errors
/// Rows that do not fit the model, or numbers that leave the finite range.
pub fn page(model: &Predictor, rows: Option<&Rows>, watch: &dyn Fn(f64)) -> Result<String> {
    if let Some(rows) = rows {
        check(model, rows)?;
    }
    let (style, page_script) = (packed_style(STYLE), packed(SCRIPT));
    let script = javascript(model, FUNCTION);
    let content = Content::new(model, rows, &script, watch)?;
    let content = serde_json::to_string(&content).map_err(|error| Error::Data {
        what: "report",
        problem: error.to_string(),
        advice: "fit the model again",
    })?;
    let title = format!("{} · thinfit", model.outputs().join(", "));
    let policy = format!(
        "default-src 'none'; script-src {} {}; style-src {}; base-uri 'none'; form-action 'none'",
        source(&script.script),
        source(&page_script),
        source(&style),
    );
    let pieces = [
        ("policy", policy),
        ("title", text(&title)),
        ("style", style),
        ("model", script.script),
        ("content", embedded(&content)),
        ("script", page_script),
    ];
    // The template once, from its start: what is put in is not searched.
    let template = packed(PAGE);
    let (mut page, mut rest) = (String::new(), &template[..]);
    for (name, piece) in pieces {
        let place = format!("{{{{{name}}}}}");
        let (before, after) = rest.split_once(&place).unwrap_or((rest, ""));
        page.push_str(before);
        page.push_str(&piece);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// A style in one line, without the blanks and semicolons that only people need.
fn packed_style(text: &str) -> String {
    let blanks = ["; ", ": ", ", ", " {", "{ ", " }"];
    let line = packed(text).replace('\n', "");
    let line = (blanks.iter()).fold(line, |line, blank| line.replace(blank, blank.trim()));
    line.replace(";}", "}")
}

/// A text without indentation and without the lines that are comments.
fn packed(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.fold(String::new(), |packed, line| packed + line + "\n")
}

/// Text for HTML, outside of scripts.
fn text(text: &str) -> String {
    let clean = thinfit_text::clean(text);
    let short: String = clean.chars().take(120).collect();
    short
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// JSON that can stand in a script element: nothing in it ends the element, opens another or a comment, or is a line end of
/// JavaScript alone.
fn embedded(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => text.push_str("\\u003c"),
            '>' => text.push_str("\\u003e"),
            '&' => text.push_str("\\u0026"),
            '\u{2028}' => text.push_str("\\u2028"),
            '\u{2029}' => text.push_str("\\u2029"),
            c => text.push(c),
        }
    }
    text
}

fn check(model: &Predictor, rows: &Rows) -> Result<()> {
    let (d, c, m) = (model.inputs().len(), model.outputs().len(), rows.x.nrows());
    let numbers = rows.numbers.as_ref().map_or(m, Vec::len);
    let found = (rows.x.ncols(), rows.y.ncols(), rows.y.nrows(), numbers);
    if found != (d, c, m, m) {
        return Err(Error::Shape {
            what: "rows of a report",
            expected: format!("{d} inputs and {c} outputs for each"),
            found: format!(
                "{m} rows of {} inputs and {} of {} outputs",
                found.0, found.2, found.1
            ),
        });
    }
    if m == 0 {
        return Err(Error::Data {
            what: "rows",
            problem: "there are none".into(),
            advice: "give rows, or a report without them",
        });
    }
    thinfit::check_finite("y", rows.y.as_ref())
}
