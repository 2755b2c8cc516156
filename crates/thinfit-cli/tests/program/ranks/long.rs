//! Long tables whose rows are distributed over the ranks.

use super::*;
use crate::long::csv;

#[test]
fn ranks_write_the_model_of_one_process() {
    let folder = folder("long-ranks");
    write(&folder, "1.csv", csv(0..15_000));
    write(&folder, "2.csv", csv(15_000..20_000));
    let fit = [
        "fit",
        "1.csv",
        "2.csv",
        "--target=y",
        "--budget=0.5",
        "--width=20",
        "--quiet",
    ];
    succeed(
        &folder,
        &[&["--memory=1MB"], &fit[..], &["-o", "one.json"]].concat(),
    );
    let shared = [&fit[..], &["-o", "ranks.json"]].concat();
    let mpirun = |ranks: &str| mpirun(&folder, ranks, &shared);
    for ranks in ["2", "3"] {
        let output = mpirun(ranks).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(text(&output.stdout).matches("wrote ranks.json").count(), 1);
        assert_eq!(read(&folder, "ranks.json"), read(&folder, "one.json"));
    }
    // A state goes on with another number of ranks.
    for (ranks, words) in [("3", "--checkpoint=fit.state"), ("2", "--resume=fit.state")] {
        let mut command = mpirun(ranks);
        let output = command.arg(words).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(read(&folder, "ranks.json"), read(&folder, "one.json"));
    }
    write(&folder, "2.csv", "a,b,y\n1,2,word\n");
    let start = std::time::Instant::now();
    let output = mpirun("3").output().unwrap();
    assert!(!output.status.success() && start.elapsed().as_secs() < 10);
    let message = text(&output.stderr);
    assert!(
        message.contains("rank") && message.contains("word"),
        "{message}"
    );
}
