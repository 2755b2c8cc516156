//! Rows of samples as the objective and the solvers see them.

use faer::MatRef;

/// Samples with their outputs and weights.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// Inputs, column-major: m × d, or m × d′ where the callee wants them padded.
    pub(crate) x: MatRef<'a, f64>,
    /// Outputs, m × c.
    pub(crate) y: MatRef<'a, f64>,
    /// Weights, non-negative, or none for equal ones.
    pub(crate) weights: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// All rows of a data set, with its inputs as they are.
    pub(crate) fn of(data: &'a crate::Dataset) -> Self {
        Rows {
            x: data.x.as_ref(),
            y: data.y.as_ref(),
            weights: data.weights.as_deref(),
        }
    }

    /// Sum of the weights, Ω.
    pub(crate) fn total_weight(&self) -> f64 {
        self.weights
            .map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.y.nrows()
    }

    /// (1/Ω) Σ_k ω_k |f_k − y_k|², summed over outputs, for fitted values m × c; 0 without samples.
    pub(crate) fn mean_square(&self, fitted: MatRef<'_, f64>) -> f64 {
        assert!(fitted.nrows() == self.len() && fitted.ncols() == self.y.ncols());
        let mut sum = 0.0;
        for o in 0..fitted.ncols() {
            for k in 0..self.len() {
                let r = fitted[(k, o)] - self.y[(k, o)];
                sum += r * r * self.weights.map_or(1.0, |w| w[k]);
            }
        }
        let total = self.total_weight();
        if total > 0.0 { sum / total } else { 0.0 }
    }
}
