use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn random(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| rng.random::<f64>() - 0.5)
}

/// Q R from the factors, with Q applied to the zero-padded triangle.
fn product(qr: &Qr, rows: usize) -> Mat<f64> {
    let k = qr.r().ncols();
    let mut a = Mat::from_fn(rows, k, |i, j| if i <= j { qr.r()[(i, j)] } else { 0.0 });
    qr.apply(a.as_mut());
    a
}

#[test]
fn factors_multiply_to_the_matrix() {
    for (rows, k) in [
        (1, 1),
        (5, 3),
        (33, 32),
        (70, 33),
        (200, 131),
        (64, 64),
        (7, 0),
    ] {
        let a = random(rows, k, 1);
        let qr = Qr::new(a.clone());
        let error = (product(&qr, rows) - &a).norm_max();
        assert!(error < 1e-13, "{rows} x {k}: {error:e}");
        let mut q = Mat::<f64>::identity(rows, rows);
        qr.transpose_apply(q.as_mut());
        assert!((&q * q.transpose() - Mat::<f64>::identity(rows, rows)).norm_max() < 1e-13);
    }
}

#[test]
fn nothing_is_dropped_however_dependent() {
    // The second column differs from the first by 1e-14: a rank decision would lose the difference.
    let mut a = random(300, 2, 2);
    let other = random(300, 1, 3);
    for i in 0..300 {
        a[(i, 1)] = a[(i, 0)] + 1e-14 * other[(i, 0)];
    }
    let exact = (0..300)
        .map(|i| (a[(i, 1)] - a[(i, 0)]).powi(2))
        .sum::<f64>()
        .sqrt();
    let r = Qr::new(a).r()[(1, 1)].abs();
    assert!(r > 0.5 * exact && r < 2.0 * exact, "{r:e} {exact:e}");
}

#[test]
fn zero_and_huge_and_tiny_columns_stay_finite() {
    let mut a = random(40, 6, 4);
    for i in 0..40 {
        a[(i, 0)] = 0.0;
        a[(i, 2)] *= 1e200;
        a[(i, 3)] *= 1e-200;
        a[(i, 4)] = 1e-315;
        a[(i, 5)] = a[(i, 1)];
    }
    let qr = Qr::new(a.clone());
    assert!(product(&qr, 40).is_all_finite());
    for (j, tolerance) in [(0, 0.0), (1, 1e-14), (2, 1e186), (3, 1e-213), (5, 1e-14)] {
        let difference = (product(&qr, 40) - &a).col(j).norm_max();
        assert!(difference <= tolerance, "column {j}: {difference:e}");
    }
}

#[test]
fn power_method_finds_the_largest_singular_value() {
    let a = random(60, 20, 6);
    let exact = a.singular_values().expect("converges")[0];
    let value = Qr::new(a).largest_singular_value(200);
    assert!((value - exact).abs() < 1e-6 * exact);
}
