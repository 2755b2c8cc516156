"""Methods to compare with, one estimator each. They have no sample weights.

Parameters are the settings of the methods in Rust; `scaling` is "none", "box" (inputs to [-1/2, 1/2], outputs to mean 0
and variance 1) or "standard" (both to mean 0 and variance 1). `random_state`, `n_jobs` and `verbose` are those of
:class:`thinfit.GFTRegressor`, and so are the learned attributes of those whose model is a two-layer network.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .base import NetworkRegressor, RandomState, Regressor, UncertainRegressor


@dataclass(kw_only=True, eq=False, repr=False)
class ShrimpRegressor(NetworkRegressor):
    """SHRIMP: random Fourier features that act on few inputs each, pruned by magnitude.

    Xie, Shi, Schaeffer and Ward, 2022. The validation samples choose how many features are left, and the order.

    Parameters
    ----------
    features : int, default=10000
        Frequencies to begin with.
    prune : float, default=0.25
        Fraction of the columns that a pruning drops.
    steps : int, default=100
        Prunings at most.
    orders : sequence of int, default=(1, 2, 3, 4, 5)
        Numbers of inputs that a feature acts on, to choose from.
    ridge : float, default=1e-13
        Ridge that stands for minimal norm.
    variant : {"real", "complex"}, default="real"
        Cosines and sines with a coefficient each, or complex features fitted by LSQR.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import ShrimpRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> ShrimpRegressor(features=200, orders=(1, 2), random_state=0).fit(X, y).score(X, y) > 0.99
    True
    """

    features: int = 10_000
    prune: float = 0.25
    steps: int = 100
    orders: Sequence[int] = (1, 2, 3, 4, 5)
    ridge: float = 1e-13
    variant: str = "real"
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("shrimp",)


@dataclass(kw_only=True, eq=False, repr=False)
class HarfeRegressor(NetworkRegressor):
    """HARFE: hard thresholding pursuit over sparse random sine features.

    Saha, Schaeffer and Tran, 2023.

    Parameters
    ----------
    features_per_sample : int, default=10
        Features for each sample.
    support_per_sample : float, default=0.15
        Chosen features for each sample.
    order : int, default=2
        Inputs that a feature acts on, at most all.
    mean : float, default=0.0
        Mean of the entries of frequencies.
    deviation : float, default=1.0
        Standard deviation of the entries of frequencies.
    step : float, default=0.1
        Step of the pursuit.
    ridge : float, default=1e-4
        Ridge of the coefficients.
    tolerance : float, default=5e-3
        Relative residual that is good enough.
    iterations : int, default=200
        Iterations at most.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import HarfeRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> HarfeRegressor(random_state=0).fit(X, y).score(X, y) > 0.99
    True
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
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("harfe",)


@dataclass(kw_only=True, eq=False, repr=False)
class AnovaRFFRegressor(NetworkRegressor):
    """ANOVA-boosted random Fourier features: find the sets of inputs that act together, prune features on these.

    Potts and Weidensager, 2025.

    Parameters
    ----------
    order : int, default=2
        Most inputs of a set, at most all.
    features_per_sample : int, default=5
        Frequencies for each training sample.
    thresholds : sequence of float, default=(0.003, 0.01)
        Shares of the variance above which a set is kept, by the number of its inputs; the last for all larger ones.
    ridge : float, default=0.1
        Ridge of the fits that measure sensitivities.
    densities : sequence of {"normal", "cauchy"}, default=("normal", "cauchy")
        Densities of the entries of frequencies, to choose from.
    prune : float, default=0.25
        Fraction of the columns that a pruning drops.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import AnovaRFFRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> AnovaRFFRegressor(random_state=0).fit(X, y).score(X, y) > 0.99
    True
    """

    order: int = 2
    features_per_sample: int = 5
    thresholds: Sequence[float] = (0.003, 0.01)
    ridge: float = 0.1
    densities: Sequence[str] = ("normal", "cauchy")
    prune: float = 0.25
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("anova-rff",)


@dataclass(kw_only=True, eq=False, repr=False)
class SwimRegressor(NetworkRegressor):
    """SWIM, sampled where it matters: neurons between pairs of samples with a steep slope, without training.

    Bolager and others, 2023.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    activation : {"relu", "tanh", "sigmoid"}, default="relu"
        Function of a neuron.
    cutoff : float, default=1e-8
        Singular values of the design matrix below this fraction of the largest count as zero.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import SwimRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> SwimRegressor(width=40, activation="tanh", random_state=0).fit(X, y).score(X, y) > 0.99
    True
    """

    width: int = 100
    activation: str = "relu"
    cutoff: float = 1e-8
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("swim",)


@dataclass(kw_only=True, eq=False, repr=False)
class ARFFRegressor(NetworkRegressor):
    """Adaptive random Fourier features: frequencies walk at random by Metropolis steps.

    Kammonen and others, 2020.

    Parameters
    ----------
    width : int, default=100
        Number of frequencies.
    rounds : int, default=50
        Rounds; after each, the coefficients are solved at the accepted frequencies.
    steps : int, default=10
        Steps of the walk in a round.
    deltas : sequence of float, default=(0.1, 0.5, 2.0)
        Sizes of a step to choose from.
    ridges : sequence of float, default=(1e-8, 1e-5, 1e-2)
        Ridges to choose from.
    gamma : float or None, default=None
        Exponent of the acceptance; None takes 3 n_features - 2.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import ARFFRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> ARFFRegressor(width=20, rounds=10, random_state=0).fit(X, y).score(X, y) > 0.99
    True
    """

    width: int = 100
    rounds: int = 50
    steps: int = 10
    deltas: Sequence[float] = (0.1, 0.5, 2.0)
    ridges: Sequence[float] = (1e-8, 1e-5, 1e-2)
    gamma: float | None = None
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("arff",)


@dataclass(kw_only=True, eq=False, repr=False)
class RFFRegressor(NetworkRegressor):
    """Random Fourier features with a ridge.

    Rahimi and Recht, 2007. The validation samples choose the scale of the frequencies and the ridge.

    Parameters
    ----------
    width : int, default=100
        Number of features.
    scales : sequence of float, default=(0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
        Standard deviations of frequencies to choose from, in turns per unit of the (scaled) inputs.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import RFFRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> RFFRegressor(random_state=0).fit(X, y).score(X, y) > 0.99
    True
    """

    width: int = 100
    scales: Sequence[float] = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("rff",)


@dataclass(kw_only=True, eq=False, repr=False)
class PlainNetworkRegressor(NetworkRegressor):
    """Plain two-layer network: Adam moves both layers, nothing is solved for.

    Parameters
    ----------
    activation : {"fourier", "cosine", "sigmoid", "tanh", "relu"}, default="fourier"
        Function of a neuron.
    width : int, default=100
        Number of neurons.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    steps : int, default=100000
        Steps of Adam.
    rate : float, default=1e-3
        Learning rate.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import PlainNetworkRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> PlainNetworkRegressor(width=20, steps=1000, rate=0.01, random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    activation: str = "fourier"
    width: int = 100
    regularization: float | str = 0.0
    steps: int = 100_000
    rate: float = 1e-3
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("plain",)


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyGradientsRegressor(NetworkRegressor):
    """Plain Fourier network moved by noisy gradients instead of Adam.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    steps : int, default=100000
        Steps.
    rate : float, default=1e-3
        Learning rate.
    noise : float, default=0.1
        Standard deviation of the noise, relative to the learning rate.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import NoisyGradientsRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> NoisyGradientsRegressor(width=20, steps=1000, random_state=0).fit(X, y).score(X, y) > 0.7
    True
    """

    width: int = 100
    regularization: float | str = 0.0
    steps: int = 100_000
    rate: float = 1e-3
    noise: float = 0.1
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("noisy-gradients",)


@dataclass(kw_only=True, eq=False, repr=False)
class FullySampledRegressor(NetworkRegressor):
    """Network whose generator draws both layers, nothing is solved for.

    Parameters
    ----------
    width : int, default=100
        Number of neurons.
    hidden : sequence of int, default=(512, 512, 512)
        Units of the generator's hidden layers.
    regularization : float or "auto", default=0.0
        Strength of the total variation; "auto" chooses by validation, in six runs.
    points : int, default=1000
        Points at which the variation is sampled.
    steps : int, default=40000
        Steps of Adam.
    rate : float, default=1e-4
        Learning rate.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    features_, biases_, coef_, intercept_, validation_score_, record_
        The network and how it was made, as in :class:`GFTRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import FullySampledRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = FullySampledRegressor(hidden=(32, 32), steps=500, rate=1e-2, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.5
    True
    """

    width: int = 100
    hidden: Sequence[int] = (512, 512, 512)
    regularization: float | str = 0.0
    points: int = 1000
    steps: int = 40_000
    rate: float = 1e-4
    scaling: str = "none"
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("fully-sampled",)


@dataclass(kw_only=True, eq=False, repr=False)
class KernelRidgeRegressor(Regressor):
    """Kernel ridge regression with a Gaussian kernel whose bandwidth is measured by the median distance of samples.

    Parameters
    ----------
    regularization : float or sequence of float, default=1e-4
        Ridges; leave-one-out chooses where there are several.
    bandwidth : float or sequence of float, default=1.0
        Bandwidths, in multiples of the median distance; leave-one-out chooses where there are several.
    scaling : {"none", "box", "standard"}, default="none"
        Scaling of the columns.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    record_ : dict
        How the model was made: settings, version, and the leave-one-out error where there was a choice.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import KernelRidgeRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> KernelRidgeRegressor().fit(X, y).score(X, y) > 0.99
    True
    >>> grid = {"regularization": np.logspace(-12, 1, 14), "bandwidth": 2.0 ** np.arange(-2, 5)}
    >>> KernelRidgeRegressor(**grid, scaling="standard").fit(X, y).record_["chosen_by"]
    'leave-one-out'
    """

    regularization: float | Sequence[float] = 1e-4
    bandwidth: float | Sequence[float] = 1.0
    scaling: str = "none"
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("kernel-ridge", "kernel-ridge-validated")

    def _settings(self) -> dict[str, Any]:
        choices = {"lambda": self.regularization, "bandwidth": self.bandwidth}
        return super()._settings() | {name: np.atleast_1d(value) for name, value in choices.items()}


@dataclass(kw_only=True, eq=False, repr=False)
class SalsaRegressor(Regressor):
    """SALSA: kernel ridge regression with an additive kernel, its order and its ridge chosen by folds.

    Kandasamy and Yu, 2016.

    Parameters
    ----------
    bandwidth : float, default=20.0
        Lengths of the kernel, in units of the standard deviation of an input times n_samples ** (-1/5).
    regularization : (float, float), default=(1e-4, 100.0)
        Smallest and largest ridge, in units of the number of samples.
    patience : int, default=3
        Orders without a better one after which the search ends.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    record_ : dict
        How the model was made: settings, version, errors on the folds.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import SalsaRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> SalsaRegressor(random_state=0).fit(X, y).score(X, y) > 0.9
    True
    """

    bandwidth: float = 20.0
    regularization: tuple[float, float] = (1e-4, 100.0)
    patience: int = 3
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("salsa",)


@dataclass(kw_only=True, eq=False, repr=False)
class ARDGaussianProcessRegressor(UncertainRegressor):
    """Gaussian process with a length for every input (ARD), by the marginal likelihood.

    Parameters
    ----------
    kernel : {"gaussian", "matern52"}, default="gaussian"
        Covariance function.
    starts : int, default=4
        Starts of the search for lengths and noise; the first is fixed, the others are random.
    race : int, default=500
        Samples, drawn at random, on which the starts race where there are more; the winner goes on with all.
    iterations : int, default=200
        Most iterations of a search.
    least_noise : float, default=1e-12
        The least noise variance, in multiples of the signal variance.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    n_jobs : int or None, default=None
        Threads; None takes ``OMP_NUM_THREADS`` or else all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    record_ : dict
        How the model was made: settings, version, likelihood, leave-one-out error.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import ARDGaussianProcessRegressor
    >>> X = np.random.default_rng(0).random((80, 3))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = ARDGaussianProcessRegressor(random_state=0).fit(X, y)
    >>> f, std = model.predict(X, return_std=True)
    >>> model.score(X, y) > 0.99
    True
    """

    kernel: str = "gaussian"
    starts: int = 4
    race: int = 500
    iterations: int = 200
    least_noise: float = 1e-12
    random_state: RandomState = None
    n_jobs: int | None = None
    verbose: bool = False

    _methods: ClassVar[tuple[str, ...]] = ("gaussian-process",)
