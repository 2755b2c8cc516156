"""Fits to Dask arrays and data frames without gathering them, on threads, processes or a cluster (``thinfit[dask]``).

Every chunk is processed twice, by tasks of its own, and only summaries are communicated: a sample of the rows, and the
triangular factor of a least-squares problem. So a table may be larger than the memory of any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native, auto
from .arrays import Floats, check_columns, contiguous, frame_of, input_names, other_names, refuse_groups, refuse_weights
from .arrays import names as names_of
from .finite import check_finite, check_numbers
from .fitted import warn_outside
from .network import NetworkRegressor
from .parameters import threads
from .pieces import Pieces, merged

try:
    import dask
    import dask.array as da
except ImportError as error:
    raise ImportError("thinfit.dask needs Dask; pip install thinfit[dask]") from error

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AutoRegressor", "GFTRegressor"]


class AutoRegressor(auto.AutoRegressor):
    """`thinfit.AutoRegressor` for Dask arrays and Dask data frames.

    The model is that of `thinfit.AutoRegressor` for the same rows in memory. `fit` makes two passes over the chunks;
    `predict`, `predict_interval` and `score` work by chunk. Other methods, and arrays in memory, work as in
    `thinfit.AutoRegressor`. Parameters and attributes are the same; `n_jobs` is the number of threads of one task, and
    None respects the limit of the worker.

    Examples
    --------
    >>> import dask.array as da
    >>> from thinfit.dask import AutoRegressor
    >>> X = da.random.default_rng(0).random((400, 2), chunks=(100, 2))
    >>> model = AutoRegressor(budget=0.5, random_state=0).fit(X, X[:, 0] + X[:, 1] ** 2)
    >>> model.record_["samples"]
    400
    >>> model.predict(X)[:3].compute().shape
    (3,)
    """

    def fit(self, X: Any, y: Any, *, sample_weight: ArrayLike | None = None, groups: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features), or array-like
            Inputs, all numeric. Chunks of unknown length are counted first, in one more pass.
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs), or array-like
            Outputs; rechunked if its chunks differ from those of `X`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; only if neither `X` nor `y` is a Dask collection.
        groups : array-like of shape (n_samples,), default=None
            Group labels; only if neither `X` nor `y` is a Dask collection.

        Returns
        -------
        AutoRegressor
            The estimator itself.

        Examples
        --------
        >>> X = da.linspace(0, 1, 100, chunks=50)[:, None]
        >>> AutoRegressor(budget=0.5).fit(X, X[:, 0]).n_features_in_
        1
        """
        if not (dask.is_dask_collection(X) or dask.is_dask_collection(y)):
            return super().fit(X, y, sample_weight=sample_weight, groups=groups)
        refuse_weights(sample_weight)
        refuse_groups(groups)
        x, f = _array(X, "X"), _array(y, "y")
        if x.ndim != 2:
            raise ValueError(f"X: expected two axes, rows and columns, found {x.ndim}")
        outline = _outline(X)
        validate_data(self, outline, skip_check_array=True)
        self._frame, self._columns = frame_of(outline), other_names(outline)
        inputs = input_names(getattr(self, "feature_names_in_", None), self._columns)
        names = (inputs, names_of(_outline(y)))
        pieces = Pieces.of(self, names, (x.shape[1], 1 if f.ndim == 1 else f.shape[1]))
        return self._learn(_conducted(pieces, *_counted(x, f)), f.ndim == 1)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predict the outputs, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features), or array-like
            Inputs.
        return_std : bool, default=False
            Whether to return standard deviations as well.

        Returns
        -------
        y : Dask array or ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Predictions.
        std : as y, only if `return_std` is true
            Standard deviations of new observations: noise plus the uncertainty of the function.

        Examples
        --------
        >>> X = da.linspace(0, 1, 100, chunks=50)[:, None]
        >>> AutoRegressor(budget=0.5).fit(X, X[:, 0]).predict(X).chunks
        ((50, 50),)
        """
        if not dask.is_dask_collection(X):
            # The overloads of the base want the literals.
            return super().predict(X, return_std=True) if return_std else super().predict(X)
        x = self._over(X)
        y = self._mapped(x, _native.Model.predict)
        return (y, self._mapped(x, _native.Model.deviation)) if return_std else y

    def predict_interval(self, X: Any, level: float = 0.9) -> Any:
        """Prediction intervals, lazily if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features), or array-like
            Inputs.
        level : float, default=0.9
            Probability.

        Returns
        -------
        low, high : Dask arrays or ndarrays of shape (n_samples,) or (n_samples, n_outputs)
            Bounds.

        Examples
        --------
        >>> X = da.linspace(0, 1, 100, chunks=50)[:, None]
        >>> low, high = AutoRegressor(budget=0.5).fit(X, X[:, 0]).predict_interval(X)
        >>> bool((low <= high).all())
        True
        """
        if not dask.is_dask_collection(X):
            return super().predict_interval(X, level)
        x = self._over(X)
        low, high = (self._mapped(x, partial(_bound, side=side, level=level)) for side in (0, 1))
        return low, high

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R², computed chunk by chunk if `X` is a Dask collection.

        Parameters
        ----------
        X : Dask array or data frame of shape (n_samples, n_features), or array-like
            Inputs.
        y : Dask array, series or data frame of shape (n_samples,) or (n_samples, n_outputs), or array-like
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for inputs in memory.

        Returns
        -------
        float
            1 for a perfect model, 0 for the mean; the mean over the outputs.

        Examples
        --------
        >>> X = da.linspace(0, 1, 100, chunks=50)[:, None]
        >>> round(AutoRegressor(budget=0.5).fit(X, X[:, 0]).score(X, X[:, 0]), 4)
        1.0
        """
        if not dask.is_dask_collection(X):
            return super().score(X, y, sample_weight)
        if sample_weight is not None:
            raise ValueError("`sample_weight`: expected None for a Dask collection, found weights")
        x, f = _counted(self._over(X), _array(y, "y"))
        error = ((f - self._mapped(x, _native.Model.predict)) ** 2).sum(axis=0)
        spread = ((f - f.mean(axis=0)) ** 2).sum(axis=0)
        return float(1 - (error / spread).mean().compute())

    def _over(self, X: Any) -> Any:
        """Inputs to predict at, as an array; the columns are checked, the numbers are not."""
        check_is_fitted(self)
        if self._model.encoding is not None:
            advice = "X.map_partitions(model.predict) gives it these"
            raise ValueError(f"X: expected frames in memory, since the model encodes text; {advice}")
        if hasattr(X, "dtypes"):
            validate_data(self, _outline(X), skip_check_array=True, reset=False)
            check_columns(getattr(self, "_columns", None), _outline(X))
        x = _array(X, "X")
        if x.ndim != 2 or x.shape[1] != self.n_features_in_:
            raise ValueError(f"X: expected {self.n_features_in_} columns, found the shape {x.shape}")
        return x

    def _mapped(self, x: Any, of: Callable[[_native.Model, Floats, int], Floats]) -> Any:
        """The function `of` of each chunk, as a Dask array."""
        outputs = self.n_outputs_
        shape = {"drop_axis": 1} if self._flat else {"chunks": (x.chunks[0], (outputs,))}
        meta = np.empty((0,) if self._flat else (0, outputs))
        model = dask.delayed(self._model)
        return x.map_blocks(_block, model=model, of=of, jobs=self.n_jobs, flat=self._flat, meta=meta, **shape)


@dataclass(kw_only=True, eq=False, repr=False)
class GFTRegressor(AutoRegressor, NetworkRegressor):
    """`AutoRegressor` whose model is always a thin network, with its weights as attributes.

    For most long tables `AutoRegressor` selects a network anyway: hidden weights are trained on samples of the rows,
    output weights are solved for with all rows. The training settings of `thinfit.GFTRegressor` (`activation`,
    `config`, …) do not apply.

    Examples
    --------
    >>> X = da.random.default_rng(0).random((400, 2), chunks=(100, 2))
    >>> model = GFTRegressor(budget=0.5, width=20, random_state=0).fit(X, X[:, 0] + X[:, 1] ** 2)
    >>> model.features_.shape[1]
    2
    """

    thin: bool = True


def _conducted(pieces: Pieces, x: Any, y: Any) -> _native.Model:
    """The model of the rows of all chunks, by two passes over them.

    The passes are two computations, because in a single one Dask would keep the chunks in memory in between.
    """
    shared = dask.delayed(pieces, traverse=False)
    firsts = np.cumsum([0, *x.chunks[0]]).tolist()
    blocks = list(zip(_blocks(x), _blocks(y), firsts[:-1], strict=True))
    survey = merged([shared.survey(*block) for block in blocks], shared.merge_surveys)
    survey, learned = dask.persist(survey, shared.learn(survey))
    condensed = None
    if learned[1].compute() is not None:
        parts = [shared.condense(learned[1], *block) for block in blocks]
        condensed = merged(parts, partial(shared.merge_condensed, learned[1]))
    model: _native.Model = shared.conclude(survey, learned[0], condensed).compute()
    return model


def _array(a: Any, what: str) -> Any:
    """A collection of numbers as an array of doubles, whose chunks have all columns."""
    if hasattr(a, "to_dask_array"):
        dtypes = (a if a.ndim == 2 else a.to_frame()).dtypes.items()
        others = [f"`{name}` ({dtype})" for name, dtype in dtypes if dtype.kind not in "biuf"]
        if others:
            found = f"found {', '.join(others)}; encode or remove them"
            raise ValueError(f"{what}: expected numeric columns, {found}")
        a = a.astype(np.float64).to_dask_array()
    a = da.asarray(a)
    if a.dtype.kind not in "biuf" or a.ndim not in (1, 2):
        raise ValueError(f"{what}: expected a table of numbers, found {a.ndim} axes of {a.dtype}")
    return a if a.ndim == 1 else a.rechunk({1: -1})


def _blocks(a: Any) -> list[Any]:
    """The chunks of an array, as tasks."""
    return list(a.to_delayed().ravel())


def _counted(x: Any, y: Any) -> tuple[Any, Any]:
    """The arrays with known lengths of chunks, which are the same for both."""
    unknown = [a for a in (x, y) if np.isnan(a.shape[0])]
    counts = dask.compute(*([dask.delayed(len)(block) for block in _blocks(a)] for a in unknown))
    for a, lengths in zip(unknown, counts, strict=True):
        known = da.Array(a.dask, a.name, (tuple(lengths), *a.chunks[1:]), meta=a._meta)
        x, y = (known if old is a else old for old in (x, y))
    if len(x) != len(y):
        raise ValueError(f"X and y: expected equal numbers of rows, found {len(x)} and {len(y)}")
    return x, y if y.chunks[0] == x.chunks[0] else y.rechunk({0: x.chunks[0]})


def _outline(a: Any) -> Any:
    """An array or frame without rows that has the columns of `a`."""
    if hasattr(a, "to_dask_array"):
        return a._meta
    return np.empty((0, *np.shape(a)[1:])) if dask.is_dask_collection(a) else a


def _block(x: Floats, model: _native.Model, of: Any, jobs: int | None, flat: bool) -> Floats:
    """What `of` finds in a chunk."""
    check_numbers(x, "X", model.inputs)
    x = contiguous(np.asarray(x, dtype=np.float64))
    check_finite(x, "X", model.inputs)
    warn_outside(model, x)
    y: Floats = of(model, x, threads(jobs))
    return y[:, 0] if flat else y


def _bound(model: _native.Model, x: Floats, jobs: int, *, side: int, level: float) -> Floats:
    return model.interval(x, level, jobs)[side]
