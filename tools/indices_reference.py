"""Reference values for Sobol indices and Shapley effects, by brute force in NumPy.

    python tools/indices_reference.py FOLDER [--samples 1000000]

Writes training tables (`borehole.csv`, `piston.csv`, `linear.csv`, with rows for Shapley effects in `piston-rows.csv` and
`linear-rows.csv`) and `references.json`. Every subset of inputs is evaluated by redrawing its inputs given the others, independently of
the Rust code. Inputs of `borehole` are independent and uniform; those of `piston` are uniform with a Gaussian copula; `linear` is a linear function of normal inputs, whose effects have a closed form.
"""

import argparse
import json
from itertools import combinations
from math import factorial
from pathlib import Path
from statistics import NormalDist

import numpy as np

BOREHOLE = [
    [0.05, 0.15],
    [100, 50000],
    [63070, 115600],
    [990, 1110],
    [63.1, 116],
    [700, 820],
    [1120, 1680],
    [9855, 12045],
]
PISTON = [[30, 60], [0.005, 0.02], [0.002, 0.01], [1000, 5000], [90000, 110000], [290, 296], [340, 360]]
# Coefficients and covariances of the linear function.
LINEAR = np.array([1.0, 2.0, -1.0, 0.5])


def borehole(x):
    radius, influence, upper, upper_head, lower, lower_head, length, conductivity = x.T
    log = np.log(influence / radius)
    along = 2 * length * upper / (log * radius**2 * conductivity)
    return 2 * np.pi * upper * (upper_head - lower_head) / (log * (1 + along + upper / lower))


def piston(x):
    weight, surface, volume, spring, pressure, ambient, filling = x.T
    gas = pressure * volume * ambient / filling
    force = pressure * surface + 19.62 * weight - spring * volume / surface
    rest = surface / (2 * spring) * (np.sqrt(force**2 + 4 * spring * gas) - force)
    return 2 * np.pi * np.sqrt(weight / (spring + surface**2 * gas / rest**2))


def linear(x):
    return x @ LINEAR


def correlation(size, pairs):
    r = np.eye(size)
    for i, j, rho in pairs:
        r[i, j] = r[j, i] = rho
    return r


def normal_cdf(z):
    """By a table: errors of 1e-9."""
    grid = np.linspace(-8, 8, 160_001)
    values = np.array([NormalDist().cdf(v) for v in grid])
    return lambda z: np.interp(z, grid, values)


CDF = normal_cdf(None)


def uniform(ranges):
    low, high = np.array(ranges, float).T
    return lambda z, j: low[j] + (high[j] - low[j]) * CDF(z)


def costs(f, margin, r, sizes, samples, rng, chunk=100_000):
    """Half the mean square of f minus f with the inputs of every subset of these sizes redrawn given the others, and Var f."""
    k = len(r)
    sets = [u for size in sizes for u in combinations(range(k), size)]
    root = np.linalg.cholesky(r)
    total, done, sums = dict.fromkeys(sets, 0.0), 0, np.zeros(2)
    while done < samples:
        z, fresh = (rng.standard_normal((chunk, k)) @ root.T for _ in range(2))
        x = np.column_stack([margin(z[:, j], j) for j in range(k)])
        y = f(x)
        sums += y.sum(), (y**2).sum()
        for u in sets:
            v = [j for j in range(k) if j not in u]
            redrawn = fresh[:, u]
            if v and not np.array_equal(r, np.eye(k)):
                pull = np.linalg.solve(r[np.ix_(v, v)], r[np.ix_(v, u)])
                redrawn = redrawn + (z[:, v] - fresh[:, v]) @ pull
            changed = x.copy()
            for at, j in enumerate(u):
                changed[:, j] = margin(redrawn[:, at], j)
            total[u] += ((y - f(changed)) ** 2).sum() / 2
        done += chunk
    mean = sums[0] / done
    return {u: c / done for u, c in total.items()}, sums[1] / done - mean**2


def shapley(cost, k):
    cost = cost | {(): 0.0}
    effects = np.zeros(k)
    for j in range(k):
        others = [i for i in range(k) if i != j]
        for size in range(k):
            weight = factorial(size) * factorial(k - size - 1) / factorial(k)
            for u in combinations(others, size):
                effects[j] += weight * (cost[tuple(sorted((*u, j)))] - cost[u])
    return effects / cost[tuple(range(k))]


def linear_costs(r):
    """E Var(f | the others) of the linear function, in closed form."""
    k, found = len(r), {}
    for size in range(1, k + 1):
        for u in combinations(range(k), size):
            v = [j for j in range(k) if j not in u]
            left = r[np.ix_(u, u)]
            if v:
                left = left - r[np.ix_(u, v)] @ np.linalg.solve(r[np.ix_(v, v)], r[np.ix_(v, u)])
            found[u] = LINEAR[list(u)] @ left @ LINEAR[list(u)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=1_000_000)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(20261117)
    problems = {
        "borehole": (borehole, uniform(BOREHOLE), np.eye(8)),
        "piston": (piston, uniform(PISTON), correlation(7, [(0, 1, 0.6), (1, 2, 0.5), (3, 4, -0.5), (0, 3, 0.3)])),
        "linear": (linear, lambda z, j: z, correlation(4, [(0, 1, 0.7), (1, 2, -0.4), (2, 3, 0.5)])),
    }
    references = {}
    for name, (f, margin, r) in problems.items():
        k = len(r)
        root = np.linalg.cholesky(r)
        for table, rows in (name, 500), (f"{name}-rows", 20_000):
            z = rng.standard_normal((rows, k)) @ root.T
            x = np.column_stack([margin(z[:, j], j) for j in range(k)])
            head = ",".join([f"x{j + 1}" for j in range(k)] + ["y"])
            np.savetxt(args.folder / f"{table}.csv", np.column_stack([x, f(x)]), "%.17g", ",", header=head, comments="")
        # Independent inputs have Sobol' indices; dependent ones need all subsets.
        independent = name == "borehole"
        cost, variance = costs(f, margin, r, [1, k - 1] if independent else range(1, k + 1), args.samples, rng)
        everything = tuple(range(k))
        found = {"variance": variance}
        if not independent:
            found["shapley"] = shapley(cost, k).tolist()
        if independent:
            found["total"] = [cost[(j,)] / variance for j in range(k)]
            found["first"] = [1 - cost[tuple(i for i in everything if i != j)] / variance for j in range(k)]
        if name == "linear":
            found["shapley_closed_form"] = shapley(linear_costs(r), k).tolist()
        references[name] = found
        print(name, json.dumps(found), flush=True)
    (args.folder / "references.json").write_text(json.dumps(references, indent=1) + "\n")


if __name__ == "__main__":
    main()
