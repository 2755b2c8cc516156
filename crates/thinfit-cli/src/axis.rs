//! Scales and their ticks, and the panel that maps data onto a part of the canvas.

use crate::canvas::{Anchor, Canvas, Colour, Pen, Type, text_width};

/// Colour of text and frames.
pub const INK: Colour = Colour::new(45, 48, 54);
/// Colour of secondary text.
pub const FAINT: Colour = Colour::new(110, 115, 122);
const GRID: Colour = Colour::new(232, 234, 237);

/// Text of the usual size, at the start of its position.
pub const TEXT: Type = Type {
    size: 11.0,
    bold: false,
    colour: INK,
    anchor: Anchor::Start,
    upwards: false,
};

const NUMBER: Type = Type {
    size: 10.0,
    colour: FAINT,
    ..TEXT
};

/// An interval and how values spread over it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl Scale {
    /// A linear scale over the finite ones of the values, with a margin; never empty.
    pub fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = extent(values).unwrap_or((0.0, 1.0));
        // Half of each end first: the difference of two large numbers may overflow.
        let half = 0.5 * high - 0.5 * low;
        let margin = if half > 1e-12 * high.abs().max(low.abs()) {
            0.1 * half
        } else {
            0.5 * high.abs().max(1e-12)
        };
        Scale {
            low: (low - margin).max(-1e300),
            high: (high + margin).min(1e300),
            logarithmic: false,
        }
    }

    /// A linear scale with zero in the middle.
    pub fn symmetric(values: impl IntoIterator<Item = f64>) -> Self {
        Scale::around(values.into_iter().flat_map(|value| [value, -value]))
    }

    /// A linear scale that begins at zero.
    pub fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let scale = Scale::around(values.into_iter().chain([0.0]));
        Scale { low: 0.0, ..scale }
    }

    /// A logarithmic scale over the positive ones of the values, in whole decades.
    pub fn decades(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) =
            extent(values.into_iter().filter(|&value| value > 0.0)).unwrap_or((0.1, 1.0));
        let low = low.log10().floor().clamp(-300.0, 299.0);
        let high = high.log10().ceil().max(low + 1.0).min(300.0);
        Scale {
            low: 10f64.powf(low),
            high: 10f64.powf(high),
            logarithmic: true,
        }
    }

    /// The position of a value: 0 at the lower end, 1 at the upper.
    pub fn position(&self, value: f64) -> f64 {
        if self.logarithmic {
            (value / self.low).log10() / (self.high / self.low).log10()
        } else {
            (0.5 * value - 0.5 * self.low) / (0.5 * self.high - 0.5 * self.low)
        }
    }

    /// About `count` round values on the scale, with their labels.
    pub fn ticks(&self, count: usize) -> Vec<(f64, String)> {
        if self.logarithmic {
            return self.decade_ticks(count);
        }
        let step = round_step((self.high / count as f64) - (self.low / count as f64));
        let (first, last) = (
            (self.low / step).ceil() as i64,
            (self.high / step).floor() as i64,
        );
        // A label needs the digits of the step, and a power of ten where those would be many.
        let exponent = (1.0001 * step).log10().floor() as i32;
        let largest = self.low.abs().max(self.high.abs());
        (first..=last)
            .take(10 * count)
            .map(|index| {
                let value = index as f64 * step;
                let label = if !(1e-3..1e5).contains(&largest) {
                    scientific(
                        value,
                        (largest.log10().floor() as i32 - exponent).max(0) as usize,
                    )
                } else {
                    format!("{value:.*}", (-exponent).max(0) as usize)
                };
                (value, label.replace('-', "−"))
            })
            .collect()
    }

    fn decade_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let (low, high) = (
            self.low.log10().round() as i32,
            self.high.log10().round() as i32,
        );
        let stride = ((high - low) as usize).div_ceil(count.max(1)).max(1);
        (low..=high)
            .step_by(stride)
            .map(|power| (10f64.powi(power), format!("10{}", superscript(power))))
            .collect()
    }
}

/// A rectangle of the canvas with a scale on each side.
pub struct Panel {
    /// Upper left corner.
    pub corner: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
    /// The scale from left to right.
    pub across: Scale,
    /// The scale from bottom to top.
    pub up: Scale,
}

/// What is written at the ends of a panel's grid lines.
#[derive(Clone, Copy, Debug)]
pub struct Labels {
    /// Numbers below the panel.
    pub below: bool,
    /// Numbers to the left of it.
    pub left: bool,
    /// About how many grid lines in each direction.
    pub count: usize,
}

impl Panel {
    /// The place of a point on the canvas.
    pub fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.corner.0 + self.size.0 * self.across.position(x),
            self.corner.1 + self.size.1 * (1.0 - self.up.position(y)),
        )
    }

    /// Grid lines, frame and numbers; returns the room that the numbers take on the left.
    pub fn frame(&self, canvas: &mut Canvas, labels: Labels) -> f64 {
        let (left, top) = self.corner;
        let (right, bottom) = (left + self.size.0, top + self.size.1);
        let grid = Pen {
            colour: GRID,
            width: 1.0,
            dashed: false,
        };
        let mut room = 0.0;
        for (value, label) in self.uncrowded_ticks(labels.count) {
            let x = left + self.size.0 * self.across.position(value);
            canvas.line(&[(x, top), (x, bottom)], grid);
            if labels.below {
                let centred = Type {
                    anchor: Anchor::Middle,
                    ..NUMBER
                };
                canvas.text((x, bottom + 14.0), label, centred);
            }
        }
        for (value, label) in self.up.ticks(labels.count) {
            let y = bottom - self.size.1 * self.up.position(value);
            canvas.line(&[(left, y), (right, y)], grid);
            if labels.left {
                let flush = Type {
                    anchor: Anchor::End,
                    ..NUMBER
                };
                room = f64::max(room, text_width(&label, flush) + 6.0);
                canvas.text((left - 6.0, y + 3.5), label, flush);
            }
        }
        let frame = Pen {
            colour: Colour::new(170, 175, 181),
            ..grid
        };
        let outline = [
            (left, top),
            (right, top),
            (right, bottom),
            (left, bottom),
            (left, top),
        ];
        canvas.line(&outline, frame);
        room
    }

    /// Ticks of the lower side, as many of them as leave a gap between their labels.
    fn uncrowded_ticks(&self, count: usize) -> Vec<(f64, String)> {
        let wide = |ticks: &[(f64, String)]| {
            let widest = ticks.iter().map(|(_, label)| text_width(label, NUMBER));
            widest.fold(0.0, f64::max) + 10.0
        };
        (2..=count)
            .rev()
            .map(|count| self.across.ticks(count))
            .find(|ticks| ticks.len() as f64 * wide(ticks) <= self.size.0)
            .unwrap_or_else(|| self.across.ticks(1))
    }
}

/// The smallest and the largest of the finite values.
fn extent(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold(None, |extent, value| match extent {
            None => Some((value, value)),
            Some((low, high)) => Some((f64::min(low, value), f64::max(high, value))),
        })
}

/// A step near the wanted one, of 1, 2 or 5 times a power of ten.
fn round_step(wanted: f64) -> f64 {
    let power = 10f64.powf(wanted.log10().floor());
    match wanted / power {
        digit if digit < 1.5 => power,
        digit if digit < 3.5 => 2.0 * power,
        digit if digit < 7.5 => 5.0 * power,
        _ => 10.0 * power,
    }
}

/// A number as digits times a power of ten: `2.5·10⁻⁴`.
pub fn scientific(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            let power = power.parse().map_or(String::new(), superscript);
            format!("{}·10{power}", digits.replace('-', "−"))
        }
        None => text,
    }
}

fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    power
        .to_string()
        .chars()
        .map(|character| {
            character
                .to_digit(10)
                .map_or('⁻', |digit| DIGITS[digit as usize])
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale) -> Vec<String> {
        scale.ticks(5).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_carry_the_digits_of_their_step() {
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
        assert_eq!(
            labels(Scale::decades([3e-4, 0.5])),
            ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]
        );
    }

    #[test]
    fn positions_run_from_zero_to_one() {
        let linear = Scale::from_zero([10.0]);
        assert_eq!(linear.position(0.0), 0.0);
        let decades = Scale::decades([1e-3, 1e1]);
        assert!((decades.position(1e-1) - 0.5).abs() < 1e-12);
        assert_eq!(Scale::symmetric([3.0, -7.0]).position(0.0), 0.5);
    }

    #[test]
    fn labels_below_a_panel_do_not_touch() {
        let panel = |width: f64| Panel {
            corner: (0.0, 0.0),
            size: (width, 100.0),
            across: Scale::symmetric([1.3]),
            up: Scale::symmetric([1.3]),
        };
        assert_eq!(panel(400.0).uncrowded_ticks(5).len(), 5);
        assert_eq!(panel(130.0).uncrowded_ticks(5).len(), 3);
        assert!(panel(10.0).uncrowded_ticks(5).len() <= 3);
    }

    #[test]
    fn scales_of_odd_data_are_not_empty() {
        for values in [
            vec![],
            vec![f64::NAN],
            vec![2.0, 2.0],
            vec![0.0],
            vec![f64::MAX, f64::MIN],
            vec![5e-324],
            vec![1e15, 1e15 + 0.125],
        ] {
            for scale in [
                Scale::around(values.clone()),
                Scale::symmetric(values.clone()),
                Scale::from_zero(values.clone()),
                Scale::decades(values.clone()),
            ] {
                assert!(scale.low < scale.high, "{values:?} {scale:?}");
                let ticks = scale.ticks(4);
                assert!(ticks.len() <= 60, "{values:?} {scale:?} {ticks:?}");
            }
        }
    }
}
