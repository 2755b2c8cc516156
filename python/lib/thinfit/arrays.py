"""Arrays on their way to the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def contiguous(a: Floats) -> Floats:
    """The array itself if the library can view it, otherwise a copy."""
    flags = a.flags
    return a if flags.aligned and (flags.c_contiguous or flags.f_contiguous) else np.array(a, order="C")


def table(y: Floats) -> Floats:
    """Outputs with two axes."""
    return contiguous(y.reshape(len(y), -1))


def names(y: Any) -> list[str] | None:
    """Names of the outputs, if y is a frame or a series that has some."""
    names: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if all(isinstance(name, str) and name for name in names) else None


def frame_of(X: Any) -> Any:
    """The class of a frame, in which rows are returned; None for anything else."""
    return type(X) if type(X).__module__.split(".")[0] in ("pandas", "polars") else None


def other_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame that are not all text, which scikit-learn does not compare; None for anything else."""
    columns = list(X.columns) if hasattr(X, "dtypes") and hasattr(X, "columns") else []
    return None if all(isinstance(name, str) for name in columns) else columns


def check_columns(known: list[Any] | None, X: Any) -> None:
    """Refuse a frame whose columns are not the `known` ones in their order, as scikit-learn does for names that are text."""
    if known is None or not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return
    found = list(X.columns)
    if found != known:
        expected = f"the columns {', '.join(map(str, known))} in this order, as in fit"
        raise ValueError(f"X: expected {expected}, found {', '.join(map(str, found))}")
