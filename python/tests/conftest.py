"""Shared by the tests: small data, quick estimators, the program `thinfit`."""

import os

# scikit-learn's checks of array libraries run only if this is set before SciPy is imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import numpy as np
import pytest

import thinfit

# Settings with which a fit takes a fraction of a second.
QUICK = {"generate": {"steps": 100}, "refine": {"steps": 100}, "direct": {"steps": 100}, "polish": {"steps": 2}}

# Random features, unscaled columns, a fixed ridge: only the output weights are fitted.
FIXED = {"scaling": "none", "ridge": {"absolute": 1e-6}, "polish": {"steps": 0}, "scale": 0.1}


def quick(**parameters):
    """A network that is fitted in a fraction of a second."""
    return thinfit.GFTRegressor(**{"width": 12, "config": QUICK, "random_state": 0} | parameters)


# Every baseline, made quick.
BASELINES = [
    thinfit.ARDGaussianProcessRegressor(starts=1, iterations=30, random_state=0),
    thinfit.ARFFRegressor(width=20, rounds=5, scaling="box", random_state=0),
    thinfit.AnovaRFFRegressor(scaling="standard", random_state=0),
    thinfit.FullySampledRegressor(width=20, hidden=(16, 16), steps=300, rate=0.01, scaling="box", random_state=0),
    thinfit.HarfeRegressor(iterations=20, scaling="standard", random_state=0),
    thinfit.KernelRidgeRegressor(scaling="standard"),
    thinfit.KernelRidgeRegressor(bandwidth=(0.5, 1.0, 2.0), regularization=(1e-6, 1e-2), scaling="standard"),
    thinfit.NoisyGradientsRegressor(width=20, steps=300, rate=0.01, scaling="standard", random_state=0),
    thinfit.PlainNetworkRegressor(width=20, steps=300, rate=0.01, scaling="box", random_state=0),
    thinfit.RFFRegressor(width=20, scaling="standard", random_state=0),
    thinfit.SalsaRegressor(random_state=0),
    thinfit.ShrimpRegressor(features=100, orders=(1, 2), scaling="standard", random_state=0),
    thinfit.SwimRegressor(width=40, activation="tanh", scaling="standard", random_state=0),
]


def samples(rows=120, dim=3, outputs=None, seed=0):
    """A smooth function of the first two inputs."""
    x = np.random.default_rng(seed).random((rows, dim))
    y = np.sin(3 * x[:, 0]) + x[:, 0] * x[:, 1]
    return x, y if outputs is None else np.stack([(o + 1) * y + o * x[:, 1] for o in range(outputs)], axis=1)


@pytest.fixture
def program():
    """Path of the program, built by test.sh."""
    path = os.environ.get("THINFIT")
    if path is None:
        pytest.skip("THINFIT does not name the program `thinfit`")
    return path


# A table that counts as long within so little time: a network's output weights come from all of its rows.
LONG = {"budget": 0.01, "width": 20, "robust": False, "random_state": 3}


def long_samples(rows=10_000):
    """Noisy samples of a smooth function."""
    random = np.random.default_rng(0)
    x = random.random((rows, 2))
    return x, np.sin(5 * x[:, 0] * x[:, 1]) + x[:, 1] + 0.3 * random.standard_normal(rows)


@pytest.fixture(scope="session")
def alone():
    """The model of the long samples that a single process makes."""
    model = thinfit.AutoRegressor(**LONG).fit(*long_samples())
    assert model.diagnosis_["choice"]["grown"]["output"] == 10000
    return model


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs --slow"))
