"""Methods to compare with, one estimator each. They take no sample weights.

The fields of a class are the settings of its method in Rust. `scaling` is "none", "box" (inputs to [-1/2, 1/2], outputs
to mean 0 and variance 1) or "standard" (both to mean 0 and variance 1). `random_state`, `n_jobs` and `verbose` are
inherited and mean what they do in :class:`thinfit.GFTRegressor`; so do the learned attributes of two-layer networks.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from .base import RandomRegressor, Regressor
from .calibrated import CalibratedRegressor, UncertainRegressor
from .network import NetworkRegressor

# The documentation of inherited parameters.
INHERITED = {
    "scaling": """
scaling : {"none", "box", "standard"}, default="none"
    Scaling of the columns.""",
    "random_state": """
random_state : int, RandomState instance or None, default=None
    Seed of the fit; None is the default of the command line, so that every fit of the same samples is the same.""",
    "n_jobs": """
n_jobs : int or None, default=None
    Number of threads; None means ``OMP_NUM_THREADS`` or, if that is not set, all cores.""",
    "verbose": """
verbose : bool, default=False
    Whether `fit` shows a progress bar (needs tqdm).""",
}

NETWORK_ATTRIBUTES = """

Attributes
----------
features_, biases_, coef_, intercept_, validation_score_, record_
    The network and how it was made, as in :class:`GFTRegressor`."""

KERNEL_ATTRIBUTES = """

Attributes
----------
record_ : dict
    How the model was made: settings, version, and the errors or the likelihood that chose them."""

EXAMPLE = """

Examples
--------
>>> import numpy as np
>>> from thinfit import {name}
>>> X = np.random.default_rng(0).random((80, 3))
>>> y = np.sin(3 * X[:, 0]) + X[:, 1]
>>> {name}({example}).fit(X, y).score(X, y) > {r2}
True
"""


class Baseline(Regressor):
    """Base of the methods to compare with.

    The docstring of a subclass has its own parameters and, after them, further lines of the example. The parameters
    that it inherits, its attributes and the example are added here.
    """

    def __init_subclass__(cls, example: str = "random_state=0", r2: float = 0.99, **options: Any) -> None:
        super().__init_subclass__(**options)
        own, _, more = inspect.cleandoc(cls.__doc__ or "").partition("\n\n>>> ")
        if "\nParameters\n" not in own:
            return
        names = {field.name for field in fields(cls)}
        parameters = [text for name, text in INHERITED.items() if name in names]
        attributes = NETWORK_ATTRIBUTES if issubclass(cls, NetworkRegressor) else KERNEL_ATTRIBUTES
        example = EXAMPLE.format(name=cls.__name__, example=example, r2=r2)
        cls.__doc__ = "".join([own.rstrip(), *parameters, attributes, example, more and f">>> {more}\n"])


@dataclass(kw_only=True, eq=False, repr=False)
class ScaledBaseline(Baseline):
    """Base of the methods whose columns may be scaled."""

    scaling: str = "none"


@dataclass(kw_only=True, eq=False, repr=False)
class BaselineNetwork(ScaledBaseline, NetworkRegressor):
    """Base of the methods whose model is a two-layer network."""


@dataclass(kw_only=True, eq=False, repr=False)
class ShrimpRegressor(BaselineNetwork, example="features=200, orders=(1, 2), random_state=0"):
    """SHRIMP: random Fourier features that act on few inputs each, pruned by magnitude.

    Xie, Shi, Schaeffer and Ward, 2022. The validation samples choose the order and how many features are kept.

    Parameters
    ----------
    features : int, default=10000
        Number of frequencies at the start.
    prune : float, default=0.25
        Fraction of the columns dropped in each pruning.
    steps : int, default=100
        Maximum number of prunings.
    orders : sequence of int, default=(1, 2, 3, 4, 5)
        Candidates for the number of inputs a feature acts on.
    ridge : float, default=1e-13
        Small ridge in place of the solution of minimal norm.
    variant : {"real", "complex"}, default="real"
        Cosines and sines with their own coefficients, or complex features fitted by LSQR.
    """

    features: int = 10_000
    prune: float = 0.25
    steps: int = 100
    orders: Sequence[int] = (1, 2, 3, 4, 5)
    ridge: float = 1e-13
    variant: str = "real"

    _methods = ("shrimp",)


@dataclass(kw_only=True, eq=False, repr=False)
class HarfeRegressor(BaselineNetwork):
    """HARFE: hard thresholding pursuit over sparse random sine features.

    Saha, Schaeffer and Tran, 2023.

    Parameters
    ----------
    features_per_sample : int, default=10
        Number of features per sample.
    support_per_sample : float, default=0.15
        Number of selected features per sample.
    order : int, default=2
        Number of inputs a feature acts on; capped at the number of inputs.
    mean : float, default=0.0
        Mean of the entries of the frequencies.
    deviation : float, default=1.0
        Standard deviation of the entries of the frequencies.
    step : float, default=0.1
        Step size of the pursuit.
    ridge : float, default=1e-4
        Ridge of the coefficients.
    tolerance : float, default=5e-3
        Relative residual at which to stop.
    iterations : int, default=200
        Maximum number of iterations.
    """

    features_per_sample: int = 10
    support_per_sample: float = 0.15
    order: int = 2
    mean: float = 0.0
    deviation: float = 1.0
    step: float = 0.1
    ridge: float = 1e-4
    tolerance: float = 5e-3
    iterations: int = 200

    _methods = ("harfe",)


@dataclass(kw_only=True, eq=False, repr=False)
class AnovaRFFRegressor(BaselineNetwork):
    """ANOVA-boosted random Fourier features: find the sets of inputs that interact, then prune features on them.

    Potts and Weidensager, 2025.

    Parameters
    ----------
    order : int, default=2
        Largest size of a set; capped at the number of inputs.
    features_per_sample : int, default=5
        Number of frequencies per training sample.
    thresholds : sequence of float, default=(0.003, 0.01)
        Share of the variance above which a set is kept, by size of the set; the last one is for all larger sets.
    ridge : float, default=0.1
        Ridge of the fits that measure sensitivities.
    densities : sequence of {"normal", "cauchy"}, default=("normal", "cauchy")
        Candidates for the density of the entries of the frequencies.
    prune : float, default=0.25
        Fraction of the columns dropped in each pruning.
    """

    order: int = 2
    features_per_sample: int = 5
    thresholds: Sequence[float] = (0.003, 0.01)
    ridge: float = 0.1
    densities: Sequence[str] = ("normal", "cauchy")
    prune: float = 0.25

    _methods = ("anova-rff",)


@dataclass(kw_only=True, eq=False, repr=False)
class SwimRegressor(BaselineNetwork, example="width=40, activation='tanh', random_state=0"):
    """SWIM, sampling where it matters: neurons between pairs of samples with a steep slope, without training.

    Bolager et al., 2023.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    activation : {"relu", "tanh", "sigmoid"}, default="relu"
        Activation function.
    cutoff : float, default=1e-8
        Singular values of the design matrix below this fraction of the largest are treated as zero.
    """

    width: int = 100
    activation: str = "relu"
    cutoff: float = 1e-8

    _methods = ("swim",)


@dataclass(kw_only=True, eq=False, repr=False)
class ARFFRegressor(BaselineNetwork, example="width=20, rounds=10, random_state=0"):
    """Adaptive random Fourier features: frequencies move in a random walk with Metropolis steps.

    Kammonen et al., 2020.

    Parameters
    ----------
    width : int, default=100
        Number of frequencies.
    rounds : int, default=50
        Number of rounds; after each, the coefficients are solved for at the accepted frequencies.
    steps : int, default=10
        Steps of the walk per round.
    deltas : sequence of float, default=(0.1, 0.5, 2.0)
        Candidates for the step size.
    ridges : sequence of float, default=(1e-8, 1e-5, 1e-2)
        Candidates for the ridge.
    gamma : float or None, default=None
        Exponent of the acceptance probability; None means 3 n_features - 2.
    """

    width: int = 100
    rounds: int = 50
    steps: int = 10
    deltas: Sequence[float] = (0.1, 0.5, 2.0)
    ridges: Sequence[float] = (1e-8, 1e-5, 1e-2)
    gamma: float | None = None

    _methods = ("arff",)


@dataclass(kw_only=True, eq=False, repr=False)
class RFFRegressor(BaselineNetwork):
    """Random Fourier features with a ridge.

    Rahimi and Recht, 2007. The validation samples choose the scale of the frequencies and the ridge.

    Parameters
    ----------
    width : int, default=100
        Number of features.
    scales : sequence of float, default=(0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
        Candidates for the standard deviation of the frequencies, in cycles per unit of the (scaled) inputs.
    """

    width: int = 100
    scales: Sequence[float] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)

    _methods = ("rff",)


@dataclass(kw_only=True, eq=False, repr=False)
class PlainNetworkRegressor(BaselineNetwork, example="width=20, steps=1000, rate=0.01, random_state=0", r2=0.9):
    """Plain two-layer network: Adam trains both layers, nothing is solved for.

    Parameters
    ----------
    activation : {"fourier", "cosine", "sigmoid", "tanh", "relu"}, default="fourier"
        Activation function.
    width : int, default=100
        Number of neurons.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    steps : int, default=100000
        Number of Adam steps.
    rate : float, default=1e-3
        Learning rate.
    """

    activation: str = "fourier"
    width: int = 100
    regularization: float | str = 0.0
    steps: int = 100_000
    rate: float = 1e-3

    _methods = ("plain",)


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyGradientsRegressor(BaselineNetwork, example="width=20, steps=1000, random_state=0", r2=0.7):
    """Plain Fourier network trained by noisy gradient descent instead of Adam.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    steps : int, default=100000
        Number of steps.
    rate : float, default=1e-3
        Learning rate.
    noise : float, default=0.1
        Standard deviation of the noise, relative to the learning rate.
    """

    width: int = 100
    regularization: float | str = 0.0
    steps: int = 100_000
    rate: float = 1e-3
    noise: float = 0.1

    _methods = ("noisy-gradients",)


@dataclass(kw_only=True, eq=False, repr=False)
class FullySampledRegressor(BaselineNetwork, example="hidden=(32, 32), steps=500, rate=0.01, random_state=0", r2=0.5):
    """Network whose generator draws both layers; nothing is solved for.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    hidden : sequence of int, default=(512, 512, 512)
        Units of the generator's hidden layers.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    points : int, default=1000
        Number of points at which the variation is sampled.
    steps : int, default=40000
        Number of Adam steps.
    rate : float, default=1e-4
        Learning rate.
    """

    width: int = 100
    hidden: Sequence[int] = (512, 512, 512)
    regularization: float | str = 0.0
    points: int = 1000
    steps: int = 40_000
    rate: float = 1e-4

    _methods = ("fully-sampled",)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRidgeRegressor(ScaledBaseline, CalibratedRegressor, example=""):
    """Kernel ridge regression with a Gaussian kernel; the unit of its bandwidth is the median distance of the samples.

    Parameters
    ----------
    regularization : float or sequence of float, default=1e-4
        Ridge; leave-one-out chooses if there are several.
    bandwidth : float or sequence of float, default=1.0
        Bandwidth in multiples of the median distance; leave-one-out chooses if there are several.

    >>> grid = {"regularization": np.logspace(-12, 1, 14), "bandwidth": 2.0 ** np.arange(-2, 5)}
    >>> KernelRidgeRegressor(**grid, scaling="standard").fit(X, y).record_["chosen_by"]
    'leave-one-out'
    """

    regularization: float | Sequence[float] = 1e-4
    bandwidth: float | Sequence[float] = 1.0

    _methods = ("kernel-ridge", "kernel-ridge-validated")

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        lists = {name: settings[name] for name in ("lambda", "bandwidth")}
        return settings | {name: value if isinstance(value, list) else [value] for name, value in lists.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class SalsaRegressor(Baseline, CalibratedRegressor, RandomRegressor, r2=0.9):
    """SALSA: kernel ridge regression with an additive kernel, its order and ridge chosen by cross-validation.

    Kandasamy and Yu, 2016. The seed is that of the folds.

    Parameters
    ----------
    bandwidth : float, default=20.0
        Length scales of the kernel, in units of the standard deviation of an input times n_samples ** (-1/5).
    regularization : (float, float), default=(1e-4, 100.0)
        Smallest and largest ridge, in units of the number of samples.
    patience : int, default=3
        Number of orders without improvement after which the search stops.
    """

    bandwidth: float = 20.0
    regularization: tuple[float, float] = (1e-4, 100.0)
    patience: int = 3

    _methods = ("salsa",)


@dataclass(kw_only=True, eq=False, repr=False)
class ARDGaussianProcessRegressor(Baseline, UncertainRegressor):
    """Gaussian process with a length scale for each input (ARD), found by maximising the marginal likelihood.

    Parameters
    ----------
    kernel : {"gaussian", "matern52"}, default="gaussian"
        Covariance function.
    starts : int, default=4
        Number of starts of the search for length scales and noise; the first is fixed, the others are random.
    selection_rows : int, default=500
        With more samples than this, starts are compared on so many drawn at random; the winner continues on all.
    iterations : int, default=200
        Maximum number of iterations of a search.
    least_noise : float, default=0.0
        Smallest noise variance, in multiples of the signal variance; 0 leaves only the jitter, m times the machine
        precision.

    >>> f, std = ARDGaussianProcessRegressor(random_state=0).fit(X, y).predict(X, return_std=True)
    """

    kernel: str = "gaussian"
    starts: int = 4
    selection_rows: int = 500
    iterations: int = 200
    least_noise: float = 0.0

    _methods = ("gaussian-process",)
