"""Model files of any method."""

from __future__ import annotations

import os

from . import _native, baselines
from .auto import AutoRegressor
from .base import Regressor
from .gft import GFTRegressor

_KINDS: list[type[Regressor]] = [AutoRegressor, GFTRegressor]
_KINDS += (kind for kind in vars(baselines).values() if isinstance(kind, type) and issubclass(kind, Regressor))


def load(path: str | os.PathLike[str]) -> Regressor:
    """Read a model of any method from a JSON file, written by Python, Rust or the command line.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Regressor
        A fitted estimator of the method's class.

    Examples
    --------
    >>> import tempfile, pathlib, thinfit
    >>> model = thinfit.KernelRidgeRegressor().fit([[0.0], [0.5], [1.0]], [0, 1, 2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     model.save(path)
    ...     thinfit.load(path)
    KernelRidgeRegressor(bandwidth=(1.0,), regularization=(0.0001,))
    """
    model = _native.Model.load(path)
    for kind in _KINDS:
        if model.method in kind._methods:
            return kind._restore(model)
    raise ValueError(f"{path}: expected a model of a known method, found `{model.method}`; update thinfit")
