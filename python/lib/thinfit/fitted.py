"""A fitted model in an estimator: rows in, predictions out."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native, encoding
from .arrays import Floats, check_columns, contiguous, with_text_names
from .estimator import Estimator
from .finite import check_finite, check_numbers
from .parameters import threads

if TYPE_CHECKING:
    from typing_extensions import Self


class ExtrapolationWarning(UserWarning):
    """Rows to predict lie outside the ranges of the samples, by more than 5 % of a range.

    ``warnings.simplefilter("error", thinfit.ExtrapolationWarning)`` makes it an exception.
    """


class Fitted(Estimator):
    """Common to all fitted estimators: a model in Rust, and whether y had one axis."""

    n_jobs: int | None
    n_outputs_: int
    record_: dict[str, Any]
    _model: _native.Model
    _flat: bool

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a mapping of columns
            Inputs.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2]).predict([[0.5]]).round(2)
        array([1.])
        """
        x = self._places(X)
        return self._shape(self._model.predict(x, threads(self.n_jobs)))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """R² of the predictions, 1 at best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a mapping of columns
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Measured outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            The mean over the outputs.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> model = KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2])
        >>> round(model.score([[0.0], [1.0]], [0, 2]), 2)
        1.0
        """
        check_numbers(y, "y")
        check_numbers(sample_weight, "sample_weight")
        return super().score(X, y, sample_weight)

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
        x, jobs = self._places(X), threads(self.n_jobs)
        gradient = [self._model.gradient(x, o, jobs) for o in range(self.n_outputs_)]
        return gradient[0] if self._flat else np.stack(gradient, axis=1)

    @property
    def encoded_names_(self) -> NDArray[np.object_]:
        """Names of the inputs after encoding, such as `material=steel`.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> list(KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2]).encoded_names_)
        ['x1']
        """
        check_is_fitted(self)
        return np.array(self._model.inputs, dtype=object)

    def _inputs(self, X: ArrayLike) -> Floats:
        """Inputs to predict at."""
        check_is_fitted(self)
        inputs = self._model.inputs
        for name, column in X.items() if isinstance(X, Mapping) else [("X", X)]:
            check_numbers(column, str(name))
        if self._model.encoding is not None:
            x = encoding.apply(self._model.encoding, X)
            check_finite(x, "X", inputs)
            return x
        if isinstance(X, Mapping):
            X = {str(name): column for name, column in X.items()}
            if not set(inputs) <= set(X):
                raise ValueError(f"X: expected the columns {', '.join(inputs)}, found {', '.join(map(str, X))}")
            x = np.column_stack([np.asarray(X[name], np.float64) for name in inputs])
            check_finite(x, "X", inputs)
            return x
        check_columns(getattr(self, "_columns", None), X)
        # In a file, the names x1, x2, … may mean that there were none; a frame that has them must have them in order.
        columns = [str(name) for name in getattr(X, "columns", [])]
        nameless = not hasattr(self, "feature_names_in_")
        if nameless and columns != inputs and sorted(columns) == sorted(inputs):
            raise ValueError(f"X: expected the columns in the order {', '.join(inputs)}, found {', '.join(columns)}")
        if not nameless:
            X = with_text_names(X, inputs)
        x = contiguous(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))
        check_finite(x, "X", None if nameless else inputs)
        return x

    def _places(self, X: ArrayLike, stacklevel: int = 3) -> Floats:
        """Inputs to predict at; warns about rows outside the ranges of the samples."""
        x = self._inputs(X)
        warn_outside(self._model, x, stacklevel + 1)
        return x

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        """Set the learned attributes; `flat` means that y has one axis."""
        learned = self.__dict__.pop("_encoding", None)
        self._model, self._flat = model if learned is None else model.encoded(learned), flat
        self.record_ = json.loads(model.record)
        self.n_outputs_ = len(model.outputs)
        return self

    def _shape(self, y: Floats) -> Floats:
        """One axis if y had one in `fit`."""
        return y[:, 0] if self._flat else y

    def _table(self, columns: Mapping[str, Any]) -> Any:
        """Rows in the columns of X: a frame if the model was fitted to one, a dict of columns if it was read from a
        file and its inputs have names, otherwise an array."""
        if not hasattr(self, "feature_names_in_"):
            return np.column_stack(list(columns.values()))
        frame = getattr(self, "_frame", None)
        return columns if frame is None else frame(columns)


def warn_outside(model: _native.Model, x: Floats, stacklevel: int = 4) -> None:
    """Warn about rows outside the ranges of the samples, at the line that called `predict`."""
    outside = model.outside(x)
    if outside is not None:
        warnings.warn(f"{outside}, where the model extrapolates", ExtrapolationWarning, stacklevel=stacklevel)
