//! An edge: a hyperplane across which a function jumps or bends, as an input derived from the others.
//!
//! ```text
//! jump   h = ¼ c (3 − c²), c = u but at least −1 and at most 1        bend   h = max(u, 0)        u = ⟨v, x⟩ − t
//! ```
//!
//! A kernel with h as one more input can represent any smooth function of x and h: one that jumps or bends along the
//! plane by a constant or varying amount, whatever the length scales. A jump goes from −½ to ½ within 1/|v| of the
//! plane and is constant beyond, so that rows on either side are unrelated.

use faer::RowRef;
use serde::{Deserialize, Serialize};
use thinfit::{Scaler, Warp, four_digits};

/// What happens across a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// The value changes: h goes from −½ to ½.
    Jump,
    /// The slope changes: h = max(u, 0).
    Bend,
}

/// A derived input h(u) with u = ⟨v, x⟩ − t, in scaled inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Which function h is.
    pub crossing: Crossing,
    /// v (d).
    pub direction: Vec<f64>,
    /// t.
    pub offset: f64,
}

impl Edge {
    /// h at `x` (d).
    pub fn value(&self, x: RowRef<'_, f64>) -> f64 {
        let u = self.argument(x);
        match self.crossing {
            Crossing::Jump => {
                let c = u.clamp(-1.0, 1.0);
                0.25 * c * (3.0 - c * c)
            }
            Crossing::Bend => u.max(0.0),
        }
    }

    /// dh/du at `x` (d).
    pub(crate) fn slope(&self, x: RowRef<'_, f64>) -> f64 {
        let u = self.argument(x);
        match self.crossing {
            Crossing::Jump => 0.75 * (1.0 - u.clamp(-1.0, 1.0).powi(2)),
            Crossing::Bend => f64::from(u8::from(u > 0.0)),
        }
    }

    /// u at `x` (d).
    pub(crate) fn argument(&self, x: RowRef<'_, f64>) -> f64 {
        let products = self.direction.iter().zip(x.iter()).map(|(v, x)| v * x);
        products.sum::<f64>() - self.offset
    }

    /// Where it is in the units of the data, as in `x1 passes 0.31` or `x1 + 0.7 x2 passes 0.6`; the first input has
    /// the coefficient one.
    pub fn place(&self, names: &[String], scaler: &Scaler) -> String {
        let terms = self.direction.iter().enumerate();
        let terms: Vec<(usize, f64)> = terms
            .filter(|(_, v)| **v != 0.0)
            .map(|(j, v)| (j, v / scaler.scale[j]))
            .collect();
        let moved = terms.iter().map(|(j, w)| w * scaler.shift[*j]);
        let offset = self.offset + moved.sum::<f64>();
        let Some(&(first, factor)) = terms.first() else {
            return "nothing".into();
        };
        if terms.len() == 1 {
            let value = scaler.unwarped(first, offset / factor);
            return format!("{} passes {}", names[first], four_digits(value));
        }
        let mut text = String::new();
        for &(j, w) in &terms {
            let input = match scaler.warp_of(j) {
                None => names[j].clone(),
                Some(Warp { centre, width }) => {
                    let (centre, width) = (four_digits(centre), four_digits(width));
                    format!("asinh(({} − {centre})/{width})", names[j])
                }
            };
            let w = w / factor;
            text += &match j == first {
                true => input,
                false if w < 0.0 => format!(" − {} {input}", four_digits(-w)),
                false => format!(" + {} {input}", four_digits(w)),
            };
        }
        format!("{text} passes {}", four_digits(offset / factor))
    }

    /// Number of its parameters: t and the non-zero entries of v.
    pub fn parameters(&self) -> usize {
        1 + self.direction.iter().filter(|v| **v != 0.0).count()
    }

    /// Whether it is an edge of `d` inputs.
    pub(crate) fn fits(&self, d: usize) -> bool {
        self.direction.len() == d
            && self.direction.iter().all(|v| v.is_finite())
            && self.offset.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    #[test]
    fn places_are_in_the_units_of_the_data() {
        let names = ["a", "b", "c"].map(String::from);
        // a from 10 to 30, b from −1 to 1, c warped.
        let x = Mat::from_fn(21, 3, |i, j| match j {
            0 => 10.0 + i as f64,
            1 => 0.1 * i as f64 - 1.0,
            _ => (0.3 * i as f64).exp(),
        });
        let warp = Warp {
            centre: 1.0,
            width: 0.5,
        };
        let scaler = Scaler::to_box_warped(x.as_ref(), &[None, None, Some(warp)]);
        let place = |direction: &[f64], offset| {
            let edge = Edge {
                crossing: Crossing::Jump,
                direction: direction.to_vec(),
                offset,
            };
            edge.place(&names, &scaler)
        };
        // Half way from the middle to the upper end, whatever the steepness and its sign.
        assert_eq!(place(&[40.0, 0.0, 0.0], 10.0), "a passes 25.00");
        assert_eq!(place(&[-4.0, 0.0, 0.0], -1.0), "a passes 25.00");
        // (a − 20)/20 − 2 · b/2 = ½.
        assert_eq!(place(&[1.0, -2.0, 0.0], 0.5), "a − 20.00 b passes 30.00");
        let last = (0.3f64 * 12.0).exp();
        let at = (warp.value(last) - scaler.shift[2]) / scaler.scale[2];
        let expected = format!("c passes {}", four_digits(last));
        assert_eq!(place(&[0.0, 0.0, 2.0], 2.0 * at), expected);
        let both = place(&[0.0, 1.0, 0.5], 0.0);
        assert!(
            both.starts_with("b + ") && both.contains("asinh((c − 1.000)/0.5000)"),
            "{both}"
        );
    }
}
