//! Long tables: the default model is the same to the last bit for any number of processes, blocks and threads, and
//! uses all rows.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod team;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use thinfit::pieces::{Executor, SingleProcess};
use thinfit::{
    Block, Choice, Control, Dataset, Error, LEAF, Mat, OutOfCoreTable, Result, Visitor, on_threads,
};
use thinfit_methods::{Auto, LongState, Predictor};

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

impl OutOfCoreTable for Share<'_> {
    fn inputs(&self) -> &[String] {
        &self.data.inputs
    }
    fn outputs(&self) -> &[String] {
        &self.data.outputs
    }
    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
        let m = self.data.samples() as u64;
        for leaf in visitor.seen() / LEAF..m.div_ceil(LEAF) {
            if leaf % self.ranks == self.rank {
                let (start, first) = ((leaf * LEAF) as usize, leaf * LEAF);
                let count = LEAF.min(m - first) as usize;
                visitor.take(Block {
                    first,
                    x: self.data.x.subrows(start, count),
                    y: self.data.y.subrows(start, count),
                })?;
            }
            // There is no pause after the last leaf.
            if leaf % 2 == 1 && (leaf + 1) * LEAF < m {
                visitor.pause((leaf + 1) * LEAF)?;
            }
        }
        Ok(())
    }
}

/// The models of all ranks, from a state, and the states that were kept.
fn on_ranks(data: &Dataset, ranks: u64, state: &LongState) -> (Vec<String>, Vec<LongState>) {
    let kept = Mutex::new(vec![]);
    let models = team::each(ranks as usize, |rank| {
        let share = Share {
            data,
            rank: rank.rank() as u64,
            ranks,
        };
        let mut keep = |state: &LongState| kept.lock().unwrap().push(state.clone());
        let go_on = |_: &thinfit::Progress<'_>| Control::Continue;
        let model = Auto::resume_long(state.clone(), &share, rank, &mut keep, &go_on);
        model.unwrap().0.to_json()
    });
    (models, kept.into_inner().unwrap())
}

fn new_state(data: &Dataset) -> LongState {
    let names = (data.inputs.as_slice(), data.outputs.as_slice());
    LongState::new(auto(), 3, names, "rows of a test".into())
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
            auto().fit_long(&data, &SingleProcess, 3, &|_| Control::Continue)
        })
    };
    let alone = fit(1).unwrap().0.to_json();
    let choice = serde_json::from_str::<serde_json::Value>(&alone).unwrap();
    let choice = &choice["record"]["diagnosis"]["choice"]["grown"];
    assert_eq!(
        (&choice["output"], &choice["rows"]),
        (&20_000.into(), &20_000.into())
    );
    assert_eq!(fit(2).unwrap().0.to_json(), alone);
    for ranks in [2, 3] {
        let (models, _) = on_ranks(&data, ranks, &new_state(&data));
        for model in models {
            assert!(model == alone, "{ranks} ranks");
        }
    }
}

#[test]
fn a_fit_goes_on_from_any_state_on_any_number_of_ranks() {
    let (data, _) = data(20_000);
    let (models, kept) = on_ranks(&data, 2, &new_state(&data));
    // Five leaves: the beginning, two pauses in each pass, and the ends of the first pass and of the search.
    assert_eq!(kept.len(), 7);
    let folder = std::env::temp_dir().join(format!("thinfit-long-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("fit.state");
    for (state, ranks) in kept.iter().zip([3, 1, 3, 1, 2, 1, 3]) {
        state.save(&file).unwrap();
        assert!(LongState::is_in(&file).unwrap());
        let loaded = LongState::load(&file).unwrap();
        assert!(loaded.is_of(&new_state(&data)));
        for model in on_ranks(&data, ranks, &loaded).0 {
            assert!(model == models[0], "{ranks} ranks");
        }
    }
    // A file that is cut off, or of another fit, is refused or told apart.
    let bytes = std::fs::read(&file).unwrap();
    for length in [0, 10, 200, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(&file, &bytes[..length]).unwrap();
        assert!(LongState::load(&file).is_err(), "{length}");
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 50) {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        std::fs::write(&file, &damaged).unwrap();
        assert!(LongState::load(&file).is_err(), "{place}");
    }
    let other = Auto {
        width: 21,
        ..auto()
    };
    let names = (data.inputs.as_slice(), data.outputs.as_slice());
    let other = LongState::new(other, 3, names, "rows of a test".into());
    assert!(!kept[0].is_of(&other) && kept[0].is_of_table(&other));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_table_that_changes_between_the_passes_is_refused() {
    let (mut data, _) = data(20_000);
    let (_, kept) = on_ranks(&data, 1, &new_state(&data));
    data.y[(19_999, 0)] += 1e-9;
    let go_on = |_: &thinfit::Progress<'_>| Control::Continue;
    let last = kept[kept.len() - 1].clone();
    let error = Auto::resume_long(last, &data, &SingleProcess, &mut |_| (), &go_on).unwrap_err();
    assert!(error.to_string().contains("other rows"), "{error}");
}

#[test]
fn a_state_that_somebody_has_changed_is_refused_or_goes_on() {
    let (data, _) = data(20_000);
    let (_, kept) = on_ranks(&data, 1, &new_state(&data));
    let folder = std::env::temp_dir().join(format!("thinfit-changed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("fit.state");
    let stop = |_: &thinfit::Progress<'_>| Control::Stop;
    for (number, state) in kept.iter().enumerate().step_by(3) {
        state.save(&file).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        let (content, _) = bytes.split_last_chunk::<8>().unwrap();
        let line = content.iter().position(|byte| *byte == b'\n').unwrap();
        // The head, the lengths after it, and some of the numbers.
        let places = (0..line).step_by(1 + line / 12);
        let places = places.chain((line + 1..line + 160).step_by(9));
        let places = places.chain((line..content.len()).step_by(content.len() / 9));
        for place in places {
            let mut changed = content.to_vec();
            if let Some(byte) = changed.get_mut(place) {
                *byte = byte.wrapping_add(1 + (37 * place % 255) as u8);
            }
            let sum = thinfit::file::fnv1a(changed.iter().copied());
            changed.extend(sum.to_le_bytes());
            std::fs::write(&file, &changed).unwrap();
            if let Ok(state) = LongState::load(&file)
                && let Ok((model, _)) =
                    Auto::resume_long(state, &data, &SingleProcess, &mut |_| (), &stop)
            {
                let f = model.predict(data.x.as_ref()).unwrap();
                assert!(f.is_all_finite(), "{place} of state {number}");
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A table whose second pass nobody waits for.
struct Abandoned(Dataset, AtomicUsize);

impl OutOfCoreTable for Abandoned {
    fn inputs(&self) -> &[String] {
        &self.0.inputs
    }
    fn outputs(&self) -> &[String] {
        &self.0.outputs
    }
    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
        match self.1.fetch_add(1, Ordering::Relaxed) {
            0 => self.0.pass(visitor),
            _ => Err(Error::Data {
                what: "table",
                problem: "it was stopped".into(),
                advice: "",
            }),
        }
    }
}

#[test]
fn a_fit_that_is_stopped_in_its_second_pass_gives_the_network_of_the_sample() {
    // More rows than a sample has.
    let (data, f) = data(300_000);
    let x = data.x.clone();
    let table = Abandoned(data, AtomicUsize::new(0));
    let observe = |_: &thinfit::Progress<'_>| match table.1.load(Ordering::Relaxed) {
        2 => Control::Stop,
        _ => Control::Continue,
    };
    let (model, _) = auto()
        .fit_long(&table, &SingleProcess, 3, &observe)
        .unwrap();
    assert!(model.record().stopped);
    let choice = model.record().diagnosis.as_ref().unwrap().choice;
    let expected = |output, rows| matches!(choice, Choice::Grown { output: o, rows: r, .. } if (o, r) == (output, rows));
    assert!(expected(262_144, 300_000), "{choice:?}");
    assert_eq!(model.record().samples, 262_144);
    assert!(error(&model, &x, &f) < 0.01);
    // Who does not stop is told what is wrong with the table.
    let table = Abandoned(table.0, AtomicUsize::new(0));
    let fitted = auto().fit_long(&table, &SingleProcess, 3, &|_| Control::Continue);
    assert!(fitted.unwrap_err().to_string().contains("stopped"));
}

#[test]
fn all_rows_of_a_long_table_count() {
    let (data, f) = data(40_000);
    let model = auto().fit(&data, 3, &|_| Control::Continue).unwrap();
    assert_eq!(model.record().samples, 40_000);
    let choice = model.record().diagnosis.as_ref().unwrap().choice;
    assert!(
        matches!(
            choice,
            Choice::Grown {
                output: 40_000,
                rows: 40_000,
                ..
            }
        ),
        "{choice:?}"
    );
    // A model of a thousand rows is off by a tenth of the noise or more; 40,000 rows tell 60 numbers of a network to a hundredth.
    let all = error(&model, &data.x, &f);
    let few: Vec<usize> = (0..1000).collect();
    let few = auto()
        .fit(&data.rows(&few), 3, &|_| Control::Continue)
        .unwrap();
    assert!(all < 0.5 * error(&few, &data.x, &f), "{all}");
    // The reported error, the noise and the intervals are those of unseen rows.
    let reported = model.record().validation_mse[0].sqrt();
    assert!((reported - 0.3).abs() < 0.02, "{reported}");
    let noise = model.record().diagnosis.as_ref().unwrap().noise[0];
    assert!(noise > 0.27 && noise <= reported, "{noise}");
    // A mean of 10,000 squares of even noise, and what the model may be wrong by where noise hides it.
    let error = model.record().diagnosis.as_ref().unwrap().standard_error[0];
    assert!(
        (error / (0.09 * 0.8f64.sqrt() / 100.0) - 1.0).abs() < 0.1,
        "{error}"
    );
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
        .fit_long(&data, &SingleProcess, 3, &|_| Control::Continue)
        .unwrap();
    let plain = auto().fit(&data, 3, &|_| Control::Continue).unwrap();
    let difference =
        long.predict(data.x.as_ref()).unwrap() - plain.predict(data.x.as_ref()).unwrap();
    assert_eq!(difference.norm_max(), 0.0);
}
