"""Rows to sample next, and rows outside the ranges of the samples."""

import warnings

import numpy as np
import pandas as pd
import pytest

import thinfit


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.uniform(0, 4, 60), "kind": random.choice(["x", "y", "z"], 60)})
    frame["f"] = (frame["a"] - 2) ** 2 + (frame["kind"] == "x")
    return frame


def test_rows_have_the_columns_of_the_frame(frame):
    model = thinfit.ARDGaussianProcessRegressor().fit(frame[["a", "kind"]], frame["f"])
    rows = model.suggest(5)
    assert isinstance(rows, pd.DataFrame) and list(rows) == ["a", "kind"] and len(rows) == 5
    assert set(rows["kind"]) <= {"x", "y", "z"} and rows["a"].between(0, 4).all()
    pd.testing.assert_frame_equal(rows, model.suggest(5))
    assert np.isfinite(model.predict(rows)).all()
    least = model.suggest(1, goal="minimum")
    assert abs(least["a"].iloc[0] - 2) < 0.3 and least["kind"].iloc[0] != "x"
    whole = model.suggest(4, ranges={"a": {"low": 1, "high": 3, "whole": True}}, add_to=rows)
    assert set(whole["a"]) <= {1, 2, 3}
    with pytest.raises(ValueError, match="goal"):
        model.suggest(goal="best")
    with pytest.raises(ValueError, match="output"):
        model.suggest(output=1)


def test_a_loop_finds_the_minimum():
    def measured(X):
        return (X[:, 0] - 0.3) ** 2 + (X[:, 1] - 0.6) ** 2

    X = np.column_stack(list(thinfit.design({"x1": (0, 1), "x2": (0, 1)}, 10).values()))
    for _ in range(3):
        model = thinfit.ARDGaussianProcessRegressor().fit(X, measured(X))
        X = np.vstack([X, model.suggest(4, goal="minimum", ranges={"x1": (0, 1), "x2": (0, 1)})])
    assert measured(X).min() < 1e-3


def test_rows_outside_are_warned_of_and_bounds_grow():
    X = np.linspace(0, 1, 50)[:, None]
    model = thinfit.ARDGaussianProcessRegressor().fit(X, np.sin(5 * X[:, 0]) + 0.1 * np.cos(99 * X[:, 0]))
    with pytest.warns(thinfit.ExtrapolationWarning, match=r"2 of 3 rows outside .* \(x1 in 2\)"):
        low, high = model.predict_interval([[0.5], [1.1], [9.0]])
    assert high[0] - low[0] < high[1] - low[1] < np.inf
    assert (low[2], high[2]) == (-np.inf, np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X)
        with pytest.raises(thinfit.ExtrapolationWarning):
            model.predict([[2.0]])
