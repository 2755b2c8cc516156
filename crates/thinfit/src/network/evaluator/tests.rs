use super::*;
use faer::Mat;

/// Numbers of a low-discrepancy sequence within `radius`.
fn table(rows: usize, columns: usize, radius: f64, seed: f64) -> Mat<f64> {
    let at = |i: usize| ((i as f64 + seed) * 0.618_033_988_749_895).fract() * 2.0 - 1.0;
    Mat::from_fn(rows, columns, |i, j| radius * at(i * columns + j))
}

fn scaler(columns: usize) -> Scaler {
    Scaler {
        shift: (0..columns).map(|j| 0.3 * j as f64 - 1.0).collect(),
        scale: (0..columns).map(|j| 0.7 + j as f64).collect(),
        warp: Vec::new(),
    }
}

/// [`scaler`] with every third column warped.
fn warped_scaler(columns: usize) -> Scaler {
    let warp = |j: usize| Warp {
        centre: 0.5 - 0.1 * j as f64,
        width: 0.02 + 0.1 * j as f64,
    };
    Scaler {
        warp: (0..columns)
            .map(|j| (j % 3 == 0).then(|| warp(j)))
            .collect(),
        ..scaler(columns)
    }
}

/// f and Σ|b|/n by the formula of the model file and the standard library.
fn plain(
    activation: Activation,
    (hidden, output): (MatRef<'_, f64>, MatRef<'_, f64>),
    (inputs, outputs): (&Scaler, &Scaler),
    x: faer::RowRef<'_, f64>,
    o: usize,
) -> (f64, f64) {
    let (n, d) = (hidden.nrows(), x.ncols());
    let (mut g, mut size) = (0.0, 0.0);
    for l in 0..n {
        let w = hidden.row(l);
        let mut t: f64 = (0..d)
            .map(|j| {
                let u = match inputs.warp.get(j).copied().flatten() {
                    None => x[j],
                    Some(Warp { centre, width }) => {
                        let t = (x[j] - centre) / width;
                        (t.abs() + (t * t + 1.0).sqrt()).ln() * t.signum()
                    }
                };
                w[j] * ((u - inputs.shift[j]) / inputs.scale[j])
            })
            .sum();
        if activation.has_bias() {
            t += w[d];
        }
        let b = output[(l, o)];
        g += match activation {
            Activation::Fourier => {
                let (sin, cos) = (TAU * (t - t.round())).sin_cos();
                size += output[(n + l, o)].abs();
                b * cos - output[(n + l, o)] * sin
            }
            Activation::Cosine => b * (TAU * (0.5 * t - (0.5 * t).round())).cos(),
            Activation::Sigmoid => b / (1.0 + (-t).exp()),
            Activation::Tanh => b * t.tanh(),
            Activation::Relu => {
                size += (b * t).abs();
                b * t.max(0.0)
            }
        };
        size += b.abs();
    }
    let (g, size) = (g / n as f64, size / n as f64);
    let bias = if activation.has_bias() {
        output[(n, o)]
    } else {
        0.0
    };
    let (shift, scale) = (outputs.shift[o], outputs.scale[o]);
    (
        shift + scale * (g + bias),
        (size + bias.abs()) * scale + shift.abs(),
    )
}

#[test]
fn every_network_agrees_with_the_formula_and_no_row_depends_on_its_neighbours() {
    for activation in Activation::ALL {
        for (d, c, radius, inputs) in [
            (1, 1, 0.5, scaler(1)),
            (1, 1, 0.5, warped_scaler(1)),
            (2, 3, 3.0, scaler(2)),
            (5, 1, 2.0, warped_scaler(5)),
            (10, 1, 1.0, scaler(10)),
            (23, 2, 0.5, warped_scaler(23)),
        ] {
            let n = 7;
            let hidden = table(n, activation.weights(d), radius, 0.3);
            let output = table(activation.columns(n), c, 2.0, 0.7);
            let outputs = scaler(c);
            let weights = (hidden.as_ref(), output.as_ref());
            let evaluator = Evaluator::new(activation, weights, (&inputs, &outputs));
            let m = 2 * LANES + 5;
            let x = table(m, d, 2.0, 0.1);
            let mut f = Mat::zeros(m, c);
            assert!(evaluator.evaluate(x.as_ref(), f.as_mut()));
            for i in 0..m {
                for o in 0..c {
                    let (expected, size) =
                        plain(activation, weights, (&inputs, &outputs), x.row(i), o);
                    let error = (f[(i, o)] - expected).abs();
                    let bound = 1e-14 * size * (1.0 + radius);
                    assert!(
                        error < bound,
                        "{activation:?} {d} {c}: {error:e} of {size:e}"
                    );
                }
            }
            let flat: Vec<f64> = x.row_iter().flat_map(|row| row.iter().copied()).collect();
            let by_rows = MatRef::from_row_major_slice(&flat, m, d);
            for (start, count) in [
                (0, m),
                (0, 1),
                (3, LANES),
                (LANES - 1, LANES + 2),
                (m - 2, 2),
                (5, 0),
            ] {
                let mut part = Mat::zeros(count, c);
                assert!(evaluator.evaluate(by_rows.subrows(start, count), part.as_mut()));
                assert_eq!(part, f.subrows(start, count));
            }
        }
    }
}

#[test]
fn large_arguments_keep_their_phase() {
    let hidden = Mat::from_fn(1, 1, |_, _| 1.0);
    let output = Mat::from_fn(2, 1, |i, _| [1.0, 0.0][i]);
    let one = Scaler::identity(1);
    let evaluator = Evaluator::new(
        Activation::Fourier,
        (hidden.as_ref(), output.as_ref()),
        (&one, &one),
    );
    let x = Mat::from_fn(5, 1, |i, _| {
        [0.125, 1e6 + 0.25, 1e12 + 0.5, 1e15 + 0.125, 1e150][i]
    });
    let mut f = Mat::zeros(5, 1);
    assert!(evaluator.evaluate(x.as_ref(), f.as_mut()));
    let expected = [0.5_f64.sqrt(), 0.0, -1.0, 0.5_f64.sqrt(), 1.0];
    for (f, expected) in f.col(0).iter().zip(expected) {
        assert!((f - expected).abs() < 1e-15, "{f} {expected}");
    }
}

#[test]
fn values_that_cannot_be_used_are_seen_in_every_lane() {
    let (hidden, output) = (table(2, 2, 1.0, 0.1), table(4, 1, 1.0, 0.2));
    let (inputs, one) = (warped_scaler(2), Scaler::identity(1));
    let evaluator = Evaluator::new(
        Activation::Fourier,
        (hidden.as_ref(), output.as_ref()),
        (&inputs, &one),
    );
    for row in [0, 17, LANES - 1, LANES, LANES + 2] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -2e150] {
            let mut x = Mat::zeros(LANES + 3, 2);
            x[(row, row % 2)] = bad;
            assert!(!evaluator.evaluate(x.as_ref(), Mat::zeros(LANES + 3, 1).as_mut()));
        }
    }
}
