"""Ctrl-C during a fit."""

import os
import signal
import threading
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


def press(seconds):
    """Ctrl-C after so many seconds."""
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
    assert "keeping the best model so far; interrupt again to quit" in capfd.readouterr().err
    quick().fit(x, y)  # the next fit works


def test_without_settings_too():
    x, y = samples(400, 6)
    y = y + np.random.default_rng(0).normal(scale=0.05, size=400)
    press(0.5)
    with pytest.warns(thinfit.InterruptedFit):
        model = thinfit.AutoRegressor(budget=300).fit(x, y)
    assert model.score(x, y) > 0.5


def test_a_second_interrupt_quits_at_once(monkeypatch):
    # At every report of progress, so that the second press comes before the fit can end.
    pressing = nullcontext(lambda *_: os.kill(os.getpid(), signal.SIGINT))
    monkeypatch.setattr("thinfit.gft.progress", lambda _: pressing)
    with pytest.raises(KeyboardInterrupt):
        long_fit().fit(*samples())


def test_a_comparison_is_given_up():
    x, y = samples()
    press(0.5)
    with pytest.raises(KeyboardInterrupt):
        thinfit.compare(x, y, ["gft-r"])
