"""The default fit: the best model by cross-validation, of whatever kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from . import _native
from .arrays import group_numbers, table, weights_of
from .calibrated import UncertainRegressor
from .parameters import settings_named, threads
from .progress import progress

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(UncertainRegressor):
    """The best model of the samples by cross-validation: a Gaussian process or a thin network.

    The search has a fixed amount of work, and is repeated within each fold, so that the reported error is honest.

    Parameters
    ----------
    budget : float, default=30.0
        Search budget in seconds on two cores; fixes the amount of work, not the wall time.
    thin : bool, default=False
        Whether the model must be a thin network.
    width : int, default=100
        Maximum number of neurons.
    robust : bool, default=True
        Whether clear outliers are set aside.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit; None is the default seed of the command line, so that fits are reproducible.
    n_jobs : int or None, default=None
        Number of threads; None means ``OMP_NUM_THREADS`` or, if it is not set, all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    kind_ : {"kernel", "network"}
        Kind of the model: a sum of kernels, or a two-layer network.
    diagnosis_ : dict
        Findings about the data: the reason for the `choice`, the candidates `tried` (the model first), the
        `standard_error` of the mean squared cross-validation errors, `noise`, the relevant `inputs`, `terms` and
        `outliers`. `report()` shows it as text.
    record_ : dict
        How the model was made: settings, version, cross-validation errors.

    Examples
    --------
    >>> import numpy as np
    >>> from thinfit import AutoRegressor
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> y = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> model = AutoRegressor(budget=1, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> len(model.diagnosis_["tried"]) > 1
    True
    """

    budget: float = 30.0
    thin: bool = False
    width: int = 100
    robust: bool = True

    _methods = ("auto",)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the best model; samples with weights are fitted by a network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs. Column names are taken from pandas and polars frames; text and categories in a frame are encoded,
            dates, row numbers and identifiers ignored with a warning.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs.
        sample_weight : array-like of shape (n_samples,), default=None
            A weight of 2 counts a sample twice. Gaussian processes do not support weights, so the model is then the
            network of ``GFTRegressor(width=width)``, as with ``--weights`` on the command line; ``thinfit.load`` reads
            it from a file as such, and `budget`, `thin` and `robust` have no effect.
        groups : array-like of shape (n_samples,), default=None
            Group labels, such as the setting of repeated readings or the run of a step: no fold and no validation split
            divides a group. None means that all samples are independent.

        Returns
        -------
        AutoRegressor
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> AutoRegressor(width=4).fit(X, X[:, 0] ** 2, sample_weight=np.ones(40)).kind_
        'network'
        """
        x, f, names = self._samples(X, y)
        weights, numbers = weights_of(sample_weight, x), group_numbers(groups, len(x))
        settings, jobs = self._request(), threads(self.n_jobs)
        with progress(self.verbose) as report, settings_named(self._typed):
            model = _native.fit(x, table(f), weights, numbers, names, None, settings, jobs, report)
        return self._learn(model, f.ndim == 1)

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        super()._learn(model, flat)
        self.kind_ = model.kind
        self.diagnosis_ = self.record_["diagnosis"]
        return self
