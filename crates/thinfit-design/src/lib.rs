//! Design of experiments: where to take samples before there is a model.
//!
//! A [`Space`] has a [`Range`] for every input: numbers, integers or levels. [`plan`] spreads rows over the unit cube
//! \[0, 1)ᵈ by a [`Scheme`], and [`Range::at`] maps its points to values. Existing rows are taken into account, so a
//! plan can be extended.
//!
//! ```
//! use thinfit_design::{Input, Range, Scheme, Space, plan};
//!
//! let inputs = [("speed", Range::Real { low: 1.0, high: 9.0 }), ("holes", Range::Whole { low: 2, high: 5 })];
//! let inputs = inputs.map(|(name, range)| Input { name: name.into(), range });
//! let space = Space::new(inputs.to_vec())?;
//! let rows = plan(&space, Scheme::Maximin, 8, &[], 0)?;
//! assert_eq!((rows.len(), rows[0].len()), (8, 2));
//! # Ok::<(), thinfit_design::Error>(())
//! ```

mod latin;
mod sequence;
mod space;

pub use space::{Input, Range, Space, Value};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How rows are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A Latin hypercube whose closest rows are as far apart as exchanges get them.
    Maximin,
    /// A Latin hypercube: with m rows, each m-th part of the range of each input has one.
    Latin,
    /// Sobol's sequence, with its digits scrambled.
    Sobol,
    /// Halton's sequence, moved by a random shift.
    Halton,
}

/// A plan that cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// An invalid range.
    #[error("`{input}`: expected {expected}, found {found}; {advice}")]
    Range {
        /// The input.
        input: String,
        /// What its range should be.
        expected: &'static str,
        /// What it is.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// No inputs.
    #[error("expected ranges of inputs, found none; give at least one, such as `speed = [1, 9]`")]
    Empty,
    /// More than the scheme can do.
    #[error(
        "expected at most {most} {what} for {scheme}, found {found}; take `maximin` or `halton`"
    )]
    TooMany {
        /// Rows or inputs.
        what: &'static str,
        /// How many there may be.
        most: usize,
        /// How many there are.
        found: usize,
        /// The name of the scheme.
        scheme: &'static str,
    },
}

/// `rows` new rows in the unit cube (rows × d). `taken` are rows that exist (any number × d): hypercubes keep away from them, and
/// sequences continue after them. The same seed gives the same rows.
///
/// # Errors
/// [`Error::TooMany`]: Sobol's sequence is known for 65,536 rows of 256 inputs.
///
/// # Panics
/// If a row of `taken` does not have d places.
pub fn plan(
    space: &Space,
    scheme: Scheme,
    rows: usize,
    taken: &[Vec<f64>],
    seed: u64,
) -> Result<Vec<Vec<f64>>, Error> {
    let d = space.inputs().len();
    assert!(taken.iter().all(|row| row.len() == d), "rows have d places");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    match scheme {
        Scheme::Latin => Ok(latin::random(d, rows, taken, &mut random)),
        Scheme::Maximin => Ok(latin::spread(space, rows, taken, &mut random)),
        Scheme::Halton => Ok(sequence::halton(d, rows, taken.len(), &mut random)),
        Scheme::Sobol => sequence::sobol(d, rows, taken.len(), seed),
    }
}
