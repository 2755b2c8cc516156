//! Independent work spread over processes, and summaries of rows merged from all of them.
//!
//! All processes run the same program on the same settings. Jobs of one kind (the runs of several λ, candidates, folds) are dealt out
//! by `map`, and every process gets all results in the order of the jobs, so that all go on alike. Whatever else
//! decides how a fit goes on must come from one process for all (`broadcast`) or be asked of all
//! (`any`); otherwise processes wait for each other.

use crate::math::wire::{Reader, Writer};
use crate::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The processes that share independent work. All of them make the same calls in the same order.
pub trait Executor: Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize {
        0
    }

    /// How many processes there are.
    fn size(&self) -> usize {
        1
    }

    /// The messages of all processes, in their order, to every one of them.
    ///
    /// # Errors
    /// A process that is gone.
    fn gather(&self, message: Vec<u64>) -> Result<Vec<Vec<u64>>> {
        Ok(vec![message])
    }

    /// One message made of those of all processes, to every one of them; the order of merging must not matter.
    ///
    /// # Errors
    /// Those of `merge`, and a process that is gone.
    fn merge(&self, message: Vec<u64>, merge: &Merge<'_>) -> Result<Vec<u64>> {
        let mut all = self.gather(message)?.into_iter();
        let first = all.next().unwrap_or_default();
        all.try_fold(first, |merged, message| merge(&merged, &message))
    }
}

/// Makes one message of two.
pub type Merge<'a> = dyn Fn(&[u64], &[u64]) -> Result<Vec<u64>> + 'a;

/// This process alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct SingleProcess;

impl Executor for SingleProcess {}

impl dyn Executor + '_ {
    /// The results of `count` independent jobs, in their order, to every process. `work` does the jobs of the given numbers; a single
    /// process does all of them, and nothing is sent.
    ///
    /// A process whose work fails does not take part in the exchange; whoever has started the processes must end the others.
    ///
    /// # Errors
    /// Those of the work, and a process that is gone.
    pub fn map<T: Serialize + DeserializeOwned>(
        &self,
        count: usize,
        work: impl FnOnce(Vec<usize>) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let size = self.size();
        let own = work(self.own_jobs(count).collect())?;
        if size == 1 {
            return Ok(own);
        }
        let results = self.all(&own)?;
        let mut results: Vec<_> = results.into_iter().map(Vec::into_iter).collect();
        let in_order = (0..count).map(|job| results[job % size].next());
        let missing = || foreign("fewer results than jobs".into());
        in_order.collect::<Option<Vec<T>>>().ok_or_else(missing)
    }

    /// Which of so many jobs are done by this process.
    pub(crate) fn own_jobs(&self, count: usize) -> impl ExactSizeIterator<Item = usize> + use<> {
        (self.rank()..count).step_by(self.size())
    }

    /// What every process says, in their order, to every one of them.
    ///
    /// # Errors
    /// A value that JSON cannot hold, and a process that is gone.
    pub fn all<T: Serialize + DeserializeOwned>(&self, own: &T) -> Result<Vec<T>> {
        let own = serde_json::to_vec(own).map_err(|error| foreign(error.to_string()))?;
        let mut message = Writer::default();
        message.bytes(&own);
        let read = |message: Vec<u64>| {
            let bytes = Reader::sealed(&message)?.bytes().unwrap_or_default();
            serde_json::from_slice(&bytes).map_err(|error| foreign(error.to_string()))
        };
        let messages = self.gather(message.sealed())?;
        messages.into_iter().map(read).collect()
    }

    /// What the first process makes, to every one of them.
    ///
    /// # Errors
    /// Those of making it, and a process that is gone.
    pub fn broadcast<T: Serialize + DeserializeOwned>(
        &self,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let own = match self.rank() {
            0 => Some(make()?),
            _ => None,
        };
        if self.size() == 1 {
            return own.ok_or_else(|| foreign("nothing".into()));
        }
        let first = self.all(&own)?.swap_remove(0);
        first.ok_or_else(|| foreign("nothing".into()))
    }

    /// Whether any process says so, to every one of them.
    ///
    /// # Errors
    /// A process that is gone.
    pub fn any(&self, own: bool) -> Result<bool> {
        let all = self.gather(vec![u64::from(own)])?;
        Ok(all.iter().flatten().any(|word| *word > 0))
    }
}

/// The error of a message that another build may have written.
fn foreign(found: String) -> Error {
    Error::Shape {
        what: "message of another process",
        expected: "what this build writes".into(),
        found,
    }
}
