"""Baselines: all of them behave as estimators, and keep every bit in files and pickles."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import thinfit
from conftest import BASELINES, quick, samples
from thinfit import _native
from thinfit.calibrated import CalibratedRegressor
from thinfit.network import NetworkRegressor

EVERY = pytest.mark.parametrize("estimator", BASELINES, ids=lambda one: type(one).__name__)


@pytest.mark.parametrize("kind", dict.fromkeys(map(type, BASELINES)), ids=lambda kind: kind.__name__)
def test_defaults_are_those_of_rust(kind):
    assert kind()._settings() | {"method": kind._methods[0]} == json.loads(_native.defaults(kind._methods[0]))


def test_an_unknown_baseline_has_no_settings():
    assert _native.defaults("magic") is None


@EVERY
@pytest.mark.parametrize("outputs", [None, 2])
def test_pickles_and_files_keep_every_bit(estimator, outputs, tmp_path):
    x, y = samples(outputs=outputs)
    model = clone(estimator).fit(x, y)
    model.save(tmp_path / "model.json")
    again = thinfit.load(tmp_path / "model.json")
    assert type(again) is type(model)
    for other in again, pickle.loads(pickle.dumps(model)):
        assert other._model.to_json() == model._model.to_json()
        assert (other.predict(x) == model.predict(x)).all() and other.predict(x).shape == y.shape
    # A clone fits in the same way, on any number of threads.
    refitted = clone(again).set_params(n_jobs=1).fit(x, y)
    assert refitted._model.to_json() == model._model.to_json()


@EVERY
def test_frames_give_names(estimator):
    x, y = samples()
    model = clone(estimator).fit(pd.DataFrame(x, columns=["a", "b", "c"]), pd.Series(y, name="force"))
    assert model._model.inputs == list(model.feature_names_in_) == ["a", "b", "c"]
    assert model._model.outputs == ["force"]


@EVERY
def test_models_have_derivatives_and_indices_and_networks_parts(estimator):
    x, y = samples()
    model = clone(estimator).fit(x, y)
    # Smaller steps would drown in the rounding of a process without noise, whose coefficients are huge.
    step = 1e-5 * np.eye(3)
    slopes = [(model.predict(x + e) - model.predict(x - e)) / 2e-5 for e in step]
    gradient = model.predict_gradient(x)
    np.testing.assert_allclose(gradient, np.stack(slopes, axis=1), atol=1e-3 * np.abs(gradient).max())
    assert model.feature_importances_.argmin() == 2
    assert model.effect(0, [0.2, 0.8]).shape == (2,)
    assert len(model.to_onnx()) > 100
    if isinstance(model, CalibratedRegressor):
        low, high = model.predict_interval(x, 0.8)
        assert (low <= model.predict(x)).all() and (model.predict(x) <= high).all()
        # So many samples cannot be sure to one in a million.
        low, high = model.predict_interval(x, 1 - 1e-6)
        assert np.isneginf(low).all() and np.isposinf(high).all()
    if not isinstance(model, NetworkRegressor):
        with pytest.raises(ValueError, match="expected a network, found the sum of kernels"):
            _ = model._model.weights
        return
    assert model.features_.shape[1] == 3 and len(model.features_) == len(model.coef_) == len(model.biases_)
    assert model.validation_score_ > 0.3


def test_a_gaussian_process_is_uncertain_away_from_the_samples():
    x, y = samples()
    _, std = thinfit.ARDGaussianProcessRegressor(random_state=0).fit(x, y).predict([x[0], x[0] + 5], return_std=True)
    assert std[0] < 1e-3 < std[1]


def test_baselines_take_no_sample_weights():
    x, y = samples()
    with pytest.raises(TypeError, match="sample_weight"):
        thinfit.SwimRegressor().fit(x, y, sample_weight=np.ones(len(x)))


def test_a_model_of_another_class_is_refused(tmp_path):
    quick().fit(*samples()).save(tmp_path / "model.json")
    with pytest.raises(ValueError, match=r"expected a model of SwimRegressor \(swim\), found one of `gft-r`"):
        thinfit.SwimRegressor.load(tmp_path / "model.json")
    assert isinstance(thinfit.load(tmp_path / "model.json"), thinfit.GFTRegressor)


def test_verbose_shows_a_bar(capsys):
    thinfit.ARFFRegressor(width=10, rounds=3, random_state=0, verbose=True).fit(*samples())
    assert "100%" in capsys.readouterr().err
