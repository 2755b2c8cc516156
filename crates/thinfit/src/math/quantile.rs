//! Medians and quantiles.

/// The value at a place, counted from 0, among sorted values; between two of them it is interpolated linearly.
pub fn at_place(sorted: &[f64], place: f64) -> f64 {
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// The quantile of the values, interpolated linearly.
pub fn quantile(mut values: Vec<f64>, level: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    at_place(&values, level * (values.len() - 1) as f64)
}

/// The middle value, the upper one of two; none without values.
pub fn upper_median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_neighbours() {
        assert_eq!(quantile(vec![4.0, 1.0, 2.0], 0.25), 1.5);
        assert_eq!(quantile(vec![7.0], 0.25), 7.0);
        assert_eq!(upper_median(vec![4.0, 1.0, 3.0, 2.0]), Some(3.0));
        assert_eq!(upper_median(vec![]), None);
    }
}
