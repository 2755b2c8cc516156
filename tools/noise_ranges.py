"""How often the range of the noise in the report of the default fit holds the true noise, on tables whose noise is known.

    pip install numpy
    python3 tools/noise_ranges.py THINFIT RESULTS.csv [FITS]

THINFIT, the program, fits tables of 40 to 160 rows and 2 to 8 inputs with a budget of 5 seconds. One line per fit; the range is empty
where the report gives none.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

FUNCTIONS = [
    lambda x: np.sin(3 * x[:, 0]) + x[:, 0] * x[:, 1],
    lambda x: 2 * np.exp(x).mean(axis=1),
    lambda x: np.sin(6 * x[:, 0]) * x[:, 1] + x[:, -1] ** 2,
]


def measured(program, seed):
    """The fit of a random table."""
    random = np.random.default_rng(seed)
    inputs, rows = int(random.choice([2, 4, 8])), int(random.choice([40, 80, 160]))
    share = float(random.choice([0.0, 0.05, 0.3, 1.0]))
    x = random.random((rows, inputs))
    f = FUNCTIONS[seed % len(FUNCTIONS)](x)
    noise = share * f.std()
    table = np.column_stack([x, f + noise * random.normal(size=rows)])
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "table.csv", Path(folder) / "model.json"
        names = [f"x{j}" for j in range(inputs)] + ["y"]
        np.savetxt(path, table, delimiter=",", header=",".join(names), comments="")
        run = [program, "fit", str(path), "--target", "y", "-o", str(model), "--budget", "5", "-q"]
        subprocess.run(run, check=True, capture_output=True)
        found = json.loads(model.read_text())["record"]["diagnosis"]
    low, high = (found.get("noise_range") or [["", ""]])[0]
    return {"seed": seed, "rows": rows, "inputs": inputs, "noise": noise, "low": low, "high": high}


def main(program, results, fits=48):
    with open(results, "w", newline="") as file:
        lines = (measured(program, seed) for seed in range(int(fits)))
        first = next(lines)
        writer = csv.DictWriter(file, first)
        writer.writeheader()
        given = held = 0
        for line in [first, *lines]:
            writer.writerow(line)
            given += line["low"] != ""
            held += line["low"] != "" and line["low"] <= line["noise"] <= line["high"]
    print(f"{held} of {given} ranges hold the true noise; {int(fits) - given} fits give none")


if __name__ == "__main__":
    main(*sys.argv[1:])
