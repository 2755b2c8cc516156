"""Checks that a change leaves the numbers alone: 60 fits of all kinds, each prediction compared to the last bit.

    python3 tools/same_numbers.py BEFORE AFTER

BEFORE and AFTER are two builds of the program `thinfit`. Both fit the same tables with every method, text inputs, warps, weights,
groups, several outputs, edges, out-of-core tables and resumed fits; then they predict values, deviations, intervals and gradients at
the same rows. Prints the cases that differ and exits with 1 if there are any. Takes about five minutes on two cores. Standard library
only.
"""

import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

METHODS = (
    "random f-opt gft gft-r shrimp harfe anova-rff swim arff rff plain noisy-gradients fully-sampled kernel-ridge "
    "kernel-ridge-validated salsa gaussian-process"
).split()
SHORT = ["--set", "generate.steps=40", "--set", "refine.steps=40"]
# These take minutes at their default number of steps.
STEPS = {
    "gft": SHORT,
    "gft-r": SHORT,
    "f-opt": ["--set", "direct.steps=40"],
    "plain": ["--set", "steps=200"],
    "noisy-gradients": ["--set", "steps=200"],
    "fully-sampled": ["--set", "steps=200"],
}
ACTIVATIONS = ["cosine", "sigmoid", "tanh", "relu"]


def tables(folder):
    """Writes the tables and returns, for each name, its path and how `fit` is told about it."""
    draw = random.Random(1)
    made = {}

    def write(name, header, rows, *options):
        path = folder / f"{name}.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in [header, *rows]) + "\n")
        made[name] = [str(path), *options]

    def uniform(rows, inputs):
        return [[draw.random() for _ in range(inputs)] for _ in range(rows)]

    def smooth(x):
        return math.sin(5 * x[0]) + x[1] ** 2 + x[0] * x[1]

    xy = ["--target", "y"]
    plain = uniform(80, 3)
    write("plain", "abcy", [[*x, smooth(x)] for x in plain], *xy)
    write("noise", "abcy", [[*x, smooth(x) + draw.gauss(0, 0.3)] for x in plain], *xy)
    write("outputs", "abcyz", [[*x, smooth(x), math.cos(3 * x[2])] for x in plain], "--target", "y,z")
    write("text", "abcty", [[*x, "rst"[i % 3], smooth(x) + i % 3] for i, x in enumerate(plain)], *xy)
    write("warp", "abcy", [[math.exp(9 * x[0]), *x[1:], smooth(x)] for x in plain], *xy)
    write("edge", "aby", [[*x, smooth(x) + (x[0] > 0.5)] for x in uniform(120, 2)], *xy)
    names = [*(f"x{j}" for j in range(12)), "y"]
    write("few", names, [[*x, smooth(x) + draw.gauss(0, 0.1)] for x in uniform(40, 12)], *xy)
    write("none", names, [[*x, draw.gauss(0, 1)] for x in uniform(40, 12)], *xy)
    grouped = [[*x, i // 4, smooth(x) + draw.gauss(0, 0.1)] for i, x in enumerate(plain)]
    write("groups", "abcgy", grouped, *xy, "--groups", "g")
    weighted = [[*x, 1 + i % 3, smooth(x) + draw.gauss(0, 0.1)] for i, x in enumerate(plain)]
    write("weights", "abcwy", weighted, *xy, "--weights", "w")
    gaps = [[*x[:2], "" if i % 9 == 0 else x[2], smooth(x)] for i, x in enumerate(plain)]
    write("gaps", "abcy", gaps, *xy, "--missing", "mean")
    write("long", "aby", [[*x, smooth(x)] for x in uniform(60_000, 2)], *xy, "--memory", "40MB")
    return made


def cases():
    """(name, table, options of `fit`, whether it is resumed) of each fit."""
    for method in METHODS:
        options = ["--method", method, *STEPS.get(method, [])]
        yield f"{method}", "plain", options, False
        yield f"{method}, two outputs", "outputs", options, False
    network, process = ["--method", "gft-r", *SHORT], ["--method", "gaussian-process"]
    for table in ["text", "warp", "groups", "weights", "gaps"]:
        yield f"gft-r, {table}", table, network, False
    for activation in ACTIVATIONS:
        yield f"gft-r, {activation}", "plain", [*network, "--activation", activation], False
    for kernel in ["matern52", "matern32"]:
        yield f"process, {kernel}", "plain", [*process, "--set", f"kernel={kernel}"], False
    for table in ["text", "warp", "noise"]:
        yield f"process, {table}", table, process, False
    yield "gft-r, resumed", "plain", network, True
    for table in ["plain", "noise", "outputs", "text", "warp", "edge", "few", "none", "groups", "gaps", "long"]:
        yield f"auto, {table}", table, ["--budget", "3"], False
    yield "auto, a thin network", "noise", ["--budget", "3", "--thin"], False


def numbers(program, folder, data, options, resumed):
    """What the program predicts after this fit: the values, then what else the model has."""
    model, state = folder / "model.json", folder / "fit.state"
    model.unlink(missing_ok=True)
    state.unlink(missing_ok=True)

    def run(*arguments):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=600)
        return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()}"

    fit = ["fit", *data, *options, "-o", model, "-q"]
    failed = run(*fit, *(["--checkpoint", state] if resumed else []))
    if resumed:
        failed = run(*fit, "--resume", state)
    if failed.startswith("exit"):
        return [failed]
    extras = [["--gradient"], ["--std"], ["--interval", "0.9"]]
    return [run("predict", model, data[0], "-q", *extra) for extra in [[], *extras]]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    differing, count = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        made = tables(folder)
        for name, table, options, resumed in cases():
            before, after = (numbers(program, folder, made[table], options, resumed) for program in sys.argv[1:])
            count += 1
            # Errors may be worded anew.
            failed = [results[0].startswith("exit") for results in (before, after)]
            kinds = zip(["values", "gradients", "deviations", "intervals"], before, after)
            found = [kind for kind, a, b in kinds if a != b and not (a.startswith("exit") and b.startswith("exit"))]
            if failed[0] != failed[1]:
                found = [f"before: {before[0][:200]!r}, after: {after[0][:200]!r}"]
            differing += bool(found)
            outcome = "differs: " + ", ".join(found) if found else "no fit by either" if all(failed) else "the same"
            print(f"{name}: {outcome}", flush=True)
    print(f"{count - differing} of {count} fits predict the same to the last bit")
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
