//! Serialises the driver calls of the batches of a program. Their steps run in parallel, but recording a graph and
//! allocating or freeing memory need the driver exclusively, because calls of other threads can invalidate a graph
//! that is being recorded.

use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use thinfit::pieces::{Batch, Snapshot};
use thinfit::{Leaf, Loss, Mat, Result};

static ORDER: RwLock<()> = RwLock::new(());

/// The exclusive right to record graphs, and to allocate and free memory.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    ORDER.write().unwrap_or_else(PoisonError::into_inner)
}

/// The shared right to do anything else.
fn shared() -> RwLockReadGuard<'static, ()> {
    ORDER.read().unwrap_or_else(PoisonError::into_inner)
}

/// A batch behind the lock.
pub(crate) struct Ordered {
    /// It is there until it is dropped.
    batch: Option<Box<dyn Batch>>,
    /// Leaves whose graphs are recorded.
    recorded: Vec<Leaf>,
}

impl Ordered {
    pub fn new(batch: Box<dyn Batch>) -> Self {
        Ordered {
            batch: Some(batch),
            recorded: vec![],
        }
    }

    fn batch(&self) -> &dyn Batch {
        self.batch.as_deref().expect("it is not dropped")
    }

    fn batch_mut(&mut self) -> &mut dyn Batch {
        self.batch.as_deref_mut().expect("it is not dropped")
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        let _alone = alone();
        self.batch = None;
    }
}

impl Batch for Ordered {
    fn begin(&mut self, run: usize, leaf: Leaf, from: Option<&Snapshot>) -> Result<()> {
        if self.recorded.contains(&leaf) {
            let _shared = shared();
            return self.batch_mut().begin(run, leaf, from);
        }
        let _alone = alone();
        self.recorded.push(leaf);
        self.batch_mut().begin(run, leaf, from)
    }

    fn advance(&mut self, runs: &[usize], steps: Range<usize>, rate: f64) -> Vec<Result<Loss>> {
        let _shared = shared();
        self.batch_mut().advance(runs, steps, rate)
    }

    fn validate(&mut self, runs: &[usize], step: usize) -> Vec<Result<f64>> {
        let _shared = shared();
        self.batch_mut().validate(runs, step)
    }

    fn weights(&mut self, run: usize) -> Result<Mat<f64>> {
        let _shared = shared();
        self.batch_mut().weights(run)
    }

    fn snapshot(&self, run: usize, moments: bool) -> Result<Snapshot> {
        let _shared = shared();
        self.batch().snapshot(run, moments)
    }

    fn stride(&self) -> usize {
        self.batch().stride()
    }
}
