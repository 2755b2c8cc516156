"""Sample weights, with hidden weights that do not depend on them."""

import subprocess

import numpy as np
import pytest

import thinfit
from conftest import FIXED, quick, samples


def test_weights_act_like_repeated_rows_at_fixed_hidden_weights():
    x, y = samples(60)
    weight = np.random.default_rng(1).integers(0, 4, len(x))
    model = quick(method="random", config=FIXED)
    weighted = model.fit(x, y, sample_weight=weight).predict(x)
    repeated = model.fit(np.repeat(x, weight, axis=0), np.repeat(y, weight)).predict(x)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7, atol=1e-9)


def test_rows_of_weight_zero_do_not_count():
    x, y = samples(60)
    weight = np.where(np.arange(60) < 50, 1.0, 0.0)
    model = quick(method="random", config=FIXED)
    weighted = model.fit(x, np.where(weight > 0, y, 100.0), sample_weight=weight).predict(x)
    np.testing.assert_allclose(weighted, model.fit(x[:50], y[:50]).predict(x), rtol=1e-7, atol=1e-9)


def test_auto_with_weights_is_the_network_of_the_program(tmp_path, program):
    x, y = samples(60)
    weight = np.random.default_rng(1).integers(0, 4, len(x))
    model = thinfit.AutoRegressor(width=6, random_state=3).fit(x, y, sample_weight=weight)
    assert model.kind_ == "network" and model.diagnosis_["choice"] == "weighted"
    same = thinfit.GFTRegressor(width=6, random_state=3).fit(x, y, sample_weight=weight)
    assert (model.predict(x) == same.predict(x)).all()
    table, file = tmp_path / "table.csv", tmp_path / "model.json"
    np.savetxt(table, np.column_stack([x, y, weight]), fmt="%.17g", delimiter=",", header="a,b,c,y,w", comments="")
    options = ["--target", "y", "--weights", "w", "--width", "6", "--seed", "3", "-o", str(file)]
    subprocess.run([program, "fit", str(table), *options], check=True, capture_output=True)
    np.testing.assert_array_equal(thinfit.load(file).predict(x), model.predict(x))
    with pytest.raises(ValueError, match="row 0 has the weight -1"):
        model.fit(x, y, sample_weight=-np.ones(60))
