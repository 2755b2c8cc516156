"""Sample weights, with hidden weights that do not depend on them."""

import numpy as np

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
