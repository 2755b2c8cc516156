//! Workers on other ranks. The first rank has the queue and the ledger and gives jobs to them as to its own workers.
//!
//! All ranks synchronise every few hundredths of a second while their workers continue. The first rank assigns jobs;
//! the others report progress and results. So only one process writes the ledger, at most a moment after a job is
//! done, and no worker waits for another. States and spectra are separate files that every rank writes next to the
//! ledger.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::queue::Chain;
use crate::{Entry, Error, Event, Job, Ledger, Means, Settings, run};
use serde::{Deserialize, Serialize};
use thinfit::Control;
use thinfit::pieces::Executor;

/// Time between two meetings.
const BEAT: Duration = Duration::from_millis(40);

/// The workers of all ranks of a call.
pub struct MpiWorkers<'a> {
    executor: &'a dyn Executor,
    /// The rank of each worker that is not one of the first rank.
    places: Vec<usize>,
    /// Chains for these workers.
    orders: Mutex<Vec<(usize, Chain)>>,
}

/// What the ranks exchange when they meet.
#[derive(Serialize, Deserialize)]
enum Message {
    /// From the first rank.
    Orders(Orders),
    /// From the others: workers and their updates.
    Updates(Vec<(usize, Update)>),
}

/// What the first rank tells the others.
#[derive(Serialize, Deserialize)]
struct Orders {
    /// Workers, and what they do next.
    chains: Vec<(usize, Chain)>,
    /// Whether the workers are to stop, and keep their states.
    stop: bool,
    /// Whether this is the last meeting.
    end: bool,
}

/// A message of a worker.
#[derive(Serialize, Deserialize)]
pub(crate) enum Update {
    /// This fraction of a job is done.
    Moved(Job, f64),
    /// Another program is doing this job.
    Skipped(Job),
    /// A job is done.
    Finished(Box<Entry>),
    /// A job could not be done.
    Failed(Job, String),
    /// The chain is finished.
    Done,
    /// The worker cannot continue.
    Lost(String),
}

impl<'a> MpiWorkers<'a> {
    /// Counts the workers; none if this rank is alone. All ranks call it.
    ///
    /// # Errors
    /// A rank that is gone.
    pub fn join(executor: &'a dyn Executor, workers: usize) -> Result<Option<Self>, Error> {
        if executor.size() == 1 {
            return Ok(None);
        }
        let counts = executor.gather(vec![workers.max(1) as u64])?;
        let others = counts.iter().flatten().enumerate().skip(1);
        let places = others.flat_map(|(rank, count)| (0..*count).map(move |_| rank));
        Ok(Some(MpiWorkers {
            executor,
            places: places.collect(),
            orders: Mutex::default(),
        }))
    }

    /// How many workers there are on other ranks than the first.
    pub(crate) fn remote(&self) -> usize {
        self.places.len()
    }

    /// Every worker of the other ranks as the first deals with it, and where the updates of each go.
    pub(crate) fn remote_workers(&self) -> (Vec<Sender<Update>>, Vec<RemoteWorker<'_>>) {
        let workers = self.places.iter().enumerate().map(|(worker, &rank)| {
            let (post, updates) = channel();
            let orders = &self.orders;
            let worker = RemoteWorker {
                worker,
                rank,
                orders,
                updates,
            };
            (post, worker)
        });
        workers.unzip()
    }

    /// Meets the other ranks, as the first, until `done`.
    pub(crate) fn lead(
        &self,
        post: Vec<Sender<Update>>,
        done: impl Fn() -> bool,
        stopped: impl Fn() -> bool,
    ) -> Result<(), Error> {
        loop {
            let end = done();
            let orders = Orders {
                chains: taken(&self.orders),
                stop: stopped(),
                end,
            };
            for message in self.executor.all(&Message::Orders(orders))? {
                let Message::Updates(updates) = message else {
                    continue;
                };
                for (worker, update) in updates {
                    // A thread that has failed receives nothing.
                    post.get(worker).map(|post| post.send(update));
                }
            }
            if end {
                return Ok(());
            }
            std::thread::sleep(BEAT);
        }
    }

    /// Follows the first rank, on another rank. States are saved in `folder`, where the first has its ledger.
    ///
    /// # Errors
    /// A rank that has ended. Errors in a job are reported to the first rank.
    pub fn serve(&self, settings: &Settings, folder: &Path) -> Result<(), Error> {
        let stop = AtomicBool::new(false);
        let updates: Mutex<Vec<(usize, Update)>> = Mutex::default();
        std::thread::scope(|scope| {
            let own = (0..self.places.len())
                .filter(|&worker| self.places[worker] == self.executor.rank());
            let senders = own.map(|number| {
                let (sender, chains) = channel();
                let worker = Worker {
                    number,
                    updates: &updates,
                    stop: &stop,
                };
                scope.spawn(move || worker.run(chains, settings, folder));
                (number, sender)
            });
            let senders: HashMap<usize, Sender<Chain>> = senders.collect();
            let served = loop {
                let messages = self.executor.all(&Message::Updates(taken(&updates)));
                let orders = match messages.map(|mut all| all.swap_remove(0)) {
                    Ok(Message::Orders(orders)) => orders,
                    Ok(Message::Updates(_)) => {
                        break Err(Error::Fit(thinfit::Error::Shape {
                            what: "message of the first process",
                            expected: "orders".into(),
                            found: "updates of a worker".into(),
                        }));
                    }
                    Err(error) => break Err(error.into()),
                };
                stop.fetch_or(orders.stop, Ordering::Relaxed);
                for (worker, chain) in orders.chains {
                    senders.get(&worker).map(|sender| sender.send(chain));
                }
                if orders.end {
                    break Ok(());
                }
                std::thread::sleep(BEAT);
            };
            stop.store(true, Ordering::Relaxed);
            served
        })
    }
}

/// A worker of another rank, as the first rank deals with it.
pub(crate) struct RemoteWorker<'a> {
    worker: usize,
    rank: usize,
    orders: &'a Mutex<Vec<(usize, Chain)>>,
    updates: Receiver<Update>,
}

impl RemoteWorker<'_> {
    /// Gives the worker a chain.
    pub fn send(&self, chain: Chain) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push((self.worker, chain));
    }

    /// Waits for the next update of the worker.
    pub fn next(&self) -> Result<Update, Error> {
        let gone = |_| self.failure("it does not respond".into());
        self.updates.recv().map_err(gone)
    }

    /// What went wrong there.
    pub fn failure(&self, problem: String) -> Error {
        Error::Elsewhere {
            rank: self.rank,
            problem,
        }
    }
}

/// A worker of this rank, with its number among those of all other ranks than the first.
struct Worker<'a> {
    number: usize,
    updates: &'a Mutex<Vec<(usize, Update)>>,
    stop: &'a AtomicBool,
}

impl Worker<'_> {
    /// Does all `chains` that come.
    fn run(&self, chains: Receiver<Chain>, settings: &Settings, folder: &Path) {
        let means = Means {
            workers: 1,
            mpi_workers: None,
            device: None,
            lanes: 1,
        };
        let observe = |event: Event<'_>| {
            match event {
                Event::Planned(_) => {}
                Event::Moved(job, part) => self.send(Update::Moved(job.clone(), part)),
                Event::Finished(entry) => self.send(Update::Finished(Box::new(entry.clone()))),
                Event::Failed(job, error) => {
                    self.send(Update::Failed(job.clone(), error.to_string()))
                }
                Event::Skipped(job) => self.send(Update::Skipped(job.clone())),
            }
            match self.stop.load(Ordering::Relaxed) {
                true => Control::Stop,
                false => Control::Continue,
            }
        };
        for chain in chains {
            let ledger = Ledger::apart(folder);
            let done = run(&|| chain.clone(), &ledger, settings, &means, &observe);
            self.send(done.map_or_else(|error| Update::Lost(error.to_string()), |_| Update::Done));
        }
    }

    fn send(&self, update: Update) {
        let mut updates = self.updates.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the latest progress counts.
        updates.retain(|(worker, before)| {
            *worker != self.number || !matches!(before, Update::Moved(..))
        });
        updates.push((self.number, update));
    }
}

/// The messages since the last time.
fn taken<T>(from: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *from.lock().unwrap_or_else(PoisonError::into_inner))
}
