"""Accuracy and time of the default fit in two records: geometric mean of the ratio of errors, for each class of problems.

    python3 tools/accuracy_change.py BEFORE AFTER

Both are folders with table.csv, functions.csv and odd.csv as written by `default_suite`; fits in both are compared. Ratios above 1 mean
that the error has grown. Errors below 1e-24 of the variance count as equal. Standard library only.
"""

import csv
import math
import sys
from collections import defaultdict
from pathlib import Path

ROUNDING = 1e-24
CLASSES = {"uci": "measured tables", "paper": "the paper's problems", "odd": "odd tables"}


def fits(folder):
    """The fits of the default, by problem, size, noise and seed."""
    found = {}
    for name in ["table.csv", "functions.csv", "odd.csv"]:
        path = Path(folder) / name
        if not path.exists():
            continue
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if row["method"] == "auto" and row["nmse"]:
                    kind = CLASSES.get(row["group"], f"functions, noise {100 * float(row['noise']):g} %")
                    found[kind, row["problem"], row["m"], row["noise"], row["seed"]] = row
    return found


def main(before, after):
    before, after = fits(before), fits(after)
    pairs = defaultdict(list)
    for case in before.keys() & after.keys():
        pairs[case[0]].append((before[case], after[case]))
    print("| class | fits | error after / before, geometric mean | larger by over 5 % | smaller by over 5 % | seconds before, after |")
    print("|---|---|---|---|---|---|")
    for kind, both in sorted(pairs.items()):
        errors = [[max(float(row["nmse"]), ROUNDING) for row in pair] for pair in both]
        ratios = [b / a for a, b in errors]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        seconds = [sum(float(row["seconds"]) for row in side) for side in zip(*both)]
        print(
            f"| {kind} | {len(both)} | {mean:.3f} | {sum(r > 1.05 for r in ratios)} | {sum(r < 0.95 for r in ratios)} | "
            f"{seconds[0]:.0f}, {seconds[1]:.0f} |"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
