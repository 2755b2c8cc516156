"""Ctrl-C during a fit."""

import os
import signal
import time
from contextlib import nullcontext

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


@pytest.fixture
def press(monkeypatch):
    """Presses Ctrl-C at every report of progress that `when(done, error)` selects, as long as `times` lasts."""

    def arm(module, when=lambda done, error: True, times=1):
        end = time.monotonic() + 120
        left = times

        def report(done, error):
            nonlocal left
            assert time.monotonic() < end, "the fit does not get far enough to be interrupted"
            if left > 0 and when(done, error):
                left -= 1
                os.kill(os.getpid(), signal.SIGINT)

        monkeypatch.setattr(f"thinfit.{module}.progress", lambda _: nullcontext(report))

    return arm


def long_fit():
    config = {"generate": {"steps": 10_000_000}}
    return thinfit.GFTRegressor(width=30, config=config)


def test_an_interrupted_fit_keeps_the_best_model_so_far(capfd, press):
    x, y = samples()
    press("gft", lambda done, error: error is not None and error < 0.1 * y.var())
    with pytest.warns(thinfit.InterruptedFit, match="interrupted; this is the best model so far") as caught:
        model = long_fit().fit(x, y)
    assert caught[0].filename == __file__
    assert model.record_["stopped"] and model.score(x, y) > 0.5
    assert "keeping the best model so far; interrupt again to quit" in capfd.readouterr().err
    quick().fit(x, y)  # the next fit works


def test_without_settings_too(press):
    x, y = samples(400, 6)
    y = y + np.random.default_rng(0).normal(scale=0.05, size=400)
    press("auto", lambda done, error: done > 0)
    with pytest.warns(thinfit.InterruptedFit):
        model = thinfit.AutoRegressor(budget=300).fit(x, y)
    assert model.score(x, y) > 0.5


def test_a_second_interrupt_quits_at_once(press):
    # The native module reports once more before it takes the result, so that the second press always comes in time.
    press("gft", times=2)
    with pytest.raises(KeyboardInterrupt):
        long_fit().fit(*samples())


def test_a_comparison_is_given_up(press):
    press("comparison")
    with pytest.raises(KeyboardInterrupt):
        thinfit.compare(*samples(), ["gft-r"])
