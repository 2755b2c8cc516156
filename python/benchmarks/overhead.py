"""What Python costs: `fit` and `predict` against the Rust library, in interleaved pairs, and memory of a prediction.

    python overhead.py fit|predict|memory [--rows 100000] [--pairs 20]

`fit` and `predict` need THINFIT_RAW, the path of the example `raw` of the crate thinfit, built with --release.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from thinfit import GFTRegressor

# Ten steps say as much about the overhead as a thousand.
SHORT = {"generate": {"steps": 5}, "refine": {"steps": 5}, "check_every": 5}


class Raw:
    """The example `raw`: the library without Python, on arrays in raw files."""

    def __init__(self, folder, x, y, config):
        x.tofile(folder / "x.bin")
        y.tofile(folder / "y.bin")
        (folder / "config.json").write_text(json.dumps(config))
        arguments = [folder / "x.bin", folder / "y.bin", *x.shape, folder / "config.json"]
        command = [os.environ["THINFIT_RAW"], *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def pairs(what, rows, count):
    x = np.random.default_rng(0).random((rows, 10))
    y = np.sin(x @ np.arange(10))
    small = GFTRegressor(random_state=1, config=SHORT).fit(x[:500], y[:500])
    config = small.record_["config"]
    with tempfile.TemporaryDirectory() as folder:
        raw = Raw(Path(folder), x, y, config)
        small.save(Path(folder) / "model.json")
        raw.ask("load", Path(folder) / "model.json")
        model = small if what == "predict" else GFTRegressor(random_state=1, config=SHORT)
        ours, theirs = [], []
        for i in range(count + 1):
            for side in (ours, theirs) if i % 2 else (theirs, ours):
                if side is theirs:
                    seconds = raw.ask(what)
                else:
                    begin = time.perf_counter()
                    model.predict(x) if what == "predict" else model.fit(x, y)
                    seconds = time.perf_counter() - begin
                if i > 0:  # the first pair warms up
                    side.append(seconds)
        raw.process.communicate()
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    print("python_s,rust_s,ratio")
    for a, b, ratio in zip(ours, theirs, ratios, strict=True):
        print(f"{a:.5f},{b:.5f},{ratio:.4f}")
    a, b = statistics.median(ours), statistics.median(theirs)
    print(f"# {what}, {rows} rows: medians {a:.5f} and {b:.5f} s; median ratio {statistics.median(ratios):.4f}")


def memory(rows):
    rng = np.random.default_rng(0)
    small = rng.random((500, 10))
    model = GFTRegressor(random_state=1, config=SHORT).fit(small, small[:, 0])
    x = rng.random((rows, 10))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    begin = time.perf_counter()
    model.predict(x)
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        f"# input {x.nbytes / 2**20:.0f} MiB; peak before {before / 2**20:.0f}, after predict {peak / 2**20:.0f} MiB,"
    )
    print(f"# {peak / x.nbytes:.3f} times the input for the whole process; {seconds:.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["fit", "predict", "memory"])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--pairs", type=int, default=20)
    arguments = parser.parse_args()
    if arguments.what == "memory":
        memory(arguments.rows or 10_000_000)
    else:
        pairs(arguments.what, arguments.rows or 100_000, arguments.pairs)
