//! Scales: the range of an axis, the position of a value on it, and its ticks.
//!
//! A scale is never empty, even for no values, a single one, or the largest and smallest numbers.

use crate::number::{power_of_ten, scientific};

/// Scales end here: beyond it, sums of values may overflow.
const LARGEST: f64 = 1e300;
const SMALLEST: f64 = 1e-300;

/// An interval, and how its values are laid out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    map: Map,
}

/// The function of a value that is drawn evenly.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Map {
    Linear,
    Logarithmic,
    /// asinh((value − centre)/width).
    Warped {
        centre: f64,
        width: f64,
    },
}

/// A labelled mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its position, from 0 to 1.
    pub position: f64,
    /// Its text.
    pub label: String,
}

impl Scale {
    /// A linear scale over the finite values, with a margin.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        let (low, high) = (low.max(-LARGEST), high.min(LARGEST));
        let size = high.abs().max(low.abs());
        // A smaller range counts as one value: its tick labels would need too many digits.
        let margin = if high - low > (1e-9 * size).max(SMALLEST) {
            0.05 * (high - low)
        } else {
            0.5 * size.max(SMALLEST)
        };
        Scale {
            low: low - margin,
            high: high + margin,
            map: Map::Linear,
        }
    }

    /// A linear scale with zero in the middle.
    pub fn symmetric(values: impl IntoIterator<Item = f64>) -> Self {
        Scale::around(values.into_iter().flat_map(|value| [value, -value]))
    }

    /// A linear scale that starts at zero.
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let scale = Scale::around(values.into_iter().map(|value| value.max(0.0)).chain([0.0]));
        Scale { low: 0.0, ..scale }
    }

    /// A logarithmic scale over the positive values, at least a decade long.
    pub fn logarithmic(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) =
            extent(values.into_iter().filter(|&value| value > 0.0)).unwrap_or((0.1, 1.0));
        let decades =
            [low, high].map(|value| value.log10().clamp(SMALLEST.log10(), LARGEST.log10()));
        let middle = 0.5 * (decades[0] + decades[1]);
        let half = (0.53 * (decades[1] - decades[0])).max(0.5);
        Scale {
            low: 10f64.powf((middle - half).max(-305.0)),
            high: 10f64.powf((middle + half).min(305.0)),
            map: Map::Logarithmic,
        }
    }

    /// A scale over the finite values that is even in asinh((value − centre)/width), with a margin.
    ///
    /// Linear if the width is not positive or a value is too far away for it.
    pub fn warped(values: impl IntoIterator<Item = f64>, [centre, width]: [f64; 2]) -> Self {
        let values: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
        let places = values.iter().map(|v| ((v - centre) / width).asinh());
        let places = Scale::around(places);
        let [low, high] = [places.low, places.high].map(|u| centre + width * u.sinh());
        let usable = -LARGEST <= low && low < high && high <= LARGEST && width > 0.0;
        match usable && !values.is_empty() {
            true => Scale {
                low,
                high,
                map: Map::Warped { centre, width },
            },
            false => Scale::around(values),
        }
    }

    /// The position of a value, from 0 at the lower end to 1 at the upper; values beyond an end are moved to it.
    ///
    /// NaN if the value is not finite, or not positive on a logarithmic scale.
    pub fn position(&self, value: f64) -> f64 {
        if !value.is_finite() || (self.map == Map::Logarithmic && value <= 0.0) {
            return f64::NAN;
        }
        let [low, high, place] = [self.low, self.high, value].map(|v| self.map.place(v));
        ((place - low) / (high - low)).clamp(0.0, 1.0)
    }

    fn decades(&self) -> [f64; 2] {
        [self.low, self.high].map(f64::log10)
    }

    /// Ticks at about `count` round values.
    pub fn ticks(&self, count: usize) -> Vec<Tick> {
        match self.map {
            Map::Linear => self.linear_ticks(count),
            Map::Logarithmic => self.logarithmic_ticks(count),
            Map::Warped { centre, width } => self.warped_ticks(count, [centre, width]),
        }
    }

    fn linear_ticks(&self, count: usize) -> Vec<Tick> {
        let step = round_step((self.high / count as f64) - (self.low / count as f64));
        // An end that is round up to rounding errors gets its tick.
        let first = (self.low / step - 1e-6).ceil() as i64;
        let last = (self.high / step + 1e-6).floor() as i64;
        let largest = self.low.abs().max(self.high.abs());
        (first..=last)
            .map(|index| {
                let value = index as f64 * step;
                let label = label(value, step, largest);
                let position = self.position(value);
                Tick { position, label }
            })
            .collect()
    }

    /// Values at even distances, each rounded as far as its distance to the next ones allows.
    fn warped_ticks(&self, count: usize, [centre, width]: [f64; 2]) -> Vec<Tick> {
        let [low, high] = [self.low, self.high].map(|v| self.map.place(v));
        let even = |k: usize| low + (high - low) * k as f64 / (count + 1) as f64;
        let values: Vec<f64> = (0..count + 2)
            .map(|k| centre + width * even(k).sinh())
            .collect();
        let mut ticks: Vec<Tick> = values
            .windows(3)
            .map(|near| {
                let step = round_step((near[1] - near[0]).min(near[2] - near[1]).max(SMALLEST));
                // Without the sign of a negative zero.
                let value = (near[1] / step).round() * step + 0.0;
                let label = label(value, step, value.abs());
                let position = self.position(value);
                Tick { position, label }
            })
            .collect();
        ticks.dedup_by(|b, a| b.position <= a.position);
        ticks
    }

    /// Every decade, every few decades, or 1, 2 and 5 in each, whichever gives about `count`.
    fn logarithmic_ticks(&self, count: usize) -> Vec<Tick> {
        let [low, high] = self.decades();
        let (first, last) = (low.ceil() as i32, high.floor() as i32);
        let tick = |digit: i32, power: i32| Tick {
            position: (f64::from(digit).log10() + f64::from(power) - low) / (high - low),
            label: match digit {
                1 => power_of_ten(power),
                _ => format!("{digit}·{}", power_of_ten(power)),
            },
        };
        if last <= first && count > 2 {
            let each =
                (first - 1..=last).flat_map(|power| [1, 2, 5].map(|digit| tick(digit, power)));
            return each
                .filter(|tick| (0.0..=1.0).contains(&tick.position))
                .collect();
        }
        let stride = ((last - first + 1) as usize).div_ceil(count.max(1)).max(1);
        // Multiples of the stride, so that 10⁰ is among them if it is on the scale.
        (first..=last)
            .filter(|power| power.rem_euclid(stride as i32) == 0)
            .map(|power| tick(1, power))
            .collect()
    }

    /// Positions of the small ticks on a logarithmic scale of this length: the digits of each decade, or the decades.
    pub fn minor_ticks(&self, length: f64) -> Vec<f64> {
        let [low, high] = self.decades();
        let room = length / (high - low);
        if self.map != Map::Logarithmic || room < 4.0 {
            return Vec::new();
        }
        let digits = if room < 24.0 { 1..2 } else { 2..10 };
        (low.floor() as i32..=high.floor() as i32)
            .flat_map(|power| {
                let digits = digits.clone();
                digits.map(move |digit| f64::from(power) + f64::from(digit).log10())
            })
            .map(|value| (value - low) / (high - low))
            .filter(|position| (0.0..=1.0).contains(position))
            .collect()
    }
}

impl Map {
    fn place(self, value: f64) -> f64 {
        match self {
            // Half, since the length of a scale may overflow.
            Map::Linear => 0.5 * value,
            Map::Logarithmic => value.log10(),
            Map::Warped { centre, width } => ((value - centre) / width).asinh(),
        }
    }
}

/// A value with the digits of `step`, and with a power of ten where plain digits of `largest` would be long.
fn label(value: f64, step: f64, largest: f64) -> String {
    let exponent = (1.0001 * step).log10().floor() as i32;
    if (1e-3..1e5).contains(&largest) {
        return format!("{value:.*}", (-exponent).max(0) as usize).replace('-', "−");
    }
    let digits = (largest.log10().floor() as i32).saturating_sub(exponent);
    scientific(value, digits.max(0) as usize)
}

/// The smallest and the largest finite value.
fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(None, |extent, value| match extent {
            None => Some((value, value)),
            Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        })
}

/// The number near `wanted` that is 1, 2 or 5 times a power of ten.
fn round_step(wanted: f64) -> f64 {
    let power = 10f64.powf(wanted.log10().floor());
    match wanted / power {
        digit if digit < 1.5 => power,
        digit if digit < 3.5 => 2.0 * power,
        digit if digit < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks(5).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_have_the_digits_of_their_step() {
        assert_eq!(
            labels(Scale::around([0.0, 1.0])),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(Scale::around([-30.0, 30.0])),
            ["−30", "−20", "−10", "0", "10", "20", "30"]
        );
        assert_eq!(
            labels(Scale::symmetric([2e-4])),
            ["−2·10⁻⁴", "−1·10⁻⁴", "0", "1·10⁻⁴", "2·10⁻⁴"]
        );
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_their_parts() {
        assert_eq!(
            labels(Scale::logarithmic([3e-4, 2.0])),
            ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]
        );
        assert_eq!(
            labels(Scale::logarithmic([1e-9, 1.0])),
            ["10⁻⁸", "10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]
        );
        assert_eq!(
            labels(Scale::logarithmic([0.3, 0.5])),
            ["2·10⁻¹", "5·10⁻¹", "10⁰"]
        );
        let decades = Scale::logarithmic([1.0, 100.0]);
        assert_eq!(
            [100.0, 40.0, 4.0].map(|room| decades.minor_ticks(room).len()),
            [17, 3, 0]
        );
        assert!(Scale::around([1.0, 100.0]).minor_ticks(100.0).is_empty());
    }

    #[test]
    fn positions_run_from_zero_to_one() {
        let linear = Scale::from_zero([10.0]);
        assert_eq!(linear.position(0.0), 0.0);
        assert_eq!(linear.position(-1.0), 0.0);
        let decades = Scale::logarithmic([1e-3, 1e1]);
        assert!((decades.position(1e-1) - 0.5).abs() < 1e-12);
        assert!(decades.position(0.0).is_nan());
        assert_eq!(Scale::symmetric([3.0, -7.0]).position(0.0), 0.5);
    }

    #[test]
    fn warped_scales_have_round_ticks_at_even_distances() {
        // Five decades, straight below 0.1.
        let scale = Scale::warped([0.0, 0.3, 1e3], [0.0, 0.1]);
        assert_eq!(labels(scale), ["0.2", "1", "5", "50", "200"]);
        let signed = Scale::warped([-2e4, 3e6], [5.0, 10.0]);
        assert_eq!(labels(signed), ["−1000", "0", "100", "4000", "2·10⁵"]);
        for scale in [scale, signed] {
            let ticks = scale.ticks(5);
            for pair in ticks.windows(2) {
                let distance = pair[1].position - pair[0].position;
                assert!((0.1..0.25).contains(&distance), "{ticks:?}");
            }
        }
        let place = |v: f64| (v / 0.1).asinh() / 1e4f64.asinh();
        for v in [0.0, 0.05, 2.0, 1e3] {
            let expected = (place(v) + 0.05) / 1.1;
            assert!((scale.position(v) - expected).abs() < 1e-12, "{v}");
        }
        assert_eq!(scale.position(-1e9), 0.0);
        assert_eq!(
            Scale::warped([0.0, 1.0], [0.0, 0.0]),
            Scale::around([0.0, 1.0])
        );
    }

    #[test]
    fn scales_of_odd_data_are_not_empty() {
        for values in [
            vec![],
            vec![f64::NAN],
            vec![2.0, 2.0],
            vec![0.0],
            vec![-0.0],
            vec![f64::MAX, f64::MIN],
            vec![f64::MAX],
            vec![5e-324],
            vec![1e-300, 1e300],
            vec![1e15, 1e15 + 0.125],
            vec![1e9, 1e9 + 2.0],
        ] {
            for scale in [
                Scale::around(values.clone()),
                Scale::symmetric(values.clone()),
                Scale::from_zero(values.clone()),
                Scale::logarithmic(values.clone()),
                Scale::warped(values.clone(), [1.0, 0.5]),
                Scale::warped(values.clone(), [0.0, 1e-300]),
            ] {
                assert!(scale.low < scale.high, "{values:?} {scale:?}");
                for count in 1..8 {
                    let ticks = scale.ticks(count);
                    assert!(ticks.len() <= 2 * count + 4, "{values:?} {ticks:?}");
                    assert!(
                        ticks.iter().all(|t| (0.0..=1.0).contains(&t.position)),
                        "{values:?} {ticks:?}"
                    );
                }
            }
        }
    }
}
