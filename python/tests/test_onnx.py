"""The exported graph, run by onnxruntime."""

import numpy as np
import pytest

from conftest import quick, samples

onnxruntime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize("activation", ["fourier", "cosine", "sigmoid", "tanh", "relu"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_graph_computes_the_prediction(activation, outputs, tmp_path):
    x, y = samples(outputs=outputs)
    model = quick(activation=activation).fit(x, y)
    for precision, tolerance in ("float64", 1e-10), ("float32", 1e-2):
        graph = model.to_onnx(tmp_path / "model.onnx", precision=precision)
        assert (tmp_path / "model.onnx").read_bytes() == graph
        session = onnxruntime.InferenceSession(graph)
        (name,) = (one.name for one in session.get_inputs())
        (f,) = session.run(None, {name: x.astype(precision)})
        np.testing.assert_allclose(f.reshape(y.shape), model.predict(x), atol=tolerance * np.abs(y).max())
