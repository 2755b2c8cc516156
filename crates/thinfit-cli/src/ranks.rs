//! The processes that share rows or work: those started by `mpirun`, or this one alone.

use thinfit::pieces::{Executor, SingleProcess};

use crate::failure::Failure;
use crate::interrupt;

/// Variables by which a process that `mpirun` has started can tell how many there are.
const SIZES: [&str; 4] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_NUM_TASKS",
];

/// How long a rank waits for the first one to say what is wrong.
#[cfg(feature = "mpi")]
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);

/// The ranks of a job.
pub struct Team {
    #[cfg(feature = "mpi")]
    job: Option<thinfit_mpi::Job>,
}

impl Team {
    /// Joins the job that this process was started in, if it was.
    pub fn join() -> Result<Self, Failure> {
        let started = SIZES.iter().filter_map(|name| std::env::var(name).ok());
        let several = started
            .filter_map(|size| size.parse().ok())
            .any(|size: u64| size > 1);
        #[cfg(not(feature = "mpi"))]
        {
            match several {
                false => Ok(Team {}),
                true => Err(Failure::new(
                    "expected one process, found several that mpirun has started; this build cannot share work among them: start it \
                     alone, or build it with --features mpi",
                )),
            }
        }
        #[cfg(feature = "mpi")]
        {
            if !several {
                return Ok(Team { job: None });
            }
            let failure = || Failure::new("cannot initialise MPI; run without mpirun");
            let job = thinfit_mpi::Job::join().ok_or_else(failure)?;
            Ok(Team { job: Some(job) })
        }
    }

    /// What spreads work over the processes.
    pub fn executor(&self) -> &dyn Executor {
        #[cfg(feature = "mpi")]
        if let Some(job) = &self.job {
            return job.world();
        }
        &SingleProcess
    }

    /// Whether this process speaks for all.
    pub fn speaks(&self) -> bool {
        self.executor().rank() == 0
    }

    /// Listens for Ctrl-C from now on; one process says what `happens` to the work.
    pub fn listen(&self, happens: &'static str) -> Result<(), Failure> {
        match self.speaks() {
            true => interrupt::listen(happens),
            false => interrupt::leave(),
        }
    }

    /// Ends all processes where one of several has failed, for whom the others would wait.
    pub fn fail(&self, failure: Failure) -> Failure {
        #[cfg(feature = "mpi")]
        if let Some(job) = &self.job {
            use std::io::Write;
            let rank = job.world().rank();
            if rank > 0 {
                // What goes wrong everywhere the first one says, and ends the others before they do.
                std::thread::sleep(PATIENCE);
            }
            // Where nobody reads it, the exit code has to do.
            let _ = writeln!(crate::terminal::stderr(), "error: rank {rank}: {failure}");
            job.world().abort(2);
        }
        failure
    }
}
