"""What a notebook shows."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

import thinfit
from conftest import quick

X = np.random.default_rng(0).random((40, 3))
Y = np.c_[X[:, 0] + X[:, 1] ** 2, X[:, 2]]


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("model", [quick(), thinfit.KernelRidgeRegressor()])
def test_a_fitted_model_shows_its_error_and_what_matters(model, outputs):
    shown = model.fit(X, Y[:, 0] if outputs == 1 else Y)._repr_mimebundle_()["text/html"]
    assert "fitted to 40 samples" in shown
    assert shown.count("<svg") == 3
    assert shown.count("<polyline") == 3 * outputs
    assert "nan" not in shown
    # The rest has numbers that count how often it was made.
    assert shown.split("<details>")[0] == model._repr_html_().split("<details>")[0]


def test_names_are_text_and_most_inputs_are_left_to_the_indices():
    names = ["<script>alert(1)</script>", "b", "c"]
    shown = quick().fit(pd.DataFrame(X, columns=names), Y[:, 0])._repr_html_()
    assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    many = np.random.default_rng(1).random((40, 8))
    assert "and 2 more" in quick().fit(many, many[:, 0])._repr_html_()
    many = np.random.default_rng(1).random((40, 31))
    assert "<svg" not in quick().fit(many, many[:, 0])._repr_html_().split("<details>")[0]


def test_a_model_that_is_not_fitted_shows_what_scikit_learn_does():
    assert "fitted to" not in quick()._repr_html_()
    with config_context(display="text"):
        assert "text/html" not in quick().fit(X, Y)._repr_mimebundle_()
