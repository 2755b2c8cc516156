"""The six tasks with thinfit."""

import numpy as np
import thinfit


def plan(ranges, rows, seed):
    return np.column_stack(list(thinfit.design(ranges, rows, random_state=seed).values()))


def fit(ranges, x, y):
    return thinfit.AutoRegressor().fit(x, y)


def bars(model, x):
    low, high = model.predict_interval(x, 0.9)
    return model.predict(x), low, high


def named(ranges):
    """The ranges by the names of the columns of an array."""
    return {f"x{j}": range for j, range in enumerate(ranges.values(), 1)}


def indices(model, ranges, x):
    found = model.sobol_indices(ranges=named(ranges))
    return found.first, found.total


def minimum(model, ranges):
    found = model.minimise(ranges=named(ranges))
    return list(found.point.values()), found.value


def suggest(model, ranges, x, y, rows):
    return model.suggest(rows, ranges=named(ranges))


def search(ranges, f, x, y, rounds, rows):
    for _ in range(rounds):
        added = fit(ranges, x, y).suggest(rows, goal="minimum", ranges=named(ranges))
        x, y = np.vstack([x, added]), np.append(y, f(added))
    return y.min()
