//! A model as one Python function that imports only `math`.

use crate::formula::Formula;
use crate::name::{identifier, levels, listed, parameters, remark};
use crate::notation::{Code, capitalised, numbers, written};
use crate::script::{Dialect, Script};
use thinfit::LARGEST_NUMBER;
use thinfit_methods::Predictor;

const PYTHON: Dialect = Dialect {
    indentation: 4,
    functions: "math",
    extremes: "",
    angle: |t| format!("math.tau * math.remainder({}, 1.0)", t.plain()),
    brackets: ["(", ",", ")"],
    constant: |name, value| format!("{name} = {value}"),
    variable: |name, value| format!("{name} = {value}"),
    end: "",
    below: |count| format!("for j in range({count}):"),
    down: |count| format!("for i in range({count}, 0, -1):"),
    each: |names, list| format!("for {names} in {list}:"),
    close: None,
};

/// A module with the function `name(x1, …, xd)`, which returns a float, or a tuple of floats for several outputs; NaN where an
/// argument is NaN or infinite.
///
/// Parameters are named after the columns; they and `name` are made [`identifier`]s.
pub fn python(model: &Predictor, name: &str) -> String {
    module(&Formula::new(model), name)
}

pub(crate) fn module(formula: &Formula<'_>, name: &str) -> String {
    let parameters = &parameters(formula.inputs)[..];
    let script = Script {
        dialect: &PYTHON,
        formula,
        parameters,
    };
    let list = parameters.join(", ");
    let mut code = Code::default();
    code.line("import math\n\n");
    code.line(format!("def {}({list}):", identifier(name)));
    code.indented(4, |code| {
        push_docstring(code, formula);
        let lost = vec!["math.nan"; formula.outputs.len()];
        code.line(format!(
            "if not all(abs(v) <= {LARGEST_NUMBER:e} for v in ({list},)):"
        ));
        code.line(format!("    return {}", lost.join(", ")));
        code.line("x = [");
        for scaled in &formula.scaled {
            code.line(format!("    {},", written(scaled, &script)));
        }
        code.line("]");
        for derived in &formula.derived {
            let value = script.push_named(code, derived);
            code.line(format!("x.append({value})"));
        }
        script.push_axes(code);
        code.line(format!(
            "# {}, then its weights in the outputs.",
            formula.table.rows.of()
        ));
        code.line("table = (");
        script.push_table(code);
        code.line(")");
        code.line(format!("y = [{}]", numbers(&formula.constants)));
        script.push_loop(code, "for p, a in table:".into(), |code| {
            let values = script.push_functions(code);
            for (k, value) in values.iter().enumerate() {
                code.line(format!("phi_{k} = {value}"));
            }
            let names: Vec<String> = (0..values.len()).map(|k| format!("phi_{k}")).collect();
            script.push_weighted(code, &names);
        });
        let results = formula.results.iter();
        let results: Vec<String> = results.map(|e| script.push_named(code, e)).collect();
        code.line(format!("return {}", results.join(", ")));
    });
    code.text
}

fn push_docstring(code: &mut Code, formula: &Formula<'_>) {
    let (outputs, inputs) = (listed(formula.outputs), listed(formula.inputs));
    code.line(format!("\"\"\"{outputs} of {inputs}.\n"));
    code.line(format!(
        "{}, fitted to {} samples by thinfit {}.{}",
        capitalised(&formula.what),
        formula.record.samples,
        remark(&formula.record.version),
        levels(formula.inputs, "\n    "),
    ));
    code.line("\"\"\"");
}
