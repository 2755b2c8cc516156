//! `thinfit reproduce`: does the fits of the paper's tables that are not recorded yet, and reports all that are.

use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use thinfit::{Activation, Control, Lambda};
use thinfit_experiments::{
    Cell, Choice, Column, Error, Event, Job, Ledger, Method, Plan, Record, Settings, What,
};

use crate::args::ReproduceArgs;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;
use crate::settings;

/// Plans, does what is missing, reports; tells whether it was interrupted.
pub fn run(args: &ReproduceArgs, out: &mut impl Write) -> Result<bool, Failure> {
    let cells = cells(args)?;
    let changes = serde_json::to_value(settings::changes(&args.set)?)?;
    let changes = changes.as_object().cloned().unwrap_or_default();
    let settings = Settings::new(&args.preset, changes)?;
    let plan = Plan {
        cells,
        seeds: (args.seeds.first..=args.seeds.last).collect(),
        lambda: lambda(&args.lambda)?,
    };
    let jobs = plan.jobs(&settings);
    let ledger = Ledger::open(&args.out)?;
    let mut missing = Vec::new();
    for job in &jobs {
        if !ledger.has(job)? {
            missing.push(job.clone());
        }
    }
    if args.list {
        for job in &jobs {
            let state = match ledger.get(job) {
                Some(record) => outcome(&record),
                None => "missing".into(),
            };
            writeln!(out, "{job}: {state}")?;
        }
        return Ok(false);
    }

    let progress = Progress::new(args.quiet);
    progress.note(format!(
        "{} fits, {} of them done before; records in {}",
        jobs.len(),
        jobs.len() - missing.len(),
        ledger.path().display()
    ));
    if ledger.damaged() > 0 {
        progress.note(format!(
            "{} lines of the records are damaged and left out",
            ledger.damaged()
        ));
    }
    let missing = without_missing_data(missing, &progress);
    interrupt::listen()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = if args.jobs == 0 { cores } else { args.jobs };
    let forecast = Mutex::new(Forecast::new(&ledger.records(), &missing, workers));
    let observe = |event: Event<'_>| {
        let mut forecast = forecast.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Started(job) => forecast.start(job),
            Event::Moved(job, part) => {
                if forecast.move_to(job, part) {
                    progress.stand(forecast.done(), || forecast.to_string());
                }
            }
            Event::Finished(record) => {
                forecast.finish(&record.job, Some(record.seconds));
                let (job, state) = (&record.job, outcome(record));
                progress.note(format!("{job}: {state}  ({forecast})"));
            }
            Event::Failed(job, error) => {
                forecast.finish(job, None);
                progress.note(format!("{job}: failed: {error}"));
            }
        }
        match interrupt::asked() {
            true => Control::Stop,
            false => Control::Continue,
        }
    };
    let outcome = thinfit_experiments::run(&missing, &ledger, &settings, workers, &observe)?;
    progress.finish();
    if outcome.failed > 0 && !outcome.stopped {
        return Err(Failure::new(format!(
            "{} of {} fits failed, see above; the same command tries them again",
            outcome.failed,
            missing.len()
        )));
    }
    Ok(outcome.stopped)
}

/// The cells that the options leave.
fn cells(args: &ReproduceArgs) -> Result<Vec<Cell>, Failure> {
    let wrong = |error: &dyn std::error::Error| Failure::new(error.to_string());
    let (mut whats, mut columns) = (Vec::new(), Vec::new());
    for word in &args.what {
        whats.extend(What::matching(word).map_err(|error| wrong(&error))?);
    }
    for word in &args.columns {
        columns.extend(Column::matching(word).map_err(|error| wrong(&error))?);
    }
    let methods: Vec<Method> = args
        .methods
        .iter()
        .map(|name| name.parse().map_err(|error| wrong(&error)))
        .collect::<Result<_, _>>()?;
    let activation = |activation: Option<Activation>| {
        let name = activation.map(Activation::name);
        args.activations.is_empty()
            || name.is_none_or(|name| args.activations.iter().any(|given| given == name))
    };
    let mut cells: Vec<Cell> = Vec::new();
    for cell in whats.iter().flat_map(|what| what.cells()) {
        let wanted = (columns.is_empty() || columns.contains(&cell.column))
            && (methods.is_empty() || methods.contains(&cell.method))
            && activation(cell.activation);
        if wanted && !cells.contains(&cell) {
            cells.push(cell);
        }
    }
    if cells.is_empty() {
        return Err(Failure::new(format!(
            "{} has no cell with these columns, methods and activations; leave one of the options out, or name other tables",
            args.what.join(", ")
        )));
    }
    Ok(cells)
}

fn lambda(text: &str) -> Result<Choice, Failure> {
    match (text, text.parse()) {
        ("paper", _) => Ok(Choice::Published),
        ("auto", _) => Ok(Choice::Given(Lambda::Auto)),
        (_, Ok(value)) if (0.0..f64::INFINITY).contains(&value) => {
            Ok(Choice::Given(Lambda::Fixed(value)))
        }
        _ => Err(Failure::new(format!(
            "--lambda: expected `paper`, `auto` or a number of at least 0 such as 1e-3, found `{text}`"
        ))),
    }
}

/// The jobs whose data are there; says once for each data set that is not how to get it.
fn without_missing_data(jobs: Vec<Job>, progress: &Progress) -> Vec<Job> {
    let mut known: HashMap<Column, bool> = HashMap::new();
    let mut there = |job: &Job| {
        *known
            .entry(job.column)
            .or_insert_with(|| match job.column.draw(0) {
                Err(error @ Error::Data(_)) => {
                    progress.note(format!("left out: {}: {error}", job.column));
                    false
                }
                _ => true,
            })
    };
    jobs.into_iter().filter(|job| there(job)).collect()
}

/// What a record says, in a few words.
fn outcome(record: &Record) -> String {
    match (record.mse, &record.failure) {
        (Some(mse), _) => format!("{mse:.3e} in {}", time(record.seconds)),
        (None, Some(failure)) => format!("no result: {failure}"),
        (None, None) => "no result".into(),
    }
}

/// Seconds, as one would say them.
fn time(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// How long the jobs that are left will take, by those that were like them.
struct Forecast {
    workers: usize,
    total: usize,
    /// Sum and number of the seconds of finished jobs: alike in all but the seed, of the same method, and all.
    seen: HashMap<String, (f64, usize)>,
    left: Vec<Job>,
    /// Jobs that run, since when and how far they are.
    running: Vec<(Job, Instant, f64)>,
    shown: Instant,
}

impl Forecast {
    fn new(records: &[Record], jobs: &[Job], workers: usize) -> Self {
        let mut forecast = Forecast {
            workers,
            total: jobs.len(),
            seen: HashMap::new(),
            left: jobs.to_vec(),
            running: Vec::new(),
            shown: Instant::now(),
        };
        for record in records {
            forecast.learn(&record.job, record.seconds);
        }
        forecast
    }

    /// From the most alike to the least.
    fn keys(job: &Job) -> [String; 3] {
        let alike = Job {
            seed: 0,
            ..job.clone()
        };
        let method = format!("{} {}", job.method.name(), job.preset);
        [alike.to_string(), method, String::new()]
    }

    fn learn(&mut self, job: &Job, seconds: f64) {
        for key in Forecast::keys(job) {
            let (sum, count) = self.seen.entry(key).or_default();
            *sum += seconds;
            *count += 1;
        }
    }

    fn expected(&self, job: &Job) -> Option<f64> {
        let seen = |key: &String| self.seen.get(key).map(|(sum, count)| sum / *count as f64);
        Forecast::keys(job).iter().find_map(seen)
    }

    fn start(&mut self, job: &Job) {
        self.left.retain(|other| other != job);
        self.running.push((job.clone(), Instant::now(), 0.0));
    }

    /// Whether it is time to show it.
    fn move_to(&mut self, job: &Job, part: f64) -> bool {
        if let Some(running) = self.running.iter_mut().find(|(other, ..)| other == job) {
            running.2 = part;
        }
        let due = self.shown.elapsed().as_millis() > 200;
        if due {
            self.shown = Instant::now();
        }
        due
    }

    fn finish(&mut self, job: &Job, seconds: Option<f64>) {
        self.running.retain(|(other, ..)| other != job);
        if let Some(seconds) = seconds {
            self.learn(job, seconds);
        }
    }

    /// Fraction of the jobs that are done.
    fn done(&self) -> f64 {
        let running: f64 = self.running.iter().map(|(.., part)| part).sum();
        let finished = self.total - self.left.len() - self.running.len();
        (finished as f64 + running) / self.total.max(1) as f64
    }

    /// Seconds until all is done, where anything alike was seen.
    fn seconds_left(&self) -> Option<f64> {
        let running = self.running.iter().map(|(job, since, part)| {
            if *part > 0.02 {
                return Some(since.elapsed().as_secs_f64() * (1.0 - part) / part);
            }
            self.expected(job)
        });
        let left = self.left.iter().map(|job| self.expected(job));
        let sum: Option<f64> = running.chain(left).sum();
        sum.map(|sum| sum.max(0.0) / self.workers as f64)
    }
}

impl std::fmt::Display for Forecast {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finished = self.total - self.left.len() - self.running.len();
        write!(out, "{finished} of {} done", self.total)?;
        match self.seconds_left() {
            Some(seconds) => write!(out, ", {} left", time(seconds)),
            None => Ok(()),
        }
    }
}
