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
use thinfit::pieces::{Ranks, texts};

/// Time between two meetings.
const BEAT: Duration = Duration::from_millis(40);

/// The workers of all ranks of a call.
pub struct Crew<'a> {
    ranks: &'a dyn Ranks,
    /// The rank of each worker that is not one of the first rank.
    places: Vec<usize>,
    /// Chains for these workers.
    orders: Mutex<Vec<(usize, Chain)>>,
}

/// A message of the first rank to the others.
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
pub(crate) enum News {
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

impl<'a> Crew<'a> {
    /// Counts the workers; none if this rank is alone. All ranks call it.
    ///
    /// # Errors
    /// A rank that has ended.
    pub fn muster(ranks: &'a dyn Ranks, workers: usize) -> Result<Option<Self>, Error> {
        if ranks.size() == 1 {
            return Ok(None);
        }
        let counts = ranks.gather(vec![workers.max(1) as u64])?;
        let others = counts.iter().flatten().enumerate().skip(1);
        let places = others.flat_map(|(rank, count)| (0..*count).map(move |_| rank));
        Ok(Some(Crew {
            ranks,
            places: places.collect(),
            orders: Mutex::default(),
        }))
    }

    /// How many workers there are on other ranks than the first.
    pub(crate) fn others(&self) -> usize {
        self.places.len()
    }

    /// A desk on the first rank for every worker of the others, and where the news for each go.
    pub(crate) fn desks(&self) -> (Vec<Sender<News>>, Vec<Desk<'_>>) {
        let desks = self.places.iter().enumerate().map(|(worker, &rank)| {
            let (post, news) = channel();
            let orders = &self.orders;
            let desk = Desk {
                worker,
                rank,
                orders,
                news,
            };
            (post, desk)
        });
        desks.unzip()
    }

    /// Meets the other ranks, as the first, until `done`.
    pub(crate) fn lead(
        &self,
        post: Vec<Sender<News>>,
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
            for news in self.meet(&orders)?.iter().skip(1) {
                for (worker, news) in read::<Vec<(usize, News)>>(news)? {
                    // Nobody is at a desk whose thread has failed.
                    post.get(worker).map(|post| post.send(news));
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
        let news: Mutex<Vec<(usize, News)>> = Mutex::default();
        std::thread::scope(|scope| {
            let mine =
                (0..self.places.len()).filter(|&worker| self.places[worker] == self.ranks.rank());
            let desks = mine.map(|worker| {
                let (desk, chains) = channel();
                let say = Say {
                    worker,
                    news: &news,
                    stop: &stop,
                };
                scope.spawn(move || say.all(chains, settings, folder));
                (worker, desk)
            });
            let desks: HashMap<usize, Sender<Chain>> = desks.collect();
            let served = loop {
                let orders = self.meet(&taken(&news)).and_then(|all| read(&all[0]));
                let orders: Orders = match orders {
                    Ok(orders) => orders,
                    Err(error) => break Err(error),
                };
                stop.fetch_or(orders.stop, Ordering::Relaxed);
                for (worker, chain) in orders.chains {
                    desks.get(&worker).map(|desk| desk.send(chain));
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

    /// The messages of all ranks.
    fn meet(&self, mine: &impl Serialize) -> Result<Vec<String>, Error> {
        let mine = serde_json::to_string(mine).expect("news are texts and numbers");
        Ok(texts(self.ranks, &mine)?)
    }
}

/// The connection of the first rank to a worker of another rank.
pub(crate) struct Desk<'a> {
    worker: usize,
    rank: usize,
    orders: &'a Mutex<Vec<(usize, Chain)>>,
    news: Receiver<News>,
}

impl Desk<'_> {
    /// Gives the worker a chain.
    pub fn send(&self, chain: Chain) {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.push((self.worker, chain));
    }

    /// Waits for the next message of the worker.
    pub fn next(&self) -> Result<News, Error> {
        let gone = |_| self.failure("it does not respond".into());
        self.news.recv().map_err(gone)
    }

    /// What went wrong there.
    pub fn failure(&self, problem: String) -> Error {
        Error::Elsewhere {
            rank: self.rank,
            problem,
        }
    }
}

/// A worker, as it does what it is given.
struct Say<'a> {
    worker: usize,
    news: &'a Mutex<Vec<(usize, News)>>,
    stop: &'a AtomicBool,
}

impl Say<'_> {
    /// Does all `chains` that come.
    fn all(&self, chains: Receiver<Chain>, settings: &Settings, folder: &Path) {
        let means = Means {
            workers: 1,
            crew: None,
            device: None,
            lanes: 1,
        };
        let observe = |event: Event<'_>| {
            match event {
                Event::Planned(_) => {}
                Event::Moved(job, part) => self.say(News::Moved(job.clone(), part)),
                Event::Finished(entry) => self.say(News::Finished(Box::new(entry.clone()))),
                Event::Failed(job, error) => self.say(News::Failed(job.clone(), error.to_string())),
                Event::Skipped(job) => self.say(News::Skipped(job.clone())),
            }
            match self.stop.load(Ordering::Relaxed) {
                true => Control::Stop,
                false => Control::Continue,
            }
        };
        for chain in chains {
            let ledger = Ledger::apart(folder);
            let done = run(&|| chain.clone(), &ledger, settings, &means, &observe);
            self.say(done.map_or_else(|error| News::Lost(error.to_string()), |_| News::Done));
        }
    }

    fn say(&self, what: News) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        // Only the last progress report matters.
        news.retain(|(worker, before)| {
            *worker != self.worker || !matches!(before, News::Moved(..))
        });
        news.push((self.worker, what));
    }
}

/// The messages since the last time.
fn taken<T>(from: &Mutex<Vec<T>>) -> Vec<T> {
    std::mem::take(&mut *from.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The message of another rank.
fn read<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| {
        Error::Fit(thinfit::Error::Shape {
            what: "message of another process",
            expected: "a message of this build".into(),
            found: error.to_string(),
        })
    })
}
