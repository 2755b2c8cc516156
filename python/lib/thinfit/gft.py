"""Generative feature training as an estimator."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import _native, cuda, plotting
from .arrays import group_numbers, table, weights_of
from .calibrated import UncertainRegressor
from .network import NetworkRegressor
from .parameters import place, plain, settings_named, threads
from .progress import progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self


@dataclass(kw_only=True, eq=False, repr=False)
class GFTRegressor(UncertainRegressor, NetworkRegressor):
    r"""Thin two-layer network with trained features.

    The model is :math:`f(x) = \mathrm{Re} \sum_l b_l \Phi(\langle w_l, x\rangle)/n`. The hidden weights w are trained
    by generative feature training; the output weights b are the exact solution of a least squares problem.

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
    validation_fraction : float, default=0.1
        Fraction of the samples held out to choose between candidates and to calibrate intervals.
    preset : {"fast", "paper"}, default="fast"
        Settings of everything that is not a parameter here.
    config : dict or None, default=None
        Any other settings of the library, merged over the preset, for instance ``{"polish": {"steps": 0}}``.
    random_state : int, RandomState instance or None, default=None
        An int is the seed of the fit, as in the Rust library and on the command line, and None is the default there:
        every fit of the same samples is the same. A RandomState draws one.
    n_jobs : int or None, default=None
        Number of threads; it never changes a result. None means the number in the environment variable
        ``OMP_NUM_THREADS``, which joblib and Dask set in their workers, or all cores if it is not set. Negative numbers
        count back from the number of cores, as in joblib.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).
    device : {"auto", "cuda", "cpu"}, default="auto"
        Where the network is trained. "cuda" is an NVIDIA GPU (needs ``thinfit[cuda]`` or the CUDA toolkit) or an error,
        "auto" the GPU if there is one and the training would take more than about half a minute on two cores.

    Attributes
    ----------
    features_ : ndarray of shape (width, n_features_in_)
        Hidden weights w, in the units of the data.
    biases_ : ndarray of shape (width,)
        Offsets of the features.
    coef_ : ndarray of shape (width,) or (width, n_outputs_)
        Output weights, complex for "fourier": the prediction is
        ``intercept_ + (phi(X @ features_.T + biases_) @ coef_).real``.
    intercept_ : float or ndarray of shape (n_outputs_,)
        Constant term of the prediction.
    lambda_ : float
        Strength of the regulariser in training; the best of the candidates for "auto".
    n_features_in_ : int
        Number of inputs.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the inputs, if `X` had names.
    n_outputs_ : int
        Number of outputs.
    winner_ : {"trained", "polished", "polished_random"} or None
        Whose features the validation samples chose: those of `method`, the same after a polish, or polished random
        ones, in which the training has no part. None without a polish. ``record_["selection"]["trained_mse"]`` has the
        mean squared errors of `method` without it, on the same samples as ``record_["validation_mse"]``.
    validation_score_ : float
        R² on the validation samples, on which no feature was trained.
    history_ : list of dict
        The learning curve: phase, step, loss and validation error, for scaled outputs.
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

    method: str = "gft-r"
    activation: str = "fourier"
    width: int = 100
    regularization: float | str = 0.0
    validation_fraction: float = 0.1
    preset: str = "fast"
    config: dict[str, Any] | None = None
    device: str = "auto"

    _methods = ("gft-r", "gft", "f-opt", "random")
    _renamed = {
        "regularization": "lambda",
        "validation_fraction": "validation",
        "random_state": "seed",
        "n_jobs": "threads",
    }
    _apart = (*UncertainRegressor._apart, "preset", "config", "device")

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Column names are taken from pandas and polars frames.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts a sample twice.
        groups : array-like of shape (n_samples,), default=None
            Group labels, such as the setting of repeated readings or the run of a step: the validation split divides no
            group. None means that all samples are independent.

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
        x, f, names = self._samples(X, y)
        weights = weights_of(sample_weight, x)
        settings, jobs = json.dumps(self._settings()), threads(self.n_jobs)
        device, numbers = (self.device, cuda.load), group_numbers(groups, len(x))
        with progress(self.verbose) as report, settings_named(self._typed):
            model = _native.fit(x, table(f), weights, numbers, names, self.preset, settings, jobs, report, device)
        return self._learn(model, f.ndim == 1)

    def plot_history(self, ax: Axes | None = None) -> Axes:
        """Plot the learning curve (needs matplotlib).

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
        >>> import numpy as np
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).plot_history()
        >>> ax.get_yscale()
        'log'
        """
        check_is_fitted(self)
        return plotting.plot_history(self, ax)

    def _settings(self) -> dict[str, Any]:
        """Settings of the library that may differ from the preset."""
        if not isinstance(self.preset, str):
            raise TypeError(f"`preset`: expected a string, found {self.preset!r}")
        if not isinstance(self.device, str):
            raise TypeError(f"`device`: expected a string, found {self.device!r}")
        parameters = super()._settings() | {"seed": self._seed()}
        if self.method not in self._methods:
            raise ValueError(f"`method`: expected one of {', '.join(self._methods)}, found {self.method!r}")
        config = plain({} if self.config is None else self.config, "config")
        if not isinstance(config, dict):
            raise ValueError(f"`config`: expected a dict or None, found {self.config!r}")
        others = json.loads(_native.preset("fast")).keys() - parameters.keys()
        for key in config:
            name = self._typed([key])
            if name != place("config", [key]):
                raise ValueError(f"`config`: found `{key}`, which is the parameter `{name}`; set that instead")
            if key not in others:
                raise ValueError(f"`config`: expected settings among {', '.join(sorted(others))}, found `{key}`")
        return config | parameters

    @classmethod
    def _parameters(cls, record: dict[str, Any]) -> dict[str, Any]:
        config, preset = record["config"], json.loads(_native.preset("fast"))
        parameters = {name: config.pop(cls._renamed.get(name, name)) for name in [*cls._own(), "random_state"]}
        different = {key: value for key, value in config.items() if value != preset.get(key)}
        return parameters | {"config": different or None}

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        super()._learn(model, flat)
        self.history_ = self.record_.pop("history")
        # A polish has no regulariser; what it left behind is that of the training.
        self.lambda_ = self.record_.get("training_lambda", self.record_["lambda"])
        self.winner_ = self.record_.get("selection", {}).get("winner")
        return self
