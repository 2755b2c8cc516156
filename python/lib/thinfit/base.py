"""What all estimators share: settings in, arrays out, everything computed by the native module."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from . import _native, card, encoding, exporting, planning, plotting, study
from .estimator import Estimator
from .finite import check_finite
from .parameters import SEED, RandomState, place, plain, seed, settings_named, threads
from .progress import progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

Floats = NDArray[np.float64]


class ExtrapolationWarning(UserWarning):
    """Rows to predict lie outside the ranges of the samples, by more than 5 % of a range.

    ``warnings.simplefilter("error", thinfit.ExtrapolationWarning)`` makes it an exception.
    """


Names = tuple[list[str] | None, list[str] | None]


@dataclass(kw_only=True, eq=False, repr=False)
class Regressor(Estimator):
    """Base of all estimators.

    A subclass is a dataclass. The fields it declares itself are the settings of a method in Rust, under the same names
    unless `_renamed` says otherwise.
    """

    n_jobs: int | None = None
    verbose: bool = False

    # Names of the methods behind the estimator; the first is the one whose settings it has.
    _methods: ClassVar[tuple[str, ...]] = ()

    # Settings in Rust of the parameters that have another name in Python.
    _renamed: ClassVar[dict[str, str]] = {"regularization": "lambda"}

    # Parameters that are not settings of the method.
    _apart: ClassVar[tuple[str, ...]] = ("random_state", "n_jobs", "verbose")

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. The model takes its names from pandas and polars frames; text and categories in a frame are encoded,
            dates, row numbers and identifiers left out with a warning.
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
        settings = json.dumps(self._settings() | {"method": self._methods[0], "seed": self._seed()})
        with progress(self.verbose) as report, settings_named(self._typed):
            model = _native.fit(x, _table(f), None, names, None, settings, threads(self.n_jobs), report)
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
        x = self._places(X)
        return self._shape(self._model.predict(x, threads(self.n_jobs)))

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

    def sobol_indices(self, *, bounds: bool = False, ranges: Mapping[str, planning.Range] | None = None) -> Bunch:
        """Variance-based sensitivity indices for independent inputs, uniform over their ranges.

        A column of text counts as one input, whose levels are equally likely. Where inputs depend on each other, a
        warning says so: then see `shapley_effects`.

        Parameters
        ----------
        bounds : bool, default=False
            Whether to find bounds on `first` and `total` as well.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; those of the samples where there is none. The
            inputs of an array are called x1, x2, …

        Returns
        -------
        Bunch
            `names` of the inputs, `first` and `total` (n_inputs,), `second` (n_inputs, n_inputs), what two inputs do
            together beyond what each does alone, the mean squared partial derivatives `derivative` (n_inputs,; 0 for
            text and whole numbers), `mean`, `variance`, and `closed_form`, whether these are exact up to rounding. `second` is empty for
            so many inputs that all pairs would take minutes. With `bounds`, `first_bounds` and `total_bounds`
            (n_inputs, 2): how far the errors of the model, as unseen rows show them, may move an index at most; NaN for
            methods without such errors, and for ranges far beyond the samples. With several outputs, every entry but
            `names` has one more axis in front.

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
        return self._indices(bounds, ranges)

    def _indices(self, bounds: bool = False, ranges: Mapping[str, planning.Range] | None = None) -> Bunch:
        """The indices without a warning."""
        given, jobs = planning.written(ranges or {}), threads(self.n_jobs)
        indices = [self._model.sensitivity(o, given, bounds, jobs) for o in range(self.n_outputs_)]
        known = [one.pop("bounds") for one in indices]
        stacked = {key: np.array([one[key] for one in indices]) for key in indices[0]}
        found = Bunch(**{key: value[0] if self._flat else value for key, value in stacked.items()})
        found.names = np.array([name for name, *_ in self._model.factors], dtype=object)
        if bounds:
            unknown = np.full((2, len(found.names), 2), np.nan)
            both = np.array([unknown if one is None else one for one in known])
            found.first_bounds, found.total_bounds = both[0] if self._flat else both.swapaxes(0, 1)
        return found

    def shapley_effects(self, X: ArrayLike) -> Bunch:
        """Shares of the variance over the rows of `X`, where inputs that go together share what they explain.

        The rows give the distribution: the margins of their columns, and the dependence that the correlations of their
        ranks say (a Gaussian copula). The effects sum to 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of inputs, such as those of the fit; ten or more.

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

        A column of text has one, a column that was left out 0. `encoded_names_` has the names of the inputs that the
        columns become.

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

    @property
    def encoded_names_(self) -> NDArray[np.object_]:
        """Names of the inputs that the columns of X become, such as `material=steel`.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> list(KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2]).encoded_names_)
        ['x1']
        """
        check_is_fitted(self)
        return np.array(self._model.inputs, dtype=object)

    def effect(self, feature: int | str, at: ArrayLike) -> Floats:
        """Mean prediction with one input fixed and the others uniform over their ranges (after their warps, if any).

        Parameters
        ----------
        feature : int or str
            The input, by index or by name; a column of text is one.
        at : array-like of shape (n_points,)
            Values of that input; levels of a text, or their numbers.

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

    def plot_prediction(self, X: ArrayLike, y: ArrayLike, *, output: int = 0, ax: Axes | None = None) -> Axes:
        """Draw predictions against measured values, with 90 % intervals where there are few rows (needs matplotlib).

        Rows that the model was fitted to are known again. Each is predicted by a model that had not seen it, where
        there are such models (`AutoRegressor`, kernels); otherwise the title says that errors are too small.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Measured outputs.
        output : int, default=0
            Which output to draw.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = KernelRidgeRegressor().fit(X, X[:, 0]).plot_prediction(X, X[:, 0])
        >>> ax.get_title()
        '60 rows of the fit, each predicted without it'
        """
        check_is_fitted(self)
        return plotting.plot_prediction(self, X, y, output, ax)

    def plot_residuals(self, X: ArrayLike, y: ArrayLike, *, output: int = 0, ax: Axes | None = None) -> Axes:
        """Draw residuals, measured minus predicted, against predictions (needs matplotlib).

        Rows that the model was fitted to are treated as in `plot_prediction`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Measured outputs.
        output : int, default=0
            Which output to draw.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = KernelRidgeRegressor().fit(X, X[:, 0]).plot_residuals(X, X[:, 0] + 1)
        >>> ax.get_ylabel()
        'y, measured − predicted'
        """
        check_is_fitted(self)
        return plotting.plot_residuals(self, X, y, output, ax)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
    ) -> str:
        """What was learned and how good it is on new samples, as text and as a page for any browser.

        Parameters
        ----------
        path : path-like or None, default=None
            An HTML file to write as well: one page that opens offline, with a slider for every input.
        X : array-like of shape (n_samples, n_features) or None, default=None
            Inputs of samples to show on the page beside their predictions.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs) or None, default=None
            Outputs of these samples.

        Returns
        -------
        str
            Some lines of text.

        Examples
        --------
        >>> from thinfit import AutoRegressor
        >>> model = AutoRegressor(budget=1, random_state=0).fit([[0.0], [0.3], [0.5], [0.7], [1.0]], [0, 1, 2, 3, 4])
        >>> "tried; the first was chosen" in model.report()
        True
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "report.html"
        ...     text = model.report(path)
        ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
        True
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("`X` and `y`: expected both or neither, found one of them")
        if path is not None:
            rows = None if X is None or y is None else (self._inputs(X), _table(np.asarray(y, np.float64)))
            self._model.page(path, rows, threads(self.n_jobs))
        elif X is not None:
            raise ValueError("`path`: expected a file for the page that shows `X` and `y`, found none")
        return self._model.report()

    def minimise(
        self,
        maximise: bool | str | Sequence[str] = False,
        fix: Mapping[str, float | str] | None = None,
        within: str | Sequence[str] | None = None,
        output: int | str | Sequence[int | str] | None = None,
        random_state: RandomState = 0,
        ranges: Mapping[str, planning.Range] | None = None,
    ) -> study.Optimum | study.Front:
        """Where an output is least or largest, or the Pareto front of several outputs.

        Parameters
        ----------
        maximise : bool, str or sequence of str, default=False
            Whether to maximise; of several outputs, which.
        fix : mapping of str to float or str, default=None
            Columns to keep at a number or a level.
        within : str or sequence of str, default=None
            Linear constraints on columns of numbers, such as ``"2*x2 - x3 <= 4"``, with ``<=``, ``>=`` or ``=``.
        output : int, str or sequence of them, default=None
            One output for its minimum, several for their front; all if None.
        random_state : int, RandomState instance or None, default=0
            Seed of the search.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; those of the samples where there is none. The
            inputs of an array are called x1, x2, …

        Returns
        -------
        Optimum or Front
            The minimum with its interval and what to think of it, or points of which none is better than another in
            every output. `X` has the points as rows to predict at.

        Examples
        --------
        >>> from thinfit import ARDGaussianProcessRegressor
        >>> X = np.random.default_rng(0).random((40, 2))
        >>> model = ARDGaussianProcessRegressor().fit(X, (X[:, 0] - 0.4) ** 2 + X[:, 1])
        >>> best = model.minimise(within="x1 + x2 >= 0.6")
        >>> round(best.point["x1"], 2), best.held_by
        (0.6, ['x1 + x2 >= 0.6'])
        """
        check_is_fitted(self)
        return study.minimise(self, maximise, fix, within, output, random_state, ranges)

    def propagate(
        self, inputs: Mapping[str, study.Distribution], rows: int = 100_000, *, random_state: RandomState = 0
    ) -> study.Propagation:
        """How the outputs are distributed where the inputs are uncertain, by drawing inputs.

        Parameters
        ----------
        inputs : mapping of str to distribution
            For each column a number or level, ``(low, high)``, ``{"normal": (mean, deviation)}``,
            ``{"uniform": (low, high)}``, ``{"lognormal": (median, factor)}``, of which 68 % lie between median/factor
            and median * factor, ``{"triangular": (low, mode, high)}``, or probabilities of levels such as
            ``{"steel": 0.7, "brass": 0.3}``. Other columns are uniform over the ranges of the samples.
        rows : int, default=100000
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.

        Returns
        -------
        Propagation
            For each output mean, standard deviation and quantiles with their standard errors, of the model and of new
            observations, and the sorted draws.

        Examples
        --------
        >>> from thinfit import ARDGaussianProcessRegressor
        >>> X = np.random.default_rng(0).random((40, 2))
        >>> model = ARDGaussianProcessRegressor().fit(X, X[:, 0] + X[:, 1])
        >>> found = model.propagate({"x1": {"normal": (0.5, 0.1)}, "x2": 0.3}, 2000)
        >>> round(found.outputs[0].model.mean.value, 1)
        0.8
        """
        check_is_fitted(self)
        return study.propagate(self, inputs, rows, random_state)

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

    def export(
        self,
        path: str | os.PathLike[str],
        language: str | None = None,
        *,
        precision: str = "float64",
        digits: int = 6,
    ) -> list[Path]:
        """Write the model in another language, as a function without dependencies, a graph or a formula.

        Parameters
        ----------
        path : path-like
            The file, whose name is that of the function in it. C has a header beside it.
        language : {"onnx", "c", "python", "javascript", "latex"} or None, default=None
            None means what the ending of the file says: .onnx, .c, .py, .js or .tex.
        precision : {"float64", "float32"}, default="float64"
            Floating-point type of an ONNX graph.
        digits : int, default=6
            Significant digits of a LaTeX formula.

        Returns
        -------
        list of Path
            The files that were written.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in model.export(pathlib.Path(folder) / "pump.c")]
        ['pump.c', 'pump.h']
        """
        check_is_fitted(self)
        return exporting.export(self._model, path, language, precision, digits)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, in the format of the Rust library and the command line.

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
        """Read a model from a JSON file, written by Python, Rust or the command line.

        The parameters are those of the fit, so that a clone of the estimator fits in the same way. A file does not say
        whether y had one axis or one column: predictions of a single output have one axis.

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
        if all(columns != [f"{letter}{j + 1}" for j in range(len(columns))] for letter in "xc"):
            estimator.feature_names_in_ = np.array(columns, dtype=object)
        estimator.n_features_in_ = len(columns)
        return estimator._learn(model, len(model.outputs) == 1)

    def _settings(self) -> dict[str, Any]:
        """The parameters as settings of the method in Rust."""
        return {self._renamed.get(name, name): plain(getattr(self, name), name) for name in self._own()}

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
        """What the user typed for the setting at this path: a parameter, or a place in `config`."""
        parameters = {setting: name for name, setting in cls._renamed.items()}
        first = str(path[0]) if path else "config"
        name = parameters.get(first, first)
        return place(name, path[1:]) if name in cls._get_param_names() else place("config", path)

    def _seed(self) -> int:
        """The seed of a fit; a method without random numbers ignores it."""
        return SEED

    def _samples(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, Names]:
        """Inputs, outputs with as many axes as given, and the names of both."""
        outputs = _names(y)
        # What `suggest` returns its rows in.
        self._frame = type(X) if type(X).__module__.split(".")[0] in ("pandas", "polars") else None
        # Values that are not finite are refused here, with the names of their columns.
        measured = np.asarray(y)
        if measured.dtype.kind == "f" and measured.ndim in (1, 2):
            check_finite(measured.reshape(len(measured), -1), "y", outputs)
        checks = {"dtype": np.float64, "multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        learned = encoding.learn(X)
        if learned is not None:
            validate_data(self, X, skip_check_array=True)
            self._encoding = learned
            x, f = check_X_y(encoding.apply(learned, X), y, ensure_all_finite=False, **checks)
            names: Names = (learned.inputs, outputs)
        else:
            x, f = validate_data(self, X, y, ensure_all_finite=False, **checks)
            inputs = getattr(self, "feature_names_in_", None)
            names = (None if inputs is None else list(inputs), outputs)
        x, f = contiguous(x), np.asarray(f, np.float64)
        check_finite(x, "X", names[0])
        return x, f, names

    def _inputs(self, X: ArrayLike) -> Floats:
        """Inputs to predict at."""
        check_is_fitted(self)
        if self._model.encoding is not None:
            x = encoding.apply(self._model.encoding, X)
            check_finite(x, "X", self._model.inputs)
            return x
        # In a file, the names x1, x2, … may mean that there were none; a frame that has them must have them in order.
        columns, inputs = [str(name) for name in getattr(X, "columns", [])], self._model.inputs
        nameless = not hasattr(self, "feature_names_in_")
        if nameless and columns != inputs and sorted(columns) == sorted(inputs):
            raise ValueError(f"X: expected the columns in the order {', '.join(inputs)}, found {', '.join(columns)}")
        x = contiguous(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))
        check_finite(x, "X", None if nameless else inputs)
        return x

    def _places(self, X: ArrayLike) -> Floats:
        """Inputs to predict at; warns of rows outside the ranges of the samples."""
        x = self._inputs(X)
        outside = self._model.outside(x)
        if outside is not None:
            warnings.warn(f"{outside}, where the model extrapolates", ExtrapolationWarning, stacklevel=3)
        return x

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        """Set the learned attributes; `flat` says that y has one axis."""
        learned = self.__dict__.pop("_encoding", None)
        self._model, self._flat = model if learned is None else model.encoded(learned), flat
        self.record_ = json.loads(model.record)
        self.n_outputs_ = len(model.outputs)
        return self

    def _repr_html_inner(self) -> str:
        """What a notebook shows: of a fitted model a card, then its parameters."""
        parameters: str = super()._repr_html_inner()
        if not hasattr(self, "_model"):
            return parameters
        return f"{card.card(self)}<details><summary>parameters</summary>{parameters}</details>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def _shape(self, y: Floats) -> Floats:
        """One axis if y had one in `fit`."""
        return y[:, 0] if self._flat else y


@dataclass(kw_only=True, eq=False, repr=False)
class RandomRegressor(Regressor):
    """Base of the estimators whose fit draws random numbers."""

    random_state: RandomState = None

    @classmethod
    def _parameters(cls, record: dict[str, Any]) -> dict[str, Any]:
        return super()._parameters(record) | {"random_state": record["seed"]}

    def _seed(self) -> int:
        return seed(self.random_state)


class CalibratedRegressor(Regressor):
    """Base of the estimators that predict intervals."""

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Bound a new observation from below and above, with probability `level`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.9
            Probability; the bounds are calibrated on samples that were left out. Those of kernel models are infinite
            where it takes more samples. All grow outside the ranges of the samples, and are infinite from 20 % of a
            range on.

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
        add_to: ArrayLike | None = None,
        random_state: RandomState = 0,
    ) -> Any:
        """Propose the rows to sample next, where the model learns most from them.

        Parameters
        ----------
        rows : int, default=8
            Number of rows, which are chosen together, the most useful first.
        goal : {"uncertainty", "minimum", "maximum"}, default="uncertainty"
            Lower the uncertainty everywhere, or find where an output is least or largest.
        output : int, default=0
            The output that is searched.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; those of the samples where there is none. The
            inputs of an array are called x1, x2, …
        add_to : array-like of shape (n_rows, n_features) or None, default=None
            Rows that the model was not fitted to but that are planned or taken: new ones keep away from them.
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
            taken,
            seed(random_state),
            threads(self.n_jobs),
        )
        columns = {name: np.array(values) for name, values in found}
        if not hasattr(self, "feature_names_in_"):
            return np.column_stack(list(columns.values()))
        frame = getattr(self, "_frame", None)
        return columns if frame is None else frame(columns)


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


def contiguous(a: Floats) -> Floats:
    """The array itself if the library can view it, otherwise a copy."""
    flags = a.flags
    return a if flags.aligned and (flags.c_contiguous or flags.f_contiguous) else np.array(a, order="C")


def _table(y: Floats) -> Floats:
    """Outputs with two axes."""
    return contiguous(y.reshape(len(y), -1))


def _names(y: Any) -> list[str] | None:
    """Names of the outputs, if y is a frame or a series that has some."""
    names: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if all(isinstance(name, str) and name for name in names) else None
