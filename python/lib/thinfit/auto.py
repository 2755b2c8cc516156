"""The fit without settings: the best model of the samples, whatever kind it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _native
from .calibrated import UncertainRegressor

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(kw_only=True, eq=False, repr=False)
class AutoRegressor(UncertainRegressor):
    """The best model of the samples, a Gaussian process or a thin network, with its error on new samples.

    Candidates race under a plan of work, and folds in which everything is found again judge them.

    Parameters
    ----------
    budget : float, default=30.0
        Seconds that the plan of work may take, on two cores.
    thin : bool, default=False
        Whether the model must be a thin network.
    width : int, default=100
        The most neurons that a network may have.
    robust : bool, default=True
        Whether samples that are clearly outliers are set aside.
    random_state : int, RandomState instance or None, default=None
        Seed of the fit; None is the default of the command line, so that every fit of the same samples is the same.
    n_jobs : int or None, default=None
        Number of threads; None means ``OMP_NUM_THREADS`` or, if that is not set, all cores.
    verbose : bool, default=False
        Whether `fit` shows a progress bar (needs tqdm).

    Attributes
    ----------
    kind_ : {"kernel", "network"}
        What the model is: a sum of kernels, or a two-layer network.
    diagnosis_ : dict
        What was found out about the data: the reason of the `choice`, the candidates that were `tried`, the model first, the
        `standard_error` of the mean squared errors on new samples, `noise`, the `inputs` that matter, `terms` and
        `outliers`. `report()` puts it into words.
    record_ : dict
        How the model was made: settings, version, errors on samples that were left out.

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

    def _learn(self, model: _native.Model, flat: bool) -> Self:
        super()._learn(model, flat)
        self.kind_ = model.kind
        self.diagnosis_ = self.record_["diagnosis"]
        return self
