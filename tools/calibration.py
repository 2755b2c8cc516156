"""Tables of the calibration of fits: reported against true error, and interval coverage, one line for each size and noise.

    python3 tools/calibration.py RESULTS.csv

RESULTS.csv is what `default_suite` writes. Standard library only.
"""

import csv
import math
import sys
from collections import defaultdict
from statistics import mean


def main():
    cells = defaultdict(list)
    for row in csv.DictReader(open(sys.argv[1], newline="")):
        if row["method"] == "auto" and not row["failure"]:
            cells[int(row["m"]), int(row["d"]), float(row["noise"])].append(row)
    print("| rows | inputs | noise | fits | reported r², mean | most | reported / true rmse | 90 % intervals cover | finite |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (rows, inputs, noise), fits in sorted(cells.items()):
        number = lambda name: [float(fit[name]) for fit in fits]
        r2 = [1 - mse / variance for mse, variance in zip(number("reported"), number("variance"))]
        ratio = mean(math.sqrt(mse / true) for mse, true in zip(number("reported"), number("true_mse")))
        finite = [fit for fit in fits if math.isfinite(float(fit["width90"]))]
        covered = f"{100 * mean(float(fit['cover90']) for fit in finite):.1f} %" if finite else "-"
        print(
            f"| {rows} | {inputs} | {100 * noise:.0f} % | {len(fits)} | {mean(r2):.3f} | {max(r2):.3f} | {ratio:.2f} | "
            f"{covered} | {len(finite)} |"
        )


if __name__ == "__main__":
    main()
