"""scikit-learn's own checks, run against the newest and the oldest scikit-learn that we support."""

import pytest
import sklearn
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import thinfit
from conftest import BASELINES, FIXED, quick


def expected_failures(estimator):
    """Repeated rows may fall on both sides of the validation split, which changes the trained hidden weights."""
    if not isinstance(estimator, thinfit.GFTRegressor | thinfit.AutoRegressor):
        return {}
    if getattr(estimator, "config", None) == FIXED:
        return {}
    reason = "hidden weights are trained; at fixed hidden weights the check passes"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


NETWORKS = [quick(method=method) for method in ("gft-r", "gft", "f-opt", "random")]
NETWORKS += [quick(activation="tanh"), quick(method="random", width=100, config=FIXED)]
ESTIMATORS = [*NETWORKS, *BASELINES, thinfit.AutoRegressor(budget=1, random_state=0)]

# Against the oldest, one estimator of each base: those of the same base differ in their settings alone.
OLDEST = parse_version(sklearn.__version__) < parse_version("1.7")
CHECKED = list({type(one).__bases__: one for one in ESTIMATORS}.values()) if OLDEST else ESTIMATORS


def test_every_estimator_is_checked():
    estimators = {name for name in thinfit.__all__ if name.endswith("Regressor")}
    assert {type(one).__name__ for one in ESTIMATORS} == estimators


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([thinfit.GFTRegressor()], expected_failed_checks=expected_failures)
def test_scikit_learn_checks_with_default_parameters(estimator, check):
    check(estimator)
