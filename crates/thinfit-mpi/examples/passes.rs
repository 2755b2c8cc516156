//! Times the two passes over a long table, without reading it, on the ranks of `mpirun -n RANKS passes ROWS
//! [THREADS]`: ten inputs, one output, a network of 100 neurons. The first rank prints seconds, communication listed
//! separately.

use std::time::Instant;
use thinfit::pieces::{Executor, Merge};
use thinfit::{
    Activation, Block, Draft, LEAF, Mat, OutOfCoreTable, Result, Scaler, Survey, TsqrPass, Visitor,
    on_threads, shared_pass,
};
use thinfit_methods::Auto;
use thinfit_mpi::{Job, World};

const INPUTS: usize = 10;
/// Rows that are made once and given again and again.
const BLOCK: u64 = 16 * LEAF;

/// A run of rows for each rank.
struct Runs {
    rows: u64,
    rank: (u64, u64),
    x: Mat<f64>,
    y: Mat<f64>,
    names: [Vec<String>; 2],
}

impl OutOfCoreTable for Runs {
    fn inputs(&self) -> &[String] {
        &self.names[0]
    }

    fn outputs(&self) -> &[String] {
        &self.names[1]
    }

    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
        let (rank, ranks) = self.rank;
        let start = |rank: u64| (self.rows.div_ceil(LEAF) * rank / ranks * LEAF).min(self.rows);
        let (mut first, end) = (start(rank), start(rank + 1));
        while first < end {
            let count = BLOCK.min(end - first) as usize;
            visitor.take(Block {
                first,
                x: self.x.subrows(0, count),
                y: self.y.subrows(0, count),
            })?;
            first += count as u64;
        }
        Ok(())
    }
}

/// The ranks of a job, and the seconds that they take to tell each other.
struct Timed<'a>(&'a World, std::sync::Mutex<f64>);

impl Executor for Timed<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn gather(&self, message: Vec<u64>) -> Result<Vec<Vec<u64>>> {
        self.0.gather(message)
    }

    fn merge(&self, message: Vec<u64>, merge: &Merge<'_>) -> Result<Vec<u64>> {
        // Nobody waits for rows of another in these seconds.
        self.0.gather(vec![])?;
        let start = Instant::now();
        let merged = self.0.merge(message, merge);
        *self.1.lock().expect("no panic") = start.elapsed().as_secs_f64();
        merged
    }
}

fn main() {
    let words = std::env::args().skip(1);
    let words: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
    let (rows, threads) = (words.first().copied().unwrap_or(1_000_000), words.get(1));
    let job = Job::join().expect("a job");
    let ranks = Timed(job.world(), std::sync::Mutex::new(0.0));
    let x = Mat::from_fn(BLOCK as usize, INPUTS, |i, j| {
        (0.618_033_988_7 * ((i + 1) * (j + 3)) as f64).fract()
    });
    let table = Runs {
        rows,
        rank: (ranks.rank() as u64, ranks.size() as u64),
        y: Mat::from_fn(BLOCK as usize, 1, |i, _| x[(i, 0)] * x[(i, 1)]),
        x,
        names: [
            (0..INPUTS).map(|j| format!("x{j}")).collect(),
            vec!["y".into()],
        ],
    };
    let draft = Draft {
        activation: Activation::Fourier,
        hidden: Mat::from_fn(100, INPUTS, |l, j| ((3 * l + 5 * j + 1) as f64).sin()),
        input_scaler: Scaler::identity(INPUTS),
        output_scaler: Scaler::identity(1),
        held_out: (0..20_000).map(|k| 4 * k).collect(),
    };
    let threads = threads.copied().unwrap_or(1) as usize;
    let timed = on_threads(threads, || -> Result<[f64; 4]> {
        let start = Instant::now();
        let none = Survey::new((INPUTS, 1), Auto::sample_rows(INPUTS, 1), 1);
        let survey = shared_pass(&table, &ranks, (none, 0), &mut |_, _| Ok(()))?;
        let (first, told) = (
            start.elapsed().as_secs_f64(),
            *ranks.1.lock().expect("no panic"),
        );
        let start = Instant::now();
        let none = TsqrPass::new(&draft);
        shared_pass(&table, &ranks, (none, 0), &mut |_, _| Ok(()))?.finish(&survey)?;
        let second = start.elapsed().as_secs_f64();
        Ok([first, told, second, *ranks.1.lock().expect("no panic")])
    });
    let [first, told, second, merged] = timed.unwrap_or_else(|error| {
        eprintln!("error: rank {}: {error}", ranks.rank());
        job.world().abort(2)
    });
    if ranks.rank() == 0 {
        let size = ranks.size();
        println!("{size},{threads},{rows},{first:.3},{told:.4},{second:.3},{merged:.4}");
    }
}
