//! Ranks as threads of a test.

use std::sync::{Barrier, Mutex};
use thinfit::Result;
use thinfit::pieces::Executor;

/// What the ranks of a test tell each other.
struct Round {
    barrier: Barrier,
    words: Mutex<Vec<Vec<u64>>>,
}

/// One of them.
pub struct Rank<'a> {
    number: usize,
    size: usize,
    round: &'a Round,
}

impl Executor for Rank<'_> {
    fn rank(&self) -> usize {
        self.number
    }

    fn size(&self) -> usize {
        self.size
    }

    fn gather(&self, mine: Vec<u64>) -> Result<Vec<Vec<u64>>> {
        self.round.words.lock().unwrap()[self.number] = mine;
        self.round.barrier.wait();
        let all = self.round.words.lock().unwrap().clone();
        self.round.barrier.wait();
        Ok(all)
    }
}

/// What `work` gives on each of so many ranks.
pub fn each<T: Send>(size: usize, work: impl Fn(&Rank<'_>) -> T + Sync) -> Vec<T> {
    let round = &Round {
        barrier: Barrier::new(size),
        words: Mutex::new(vec![vec![]; size]),
    };
    let work = &work;
    std::thread::scope(|scope| {
        let ranks = (0..size).map(|number| Rank {
            number,
            size,
            round,
        });
        let ranks: Vec<_> = ranks.map(|rank| scope.spawn(move || work(&rank))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}
