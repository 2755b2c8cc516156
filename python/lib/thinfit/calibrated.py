"""Estimators with intervals and standard deviations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import planning
from .arrays import Floats
from .base import RandomRegressor, Regressor
from .parameters import RandomState, seed, threads


class CalibratedRegressor(Regressor):
    """Base of the estimators that predict intervals."""

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Prediction intervals: bounds that contain a new observation with probability `level`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.9
            Probability. Bounds are calibrated on held-out samples; with too few of these for the level, those of kernel
            models are infinite. Outside the ranges of the samples they widen, and beyond 20 % of a range they are
            infinite.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The bounds.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> low, high = model.predict_interval([[0.5]])
        >>> bool(low[0] <= high[0])
        True
        """
        x = self._places(X)
        low, high = self._model.interval(x, level, threads(self.n_jobs))
        return self._shape(low), self._shape(high)

    def suggest(
        self,
        rows: int = 8,
        *,
        goal: Literal["uncertainty", "minimum", "maximum"] = "uncertainty",
        output: int = 0,
        ranges: Mapping[str, planning.Range] | None = None,
        fix: Mapping[str, float | str] | None = None,
        within: str | Sequence[str] | None = None,
        add_to: ArrayLike | None = None,
        random_state: RandomState = 0,
    ) -> Any:
        """Propose the rows to sample next, where the model learns most from them.

        Parameters
        ----------
        rows : int, default=8
            Number of rows, chosen jointly, most useful first.
        goal : {"uncertainty", "minimum", "maximum"}, default="uncertainty"
            Lower the uncertainty everywhere, or search for the minimum or maximum of an output.
        output : int, default=0
            The output to minimise or maximise.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; by default those of the samples. The inputs of an array are
            called x1, x2, …
        fix : mapping of str to float or str, default=None
            Columns to keep at a number or a level.
        within : str or sequence of str, default=None
            Linear constraints on numeric columns, as for `minimise`.
        add_to : array-like of shape (n_rows, n_features) or None, default=None
            Planned or sampled rows that the model was not fitted to; new rows keep away from them.
        random_state : int, RandomState instance or None, default=0
            Seed of the candidates.

        Returns
        -------
        ndarray of shape (rows, n_features), or a frame
            A frame if the model was fitted to one; a dict of columns if it was read from a file and its inputs have
            names.

        Examples
        --------
        >>> from thinfit import ARDGaussianProcessRegressor
        >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [1.0]])
        >>> model = ARDGaussianProcessRegressor().fit(X, np.sin(6 * X[:, 0]))
        >>> bool(0.3 < model.suggest(1)[0, 0] < 1)
        True
        """
        check_is_fitted(self)
        if not 0 <= output < self.n_outputs_:
            raise ValueError(f"`output`: expected an index from 0 to {self.n_outputs_ - 1}, found {output!r}")
        taken = np.empty((0, len(self._model.inputs))) if add_to is None else self._inputs(add_to)
        found = self._model.suggest(
            planning.count(rows),
            goal,
            output,
            planning.written(ranges or {}),
            planning.region(fix, within),
            taken,
            seed(random_state),
            threads(self.n_jobs),
        )
        return self._table({name: np.array(values) for name, values in found})


class UncertainRegressor(CalibratedRegressor, RandomRegressor):
    """Base of the estimators that predict standard deviations and intervals."""

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[False] = False) -> Floats: ...

    @overload
    def predict(self, X: ArrayLike, return_std: Literal[True]) -> tuple[Floats, Floats]: ...

    def predict(self, X: ArrayLike, return_std: bool = False) -> Floats | tuple[Floats, Floats]:
        """Predict the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        std : ndarray of the shape of y, only if `return_std` is true
            Standard deviations of new observations: noise plus the uncertainty of the function.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> y, std = model.predict([[0.5]], return_std=True)
        >>> y.round(3), std.shape
        (array([0.25]), (1,))
        """
        x, jobs = self._places(X), threads(self.n_jobs)
        y = self._shape(self._model.predict(x, jobs))
        if return_std:
            return y, self._shape(self._model.deviation(x, jobs))
        return y
