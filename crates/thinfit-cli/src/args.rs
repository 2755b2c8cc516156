//! The command line as the user types it. The doc comments are the help text.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ContextKind;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Deserializer, Serialize};
use thinfit::Lambda;
use thinfit_methods::Method;

use crate::memory::Memory;

/// Surrogate models from little data.
///
/// Fits a Gaussian process or a network with one hidden layer of about a hundred neurons to a table, whichever predicts
/// better, and estimates its error.
#[derive(Debug, Parser)]
#[command(
    name = "thinfit",
    version,
    after_help = "Start with:\n  thinfit demo\n  thinfit data f3 --rows 500 -o train.csv\n  thinfit fit train.csv --target y\n\n\
                  Exit codes: 0 done, 2 error, 130 interrupted (the best model so far is saved)."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Memory limit, such as 4GB, on top of about 100 MB for the program itself [default: 80 % of the free memory].
    #[arg(long, value_name = "AMOUNT", global = true, help_heading = "Running")]
    pub memory: Option<Memory>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit a model to a table: the best one, or that of a given method.
    Fit(Box<FitArgs>),
    /// Compare methods on a table by cross-validation.
    Compare(Box<CompareArgs>),
    /// Predict every row of a table.
    Predict(PredictArgs),
    /// Measure the error of a model on a table.
    Score(ScoreArgs),
    /// Show the accuracy and the sensitivity indices of a model.
    Inspect(InspectArgs),
    /// Plot a model, and its predictions of a table.
    Plot(PlotArgs),
    /// Write a self-contained HTML report.
    Report(ReportArgs),
    /// Export a model to ONNX, C, Python, JavaScript or LaTeX.
    Export(ExportArgs),
    /// Plan where to take samples (space-filling designs).
    Design(DesignArgs),
    /// Minimise or maximise a model, or find the Pareto front of several outputs.
    Minimise(MinimiseArgs),
    /// Propagate input uncertainty to the outputs.
    Propagate(PropagateArgs),
    /// Suggest the rows to sample next.
    Suggest(SuggestArgs),
    /// Sample a built-in problem.
    Data(DataArgs),
    /// Fit a built-in problem, compare the error with the paper's, and plot the fit.
    Demo(DemoArgs),
    /// Run the experiments of the paper and compare with the published numbers.
    Reproduce(ReproduceArgs),
    /// Write a completion script for a shell.
    #[command(
        after_help = "Example:\n  thinfit completions bash > ~/.local/share/bash-completion/completions/thinfit"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Options that the command line may leave to a configuration file.
pub trait Layer: Sized {
    /// What is given here, and what the layer below says of the rest.
    fn over(self, below: Self) -> Self;
}

impl<T> Layer for Option<T> {
    fn over(self, below: Self) -> Self {
        self.or(below)
    }
}

impl<T> Layer for Vec<T> {
    fn over(self, below: Self) -> Self {
        if self.is_empty() { below } else { self }
    }
}

impl Layer for bool {
    fn over(self, below: Self) -> Self {
        self || below
    }
}

/// Layers option by option; the compiler refuses a list in which one is missing.
macro_rules! layered {
    ($options:ident { $($option:ident),* $(,)? }) => {
        impl Layer for $options {
            fn over(self, below: Self) -> Self {
                $options { $($option: self.$option.over(below.$option)),* }
            }
        }
    };
}

/// How a table is read.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct TableArgs {
    /// Field separator of a text file: a character, `tab` or `blanks` [default: detected].
    #[arg(long, value_name = "CHAR", help_heading = "Table")]
    pub delimiter: Option<String>,
    /// Whether the first line holds column names.
    #[command(flatten)]
    pub header: HeaderArgs,
    /// Arrays of an .npz file or variables of a .mat file, separated by commas [default: all].
    #[arg(long, value_name = "NAME", help_heading = "Table")]
    pub array: Option<String>,
    /// Sheet of an Excel file [default: the first visible one].
    #[arg(long, value_name = "NAME", help_heading = "Table")]
    pub sheet: Option<String>,
    /// Lines of a text file, or rows of a sheet, to skip before the table; not needed for a title above the names.
    #[arg(long, value_name = "N", help_heading = "Table")]
    pub skip_rows: Option<u64>,
    /// Numbers have a decimal comma, as in 1,5.
    #[arg(long, help_heading = "Table")]
    pub decimal_comma: bool,
    /// What to do with missing values [default: stop with an error].
    #[arg(long, value_enum, help_heading = "Table")]
    pub missing: Option<Missing>,
}

layered!(TableArgs {
    delimiter,
    header,
    array,
    sheet,
    skip_rows,
    decimal_comma,
    missing,
});

/// Whether the first line holds column names; a configuration file says `header = true` or `false`.
#[derive(Args, Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(from = "Option<bool>", into = "Option<bool>")]
pub struct HeaderArgs {
    /// The first line holds column names [default: detected].
    #[arg(long, overrides_with = "no_header", help_heading = "Table")]
    pub header: bool,
    /// The first line holds numbers; columns are named c1, c2, …
    #[arg(long, help_heading = "Table")]
    pub no_header: bool,
}

impl From<Option<bool>> for HeaderArgs {
    fn from(header: Option<bool>) -> Self {
        HeaderArgs {
            header: header == Some(true),
            no_header: header == Some(false),
        }
    }
}

impl From<HeaderArgs> for Option<bool> {
    fn from(args: HeaderArgs) -> Self {
        match (args.header, args.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }
}

impl Layer for HeaderArgs {
    fn over(self, below: Self) -> Self {
        Option::from(self).over(Option::from(below)).into()
    }
}

/// What to do with missing values.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// Drop rows with missing values; their predictions are empty cells.
    Drop,
    /// Replace them by the mean of the column, or its most frequent text (`fit`, `compare`; `predict` and `score` with a
    /// model fitted this way).
    Mean,
}

/// Which columns of a table are learned, and from which.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct ColumnArgs {
    /// Columns to predict, separated by commas. If a name contains a comma, repeat the option instead.
    #[arg(short, long, value_name = "COL,…", allow_hyphen_values = true)]
    #[serde(deserialize_with = "one_or_several")]
    pub target: Vec<String>,
    /// Input columns [default: all other columns].
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    #[serde(deserialize_with = "one_or_several")]
    pub inputs: Vec<String>,
    /// Columns to drop.
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    #[serde(deserialize_with = "one_or_several")]
    pub drop: Vec<String>,
}

layered!(ColumnArgs {
    target,
    inputs,
    drop
});

/// A column or a list of columns.
fn one_or_several<'de, D: Deserializer<'de>>(value: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(
        untagged,
        expecting = "expected a column name or a list of column names"
    )]
    enum Columns {
        One(String),
        Several(Vec<String>),
    }
    Ok(match Columns::deserialize(value)? {
        Columns::One(name) => vec![name],
        Columns::Several(names) => names,
    })
}

/// Options of `thinfit fit`. Those that are not skipped may stand in a configuration file as well.
#[derive(Args, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[command(after_help = "Examples:\n  thinfit fit train.csv --target y\n  \
    thinfit fit lab.tsv --target flow,pressure --drop id --budget 120 -o pump.json\n  \
    thinfit fit runs.csv --target y --groups run\n  \
    thinfit fit train.csv --target y --thin\n  \
    thinfit fit train.csv --target y --preset paper --checkpoint fit.state\n  \
    thinfit fit train.csv --target y --preset paper --device cuda\n  \
    thinfit fit train.csv --target y --config fit.toml --set polish.steps=50\n  \
    mpirun -n 6 thinfit fit train.csv --target y --method gft-r --lambda auto")]
pub struct FitArgs {
    /// Table with one sample per row, of any length: CSV, TSV, XLSX, NPY, NPZ, MAT or Parquet. A folder means all tables in
    /// it, `-` standard input.
    #[arg(value_name = "DATA")]
    pub data: Option<PathBuf>,
    /// More files of the same table, such as those of `data/*.csv`.
    #[arg(value_name = "MORE")]
    #[serde(skip)]
    pub more: Vec<PathBuf>,
    /// The roles of the columns.
    #[command(flatten)]
    #[serde(skip)]
    pub columns: ColumnArgs,
    /// Output file; only models are overwritten [default: model.json].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Column of sample weights; a weight of 2 counts a row twice (networks only).
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub weights: Option<String>,
    /// Column of group labels, such as a run or a specimen; not an input. Cross-validation and validation splits keep a group
    /// together.
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub groups: Option<String>,
    /// Search budget in seconds on two cores [default: 30]; fixes the amount of work, not the wall time.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, help_heading = "Method")]
    pub budget: Option<f64>,
    /// Return the best thin network, even if another model is better.
    #[arg(long, help_heading = "Method")]
    pub thin: bool,
    /// Base settings of a network [default: fast].
    #[arg(long, value_parser = PossibleValuesParser::new(["fast", "paper"]), help_heading = "Method")]
    pub preset: Option<String>,
    /// Settings with an option of their own.
    #[command(flatten)]
    #[serde(skip)]
    pub settings: SettingArgs,
    /// Device for training a network: the CPU, an NVIDIA GPU, or `auto` for the GPU if there is one and it saves time
    /// [default: auto].
    #[arg(long, value_parser = PossibleValuesParser::new(thinfit_methods::Placement::NAMES), help_heading = "Method")]
    pub device: Option<String>,
    /// Any other setting, as in a configuration file; docs/configuration.md lists them all.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Method")]
    #[serde(skip)]
    pub set: Vec<String>,
    /// TOML file of options and settings; the command line takes precedence.
    #[arg(long, value_name = "FILE", help_heading = "Method")]
    #[serde(skip)]
    pub config: Option<PathBuf>,

    /// Save the state of the fit to this file periodically (network methods, and tables that are read in blocks).
    #[arg(long, value_name = "FILE", help_heading = "Running", value_parser = written_file())]
    pub checkpoint: Option<PathBuf>,
    /// Continue from a saved state, to the same model as without the interruption, and keep saving to the same file.
    #[arg(long, value_name = "FILE", help_heading = "Running")]
    pub resume: Option<PathBuf>,
    /// Print the result as one JSON object.
    #[arg(long, help_heading = "Running")]
    pub json: bool,
    /// Show no progress.
    #[arg(short, long, help_heading = "Running")]
    pub quiet: bool,
    /// How the table is read.
    #[command(flatten)]
    #[serde(skip)]
    pub table: TableArgs,
}

layered!(FitArgs {
    data,
    more,
    columns,
    output,
    weights,
    groups,
    budget,
    thin,
    preset,
    settings,
    device,
    set,
    config,
    checkpoint,
    resume,
    json,
    quiet,
    table,
});

/// Settings of a method with an option of their own. In a configuration file they stand among the other settings.
#[derive(Args, Debug, Default, Serialize)]
pub struct SettingArgs {
    /// Method [default: auto, the best model by cross-validation; any network setting selects gft-r].
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(methods()), help_heading = "Method")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Activation of the hidden neurons.
    #[arg(long, value_parser = PossibleValuesParser::new(thinfit::Activation::ALL.map(thinfit::Activation::name)), help_heading = "Method")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activation: Option<String>,
    /// Number of hidden neurons; for auto, the maximum.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<usize>,
    /// Strength of the regulariser; for noisy data, `auto` selects one of six values on the validation rows.
    #[arg(
        long,
        value_name = "auto|X",
        value_parser = lambda,
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<Lambda>,
    /// Random seed; the same seed gives the same model.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Number of threads; 0 uses all cores. The model does not depend on it.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        help_heading = "Method"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<usize>,
}

layered!(SettingArgs {
    method,
    activation,
    width,
    lambda,
    seed,
    threads,
});

/// Options of `thinfit compare`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  thinfit compare train.csv --target y\n  \
    thinfit compare train.csv --target y --methods auto,gft-r,salsa --folds 10")]
pub struct CompareArgs {
    /// Table with one sample per row; `-` reads standard input.
    #[arg(value_name = "DATA")]
    pub data: PathBuf,
    /// The roles of the columns.
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// Column of group labels, not an input; folds keep a group together.
    #[arg(long, value_name = "COL", allow_hyphen_values = true)]
    pub groups: Option<String>,
    /// Methods [default: a varied selection; `fit --help` lists all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = PossibleValuesParser::new(thinfit_methods::contenders()))]
    pub methods: Vec<String>,
    /// Number of folds.
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=100))]
    pub folds: u16,
    /// Search budget of each fit by `auto`, as in `fit`.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value_t = 10.0)]
    pub budget: f64,
    /// Random seed of folds and fits.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of threads; 0 uses all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    pub threads: u16,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// What to do with rows outside the ranges of the training samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Outside {
    /// Stop if a row exceeds a range by more than 5 %.
    Error,
    /// Predict them and report their number.
    Warn,
    /// Predict at the nearest point inside the ranges.
    Clip,
}

/// Options of `thinfit predict`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  thinfit predict model.json new.csv -o predicted.csv\n  \
    thinfit predict model.json new.csv --std --interval 0.9 --gradient\n  \
    cat new.csv | thinfit predict model.json - > predicted.csv"
)]
pub struct PredictArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Table whose columns include the model's inputs; `-` reads standard input.
    pub data: PathBuf,
    /// More files of the same table, such as those of `data/*.csv`.
    #[arg(value_name = "MORE")]
    pub more: Vec<PathBuf>,
    /// CSV file for the predictions, or TSV by its extension [default: standard output].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Columns of the table to copy in front of the predictions, such as a row number. A prediction whose name is taken is
    /// called `y_predicted`.
    #[arg(long, value_name = "COL,…", allow_hyphen_values = true)]
    pub keep: Vec<String>,
    /// Add partial derivatives, as columns d(y)/d(x).
    #[arg(long)]
    pub gradient: bool,
    /// Add the standard deviation of a new observation, as columns y_std.
    #[arg(long)]
    pub std: bool,
    /// Add prediction intervals of this level, as columns y_low and y_high.
    #[arg(long, value_name = "LEVEL", value_parser = probability)]
    pub interval: Option<f64>,
    /// What to do with rows outside the ranges of the training samples, where intervals and deviations widen; beyond 20 % of
    /// a range they are infinite.
    #[arg(long, value_name = "NAME", value_enum, default_value = "warn")]
    pub outside: Outside,
    /// Number of threads; 0 uses all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=4096))]
    pub threads: u16,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// The methods with a line on each.
fn methods() -> [PossibleValue; Method::IDEAS.len()] {
    Method::IDEAS.map(|(name, idea)| PossibleValue::new(name).help(idea))
}

/// What to add to an error of the parser: the methods with a line on each, where one was wanted and not found.
pub fn advice(error: &clap::Error) -> Option<String> {
    let about = error.get(ContextKind::InvalidArg)?.to_string();
    let widest = Method::IDEAS.iter().map(|(name, _)| name.len()).max()?;
    let lines = Method::IDEAS
        .iter()
        .map(|(name, idea)| format!("  {name:<widest$}  {idea}\n"));
    let lines: String = lines.collect();
    about
        .starts_with("--method ")
        .then(|| format!("\nMethods:\n{lines}"))
}

/// The name of a file or folder to write. `-` is refused: what a command says of its work goes to standard output.
fn written_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path == Path::new("-") {
        true => Err(
            "expected the name of a file or folder, found `-`; write ./- for a file of this name, or /dev/stdout for standard output",
        ),
        false => Ok(path),
    })
}

fn rows(text: &str, range: RangeInclusive<u32>) -> Result<u32, String> {
    let found = text.parse().ok().filter(|rows| range.contains(rows));
    found.ok_or_else(|| {
        let (low, high) = range.into_inner();
        format!("expected a number of rows from {low} to {high}")
    })
}

fn lambda(text: &str) -> Result<Lambda, String> {
    match (text, text.parse::<f64>()) {
        ("auto", _) => Ok(Lambda::Auto),
        (_, Ok(number)) if number.is_finite() => Ok(Lambda::Fixed(number)),
        _ => Err("expected `auto` or a number such as 1e-3".into()),
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if seconds > 0.0 && seconds <= 1e6 => Ok(seconds),
        _ => Err("expected a number of seconds above 0, such as 30".into()),
    }
}

fn noise_level(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(level) if (0.0..=1e6).contains(&level) => Ok(level),
        _ => Err("expected a number from 0 to 1e6, such as 0.1".into()),
    }
}

fn probability(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("expected a number between 0 and 1, such as 0.9".into()),
    }
}

/// Options of `thinfit score`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  thinfit score model.json test.csv --target y")]
pub struct ScoreArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Table with the model's inputs and the true values; `-` reads standard input.
    pub data: PathBuf,
    /// More files of the same table, such as those of `data/*.csv`.
    #[arg(value_name = "MORE")]
    pub more: Vec<PathBuf>,
    /// Columns of true values, in the order of the model's outputs [default: columns named like the outputs].
    #[arg(short, long, value_name = "COL,…", allow_hyphen_values = true)]
    pub target: Vec<String>,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `thinfit inspect`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  thinfit inspect model.json\n  thinfit inspect model.json train.csv"
)]
pub struct InspectArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Table with the inputs, for Shapley effects of dependent inputs; `-` reads standard input.
    pub data: Option<PathBuf>,
    /// Ranges of the inputs to integrate over, as for `thinfit design` [default: those of the samples].
    #[arg(long, value_name = "FILE")]
    pub ranges: Option<PathBuf>,
    /// Number of features to list.
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub features: usize,
    /// Print everything as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `thinfit plot`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  thinfit plot model.json test.csv -o figures")]
pub struct PlotArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Table with inputs and true values, to plot predictions and residuals; `-` reads standard input.
    pub data: Option<PathBuf>,
    /// Folder for the plots; created if needed.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "thinfit-plots",
        value_parser = written_file()
    )]
    pub out: PathBuf,
    /// Columns of true values, in the order of the model's outputs [default: columns named like the outputs].
    #[arg(short, long, value_name = "COL,…", allow_hyphen_values = true)]
    pub target: Vec<String>,
    /// Ranges of the inputs for importance and effects, as for `thinfit design` [default: those of the samples].
    #[arg(long, value_name = "FILE")]
    pub ranges: Option<PathBuf>,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `thinfit report`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  thinfit report model.json -o report.html\n  thinfit report model.json test.csv -o report.html"
)]
pub struct ReportArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Table with inputs and true values, to compare with the predictions; `-` reads standard input.
    pub data: Option<PathBuf>,
    /// Output file [default: the model's name with .html].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Columns of true values, in the order of the model's outputs [default: columns named like the outputs].
    #[arg(short, long, value_name = "COL,…", allow_hyphen_values = true)]
    pub target: Vec<String>,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
    /// How the table is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// The languages a model can be exported to.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Language {
    /// A graph for onnxruntime and others.
    Onnx,
    /// One C99 file with a header, without dependencies.
    C,
    /// One Python function, without dependencies.
    Python,
    /// One JavaScript function in an ES module, without dependencies.
    Js,
    /// The formula.
    Latex,
}

/// Options of `thinfit export`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  thinfit export model.json --to c -o pump.c\n  thinfit export model.json --to latex"
)]
pub struct ExportArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// The language to write.
    #[arg(long, value_enum)]
    pub to: Language,
    /// Output file [default: the model's name with .onnx, .c (and .h), .py, .js or .tex].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Single precision (ONNX only); refused if it differs from the predictions by more than 0.001 standard deviations.
    #[arg(long)]
    pub f32: bool,
    /// Significant digits (LaTeX only) [default: 6]. Terms cancel, so do not compute with few digits.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=17))]
    pub digits: Option<u8>,
}

/// Options of `thinfit data`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  thinfit data f3 --rows 500 --seed 1 -o train.csv")]
pub struct DataArgs {
    /// The problem.
    #[arg(value_parser = PossibleValuesParser::new(crate::commands::data::names()))]
    pub problem: String,
    /// Number of samples [default: as in the paper].
    #[arg(long, value_name = "M", value_parser = |text: &str| rows(text, 1..=100_000_000))]
    pub rows: Option<u32>,
    /// Number of inputs [default: as in the paper].
    #[arg(long, value_name = "D", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub inputs: Option<u16>,
    /// Seed of the samples.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Standard deviation of added noise, relative to that of the values.
    #[arg(long, value_name = "X", default_value_t = 0.0, value_parser = noise_level)]
    pub noise: f64,
    /// Write the test sample of this seed instead of the training sample.
    #[arg(long)]
    pub test: bool,
    /// CSV file for the table, or TSV by its extension [default: standard output].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
}

/// How the rows of a plan are spread.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Scheme {
    /// A maximin Latin hypercube.
    Maximin,
    /// A random Latin hypercube.
    Latin,
    /// A scrambled Sobol sequence.
    Sobol,
    /// A shifted Halton sequence.
    Halton,
}

/// Options of `thinfit design`.
#[derive(Args, Debug)]
#[command(
    after_help = "The ranges are a TOML file; each line becomes a column:\n \
                  thickness = [0.5, 2.0]\n \
                  reynolds = { low = 1e3, high = 1e6, log = true }\n \
                  holes = { low = 2, high = 8, whole = true }\n \
                  material = [\"steel\", \"brass\"]\n \
                  \"wall thickness\" = [1, 2]                quote names with blanks or dots\n\n\
                  Examples:\n  thinfit design ranges.toml --rows 60 -o plan.csv\n  \
                  thinfit design ranges.toml --rows 20 --add-to done.csv -o more.csv"
)]
pub struct DesignArgs {
    /// Ranges of the inputs.
    pub ranges: PathBuf,
    /// Number of rows.
    #[arg(long, value_name = "M", value_parser = |text: &str| rows(text, 1..=50_000))]
    pub rows: u32,
    /// How the rows are spread.
    #[arg(long, value_name = "NAME", value_enum, default_value = "maximin")]
    pub scheme: Scheme,
    /// Table of existing rows, which new rows keep away from; sequences continue after them. Rows outside the ranges are moved
    /// to the border.
    #[arg(long, value_name = "TABLE")]
    pub add_to: Option<PathBuf>,
    /// Seed of the plan; the same seed gives the same rows.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// CSV file for the table, or TSV by its extension [default: standard output].
    #[arg(short, long, alias = "out", value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// How the table of existing rows is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `thinfit minimise`.
#[derive(Args, Debug)]
#[command(
    after_help = "The search stays in the ranges of the samples, or in those of --ranges. Text columns are tried level by level.\n\
                  Several outputs give a Pareto front: points of which none is better than another in every output.\n\n\
                  Examples:\n  thinfit minimise model.json\n  \
                  thinfit minimise model.json --maximise --ranges ranges.toml\n  \
                  thinfit minimise pump.json --target noise --fix material=steel --within width+height<=4\n  \
                  thinfit minimise pump.json --maximise flow -o front.csv --plot front.svg"
)]
pub struct MinimiseArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Outputs to minimise, separated by commas; several give a Pareto front [default: all].
    #[arg(short, long, value_name = "COL,…", allow_hyphen_values = true)]
    pub target: Vec<String>,
    /// Maximise the only output, or those named here.
    #[arg(long, value_name = "COL,…", num_args = 0..=1, default_missing_value = "")]
    pub maximise: Vec<String>,
    /// Fix a column at a number or a level; may be repeated.
    #[arg(long, value_name = "COL=VALUE", allow_hyphen_values = true)]
    pub fix: Vec<String>,
    /// A linear constraint on numeric columns, such as `2*x2 - x3 <= 4`, with <=, >= or =; may be repeated. Names may be
    /// quoted.
    #[arg(long, value_name = "CONSTRAINT", allow_hyphen_values = true)]
    pub within: Vec<String>,
    /// Ranges of the inputs, as for `thinfit design` [default: those of the samples].
    #[arg(long, value_name = "FILE")]
    pub ranges: Option<PathBuf>,
    /// Seed of the search; the same seed gives the same result.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// CSV file for the points: the minimum and others about as good, or the front.
    #[arg(short, long, value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Plot of the front, as .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = written_file())]
    pub plot: Option<PathBuf>,
}

/// Options of `thinfit propagate`.
#[derive(Args, Debug)]
#[command(
    after_help = "The distributions are a TOML file with a line for each column; other columns are uniform over the ranges of\n\
                  the samples:\n \
                  thickness = { normal = [1.2, 0.05] }                mean and standard deviation\n \
                  width = { uniform = [3, 4] }                        or just [3, 4]\n \
                  load = { lognormal = [100, 1.3] }                   median and factor: 68 % lie between 100/1.3 and 100*1.3\n \
                  angle = { triangular = [0, 2, 10] }                 minimum, most likely value, maximum\n \
                  holes = { low = 2, high = 8, whole = true }         integers\n \
                  speed = 30                                          fixed\n \
                  material = { steel = 0.7, brass = 0.3 }             probabilities of levels, with sum 1\n \
                  \"wall thickness\" = [1, 2]                          quote names with blanks or dots\n\n\
                  Examples:\n  thinfit propagate model.json inputs.toml\n  \
                  thinfit propagate model.json inputs.toml --above 3 --rows 1000000 --plot y.svg\n  \
                  thinfit propagate pump.json inputs.toml --below flow=2 -o draws.csv"
)]
pub struct PropagateArgs {
    /// Model written by `thinfit fit`.
    pub model: PathBuf,
    /// Distributions of the inputs.
    pub inputs: PathBuf,
    /// Number of draws.
    #[arg(long, value_name = "M", default_value_t = 100_000, value_parser = |text: &str| rows(text, 2..=10_000_000))]
    pub rows: u32,
    /// Print the probability that an output is above a limit; may be repeated.
    #[arg(long, value_name = "[COL=]X", allow_hyphen_values = true)]
    pub above: Vec<String>,
    /// Print the probability that an output is below a limit; may be repeated.
    #[arg(long, value_name = "[COL=]X", allow_hyphen_values = true)]
    pub below: Vec<String>,
    /// Seed of the draws; the same seed gives the same numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// CSV file for the draws: inputs and outputs.
    #[arg(short, long, value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// Plot of the histograms of the outputs, as .svg or .png.
    #[arg(long, value_name = "FILE", value_parser = written_file())]
    pub plot: Option<PathBuf>,
}

/// The purpose of suggested rows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Goal {
    /// Reduce the uncertainty everywhere.
    Uncertainty,
    /// Find the minimum of the target.
    Minimum,
    /// Find the maximum of the target.
    Maximum,
}

/// Options of `thinfit suggest`.
#[derive(Args, Debug)]
#[command(
    after_help = "Sample the rows, add them to the table, fit again, and repeat.\n\n\
                  Examples:\n  thinfit suggest model.json --rows 8 -o next.csv\n  \
                  thinfit suggest model.json --rows 4 --goal minimum --ranges ranges.toml -o next.csv\n  \
                  thinfit suggest pump.json --fix material=steel --within width+height<=4"
)]
pub struct SuggestArgs {
    /// Model written by `thinfit fit` that has standard deviations: a thin network or a Gaussian process.
    pub model: PathBuf,
    /// Number of rows, most useful first.
    #[arg(long, value_name = "M", default_value_t = 8, value_parser = |text: &str| rows(text, 1..=1000))]
    pub rows: u32,
    /// Purpose of the rows.
    #[arg(long, value_name = "NAME", value_enum, default_value = "uncertainty")]
    pub goal: Goal,
    /// Output to minimise or maximise [default: the only one].
    #[arg(short, long, value_name = "COL", allow_hyphen_values = true)]
    pub target: Option<String>,
    /// Fix a column at a number or a level; may be repeated.
    #[arg(long, value_name = "COL=VALUE", allow_hyphen_values = true)]
    pub fix: Vec<String>,
    /// A linear constraint on numeric columns, as for `thinfit minimise`; may be repeated.
    #[arg(long, value_name = "CONSTRAINT", allow_hyphen_values = true)]
    pub within: Vec<String>,
    /// Ranges of the inputs, as for `thinfit design` [default: those of the samples].
    #[arg(long, value_name = "FILE")]
    pub ranges: Option<PathBuf>,
    /// Table of planned or measured rows, which new rows keep away from. Rows that the model was fitted to need not be
    /// given.
    #[arg(long, value_name = "TABLE")]
    pub add_to: Option<PathBuf>,
    /// Seed of the candidates; the same seed gives the same rows.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// CSV file for the table, or TSV by its extension [default: standard output].
    #[arg(short, long, value_name = "FILE", value_parser = written_file())]
    pub output: Option<PathBuf>,
    /// How the table of planned rows is read.
    #[command(flatten)]
    pub table: TableArgs,
}

/// Options of `thinfit demo`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  thinfit demo g1")]
pub struct DemoArgs {
    /// The problem.
    #[arg(value_parser = PossibleValuesParser::new(crate::commands::data::names()), default_value = "f3")]
    pub problem: String,
    /// Folder for the plots and the model; created if needed.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "thinfit-demo",
        value_parser = written_file()
    )]
    pub out: PathBuf,
    /// Seed of the data and of the fit; the same seed gives the same numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Options of `thinfit reproduce`.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  thinfit reproduce table1 --methods kernel-ridge,shrimp --seeds 2\n  \
    thinfit reproduce table1 table2 --columns f3,h3 --methods gft,gft-r\n  \
    thinfit reproduce figure1 --preset fast\n  \
    thinfit reproduce all --device cuda\n  \
    mpirun -n 16 thinfit reproduce all --jobs 1\n\n\
    Each fit is recorded as soon as it is done. The same command runs only missing fits, and Ctrl-C loses no finished\n\
    fit. The reports (results.csv, .md, .html) show the selected tables with the settings of this call; use another\n\
    folder for other settings. Several programs may share one folder, and the ranks of one mpirun share the fits."
)]
pub struct ReproduceArgs {
    /// Tables and figures: table1 to table6, figure1, or all.
    #[arg(value_name = "WHAT", required = true)]
    pub what: Vec<String>,
    /// Columns, such as f1-5 (f1 with 5 inputs), or all columns of a problem, such as f1 [default: all].
    #[arg(long, value_name = "COL,…", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Methods, such as gft-r or shrimp [default: all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub methods: Vec<String>,
    /// Activations, for methods that have a choice [default: all].
    #[arg(long, value_name = "NAME,…", value_delimiter = ',',
        value_parser = PossibleValuesParser::new(thinfit::Activation::ALL.map(thinfit::Activation::name)))]
    pub activations: Vec<String>,
    /// Number of seeds, counted from 1, or a range such as 4-5; seed 0 chooses λ.
    #[arg(long, value_name = "K|A-B", default_value = "5", value_parser = seeds)]
    pub seeds: Seeds,
    /// Strength of the regulariser: selected for each cell by validation, as in the paper; the published choice; selected by
    /// validation in every fit; or a number.
    #[arg(
        long,
        value_name = "validated|paper|auto|X",
        default_value = "validated"
    )]
    pub lambda: String,
    /// Settings of F-Opt, GFT and GFT-r.
    #[arg(long, value_parser = PossibleValuesParser::new(["fast", "paper"]), default_value = "paper")]
    pub preset: String,
    /// Any other setting, for the methods that have it, as in a configuration file.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Folder for records and reports; created if needed.
    #[arg(
        short,
        long = "output",
        alias = "out",
        value_name = "DIR",
        default_value = "thinfit-runs",
        value_parser = written_file()
    )]
    pub out: PathBuf,
    /// Device for training F-Opt, GFT, GFT-r and plain networks; an NVIDIA GPU trains all fits of one shape at once.
    #[arg(long, value_parser = PossibleValuesParser::new(["cpu", "cuda"]), default_value = "cpu")]
    pub device: String,
    /// Batches of fits at a time on the GPU.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub batches: u16,
    /// Number of fits at a time on the CPU of each rank, one thread each; 0 uses all cores.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
    /// Retry fits that failed.
    #[arg(long)]
    pub retry: bool,
    /// List the fits and their states, and stop.
    #[arg(long)]
    pub list: bool,
    /// Write the reports from existing records, and stop.
    #[arg(long, conflicts_with = "list")]
    pub report: bool,
    /// Show no progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Seeds from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

fn seeds(text: &str) -> Result<Seeds, String> {
    let (first, last) = text.split_once('-').unwrap_or(("1", text));
    match (first.parse(), last.parse()) {
        // Seed 0 chooses λ.
        (Ok(first), Ok(last)) if 0 < first && first <= last && last - first < 1_000_000 => {
            Ok(Seeds { first, last })
        }
        _ => Err("expected a number of seeds such as 5, or a range such as 4-5, from 1 on".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    /// The arguments of each example below the help of a command: the indented lines, from the program's name to a
    /// redirection.
    fn examples(command: &clap::Command) -> Vec<Vec<String>> {
        let help = command.get_after_help().map(ToString::to_string);
        let help = help.unwrap_or_default();
        let lines = help.lines().filter(|line| line.starts_with("  "));
        lines
            .map(|line| {
                let words = line
                    .split_whitespace()
                    .skip_while(|word| *word != "thinfit");
                let words = words.take_while(|word| !["|", ">"].contains(word));
                words.map(str::to_owned).collect()
            })
            .collect()
    }

    #[test]
    fn every_command_shows_examples_that_call_it_and_parse() {
        let program = Cli::command();
        for command in program.get_subcommands() {
            let (name, examples) = (command.get_name(), examples(command));
            assert!(!examples.is_empty(), "`{name}` has no example");
            for words in examples {
                assert_eq!(words.get(1).map(String::as_str), Some(name), "{words:?}");
                let parsed = Cli::try_parse_from(&words);
                assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
            }
        }
        for words in examples(&program) {
            let parsed = Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
        }
    }
}
