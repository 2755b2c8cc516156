"""Fitted networks: values, shapes, files, seeds, and fits that run while Python does other things."""

import io
import json
import os
import pickle
import subprocess
import sys
import textwrap
import threading

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from conftest import QUICK, quick, samples
from thinfit import GFTRegressor, _native
from thinfit.parameters import threads


@pytest.fixture(scope="module")
def fitted():
    return quick().fit(*samples())


@pytest.mark.parametrize("activation", ["fourier", "cosine", "sigmoid", "tanh", "relu"])
@pytest.mark.parametrize("outputs", [None, 1, 2])
def test_learned_attributes_are_the_network(activation, outputs):
    x, y = samples(outputs=outputs)
    model = quick(activation=activation).fit(x, y)
    phi = {
        "fourier": lambda t: np.exp(2j * np.pi * t),
        "cosine": lambda t: np.cos(np.pi * t),
        "sigmoid": lambda t: 1 / (1 + np.exp(-t)),
        "tanh": np.tanh,
        "relu": lambda t: np.maximum(t, 0),
    }[activation]
    by_hand = model.intercept_ + (phi(x @ model.features_.T + model.biases_) @ model.coef_).real
    size = np.abs(model.coef_).sum()
    np.testing.assert_allclose(model.predict(x), by_hand, atol=1e-11 * max(size, 1))
    assert model.predict(x).shape == y.shape
    assert model.features_.shape == (12, 3) and len(model.coef_) == 12
    assert 0.9 < model.validation_score_ <= 1
    assert {"leaf", "step", "loss", "validation"} <= model.history_[-1].keys()


def test_shapes_with_one_and_with_two_outputs():
    for outputs, shape in (None, (120,)), (2, (120, 2)):
        x, y = samples(outputs=outputs)
        model = quick().fit(x, y)
        mean, std = model.predict(x, return_std=True)
        low, high = model.predict_interval(x, level=0.8)
        assert mean.shape == std.shape == low.shape == high.shape == shape
        assert (low <= mean).all() and (mean <= high).all() and (std >= 0).all()
        assert model.predict_gradient(x).shape == (*shape, 3)
        assert model.sobol_indices().total.shape == (*shape[1:], 3)
        assert model.sobol_indices().second.shape == (*shape[1:], 3, 3)
        assert model.effect(1, [0.1, 0.2]).shape == (2, *shape[1:])
        assert model.feature_importances_.sum() == pytest.approx(1)


def test_gradient_is_the_slope_of_the_prediction(fitted):
    x, _ = samples(5)
    step = 1e-6 * np.eye(3)
    slopes = [(fitted.predict(x + e) - fitted.predict(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(fitted.predict_gradient(x), np.stack(slopes, axis=1), rtol=1e-4, atol=1e-4)


def test_importance_finds_the_inputs_that_matter(fitted):
    importances = fitted.feature_importances_
    assert importances[0] > importances[1] > importances[2]


def test_layout_and_type_of_the_array_do_not_matter(fitted):
    x, _ = samples(200, seed=5)
    expected = fitted.predict(x)
    wide = np.zeros((400, 6))
    wide[::2, ::2] = x
    unaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    unaligned[:] = x
    for other in np.asfortranarray(x), wide[::2, ::2], unaligned, x.astype(">f8"), x.tolist(), pd.DataFrame(x):
        assert (fitted.predict(other) == expected).all()
    readonly = x.copy()
    readonly.flags.writeable = False
    assert (fitted.predict(readonly) == expected).all()
    np.testing.assert_allclose(fitted.predict(x.astype(np.float32)), expected, rtol=1e-4, atol=1e-5)


def test_a_prediction_does_not_depend_on_its_neighbours_or_on_threads(fitted):
    x, _ = samples(1000, seed=5)
    expected = fitted.predict(x)
    assert (np.concatenate([fitted.predict(x[:337]), fitted.predict(x[337:])]) == expected).all()
    assert (clone(fitted).set_params(n_jobs=1).fit(*samples()).predict(x) == expected).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_give_names_and_the_file_keeps_them(frame, tmp_path):
    x, y = samples()
    x, y = frame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2]}), frame({"force": y})
    model = quick().fit(x, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert (model.effect("a", [0.5]) == model.effect(0, [0.5])).all()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(x[["b", "a", "c"]])
    model.save(tmp_path / "model.json")
    again = GFTRegressor.load(tmp_path / "model.json")
    assert list(again.feature_names_in_) == ["a", "b", "c"] and again._model.outputs == ["force"]
    assert (again.predict(x) == model.predict(x)[:, 0]).all()


def test_a_model_file_with_default_names_still_checks_the_order(tmp_path):
    x, y = samples()
    frame = pd.DataFrame(x, columns=["x1", "x2", "x3"])
    quick().fit(frame, y).save(tmp_path / "model.json")
    again = GFTRegressor.load(tmp_path / "model.json")
    again.predict(x)
    with pytest.raises(ValueError, match="order x1, x2, x3"):
        again.predict(frame[["x3", "x2", "x1"]])


def test_more_jobs_than_cores_start_no_more_threads(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    assert [threads(n_jobs) for n_jobs in (10**6, 3, -1, -2, -9)] == [4, 3, 4, 3, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2,1")
    assert threads(None) == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert threads(None) == 0


def test_an_effect_takes_a_number_or_a_list(fitted):
    assert fitted.effect(0, 0.5) == fitted.effect(0, [0.25, 0.5])[1]


def test_pickle_joblib_and_files_keep_every_bit(fitted, tmp_path):
    x, _ = samples(50, seed=9)
    joblib.dump(fitted, tmp_path / "model.joblib")
    fitted.save(tmp_path / "model.json")
    others = (
        pickle.loads(pickle.dumps(fitted)),
        joblib.load(tmp_path / "model.joblib"),
        GFTRegressor.load(tmp_path / "model.json"),
    )
    for other in others:
        assert (other.predict(x) == fitted.predict(x)).all()
        assert other._model.to_json() == fitted._model.to_json()


@pytest.mark.parametrize("preset", ["fast", "paper"])
def test_a_clone_of_a_loaded_model_fits_in_the_same_way(preset, tmp_path):
    x, y = samples()
    model = quick(preset=preset, method="f-opt", regularization=1e-4, validation_fraction=0.2, random_state=7).fit(x, y)
    model.save(tmp_path / "model.json")
    again = clone(GFTRegressor.load(tmp_path / "model.json")).fit(x, y)
    assert again._model.to_json() == model._model.to_json()


def test_parameters_have_the_defaults_of_both_presets():
    settings = GFTRegressor(random_state=1)._settings()
    for preset in "fast", "paper":
        assert settings.items() <= json.loads(_native.preset(preset)).items()


def test_the_seed_decides_the_fit():
    x, y = samples()
    one, same, other = (quick(random_state=seed).fit(x, y).predict(x) for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()
    state = np.random.RandomState(3)
    first, second = (quick(random_state=state).fit(x, y).predict(x) for _ in range(2))
    assert (first != second).any()


def test_numpy_numbers_as_parameters_change_nothing():
    x, y = samples()
    ours = quick(width=5, regularization=0.1, random_state=3).fit(x, y)
    theirs = quick(width=np.int64(5), regularization=np.float64(0.1), random_state=np.int64(3)).fit(x, y)
    assert theirs._model.to_json() == ours._model.to_json()


def test_auto_regularization_takes_the_best_of_the_grid():
    x, y = samples()
    noisy = y + 0.3 * np.random.default_rng(2).standard_normal(len(y))
    grid = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
    scores = {value: quick(regularization=value).fit(x, noisy).validation_score_ for value in grid}
    auto = quick(regularization="auto").fit(x, noisy)
    assert auto.lambda_ == max(scores, key=scores.get) > 0
    assert auto.validation_score_ == scores[auto.lambda_]


def test_verbose_shows_a_bar(capsys):
    quick(verbose=True).fit(*samples())
    bar = capsys.readouterr().err
    assert "100%" in bar and "validation error" in bar


def test_plots_show_every_neuron_and_every_effect(fitted):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x, y = samples(outputs=2)
    for model, lines in (fitted, 3), (quick().fit(x, y), 6), (quick().fit(x[:, :1], y[:, 0]), 1):
        assert len(model.plot_effects().lines) == lines
        assert len(model.plot_history().lines[0].get_xdata()) == len(model.history_)
        (points, *_) = model.plot_features().collections
        assert len(points.get_offsets() if lines > 1 else points.get_segments()) == len(model.coef_)
        for number in plt.get_fignums():
            plt.figure(number).savefig(io.BytesIO(), format="png")
        plt.close("all")
    ax = plt.subplots()[1]
    assert fitted.plot_history(ax) is ax
    plt.close("all")


def test_other_python_threads_run_during_a_fit():
    x, y = samples()
    started, done, turns = threading.Event(), threading.Event(), 0

    def turn():
        nonlocal turns
        while not done.wait(0.001):
            turns += 1
            started.set()

    thread = threading.Thread(target=turn)
    thread.start()
    started.wait()
    before = turns
    quick(width=50, config=QUICK | {"generate": {"steps": 3000}}).fit(x, y)
    during = turns - before
    done.set()
    thread.join()
    # A fit that held the interpreter for all of its seconds would leave no more than the moments before and after.
    assert during > 50


def test_a_forked_process_can_fit_and_predict():
    program = """
        import os, sys
        sys.path.insert(0, sys.argv[1])
        from conftest import quick, samples
        x, y = samples()
        expected = quick().fit(x, y).predict(x)
        child = os.fork()
        if child == 0:
            os._exit(0 if (quick().fit(x, y).predict(x) == expected).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
    """
    folder = os.path.dirname(__file__)
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), folder], check=True, timeout=60)


def test_a_network_says_that_random_features_won_and_the_error_of_the_method():
    x, y = samples(100)
    steps = {"generate": {"steps": 20}, "refine": {"steps": 20}}
    model = GFTRegressor(width=12, config=steps).fit(x, y)
    assert model.winner_ == "polished_random"
    assert model.record_["selection"]["trained_mse"][0] > model.record_["validation_mse"][0]
    assert GFTRegressor(width=12, config=steps | {"polish": {"steps": 0}}).fit(x, y).winner_ is None
