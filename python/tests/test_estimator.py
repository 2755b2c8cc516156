"""scikit-learn's own checks. Runs against the newest and the oldest scikit-learn that we support."""

import pytest
from conftest import quick
from sklearn.utils.estimator_checks import parametrize_with_checks

from thinfit import GFTRegressor


def expected_failures(estimator):
    """Repeated rows fall on both sides of the validation split and change the training of the hidden weights."""
    reason = "hidden weights are trained; test_weights.py has the equivalence at fixed hidden weights"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


METHODS = [quick(method=method) for method in ("gft-r", "gft", "f-opt", "random")] + [quick(activation="tanh")]


@parametrize_with_checks(METHODS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([GFTRegressor()], expected_failed_checks=expected_failures)
def test_scikit_learn_checks_with_default_parameters(estimator, check):
    check(estimator)
