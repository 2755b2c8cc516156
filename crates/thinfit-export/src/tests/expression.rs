//! Derivatives of all expressions against central differences, and outputs that are a function of their sum.

use super::*;
use crate::expression::{Expression, Function, Operator, Variable};
use crate::formula::{Formula, Reduction};

/// The value of an expression where every variable is one of these.
fn value(e: &Expression, variable: &dyn Fn(Variable) -> f64) -> f64 {
    let of = |e: &Expression| value(e, variable);
    match e {
        Expression::Number(number) => *number,
        Expression::Variable(known) => variable(*known),
        Expression::Call(function, t) => {
            let (t, turns) = (of(t), std::f64::consts::TAU * of(t));
            match function {
                Function::Negative => -t,
                Function::Exp => t.exp(),
                Function::Sqrt => t.sqrt(),
                Function::Cosine => turns.cos(),
                Function::Sine => turns.sin(),
                Function::Sigmoid => 1.0 / (1.0 + (-t).exp()),
                Function::Tanh => t.tanh(),
                Function::Positive => t.max(0.0),
                Function::Asinh => t.asinh(),
                Function::Step => f64::from(u8::from(t > 0.0)),
                Function::AsinhSlope => 1.0 / 1f64.hypot(t),
            }
        }
        Expression::Binary(operator, a, b) => {
            let (a, b) = (of(a), of(b));
            match operator {
                Operator::Add => a + b,
                Operator::Subtract => a - b,
                Operator::Multiply => a * b,
                Operator::Divide => a / b,
                Operator::Min => a.min(b),
                Operator::Max => a.max(b),
            }
        }
        Expression::Affine { .. } => of(&e.expanded()),
        Expression::Let { name, value, body } => {
            let named = of(value);
            self::value(body, &|other| match other == Variable::Named(name) {
                true => named,
                false => variable(other),
            })
        }
        Expression::Capped(value, bound) => of(value).min(*bound),
        Expression::WithSlope { value, .. } => of(value),
    }
}

fn check(e: &Expression, by: Variable) {
    let slope = e.derivative(by);
    for place in [0.07, 0.31, 0.77, 1.9] {
        let at = |moved: f64| {
            move |other: Variable| match other == by {
                true => place + moved,
                false => 0.3,
            }
        };
        let step = 1e-6;
        let expected = (value(e, &at(step)) - value(e, &at(-step))) / (2.0 * step);
        let found = value(&slope, &at(0.0));
        let (factor, rest) = slope.clone().factored();
        assert!((found - factor * value(&rest, &at(0.0))).abs() <= 1e-14 * found.abs());
        let near = 1e-7 * (1.0 + expected.abs());
        assert!(
            (found - expected).abs() < near,
            "{e:?} {by:?}: {found} {expected}"
        );
    }
}

#[test]
fn derivatives_are_those_of_the_expressions() {
    for (_, model) in models() {
        let formula = Formula::new(&model);
        for (i, reduction) in formula.reductions.iter().enumerate() {
            let functions = formula.functions.iter();
            functions.for_each(|e| check(e, Variable::Reduction(i)));
            if let Reduction::OverAxes { each, .. } = reduction {
                check(each, Variable::Difference);
            }
        }
        for j in 0..3 {
            let derived = formula.derived.iter();
            derived.for_each(|e| check(e, Variable::Column(j)));
        }
    }
    let t = || Expression::from(Variable::Difference);
    let all = [
        (1.0 + t()).call(Function::Sqrt),
        Expression::binary(Operator::Max, t(), 0.5 - t()) / (2.0 + t()),
        Expression::binary(Operator::Min, t() * t(), t()),
        t().call(Function::Asinh),
        t().call(Function::AsinhSlope),
    ];
    all.iter().for_each(|e| check(e, Variable::Difference));
}

#[test]
fn outputs_may_be_functions_of_all_sums_in_every_language() {
    let (folder, x) = (Folder::new("transform"), points(20));
    for model in [network(Activation::Tanh, 3), with_edges(3)] {
        let scale = model.output_scaler().scale[0];
        let mut formula = Formula::new(&model);
        // The first is an exponential, the others are as they were over a sum of exponentials.
        let small: Vec<Expression> = (formula.results.iter())
            .map(|e| (0.3 / scale) * e.clone())
            .collect();
        let total = small[0].clone().exp() + small[1].clone().exp();
        let s = || Expression::from(Variable::Named("s"));
        formula.results = (small.iter().enumerate())
            .map(|(o, e)| match o {
                0 => e.clone().exp(),
                _ => total.clone().named("s", e.clone() / (s() + s() * s())),
            })
            .collect();
        let transformed = |f: &[f64]| {
            let f: Vec<f64> = f.iter().map(|f| 0.3 / scale * f).collect();
            let s = f[0].exp() + f[1].exp();
            [f[0].exp(), f[1] / (s + s * s), f[2] / (s + s * s)]
        };
        let values = |x: &Mat<f64>| -> Vec<f64> {
            let f = row_major(&model.predict(x.as_ref()).unwrap());
            f.chunks_exact(3).flat_map(transformed).collect()
        };
        let expected = values(&x);
        let close = |found: &[f64]| assert!(distance(found, &expected) < 1e-10, "{found:?}");

        let graph = crate::lowering::lowered(&formula, Precision::F64).proto;
        close(&evaluated(&graph, &row_major(&x), 3).unwrap());
        assert!(crate::latex::fragment(&formula, 4).contains("\ns_{1}"));
        let rows: Vec<String> = x
            .row_iter()
            .map(|row| format!("{:?}", row.iter().collect::<Vec<_>>()))
            .collect();
        let rows = rows.join(", ");
        let read = |printed: String| -> Vec<f64> {
            let words = printed.split_whitespace();
            words.map(|word| word.parse().unwrap()).collect()
        };
        let python = crate::python::module(&formula, "f");
        let python = format!("{python}\nfor row in [{rows}]: print(*f(*row))\n");
        std::fs::write(folder.0.join("f.py"), python).unwrap();
        run("python3", &["f.py"], &folder.0)
            .map(read)
            .inspect(|found| close(found));
        let script = crate::javascript::script(&formula, "f").script;
        let script =
            format!("{script}for (const row of [{rows}]) console.log(f(...row).join(' '));\n");
        std::fs::write(folder.0.join("f.js"), script).unwrap();
        run("node", &["f.js"], &folder.0)
            .map(read)
            .inspect(|found| close(found));

        let crate::CSource { header, source, .. } = crate::c::source(&formula, "f");
        let flat = rows.replace(['[', ']'], "");
        let program = format!(
            "#include <stdio.h>\n#include \"f.h\"\nint main(void)\n{{\n    double x[] = {{{flat}}}, y[60], g[180];
    int i;\n    f(x, y, 20);\n    f_gradient(x, g, 20);
    for (i = 0; i < 240; i++)\n        printf(\"%.17g\\n\", i < 60 ? y[i] : g[i - 60]);\n    return 0;\n}}\n"
        );
        for (file, text) in [("f.h", header), ("f.c", source), ("main.c", program)] {
            std::fs::write(folder.0.join(file), text).unwrap();
        }
        let compile = [
            "-std=c99", "-Wall", "-Wextra", "-O2", "f.c", "main.c", "-o", "f", "-lm",
        ];
        if run("cc", &compile, &folder.0).is_none() {
            continue;
        }
        let found = read(run(folder.0.join("f").to_str().unwrap(), &[], &folder.0).unwrap());
        close(&found[..60]);
        for j in 0..3 {
            let step = 1e-4 * model.input_scaler().scale[j];
            let moved = |sign: f64| {
                let move_by = |i, k| x[(i, k)] + if k == j { sign * step } else { 0.0 };
                values(&Mat::from_fn(20, 3, move_by))
            };
            let (up, down) = (moved(1.0), moved(-1.0));
            for k in 0..60 {
                let slope = (up[k] - down[k]) / 2.0;
                let found = found[60 + 3 * k + j] * step;
                assert!(
                    (found - slope).abs() < 1e-6 * (slope.abs() + 1e-3),
                    "{found} {slope}"
                );
            }
        }
    }
}
