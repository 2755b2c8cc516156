"""Ctrl-C during a fit."""

import os
import signal
import threading

import numpy as np
import pytest

import thinfit
from conftest import quick, samples

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of Unix")


@pytest.fixture(autouse=True)
def listening():
    """A background job ignores Ctrl-C, and so does Python in it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press(*after):
    """Ctrl-C after so many seconds each."""
    for seconds in after:
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def long_fit():
    config = {"generate": {"steps": 10_000_000}}
    return thinfit.GFTRegressor(width=30, config=config)


def test_an_interrupted_fit_keeps_the_best_model_so_far(capfd):
    x, y = samples()
    press(1.0)
    with pytest.warns(thinfit.InterruptedFit, match="interrupted; this is the best model so far") as caught:
        model = long_fit().fit(x, y)
    assert caught[0].filename == __file__
    assert model.record_["stopped"] and model.score(x, y) > 0.5
    assert "keeping the best so far; interrupt again to quit" in capfd.readouterr().err
    quick().fit(x, y)  # the next fit works


def test_without_settings_too():
    x, y = samples(400, 6)
    y = y + np.random.default_rng(0).normal(scale=0.05, size=400)
    press(0.5)
    with pytest.warns(thinfit.InterruptedFit):
        model = thinfit.AutoRegressor(budget=300).fit(x, y)
    assert model.score(x, y) > 0.5


def test_a_second_interrupt_quits_at_once():
    # A step of the search takes longer than the second press.
    x, y = samples(2000, 6)
    press(0.6, 0.75)
    with pytest.raises(KeyboardInterrupt):
        thinfit.ARDGaussianProcessRegressor(starts=20).fit(x, y)


def test_a_comparison_is_given_up():
    x, y = samples()
    press(0.5)
    with pytest.raises(KeyboardInterrupt):
        thinfit.compare(x, y, ["gft-r"])
