"""What the tests share: small data, a quick network, the command line's program."""

import os

import numpy as np
import pytest

from thinfit import GFTRegressor

# Settings with which a fit takes a fraction of a second.
QUICK = {"generate": {"steps": 100}, "refine": {"steps": 100}, "direct": {"steps": 100}, "polish": {"steps": 2}}


def quick(**parameters):
    """A network that is fitted in no time."""
    return GFTRegressor(**{"width": 12, "config": QUICK, "random_state": 0} | parameters)


def samples(rows=120, dim=3, outputs=None, seed=0):
    """A smooth function of the first two inputs."""
    x = np.random.default_rng(seed).random((rows, dim))
    y = np.sin(3 * x[:, 0]) + x[:, 0] * x[:, 1]
    return x, y if outputs is None else np.stack([(o + 1) * y + o * x[:, 1] for o in range(outputs)], axis=1)


@pytest.fixture
def program():
    """The command line's program, built by test.sh."""
    path = os.environ.get("THINFIT")
    if path is None:
        pytest.skip("THINFIT does not name the program `thinfit`")
    return path


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run what takes minutes")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs --slow"))
