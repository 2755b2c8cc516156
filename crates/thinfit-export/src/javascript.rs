//! A model as one JavaScript function, for pages and for Node.

use crate::formula::{Formula, Rows};
use crate::name::{javascript_identifier, javascript_parameters, levels, listed, remark};
use crate::notation::{Code, capitalised, numbers, written};
use crate::script::{Dialect, Script};
use thinfit::LARGEST_NUMBER;
use thinfit_methods::Predictor;

const JAVASCRIPT: Dialect = Dialect {
    indentation: 2,
    functions: "Math",
    extremes: "Math.",
    angle: |t| format!("2 * Math.PI * ({} - Math.round({}))", t.plain(), t.plain()),
    brackets: ["[", "", "]"],
    constant: |name, value| format!("const {name} = {value};"),
    variable: |name, value| format!("let {name} = {value};"),
    end: ";",
    below: |count| format!("for (let j = 0; j < {count}; j++) {{"),
    down: |count| format!("for (let i = {count}; i > 0; i--) {{"),
    each: |names, list| format!("for (const [{names}] of {list}) {{"),
    close: Some("}"),
};

/// A script and the name that it declares.
#[derive(Clone, Debug, PartialEq)]
pub struct JavaScript {
    /// The identifier.
    pub name: String,
    /// Declares the constant `name`; can stand between `<script>` and `</script>` as it is.
    pub script: String,
}

impl JavaScript {
    /// The same as an ES module, which exports `name`.
    pub fn module(&self) -> String {
        format!("{}\nexport {{ {} }};\n", self.script, self.name)
    }
}

/// A function `name(x1, …, xd)`, which returns a number, or an array of numbers for several outputs; NaN where an
/// argument is NaN or infinite.
///
/// Parameters are named after the columns; they and `name` are made identifiers. What the function is computed from are
/// its properties: `scaled`, which scales the inputs, and `neurons` with the function `neuron`, or `points` with `kernel`.
pub fn javascript(model: &Predictor, name: &str) -> JavaScript {
    script(&Formula::new(model), name)
}

pub(crate) fn script(formula: &Formula<'_>, name: &str) -> JavaScript {
    let name = javascript_identifier(name);
    let parameters = &javascript_parameters(formula.inputs)[..];
    let script = Script {
        dialect: &JAVASCRIPT,
        formula,
        parameters,
    };
    let (table, function) = match formula.table.rows {
        Rows::Neurons => ("neurons", "neuron"),
        Rows::Points => ("points", "kernel"),
    };
    let list = parameters.join(", ");
    let mut code = Code::default();
    push_head(&mut code, formula, &name);
    code.indented(2, |code| {
        code.line(format!(
            "// {}, then its weights in the outputs.",
            formula.table.rows.of()
        ));
        code.line(format!("const {table} = ["));
        script.push_table(code);
        code.line("];");
        script.push_axes(code);
        push_scaled(code, &script);
        push_function(code, &format!("{function} = (x, p)"), |code| {
            let values = script.push_functions(code);
            code.line(format!("return {};", bracketed(&values)));
        });
        push_function(code, "values = (x)", |code| {
            code.line(format!("const y = [{}];", numbers(&formula.constants)));
            let header = format!("for (const [p, a] of {table}) {{");
            script.push_loop(code, header, |code| {
                let names = (0..formula.functions.len()).map(|k| format!("phi_{k}"));
                let names: Vec<String> = names.collect();
                code.line(format!("const {} = {function}(x, p);", bracketed(&names)));
                script.push_weighted(code, &names);
            });
            let results = formula.results.iter();
            let results: Vec<String> = results.map(|e| script.push_named(code, e)).collect();
            code.line(format!("return {};", bracketed(&results)));
        });
        code.line(format!(
            "const usable = (...row) => row.every((v) => Math.abs(v) <= {LARGEST_NUMBER:e});"
        ));
        let lost = bracketed(&vec!["NaN".to_owned(); formula.outputs.len()]);
        code.line("return Object.assign(");
        code.line(format!(
            "  ({list}) => (usable({list}) ? values(scaled({list})) : {lost}),"
        ));
        code.line(format!("  {{ scaled, {function}, {table} }},"));
        code.line(");");
    });
    code.line("})();");
    JavaScript {
        name,
        script: code.text,
    }
}

fn push_head(code: &mut Code, formula: &Formula<'_>, name: &str) {
    // Without what a page would take for a tag or a comment, even in a script.
    let comment = |remark: String| remark.replace('<', "< ");
    let (outputs, inputs) = (listed(formula.outputs), listed(formula.inputs));
    code.line(format!("// {} of {}.", comment(outputs), comment(inputs)));
    code.line(format!(
        "// {}, fitted to {} samples by thinfit {}.{}",
        capitalised(&formula.what),
        formula.record.samples,
        comment(remark(&formula.record.version)),
        levels(formula.inputs, "\n// "),
    ));
    code.line(format!("const {name} = (() => {{"));
    code.line("  \"use strict\";");
}

fn push_function(code: &mut Code, head: &str, body: impl FnOnce(&mut Code)) {
    code.line(format!("const {head} => {{"));
    code.indented(2, body);
    code.line("};");
}

/// The function `scaled` from the parameters to all columns.
fn push_scaled(code: &mut Code, script: &Script<'_>) {
    let formula = script.formula;
    let widened = if formula.derived.is_empty() {
        ""
    } else {
        "widened"
    };
    if !formula.derived.is_empty() {
        push_function(code, "widened = (x)", |code| {
            for column in &formula.derived {
                let value = script.push_named(code, column);
                code.line(format!("x.push({value});"));
            }
            code.line("return x;");
        });
    }
    let list = script.parameters.join(", ");
    code.line(format!("const scaled = ({list}) => {widened}(["));
    for scaled in &formula.scaled {
        code.line(format!("  {},", written(scaled, script)));
    }
    code.line("]);");
}

/// A value as it is, several as an array.
fn bracketed(values: &[String]) -> String {
    match values {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
