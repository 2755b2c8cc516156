//! Level names below an axis: side by side, in a few lines each, or rotated.

use crate::canvas::{Anchor, Canvas, TextStyle};
use crate::panel::Panel;
use crate::scale::Scale;
use crate::style::{AXIS, NUMBER};
use crate::text::{Label, elide_middle, widest, wrap};

/// Maximum number of lines of a name.
const LINES: usize = 3;
/// Height of a line.
const LINE: f64 = 12.0;
/// Free space between neighbours.
const GAP: f64 = 6.0;
/// Where names that read upwards end, below the axis.
const START: f64 = 7.0;
/// How far a single line reaches below the axis.
const REACH: f64 = 18.0;

/// Names of upward text.
const UPWARDS: TextStyle = TextStyle {
    upwards: true,
    ..NUMBER.anchored(Anchor::End)
};

/// Names that fit below an axis.
pub struct LevelNames {
    /// The lines of each name.
    names: Vec<Vec<Label>>,
    upwards: bool,
    /// Of many levels every second, third, … has a name.
    every: usize,
}

impl LevelNames {
    /// The names of levels on an axis of this width; upwards none is longer than `longest`.
    pub fn new(levels: &[String], width: f64, longest: f64) -> Self {
        let across = LevelNames::scale(levels.len());
        let distance = width * (across.position(1.0) - across.position(0.0));
        let across = |name: &String| wrap(name, NUMBER, distance - GAP, LINES);
        let names: Vec<Vec<Label>> = levels.iter().map(across).collect();
        if names.iter().flatten().all(|line| line.whole.is_none()) {
            return LevelNames {
                names,
                upwards: false,
                every: 1,
            };
        }
        let upwards = |name: &String| vec![elide_middle(name, UPWARDS, longest)];
        LevelNames {
            names: levels.iter().map(upwards).collect(),
            upwards: true,
            every: ((NUMBER.size + 2.0) / distance).ceil().max(1.0) as usize,
        }
    }

    /// The axis of so many levels.
    pub fn scale(count: usize) -> Scale {
        Scale::around([-0.5, count as f64 - 0.5])
    }

    /// Room that the names take below a panel, beyond a line of numbers.
    pub fn height(&self) -> f64 {
        let lines = self.names.iter().map(Vec::len).max().unwrap_or(1);
        match self.upwards {
            true => (widest(&self.names.concat(), UPWARDS) + START - REACH).max(0.0),
            false => LINE * (lines - 1) as f64,
        }
    }

    /// Draws ticks and names below a panel.
    pub fn draw(&self, canvas: &mut Canvas, panel: &Panel) {
        let bottom = panel.end().1;
        for (k, lines) in self.names.iter().enumerate().step_by(self.every) {
            let x = panel.place(k as f64, 0.0).0;
            canvas.line(&[(x, bottom), (x, bottom + 4.0)], AXIS);
            for (line, number) in lines.iter().zip(0..) {
                let (at, style) = match self.upwards {
                    true => ((x + 0.35 * NUMBER.size, bottom + START), UPWARDS),
                    false => (
                        (x, bottom + 14.5 + LINE * f64::from(number)),
                        NUMBER.anchored(Anchor::Middle),
                    ),
                };
                canvas.text(at, line.clone(), style);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(levels: &[&str]) -> LevelNames {
        let levels: Vec<String> = levels.iter().map(|level| (*level).into()).collect();
        LevelNames::new(&levels, 200.0, 90.0)
    }

    #[test]
    fn names_stand_side_by_side_in_lines_or_upwards() {
        let short = names(&["brass", "steel"]);
        assert!(!short.upwards && short.height() == 0.0);
        let long = names(&["Plant A (Hamburg, line one)", "Plant B"]);
        assert!(!long.upwards && long.height() > 0.0);
        let many = names(&[
            "Hamburg-Harburg north",
            "Hamburg-Harburg south",
            "Bremen",
            "Emden",
        ]);
        assert!(many.upwards && many.height() < 90.0);
        assert!(many.names[0][0].ends_with("north") && many.names[1][0].ends_with("south"));
    }
}
