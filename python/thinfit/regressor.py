"""Estimators with scikit-learn's interface: parameters in, arrays out, everything computed by the native module."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from . import _native, plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

Floats = NDArray[np.float64]


class GFTRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Thin two-layer network with trained features.

    The model is :math:`f(x) = \mathrm{Re} \sum_l b_l \Phi(\langle w_l, x\rangle)/n`. The hidden weights w are trained
    by generative feature training, the output weights b solve a least squares problem exactly.

    Parameters
    ----------
    method : {"gft-r", "gft", "f-opt", "random"}, default="gft-r"
        How the hidden weights are found: a generator network draws them and the draw is refined (GFT-r), the generator
        alone (GFT), the weights themselves are trained (F-Opt), or they are drawn once.
    activation : {"fourier", "cosine", "sigmoid", "tanh", "relu"}, default="fourier"
        The function :math:`\Phi`.
    width : int, default=100
        Number of hidden neurons, n.
    regularization : float or "auto", default=0.0
        Strength :math:`\lambda` of the regulariser, for noisy samples. "auto" chooses by validation, in six runs.
    preset : {"fast", "paper"}, default="fast"
        Settings of everything that has no parameter here.
    validation_fraction : float, default=0.1
        Fraction of the samples that choose between states and calibrate intervals.
    random_state : int, RandomState instance or None, default=None
        An int is the seed of the fit, the same as in the Rust library and on the command line.
    n_jobs : int or None, default=None
        Threads of fits and predictions; they never change a result. None takes the number in the environment variable
        ``OMP_NUM_THREADS``, which joblib and Dask set in their workers, or else all cores. Negative numbers count back
        from the number of cores, as in joblib.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).
    config : dict or None, default=None
        Any other setting of the library, merged over the preset; ``{"polish": {"steps": 0}}`` for instance.

    Attributes
    ----------
    features_ : ndarray of shape (width, n_features_in_)
        Hidden weights w, in the units of the data.
    biases_ : ndarray of shape (width,)
        Offsets of the features.
    coef_ : ndarray of shape (width,) or (width, n_outputs)
        Output weights, complex for "fourier": the prediction is
        ``intercept_ + (phi(X @ features_.T + biases_) @ coef_).real``.
    intercept_ : float or ndarray of shape (n_outputs,)
        Constant of the prediction.
    lambda_ : float
        Strength of the regulariser in use.
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, where `X` had names.
    n_outputs_ : int
        Number of outputs.
    validation_score_ : float
        R² on the validation samples, which trained no feature.
    history_ : list of dict
        The learning curve: phase, step, loss and validation error in scaled outputs.
    record_ : dict
        How the model was made: configuration, version, validation errors.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import GFTRegressor
    >>> X = np.random.default_rng(0).random((80, 2))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 0] * X[:, 1]
    >>> model = GFTRegressor(width=8, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.999
    True
    """

    def __init__(
        self,
        *,
        method: str = "gft-r",
        activation: str = "fourier",
        width: int = 100,
        regularization: float | str = 0.0,
        preset: str = "fast",
        validation_fraction: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        config: dict[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.activation = activation
        self.width = width
        self.regularization = regularization
        self.preset = preset
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.config = config

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Frames of pandas and polars give their names to the model.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts as the sample twice.

        Returns
        -------
        GFTRegressor
            The estimator itself.

        Examples
        --------
        >>> X = [[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]]
        >>> GFTRegressor(width=2, random_state=0).fit(X, [0, 1, 2, 3, 4, 5]).n_features_in_
        1
        """
        outputs = _names(y)
        # The library finds values that are not finite, and says where.
        checks = {"dtype": np.float64, "multi_output": True, "y_numeric": True, "ensure_min_samples": 2}
        x, f = validate_data(self, X, y, ensure_all_finite=False, **checks)
        weights = None
        if sample_weight is not None:
            weights = np.ascontiguousarray(_check_sample_weight(sample_weight, x, dtype=np.float64))
        names = getattr(self, "feature_names_in_", None)
        with _progress(self.verbose) as progress:
            model = _native.fit(
                _contiguous(x),
                _contiguous(np.asarray(f, np.float64).reshape(len(f), -1)),
                weights,
                (None if names is None else list(names), outputs),
                self.preset,
                json.dumps(self._settings(), default=_plain),
                _threads(self.n_jobs),
                progress,
            )
        return self._learn(model, f.ndim == 1)

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
            Standard deviations of new observations: noise, and what noise does to the model.

        Examples
        --------
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> y, std = model.predict([[0.5]], return_std=True)
        >>> y.round(3), std.shape
        (array([0.25]), (1,))
        """
        X, threads = self._check(X), _threads(self.n_jobs)
        y = self._shape(self._model.predict(X, threads))
        if return_std:
            return y, self._shape(self._model.deviation(X, threads))
        return y

    def predict_interval(self, X: ArrayLike, level: float = 0.9) -> tuple[Floats, Floats]:
        """Bounds between which a new observation lies with probability `level`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        level : float, default=0.9
            Probability, calibrated on the validation samples.

        Returns
        -------
        low, high : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The bounds.

        Examples
        --------
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> low, high = model.predict_interval([[0.5]])
        >>> bool(low[0] <= high[0])
        True
        """
        X = self._check(X)
        low, high = self._model.interval(X, level, _threads(self.n_jobs))
        return self._shape(low), self._shape(high)

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
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0] ** 2)
        >>> model.predict_gradient([[0.5]]).round(2)
        array([[1.]])
        """
        X, threads = self._check(X), _threads(self.n_jobs)
        gradient = [self._model.gradient(X, o, threads) for o in range(self.n_outputs_)]
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
        """Total Sobol' indices, averaged over the outputs and scaled to the sum 1 (zeros for a constant)."""
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
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.effect(0, [0.25, 0.75]).round(2)
        array([0.25, 0.75])
        """
        check_is_fitted(self)
        at = np.asarray(at, np.float64)
        if isinstance(feature, str):
            if feature not in self._model.inputs:
                raise ValueError(f"expected an input of the model ({', '.join(self._model.inputs)}), found {feature!r}")
            feature = self._model.inputs.index(feature)
        effects = [self._model.effect(o, feature, at.tolist(), _threads(self.n_jobs)) for o in range(self.n_outputs_)]
        return self._shape(np.array(effects).T)

    def plot_features(self, ax: Axes | None = None) -> Axes:
        """Draw the hidden weights (needs matplotlib).

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
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_effects()
        >>> len(ax.lines)
        2
        """
        check_is_fitted(self)
        return plotting.plot_effects(self, ax)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Draw the learning curve (needs matplotlib).

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
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_history()
        >>> ax.get_yscale()
        'log'
        """
        check_is_fitted(self)
        return plotting.plot_history(self, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, the same as the command line's.

        Parameters
        ----------
        path : path-like
            The file.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "model.json"
        ...     model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        ...     model.save(path)
        ...     (GFTRegressor.load(path).predict(X) == model.predict(X)).all()
        np.True_
        """
        check_is_fitted(self)
        self._model.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model from a JSON file, whoever wrote it.

        The parameters are those of the fit, so that a clone of the estimator fits in the same way.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        GFTRegressor
            A fitted estimator.

        Examples
        --------
        >>> GFTRegressor.load("no-such-file.json")
        Traceback (most recent call last):
        FileNotFoundError: cannot read no-such-file.json: No such file or directory (os error 2)
        """
        model = _native.Model.load(path)
        config = json.loads(model.record)["config"]
        parameters = {name: config.pop(key) for key, name in _FIELDS.items()}
        estimator = cls(**parameters, config=_difference(config, json.loads(_native.preset("fast"))) or None)
        # Tables without names have x1, x2, … here and in Rust, c1, c2, … on the command line.
        if all(model.inputs != [f"{letter}{j + 1}" for j in range(len(model.inputs))] for letter in "xc"):
            estimator.feature_names_in_ = np.array(model.inputs, dtype=object)
        estimator.n_features_in_ = len(model.inputs)
        return estimator._learn(model, len(model.outputs) == 1)

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
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> len(GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).to_onnx()) > 100
        True
        """
        check_is_fitted(self)
        return self._model.onnx(precision, path)

    def _settings(self) -> dict[str, Any]:
        """The library's configuration as far as it differs from the preset."""
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state)
        else:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        given = {key: getattr(self, name) for key, name in _FIELDS.items()} | {"seed": seed}
        config = dict(self.config or {})
        for key, name in (_FIELDS | {"threads": "n_jobs"}).items():
            if key in config:
                raise ValueError(f"config has `{key}`, which is the parameter `{name}`; give it there")
        return config | given

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        """Sets the learned attributes."""
        self._model, self._flat = model, flat
        self.record_ = json.loads(model.record)
        self.history_ = self.record_.pop("history")
        self.lambda_ = self.record_["lambda"]
        self.n_outputs_ = len(model.outputs)
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

    def _check(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        return _contiguous(validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False))

    def _shape(self, y: Floats) -> Floats:
        """One axis if `fit` was given one."""
        return y[:, 0] if self._flat else y


# Fields of the library's configuration that are parameters of their own.
_FIELDS = {
    "method": "method",
    "activation": "activation",
    "width": "width",
    "lambda": "regularization",
    "validation": "validation_fraction",
    "seed": "random_state",
}


def _contiguous(a: Floats) -> Floats:
    """The array itself where the library can look at it as it is, otherwise a copy."""
    flags = a.flags
    return a if flags.aligned and (flags.c_contiguous or flags.f_contiguous) else np.array(a, order="C")


def _plain(value: Any) -> Any:
    """Numpy's numbers and arrays as Python's own, for JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"config: expected numbers, strings, lists and dicts, found {value!r}")


def _names(y: Any) -> list[str] | None:
    """Names of the outputs, where a frame or a series has some."""
    names: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if all(isinstance(name, str) and name for name in names) else None


def _difference(config: dict[str, Any], preset: dict[str, Any]) -> dict[str, Any]:
    """The fields of `config` that are not those of `preset`."""
    return {key: value for key, value in config.items() if value != preset.get(key)}


def _threads(n_jobs: int | None) -> int:
    """Threads for the native module, 0 for all cores."""
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(limit) if limit.isdecimal() else 0
    if n_jobs == 0:
        raise ValueError("n_jobs: expected None, a positive or a negative number, found 0")
    return n_jobs if n_jobs > 0 else max((os.cpu_count() or 1) + 1 + n_jobs, 1)


@contextmanager
def _progress(verbose: bool) -> Iterator[Callable[[float, float], None] | None]:
    """A bar of tqdm, as the function that the native module reports to."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        raise ImportError("verbose=True needs tqdm; pip install thinfit[progress]") from error
    with tqdm(total=100, desc="fit", bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed} {postfix}") as bar:

        def report(done: float, validation: float) -> None:
            bar.n = max(bar.n, round(100 * done))
            if 0 < validation < 1e300:
                bar.set_postfix_str(f"validation error {validation:.2e}", refresh=False)
            bar.refresh()

        yield report
        bar.n = 100
        bar.refresh()
