//! Long tables: processes, blocks and threads change no bit of the default model, and all rows count.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod team;

use thinfit::pieces::{Ranks, Solo};
use thinfit::{Block, Control, Dataset, LEAF, LongTable, Mat, Result, on_threads};
use thinfit_methods::{Auto, Predictor};

/// Noisy rows of two inputs that interact, and the function without noise.
fn data(m: usize) -> (Dataset, Mat<f64>) {
    let at = |i: usize, k: f64| (k * (i + 1) as f64).fract();
    let x = Mat::from_fn(m, 2, |i, j| at(i, [0.618_033_988_7, 0.754_877_666_2][j]));
    let f = Mat::from_fn(m, 1, |i, _| (5.0 * x[(i, 0)] * x[(i, 1)]).sin() + x[(i, 1)]);
    let noise = |i: usize| (12.0f64.sqrt() * (at(i, 0.569_840_290_998_1) - 0.5)) * 0.3;
    let y = Mat::from_fn(m, 1, |i, _| f[(i, 0)] + noise(i));
    (Dataset::new(x, y).unwrap(), f)
}

fn auto() -> Auto {
    Auto {
        budget: 0.5,
        width: 20,
        ..Auto::default()
    }
}

/// The leaves of a table whose number is that of the rank, modulo their count.
struct Share<'a> {
    data: &'a Dataset,
    rank: u64,
    ranks: u64,
}

impl LongTable for Share<'_> {
    fn inputs(&self) -> &[String] {
        &self.data.inputs
    }
    fn outputs(&self) -> &[String] {
        &self.data.outputs
    }
    fn pass(&self, visit: &mut dyn FnMut(Block<'_>) -> Result<()>) -> Result<()> {
        let m = self.data.samples() as u64;
        let leaves = (0..m.div_ceil(LEAF)).filter(|leaf| leaf % self.ranks == self.rank);
        for first in leaves.map(|leaf| leaf * LEAF) {
            let (start, count) = (first as usize, LEAF.min(m - first) as usize);
            visit(Block {
                first,
                x: self.data.x.subrows(start, count),
                y: self.data.y.subrows(start, count),
            })?;
        }
        Ok(())
    }
}

fn on_ranks(data: &Dataset, ranks: u64) -> Vec<String> {
    team::each(ranks as usize, |rank| {
        let share = Share {
            data,
            rank: rank.rank() as u64,
            ranks,
        };
        let model = auto().fit_long(&share, rank, 3, &|_| Control::Continue);
        model.unwrap().0.to_json()
    })
}

fn error(model: &Predictor, x: &Mat<f64>, f: &Mat<f64>) -> f64 {
    let difference = model.predict(x.as_ref()).unwrap() - f;
    difference.norm_l2() / (f.nrows() as f64).sqrt()
}

#[test]
fn ranks_and_threads_change_no_bit() {
    let (data, _) = data(20_000);
    let fit = |threads| {
        on_threads(threads, || {
            auto().fit_long(&data, &Solo, 3, &|_| Control::Continue)
        })
    };
    let alone = fit(1).unwrap().0.to_json();
    assert!(alone.contains("its output weights from all 20000"));
    assert_eq!(fit(2).unwrap().0.to_json(), alone);
    for ranks in [2, 3] {
        for model in on_ranks(&data, ranks) {
            assert!(model == alone, "{ranks} ranks");
        }
    }
}

#[test]
fn all_rows_of_a_long_table_count() {
    let (data, f) = data(40_000);
    let model = auto().fit(&data, 3, &|_| Control::Continue).unwrap();
    assert_eq!(model.record().samples, 40_000);
    let words = &model.record().findings.as_ref().unwrap().words[0];
    assert!(
        words.contains("its output weights from all 40000"),
        "{words}"
    );
    // A model of a thousand rows is off by a tenth of the noise or more; 40,000 rows tell 60 numbers of a network to a hundredth.
    let all = error(&model, &data.x, &f);
    let few: Vec<usize> = (0..1000).collect();
    let few = auto()
        .fit(&data.rows(&few), 3, &|_| Control::Continue)
        .unwrap();
    assert!(all < 0.5 * error(&few, &data.x, &f), "{all}");
    // The reported error and the intervals are those of unseen rows.
    let reported = model.record().validation_mse[0].sqrt();
    assert!((reported - 0.3).abs() < 0.02, "{reported}");
    let interval = model.interval(data.x.as_ref(), 0.9).unwrap();
    let inside = (0..40_000).filter(|&i| {
        let y = data.y[(i, 0)];
        interval.low[(i, 0)] <= y && y <= interval.high[(i, 0)]
    });
    let share = inside.count() as f64 / 40_000.0;
    assert!((share - 0.9).abs() < 0.02, "{share}");
}

#[test]
fn few_rows_are_fitted_as_ever() {
    let (data, _) = data(300);
    let (long, _) = auto()
        .fit_long(&data, &Solo, 3, &|_| Control::Continue)
        .unwrap();
    let plain = auto().fit(&data, 3, &|_| Control::Continue).unwrap();
    let difference =
        long.predict(data.x.as_ref()).unwrap() - plain.predict(data.x.as_ref()).unwrap();
    assert_eq!(difference.norm_max(), 0.0);
}
