//! Which factors have no detectable effect, according to the diagnosis of the fit.

use crate::{Factor, Predictor};

impl Predictor {
    /// For each factor ([`Factor::all`]), whether the fit found no effect of it on any output. False for all where the method does not
    /// look.
    ///
    /// It is what [`Diagnosis::inputs`](thinfit::Diagnosis) says, not what the indices of the model are: of two inputs that go together
    /// the model may use either, and the rows are as likely without one of them.
    pub fn undetected(&self) -> Vec<bool> {
        let factors = Factor::all(self);
        let found = self.record().diagnosis.as_ref();
        // A diagnosis without candidates consists of notes only.
        let Some(found) = found.filter(|found| !found.inputs.is_empty() || !found.tried.is_empty())
        else {
            return vec![false; factors.len()];
        };
        let mut undetected = vec![true; factors.len()];
        for input in &found.inputs {
            if let Some(k) = Factor::of_input(&factors, *input) {
                undetected[k] = false;
            }
        }
        undetected
    }

    /// The names of the factors with no detectable effect.
    pub fn undetected_names(&self) -> Vec<String> {
        let factors = Factor::all(self).into_iter().zip(self.undetected());
        let without = factors.filter(|(_, undetected)| *undetected);
        without.map(|(factor, _)| factor.name).collect()
    }
}
