"""Scatter of SHRIMP's test errors over many seeds, in thinfit and in NumPy.

    cargo build --release
    python tools/shrimp_scatter.py [--seeds 50]

Two problems: the pair polynomial of its authors (140 x 10, 1,000 features) and Friedman's function (1,000 x 10, 10,000
features, a tenth of the seeds). One line per fit, then median, mean and largest error of each implementation.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy as np
from baseline_speed import ROOT, points, shrimp


def pairs(seed):
    x = np.random.default_rng(seed).uniform(-1, 1, (200, 10))
    z = 2 * x - 1
    y = z[:, 0] * z[:, 1] + z[:, 0] * z[:, 2] + z[:, 1] * z[:, 2]
    return (x[:140], y[:140]), (x[140:], y[140:])


def friedman(_):
    return points(0, 1000, 10), points(1000, 1000, 10)


def ours(folder, train, test, features, seed):
    """Test error of our program."""
    for name, (x, y) in ("train", train), ("test", test):
        np.save(folder / f"{name}.npy", np.c_[x, y])
    fit = [f"--seed={seed}", "--method=shrimp", f"--set=features={features}", "--set=orders=[2]", "--set=scaling=none"]
    run = lambda *words: subprocess.run(
        [ROOT / "target/release/thinfit", *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    run("fit", "train.npy", "--target=c11", "--output=m.json", "-q", *fit)
    return json.loads(run("score", "m.json", "test.npy", "--target=c11", "--json"))["scores"][0]["mse"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for problem, features, seeds in (pairs, 1000, args.seeds), (friedman, 10_000, max(args.seeds // 10, 1)):
            errors = {"thinfit": [], "NumPy": []}
            for seed in range(1, seeds + 1):
                train, test = problem(seed)
                errors["thinfit"].append(ours(pathlib.Path(folder), train, test, features, seed))
                predict, _ = shrimp(*train, features=features, seed=seed)
                errors["NumPy"].append(np.mean((predict(test[0]) - test[1]) ** 2))
                print(problem.__name__, seed, *(f"{side} {values[-1]:.2e}" for side, values in errors.items()), flush=True)
            for side, e in errors.items():
                print(f"{problem.__name__}, {side}: median {np.median(e):.2e}, mean {np.mean(e):.2e}, largest {max(e):.2e}")


if __name__ == "__main__":
    main()
