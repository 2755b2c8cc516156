//! Fault injection: file operations fail, stop short, or are the last thing that the program does. Afterwards every
//! output file is the old or the new one, complete; inputs are unchanged; errors are reported and leave no other file
//! behind; and repeating the command succeeds.
//!
//! `cargo test` tries some calls. `THINFIT_FAULTS=FOLDER cargo test -p thinfit-cli --test program faults` tries all
//! of them and 1,000 kills at random times, and writes the outcomes to tables in FOLDER, which it creates.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Instant;

use super::*;
use thinfit::file::fnv1a;

/// What is in the place of every output before the command: a fit replaces only what a fit has written.
const OLD: &str = "{\"format\":\"thinfit/0\"}\n";
/// Faults of each command in a usual run.
const SOME: usize = 24;

/// A fit of half a second or more, which saves its state on the way.
const FIT: [&str; 13] = [
    "fit",
    "train.csv",
    "--config=fit.toml",
    "--checkpoint=fit.state",
    "--output=model.json",
    "--width=20",
    "--set=generate.steps=1500",
    "--set=refine.steps=1500",
    "--set=check_every=50",
    "--set=polish.steps=3",
    "--set=generator.hidden=[32,32]",
    "--threads=1",
    "--quiet",
];

/// Two fits, the first of which is done.
const REPRODUCE: [&str; 13] = [
    "reproduce",
    "table1",
    "--columns=f1-5",
    "--methods=gft",
    "--activations=fourier",
    "--lambda=paper",
    "--set=generate.steps=60",
    "--set=generator.hidden=[8]",
    "--set=check_every=2",
    "--out=runs",
    "--jobs=1",
    "--quiet",
    "--seeds=2",
];

/// A command whose files are watched.
struct Case {
    name: &'static str,
    arguments: Vec<&'static str>,
    /// Files that it writes.
    outputs: Vec<&'static str>,
    /// The folder as it is before the command.
    before: PathBuf,
    /// The folder in which it runs.
    work: PathBuf,
    /// Outputs of an undisturbed run.
    new: Vec<Vec<u8>>,
}

/// What became of an output.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Old,
    New,
}

/// What came of a disturbed run.
struct End {
    output: Output,
    standings: Vec<Standing>,
}

impl End {
    fn killed(&self) -> bool {
        self.output.status.signal() == Some(9)
    }

    fn all_new(&self) -> bool {
        self.standings.iter().all(|s| *s == Standing::New)
    }

    /// The exit code and the outputs, in words.
    fn words(&self) -> String {
        let new = self.standings.iter().filter(|s| **s == Standing::New);
        let code = match self.output.status.code() {
            Some(code) => format!("exit {code}"),
            None => "killed".into(),
        };
        format!("{code},{} of {} new", new.count(), self.standings.len())
    }
}

impl Case {
    /// A command to be run where `prepare` has put its inputs.
    fn new(
        name: &'static str,
        arguments: &[&'static str],
        outputs: &[&'static str],
        prepare: impl Fn(&Path),
    ) -> Self {
        // Several tests have the same case at a time.
        let thread = std::thread::current().id();
        let folder = std::fs::canonicalize(folder(&format!("faults-{name}-{thread:?}"))).unwrap();
        let (before, work) = (folder.join("before"), folder.join("work"));
        std::fs::create_dir(&before).unwrap();
        prepare(&before);
        for output in outputs {
            let path = before.join(output);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if !path.exists() {
                std::fs::write(path, OLD).unwrap();
            }
        }
        let mut case = Case {
            name,
            arguments: arguments.to_vec(),
            outputs: outputs.to_vec(),
            before,
            work,
            new: Vec::new(),
        };
        case.afresh();
        succeed(&case.work, &case.arguments);
        let new = |output: &&str| std::fs::read(case.work.join(output)).unwrap();
        case.new = case.outputs.iter().map(new).collect();
        case
    }

    /// Puts the folder back to what it was.
    fn afresh(&self) {
        let _ = std::fs::remove_dir_all(&self.work);
        copy(&self.before, &self.work);
    }

    /// The command with the library of faults.
    fn disturbed(&self, library: &Path) -> Command {
        let mut command = program(&self.work, &self.arguments);
        command
            .env("LD_PRELOAD", library)
            .env("THINFIT_FAULT_FOLDER", &self.work);
        command
    }

    /// The calls of an undisturbed run: their kinds and files.
    fn calls(&self, library: &Path) -> Vec<(String, String)> {
        let log = self.work.with_file_name("log");
        self.afresh();
        let mut command = self.disturbed(library);
        let output = command.env("THINFIT_FAULT_LOG", &log).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let calls = std::fs::read_to_string(log).unwrap();
        let calls = calls.lines().map(|line| line.split_once('\t').unwrap());
        let work = format!("{}/", self.work.display());
        let short = |path: &str| path.replace(&work, "");
        calls
            .map(|(call, path)| (call.into(), short(path)))
            .collect()
    }

    /// Checks that inputs are what they were and that every output is the old or the new one.
    fn end(&self, output: Output, what: &str) -> End {
        let message = text(&output.stderr);
        assert!(!message.contains("panicked"), "{what}: {message}");
        for name in all_files(&self.before) {
            if !self.outputs.contains(&name.as_str()) {
                let same = std::fs::read(self.before.join(&name)).unwrap()
                    == std::fs::read(self.work.join(&name)).unwrap_or_default();
                assert!(same, "{what}: the input {name} was changed");
            }
        }
        let standings = self.outputs.iter().zip(&self.new).map(|(name, new)| {
            let found = std::fs::read(self.work.join(name)).unwrap_or_default();
            if found == std::fs::read(self.before.join(name)).unwrap() {
                return Standing::Old;
            }
            match self.name {
                "reproduce" => check_reproduced(&self.work, name, &found, what),
                _ => assert!(found == *new, "{what}: {name} is neither old nor new"),
            }
            Standing::New
        });
        let standings = standings.collect();
        End { output, standings }
    }

    /// Checks that the program left no other file.
    fn check_tidy(&self, what: &str) {
        let known = [all_files(&self.before), vec!["fit.state".into()]].concat();
        let left = all_files(&self.work);
        let left: Vec<&String> = left.iter().filter(|name| !known.contains(name)).collect();
        assert!(left.is_empty(), "{what} left {left:?}");
    }

    /// The command, which goes on from a saved state if there is one.
    fn again(&self) -> Vec<&'static str> {
        let state = self.work.join("fit.state").exists();
        let resumed = |argument: &&'static str| match *argument {
            "--checkpoint=fit.state" if state => "--resume=fit.state",
            argument => argument,
        };
        self.arguments.iter().map(resumed).collect()
    }

    /// Checks that the same command, undisturbed, makes all outputs the new ones.
    fn mend(&self, what: &str) {
        let output = thinfit(&self.work, &self.again());
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "again: {what}: {message}");
        let end = self.end(output, what);
        assert!(end.all_new(), "again: {what}");
    }
}

/// Checks a ledger or a report that is not the old one: finished fits are there, and reports are those of the ledger.
fn check_reproduced(work: &Path, name: &str, found: &[u8], what: &str) {
    if name.ends_with("cells.jsonl") {
        let old = std::fs::read(work.with_file_name("before").join(name)).unwrap();
        assert!(found.starts_with(&old), "{what}: {name} lost lines");
        return;
    }
    let copied = work.with_file_name("report");
    let _ = std::fs::remove_dir_all(&copied);
    copy(work, &copied);
    succeed(&copied, &[&REPRODUCE[..], &["--report"]].concat());
    let expected = std::fs::read(copied.join(name)).unwrap();
    assert!(
        found == expected,
        "{what}: {name} is not that of the ledger"
    );
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    for name in all_files(from) {
        let path = to.join(&name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::copy(from.join(&name), path).unwrap();
    }
}

/// Paths of the files in a folder and the folders in it, sorted.
fn all_files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for name in files(folder) {
        match folder.join(&name).is_dir() {
            true => {
                let inner = all_files(&folder.join(&name)).into_iter();
                names.extend(inner.map(|file| format!("{name}/{file}")));
            }
            false => names.push(name),
        }
    }
    names
}

/// The library that makes calls fail; none, with a loud word, where there is no C compiler.
fn library() -> Option<PathBuf> {
    let folder = folder(&format!("faults-library-{:?}", std::thread::current().id()));
    let library = folder.join("faults.so");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/faults.c"))
        .status();
    match compiled {
        Ok(status) => {
            assert!(status.success(), "faults.c does not compile");
            Some(library)
        }
        Err(error) => {
            // Past the capture of the tests.
            let mut terminal = std::io::stderr();
            let _ = writeln!(
                terminal,
                "SKIPPED: no fault is tried, for there is no C compiler `cc` ({error})"
            );
            None
        }
    }
}

/// What a call may suffer.
fn kinds(call: &str) -> &'static [&'static str] {
    match call {
        "create" | "rename" | "mkdir" => &["full", "denied", "broken", "kill"],
        "open" | "stat" | "unlink" | "rmdir" => &["denied", "broken", "kill"],
        "write" => &["full", "broken", "short", "torn", "kill"],
        "read" => &["broken", "short", "cut", "kill"],
        "sync" | "close" | "truncate" => &["full", "broken", "kill"],
        _ => &["broken", "kill"],
    }
}

/// Whether the failure of a call may go unsaid, since all that was asked for is done all the same: what the call is for, or that
/// it is of a lock or a saved state of `reproduce`, which it does without.
fn is_harmless(call: &str, file: &str) -> bool {
    let unneeded = ["close", "unlink", "rmdir", "mkdir", "stat", "seek", "lock"];
    unneeded.contains(&call) || file.starts_with("runs/states/")
}

/// The number of a system error in its message.
fn number(kind: &str) -> Option<&'static str> {
    match kind {
        "full" => Some("os error 28"),
        "denied" => Some("os error 13"),
        "broken" => Some("os error 5"),
        _ => None,
    }
}

/// Tries faults at some calls of a command, or at all of them.
fn try_faults(case: &Case) {
    let Some(library) = library() else {
        return;
    };
    let calls = case.calls(&library);
    let faults: Vec<(usize, &str)> = calls
        .iter()
        .enumerate()
        .flat_map(|(at, (call, _))| kinds(call).iter().map(move |kind| (at, *kind)))
        .collect();
    let all = std::env::var_os("THINFIT_FAULTS").is_some();
    let step = if all { 1 } else { faults.len().div_ceil(SOME) };
    let mut record = Record::new(case.name, "faults", "call,what,file,fault,end,outputs");
    for (at, kind) in faults.into_iter().step_by(step) {
        let (call, file) = &calls[at];
        let what = format!("{}: {kind} at call {}, {call} {file}", case.name, at + 1);
        case.afresh();
        let mut command = case.disturbed(&library);
        command
            .env("THINFIT_FAULT_AT", (at + 1).to_string())
            .env("THINFIT_FAULT_KIND", kind);
        let end = case.end(command.output().unwrap(), &what);
        check_end(case, &end, call, file, kind, &what);
        record.line(&format!("{},{call},{file},{kind},{}", at + 1, end.words()));
        case.mend(&what);
    }
}

/// Checks the exit code and the message of a run in which a call suffered.
fn check_end(case: &Case, end: &End, call: &str, file: &str, kind: &str, what: &str) {
    let message = text(&end.output.stderr);
    match end.output.status.code() {
        None => assert!(end.killed() && matches!(kind, "kill" | "torn"), "{what}"),
        Some(0) => {
            assert!(end.all_new(), "{what}: exit 0, but not all files are new");
            let warned = file.starts_with("fit.state") && message.contains("is not saved");
            let fails = number(kind).is_some() && !is_harmless(call, file);
            assert!(!fails || warned, "{what}: not a word: {message}");
        }
        Some(2) => {
            assert!(message.contains("error: "), "{what}: {message}");
            assert_ne!(kind, "short", "{what}: {message}");
            // Whether something is a folder, or there, is asked without a reason.
            let number = number(kind).filter(|_| call != "stat").unwrap_or_default();
            assert!(message.contains(number), "{what}: {message}");
            if !matches!(call, "unlink" | "rmdir") && kind != "denied" {
                case.check_tidy(what);
            }
        }
        code => panic!("{what}: exit {code:?}: {message}"),
    }
}

/// A table of what was tried, in the folder that was asked for.
struct Record(Option<std::fs::File>);

impl Record {
    fn new(case: &str, topic: &str, header: &str) -> Self {
        let folder = std::env::var_os("THINFIT_FAULTS");
        let mut record = Record(folder.map(|folder| {
            std::fs::create_dir_all(&folder).unwrap();
            let path = Path::new(&folder).join(format!("{topic}-{case}.csv"));
            std::fs::File::create(path).unwrap()
        }));
        record.line(header);
        record
    }

    fn line(&mut self, line: &str) {
        if let Some(file) = &mut self.0 {
            writeln!(file, "{line}").unwrap();
        }
    }
}

/// A folder with a table, a model of it and settings.
fn prepare(folder: &Path) {
    write(folder, "train.csv", csv(200));
    write(folder, "rows.csv", csv(20_000));
    write(folder, "fit.toml", "target = \"y\"\ndrop = \"name\"\n");
    let fit = ["fit", "train.csv", "--config=fit.toml", "-o=fitted.json"];
    succeed(folder, &with_short(&fit));
}

fn fit(arguments: &[&'static str]) -> Case {
    Case::new("fit", arguments, &["model.json"], prepare)
}

fn predict() -> Case {
    let arguments = ["predict", "fitted.json", "rows.csv", "-o=predicted.csv"];
    Case::new("predict", &arguments, &["predicted.csv"], prepare)
}

fn export() -> Case {
    let arguments = ["export", "fitted.json", "--to=c", "-o=model.c"];
    Case::new("export", &arguments, &["model.c", "model.h"], prepare)
}

fn report() -> Case {
    let arguments = ["report", "fitted.json", "train.csv", "-o=report.html"];
    Case::new("report", &arguments, &["report.html"], prepare)
}

fn plot() -> Case {
    let outputs = [
        "figures/learning.svg",
        "figures/learning.png",
        "figures/features.svg",
        "figures/features.png",
        "figures/importance.svg",
        "figures/importance.png",
        "figures/effects.svg",
        "figures/effects.png",
        "figures/prediction.svg",
        "figures/prediction.png",
        "figures/residuals.svg",
        "figures/residuals.png",
    ];
    let arguments = ["plot", "fitted.json", "train.csv", "--out=figures"];
    Case::new("plot", &arguments, &outputs, prepare)
}

fn reproduce() -> Case {
    let outputs = [
        "runs/cells.jsonl",
        "runs/results.csv",
        "runs/results.md",
        "runs/results.html",
    ];
    Case::new("reproduce", &REPRODUCE, &outputs, |folder| {
        let first = [&REPRODUCE[..REPRODUCE.len() - 1], &["--seeds=1"]].concat();
        succeed(folder, &first);
    })
}

#[test]
fn a_fit_loses_no_file_at_any_call() {
    let arguments = with_short(&FIT[..5]);
    try_faults(&fit(&arguments));
}

#[test]
fn predict_loses_no_file_at_any_call() {
    try_faults(&predict());
}

#[test]
fn export_loses_no_file_at_any_call() {
    try_faults(&export());
}

#[test]
fn report_loses_no_file_at_any_call() {
    try_faults(&report());
}

#[test]
fn plot_loses_no_file_at_any_call() {
    try_faults(&plot());
}

#[test]
fn reproduce_loses_no_file_at_any_call() {
    try_faults(&reproduce());
}

/// Kills a command at random moments; after every few kills it is left to end.
fn kill(case: &Case, kills: usize, in_a_row: usize) {
    case.afresh();
    let start = Instant::now();
    succeed(&case.work, &case.arguments);
    let usual = start.elapsed();
    let mut record = Record::new(case.name, "kills", "kill,ms,end,outputs");
    let mut done = 0;
    for attempt in 0.. {
        if done == kills {
            break;
        }
        if done % in_a_row == 0 {
            case.afresh();
        }
        let seed = format!("{} {attempt}", case.name);
        // The lower digits of the hash are as good as random; the upper ones hardly depend on the last letter.
        let part = (fnv1a(seed.bytes()) % 10_007) as f64 / 10_007.0;
        let pause = usual.mul_f64(part);
        let mut child = program(&case.work, &case.again())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(pause);
        child.kill().unwrap();
        let what = format!("{}: killed after {pause:?}", case.name);
        let end = case.end(child.wait_with_output().unwrap(), &what);
        if !end.killed() {
            // It was done before.
            let done = end.output.status.success() && end.all_new();
            assert!(done, "{what}: {}", text(&end.output.stderr));
            case.afresh();
            continue;
        }
        done += 1;
        record.line(&format!("{done},{},{}", pause.as_millis(), end.words()));
        if done % in_a_row == 0 {
            case.mend(&what);
        }
    }
}

/// The number of kills: a part of 1,000 for the record, or a few.
fn kills(part: usize) -> usize {
    match std::env::var_os("THINFIT_FAULTS") {
        Some(_) => part,
        None => 5,
    }
}

#[test]
fn a_fit_that_is_killed_over_and_over_ends_in_the_same_model() {
    kill(&fit(&FIT), kills(400), 5);
}

#[test]
fn other_commands_that_are_killed_lose_no_file() {
    kill(&predict(), kills(200), 1);
    kill(&export(), kills(100), 1);
    kill(&report(), kills(50), 1);
    kill(&plot(), kills(100), 1);
    kill(&reproduce(), kills(200), 1);
}
