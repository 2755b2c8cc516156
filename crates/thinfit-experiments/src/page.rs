//! The report as a self-contained HTML page: a matrix for each table, methods as rows and columns as in the paper.

use std::fmt::Write;

use crate::notes::{INTRODUCTION, heading, notes, title};
use crate::report::{figure, lambda, ratio, remarks, taken};
use crate::{COMMIT, Column, Comparison, Exhibit, Figure1, Report};

/// The page, with the picture of Figure 1 if there is one.
pub fn page(report: &Report, figure1: Option<&Figure1>) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>thinfit: our numbers and the published ones</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>Our numbers and the published ones</h1>\n<p>{}</p>\n\
         <p>Settings: {}.</p>\n\
         <p>Page written by commit {}. Cells with a number of ours:</p>\n",
        escape(INTRODUCTION),
        escape(&report.settings),
        escape(COMMIT),
    );
    let counts = report.counts().into_iter();
    list(
        &mut out,
        counts.map(|(name, count)| format!("{name}: {count}")),
    );
    out.push_str(LEGEND);
    out.push_str("<nav>");
    for exhibit in &report.exhibits {
        let title = title(*exhibit);
        let (name, _) = title.split_once(':').unwrap_or((title, ""));
        // Writing to a string cannot fail.
        let _ = write!(out, "<a href=\"#{exhibit}\">{name}</a> ");
    }
    out.push_str("</nav>\n");
    for &exhibit in &report.exhibits {
        section(&mut out, report, exhibit, figure1);
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// An exhibit: its notes, its picture, its numbers.
fn section(out: &mut String, report: &Report, exhibit: Exhibit, figure1: Option<&Figure1>) {
    let title = escape(title(exhibit));
    let _ = writeln!(out, "<section id=\"{exhibit}\">\n<h2>{title}</h2>");
    list(out, notes(exhibit).iter());
    if let (Exhibit::Figure1, Some(figure)) = (exhibit, figure1) {
        let _ = writeln!(out, "<figure>{}</figure>", figure.canvas().to_svg());
        shares(out, figure);
    }
    matrix(out, report, exhibit);
    out.push_str("</section>\n");
}

fn list(out: &mut String, items: impl Iterator<Item = impl AsRef<str>>) {
    out.push_str("<ul>\n");
    for item in items {
        let _ = writeln!(out, "<li>{}</li>", escape(item.as_ref()));
    }
    out.push_str("</ul>\n");
}

/// Our numbers: methods down, columns across.
fn matrix(out: &mut String, report: &Report, exhibit: Exhibit) {
    let columns: Vec<Column> = exhibit.columns().collect();
    out.push_str("<div class=\"scroll\"><table>\n<thead><tr><th>method</th>");
    for &column in &columns {
        let text = heading(column);
        let (name, formula) = text.split_once(": ").unwrap_or((&text, ""));
        let _ = write!(
            out,
            "<th>{}<small>{}</small></th>",
            escape(name),
            escape(formula)
        );
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (row, activation) in exhibit.lines() {
        let activation_name = activation.map_or("", |activation| activation.name());
        let _ = write!(
            out,
            "<tr><th>{}<small>{activation_name}</small></th>",
            escape(row.label())
        );
        for &column in &columns {
            let comparison = report.of(exhibit).find(|comparison| {
                let cell = &comparison.cell;
                (cell.row, cell.activation, cell.column) == (row, activation, column)
            });
            match comparison {
                Some(comparison) => write_cell(out, report, comparison),
                None => out.push_str("<td class=\"none\"></td>"),
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn write_cell(out: &mut String, report: &Report, comparison: &Comparison) {
    let ours = comparison.ours.as_ref();
    let mut class = vec![match comparison.ratio() {
        _ if ours.is_none() => "missing",
        None if ours.is_some_and(|ours| ours.mse.is_none()) => "worse",
        _ if !comparison.comparable() => "alike",
        Some(ratio) if ratio > 3.0 => "worse",
        Some(ratio) if ratio < 1.0 / 3.0 => "better",
        _ => "alike",
    }];
    if comparison.best {
        class.push("best");
    }
    let _ = write!(out, "<td class=\"{}\">", class.join(" "));
    match ours {
        None => out.push_str("<b>missing</b>"),
        Some(ours) => {
            let mse = ours.mse.map_or("failed".into(), figure);
            let _ = write!(out, "<b>{mse}</b>");
        }
    }
    if let Some(published) = comparison.published {
        let mark = if published.highlighted {
            " class=\"bold\""
        } else {
            ""
        };
        let ratio = comparison
            .ratio()
            .map_or(String::new(), |r| format!(" · ×{}", ratio(r)));
        let _ = write!(
            out,
            "<small>paper <span{mark}>{}</span>{ratio}</small>",
            figure(published.mse)
        );
    }
    let mut facts = Vec::new();
    let lambda = lambda(comparison);
    if !lambda.is_empty() {
        facts.push(format!("λ {lambda}"));
    }
    if let Some(ours) = ours {
        if let Some(spread) = ours.spread {
            facts.push(format!("± {}", figure(spread)));
        }
        facts.push(format!("seeds {}", report.seeds(ours)));
        facts.push(taken(ours));
    }
    let _ = write!(out, "<small>{}</small>", escape(&facts.join(" · ")));
    for remark in remarks(comparison) {
        let _ = write!(out, "<small class=\"remark\">{}</small>", escape(&remark));
    }
    out.push_str("</td>");
}

fn shares(out: &mut String, figure: &Figure1) {
    out.push_str("<table class=\"shares\">\n<thead><tr><th>|b| within 0.1 of the lines</th>");
    for column in Exhibit::Figure1.columns() {
        let _ = write!(out, "<th>{}</th>", column.problem());
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in Figure1::ROWS {
        let _ = write!(out, "<tr><th>{}</th>", escape(row.label()));
        for column in Exhibit::Figure1.columns() {
            let share = figure.share(row, column);
            let text = share.map_or("missing".into(), |(share, seeds)| {
                format!("{:.1} %<small>seeds {seeds}</small>", 100.0 * share)
            });
            let class = if share.is_some() {
                ""
            } else {
                " class=\"missing\""
            };
            let _ = write!(out, "<td{class}>{text}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"best\">best of the column</span> \
    <span class=\"better\">below a third of the paper's</span> <span class=\"worse\">above three times the paper's, or failed</span> \
    <span class=\"missing\">missing</span></p>\n";

const STYLE: &str = "
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5c6670; --line: #d9dee3; --paper: #fff; --best: #d8efdc;
  --worse: #fbe3cf; --better: #dbe9fb; --head: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4ae; --line: #363d45; --paper: #15191d;
  --best: #1f4a2b; --worse: #55371b; --better: #1d3a5c; --head: #1e242a; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 110rem; padding: 0 1.5rem; }
h1, h2 { line-height: 1.2; } p, ul { max-width: 60rem; } nav a { margin-right: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
thead th { background: var(--head); } tbody th { background: var(--head); font-weight: 600; white-space: nowrap; }
.scroll tbody th { position: sticky; left: 0; }
td b { font-weight: 500; } .best b, span.best { font-weight: 700; background: var(--best); padding: 0 .3rem; }
small { display: block; color: var(--soft); font-weight: 400; white-space: nowrap; } th small { white-space: normal; }
.bold { font-weight: 700; } .remark { white-space: normal; max-width: 16rem; margin-top: .2rem; }
.better { background: var(--better); } .worse { background: var(--worse); }
.missing, .missing b { color: var(--soft); font-weight: 400; } .none { background: var(--head); }
.legend span { padding: .15rem .5rem; border: 1px solid var(--line); margin-right: .4rem; }
figure { margin: 1rem 0; background: #fff; display: inline-block; padding: .5rem; }
figure svg { max-width: 100%; height: auto; }
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::tests::plan;
    use crate::{Ledger, Settings};

    #[test]
    fn the_page_of_an_empty_ledger_is_valid_and_every_cell_is_missing() {
        let folder = std::env::temp_dir().join(format!("thinfit-page-{}", std::process::id()));
        let ledger = Ledger::open(&folder).unwrap();
        let report = Report::new(
            &Exhibit::ALL,
            &plan(vec![], &[]),
            &Settings::paper(),
            &ledger,
        );
        std::fs::remove_dir_all(&folder).unwrap();
        let figure = Figure1::read(&report, &folder);
        let page = page(&report, Some(&figure));
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        };
        let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
        let missing = document
            .descendants()
            .filter(|node| node.text() == Some("missing"));
        let bold = missing.filter(|node| node.has_tag_name("b")).count();
        assert_eq!(bold, report.comparisons.len());
        assert!(bold > 300, "{bold} are not all published cells and ours");
        for address in ["http://", "https://", "src=", "@import", "url("] {
            // The name space of a picture looks like an address, but nothing is fetched from it.
            let fetched = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!fetched.contains(address), "{address}");
        }
    }
}
