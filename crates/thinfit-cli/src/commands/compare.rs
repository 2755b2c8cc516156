//! `thinfit compare`: cross-validates several methods on one table.

use std::io::Write;

use thinfit::{Winner, on_threads};
use thinfit_methods::{CONTENDERS, Compared, Comparison, Contender, Method};

use crate::args::CompareArgs;
use crate::digits::{counted, four_digits, r2_digits, two_digits};
use crate::failure::Failure;
use crate::interrupt;
use crate::memory::Memory;
use crate::notes::tell_dropped;
use crate::output::check_distinct;
use crate::progress::Progress;
use crate::table::TableSource;
use crate::table::roles::FitColumns;
use crate::table::samples::samples;

/// Fits every method without each fold and prints the table; tells whether it was interrupted.
pub fn run(args: &CompareArgs, memory: Memory, out: &mut impl Write) -> Result<bool, Failure> {
    check_distinct(&[&args.data], &[])?;
    let columns = FitColumns {
        args: args.columns.clone(),
        weights: None,
        groups: args.groups.clone(),
    };
    let table = TableSource::find(&args.data, &[], &args.table, memory)?;
    let samples = samples(&table, &columns)?;
    let progress = Progress::new(args.quiet);
    samples.tell(&progress);
    tell_dropped(samples.dropped, &progress);
    let data = samples.data;
    let methods = match args.methods.is_empty() {
        true => CONTENDERS.map(String::from).to_vec(),
        false => args.methods.clone(),
    };
    let (m, d, c) = (data.samples(), data.dim(), data.y.ncols());
    for method in methods.iter().filter_map(|name| Method::named(name)) {
        let what = format!("{} of {m} rows and {d} inputs takes", method.name());
        let advice = "name others with --methods, or give fewer rows or columns";
        memory.allow(&what, method.memory(m, d, c), advice)?;
    }
    let comparison = Comparison {
        methods,
        folds: args.folds.into(),
        budget: args.budget,
        seed: args.seed,
    };
    interrupt::listen("and showing the methods that are done")?;
    let observe = |method: &str, done: f64| {
        progress.step(done, || method.into());
        interrupt::control()
    };
    let compared = on_threads(args.threads.into(), || comparison.run(&data, &observe))?;
    progress.finish();
    if args.json {
        serde_json::to_writer(&mut *out, &compared)?;
        writeln!(out)?;
    } else {
        let groups = data.groups.as_ref().map(|_| data.grouped().len());
        write_table(out, &compared, (&data.outputs, groups))?;
    }
    Ok(compared.stopped)
}

/// The methods, best first, one table for each output.
fn write_table(
    out: &mut impl Write,
    compared: &Compared,
    (outputs, groups): (&[String], Option<usize>),
) -> Result<(), Failure> {
    let names = compared.methods.iter().map(|one| one.method.len());
    let widest = names.max().unwrap_or(0).max(8) + 2;
    let groups = groups.map_or_else(String::new, |count| {
        format!(" that keep {} together", counted(count, "group"))
    });
    for (o, output) in outputs.iter().enumerate() {
        writeln!(
            out,
            "{output}: cross-validation on {} in {} folds{groups}\n",
            counted(compared.rows, "row"),
            compared.folds
        )?;
        writeln!(
            out,
            "  {:<widest$}{:>11}   {:<9}{:>12}{:>10}{:>12}{:>10}{:>12}",
            "method", "rmse", "±", "r²", "in 90 %", "width", "seconds", "parameters"
        )?;
        for one in &compared.methods {
            let mark = if one.is_behind() { " " } else { "=" };
            let intervals = one.coverage.as_ref().zip(one.width.as_ref());
            let (inside, width) = match intervals {
                Some((inside, width)) => {
                    (format!("{:.1} %", 100.0 * inside[o]), four_digits(width[o]))
                }
                None => ("-".into(), "-".into()),
            };
            writeln!(
                out,
                "{mark} {:<widest$}{:>11}   {:<9}{:>12}{inside:>10}{width:>12}{:>10.2}{:>12}",
                one.method,
                four_digits(one.rmse[o]),
                two_digits(one.standard_error[o]),
                r2_digits(one.r2[o]),
                one.seconds,
                one.parameters
            )?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "= tied with the best: the paired difference is below two standard errors"
    )?;
    for one in &compared.methods {
        write_polish(out, one, outputs)?;
    }
    for (method, why) in &compared.failed {
        writeln!(out, "{method} cannot be fitted: {why}")?;
    }
    if compared.stopped {
        writeln!(out, "interrupted: the missing methods were not run")?;
    }
    Ok(())
}

/// What the polish chose, and how good the method is without it; nothing for methods that have none.
fn write_polish(out: &mut impl Write, one: &Contender, outputs: &[String]) -> Result<(), Failure> {
    if one.winners.is_empty() {
        return Ok(());
    }
    let words = [
        (Winner::PolishedRandom, "polished random features"),
        (Winner::Polished, "its own features, polished"),
        (Winner::Trained, "its own features"),
    ];
    let words = words.map(|(winner, words)| {
        let count = one.winners.iter().filter(|&&other| other == winner).count();
        (count, words)
    });
    let words: Vec<String> = (words.iter().filter(|(count, _)| *count > 0))
        .map(|(count, words)| format!("{words} in {count}"))
        .collect();
    let errors = one.validation_rmse.iter().zip(&one.trained_rmse);
    let errors = errors.zip(outputs).map(|((after, before), output)| {
        let output = match outputs.len() {
            1 => String::new(),
            _ => format!("{output}: "),
        };
        format!(
            "{output}{} and {}",
            four_digits(*after),
            four_digits(*before)
        )
    });
    let errors: Vec<String> = errors.collect();
    Ok(writeln!(
        out,
        "{}: selected {} of {} folds; rmse on its own validation rows, with and without the polish: {}",
        one.method,
        words.join(", "),
        one.winners.len(),
        errors.join("; ")
    )?)
}
