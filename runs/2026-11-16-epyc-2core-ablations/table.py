"""Prints the table of summary.md from the csv files beside it: each part's fits over those of full.csv.

    python3 table.py [--cases]        --cases lists every case that changes by more than 5 %
"""

import csv
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Errors below this, relative to the variance of f, are rounding and count as equal.
ROUNDING = 1e-24
MATTERS = 1.05


def fits(name):
    with (HERE / f"{name}.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["nmse"]]
    return {(row["group"], row["problem"], row["m"], row["noise"]): row for row in rows}


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def error(row):
    return max(float(row["nmse"]), ROUNDING)


def honest(rows):
    """Geometric mean of reported over true error, and mean coverage of finite 90 % intervals."""
    floor = lambda row, name: max(float(row[name]) / float(row["deviation"]) ** 2, ROUNDING)
    ratio = geometric([floor(row, "reported") / floor(row, "true_mse") for row in rows])
    covers = [float(row["cover90"]) for row in rows if row["cover90"] and math.isfinite(float(row["width90"]))]
    return ratio, 100 * sum(covers) / len(covers)


def short(value):
    if 0.01 <= value < 100:
        return f"{value:.3f}" if value < 10 else f"{value:.1f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def main():
    full = fits("full")
    print("| part off | problems | cases | geometric mean | median | worse by 5 % | better by 5 % | worst | best "
          "| reported/true, full → off | 90 % covers, full → off |")
    print("|" + "---|" * 11)
    for path in sorted(HERE.glob("*.csv")):
        part = path.stem
        if part == "full":
            continue
        off = fits(part)
        for group in ["clean", "noise", "odd", "all"]:
            cases = [case for case in off if group in (case[0], "all")]
            if not cases:
                continue
            ratios = {case: error(off[case]) / error(full[case]) for case in cases}
            values = sorted(ratios.values())
            (r0, c0), (r1, c1) = honest([full[c] for c in cases]), honest([off[c] for c in cases])
            worse = sum(v > MATTERS for v in values)
            better = sum(v < 1 / MATTERS for v in values)
            middle = 0.5 * (values[(len(values) - 1) // 2] + values[len(values) // 2])
            print(f"| {part} | {group} | {len(cases)} | {short(geometric(values))} | {short(middle)} | {worse} | {better} "
                  f"| {short(values[-1])} | {short(values[0])} | {short(r0)} → {short(r1)} | {c0:.1f} → {c1:.1f} |")
            if "--cases" in sys.argv:
                for case, ratio in sorted(ratios.items(), key=lambda pair: -pair[1]):
                    if not 1 / MATTERS <= ratio <= MATTERS:
                        names = f"{full[case]['chosen']} → {off[case]['chosen']}"
                        print(f"    {short(ratio):>8} {' '.join(case[1:])}: {short(error(full[case]))}; {names}")


main()
