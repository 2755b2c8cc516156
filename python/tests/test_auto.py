"""The fit without settings, and the comparison of methods."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import thinfit
from conftest import samples
from thinfit import AutoRegressor, _native


@pytest.fixture(scope="module")
def fitted():
    x, y = samples(60)
    noise = np.random.default_rng(1).normal(scale=0.05, size=60)
    return AutoRegressor(budget=1, random_state=0).fit(x, y + noise), x, y + noise


def test_defaults_are_those_of_rust():
    assert AutoRegressor()._settings() | {"method": "auto"} == json.loads(_native.defaults("auto"))


def test_a_fit_says_how_good_it_is(fitted):
    model, x, y = fitted
    assert model.kind_ in ("kernel", "network")
    assert model.score(x, y) > 0.9
    tried = model.diagnosis_["tried"]
    assert len(tried) > 2 and all(len(one["mse"]) == 1 for one in tried)
    report = model.report()
    for words in "rmse", "±", "noise", "tried; the first was chosen":
        assert words in report


def test_a_report_is_a_page_as_well(fitted, tmp_path):
    model, x, y = fitted
    path = tmp_path / "report.html"
    assert model.report(path, x, y) == model.report()
    page = path.read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") and "These are the rows that the model was fitted to" in page
    model.report(str(path))
    assert "These are the rows" not in path.read_text(encoding="utf-8")
    for arguments in (path, x, None), (path, None, y), (None, x, y):
        with pytest.raises(ValueError, match="expected"):
            model.report(*arguments)
    with pytest.raises(ValueError, match="rows of a report"):
        model.report(path, x, y[:-1])


def test_it_has_all_that_models_have(fitted):
    model, x, y = fitted
    f, std = model.predict(x, return_std=True)
    low, high = model.predict_interval(x, 0.8)
    assert std.shape == f.shape and (low <= f).all() and (f <= high).all()
    assert model.predict_gradient(x).shape == x.shape
    assert model.feature_importances_.argmin() == 2
    assert model.effect(0, [0.2, 0.8]).shape == (2,) and len(model.to_onnx()) > 100
    assert model.sobol_indices().total.shape == (3,)


def test_files_and_pickles_keep_every_bit(fitted, tmp_path):
    model, x, y = fitted
    model.save(tmp_path / "model.json")
    again = thinfit.load(tmp_path / "model.json")
    assert type(again) is AutoRegressor and again.diagnosis_ == model.diagnosis_
    for other in again, pickle.loads(pickle.dumps(model)):
        assert (other.predict(x) == model.predict(x)).all()
    assert clone(again).set_params(n_jobs=1).fit(x, y)._model.to_json() == model._model.to_json()


def test_wrong_settings_are_named():
    x, y = samples(20)
    for name, value in {"budget": -1.0, "width": 0, "thin": "very"}.items():
        with pytest.raises(ValueError, match=name):
            AutoRegressor(**{name: value}).fit(x, y)


def test_a_comparison_names_what_the_polish_chose():
    x, y = samples(40)
    table = thinfit.compare(x, y, ["gft-r", "linear"], folds=2)
    assert ["winners" in one for one in table] == [one["method"] == "gft-r" for one in table]
    assert sum("gft-r: selected" in line and "of 2 folds" in line for line in repr(table).splitlines()) == 1
    one = next(one for one in table if one["method"] == "gft-r")
    one.update(winners=["polished_random", "trained"], validation_rmse=[0.5, 0.25], trained_rmse=[1.0, 2.0])
    assert (
        "selected polished random features in 1, its own features in 1 of 2 folds; rmse on its own validation rows, "
        "with and without the polish: 0.5 and 1; 0.25 and 2"
    ) in repr(table)


def test_methods_are_compared_best_first():
    x, y = samples(60)
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    table = thinfit.compare(frame, y, ["linear", "gaussian-process", "rff"], folds=3)
    assert [one["method"] for one in table].index("gaussian-process") == 0
    assert table[0]["excess"] == [0.0] and table[-1]["excess"][0] > 0
    assert {one["method"]: one["coverage"] is None for one in table}["rff"]
    assert repr(table).splitlines()[1].startswith("gaussian-process")
    again = thinfit.compare(x, y, ["linear", "gaussian-process", "rff"], folds=3, n_jobs=1)
    assert [one["rmse"] for one in again] == [one["rmse"] for one in table]
    both = thinfit.compare(x, np.stack([y, x[:, 0]], axis=1), ["linear"])
    assert len(both[0]["rmse"]) == 2
    with pytest.raises(ValueError, match="`magic`"):
        thinfit.compare(x, y, ["magic"])
    few = thinfit.compare(x[:5], y[:5], ["salsa", "linear"])
    assert few.failed[0][0] == "salsa" and "salsa cannot be fitted" in repr(few)
