"""Regenerates the tables of docs/default.md and the plots docs/images/default-*.svg.

    python3 tools/default_page.py [FOLDER]

FOLDER holds table.csv, functions.csv and odd.csv as written by `default_suite`. Tables go between `<!-- table:NAME -->`
and `<!-- end -->`. Tables whose file is missing are left empty. Standard library only.
"""

import csv
import math
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean, median

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "default.md"
IMAGES = ROOT / "docs" / "images"
FOLDER = ROOT / "runs" / "2026-11-19-epyc-2core-default"

AUTO = "auto"
GAUSSIAN = "gaussian-process"
MATERN = "gaussian-process:kernel=matern52"
PROCESSES = {GAUSSIAN: "Gaussian", MATERN: "Matérn 5/2"}
BASELINES = [GAUSSIAN, MATERN, "linear"]
# Errors below this, relative to the variance of f, are rounding errors and count as equal.
ROUNDING = 1e-24
# A fit counts as a loss if its error is more than this many times that of the best baseline.
LOSS = 1.2
LEVELS = {0.0: "clean", 0.01: "1 %", 0.1: "10 %", 0.5: "50 %"}
# Sets of interacting inputs, in the notation of `terms`; empty if the function is not additive.
TRUE_TERMS = {
    "f1-5": "1+2 2+3 4", "f1-10": "1+2 2+3 4", "f2-5": "1+3 2", "f2-10": "1+3 2",
    "f3-5": "1+2 3 4 5", "f3-10": "1+2 3 4 5", "ishigami-5": "1+3 2", "ishigami-10": "1+3 2",
    "g1": "1 2", "g2": "", "g3": "", "h1": "",
}
INK, PALE, BLUE, ORANGE, GREEN = "#26292e", "#eaecef", "#2f6db3", "#d9822b", "#3f8f5b"
COLOURS = {GAUSSIAN: BLUE, MATERN: ORANGE}


class Fit:
    """One row of results; missing numbers are NaN."""

    def __init__(self, row):
        self.group, self.problem, self.method = row["group"], row["problem"], row["method"]
        self.rows, self.inputs, self.seed = int(row["m"]), int(row["d"]), int(row["seed"])
        self.chosen, self.terms = row["chosen"], row["terms"]
        number = lambda name: float(row[name] or "nan")
        self.noise, self.mse, self.seconds = number("noise"), number("mse"), number("seconds")
        self.error = max(number("nmse"), ROUNDING)
        variance = max(number("deviation") ** 2, 1e-300)
        self.reported = max(number("reported") / variance, ROUNDING)
        self.true = max(number("true_mse") / variance, ROUNDING)
        self.cover = {90: number("cover90"), 95: number("cover95")}
        self.width = {90: number("width90"), 95: number("width95")}

    def case(self):
        return self.group, self.problem, self.rows, self.noise

    def named(self):
        noise = LEVELS.get(self.noise, f"{100 * self.noise:g} %")
        return f"{self.problem}, {self.rows} rows, {noise}"

    def has_interval(self, level):
        return math.isfinite(self.cover[level]) and math.isfinite(self.width[level])


class Results:
    """All fits of the default and of the baselines."""

    def __init__(self, folder):
        self.fits = []
        for name in ["table", "functions", "odd"]:
            path = folder / f"{name}.csv"
            if not path.exists():
                print(f"{path.name} not found: its tables stay empty", file=sys.stderr)
                continue
            with path.open(newline="") as file:
                lines = list(csv.DictReader(file))
            # While a run is in progress, the last line may be incomplete.
            whole = [row for row in lines if None not in row.values()]
            failed = [row for row in whole if row["failure"]]
            for row in failed:
                print(f"failed: {row['problem']}, {row['method']}: {row['failure']}", file=sys.stderr)
            self.fits += [Fit(row) for row in whole if row["nmse"]]
        self.at = {(*fit.case(), fit.seed, fit.method): fit for fit in self.fits}
        self.autos = [fit for fit in self.fits if fit.method == AUTO]

    def fit_by(self, method, fit):
        return self.at.get((*fit.case(), fit.seed, method))

    def ratios(self, method, wanted):
        """Error of the default relative to that of a process, by problem, geometric mean over seeds."""
        by = defaultdict(list)
        for fit in filter(wanted, self.autos):
            other = self.fit_by(method, fit)
            if other:
                by[fit.case()].append(fit.error / other.error)
        return {case: geometric(values) for case, values in by.items()}

    def against_best(self):
        """(fit, best baseline, ratio) for every fit of the default for which both processes were run."""
        for fit in self.autos:
            others = [self.fit_by(method, fit) for method in BASELINES]
            if others[0] and others[1]:
                best = min(filter(None, others), key=lambda other: other.error)
                yield fit, best, fit.error / best.error


def geometric(values):
    return math.exp(mean(math.log(value) for value in values))


def places():
    """The groups of problems, each with a predicate on fits."""
    function = lambda level: lambda fit: fit.group in ("clean", "noise") and fit.noise == level
    yield from ((f"functions, {name}", function(level)) for level, name in LEVELS.items())
    yield "odd tables", lambda fit: fit.group == "odd"
    yield "the paper's problems, clean", lambda fit: fit.group == "paper"
    yield "measured tables", lambda fit: fit.group == "uci"


# Tables


def table(head, rows):
    if not rows:
        return "(not measured)"
    line = lambda cells: "| " + " | ".join(str(cell) for cell in cells) + " |"
    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def short(value):
    """Two digits."""
    if not math.isfinite(value):
        return "-"
    if value == 0 or 0.01 <= abs(value) < 1000:
        return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}e{int(power)}"


def model(chosen):
    """The name of a model in the tables: a Gaussian process by its kernel, a network as fitted to the rows or distilled."""
    if chosen.startswith("network"):
        return "distilled network" if "distilled" in chosen else "network"
    return re.sub(r"^Gaussian process (with|that is) (an? )?", "", chosen).replace("one length", "one length scale")


def percent(value):
    return f"{100 * value:.1f}"


def table_ratios(results):
    """Each cell has one number for each process."""
    rows = []
    functions = ("functions", lambda fit: fit.group in ("clean", "noise"))
    for name, wanted in [functions, *list(places())[len(LEVELS):]]:
        ratios = [list(results.ratios(method, wanted).values()) for method in PROCESSES]
        if all(ratios):
            both = lambda of: ", ".join(str(of(values)) for values in ratios)
            rows.append([name, len(ratios[0]), both(lambda values: short(geometric(values))),
                         both(lambda values: short(median(values))),
                         both(lambda values: sum(value < 1 for value in values)),
                         both(lambda values: short(max(values)))])
    return table(["problems", "cases", "geometric mean", "median", "default is better", "worst"], rows)


def table_losses(results):
    everything = list(results.against_best())
    by = defaultdict(list)
    for fit, best, ratio in everything:
        by[fit.case()].append((ratio, fit, best))
    worst = sorted(by.values(), key=lambda of: -geometric([ratio for ratio, *_ in of]))
    rows = []
    for of in worst[:6]:
        ratios = [ratio for ratio, *_ in of]
        if geometric(ratios) <= 1:
            break
        _, fit, best = max(of, key=lambda entry: entry[0])
        rows.append([fit.named(), short(geometric(ratios)), short(fit.error),
                     f"{short(best.error)} ({PROCESSES.get(best.method, best.method)})", model(fit.chosen)])
    head = ["case", "ratio", "default", "best baseline", "model"]
    lost = sum(ratio > LOSS for *_, ratio in everything)
    cases = sum(geometric([ratio for ratio, *_ in of]) > LOSS for of in by.values())
    seeds = f", and on average over seeds in {cases} of {len(by)} cases" if len(by) < len(everything) else ""
    said = (f"The error is more than {LOSS} times that of the best baseline in {lost} of {len(everything)} fits{seeds}. "
            "The largest ratios:")
    return f"{said}\n\n{table(head, rows)}" if everything else "(not measured)"


def table_coverage(results):
    """Coverage of 90 % and 95 % intervals, and how many of the fits have infinite ones."""
    rows = []
    functions = ("functions", lambda fit: fit.group in ("clean", "noise"))
    for name, wanted in [functions, *list(places())[len(LEVELS):]]:
        cells = []
        for method in [AUTO, *PROCESSES]:
            fits = [fit for fit in results.fits if fit.method == method and wanted(fit)]
            finite = [[fit.cover[level] for fit in fits if fit.has_interval(level)] for level in (90, 95)]
            cells.append(", ".join(percent(mean(covers)) if covers else "-" for covers in finite))
        fits = [fit for fit in results.autos if wanted(fit)]
        infinite = [sum(math.isinf(fit.width[level]) for fit in fits) for level in (90, 95)]
        if fits:
            rows.append([name, len(fits), *cells, ", ".join(map(str, infinite))])
    return table(["problems", "fits", "default", *PROCESSES.values(), "infinite"], rows)


def table_reported(results):
    rows = []
    functions = ("functions", lambda fit: fit.group in ("clean", "noise"))
    for name, wanted in [functions, *list(places())[len(LEVELS):]]:
        fits = [fit for fit in results.autos if wanted(fit) and math.isfinite(fit.reported)]
        if fits:
            ratios = [fit.reported / fit.true for fit in fits]
            near = sum(0.5 <= ratio <= 2 for ratio in ratios)
            means = mean(fit.reported for fit in fits) / mean(fit.true for fit in fits)
            rows.append([name, short(means), short(geometric(ratios)), f"{near} of {len(fits)}",
                         f"{short(min(ratios))} to {short(max(ratios))}"])
    head = ["problems", "ratio of the means", "geometric mean", "within a factor of 2", "range"]
    return table(head, rows)


def table_optimistic(results):
    fits = [fit for fit in results.autos if math.isfinite(fit.reported)]
    fits.sort(key=lambda fit: fit.reported / fit.true)
    rows = [[fit.named(), short(fit.reported), short(fit.true),
             percent(fit.cover[90]) if fit.has_interval(90) else "infinite", model(fit.chosen)] for fit in fits[:5]]
    return table(["case", "reported", "true", "90 % covers", "model"], rows)


def table_problems(results):
    by = defaultdict(list)
    for fit in results.autos:
        if fit.group in ("paper", "uci"):
            by[fit.group, fit.problem].append(fit)
    rows = []
    for fits in by.values():
        first = fits[0]
        others = []
        for method in PROCESSES:
            baseline = [other.mse for fit in fits if (other := results.fit_by(method, fit))]
            others.append(short(mean(baseline)) if len(baseline) == len(fits) else "-")
        winners = [model(fit.chosen) for fit in fits]
        winner = max(winners, key=winners.count)
        counted = winner if winners.count(winner) == len(winners) else f"{winner} ({winners.count(winner)} of {len(winners)})"
        rows.append([f"{first.problem} ({first.inputs}, {first.rows})", short(mean(fit.mse for fit in fits)), *others, counted])
    head = ["problem (inputs, rows)", "default", "Gaussian", "Matérn 5/2", "model"]
    return table(head, rows)


def structure(results):
    """How often the true terms of the paper's problems were found, as a sentence."""
    fits = [fit for fit in results.autos if fit.group == "paper" and fit.problem in TRUE_TERMS]
    wrong = [fit for fit in fits if fit.terms != TRUE_TERMS[fit.problem]]
    none = [problem for problem, terms in TRUE_TERMS.items() if not terms]
    missed = "".join(f"; {fit.problem}: {fit.terms or 'none'}" for fit in wrong)
    return (f"The additive structure of the paper's functions ({', '.join(none[:-1])} and {none[-1]} have none) was found in "
            f"{len(fits) - len(wrong)} of {len(fits)} fits{missed}." if fits else "(not measured)")


def table_seconds(results):
    rows = []
    functions = ("functions", lambda fit: fit.group in ("clean", "noise"))
    for name, wanted in [functions, *list(places())[len(LEVELS):]]:
        cells = []
        for method in [AUTO, *PROCESSES]:
            seconds = [fit.seconds for fit in results.fits if fit.method == method and wanted(fit)]
            cells += [f"{median(seconds):.1f}, {max(seconds):.1f}" if seconds else "-"]
        if cells[0] != "-":
            rows.append([name, *cells])
    return table(["seconds: median, maximum", "default", "Gaussian", "Matérn 5/2"], rows)


TABLES = {
    "ratios": table_ratios, "losses": table_losses, "coverage": table_coverage, "reported": table_reported,
    "optimistic": table_optimistic, "problems": table_problems, "structure": structure, "seconds": table_seconds,
}


def renew(page, results):
    """The page with all tables regenerated."""
    def made(match):
        return f"<!-- table:{match[1]} -->\n\n{TABLES[match[1]](results)}\n\n<!-- end -->"

    return re.sub(r"<!-- table:(\w+) -->.*?<!-- end -->", made, page, flags=re.DOTALL)


# Pictures


class Axis:
    """Maps values to pixels on a linear or logarithmic scale."""

    def __init__(self, low, high, start, end, log=False):
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def __call__(self, value):
        of = math.log10 if self.log else float
        share = (of(min(max(value, self.low), self.high)) - of(self.low)) / (of(self.high) - of(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self):
        """Powers of ten, with halves and doubles if there are few."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        step = max(1, len(powers) // 7)
        steps = [1, 2, 5] if len(powers) < 5 else [1]
        ticks = [digit * 10.0**power for power in powers if power % step == 0 for digit in steps]
        return [tick for tick in ticks if self.low * 0.999 <= tick <= self.high * 1.001]


class Drawing:
    """An SVG picture."""

    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def line(self, x1, y1, x2, y2, colour=INK, width=0.8, dash=None):
        dash = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
                          f'stroke-width="{width}"{dash}/>')

    def box(self, x, y, width, height, fill="none", stroke="none"):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
                          f'stroke="{stroke}" stroke-width="0.8"/>')

    def dot(self, x, y, colour, radius=2.2, opacity=0.55):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}" fill-opacity="{opacity}"/>')

    def text(self, x, y, text, anchor="middle", size=11, colour=INK, bold=False, turn=False):
        weight = ' font-weight="bold"' if bold else ""
        turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
                          f'fill="{colour}"{weight}{turned}>{text}</text>')

    def swarm(self, x, y, values, colour, half):
        """Dots about a vertical line, side by side where they would overlap."""
        rows = defaultdict(list)
        for value in sorted(values):
            rows[round(y(value) / 4)].append(y(value))
        for heights in rows.values():
            apart = min(4.2, 2 * half / len(heights))
            for place, height in enumerate(heights):
                self.dot(x + apart * (place - (len(heights) - 1) / 2), height, colour)

    def legend(self, x, y, entries):
        for i, (text, colour) in enumerate(entries):
            self.dot(x, y + 16 * i - 4, colour, 4, 0.8)
            self.text(x + 9, y + 16 * i, text, "start")

    def write(self, path):
        width, height = self.size
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
                f"font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\">")
        back = f'<rect x="0" y="0" width="{width}" height="{height}" fill="#ffffff"/>'
        path.write_text("\n".join([head, back, *self.parts, "</svg>", ""]))


def power(tick):
    digits = str(math.floor(math.log10(tick) + 0.5)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{tick:g}" if 0.01 <= tick <= 100 else f"10{digits}"


def draw_ratios(results):
    """Error of the default over that of each process, a dot for each problem."""
    drawing = Drawing(720, 380)
    top, bottom = 40, 330
    named = dict(places())
    panels = [
        (70, 350, 0.0, ["functions, clean", "the paper's problems, clean", "odd tables"]),
        (420, 700, 0.03, ["functions, 1 %", "functions, 10 %", "functions, 50 %"]),
    ]
    for left, right, least, columns in panels:
        values = {(column, method): list(results.ratios(method, named[column]).values())
                  for column in columns for method in PROCESSES}
        seen = [value for of in values.values() for value in of]
        low, high = max(least, min([0.3, *seen])), max([3.0, *seen])
        y = Axis(low / 1.3, high * 1.3, bottom, top, log=True)
        for tick in y.ticks():
            drawing.line(left, y(tick), right, y(tick), PALE)
            drawing.text(left - 6, y(tick) + 4, power(tick), "end", 10)
        drawing.box(left, top, right - left, bottom - top, stroke=INK)
        drawing.line(left, y(1), right, y(1), INK, 1.4)
        slot = (right - left) / len(columns)
        for i, column in enumerate(columns):
            for k, method in enumerate(PROCESSES):
                x = left + (i + 0.28 + 0.44 * k) * slot
                of = values[column, method]
                drawing.swarm(x, y, of, COLOURS[method], 0.2 * slot)
                if of:
                    centre = y(geometric(of))
                    drawing.line(x - 0.17 * slot, centre, x + 0.17 * slot, centre, INK, 2.6)
            title = column.replace("functions, ", "").replace("the paper's problems, clean", "the paper's")
            title = {"clean": "functions"}.get(title, title)
            drawing.text(left + (i + 0.5) * slot, bottom + 17, title)
    drawing.text(210, 28, "clean, and odd tables", bold=True)
    drawing.text(560, 28, "functions with noise of", bold=True)
    drawing.text(560, 368, "(what is below 0.03 is drawn there)", size=10)
    drawing.text(18, 185, "error of the default / error of the process", turn=True)
    drawing.legend(80, 368, [("Gaussian kernel", BLUE)])
    drawing.legend(220, 368, [("Matérn kernel", ORANGE)])
    return drawing


def draw_coverage(results):
    """Share of fresh rows inside the intervals, a dot for each problem."""
    drawing = Drawing(720, 350)
    top, bottom = 40, 300
    columns = list(places())
    titles = ["clean", "1 %", "10 %", "50 %", "odd", "paper's", "measured"]
    for level, left, right in [(90, 60, 375), (95, 395, 710)]:
        y = Axis(0.6, 1.0, bottom, top)
        for tick in [0.6, 0.7, 0.8, 0.9, 1.0]:
            drawing.line(left, y(tick), right, y(tick), PALE)
            if level == 90:
                drawing.text(left - 6, y(tick) + 4, f"{100 * tick:.0f} %", "end", 10)
        goal = level / 100
        drawing.box(left, y(goal + 0.02), right - left, y(goal - 0.02) - y(goal + 0.02), fill="#dcebdd")
        drawing.line(left, y(goal), right, y(goal), INK, 1.2)
        drawing.box(left, top, right - left, bottom - top, stroke=INK)
        slot = (right - left) / len(columns)
        for i, ((_, wanted), title) in enumerate(zip(columns, titles)):
            by = defaultdict(list)
            for fit in filter(wanted, results.autos):
                if fit.has_interval(level):
                    by[fit.case()].append(fit.cover[level])
            x, of = left + (i + 0.5) * slot, [mean(values) for values in by.values()]
            drawing.swarm(x, y, of, BLUE, 0.36 * slot)
            if of:
                drawing.line(x - 0.36 * slot, y(mean(of)), x + 0.36 * slot, y(mean(of)), INK, 2.6)
            drawing.text(x, bottom + 16, title, size=9)
        drawing.text((left + right) / 2, 28, f"intervals of {level} %", bold=True)
    drawing.text(16, 170, "fresh rows inside", turn=True)
    drawing.text(385, 338, "functions by noise (clean to 50 %), then the other problems; what is below 60 % is drawn there", size=10)
    return drawing


def draw_reported(results):
    """Reported error against true error."""
    drawing = Drawing(560, 440)
    left, right, top, bottom = 80, 540, 20, 385
    fits = [fit for fit in results.autos if math.isfinite(fit.reported) and fit.true > ROUNDING]
    seen = [value for fit in fits for value in (fit.reported, fit.true)] or [1e-3, 1]
    low, high = min(seen) / 3, max(seen) * 3
    x, y = Axis(low, high, left, right, log=True), Axis(low, high, bottom, top, log=True)
    for tick in x.ticks():
        drawing.line(x(tick), top, x(tick), bottom, PALE)
        drawing.line(left, y(tick), right, y(tick), PALE)
        drawing.text(x(tick), bottom + 16, power(tick), size=10)
        drawing.text(left - 6, y(tick) + 4, power(tick), "end", 10)
    drawing.box(left, top, right - left, bottom - top, stroke=INK)
    drawing.line(x(low), y(low), x(high), y(high), INK, 1.2)
    colours = {"clean": BLUE, "noise": BLUE, "odd": ORANGE, "paper": GREEN, "uci": GREEN}
    for fit in fits:
        drawing.dot(x(fit.true), y(fit.reported), colours[fit.group])
    drawing.text((left + right) / 2, 422, "true error on fresh rows / variance of f")
    drawing.text(20, 200, "reported error / variance of f", turn=True)
    drawing.legend(left + 16, top + 22, [("functions", BLUE), ("odd tables", ORANGE), ("paper's and measured", GREEN)])
    return drawing


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    results = Results(folder)
    if not results.autos:
        sys.exit(f"no fits of {AUTO} in table.csv, functions.csv or odd.csv; check the folder")
    IMAGES.mkdir(exist_ok=True)
    for name, draw in {"ratios": draw_ratios, "coverage": draw_coverage, "reported": draw_reported}.items():
        draw(results).write(IMAGES / f"default-{name}.svg")
    PAGE.write_text(renew(PAGE.read_text(), results))
    print(f"{len(results.fits)} fits, {len(results.autos)} of them of the default")


if __name__ == "__main__":
    main()
