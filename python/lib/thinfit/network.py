"""Estimators whose model is a two-layer network."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from . import _native, plotting
from .base import Floats, RandomRegressor
from .parameters import threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


class NetworkRegressor(RandomRegressor):
    """Base of the estimators whose model is a two-layer network: its parts, derivatives and plots."""

    def predict_gradient(self, X: ArrayLike) -> Floats:
        """Partial derivatives of the prediction.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, n_outputs, n_features)
            Derivatives of each output with respect to each input.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.predict_gradient([[0.5]]).round(2)
        array([[1.]])
        """
        x, jobs = self._inputs(X), threads(self.n_jobs)
        gradient = [self._model.gradient(x, o, jobs) for o in range(self.n_outputs_)]
        return gradient[0] if self._flat else np.stack(gradient, axis=1)

    def sobol_indices(self) -> Bunch:
        """Variance-based sensitivity indices for independent inputs, uniform over the ranges of the samples.

        Returns
        -------
        Bunch
            `first` and `total` (n_features,), `second` (n_features, n_features), the mean squared partial derivatives
            `derivative` (n_features,), `mean`, `variance`, and `closed_form`, whether these are exact up to rounding.
            With several outputs, every entry has one more axis in front.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.sobol_indices().total.round(2) + 0.0
        array([1., 0.])
        """
        check_is_fitted(self)
        indices = [self._model.sensitivity(o, threads(self.n_jobs)) for o in range(self.n_outputs_)]
        stacked = {key: np.array([one[key] for one in indices]) for key in indices[0]}
        return Bunch(**{key: value[0] if self._flat else value for key, value in stacked.items()})

    @property
    def feature_importances_(self) -> Floats:
        """Total Sobol indices, averaged over the outputs and scaled to sum to 1; zeros for a constant.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.feature_importances_.round(2) + 0.0
        array([1., 0.])
        """
        total: Floats = np.atleast_2d(self.sobol_indices().total).mean(axis=0)
        return total / (total.sum() or 1.0)

    def effect(self, feature: int | str, at: ArrayLike) -> Floats:
        """Mean prediction with one input fixed and the others uniform over their ranges (after their warps, if any).

        Parameters
        ----------
        feature : int or str
            The input, by index or by name.
        at : array-like of shape (n_points,)
            Values of that input.

        Returns
        -------
        ndarray of shape (n_points,) or (n_points, n_outputs)
            The main effect.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.effect(0, [0.25, 0.75]).round(2)
        array([0.25, 0.75])
        """
        check_is_fitted(self)
        inputs = self._model.inputs
        if isinstance(feature, str):
            if feature not in inputs:
                raise ValueError(f"`feature`: expected an input of the model ({', '.join(inputs)}), found {feature!r}")
            feature = inputs.index(feature)
        if not 0 <= feature < len(inputs):
            raise ValueError(f"`feature`: expected a name or an index from 0 to {len(inputs) - 1}, found {feature}")
        points = np.atleast_1d(np.asarray(at, np.float64)).ravel().tolist()
        jobs = threads(self.n_jobs)
        effects = [self._model.effect(o, feature, points, jobs) for o in range(self.n_outputs_)]
        return self._shape(np.array(effects).T)

    def plot_features(self, ax: Axes | None = None) -> Axes:
        """Draw the hidden weights of the two inputs that matter most (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

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

    def plot_effects(self, ax: Axes | None = None) -> Axes:
        """Draw the main effect of every input, the most important first (needs matplotlib).

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_effects()
        >>> len(ax.lines)
        2
        """
        check_is_fitted(self)
        return plotting.plot_effects(self, ax)

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, precision: str = "float64") -> bytes:
        """The model as an ONNX graph from inputs (n_samples, n_features) to outputs (n_samples, n_outputs).

        Parameters
        ----------
        path : path-like or None, default=None
            A file to write it to as well.
        precision : {"float64", "float32"}, default="float64"
            Floating-point type of the graph.

        Returns
        -------
        bytes
            The graph.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> len(GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).to_onnx()) > 100
        True
        """
        check_is_fitted(self)
        return self._model.onnx(precision, path)

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
