//! Summary of the results: methods compared pairwise, reported errors, coverage and times.
//!
//! An error is `nmse`, the mean squared error against f over the variance of f. The error of a case is the geometric
//! mean over its seeds; parts are the groups at each level of noise.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::sheet::Line;

/// Below this share of the variance an error is rounding.
const ROUNDING: f64 = 1e-24;
/// How many of the worst ratios are printed.
const WORST: usize = 10;
/// The ratio up to which a method is level with another.
const LEVEL: f64 = 1.2;

/// Lines by some of their columns.
type Groups<'a> = BTreeMap<Vec<&'a str>, Vec<&'a Line>>;

fn by<'a>(lines: &'a [Line], columns: &[&str]) -> Groups<'a> {
    let mut groups = Groups::new();
    for line in lines {
        let key = columns.iter().map(|column| line.text(column)).collect();
        groups.entry(key).or_default().push(line);
    }
    groups
}

/// The whole summary of the lines, with `base` against every other method.
pub fn summary(lines: &[Line], base: &str) -> String {
    let methods: BTreeSet<&str> = lines.iter().map(|line| line.text("method")).collect();
    let controls: Vec<&str> = methods.iter().copied().filter(|m| *m != base).collect();
    let mut out = String::new();
    if methods.contains(base) {
        for control in &controls {
            against(&mut out, lines, base, &[control]);
        }
        if controls.len() > 1 {
            against(&mut out, lines, base, &controls);
        }
    } else {
        let _ = writeln!(out, "no fit of `{base}`: choose another with --base\n");
    }
    failures(&mut out, lines);
    reports(&mut out, lines);
    coverage(&mut out, lines);
    seconds(&mut out, lines);
    out
}

/// `base` against the best of some controls in each case.
fn against(out: &mut String, lines: &[Line], base: &str, controls: &[&str]) {
    let name = match controls {
        [one] => (*one).to_owned(),
        more => format!("the best of {}", more.join(", ")),
    };
    // Ratio, our error, theirs, and the case; the best control is the one that the ratio is largest to.
    let mut ratios: Vec<(f64, f64, f64, Vec<&str>)> = Vec::new();
    for (case, lines) in by(lines, &["group", "noise", "problem", "m"]) {
        let errors = |method: &str| -> BTreeMap<&str, f64> {
            let own = lines.iter().filter(|line| line.text("method") == method);
            own.filter_map(|line| Some((line.text("seed"), line.number("nmse")?)))
                .collect()
        };
        let ours = errors(base);
        let geometric = |values: Vec<f64>| -> Option<f64> {
            let logs = values.iter().map(|v| v.max(ROUNDING).ln()).sum::<f64>();
            (!values.is_empty()).then(|| (logs / values.len() as f64).exp())
        };
        let pairs = controls.iter().filter_map(|control| {
            let theirs = errors(control);
            let common: Vec<&str> = ours
                .keys()
                .copied()
                .filter(|s| theirs.contains_key(s))
                .collect();
            let of = |errors: &BTreeMap<&str, f64>| {
                geometric(common.iter().map(|s| errors[s]).collect())
            };
            Some((of(&ours)?, of(&theirs)?))
        });
        if let Some((ours, theirs)) = pairs.max_by(|a, b| (a.0 / a.1).total_cmp(&(b.0 / b.1))) {
            ratios.push((ours / theirs, ours, theirs, case));
        }
    }
    let _ = writeln!(out, "{base} against {name}: ratio of errors");
    let _ = writeln!(
        out,
        "  {:<20} {:>6} {:>9} {:>6} {:>7} {:>10}",
        "part", "cases", "geo mean", "wins", "losses", "above 1.2"
    );
    let parts: BTreeSet<[&str; 2]> = ratios.iter().map(|r| [r.3[0], r.3[1]]).collect();
    let all: Vec<f64> = ratios.iter().map(|r| r.0).collect();
    let part = |[group, noise]: &[&str; 2]| {
        let of = ratios.iter().filter(|r| r.3[..2] == [*group, *noise]);
        (format!("{group} {noise}"), of.map(|r| r.0).collect())
    };
    let parts = parts.iter().map(part).chain([("all".to_owned(), all)]);
    for (part, ratios) in parts {
        let mean = ratios.iter().map(|r: &f64| r.ln()).sum::<f64>() / ratios.len().max(1) as f64;
        let count = |wanted: &dyn Fn(f64) -> bool| ratios.iter().filter(|r| wanted(**r)).count();
        let _ = writeln!(
            out,
            "  {part:<20} {:>6} {:>9} {:>6} {:>7} {:>10}",
            ratios.len(),
            short(mean.exp()),
            count(&|r| r < 1.0),
            count(&|r| r > 1.0),
            count(&|r| r > LEVEL),
        );
    }
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (ratio, ours, theirs, case) in ratios.iter().take(WORST).filter(|r| r.0 > LEVEL) {
        let [group, noise, problem, m] = case[..] else {
            unreachable!("a case has four parts")
        };
        let _ = writeln!(
            out,
            "  {:>9}  {ours:.2e} against {theirs:.2e}  {group} {problem}, m {m}, noise {noise}",
            short(*ratio)
        );
    }
    out.push('\n');
}

/// A ratio in few characters, whatever its size.
fn short(ratio: f64) -> String {
    match ratio {
        0.01..1e4 => format!("{ratio:.3}"),
        _ => format!("{ratio:.1e}"),
    }
}

fn failures(out: &mut String, lines: &[Line]) {
    let failed: Vec<&Line> = lines
        .iter()
        .filter(|line| !line.text("failure").is_empty())
        .collect();
    for line in failed {
        let _ = writeln!(out, "failed: {}: {}", line.key(), line.text("failure"));
    }
}

/// Reported over true error, both in shares of the variance of f.
fn reports(out: &mut String, lines: &[Line]) {
    let _ = writeln!(
        out,
        "\nreported over true error (fresh rows with their noise)\n  {:<52} {:>6} {:>14} {:>9}",
        "method and part", "fits", "ratio of means", "geo mean"
    );
    for (part, lines) in by(lines, &["method", "group", "noise"]) {
        let pair = |line: &&Line| {
            let variance = line.number("deviation")?.powi(2);
            let pair = (line.number("reported")?, line.number("true_mse")?);
            Some((pair.0 / variance, pair.1 / variance))
        };
        let pairs: Vec<(f64, f64)> = lines.iter().filter_map(pair).collect();
        if pairs.is_empty() {
            continue;
        }
        let mean = |pick: &dyn Fn(&(f64, f64)) -> f64| {
            pairs.iter().map(pick).sum::<f64>() / pairs.len() as f64
        };
        let log = mean(&|p| p.0.max(ROUNDING).ln() - p.1.max(ROUNDING).ln());
        let _ = writeln!(
            out,
            "  {:<52} {:>6} {:>14.3} {:>9.3}",
            part.join(" "),
            pairs.len(),
            mean(&|p| p.0) / mean(&|p| p.1),
            log.exp()
        );
    }
}

fn coverage(out: &mut String, lines: &[Line]) {
    let _ = writeln!(
        out,
        "\ncoverage (share of fresh rows inside; mean width in deviations of f where finite)\n  {:<52} {:>6} {:>6} {:>7} {:>9} {:>9}",
        "method, group, noise, m", "fits", "90 %", "95 %", "width 90", "infinite"
    );
    let mut parts: Vec<_> = by(lines, &["method", "group", "noise", "m"])
        .into_iter()
        .collect();
    let rows = |part: &[&str]| part[3].parse::<usize>().unwrap_or(0);
    parts.sort_by(|(a, _), (b, _)| a[..3].cmp(&b[..3]).then(rows(a).cmp(&rows(b))));
    for (part, lines) in parts {
        let column =
            |name: &str| -> Vec<f64> { lines.iter().filter_map(|l| l.number(name)).collect() };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
        let (ninety, more) = (column("cover90"), column("cover95"));
        if ninety.is_empty() {
            continue;
        }
        let width = |line: &&Line| Some(line.number("width90")? / line.number("deviation")?);
        let widths: Vec<f64> = lines.iter().filter_map(width).collect();
        let finite: Vec<f64> = widths.iter().copied().filter(|w| w.is_finite()).collect();
        let _ = writeln!(
            out,
            "  {:<52} {:>6} {:>6.3} {:>7.3} {:>9.3} {:>9}",
            part.join(" "),
            ninety.len(),
            mean(&ninety),
            mean(&more),
            mean(&finite),
            widths.len() - finite.len()
        );
    }
}

fn seconds(out: &mut String, lines: &[Line]) {
    let _ = writeln!(
        out,
        "\nseconds\n  {:<52} {:>6} {:>8} {:>8}  slowest",
        "method and group", "fits", "median", "largest"
    );
    for (part, lines) in by(lines, &["method", "group"]) {
        let time = |line: &&Line| Some((line.number("seconds")?, line.key()));
        let mut times: Vec<(f64, String)> = lines.iter().filter_map(time).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Some((most, slowest)) = times.last() else {
            continue;
        };
        let _ = writeln!(
            out,
            "  {:<52} {:>6} {:>8.2} {most:>8.2}  {slowest}",
            part.join(" "),
            times.len(),
            times[times.len() / 2].0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of method, problem, seed and errors.
    fn line(method: &str, problem: &str, seed: u64, nmse: f64) -> Line {
        Line::of(&format!(
            "clean,{problem},10,0,{seed},{method},2,{method},1,{nmse},{nmse},{},{nmse},,,,,3,,1.5,",
            2.0 * nmse
        ))
    }

    #[test]
    fn ratios_are_geometric_over_seeds_and_to_the_best_control() {
        let lines = [
            line("auto", "p", 1, 1.0),
            line("auto", "p", 2, 4.0),
            line("auto", "q", 1, 1.0),
            // Its second seed has no counterpart.
            line("auto", "q", 2, 100.0),
            line("one", "p", 1, 2.0),
            line("one", "p", 2, 8.0),
            line("one", "q", 1, 4.0),
            line("two", "p", 1, 0.5),
            line("two", "p", 2, 0.5),
        ];
        let text = summary(&lines, "auto");
        let table = |title: &str| -> Vec<Vec<&str>> {
            let rest = text.split(title).nth(1).unwrap();
            let rest = rest.lines().take_while(|line| !line.is_empty());
            rest.map(|line| line.split_whitespace().collect()).collect()
        };
        // 1/2 and 1/4, two wins
        let one = table("auto against one");
        assert_eq!(one[2], ["clean", "0", "2", "0.354", "2", "0", "0"]);
        // √(2 · 8)
        let two = table("auto against two");
        assert_eq!(two[2], ["clean", "0", "1", "4.000", "0", "1", "1"]);
        assert_eq!(two[4][..3], ["4.000", "2.00e0", "against"]);
        // 4 and 1/4
        let best = table("auto against the best of one, two");
        assert_eq!(best[2], ["clean", "0", "2", "1.000", "1", "1", "1"]);
        let reports = table("reported over true error");
        assert_eq!(reports[2], ["auto", "clean", "0", "4", "2.000", "2.000"]);
        assert!(summary(&lines[4..], "auto").contains("no fit of `auto`"));
    }
}
