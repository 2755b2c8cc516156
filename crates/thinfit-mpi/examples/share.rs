//! A fit shared by all ranks, each of which generates its own rows: `mpirun -n 3 share [ROWS [THREADS [DIE]]]`. The
//! first rank prints seconds and the model. The rank DIE, if given, exits silently in the first pass.

use std::time::Instant;
use thinfit::pieces::Executor;
use thinfit::{Block, Control, LEAF, Mat, OutOfCoreTable, Result, Visitor, on_threads};
use thinfit_methods::Auto;
use thinfit_mpi::Job;

/// The leaves of a made-up table whose turn it is.
struct Share {
    rows: u64,
    rank: u64,
    ranks: u64,
    die: bool,
    names: [Vec<String>; 2],
}

impl OutOfCoreTable for Share {
    fn inputs(&self) -> &[String] {
        &self.names[0]
    }

    fn outputs(&self) -> &[String] {
        &self.names[1]
    }

    fn pass(&self, visitor: &mut dyn Visitor) -> Result<()> {
        if self.die {
            std::process::abort();
        }
        let leaves = (0..self.rows.div_ceil(LEAF)).filter(|leaf| leaf % self.ranks == self.rank);
        for first in leaves.map(|leaf| leaf * LEAF) {
            let count = LEAF.min(self.rows - first) as usize;
            let at = |i: usize, k: f64| (k * (first + i as u64 + 1) as f64).fract();
            let x = Mat::from_fn(count, 2, |i, j| {
                at(i, [0.618_033_988_7, 0.754_877_666_2][j])
            });
            let noise = |i: usize| at(i, 0.569_840_290_998_1) - 0.5;
            let y = Mat::from_fn(count, 1, |i, _| {
                (5.0 * x[(i, 0)] * x[(i, 1)]).sin() + x[(i, 1)] + noise(i)
            });
            visitor.take(Block {
                first,
                x: x.as_ref(),
                y: y.as_ref(),
            })?;
        }
        Ok(())
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize, default: i64| {
        words
            .get(k)
            .map_or(default, |w| w.parse().expect("a number"))
    };
    let job = Job::join().expect("a job");
    let world = job.world();
    let share = Share {
        rows: word(0, 20_000) as u64,
        rank: world.rank() as u64,
        ranks: world.size() as u64,
        die: word(2, -1) == world.rank() as i64,
        names: [vec!["a".into(), "b".into()], vec!["y".into()]],
    };
    let auto = Auto {
        budget: 0.5,
        width: 20,
        ..Auto::default()
    };
    let start = Instant::now();
    let fit = || auto.fit_long(&share, world, 3, &|_| Control::Continue);
    let (model, _) = on_threads(word(1, 1) as usize, fit).unwrap_or_else(|error| {
        eprintln!("error: rank {}: {error}", world.rank());
        world.abort(2)
    });
    if world.rank() == 0 {
        println!("{}", model.to_json());
        eprintln!("{:.3} s", start.elapsed().as_secs_f64());
    }
}
