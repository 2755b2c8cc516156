"""Sensitivity of a fitted model to its inputs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from . import planning, plotting
from .arrays import Floats
from .fitted import Fitted
from .parameters import threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Explained(Fitted):
    """Sobol indices, Shapley effects, main effects, and their plot."""

    def sobol_indices(self, *, errors: bool = False, ranges: Mapping[str, planning.Range] | None = None) -> Bunch:
        """Variance-based sensitivity indices for independent inputs, uniform over their ranges in units of the data.

        A text column counts as one input with equally likely levels. Correlated inputs cause a warning; use
        `shapley_effects` for them.

        Parameters
        ----------
        errors : bool, default=False
            Whether to compute standard errors of `first` and `total`.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; by default those of the samples. The inputs of an array are
            called x1, x2, …

        Returns
        -------
        Bunch
            `names` of the inputs, `first` and `total` (n_inputs,), `second` (n_inputs, n_inputs), the interactions of
            pairs of inputs, the mean squared partial derivatives `derivative` (n_inputs,; 0 for
            text and whole numbers), `mean`, `variance`, and `closed_form`, whether these are exact up to rounding.
            `second` is empty for so many inputs that all pairs would take minutes. `no_detectable_effect` (n_inputs,)
            says for which inputs the fit found no effect, whatever their share in the model. With `errors`,
            `first_error` and `total_error` (n_inputs,): standard errors from the posterior covariance of the model and
            its error on held-out rows; NaN for methods without these, and for ranges far beyond the samples. With
            several outputs, every entry but `names` and `no_detectable_effect` has one more axis in front.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.sobol_indices().total.round(2) + 0.0
        array([1., 0.])
        """
        check_is_fitted(self)
        if self._model.warning is not None:
            warnings.warn(self._model.warning, stacklevel=2)
        return self._indices(errors, ranges)

    def _indices(self, errors: bool = False, ranges: Mapping[str, planning.Range] | None = None) -> Bunch:
        """The indices without a warning."""
        given, jobs = planning.written(ranges or {}), threads(self.n_jobs)
        indices = [self._model.sensitivity(o, given, errors, jobs) for o in range(self.n_outputs_)]
        known = [one.pop("errors") for one in indices]
        stacked = {key: np.array([one[key] for one in indices]) for key in indices[0]}
        found = Bunch(**{key: value[0] if self._flat else value for key, value in stacked.items()})
        found.names = np.array([name for name, *_ in self._model.factors], dtype=object)
        found.no_detectable_effect = np.array(self._model.undetected, dtype=bool)
        if errors:
            unknown = np.full((2, len(found.names)), np.nan)
            both = np.array([unknown if one is None else one for one in known])
            found.first_error, found.total_error = both[0] if self._flat else both.swapaxes(0, 1)
        return found

    def shapley_effects(self, X: ArrayLike) -> Bunch:
        """Shapley effects: shares of the variance over the rows of `X`; correlated inputs share what they explain.

        The rows define the distribution: the margins of their columns, and a Gaussian copula with the correlations of
        their ranks. The effects sum to 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least ten rows of inputs, such as the training rows.

        Returns
        -------
        Bunch
            `names` of the inputs, their `effects` and the `standard_error` of these (n_inputs,), and the `variance` of
            the prediction over the rows. With several outputs, every entry but `names` has one more axis in front.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 1)) @ [[1.0, 1.0]]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> bool(abs(model.shapley_effects(X).effects[0] - 0.5) < 0.01)
        True
        """
        x = self._inputs(X)
        found = [self._model.shapley(x, o, threads(self.n_jobs)) for o in range(self.n_outputs_)]
        stacked = {key: np.array([one[key] for one in found]) for key in found[0]}
        effects = Bunch(**{key: value[0] if self._flat else value for key, value in stacked.items()})
        effects.names = np.array([name for name, *_ in self._model.factors], dtype=object)
        return effects

    @property
    def feature_importances_(self) -> Floats:
        """Total Sobol indices of the columns of X, averaged over the outputs and scaled to sum to 1; zeros for a
        constant.

        A text column has one index, an ignored column 0. `encoded_names_` has the names of the inputs after encoding.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.feature_importances_.round(2) + 0.0
        array([1., 0.])
        """
        check_is_fitted(self)
        found = self._indices()
        total: Floats = np.atleast_2d(found.total).mean(axis=0)
        if self._model.encoding is not None:
            known = dict(zip(found.names, total, strict=True))
            total = np.array([known.get(name, 0.0) for name in self._model.encoding.columns])
        return total / (total.sum() or 1.0)

    def effect(self, feature: int | str, at: ArrayLike) -> Floats:
        """Mean prediction with one input fixed and the others uniform over their ranges.

        Parameters
        ----------
        feature : int or str
            The input, by index or by name; a text column is one input.
        at : array-like of shape (n_points,)
            Values of that input; for a text column its levels, or their numbers.

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
        inputs = [name for name, *_ in self._model.factors]
        if isinstance(feature, str):
            if feature not in inputs:
                raise ValueError(f"`feature`: expected an input of the model ({', '.join(inputs)}), found {feature!r}")
            feature = inputs.index(feature)
        if not 0 <= feature < len(inputs):
            raise ValueError(f"`feature`: expected a name or an index from 0 to {len(inputs) - 1}, found {feature}")
        levels = self._model.factors[feature][1]
        given = np.atleast_1d(np.asarray(at)).ravel().tolist()
        points = [float(levels.index(value) if value in levels else value) for value in given]
        jobs = threads(self.n_jobs)
        effects = [self._model.effect(o, feature, points, jobs) for o in range(self.n_outputs_)]
        return self._shape(np.array(effects).T)

    def plot_effects(self, ax: Axes | None = None) -> Axes:
        """Plot the main effect of every input, the most important first (needs matplotlib).

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
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_effects()
        >>> len(ax.lines)
        2
        """
        check_is_fitted(self)
        return plotting.plot_effects(self, ax)
