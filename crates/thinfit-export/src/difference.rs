//! How far an export is from the model: its graph, evaluated in its own precision, against `predict`, at the rows of the
//! fit, between them, and in the ranges of the samples with a margin.
//!
//! Exports of single precision are asked at inputs that are rounded to it, which counts: columns whose digits it drops cannot
//! be exported so.

use crate::evaluation::{arithmetic, evaluated};
use crate::formula::Formula;
use crate::graph::Graph;
use crate::onnx::graph;
use std::fmt;
use thinfit::pieces::lattice;
use thinfit::{Mat, MatRef, Precision};
use thinfit_methods::Predictor;

/// The largest difference of an export, in standard deviations of the output.
pub const TOLERANCE: f64 = 1e-3;

/// How many times further from the model than the graph C, Python and JavaScript may be: they sum in another order and have other
/// elementary functions. The differential test holds them to it.
const OTHER_ORDER: f64 = 20.0;

/// Rows between those of the fit, and in the ranges.
const ROWS: usize = 256;
/// Fewer rows where a model is large, but no fewer than this.
const FEWEST: usize = 32;
/// Kernel values or neurons, input by input, in all rows of one kind.
const WORK: usize = 10_000_000;
/// The same in the rows of the fit: all of them, if there are not too many.
const WORK_OF_SAMPLES: usize = 100_000_000;
/// How far the rows go beyond the ranges of the samples, in lengths of these.
const MARGIN: f64 = 0.1;

/// How far an export is from what the model predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The largest difference, in standard deviations of the output; infinite where the export has no finite value, and where no row
    /// could be compared.
    pub largest: f64,
    /// The output that has it.
    pub output: String,
    /// How many rows were compared.
    pub rows: usize,
    /// What rounding the inputs to the precision of the export changes on its own, in the same unit.
    pub rounded_inputs: f64,
    /// The precision that it computes in; double in an export of single precision whose terms would cancel.
    pub arithmetic: Precision,
    /// Whether `largest` is a bound on the difference rather than measured: 20 times what was measured of the ONNX graph, which adds the
    /// same terms in another order.
    pub bounded: bool,
}

impl Difference {
    /// The same if it is small enough.
    pub(crate) fn checked(self, precision: Precision) -> Result<Self, Inaccurate> {
        match self.largest <= TOLERANCE {
            true => Ok(self),
            false => Err(Inaccurate {
                difference: self,
                precision,
            }),
        }
    }
}

/// An export that is too far from the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Inaccurate {
    /// How far.
    pub difference: Difference,
    /// The precision of the export.
    pub precision: Precision,
}

impl fmt::Display for Inaccurate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            largest,
            output,
            rows,
            rounded_inputs,
            ..
        } = &self.difference;
        write!(
            out,
            "expected an export that differs from the predictions of `{output}` by at most {TOLERANCE} standard deviations, found "
        )?;
        match (*rows, self.difference.bounded) {
            (0, _) => return write!(out, "no row at which the model has a finite value"),
            (_, true) => write!(out, "that it may differ by {largest:.1e} on {rows} rows")?,
            (_, false) => write!(out, "a difference of {largest:.1e} on {rows} rows")?,
        }
        match *rounded_inputs > 0.5 * TOLERANCE {
            true => write!(
                out,
                ", of which rounding the inputs makes {rounded_inputs:.1e}"
            ),
            false => Ok(()),
        }
    }
}

impl std::error::Error for Inaccurate {}

/// How far the ONNX graph of the model in this precision is from what it predicts.
pub fn difference(model: &Predictor, precision: Precision) -> Difference {
    graph(&Formula::new(model), precision, &Probes::new(model)).1
}

/// How far the functions in C, Python and JavaScript may be from what the model predicts; they compute in `f64`.
pub fn difference_of_functions(model: &Predictor) -> Difference {
    let of_graph = difference(model, Precision::F64);
    Difference {
        largest: OTHER_ORDER * of_graph.largest,
        bounded: true,
        ..of_graph
    }
}

/// Rows at which exports are compared with the model.
pub(crate) struct Probes {
    /// The rows, row by row.
    x: Vec<f64>,
    inputs: usize,
    /// What the model predicts there, row by row.
    values: Vec<f64>,
    outputs: Vec<String>,
    /// Standard deviation of each output.
    deviations: Vec<f64>,
    /// For each output the largest change where the inputs are rounded to single precision, in standard deviations.
    rounded: f64,
}

impl Probes {
    pub fn new(model: &Predictor) -> Self {
        let x = usable(model, rows(model).as_ref());
        let values = model
            .predict(x.as_ref())
            .unwrap_or_else(|_| Mat::zeros(0, model.outputs().len()));
        let mut probes = Probes {
            x: flat(x.as_ref()),
            inputs: x.ncols(),
            deviations: deviations(model, values.as_ref()),
            values: flat(values.as_ref()),
            outputs: model.outputs().to_vec(),
            rounded: f64::INFINITY,
        };
        let single = Mat::from_fn(x.nrows(), x.ncols(), |i, j| f64::from(x[(i, j)] as f32));
        if let Ok(values) = model.predict(single.as_ref()) {
            probes.rounded = probes.worst(&flat(values.as_ref())).0;
        }
        probes
    }

    /// How far the graph is from the model.
    pub fn difference(&self, graph: &Graph) -> Difference {
        let found = evaluated(&graph.proto, &self.x, self.inputs)
            .expect("the exports have operators and names that are known");
        let (largest, output) = self.worst(&found);
        let rows = self.values.len() / self.outputs.len();
        Difference {
            largest: if rows == 0 { f64::INFINITY } else { largest },
            output: self.outputs[output].clone(),
            rows,
            bounded: false,
            rounded_inputs: match graph.precision {
                Precision::F32 => self.rounded,
                Precision::F64 => 0.0,
            },
            arithmetic: arithmetic(&graph.proto),
        }
    }

    /// The largest difference of these values, in standard deviations, and its output.
    fn worst(&self, found: &[f64]) -> (f64, usize) {
        let c = self.outputs.len();
        let pairs = found.iter().zip(&self.values).enumerate();
        pairs.fold((0.0, 0), |(worst, output), (k, (found, value))| {
            let size = (found - value).abs() / self.deviations[k % c];
            let size = if size.is_nan() { f64::INFINITY } else { size };
            if size > worst {
                (size, k % c)
            } else {
                (worst, output)
            }
        })
    }
}

/// The standard deviation of each output among the samples, or of the predictions where the model does not know it.
fn deviations(model: &Predictor, values: MatRef<'_, f64>) -> Vec<f64> {
    let scaler = model.output_scaler();
    let of_predictions = |o: usize| {
        let column = values.col(o);
        let m = column.nrows().max(1) as f64;
        let mean = column.iter().map(|v| v / m).sum::<f64>();
        let spread = column.iter().map(|v| ((v - mean) / m.sqrt()).powi(2));
        spread.sum::<f64>().sqrt()
    };
    let known = |o: usize| scaler.shift[o] != 0.0 || scaler.scale[o] != 1.0;
    let deviation = |o: usize| match known(o) {
        true => scaler.scale[o],
        false => of_predictions(o),
    };
    // Where everything is constant, one unit is as good as any.
    let positive = |v: f64| if v.is_normal() { v } else { 1.0 };
    (0..scaler.scale.len())
        .map(|o| positive(deviation(o)))
        .collect()
}

/// The rows at which the model has a value.
fn usable(model: &Predictor, x: MatRef<'_, f64>) -> Mat<f64> {
    if model.predict(x).is_ok() {
        return x.to_owned();
    }
    let sound = |i: &usize| model.predict(x.subrows(*i, 1)).is_ok();
    let rows: Vec<usize> = (0..x.nrows()).filter(sound).collect();
    Mat::from_fn(rows.len(), x.ncols(), |i, j| x[(rows[i], j)])
}

/// Rows of the fit where the model holds them, rows half-way between these, and rows that fill the ranges with a margin.
fn rows(model: &Predictor) -> Mat<f64> {
    let (d, ranges) = (model.inputs().len(), model.domain());
    // A network does not keep its rows: it is asked at more in their ranges.
    let (terms, most) = match model {
        Predictor::Network(model) => (model.width(), 4 * ROWS),
        Predictor::Kernel(model) => (
            model.body.points.nrows() * model.body.kernel.terms.len(),
            ROWS,
        ),
    };
    let count = (WORK / (terms * d).max(1)).clamp(FEWEST, most);
    let of_samples = (WORK_OF_SAMPLES / (terms * d).max(1)).max(FEWEST);
    // Unmoved, one half of its points would mirror the other.
    let moved: Vec<f64> = (0..d).map(|j| (0.618 * (j + 1) as f64).fract()).collect();
    let spread = lattice(count.next_power_of_two(), d, &moved);
    let spread = |i: usize, j: usize| {
        let [low, high] = ranges[j];
        let at = (1.0 + 2.0 * MARGIN) * spread[(i, j)] - MARGIN;
        low + at * (high - low)
    };
    let points = match model {
        Predictor::Network(_) => Mat::zeros(0, d),
        Predictor::Kernel(model) => {
            let (points, scaler) = (model.body.points.as_ref(), &model.input_scaler);
            let m = points.nrows();
            let picked = of_samples.min(m);
            Mat::from_fn(picked, d, |i, j| {
                let scaled = points[(i * m / picked, j)];
                scaler.unwarped(j, scaled * scaler.scale[j] + scaler.shift[j])
            })
        }
    };
    let p = points.nrows();
    let between = p.saturating_sub(1).min(count);
    // Evenly over the rows of the fit.
    let middle = |i: usize| (i - p) * (p - 1) / between;
    Mat::from_fn(p + between + count, d, |i, j| match i {
        i if i < p => points[(i, j)],
        i if i < p + between => 0.5 * points[(middle(i), j)] + 0.5 * points[(middle(i) + 1, j)],
        i => spread(i - p - between, j),
    })
}

/// The numbers of a matrix, row by row.
fn flat(a: MatRef<'_, f64>) -> Vec<f64> {
    a.row_iter().flat_map(|row| row.iter().copied()).collect()
}
