"""Plots of predictions and residuals, which know the rows of the fit."""

import numpy as np
import pytest

import thinfit
from conftest import quick, samples

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def noisy():
    x, y = samples(80)
    return x, y + np.random.default_rng(1).normal(scale=0.2, size=80)


@pytest.mark.parametrize(
    "estimator",
    [
        thinfit.AutoRegressor(budget=0.5),
        thinfit.ARDGaussianProcessRegressor(starts=1),
        thinfit.KernelRidgeRegressor(scaling="standard"),
        thinfit.SalsaRegressor(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_of_the_fit_are_shown_out_of_fold(estimator, noisy):
    x, y = noisy
    model = estimator.fit(x, y)
    ax = model.plot_prediction(x, y)
    assert ax.get_title() == "80 training rows, cross-validated predictions"
    points = ax.lines[-2].get_xydata()
    assert (points[:, 0] == y).all()
    shown, own = np.mean((points[:, 1] - y) ** 2), np.mean((model.predict(x) - y) ** 2)
    assert shown > own
    residuals = model.plot_residuals(x[::-1], y[::-1]).lines[0].get_xydata()
    np.testing.assert_allclose(residuals[::-1, 1], y - points[:, 1], atol=1e-12)
    new = model.plot_prediction(x + 0.01, y)
    assert new.get_title() == "80 rows, none of them training rows"


def test_a_network_says_that_errors_are_too_small(noisy, tmp_path):
    x, y = noisy
    model = quick().fit(x, y)
    model.save(tmp_path / "model.json")
    for one in model, thinfit.load(tmp_path / "model.json"):
        assert one.plot_residuals(x, y).get_title() == "80 training rows: errors are too small"
    some = np.concatenate([x[:20], x[:10] + 0.5]), np.concatenate([y[:20], y[:10]])
    assert model.plot_residuals(*some).get_title() == "30 rows, 20 of them training rows: errors are too small"


def test_a_row_far_outside_has_no_bar_the_others_have_and_one_warning_is_given(noisy):
    x, y = noisy
    model = thinfit.ARDGaussianProcessRegressor(starts=1).fit(x, y)
    far = np.vstack([x[:9], x[:1] + 100])
    with pytest.warns(thinfit.ExtrapolationWarning, match="1 of 10 rows") as warned:
        ax = model.plot_prediction(far, y[:10])
    assert len(warned) == 1 and warned[0].filename == __file__
    (bars,) = ax.containers
    assert len(bars[2][0].get_segments()) == 9
    with pytest.warns(thinfit.ExtrapolationWarning) as warned:
        model.plot_residuals(far, y[:10])
    assert len(warned) == 1 and warned[0].filename == __file__
    with pytest.warns(thinfit.ExtrapolationWarning):
        assert not model.plot_prediction(far[-1:], y[:1]).containers


def test_wrong_arguments_are_named(noisy):
    x, y = noisy
    model = thinfit.KernelRidgeRegressor().fit(x, y)
    with pytest.raises(ValueError, match="^`output`: expected an index from 0 to 0, found 1"):
        model.plot_prediction(x, y, output=1)
    with pytest.raises(ValueError, match="^y: expected 80 rows of 1 outputs.* found 79 of 1"):
        model.plot_residuals(x, y[1:])
    with pytest.raises(ValueError, match="^y has NaN in 1 of 80 rows"):
        model.plot_residuals(x, np.where(np.arange(80) == 3, np.nan, y))
