//! Which factors have no detectable effect, according to the diagnosis of the fit.

use crate::{InputColumn, Predictor};

impl Predictor {
    /// For each column ([`InputColumn::all`]), whether the fit found no effect of it on any output. False for all where the method does not
    /// look.
    ///
    /// It is what [`Diagnosis::inputs`](thinfit::Diagnosis) says, not what the indices of the model are: of two inputs that go together
    /// the model may use either, and the rows are as likely without one of them.
    pub fn undetected(&self) -> Vec<bool> {
        let columns = InputColumn::all(self);
        let found = self.record().diagnosis.as_ref();
        // A diagnosis without candidates consists of notes only.
        let Some(found) = found.filter(|found| !found.inputs.is_empty() || !found.tried.is_empty())
        else {
            return vec![false; columns.len()];
        };
        let mut undetected = vec![true; columns.len()];
        for input in &found.inputs {
            if let Some(k) = InputColumn::of_input(&columns, *input) {
                undetected[k] = false;
            }
        }
        undetected
    }
}
