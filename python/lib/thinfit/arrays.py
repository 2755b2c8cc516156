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
