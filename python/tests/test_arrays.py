"""Arrays of other libraries are converted to NumPy, on the host and in double precision."""

import numpy as np
import pytest

import thinfit
from conftest import samples


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_of_the_standard_give_the_same_model(dtype):
    strict = pytest.importorskip("array_api_strict")
    x, y = (np.asarray(a, dtype) for a in samples(40))
    model = thinfit.AutoRegressor(budget=0.2).fit(strict.asarray(x), strict.asarray(y))
    expected = thinfit.AutoRegressor(budget=0.2).fit(x, y)
    assert model._model.to_json() == expected._model.to_json()
    predicted = model.predict(strict.asarray(x))
    assert type(predicted) is np.ndarray and predicted.dtype == np.float64
    assert (predicted == expected.predict(x)).all()
    low, high = model.predict_interval(strict.asarray(x))
    assert (low <= high).all() and model.score(strict.asarray(x), strict.asarray(y)) > 0.9
