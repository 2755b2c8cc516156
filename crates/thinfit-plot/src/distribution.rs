//! Histograms of outputs, with quantiles and limits marked.

use crate::canvas::{Anchor, Canvas, Pen, TextStyle};
use crate::number::{count, short};
use crate::panel::{ABOVE, BELOW, EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{AXIS, BLUE, INK, NOTE, ORANGE};
use crate::text::{elide, width};

/// Outputs that are drawn.
const MOST: usize = 5;
/// Size of a panel.
const SIZE: (f64, f64) = (400.0, 190.0);
/// Room above a panel for the names of its marks.
const MARKED: f64 = ABOVE + 14.0;
/// Room for the names of limits, above those of the marks.
const LIMITED: f64 = 14.0;
/// The share of the values on each side that may lie beyond the bars.
const TAIL: f64 = 0.001;

/// The distribution of one output.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    /// The output, with its unit if it has one.
    pub quantity: &'a str,
    /// Its values, in any order.
    pub values: &'a [f64],
    /// Names and places of the marks, such as the median, in ascending order.
    pub marks: &'a [(String, f64)],
    /// Names and places of limits, in ascending order.
    pub limits: &'a [(String, f64)],
}

/// Draws a histogram for each output, one below the other.
///
/// The outermost thousandths on both sides may lie beyond the bars, so that a few far values do not squeeze the rest; a note says
/// how many do. A limit is drawn if it is no farther out than the bars are wide.
pub fn distributions(title: &str, outputs: &[Histogram<'_>]) -> Canvas {
    let (shown, rest) = outputs.split_at(outputs.len().min(MOST));
    let draws = shown.iter().map(|output| output.values.len()).max();
    let more = match rest.len() {
        0 => String::new(),
        more => format!("; {} more outputs are not drawn", count(more)),
    };
    let bars: Vec<Bars> = (shown.iter())
        .map(|output| Bars::of(output.values, output.limits))
        .collect();
    let beyond = bars.iter().map(Bars::beyond).fold(0.0, f64::max);
    let beyond = match beyond > 0.0 {
        true => format!("; up to {beyond:.1} % of them lie beyond the bars"),
        false => String::new(),
    };
    let draws = count(draws.unwrap_or(0));
    let head = Head {
        title,
        notes: vec![format!("{draws} draws{beyond}{more}")],
    };
    let above = match shown.iter().any(|output| !output.limits.is_empty()) {
        true => MARKED + LIMITED,
        false => MARKED,
    };
    let left = bars.iter().map(|bars| left_room(&bars.up(), SIZE.1));
    let left = left.fold(left_room(&Scale::from_zero([]), SIZE.1), f64::max);
    let layout = Layout {
        origin: (left, head.height() + above),
        size: SIZE,
        gap: (0.0, BELOW + above),
    };
    let end = layout.end(shown.len().max(1), 1);
    let mut canvas = Canvas::new((end.0 + EDGE + 8.0).max(head.width()), end.1 + BELOW + 4.0);
    head.draw(&mut canvas);
    for (k, (output, bars)) in shown.iter().zip(&bars).enumerate() {
        let panel = Panel {
            corner: layout.corner(k, 0),
            size: SIZE,
            across: Scale::around([bars.low, bars.high]),
            up: bars.up(),
        };
        panel.frame(&mut canvas, TickLabels::BOTH);
        bars.draw(&mut canvas, &panel);
        let median = Pen::solid(ORANGE, 1.0).dashed();
        draw_marks(&mut canvas, &panel, output.marks, (median, 0.0));
        let limits = output.limits.iter().filter(|(_, limit)| bars.hold(*limit));
        let limits: Vec<(String, f64)> = limits.cloned().collect();
        draw_marks(
            &mut canvas,
            &panel,
            &limits,
            (Pen::solid(INK, 1.4), LIMITED),
        );
        panel.titles(&mut canvas, ["", output.quantity, "draws in each bar, %"]);
    }
    canvas
}

/// Equal parts of the middle of the values, and the share of the values in each, in percent.
struct Bars {
    low: f64,
    high: f64,
    shares: Vec<f64>,
}

impl Bars {
    /// Bars for nearly all values, and as far as to those limits that are not far out.
    fn of(values: &[f64], limits: &[(String, f64)]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let m = sorted.len();
        let at = |part: f64| sorted.get((part * (m.max(1) - 1) as f64) as usize).copied();
        let ends = (at(TAIL).unwrap_or(0.0), at(1.0 - TAIL).unwrap_or(0.0));
        let reach = (ends.0 - (ends.1 - ends.0))..=(ends.1 + (ends.1 - ends.0));
        let near = limits.iter().filter(|(_, limit)| reach.contains(limit));
        let (low, high) = near.fold(ends, |(low, high), (_, limit)| {
            (low.min(*limit), high.max(*limit))
        });
        let number = match high - low > 1e-9 * high.abs().max(low.abs()) {
            true => (2.0 * (m as f64).cbrt()).clamp(5.0, 60.0) as usize,
            // One value: one bar.
            false => 1,
        };
        let mut shares = vec![0.0; number];
        for value in sorted.iter().filter(|value| (low..=high).contains(*value)) {
            let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
            let bar = (number as f64 * part) as usize;
            shares[bar.min(number - 1)] += 100.0 / m as f64;
        }
        Bars { low, high, shares }
    }

    /// The share of the values beyond the bars, in percent; 0 where that is rounding.
    fn beyond(&self) -> f64 {
        let beyond = 100.0 - self.shares.iter().sum::<f64>();
        if beyond > 1e-6 {
            beyond.min(100.0)
        } else {
            0.0
        }
    }

    /// Whether a limit is within the picture.
    fn hold(&self, limit: f64) -> bool {
        (self.low..=self.high).contains(&limit)
    }

    fn up(&self) -> Scale {
        Scale::from_zero(self.shares.iter().copied())
    }

    fn draw(&self, canvas: &mut Canvas, panel: &Panel) {
        let bottom = panel.end().1;
        let [mut left, mut right] = [self.low, self.high].map(|v| panel.place(v, 0.0).0);
        if self.shares.len() == 1 {
            (left, right) = (left - 6.0, right + 6.0);
        }
        let step = (right - left) / self.shares.len() as f64;
        for (k, share) in self.shares.iter().enumerate() {
            let top = panel.place(self.low, *share).1;
            let corner = (left + step * k as f64 + 0.5, top);
            let size = ((step - 1.0).max(0.5), bottom - top);
            canvas.rectangle(corner, size, BLUE.with_opacity(0.7));
        }
        canvas.line(&[(panel.corner.0, bottom), panel.end()], AXIS);
    }
}

/// Draws a line at each mark, and its name above where there is room, so much higher than next to the panel.
fn draw_marks(
    canvas: &mut Canvas,
    panel: &Panel,
    marks: &[(String, f64)],
    (pen, higher): (Pen, f64),
) {
    let style = TextStyle {
        colour: pen.colour,
        ..NOTE.anchored(Anchor::Middle)
    };
    let (top, bottom) = (panel.corner.1, panel.end().1);
    let mut free = panel.corner.0 - EDGE;
    for (name, value) in marks {
        let x = panel.place(*value, 0.0).0;
        if !x.is_finite() {
            continue;
        }
        canvas.line(&[(x, top - 3.0), (x, bottom)], pen);
        let text = elide(&format!("{name}: {}", short(*value)), style, 160.0);
        let half = 0.5 * width(&text, style);
        // Near an end the name stands beside its line.
        let ends = (panel.corner.0 - EDGE + half, panel.end().0 + EDGE - half);
        let middle = x.min(ends.1).max(ends.0);
        if middle - half >= free {
            canvas.text((middle, top - 7.0 - higher), text, style);
            free = middle + half + 8.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_hold_all_but_the_outermost_values_and_one_value_has_one() {
        let values: Vec<f64> = (0..10_000).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let bars = Bars::of(&values, &[]);
        let total: f64 = bars.shares.iter().sum();
        assert!(total > 99.7 && (bars.beyond() - (100.0 - total)).abs() < 1e-9);
        assert_eq!(bars.shares.len(), 43);
        let one = Bars::of(&[3.0; 50], &[]);
        assert_eq!((one.shares.len(), one.beyond()), (1, 0.0));
        assert_eq!(Bars::of(&[], &[]).shares, [0.0]);
    }

    #[test]
    fn tails_are_not_piled_up_in_the_last_bars() {
        // Evenly spread, with a few values far out.
        let even = (0..10_000).map(|i| f64::from(i) / 1e4);
        let values: Vec<f64> = even.chain([-50.0, 70.0]).collect();
        let bars = Bars::of(&values, &[]);
        assert!(bars.high < 1.0 && bars.low > 0.0);
        let (least, most) =
            (bars.shares.iter()).fold((f64::INFINITY, 0f64), |(a, b), v| (a.min(*v), b.max(*v)));
        assert!(most < 1.1 * least, "{:?}", bars.shares);
    }

    #[test]
    fn near_limits_are_drawn_and_far_ones_are_not() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1e3).collect();
        let limits = [
            ("below".to_owned(), -40.0),
            ("above, near".to_owned(), 1.3),
            ("above, far".to_owned(), 9.0),
        ];
        let bars = Bars::of(&values, &limits);
        assert!(bars.hold(1.3) && !bars.hold(9.0) && !bars.hold(-40.0));
        let drawn = distributions(
            "",
            &[Histogram {
                quantity: "y",
                values: &values,
                marks: &[],
                limits: &limits,
            }],
        );
        let svg = drawn.to_svg();
        assert!(svg.contains("above, near: 1.30") && !svg.contains("far"));
    }
}
