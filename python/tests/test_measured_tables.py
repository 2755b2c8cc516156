"""The claims of the default fit on a measured table, split from outside. The long version is `tools/real_tables.py`."""

import math

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from thinfit import AutoRegressor

FOLDS = 5


def diabetes(rows):
    """The diabetes table with as many rows, in random order."""
    table = load_diabetes(scaled=False)
    some = np.random.default_rng(1).permutation(len(table.target))[:rows]
    return table.data[some], table.target[some]


@pytest.mark.parametrize("rows", [60, 442])
def test_the_reported_error_and_the_intervals_hold_on_rows_of_a_measured_table(rows):
    x, y = diabetes(rows)
    fold_of = np.arange(rows) % FOLDS
    reported, squares, inside = 0.0, 0.0, 0
    for fold in range(FOLDS):
        held = fold_of == fold
        model = AutoRegressor(budget=2, random_state=0).fit(x[~held], y[~held])
        reported += model.record_["validation_mse"][0] / FOLDS
        squares += float(np.sum((model.predict(x[held]) - y[held]) ** 2))
        low, high = model.predict_interval(x[held])
        inside += int(np.sum((low <= y[held]) & (y[held] <= high)))
    assert 0.85 < math.sqrt(reported / (squares / rows)) < 1.2
    # Three standard errors of a share.
    assert abs(inside / rows - 0.9) < 3 * math.sqrt(0.9 * 0.1 / rows)
