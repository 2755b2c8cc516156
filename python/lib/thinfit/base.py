"""The base of all estimators: settings in, a fitted model out; the native module does the computation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y, validate_data

from . import _native, encoding
from .arrays import Floats, contiguous, frame_of, group_numbers, input_names, other_names, table
from .arrays import names as names_of
from .exporting import Exported
from .finite import check_finite, check_numbers, check_outputs
from .parameters import SEED, RandomState, place, plain, seed, settings_named, threads
from .presentation import Presented
from .progress import progress
from .study import Studied

if TYPE_CHECKING:
    from typing_extensions import Self

Names = tuple[list[str] | None, list[str] | None]


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(Studied, Presented, Exported):
    """Base of all estimators.

    A subclass is a dataclass. Its own fields are the settings of a method in Rust, under the same names except for
    those in `_renamed`.
    """

    n_jobs: int | None = None
    verbose: bool = False

    # Names of the methods behind the estimator; the first is the one whose settings it has.
    _methods: ClassVar[tuple[str, ...]] = ()

    # Settings in Rust of the parameters that have another name in Python.
    _renamed: ClassVar[dict[str, str]] = {"regularization": "lambda"}

    # Parameters that are not settings of the method.
    _apart: ClassVar[tuple[str, ...]] = ("random_state", "n_jobs", "verbose")

    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Column names are taken from pandas and polars frames; text and categories in a frame are encoded,
            dates, row numbers and identifiers ignored with a warning.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        groups : array-like of shape (n_samples,), default=None
            Group labels, such as the setting of repeated readings or the run of a step: no fold and no validation split
            divides a group. None means that all samples are independent.

        Returns
        -------
        Regressor
            The estimator itself.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2]).n_features_in_
        1
        """
        x, f, names = self._samples(X, y)
        settings, numbers = self._request(), group_numbers(groups, len(x))
        with progress(self.verbose) as report, settings_named(self._typed):
            model = _native.fit(x, table(f), None, numbers, names, None, settings, threads(self.n_jobs), report)
        return self._learn(model, f.ndim == 1)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a JSON file, written by Python, Rust or the command line.

        The parameters are those of the fit, so that a clone of the estimator fits in the same way. Predictions of a
        single output have one axis, because a file does not say whether y had one axis or one column.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        Regressor
            A fitted estimator of this class.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> GFTRegressor.load("no-such-file.json")
        Traceback (most recent call last):
        FileNotFoundError: cannot read no-such-file.json: No such file or directory (os error 2)
        """
        model = _native.Model.load(path)
        if model.method not in cls._methods:
            expected = f"expected a model of {cls.__name__} ({', '.join(cls._methods)})"
            raise ValueError(f"{path}: {expected}, found one of `{model.method}`; read it with `thinfit.load`")
        return cls._restore(model)

    @classmethod
    def _restore(cls, model: _native.Model) -> Self:
        """A fitted estimator with the parameters of the fit."""
        try:
            estimator = cls(**cls._parameters(json.loads(model.record)))
        except (KeyError, TypeError) as error:
            raise ValueError(f"expected a model with the settings of {cls.__name__}, found others: {error}") from error
        columns = model.inputs if model.encoding is None else model.encoding.columns
        # Unnamed columns are called x1, x2, … here and in Rust, c1, c2, … on the command line.
        if columns == [str(j) for j in range(len(columns))]:
            # Those of a frame that merely counts its columns.
            estimator._columns = list(range(len(columns)))
        elif all(columns != [f"{letter}{j + 1}" for j in range(len(columns))] for letter in "xc"):
            estimator.feature_names_in_ = np.array(columns, dtype=object)
        estimator.n_features_in_ = len(columns)
        return estimator._learn(model, len(model.outputs) == 1)

    def _settings(self) -> dict[str, Any]:
        """The parameters as settings of the method in Rust."""
        return {self._renamed.get(name, name): plain(getattr(self, name), name) for name in self._own()}

    def _request(self) -> str:
        """The request for the native module; a RandomState draws the seed here."""
        return json.dumps(self._settings() | {"method": self._methods[0], "seed": self._seed()})

    @classmethod
    def _parameters(cls, record: dict[str, Any]) -> dict[str, Any]:
        """The parameters in the record of a model."""
        # A file may be older than a parameter, which then has its default.
        known, defaults = record["settings"], cls()
        settings = {name: known.get(cls._renamed.get(name, name), getattr(defaults, name)) for name in cls._own()}
        return {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}

    @classmethod
    def _own(cls) -> list[str]:
        """Names of the parameters that are settings of the method."""
        return [name for name in cls._get_param_names() if name not in cls._apart]

    @classmethod
    def _typed(cls, path: list[str | int]) -> str:
        """The Python name of the setting at this path: a parameter, or an entry of `config`."""
        parameters = {setting: name for name, setting in cls._renamed.items()}
        first = str(path[0]) if path else "config"
        name = parameters.get(first, first)
        return place(name, path[1:]) if name in cls._get_param_names() else place("config", path)

    def _seed(self) -> int:
        """The seed of a fit; a method without random numbers ignores it."""
        return SEED

    def _samples(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, Names]:
        """Inputs, outputs with as many axes as given, and the names of both."""
        outputs = names_of(y)
        self._frame = frame_of(X)
        # Values that are not finite are refused here, with the names of their columns.
        check_numbers(X, "X")
        check_numbers(y, "y", outputs)
        check_outputs(y, outputs)
        measured = np.asarray(y)
        if measured.dtype.kind == "f" and measured.ndim in (1, 2):
            check_finite(measured.reshape(len(measured), -1), "y", outputs)
        checks = {"dtype": np.float64, "multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        learned = encoding.learn(X)
        self._columns = other_names(X) if learned is None else None
        if learned is not None:
            validate_data(self, X, skip_check_array=True)
            self._encoding = learned
            x, f = check_X_y(encoding.apply(learned, X), y, ensure_all_finite=False, **checks)
            names: Names = (learned.inputs, outputs)
        else:
            x, f = validate_data(self, X, y, ensure_all_finite=False, **checks)
            names = (input_names(getattr(self, "feature_names_in_", None), self._columns), outputs)
        x, f = contiguous(x), np.asarray(f, np.float64)
        check_finite(x, "X", names[0])
        return x, f, names


@dataclass(kw_only=True, eq=False, repr=False)
class RandomRegressor(Regressor):
    """Base of the estimators whose fit draws random numbers."""

    random_state: RandomState = None

    @classmethod
    def _parameters(cls, record: dict[str, Any]) -> dict[str, Any]:
        return super()._parameters(record) | {"random_state": record["seed"]}

    def _seed(self) -> int:
        return seed(self.random_state)
