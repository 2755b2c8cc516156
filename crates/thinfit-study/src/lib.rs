//! What one asks of a fitted model.
//!
//! All of it moves [`Factor`](thinfit_methods::Factor)s, the columns of the user's table, inside the ranges of the samples.
