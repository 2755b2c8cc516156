//! Histograms of outputs, with marks at their quantiles.

use crate::canvas::{Anchor, Canvas, Pen};
use crate::number::{count, short};
use crate::panel::{ABOVE, BELOW, EDGE, Head, Layout, Panel, TickLabels, left_room};
use crate::scale::Scale;
use crate::style::{AXIS, BLUE, NOTE, ORANGE};
use crate::text::{elide, width};

/// Outputs that are drawn.
const MOST: usize = 5;
/// Size of a panel.
const SIZE: (f64, f64) = (400.0, 190.0);
/// Room above a panel for its heading and the names of the marks.
const MARKED: f64 = ABOVE + 14.0;

/// The distribution of one output.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    /// The output, with its unit if it has one.
    pub quantity: &'a str,
    /// Its values, in any order.
    pub values: &'a [f64],
    /// Names and places of the marks, such as the median.
    pub marks: &'a [(String, f64)],
}

/// Draws a histogram for each output, one below the other.
///
/// The outermost thousandths on both sides count in the first and last bar, so that a few far values do not squeeze the rest.
pub fn distributions(title: &str, outputs: &[Histogram<'_>]) -> Canvas {
    let (shown, rest) = outputs.split_at(outputs.len().min(MOST));
    let draws = shown.iter().map(|output| output.values.len()).max();
    let more = match rest.len() {
        0 => String::new(),
        more => format!("; {} more outputs are not drawn", count(more)),
    };
    let head = Head {
        title,
        notes: vec![format!("{} draws{more}", count(draws.unwrap_or(0)))],
    };
    let bars: Vec<Bars> = shown.iter().map(|output| Bars::of(output.values)).collect();
    let left = bars.iter().map(|bars| left_room(&bars.up(), SIZE.1));
    let left = left.fold(left_room(&Scale::from_zero([]), SIZE.1), f64::max);
    let layout = Layout {
        origin: (left, head.height() + MARKED),
        size: SIZE,
        gap: (0.0, BELOW + MARKED),
    };
    let end = layout.end(shown.len().max(1), 1);
    let mut canvas = Canvas::new(end.0 + EDGE + 8.0, end.1 + BELOW + 4.0);
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
        draw_marks(&mut canvas, &panel, output.marks);
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
    fn of(values: &[f64]) -> Self {
        let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        sorted.sort_by(f64::total_cmp);
        let m = sorted.len();
        let at = |part: f64| sorted.get((part * (m.max(1) - 1) as f64) as usize).copied();
        let (low, high) = (at(0.001).unwrap_or(0.0), at(0.999).unwrap_or(0.0));
        let number = match high - low > 1e-9 * high.abs().max(low.abs()) {
            true => (2.0 * (m as f64).cbrt()).clamp(5.0, 60.0) as usize,
            // One value: one bar.
            false => 1,
        };
        let mut shares = vec![0.0; number];
        for value in &sorted {
            let part = ((value - low) / (high - low)).clamp(0.0, 1.0);
            let bar = (number as f64 * part) as usize;
            shares[bar.min(number - 1)] += 100.0 / m as f64;
        }
        Bars { low, high, shares }
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

/// Draws a line at each mark, and its name above where there is room.
fn draw_marks(canvas: &mut Canvas, panel: &Panel, marks: &[(String, f64)]) {
    let style = NOTE.anchored(Anchor::Middle);
    let (top, bottom) = (panel.corner.1, panel.end().1);
    let mut free = panel.corner.0 - EDGE;
    for (name, value) in marks {
        let x = panel.place(*value, 0.0).0;
        if !x.is_finite() {
            continue;
        }
        canvas.line(
            &[(x, top - 3.0), (x, bottom)],
            Pen::solid(ORANGE, 1.0).dashed(),
        );
        let text = elide(&format!("{name}: {}", short(*value)), style, 90.0);
        let half = 0.5 * width(&text, style);
        if x - half >= free && x + half <= panel.end().0 + EDGE {
            canvas.text((x, top - 7.0), text, style);
            free = x + half + 8.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_a_bar_and_one_value_has_one() {
        let values: Vec<f64> = (0..10_000).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let bars = Bars::of(&values);
        assert!((bars.shares.iter().sum::<f64>() - 100.0).abs() < 1e-9);
        assert_eq!(bars.shares.len(), 43);
        assert_eq!(Bars::of(&[3.0; 50]).shares.len(), 1);
        assert_eq!(Bars::of(&[]).shares, [0.0]);
    }
}
