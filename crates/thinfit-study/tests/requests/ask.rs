//! One random request, and a check that the answers satisfy it.

use super::linear::Linear;
use super::ranges;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thinfit::Mat;
use thinfit_methods::{InputColumn, Predictor};
use thinfit_study::{Aim, Goal, Point, Region, Value, front, minimise, suggest};

/// A request and its outcome.
#[allow(dead_code, reason = "the example writes all of it down")]
pub struct Answer {
    /// `minimum`, `front` or `suggestion`, with the number of goals or the aim.
    pub question: String,
    /// How many ranges were given, columns fixed, and constraints made.
    pub given: [usize; 3],
    /// How many points or rows were answered; otherwise what was asked, and what is wrong with the answer.
    pub found: Result<usize, String>,
}

/// A request: where to look.
struct Asked<'a> {
    region: Region<'a>,
    factors: Vec<InputColumn>,
    /// A row that keeps to it, with the fixed values.
    row: Vec<f64>,
    constraints: Vec<Linear>,
}

impl Asked<'_> {
    /// What is wrong with a row of inputs, if anything.
    fn flaw(&self, found: &[f64]) -> Option<String> {
        for (j, factor) in self.factors.iter().enumerate() {
            let inputs = &found[factor.first..][..factor.inputs()];
            let [low, high] = factor.range;
            let allowed = match factor.levels.is_empty() {
                true => {
                    (low..=high).contains(&inputs[0]) && (!factor.whole || inputs[0].fract() == 0.0)
                }
                false => factor.levels.iter().any(|level| level.inputs == inputs),
            };
            let fixed = self.region.fixed()[j];
            let kept = !fixed || inputs == &self.row[factor.first..][..factor.inputs()];
            if !(allowed && kept) {
                return Some(format!("{} is {inputs:?}", factor.name));
            }
        }
        let broken = self
            .constraints
            .iter()
            .find(|c| !c.holds(&self.factors, found));
        broken.map(|c| format!("`{}` is broken at {found:?}", c.text(&self.factors)))
    }

    /// What is wrong with a point that is printed, if anything: its numbers are read again.
    fn flaw_of_point(&self, point: &Point) -> Option<String> {
        let mut row = self.row.clone();
        for factor in &self.factors {
            match point.get(&factor.name)? {
                Value::Number(number) => row[factor.first] = format!("{number:?}").parse().unwrap(),
                Value::Text(text) => {
                    let Some(level) = factor.levels.iter().find(|level| level.name == *text) else {
                        return Some(format!("{} is {text}", factor.name));
                    };
                    row[factor.first..][..level.inputs.len()].copy_from_slice(&level.inputs);
                }
            }
        }
        self.flaw(&row).map(|flaw| format!("as printed, {flaw}"))
    }
}

/// Asks `model` for a minimum, a front or new rows in a random region, and checks every answer.
pub fn ask(model: &Predictor, seed: u64) -> Answer {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (ranges, mut words) = match random.random::<bool>() {
        true => ranges::given(model, &mut random),
        false => (thinfit_study::Ranges::of(model), vec![]),
    };
    let given = words.len();
    let mut region = Region::within(model, ranges);
    let factors = region.factors().to_vec();
    let mut row = vec![0.0; model.inputs().len()];
    factors
        .iter()
        .for_each(|factor| factor.set(random.random(), &mut row));
    let fixes = usize::from(random.random_range(0..3) == 0);
    for _ in 0..fixes {
        let factor = &factors[random.random_range(0..factors.len())];
        let value = match factor.levels.is_empty() {
            true => row[factor.first].to_string(),
            false => factor.levels[factor.level(&row)].name.clone(),
        };
        words.push(format!("{}={value}", factor.name));
        region.fix(&factor.name, &value).unwrap();
    }
    let mut constraints: Vec<Linear> = (0..random.random_range(0..=2))
        .map(|_| Linear::around(&factors, &row, &mut random))
        .collect();
    // Two equations may leave nothing but the place that they were made at.
    if constraints.iter().filter(|c| c.relation == "=").count() > 1 {
        constraints.truncate(1);
    }
    for constraint in &constraints {
        let text = constraint.text(&factors);
        region.require(&text).unwrap();
        words.push(text);
    }
    let given = [given, fixes, constraints.len()];
    let asked = Asked {
        region,
        factors,
        row,
        constraints,
    };
    let (question, found) = answered(model, &asked, seed, &mut random);
    let found = found.map_err(|why| {
        let words = words.join(", ");
        format!("seed {seed}, {question}, {words}: {why}")
    });
    Answer {
        question,
        given,
        found,
    }
}

/// A question to the region, and how many answers there are, or what is wrong with one.
fn answered(
    model: &Predictor,
    asked: &Asked<'_>,
    seed: u64,
    random: &mut ChaCha8Rng,
) -> (String, Result<usize, String>) {
    let region = &asked.region;
    let goals = [Goal::least(0), Goal::largest(1), Goal::least(2)];
    match random.random_range(0..12) {
        0..6 => {
            let goal = goals[random.random_range(0..3)];
            let found = minimise(region, goal, seed).map_err(|why| why.to_string());
            let found = found.and_then(|found| {
                let all = found.others.iter().chain([&found.best]);
                let flaws = all
                    .clone()
                    .flat_map(|one| [asked.flaw(&one.row), asked.flaw_of_point(&one.rounded)]);
                flaws.flatten().next().map_or(Ok(all.count()), Err)
            });
            ("minimum".into(), found)
        }
        6 => {
            let count = random.random_range(2..=3);
            let found = front(region, &goals[..count], seed).map_err(|why| why.to_string());
            let found = found.and_then(|found| {
                let flaws = found
                    .points
                    .iter()
                    .flat_map(|one| [asked.flaw(&one.row), asked.flaw_of_point(&one.rounded)]);
                flaws.flatten().next().map_or(Ok(found.points.len()), Err)
            });
            (format!("front of {count}"), found)
        }
        _ => {
            let (name, aim) = [
                ("uncertainty", Aim::Uncertainty),
                ("minimum", Aim::Minimum(0)),
                ("maximum", Aim::Maximum(1)),
            ][random.random_range(0..3)];
            let d = model.inputs().len();
            let mut rows: Vec<Vec<f64>> = Vec::new();
            let mut taken = Mat::zeros(0, d);
            // Again, with the first rows taken.
            for _ in 0..random.random_range(1..=2) {
                match suggest(region, aim, 4, taken.as_ref(), seed) {
                    Ok(found) => rows.extend(
                        found
                            .row_iter()
                            .map(|row| row.iter().copied().collect::<Vec<f64>>()),
                    ),
                    Err(why) => return (format!("suggestion, {name}"), Err(why.to_string())),
                }
                taken = Mat::from_fn(rows.len(), d, |i, j| rows[i][j]);
            }
            let flaw = rows.iter().find_map(|row| asked.flaw(row));
            let again = (0..rows.len()).find(|i| rows[..*i].contains(&rows[*i]));
            let flaw = flaw.or(again.map(|i| format!("{:?} is proposed again", rows[i])));
            (
                format!("suggestion, {name}"),
                flaw.map_or(Ok(rows.len()), Err),
            )
        }
    }
}
