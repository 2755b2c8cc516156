"""The exported graph, run by onnxruntime."""

import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import thinfit
from conftest import quick, samples
from thinfit import GFTRegressor

onnxruntime = pytest.importorskip("onnxruntime")

KERNELS = [
    thinfit.ARDGaussianProcessRegressor(least_noise=1e-3, starts=1, random_state=0),
    thinfit.ARDGaussianProcessRegressor(kernel="matern52", least_noise=1e-3, starts=1, random_state=0),
    thinfit.KernelRidgeRegressor(scaling="standard"),
    thinfit.SalsaRegressor(random_state=0),
]


@pytest.mark.parametrize("activation", ["fourier", "cosine", "sigmoid", "tanh", "relu"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_graph_of_a_network_computes_the_prediction(activation, outputs, tmp_path):
    check(quick(activation=activation), outputs, tmp_path)


@pytest.mark.parametrize("estimator", KERNELS, ids=["gaussian", "matern", "ridge", "additive"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_graph_of_a_sum_of_kernels_computes_the_prediction(estimator, outputs, tmp_path):
    check(clone(estimator), outputs, tmp_path)


def check(estimator, outputs, tmp_path):
    x, y = samples(outputs=outputs)
    model = estimator.fit(x, y)
    for precision, tolerance in ("float64", 1e-10), ("float32", 1e-2):
        graph = model.to_onnx(tmp_path / "model.onnx", precision=precision)
        assert (tmp_path / "model.onnx").read_bytes() == graph
        session = onnxruntime.InferenceSession(graph)
        (name,) = (one.name for one in session.get_inputs())
        (f,) = session.run(None, {name: x.astype(precision)})
        np.testing.assert_allclose(f.reshape(y.shape), model.predict(x), atol=tolerance * np.abs(y).max())


def test_warped_inputs(tmp_path):
    x, y = samples()
    path = tmp_path / "model.json"
    quick().fit(x, y).save(path)
    file = json.loads(path.read_text())
    file["input_scaler"]["warp"] = [{"centre": 0.1, "width": 0.05}] + [None] * (x.shape[1] - 1)
    path.write_text(json.dumps(file))
    model = GFTRegressor.load(path)
    assert model.warps_ == [(0.1, 0.05)] + [None] * (x.shape[1] - 1)
    f, size = model.predict(x), np.abs(model.coef_).sum()
    u = x.copy()
    u[:, 0] = np.arcsinh((x[:, 0] - 0.1) / 0.05)
    waves = np.exp(2j * np.pi * (u @ model.features_.T + model.biases_))
    np.testing.assert_allclose(model.intercept_ + (waves @ model.coef_).real, f, atol=1e-13 * size)
    # Runtimes know few functions in double precision.
    for precision, tolerance in ("float64", 1e-14), ("float32", 1e-5):
        session = onnxruntime.InferenceSession(model.to_onnx(precision=precision))
        (graph,) = session.run(None, {"x": x.astype(precision)})
        np.testing.assert_allclose(graph[:, 0], f, atol=tolerance * size)


# The graphs of the random models that the exports are tested with, written by an example of the crate; see test.sh.
GRAPHS = os.environ.get("THINFIT_GRAPHS")


@pytest.mark.skipif(GRAPHS is None, reason="THINFIT_GRAPHS names no folder of graphs")
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_random_graphs_give_the_predictions_at_the_oddest_rows(precision):
    folder = Path(GRAPHS)
    cases = json.loads((folder / "graphs.json").read_text())
    assert len(cases) >= 200
    written = [case for case in cases if precision in case["stated"]]
    # Terms of some cancel too much for any export.
    assert len(cases) // 2 < len(written) < len(cases)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    for case in written:
        graph = (folder / f"{case['name']}.{precision}.onnx").read_bytes()
        session = onnxruntime.InferenceSession(graph, options)
        kinds = np.array([row["kind"] for row in case["rows"]])
        x, expected = (np.array([[float(v) for v in row[key]] for row in case["rows"]]) for key in "xy")
        with warnings.catch_warnings():
            # Single precision has no number that large.
            warnings.simplefilter("ignore", RuntimeWarning)
            (found,) = session.run(None, {"x": x.astype(precision)})
        assert np.isnan(found[kinds == "unusable"]).all(), case["name"]
        if precision == "float64":
            compared = kinds != "unusable"
            if case["wave"]:
                assert np.isfinite(found[kinds == "far"]).all(), case["name"]
                compared &= kinds != "far"
            tolerance = max(1e-6, float(case["functions"]))
        else:
            # The rows in the ranges of the samples: single precision is on its own far outside.
            compared = np.arange(len(kinds)) < 4
            tolerance = 5 * case["stated"][precision] + 1e-6
        bound = tolerance * np.array(case["scale"]) + 1e-10 * np.abs(expected[compared])
        off = np.abs(found[compared] - expected[compared])
        assert (off <= bound).all(), (case["name"], (off / bound).max())
