"""The day with thinfit."""

import numpy as np
import thinfit


def plan(ranges, rows, seed):
    return np.column_stack(list(thinfit.design(ranges, rows, random_state=seed).values()))


def fit(ranges, x, y):
    return thinfit.AutoRegressor().fit(x, y)


def bars(model, x):
    low, high = model.predict_interval(x, 0.9)
    return model.predict(x), low, high


def indices(model, ranges, x):
    found = model.sobol_indices()
    return found.first, found.total


def minimum(model, ranges):
    found = model.minimise()
    return list(found.point.values()), found.value


def suggest(model, ranges, x, y, rows):
    return model.suggest(rows)
