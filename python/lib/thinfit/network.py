"""Estimators whose model is a two-layer network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native, plotting
from .base import RandomRegressor

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class NetworkRegressor(RandomRegressor):
    """Base of the estimators whose model is a two-layer network: its weights and a plot of them."""

    def plot_features(self, ax: Axes | None = None) -> Axes:
        """Plot the hidden weights of the two most important inputs (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None means a new figure.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_features()
        >>> ax.get_xlabel()
        'weight of x1'
        """
        check_is_fitted(self)
        return plotting.plot_features(self, ax)

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        super()._learn(model, flat)
        errors = zip(self.record_["validation_mse"], self.record_["validation_variance"], strict=True)
        self.validation_score_ = float(np.mean([1 - e / v if v > 0 else float(e == 0) for e, v in errors]))

        (hidden, output), (inputs, outputs) = map(np.array, model.weights), map(np.array, model.scalers)
        n, d = len(hidden), len(model.inputs)
        # Weights of a warped input are per unit of its warped value, arcsinh((x - centre) / width).
        self.warps_ = model.warps
        self.features_ = hidden[:, :d] / inputs[1]
        self.biases_ = hidden[:, d:].sum(axis=1) - self.features_ @ inputs[0]
        fourier = model.activation == "fourier"
        coef = (output[:n] + 1j * output[n:] if fourier else output[:n]) * outputs[1] / n
        self.coef_ = coef[:, 0] if flat else coef
        intercept = outputs[0] if fourier else outputs[0] + outputs[1] * output[n]
        self.intercept_ = float(intercept[0]) if flat else intercept
        return self
