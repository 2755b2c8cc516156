//! Candidates, λ and starts shared between ranks: all ranks get the model of a single process, to the last bit.

#![allow(clippy::unwrap_used)] // also in the helpers, which are tests too

mod team;

use serde_json::{Value, json};
use thinfit::pieces::Executor;
use thinfit::{Control, Dataset, Error, Mat, Result};
use thinfit_methods::{Device, Method, Request};

/// Rows of `d` inputs that look random, and a smooth function of them with some noise.
fn data(m: usize, d: usize, noise: f64) -> Dataset {
    let wave = |i: usize, j: usize| ((i * (37 + 16 * j) + 5 * j) % 211) as f64 / 211.0;
    let x = Mat::from_fn(m, d, wave);
    let y = Mat::from_fn(m, 1, |i, _| {
        (5.0 * x[(i, 0)]).sin() + x[(i, d - 1)].powi(2) + noise * (wave(i, 7) - 0.5)
    });
    Dataset::new(x, y).unwrap()
}

fn request(settings: Value) -> Request {
    let settings = settings.as_object().unwrap().clone();
    // A pool of its own for each rank, since these are threads.
    let threads = json!({ "threads": 1 }).as_object().unwrap().clone();
    Request::new(None, [settings, threads]).unwrap()
}

/// Compares the models of several ranks with that of one, which is returned.
fn compare(what: &str, sizes: &[usize], settings: Value, data: &Dataset) -> String {
    let request = request(settings);
    let alone = request.fit(data, &|_| Control::Continue);
    let alone = alone.map_or_else(|error| error.to_string(), |model| model.to_json());
    for &size in sizes {
        let models = team::each(size, |rank| {
            let device = Device::processor();
            let model = request.fit_over(rank, &device, data, &|_| Control::Continue);
            model.map_or_else(|error| error.to_string(), |model| model.to_json())
        });
        for (rank, model) in models.iter().enumerate() {
            assert!(*model == alone, "{what}: rank {rank} of {size}");
        }
    }
    alone
}

#[test]
fn networks_share_lambdas_and_starts() {
    let short = |method: &str, lambda: Value| {
        json!({
            "method": method, "width": 8, "lambda": lambda, "generate": { "steps": 40 },
            "refine": { "steps": 20 }, "direct": { "steps": 40 }, "check_every": 10,
            "polish": { "steps": 4 }, "generator": { "hidden": [8] },
        })
    };
    let rows = data(80, 2, 0.1);
    for method in Method::THIN {
        compare(method, &[2, 3, 8], short(method, json!("auto")), &rows);
    }
    compare("gft-r", &[2, 3, 8], short("gft-r", json!(0.001)), &rows);
    let weighted = Dataset {
        weights: Some((0..80).map(|i| 1.0 + (i % 3) as f64).collect()),
        ..rows
    };
    compare("weights", &[3], short("gft-r", json!("auto")), &weighted);
    let alone = compare(
        "auto",
        &[2],
        json!({ "method": "auto", "width": 8 }),
        &weighted,
    );
    assert!(alone.contains("\"choice\":\"weighted\""), "{alone}");
}

#[test]
fn auto_shares_its_candidates() {
    let auto = |thin: bool| json!({ "method": "auto", "budget": 0.5, "width": 16, "thin": thin });
    compare("noise", &[2, 3, 8], auto(false), &data(60, 3, 0.4));
    compare("clean", &[3], auto(true), &data(60, 2, 0.0));
    compare("a race on a part", &[3], auto(false), &data(700, 2, 0.2));
    let mut stray = data(90, 2, 0.05);
    stray.y[(40, 0)] = 30.0;
    let alone = compare("an outlier", &[3], auto(false), &stray);
    assert!(alone.contains("\"outliers\""), "{alone}");
    let step = |m: usize| Mat::from_fn(m, 1, |i, _| f64::from(u8::from(i % 211 > 100)));
    let x = |m: usize, d: usize| data(m, d, 0.0).x;
    let odd = [
        ("a jump", x(120, 1), step(120)),
        ("a constant", x(40, 2), Mat::from_fn(40, 1, |_, _| 3.0)),
        ("four rows", x(4, 2), step(4)),
        ("one point", Mat::zeros(20, 2), step(20)),
        (
            "two outputs",
            x(50, 2),
            Mat::from_fn(50, 2, |i, o| (i * o) as f64),
        ),
        (
            "huge",
            x(40, 2),
            Mat::from_fn(40, 1, |i, _| 1e100 * (i % 7) as f64),
        ),
    ];
    for (what, x, y) in odd {
        compare(what, &[2], auto(false), &Dataset::new(x, y).unwrap());
    }
}

#[test]
fn a_stop_that_one_rank_hears_of_stops_all() {
    let request = request(json!({ "method": "auto", "budget": 2 }));
    let rows = data(200, 3, 0.1);
    let models = team::each(3, |rank| {
        let observe = |_: &thinfit::Progress<'_>| match rank.rank() {
            1 => Control::Stop,
            _ => Control::Continue,
        };
        let model = request.fit_over(rank, &Device::processor(), &rows, &observe);
        model.unwrap()
    });
    for model in &models {
        assert!(model.record().stopped);
        assert_eq!(model.to_json(), models[0].to_json());
    }
}

/// What `work` gives on each of so many ranks.
fn each<T: Send>(size: usize, work: &(dyn Fn(&dyn Executor) -> T + Sync)) -> Vec<T> {
    team::each(size, |rank| work(rank))
}

#[test]
fn what_ranks_share_comes_in_order() {
    for (size, count) in [(1, 5), (2, 5), (3, 2), (4, 0)] {
        let work = |mine: Vec<usize>| -> Result<Vec<String>> {
            Ok(mine.iter().map(|place| format!("λ{}", 7 * place)).collect())
        };
        let expected: Vec<String> = (0..count).map(|place| format!("λ{}", 7 * place)).collect();
        for found in each(size, &|rank| rank.map(count, work).unwrap()) {
            assert_eq!(found, expected, "{size} ranks");
        }
    }
    // A result too few, and a number that a text cannot have, are errors on every rank.
    for found in each(2, &|rank| rank.map(3, |_| Ok(vec![1.0])).unwrap_err()) {
        assert!(matches!(found, Error::Shape { .. }));
    }
    for found in each(2, &|rank| rank.map(2, |_| Ok(vec![f64::NAN])).unwrap_err()) {
        assert!(found.to_string().contains("another process"), "{found}");
    }
    for found in each(3, &|rank| rank.any(rank.rank() == 2).unwrap()) {
        assert!(found);
    }
    for found in each(3, &|rank| rank.all(&"é".repeat(5 * rank.rank())).unwrap()) {
        let expected = [0, 5, 10].map(|length| "é".repeat(length));
        assert_eq!(found, expected);
    }
    for size in [1, 3] {
        for found in each(size, &|rank| rank.broadcast(|| Ok(rank.rank())).unwrap()) {
            assert_eq!(found, 0);
        }
    }
}

#[test]
fn methods_say_whether_they_can_be_shared() {
    let shared = |settings: Value| request(settings).method.is_shared();
    assert!(shared(json!({ "method": "auto" })) && shared(json!({ "method": "gft-r" })));
    assert!(shared(json!({ "method": "gft", "lambda": "auto" })));
    assert!(!shared(json!({ "method": "gft" })) && !shared(json!({ "method": "rff" })));
    assert!(!shared(
        json!({ "method": "random", "polish": { "steps": 0 } })
    ));
}
