"""The same six tasks with scikit-learn, SMT, OpenTURNS and thinfit: lines of code, seconds, results.

    python tools/day/day.py borehole scikit_learn    # prints one line of JSON
    python tools/day/day.py page RECORD.jsonl        # prints tables

All libraries fit the same rows, planned by thinfit; the plans are compared separately. Indices, minima and next points refer to the
same ranges. Libraries that propose rows for a minimum also search for it in three rounds of eight rows.
"""

import importlib
import inspect
import json
import sys
import time
from pathlib import Path

import numpy as np
from problems import PROBLEMS
from scipy.optimize import minimize
from scipy.stats import qmc

TASKS = ["plan", "fit", "bars", "indices", "minimum", "suggest", "search"]
LEVEL = 0.9
FRESH = 5000
NEXT = 8
# Rounds of the search for the minimum, of as many rows each.
ROUNDS = 3


def lines(function):
    """Lines of code: neither blank nor comment."""
    code = inspect.getsource(function).splitlines()
    return sum(1 for line in code if line.strip() and not line.strip().startswith("#"))


def references(problem):
    """Sobol indices from 2^20 points of a Sobol sequence (Saltelli's and Jansen's estimators), and the least value by 200 searches, of the function itself."""
    n, d = 2**20, len(problem.ranges)
    unit = qmc.Sobol(2 * d, rng=1).random(n)
    a, b = (qmc.scale(half, problem.low, problem.high) for half in (unit[:, :d], unit[:, d:]))
    at_a, at_b = problem.f(a), problem.f(b)
    centre, variance = np.mean(at_a), np.var(at_a)
    first, total = np.empty(d), np.empty(d)
    for j in range(d):
        mixed = a.copy()
        mixed[:, j] = b[:, j]
        at_mixed = problem.f(mixed)
        first[j] = np.mean((at_b - centre) * (at_mixed - at_a)) / variance
        total[j] = np.mean((at_a - at_mixed) ** 2) / (2 * variance)
    width = problem.high - problem.low

    def value(u):
        return problem.f((problem.low + u * width)[None])[0]

    starts = np.random.default_rng(0).random((200, d))
    found = [minimize(value, u, bounds=[(0, 1)] * d, method="L-BFGS-B", options={"ftol": 1e-15}) for u in starts]
    spread = at_a.max() - at_a.min()
    return first, total, min(result.fun for result in found), spread


def closest(problem, x):
    """The least distance of two rows in the unit cube."""
    unit = (x - problem.low) / (problem.high - problem.low)
    square = ((unit[:, None] - unit[None]) ** 2).sum(-1)
    return float(np.sqrt(square[np.triu_indices(len(x), 1)].min()))


def run(problem, library):
    tools = importlib.import_module(f"with_{library}")
    seconds = {}

    def timed(task, *given):
        began = time.perf_counter()
        result = getattr(tools, task)(*given)
        seconds[task] = time.perf_counter() - began
        return result

    own = timed("plan", problem.ranges, problem.rows, 0)
    shared = np.loadtxt(Path(__file__).with_name(f"{problem.name}.csv"), delimiter=",", skiprows=1)
    x, y = shared[:, :-1], shared[:, -1]
    model = timed("fit", problem.ranges, x, y)
    fresh = problem.sample(FRESH, 3)
    mean, low, high = timed("bars", model, fresh)
    true = problem.f(fresh)
    first, total = timed("indices", model, problem.ranges, x)
    place, least = timed("minimum", model, problem.ranges)
    added = timed("suggest", model, problem.ranges, x, y, NEXT)
    more = tools.fit(problem.ranges, np.vstack([x, added]), np.append(y, problem.f(added)))
    error = {"before": mean - true, "after": tools.bars(more, fresh)[0] - true}
    searched = [timed("search", problem.ranges, problem.f, x, y, ROUNDS, NEXT)] if hasattr(tools, "search") else []
    first_reference, total_reference, least_reference, spread = references(problem)
    return {
        "problem": problem.name,
        "library": library,
        "version": importlib.import_module({"scikit_learn": "sklearn"}.get(library, library)).__version__,
        "lines": {name: lines(function) for name, function in inspect.getmembers(tools, inspect.isfunction) if function.__module__ == tools.__name__},
        "seconds": seconds,
        "closest_rows": closest(problem, own),
        "relative_rmse": float(np.sqrt(np.mean(error["before"] ** 2)) / true.std()),
        "relative_rmse_after_suggest": float(np.sqrt(np.mean(error["after"] ** 2)) / true.std()),
        "coverage": float(np.mean((low <= true) & (true <= high))),
        "mean_width": float(np.mean(high - low) / true.std()),
        "first": list(map(float, first)),
        "total": list(map(float, total)),
        "first_reference": list(map(float, first_reference)),
        "total_reference": list(map(float, total_reference)),
        "indices_off": float(max(np.abs(first - first_reference).max(), np.abs(total - total_reference).max())),
        "minimum_at": list(map(float, place)),
        # What the function is there: a model may be wrong where it says that it is least.
        "minimum_off": float((problem.f(np.array(place, float)[None])[0] - least_reference) / spread),
        "minimum_said_off": float((least - least_reference) / spread),
        # The least sample of the search.
        "search_off": [float((value - least_reference) / spread) for value in searched],
    }


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def page(path):
    """The tables of the page from a record."""
    found = [json.loads(line) for line in Path(path).read_text().splitlines()]
    for name in dict.fromkeys(entry["problem"] for entry in found):
        entries = [entry for entry in found if entry["problem"] == name]
        print(f"**{name}**, {PROBLEMS[name].rows} rows, {len(PROBLEMS[name].ranges)} inputs\n")
        row = lambda label, show: [label] + [show(entry) for entry in entries]  # noqa: E731
        tasks = {
            "plan": "plan: closest rows",
            "fit": "fit: relative error",
            "bars": "error bars: coverage of 90 %",
            "indices": "indices: largest error",
            "minimum": "minimum: above the true one",
            "suggest": "next 8 points: error after",
            "search": "minimum, 24 more rows: least sample above",
        }
        results = {
            "plan": lambda entry: f"{entry['closest_rows']:.3f}",
            "fit": lambda entry: f"{entry['relative_rmse']:.1e}",
            "bars": lambda entry: f"{100 * entry['coverage']:.1f} %",
            "indices": lambda entry: f"{entry['indices_off']:.4f}",
            "minimum": lambda entry: f"{entry['minimum_off']:.1e}",
            "suggest": lambda entry: f"{entry['relative_rmse_after_suggest']:.1e}",
            "search": lambda entry: f"{entry['search_off'][0]:.1e}",
        }
        def cell(task):
            return lambda entry: (
                f"{results[task](entry)} ({entry['lines'][task]} lines, {entry['seconds'][task]:.2f} s)"
                if task in entry["lines"]
                else "–"
            )

        rows = [row(tasks[task], cell(task)) for task in TASKS]
        # Without the search, which not every library has; with what the functions share.
        total = lambda entry, of: sum(value for name, value in entry[of].items() if name != "search")  # noqa: E731
        rows.append(row("all but the search", lambda entry: f"{total(entry, 'lines')} lines, {total(entry, 'seconds'):.1f} s"))
        table(["", *(f"{entry['library'].replace('_', '-')} {entry['version']}" for entry in entries)], rows)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["page", path]:
            page(path)
        case [problem, library]:
            print(json.dumps(run(PROBLEMS[problem], library)))
        case _:
            sys.exit(__doc__)
