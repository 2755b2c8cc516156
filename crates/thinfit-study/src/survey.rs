//! A first scan of a region: the model at points spread over it, and descents from the best of them.

use crate::Error;
use crate::feasible::set;
use crate::quadratic::Face;
use crate::region::{Goal, Region, Variable};
use crate::search::{Bounds, Slope, descend};
use thinfit::Mat;
use thinfit::pieces::dot;
use thinfit_design::{Scheme, Space, plan};
use thinfit_methods::InputColumn;

/// Places of a survey, over all combinations of levels.
const PLACES: usize = 1024;
/// Minimum number of places of a combination.
const FEWEST: usize = 64;
/// More combinations of levels than these are not tried one by one.
pub(crate) const COMBINATIONS: usize = 64;
/// Number of neighbours that a start has to beat.
const NEIGHBOURS: usize = 6;
/// Rounds of exchanges.
const ROUNDS: usize = 20;
/// Whole numbers of a column that an exchange tries one by one.
const MANY: usize = 64;

/// Distance to an end of a range that counts as zero.
const END: f64 = 1e-9;
/// Number of intervals between two minima, at whose ends the model is evaluated.
const BETWEEN: usize = 12;

/// A place in a region.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The combination of levels that it belongs to; 0 if they are not tried one by one.
    pub combination: usize,
    /// The inputs of the model (d).
    pub row: Vec<f64>,
    /// The coordinates of the variables (n).
    pub t: Vec<f64>,
}

impl Place {
    /// The place of a row.
    fn at(combination: usize, row: Vec<f64>, variables: &[Variable]) -> Self {
        let t = variables.iter().map(|v| v.factor.place(&row)).collect();
        Place {
            combination,
            row,
            t,
        }
    }
}

/// The bounds of the variables where the other inputs are those of a row (d).
struct Held<'a> {
    region: &'a Region<'a>,
    variables: &'a [Variable],
    row: &'a [f64],
}

impl Bounds for Held<'_> {
    fn faces(&self, t: &[f64]) -> Option<Vec<Face>> {
        self.region.faces(self.variables, t, self.row)
    }

    fn restored(&self, t: Vec<f64>) -> Option<Vec<f64>> {
        self.region.restored(self.variables, t, self.row)
    }
}

/// The function to minimise: the largest of Σ_o w_io f_o − c_i.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    /// w_i, one weight for each output.
    pub weights: Vec<Vec<f64>>,
    /// c_i.
    pub offsets: Vec<f64>,
}

impl Scalar {
    /// One goal alone.
    pub fn of(goal: Goal, outputs: usize) -> Self {
        let weight = |o| if o == goal.output { goal.sign() } else { 0.0 };
        Scalar {
            weights: vec![(0..outputs).map(weight).collect()],
            offsets: vec![0.0],
        }
    }

    /// Its value where the outputs are `f` (c).
    pub fn value(&self, f: &[f64]) -> f64 {
        let terms = self.weights.iter().zip(&self.offsets);
        let values = terms.map(|(weights, offset)| dot(weights, f) - offset);
        values.fold(f64::NEG_INFINITY, f64::max)
    }
}

/// A scan of a region.
pub(crate) struct Survey<'a> {
    pub region: &'a Region<'a>,
    pub variables: Vec<Variable>,
    /// The columns of text and of whole numbers that are exchanged; empty where every combination is tried.
    exchanged: Vec<InputColumn>,
    pub combinations: usize,
    pub places: Vec<Place>,
    /// The outputs at the places (c each).
    pub values: Vec<Vec<f64>>,
}

impl<'a> Survey<'a> {
    /// Scans the region.
    pub fn take(region: &'a Region<'a>, seed: u64) -> Result<Self, Error> {
        region.check()?;
        let variables = region.variables();
        let choices = region.choices();
        let product = |count: usize, factor: &InputColumn| {
            let choices = factor.choices().unwrap_or(1);
            count.saturating_mul(choices)
        };
        let count = choices.iter().fold(1, product);
        let (combinations, exchanged) = match count {
            0..=COMBINATIONS => (count, Vec::new()),
            _ => (1, choices.clone()),
        };
        let spread = spread(variables.len() + exchanged.len(), combinations, seed);
        let mut places = Vec::new();
        for combination in 0..combinations {
            let mut template = region.row();
            if exchanged.is_empty() {
                let mut rest = combination;
                for factor in &choices {
                    let count = factor.choices().unwrap_or(1);
                    factor.choose(rest % count, &mut template);
                    rest /= count;
                }
            }
            for at in &spread {
                let (at, chosen) = at.split_at(variables.len());
                let mut row = template.clone();
                for (factor, place) in exchanged.iter().zip(chosen) {
                    factor.set(*place, &mut row);
                }
                // Constraints may forbid some of the whole numbers.
                let place = match region.restored(&variables, at.to_vec(), &row) {
                    Some(t) => {
                        set(&variables, &t, &mut row);
                        Place {
                            combination,
                            row,
                            t,
                        }
                    }
                    None => {
                        set(&variables, at, &mut row);
                        let whole = exchanged.iter().any(|factor| factor.whole);
                        match whole.then(|| region.settled(row)).flatten() {
                            Some(row) => Place::at(combination, row, &variables),
                            None => continue,
                        }
                    }
                };
                places.push(place);
            }
        }
        if places.is_empty() {
            return Err(region.infeasible());
        }
        let rows = table(places.iter().map(|place| place.row.as_slice()));
        let f = region.model.predict(rows.as_ref())?;
        let values = (0..f.nrows()).map(|i| f.row(i).iter().copied().collect());
        Ok(Survey {
            region,
            variables,
            exchanged,
            combinations,
            places,
            values: values.collect(),
        })
    }

    /// The size of the changes of `scalar` over the places.
    pub fn range(&self, scalar: &Scalar) -> f64 {
        let values = self.values.iter().map(|f| scalar.value(f));
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        (high - low).max(1e-12 * high.abs()).max(1e-290)
    }

    /// Starts of descents: the points of each combination that beat their neighbours, and some of the best, at most `most`
    /// of each combination.
    pub fn starts(&self, scalar: &Scalar, most: usize) -> Vec<&Place> {
        let value: Vec<f64> = self.values.iter().map(|f| scalar.value(f)).collect();
        let mut starts = Vec::new();
        for combination in 0..self.combinations {
            let mut here: Vec<usize> = (0..self.places.len())
                .filter(|i| self.places[*i].combination == combination)
                .collect();
            here.sort_by(|a, b| value[*a].total_cmp(&value[*b]));
            let wins = |rank: usize| {
                // A place that better ones surround lies on a slope.
                let mut distances: Vec<(f64, bool)> = (0..here.len())
                    .filter(|other| *other != rank)
                    .map(|other| (self.apart(here[rank], here[other]), other < rank))
                    .collect();
                let near = NEIGHBOURS.min(distances.len());
                if near < distances.len() {
                    distances.select_nth_unstable_by(near, |a, b| a.0.total_cmp(&b.0));
                }
                distances[..near].iter().all(|(_, better)| !better)
            };
            let (winners, others): (Vec<usize>, Vec<usize>) =
                (0..here.len()).partition(|rank| wins(*rank));
            let enough = (most / 2).saturating_sub(winners.len());
            let chosen = winners.into_iter().take(most);
            let chosen = chosen.chain(others.into_iter().take(enough));
            starts.extend(chosen.map(|rank| &self.places[here[rank]]));
        }
        starts
    }

    fn apart(&self, a: usize, b: usize) -> f64 {
        let pairs = self.places[a].t.iter().zip(&self.places[b].t);
        pairs.map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// The local minimum below a place, and its value: no exchange of a level or a whole number lowers it, and no step to the next whole
    /// number after which the variables move on.
    pub fn descend(&self, start: &Place, scalar: &Scalar, range: f64) -> Option<(Place, f64)> {
        let fallen = self.fall(start.clone(), scalar, range);
        let relaxed = self.relax(start, scalar, range);
        let relaxed = relaxed.and_then(|place| self.fall(place, scalar, range));
        let both = fallen.into_iter().chain(relaxed);
        let (mut place, mut value) = both.min_by(|a, b| a.1.total_cmp(&b.1))?;
        for _ in 0..ROUNDS {
            let enough = value - 1e-12 * range;
            let mut other = place.clone();
            let next = match self.exchange(&mut other.row, scalar, value)? < enough {
                true => self.fall(other, scalar, range),
                false => self.step(&place, scalar, range, enough),
            };
            match next {
                Some(next) if next.1 < enough => (place, value) = next,
                _ => break,
            }
        }
        Some((place, value))
    }

    /// The end of the descent from a point, and its value, with the levels and integers of the point.
    fn fall(&self, mut place: Place, scalar: &Scalar, range: f64) -> Option<(Place, f64)> {
        let held = Held {
            region: self.region,
            variables: &self.variables,
            row: &place.row,
        };
        let functions = |t: &[f64]| self.functions(&self.variables, &place.row, t, scalar);
        let found = descend(functions, place.t.clone(), &held, range)?;
        let faces = held.faces(&found.t)?;
        place.t = found.t;
        snap(&mut place.t, &faces);
        set(&self.variables, &place.t, &mut place.row);
        Some((place, found.value))
    }

    /// The end of the descent from a point whose integers are treated as real numbers, rounded to integers.
    fn relax(&self, start: &Place, scalar: &Scalar, range: f64) -> Option<Place> {
        if !self.exchanged.iter().any(|factor| factor.whole) {
            return None;
        }
        let variables = self.region.relaxed();
        let held = Held {
            region: self.region,
            variables: &variables,
            row: &start.row,
        };
        let t = variables.iter().map(|v| v.factor.place(&start.row));
        let t = held.restored(t.collect())?;
        let functions = |t: &[f64]| self.functions(&variables, &start.row, t, scalar);
        let found = descend(functions, t, &held, range)?;
        let mut row = start.row.clone();
        set(&variables, &found.t, &mut row);
        let row = self.region.settled(row)?;
        Some(Place::at(start.combination, row, &self.variables))
    }

    /// The end of the descent from the neighbouring integer of a column, if it is below `enough`.
    fn step(
        &self,
        place: &Place,
        scalar: &Scalar,
        range: f64,
        enough: f64,
    ) -> Option<(Place, f64)> {
        let whole = self.exchanged.iter().filter(|factor| factor.whole);
        let steps = whole.flat_map(|factor| {
            let at = factor.choice(&place.row);
            let last = factor.choices().unwrap_or(1) - 1;
            let below = (at > 0).then(|| (factor, at - 1));
            below
                .into_iter()
                .chain((at < last).then(|| (factor, at + 1)))
        });
        let mut ends = steps.filter_map(|(factor, choice)| {
            let mut place = place.clone();
            factor.choose(choice, &mut place.row);
            place.t = self.region.restored(&self.variables, place.t, &place.row)?;
            set(&self.variables, &place.t, &mut place.row);
            self.fall(place, scalar, range)
        });
        ends.find(|(_, value)| *value < enough)
    }

    /// Whether two minima are one: they have the same levels, and `scalar` on the way from one to the other stays below both and
    /// `barrier`, as it does along an input that does not matter.
    pub fn joined(
        &self,
        a: (&Place, f64),
        b: (&Place, f64),
        scalar: &Scalar,
        barrier: f64,
    ) -> bool {
        let choices = self.region.choices();
        let (whole, texts): (Vec<&InputColumn>, Vec<&InputColumn>) =
            choices.iter().partition(|factor| factor.whole);
        let level = |factor: &&InputColumn| factor.level(&a.0.row) == factor.level(&b.0.row);
        if !texts.iter().all(level) {
            return false;
        }
        let at = |part: f64| {
            let pairs = a.0.t.iter().zip(&b.0.t);
            let t: Vec<f64> = pairs.map(|(a, b)| a + part * (b - a)).collect();
            let mut row = a.0.row.clone();
            set(&self.variables, &t, &mut row);
            for factor in &whole {
                let [from, to] = [a.0, b.0].map(|place| place.row[factor.first]);
                row[factor.first] = (from + part * (to - from)).round();
            }
            row
        };
        let rows: Vec<Vec<f64>> = (1..BETWEEN)
            .map(|k| at(k as f64 / BETWEEN as f64))
            .collect();
        let Ok(f) = self
            .region
            .model
            .predict(table(rows.iter().map(Vec::as_slice)).as_ref())
        else {
            return false;
        };
        let value = |i: usize| scalar.value(&f.row(i).iter().copied().collect::<Vec<f64>>());
        (0..f.nrows()).all(|i| value(i) <= a.1.max(b.1) + barrier)
    }

    /// Puts each exchanged column to its best choice in turn; returns the value.
    fn exchange(&self, row: &mut [f64], scalar: &Scalar, value: f64) -> Option<f64> {
        let mut best = value;
        for factor in &self.exchanged {
            let with = |choice: usize| {
                let mut other = row.to_vec();
                factor.choose(choice, &mut other);
                other
            };
            let others: Vec<Vec<f64>> = tried(factor, row)
                .into_iter()
                .map(with)
                .filter(|other| self.region.holds(other))
                .collect();
            if others.is_empty() {
                continue;
            }
            let f = self
                .region
                .model
                .predict(table(others.iter().map(Vec::as_slice)).as_ref());
            let f = f.ok()?;
            for (i, other) in others.iter().enumerate() {
                let found = scalar.value(&f.row(i).iter().copied().collect::<Vec<f64>>());
                if found < best {
                    best = found;
                    row.copy_from_slice(other);
                }
            }
        }
        Some(best)
    }

    /// The functions of `scalar` and their gradients at coordinates `t`, with the levels of `row`; none where the model has no
    /// finite value.
    fn functions(
        &self,
        variables: &[Variable],
        row: &[f64],
        t: &[f64],
        scalar: &Scalar,
    ) -> Option<Vec<Slope>> {
        let mut row = row.to_vec();
        set(variables, t, &mut row);
        let x = table(std::iter::once(row.as_slice()));
        let model = self.region.model;
        let f = model.predict(x.as_ref()).ok()?;
        let f: Vec<f64> = f.row(0).iter().copied().collect();
        let needed = |o: usize| scalar.weights.iter().any(|weights| weights[o] != 0.0);
        let gradient = |o: usize| match needed(o) {
            true => model.gradient(x.as_ref(), o).ok(),
            false => Some(Mat::zeros(1, row.len())),
        };
        let gradients = (0..f.len())
            .map(gradient)
            .collect::<Option<Vec<Mat<f64>>>>()?;
        let terms = scalar.weights.iter().zip(&scalar.offsets);
        let term = |(weights, offset): (&Vec<f64>, &f64)| {
            let along = |variable: &Variable| {
                if !variable.matters {
                    return 0.0;
                }
                let j = variable.factor.first;
                let slopes = gradients.iter().zip(weights).map(|(g, w)| w * g[(0, j)]);
                slopes.sum::<f64>() * variable.slope(&row)
            };
            let slope = variables.iter().map(along).collect();
            (dot(weights, &f) - offset, slope)
        };
        Some(terms.map(term).collect())
    }
}

/// Rows side by side in a matrix (rows × d).
pub(crate) fn table<'b>(rows: impl Iterator<Item = &'b [f64]>) -> Mat<f64> {
    let rows: Vec<&[f64]> = rows.collect();
    Mat::from_fn(rows.len(), rows.first().map_or(0, |r| r.len()), |i, j| {
        rows[i][j]
    })
}

/// Moves coordinates that rounding keeps off an end of their range to it, where no constraint is about them.
fn snap(t: &mut [f64], faces: &[Face]) {
    let constraints = &faces[2 * t.len()..];
    for (j, t) in t.iter_mut().enumerate() {
        let free = constraints.iter().all(|face| face.normal[j] == 0.0);
        *t = match *t {
            near if free && near < END => 0.0,
            near if free && near > 1.0 - END => 1.0,
            other => other,
        };
    }
}

/// The choices of a column that an exchange tries: all of them, or of many those at distances of 1, 2, 4, ….
fn tried(factor: &InputColumn, row: &[f64]) -> Vec<usize> {
    let (at, count) = (factor.choice(row), factor.choices().unwrap_or(1));
    if count <= MANY || !factor.whole {
        return (0..count).collect();
    }
    let steps = (0..usize::BITS).map(|k| 1_usize << k);
    let steps = steps.take_while(|step| *step < count);
    let both = steps.flat_map(|step| [at.checked_sub(step), at.checked_add(step)]);
    both.flatten().filter(|choice| *choice < count).collect()
}

/// Rows that fill the unit cube of dimension `n`, for each of some combinations.
fn spread(n: usize, combinations: usize, seed: u64) -> Vec<Vec<f64>> {
    let Ok(space) = Space::cube(n) else {
        // Nothing moves.
        return vec![vec![]];
    };
    let rows = (PLACES / combinations).max(FEWEST);
    // Halton's sequence takes any number of rows and inputs.
    plan(&space, Scheme::Halton, rows, &[], seed).unwrap_or_default()
}
