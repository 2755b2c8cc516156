//! How long the fits of `thinfit reproduce` will take.

use std::collections::HashMap;
use std::time::Instant;

use thinfit_experiments::{Entry, Job, Means, Row, time};

/// How much is done, and how long the rest will take, estimated from the mean time of a row's earlier fits. GFT-r counts from
/// the start of its GFT, so until that GFT is done the estimate is too long.
pub struct Forecast {
    workers: usize,
    /// Batches at a time on a device, which trains networks in parallel with the workers; none without one.
    lanes: Option<usize>,
    total: usize,
    left: Vec<Left>,
    /// Sum of the seconds, and number, of the fits of each row.
    seen: HashMap<Row, (f64, usize)>,
    shown: Instant,
}

/// A job that is not finished.
struct Left {
    job: Job,
    /// How far it is, from 0 to 1.
    part: f64,
    /// When it was first reported, and its progress then, since it may resume a saved state.
    start: Option<(Instant, f64)>,
}

impl Left {
    /// Seconds of the whole fit at its present pace, once known.
    fn pace(&self) -> Option<f64> {
        let (start, first) = self.start?;
        let done = self.part - first;
        (done > 0.02).then(|| start.elapsed().as_secs_f64() / done)
    }
}

impl Forecast {
    pub fn new(entries: &[Entry], means: &Means<'_>) -> Self {
        let mut forecast = Forecast {
            workers: means.all_workers(),
            lanes: means.device.map(|_| means.lanes),
            total: 0,
            left: Vec::new(),
            seen: HashMap::new(),
            shown: Instant::now(),
        };
        for entry in entries {
            forecast.learn(entry);
        }
        forecast
    }

    /// Adds jobs.
    pub fn add(&mut self, jobs: &[Job]) {
        self.total += jobs.len();
        self.left.extend(jobs.iter().map(|job| Left {
            job: job.clone(),
            part: 0.0,
            start: None,
        }));
    }

    /// Whether the fits of this row are trained on the device.
    fn on_device(&self, row: Row) -> bool {
        self.lanes.is_some() && row.is_trained()
    }

    /// Records the time of a fit, unless this call runs such fits elsewhere.
    fn learn(&mut self, entry: &Entry) {
        let row = entry.job.row;
        if entry.device.is_some() == self.on_device(row) {
            let (sum, count) = self.seen.entry(row).or_default();
            *sum += entry.seconds;
            *count += 1;
        }
    }

    /// Records the progress of a job; returns whether it is time to show it.
    pub fn move_to(&mut self, job: &Job, part: f64) -> bool {
        if let Some(left) = self.left.iter_mut().find(|left| left.job == *job) {
            left.part = part;
            left.start.get_or_insert_with(|| (Instant::now(), part));
        }
        let due = self.shown.elapsed().as_millis() > 200;
        if due {
            self.shown = Instant::now();
        }
        due
    }

    /// Takes a job off the list, with its entry if it was fitted.
    pub fn finish(&mut self, job: &Job, entry: Option<&Entry>) {
        self.left.retain(|left| left.job != *job);
        entry.into_iter().for_each(|entry| self.learn(entry));
    }

    /// Fraction of the jobs that are done.
    pub fn done(&self) -> f64 {
        let left: f64 = self.left.iter().map(|left| 1.0 - left.part).sum();
        1.0 - left / self.total.max(1) as f64
    }

    /// Seconds until all is done; `None` while some row has no fit to estimate from.
    fn seconds_left(&self) -> Option<f64> {
        let mean = |row: Row| match self.seen.get(&row) {
            Some((sum, count)) => Some(sum / *count as f64),
            // The pace of a batch does not give the share of one fit.
            None if self.on_device(row) => None,
            None => {
                let mut alike = self.left.iter().filter(|left| left.job.row == row);
                alike.find_map(Left::pace)
            }
        };
        let seconds = |left: &Left| Some((1.0 - left.part) * mean(left.job.row)?);
        let (device, workers): (Vec<_>, Vec<_>) =
            (self.left.iter()).partition(|left| self.on_device(left.job.row));
        let sum = |left: Vec<&Left>| left.into_iter().map(seconds).sum::<Option<f64>>();
        let device = sum(device)? / self.lanes.unwrap_or(1) as f64;
        Some(device.max(sum(workers)? / self.workers as f64))
    }
}

impl std::fmt::Display for Forecast {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let finished = self.total - self.left.len();
        write!(out, "{finished} of {} done", self.total)?;
        match self.seconds_left() {
            // An empty sum is −0.
            Some(seconds) => write!(out, ", {} left", time(seconds + 0.0)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thinfit_experiments::{Choice, Exhibit, Ledger, Plan, Settings};
    use thinfit_methods::Device;

    #[test]
    fn the_time_left_is_judged_by_earlier_fits_of_the_same_row() {
        let mut cells = Exhibit::Table(1).cells();
        cells.retain(|cell| cell.row == Row::Gft && cell.column.name() == "f1-5");
        let plan = Plan {
            cells,
            seeds: vec![1, 2],
            lambda: Choice::Published,
        };
        let folder = std::env::temp_dir().join(format!("thinfit-forecast-{}", std::process::id()));
        let jobs = plan.jobs(&Settings::paper(), &Ledger::open(&folder).unwrap());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(jobs.len(), 4, "two activations, two seeds");
        let device = Device::processor();
        let means = |device| Means {
            workers: 2,
            mpi_workers: None,
            device,
            lanes: 4,
        };
        let mut forecast = Forecast::new(&[], &means(None));
        forecast.add(&jobs);
        assert_eq!((forecast.done(), forecast.seconds_left()), (0.0, None));
        let entry = |device: Option<&str>| Entry {
            job: jobs[0].clone(),
            mse: Some(1e-7),
            validation_mse: None,
            selection: None,
            selected_lambda: None,
            parameters: None,
            seconds: 100.0,
            device: device.map(str::to_owned),
            batch: None,
            commit: String::new(),
            finished: 0,
            failure: None,
            config: serde_json::Value::Null,
        };
        // The time of a fit on another device is no estimate.
        forecast.learn(&entry(Some("GPU")));
        assert_eq!(forecast.seconds_left(), None);
        forecast.finish(&jobs[0], Some(&entry(None)));
        assert_eq!(forecast.to_string(), "1 of 4 done, 150 s left");
        forecast.move_to(&jobs[1], 0.5);
        assert_eq!(
            (forecast.done(), forecast.seconds_left()),
            (0.375, Some(125.0))
        );
        // Another program did this one.
        forecast.finish(&jobs[2], None);
        assert_eq!(forecast.to_string(), "2 of 4 done, 75.0 s left");
        // A device does some batches at a time, however many workers there are.
        let mut forecast = Forecast::new(&[entry(Some("GPU"))], &means(Some(&device)));
        forecast.add(&jobs[1..]);
        assert_eq!(forecast.seconds_left(), Some(300.0 / 4.0));
    }
}
