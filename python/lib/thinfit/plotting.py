"""Plots of a fitted model. They need matplotlib, the extra `thinfit[plot]`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from .finite import check_finite, check_numbers
from .parameters import threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from .arrays import Floats
    from .fitted import Fitted
    from .gft import GFTRegressor
    from .importance import Explained
    from .network import NetworkRegressor


def plot_features(model: NetworkRegressor, ax: Axes | None = None) -> Axes:
    """Hidden weights as points in the plane of the two inputs with the largest weights; area and colour show the size
    of the output weight. With one input: size against weight."""
    ax = _axes(ax)
    size = np.linalg.norm(np.abs(model.coef_).reshape(len(model.features_), -1), axis=1)
    spans = np.array([np.ptp(_warped(model, j, ends)) for j, ends in enumerate(model._model.domain)])
    strength = size @ np.abs(model.features_ * spans)
    names = model._model.inputs
    first, *others = np.argsort(-strength, kind="stable")
    ax.set_xlabel(f"weight of {names[first]}")
    if not others:
        ax.stem(model.features_[:, first], size, basefmt=" ")
        ax.set_ylabel("size of the output weight")
        return ax
    area = 10 + 190 * size / (size.max() or 1.0)
    points = ax.scatter(model.features_[:, first], model.features_[:, others[0]], area, size, alpha=0.8, linewidths=0)
    ax.set_ylabel(f"weight of {names[others[0]]}")
    ax.figure.colorbar(points, ax=ax, label="size of the output weight")
    return ax


def effect_curves(model: Explained, j: int, points: int) -> tuple[Floats, Floats]:
    """Places from 0 (the lowest value or first level of input j) to 1 (the highest, the last), and the centred effect
    on every output there."""
    _, levels, ends, first = model._model.factors[j]
    at = np.linspace(0, 1, len(levels) or points)
    low, high = _warped(model, first, ends)
    values = np.arange(len(levels)) if levels else _unwarped(model, first, low + (high - low) * at)
    effect = model.effect(j, values).reshape(len(at), -1)
    return at, effect - effect.mean(axis=0)


def plot_effects(model: Explained, ax: Axes | None = None) -> Axes:
    """Centred main effects over the range of each input, rescaled to run from 0 (lowest value) to 1 (highest); evenly
    after the warp where an input has one."""
    ax = _axes(ax)
    shares = np.atleast_2d(model._indices().total)
    names, outputs = [name for name, *_ in model._model.factors], model._model.outputs
    for j in np.argsort(-shares.mean(axis=0), kind="stable"):
        at, effect = effect_curves(model, int(j), 101)
        for o, output in enumerate(outputs):
            of = f" on {output}" if len(outputs) > 1 else ""
            ax.plot(at, effect[:, o], label=f"{names[j]}{of} ({shares[o, j]:.0%})")
    ax.set_xlabel("input, from its lowest to its highest value")
    ax.set_ylabel("effect" if len(outputs) > 1 else f"effect on {outputs[0]}")
    ax.legend()
    return ax


# Rows beyond which intervals would hide the points.
_BARS = 300


def plot_prediction(model: Fitted, X: ArrayLike, y: ArrayLike, output: int = 0, ax: Axes | None = None) -> Axes:
    """Predictions against measured values; training rows get cross-validated predictions, if any."""
    ax = _axes(ax)
    x, measured, predicted, caption = _beside(model, X, y, output)
    # Drawn first, below the points.
    bars = _bars(model, x, output) if len(measured) <= _BARS else np.full((2, len(measured)), np.inf)
    known = np.isfinite(bars).all(axis=0)
    if known.any():
        at = measured[known], predicted[known]
        ax.errorbar(*at, bars[:, known], fmt="none", ecolor="0.7", linewidth=0.8, label="90 % interval")
        ax.legend()
    ax.plot(measured, predicted, ".")
    ends = np.array([min(measured.min(), predicted.min()), max(measured.max(), predicted.max())])
    ax.plot(ends, ends, color="0.4", linewidth=1, zorder=0)
    name = model._model.outputs[output]
    ax.set(title=caption, xlabel=f"{name}, measured", ylabel=f"{name}, predicted")
    return ax


def plot_residuals(model: Fitted, X: ArrayLike, y: ArrayLike, output: int = 0, ax: Axes | None = None) -> Axes:
    """Measured minus predicted against predicted, with training rows as in `plot_prediction`."""
    ax = _axes(ax)
    _, measured, predicted, caption = _beside(model, X, y, output)
    ax.plot(predicted, measured - predicted, ".")
    ax.axhline(0, color="0.4", linewidth=1, zorder=0)
    name = model._model.outputs[output]
    ax.set(title=caption, xlabel=f"{name}, predicted", ylabel=f"{name}, measured − predicted")
    return ax


def _beside(model: Fitted, X: ArrayLike, y: ArrayLike, output: int) -> tuple[Floats, Floats, Floats, str]:
    """Inputs, measured and predicted values of an output, and which rows these are."""
    if not 0 <= output < model.n_outputs_:
        raise ValueError(f"`output`: expected an index from 0 to {model.n_outputs_ - 1}, found {output}")
    check_numbers(y, "y", model._model.outputs)
    # The warning names the line that called the method of the estimator.
    x, measured = model._places(X, stacklevel=5), np.asarray(y, np.float64)
    measured = np.ascontiguousarray(measured.reshape(len(measured), -1))
    if measured.shape != (len(x), model.n_outputs_):
        expected = f"{len(x)} rows of {model.n_outputs_} outputs, as many rows as X has"
        raise ValueError(f"y: expected {expected}, found {len(measured)} of {measured.shape[1]}")
    check_finite(measured, "y", model._model.outputs)
    predicted, caption, _ = model._model.held_out(x, measured, threads(model.n_jobs))
    return x, measured[:, output], predicted[:, output], caption


def _bars(model: Fitted, x: Floats, output: int) -> Floats:
    """How far 90 % intervals reach down and up at the inputs (2, n_samples); infinite where there is none."""
    if not hasattr(model, "predict_interval"):
        return np.full((2, len(x)), np.inf)
    jobs = threads(model.n_jobs)
    low, high = (bound[:, output] for bound in model._model.interval(x, 0.9, jobs))
    f = model._model.predict(x, jobs)[:, output]
    return np.stack([f - low, high - f])


def plot_history(model: GFTRegressor, ax: Axes | None = None) -> Axes:
    """Loss and validation error at each check of the fit, phase by phase."""
    ax = _axes(ax)
    ax.set_yscale("log")
    for key, label in ("loss", "loss"), ("validation", "validation error"):
        values = [np.nan if check[key] is None else check[key] for check in model.history_]
        ax.plot(values, ".-", label=label)
    start = 0
    for phase, checks in groupby(model._model.phases):
        if start > 0:
            ax.axvline(start - 0.5, color="0.7", linewidth=1)
        ax.text(start, 1.01, phase, transform=ax.get_xaxis_transform(), color="0.4", fontsize="small")
        start += len(list(checks))
    ax.set_xlabel("check")
    ax.set_ylabel("mean squared error of scaled outputs")
    ax.legend()
    return ax


def _warped(model: Fitted, j: int, values: ArrayLike) -> Floats:
    centre, width = model._model.warps[j] or (0.0, 0.0)
    values = np.asarray(values)
    return np.arcsinh((values - centre) / width) if width else values


def _unwarped(model: Fitted, j: int, values: Floats) -> Floats:
    centre, width = model._model.warps[j] or (0.0, 0.0)
    return centre + width * np.sinh(values) if width else values


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib; pip install thinfit[plot]") from error
    return plt.subplots(layout="constrained")[1]
