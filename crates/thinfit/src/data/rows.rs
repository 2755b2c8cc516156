//! Samples as the objective and the solvers see them: views of rows, and the error of fitted values. Owns no data.

use faer::MatRef;

/// Samples with their outputs and weights. `X` is [`MatRef`] for inputs as they are (m × d), or another view of them.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, X = MatRef<'a, f64>> {
    /// Inputs, column-major.
    pub x: X,
    /// Outputs, m × c.
    pub y: MatRef<'a, f64>,
    /// Weights, non-negative, or none for equal ones.
    pub weights: Option<&'a [f64]>,
}

impl<'a> Rows<'a> {
    /// All rows of a data set.
    pub fn of(data: &'a crate::Dataset) -> Self {
        Rows {
            x: data.x.as_ref(),
            y: data.y.as_ref(),
            weights: data.weights.as_deref(),
        }
    }

    /// `len` rows from `start` on.
    pub fn slice(self, start: usize, len: usize) -> Self {
        Rows {
            x: self.x.subrows(start, len),
            y: self.y.subrows(start, len),
            weights: self.weights.map(|weights| &weights[start..start + len]),
        }
    }

    /// The same rows with another view of their inputs.
    pub fn with_inputs<X>(self, x: X) -> Rows<'a, X> {
        let Rows { y, weights, .. } = self;
        Rows { x, y, weights }
    }
}

impl<X> Rows<'_, X> {
    /// Sum of the weights, Ω.
    pub fn total_weight(&self) -> f64 {
        self.weights
            .map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// The number of samples, m.
    pub fn len(&self) -> usize {
        self.y.nrows()
    }

    /// (1/Ω) Σ_k ω_k (f_k − y_k)² of each output, for fitted values m × c; 0 without samples.
    pub fn mean_squares(&self, fitted: MatRef<'_, f64>) -> Vec<f64> {
        assert!(fitted.nrows() == self.len() && fitted.ncols() == self.y.ncols());
        let (weight, total) = (|k| self.weights.map_or(1.0, |w| w[k]), self.total_weight());
        let square = |o: usize, k: usize| weight(k) * (fitted[(k, o)] - self.y[(k, o)]).powi(2);
        let sum = |o: usize| (0..self.len()).map(|k| square(o, k)).sum::<f64>();
        let mean = |o: usize| if total > 0.0 { sum(o) / total } else { 0.0 };
        (0..fitted.ncols()).map(mean).collect()
    }

    /// (1/Ω) Σ_k ω_k |f_k − y_k|², summed over outputs, for fitted values m × c; 0 without samples.
    pub fn mean_square(&self, fitted: MatRef<'_, f64>) -> f64 {
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
