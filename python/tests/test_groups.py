"""Groups: samples that belong together stay together in every split."""

import datetime

import numpy as np
import pandas as pd
import pytest

import thinfit
from thinfit import (
    ARDGaussianProcessRegressor,
    AutoRegressor,
    GFTRegressor,
    KernelRidgeRegressor,
    SalsaRegressor,
)


@pytest.fixture
def readings():
    """Twelve settings, each read eight times with jitter, whose readings share an error."""
    rng = np.random.default_rng(3)
    setting = np.tile(np.arange(12), 8)
    X = rng.random((12, 2))[setting] + 1e-3 * rng.random((96, 2))
    y = X[:, 0] + 2 * rng.random(12)[setting] + 0.01 * rng.random(96)
    return X, y, setting


@pytest.mark.parametrize(
    "model",
    [
        AutoRegressor(budget=1, random_state=0),
        ARDGaussianProcessRegressor(random_state=0),
        KernelRidgeRegressor(bandwidth=[0.5, 1, 2], regularization=[1e-6, 1e-3, 0.1]),
        SalsaRegressor(random_state=0),
        GFTRegressor(width=8, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_readings_of_one_setting_do_not_judge_each_other(readings, model):
    X, y, setting = readings
    model.fit(X, y, groups=setting)
    assert model.record_["groups"] == {"count": 12}
    # The shared errors have a variance of 1/3.
    assert model.record_["validation_mse"][0] > 0.03


def test_labels_of_any_kind_are_the_same_groups(readings):
    X, y, setting = readings
    model = KernelRidgeRegressor(bandwidth=[0.5, 1], regularization=[1e-6, 1e-3])
    days = [datetime.date(2026, 1, 1 + i) for i in setting]
    labels = [
        setting.tolist(),
        setting - 4.5,
        [f"run {i}" for i in setting],
        np.array([f"run {i}" for i in setting]),
        pd.Series(setting).astype("category"),
        pd.Series(days),
        np.array(days, dtype="datetime64[D]"),
        np.array(days, dtype="datetime64[ns]"),
    ]
    errors = {model.fit(X, y, groups=groups).record_["validation_mse"][0] for groups in labels}
    assert len(errors) == 1
    assert errors != {model.fit(X, y).record_["validation_mse"][0]}
    assert "groups" not in model.record_


@pytest.mark.parametrize("estimator", [AutoRegressor(), GFTRegressor(), SalsaRegressor()])
def test_wrong_lengths_and_missing_labels_are_refused(readings, estimator):
    X, y, setting = readings
    missing = setting.astype(object)
    missing[5] = None
    nat = np.array(["2026-01-01"] * 96, dtype="datetime64[ns]")
    nat[5] = "NaT"
    for groups in (setting[:-1], np.stack([setting, setting], axis=1), "run"):
        with pytest.raises(ValueError, match="96 labels"):
            estimator.fit(X, y, groups=groups)
    for groups in (missing, np.where(setting == 5, np.nan, setting), nat, pd.Series(missing, dtype="Int64")):
        with pytest.raises(ValueError, match="sample 5 is missing"):
            estimator.fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="groups"):
        estimator.fit(X, y, groups=np.zeros(96))


def test_compare_divides_no_group(readings):
    X, y, setting = readings
    methods = ["linear", "kernel-ridge-validated"]
    alone = {one["method"]: one["rmse"][0] for one in thinfit.compare(X, y, methods)}
    together = {one["method"]: one["rmse"][0] for one in thinfit.compare(X, y, methods, groups=setting)}
    assert together["kernel-ridge-validated"] > 2 * alone["kernel-ridge-validated"]


def test_rows_in_several_places_have_no_groups(readings):
    dask = pytest.importorskip("dask.array")
    from thinfit.dask import AutoRegressor as DaskRegressor

    X, y, setting = readings
    with pytest.raises(ValueError, match="distributed rows"):
        DaskRegressor().fit(dask.from_array(X), dask.from_array(y), groups=setting)
