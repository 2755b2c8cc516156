//! scratch
use faer::Mat;
use std::time::Instant;
use thinfit::*;
fn main() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let x = Mat::from_fn(60, 10, |i, j| ((i * (7 + 6 * j)) % 101) as f64 / 101.0);
    for (activation, c) in Activation::ALL
        .map(|a| (a, 1))
        .into_iter()
        .chain([(Activation::Fourier, 3), (Activation::Tanh, 3)])
    {
        let y = Mat::from_fn(60, c, |i, o| {
            (3.0 * x[(i, o)]).sin() + x[(i, 0)] * x[(i, 1)]
        });
        let config = Config {
            activation,
            width: 100,
            method: Method::Random,
            polish: Polish {
                steps: 0,
                ..Config::fast().polish
            },
            ..Config::fast()
        };
        let model = fit(&Dataset::new(x.clone(), y).unwrap(), &config, &|_| {
            Control::Continue
        })
        .unwrap();
        let m = 1 << 18;
        let data: Vec<f64> = (0..m * 10).map(|i| (i as f64 * 0.618034) % 1.0).collect();
        for (name, z) in [
            ("col", MatRef::from_column_major_slice(&data, m, 10)),
            ("row", MatRef::from_row_major_slice(&data, m, 10)),
        ] {
            let mut best = f64::INFINITY;
            for _ in 0..5 {
                let s = Instant::now();
                pool.install(|| model.predict(z).unwrap());
                best = best.min(s.elapsed().as_secs_f64());
            }
            println!(
                "{activation:?} {c} {name}: {:.2} M rows/s",
                m as f64 / best / 1e6
            );
        }
    }
    let mut t: Vec<f64> = (0..1024).map(|i| i as f64 * 0.37 - 190.0).collect();
    let t0 = t.clone();
    let mut sin = t.clone();
    let mut best = [f64::INFINITY; 2];
    for _ in 0..200 {
        let s = Instant::now();
        for _ in 0..100 {
            elementary::cos_2pi(std::hint::black_box(&mut t));
        }
        best[0] = best[0].min(s.elapsed().as_secs_f64());
        let s = Instant::now();
        for _ in 0..100 {
            elementary::sincos_2pi(&t0, std::hint::black_box(&mut t), &mut sin, 1.0);
        }
        best[1] = best[1].min(s.elapsed().as_secs_f64());
    }
    println!(
        "cos {:.0} M/s sincos {:.0} M/s",
        102400.0 / best[0] / 1e6,
        102400.0 / best[1] / 1e6
    );
}
