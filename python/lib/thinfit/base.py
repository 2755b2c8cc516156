"""What the estimators share: parameters in, arrays out, everything computed by the native module."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _native, plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

Floats = NDArray[np.float64]
RandomState = int | np.random.RandomState | None
Names = tuple[list[str] | None, list[str] | None]


class Regressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all estimators.

    A subclass is a dataclass whose fields are the settings of a method in Rust, under their names there, except that
    `lambda` is called `regularization`.
    """

    n_jobs: int | None
    verbose: bool

    # Names of the methods that the estimator stands for, the first of them that of its settings.
    _methods: ClassVar[tuple[str, ...]] = ()

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Frames of pandas and polars give their names to the model.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.

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
        settings = _json(self._settings() | {"method": self._methods[0]})
        with _progress(self.verbose) as report, _parameters_named(_PARAMETERS):
            model = _native.fit_baseline(x, _table(f), names, settings, self._seed(), _threads(self.n_jobs), report)
        return self._learn(model, f.ndim == 1)

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the outputs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
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
        x = self._inputs(X)
        return self._shape(self._model.predict(x, _threads(self.n_jobs)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, the same as that of Rust and of the command line.

        Parameters
        ----------
        path : path-like
            The file.

        Examples
        --------
        >>> import tempfile, pathlib, thinfit
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "model.json"
        ...     model = thinfit.GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        ...     model.save(path)
        ...     bool((thinfit.load(path).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        self._model.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a JSON file, whoever wrote it.

        The parameters are those of the fit, so that a clone of the estimator fits in the same way. A file does not tell
        a y with one column from one without columns: predictions of one output have one axis.

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
            raise ValueError(
                f"{path}: expected a model of {cls.__name__} ({', '.join(cls._methods)}), found one of "
                f"`{model.method}`; read it with `thinfit.load`"
            )
        return cls._restore(model)

    @classmethod
    def _restore(cls, model: _native.Model) -> Self:
        """A fitted estimator with the parameters of the fit."""
        try:
            estimator = cls(**cls._parameters(json.loads(model.record)))
        except (KeyError, TypeError) as error:
            raise ValueError(f"the settings of the model are not those of {cls.__name__}: {error}") from error
        # Tables without names have x1, x2, … here and in Rust, c1, c2, … on the command line.
        if all(model.inputs != [f"{letter}{j + 1}" for j in range(len(model.inputs))] for letter in "xc"):
            estimator.feature_names_in_ = np.array(model.inputs, dtype=object)
        estimator.n_features_in_ = len(model.inputs)
        return estimator._learn(model, len(model.outputs) == 1)

    def _settings(self) -> dict[str, Any]:
        """The parameters as settings of the method in Rust."""
        return {_SETTINGS.get(name, name): getattr(self, name) for name in self._own()}

    @classmethod
    def _parameters(cls, record: dict[str, Any]) -> dict[str, Any]:
        """The parameters that the record of a model tells of."""
        # A file that is older than a parameter has its default.
        known, defaults = record["settings"], cls()
        settings = {name: known.get(_SETTINGS.get(name, name), getattr(defaults, name)) for name in cls._own()}
        parameters = {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
        return parameters | ({"random_state": record["seed"]} if hasattr(cls, "random_state") else {})

    @classmethod
    def _own(cls) -> list[str]:
        """Names of the parameters that are settings of the method."""
        return [name for name in cls._get_param_names() if name not in ("random_state", "n_jobs", "verbose")]

    def _seed(self) -> int:
        """The seed of a fit: an int as it is, otherwise a draw."""
        state = getattr(self, "random_state", 0)
        if isinstance(state, Integral):
            seed = int(state)
            if not 0 <= seed < 2**63:
                raise ValueError(f"random_state: expected a number from 0 to 2**63 - 1, found {seed}")
            return seed
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def _samples(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, Names]:
        """Inputs, outputs as they were given, and the names of both."""
        outputs = _names(y)
        # The library finds values that are not finite, and says where.
        checks = {"dtype": np.float64, "multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        x, f = validate_data(self, X, y, ensure_all_finite=False, **checks)
        inputs = getattr(self, "feature_names_in_", None)
        return _contiguous(x), np.asarray(f, np.float64), (None if inputs is None else list(inputs), outputs)

    def _inputs(self, X: ArrayLike) -> Floats:
        """Inputs to predict at."""
        check_is_fitted(self)
        # A file does not tell names such as x1, x2, … from none; frames with the same in another order are refused.
        columns, inputs = [str(name) for name in getattr(X, "columns", [])], self._model.inputs
        nameless = not hasattr(self, "feature_names_in_")
        if nameless and columns != inputs and sorted(columns) == sorted(inputs):
            raise ValueError(f"expected the columns in the order {', '.join(inputs)}, found {', '.join(columns)}")
        return _contiguous(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        """Set the learned attributes; `flat` if y has one axis."""
        self._model, self._flat = model, flat
        self.record_ = json.loads(model.record)
        self.n_outputs_ = len(model.outputs)
        return self

    def _shape(self, y: Floats) -> Floats:
        """One axis if `fit` was given one."""
        return y[:, 0] if self._flat else y


class UncertainRegressor(Regressor):
    """Base of the estimators that have standard deviations."""

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
        std : ndarray of the shape of y, only where `return_std` is true
            Standard deviations of new observations: noise, and what is not known of the function.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> y, std = model.predict([[0.5]], return_std=True)
        >>> y.round(3), std.shape
        (array([0.25]), (1,))
        """
        x, threads = self._inputs(X), _threads(self.n_jobs)
        y = self._shape(self._model.predict(x, threads))
        if return_std:
            return y, self._shape(self._model.deviation(x, threads))
        return y


class NetworkRegressor(Regressor):
    """Base of the estimators whose model is a two-layer network: its parts, its derivatives, its pictures."""

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
        x, threads = self._inputs(X), _threads(self.n_jobs)
        gradient = [self._model.gradient(x, o, threads) for o in range(self.n_outputs_)]
        return gradient[0] if self._flat else np.stack(gradient, axis=1)

    def sobol_indices(self) -> Bunch:
        """Variance-based sensitivity indices over the ranges of the samples, inputs independent and uniform.

        Returns
        -------
        Bunch
            `first` and `total` (n_features,), `second` (n_features, n_features), `derivative` (n_features,), the mean
            squared partial derivatives, `mean`, `variance`, and `closed_form`, whether these are exact up to rounding.
            With several outputs every entry has one more axis in front.

        Examples
        --------
        >>> from thinfit import GFTRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.sobol_indices().total.round(2) + 0.0
        array([1., 0.])
        """
        check_is_fitted(self)
        indices = [self._model.sensitivity(o, _threads(self.n_jobs)) for o in range(self.n_outputs_)]
        stacked = {key: np.array([one[key] for one in indices]) for key in indices[0]}
        return Bunch(**{key: value[0] if self._flat else value for key, value in stacked.items()})

    @property
    def feature_importances_(self) -> Floats:
        """Total Sobol indices, averaged over the outputs and scaled to the sum 1; zeros for a constant.

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
        """Mean prediction where one input is fixed and the others are uniform over their ranges.

        Parameters
        ----------
        feature : int or str
            The input, by number or by name.
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
                raise ValueError(f"expected an input of the model ({', '.join(inputs)}), found {feature!r}")
            feature = inputs.index(feature)
        if not 0 <= feature < len(inputs):
            raise ValueError(f"expected an input from 0 to {len(inputs) - 1}, found {feature}")
        points = np.atleast_1d(np.asarray(at, np.float64)).ravel().tolist()
        threads = _threads(self.n_jobs)
        effects = [self._model.effect(o, feature, points, threads) for o in range(self.n_outputs_)]
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
            The picture.

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
            The picture.

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
            A file to write it to.
        precision : {"float64", "float32"}, default="float64"
            Floating-point numbers of the graph.

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
        self.features_ = hidden[:, :d] / inputs[1]
        self.biases_ = hidden[:, d:].sum(axis=1) - self.features_ @ inputs[0]
        fourier = model.activation == "fourier"
        coef = (output[:n] + 1j * output[n:] if fourier else output[:n]) * outputs[1] / n
        self.coef_ = coef[:, 0] if flat else coef
        intercept = outputs[0] if fourier else outputs[0] + outputs[1] * output[n]
        self.intercept_ = float(intercept[0]) if flat else intercept
        return self


# Settings whose name in Rust is no name for a parameter in Python.
_SETTINGS = {"regularization": "lambda"}
_PARAMETERS = {setting: parameter for parameter, setting in _SETTINGS.items()}


def _contiguous(a: Floats) -> Floats:
    """The array itself where the library can look at it as it is, otherwise a copy."""
    flags = a.flags
    return a if flags.aligned and (flags.c_contiguous or flags.f_contiguous) else np.array(a, order="C")


def _table(y: Floats) -> Floats:
    """Outputs with two axes."""
    return _contiguous(y.reshape(len(y), -1))


def _json(settings: dict[str, Any]) -> str:
    """Settings as the native module reads them, with numpy's numbers and arrays as Python's own."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.generic | np.ndarray):
            return value.tolist()
        raise TypeError(f"expected numbers, strings, lists and dicts as settings, found {value!r}")

    for name, value in settings.items():
        if isinstance(value, float) and not np.isfinite(value):
            raise ValueError(f"{_PARAMETERS.get(name, name)}: expected a finite number, found {value}")
    return json.dumps(settings, default=plain)


def _names(y: Any) -> list[str] | None:
    """Names of the outputs, where a frame or a series has some."""
    names: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if all(isinstance(name, str) and name for name in names) else None


def _threads(n_jobs: int | None) -> int:
    """Threads for the native module, 0 for all cores; never more than those, which would help nobody."""
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(limit) if limit.isdecimal() else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs: expected None, a positive or a negative number, found {n_jobs!r}")
    cores = joblib.cpu_count()
    return min(int(n_jobs), cores) if n_jobs > 0 else max(cores + 1 + int(n_jobs), 1)


@contextmanager
def _parameters_named(names: dict[str, str]) -> Iterator[None]:
    """Errors that name the parameter, not the setting that it becomes; `names` has the parameters by their settings."""
    try:
        yield
    except ValueError as error:
        text = re.sub(
            r"(?<=^`)\w+(?=`)|(?<=^config field `)\w+(?=`)", lambda word: names.get(word[0], word[0]), str(error)
        )
        raise ValueError(text) from None


@contextmanager
def _progress(verbose: bool) -> Iterator[Callable[[float, float | None], None] | None]:
    """A bar of tqdm, as the function that the native module reports to."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("verbose=True needs tqdm; pip install thinfit[progress]") from error
    with tqdm(total=100, desc="fit", bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}{postfix}") as bar:

        def report(done: float, validation: float | None) -> None:
            bar.n = max(bar.n, round(100 * done))
            if validation is not None and 0 < validation < 1e300:
                bar.set_postfix_str(f"validation error {validation:.2e}", refresh=False)
            bar.refresh()

        yield report
        bar.n = 100
        bar.refresh()
