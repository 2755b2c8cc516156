"""Conversion of arrays for the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from .finite import check_numbers

Floats = NDArray[np.float64]


def contiguous(a: Floats) -> Floats:
    """The array itself if the library can view it, otherwise a copy."""
    flags = a.flags
    return a if flags.aligned and (flags.c_contiguous or flags.f_contiguous) else np.array(a, order="C")


def table(y: Floats) -> Floats:
    """Outputs with two axes."""
    return contiguous(y.reshape(len(y), -1))


def group_numbers(groups: Any, rows: int) -> NDArray[np.uint64] | None:
    """The labels of `groups`, one for each of `rows` rows, as numbers."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (rows,):
        expected = f"expected {rows} labels, one for each sample"
        raise ValueError(f"`groups`: {expected}, found an array of shape {labels.shape}")
    listed = (labels.astype(str) if labels.dtype.kind in "mM" else labels).tolist()
    # None, NaN, NaT and the NA of pandas, which is not equal to anything.
    gap = [label is None or (label == label) is not True or label == "NaT" for label in listed]
    if isinstance(groups, np.ma.MaskedArray):
        gap = [one or bool(masked) for one, masked in zip(gap, np.ma.getmaskarray(groups), strict=True)]
    if any(gap):
        raise ValueError(f"`groups`: the label of sample {gap.index(True)} is missing; give each sample a label")
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in listed], dtype=np.uint64)


def weights_of(sample_weight: Any, x: Floats) -> Floats | None:
    """The weights of samples as the library takes them."""
    if sample_weight is None:
        return None
    check_numbers(sample_weight, "sample_weight")
    return np.ascontiguousarray(_check_sample_weight(sample_weight, x, dtype=np.float64))


def refuse_weights(sample_weight: Any) -> None:
    """Refuse weights of distributed rows."""
    if sample_weight is not None:
        raise ValueError(
            "`sample_weight`: not supported for distributed rows; gather them and fit "
            "`thinfit.AutoRegressor`, or remove sample_weight"
        )


def refuse_groups(groups: Any) -> None:
    """Refuse groups of distributed rows."""
    if groups is not None:
        raise ValueError(
            "`groups`: not supported for distributed rows; gather them and fit "
            "`thinfit.AutoRegressor`, or remove groups"
        )


def names(y: Any) -> list[str] | None:
    """Names of the outputs, if y is a frame or a series that has some."""
    names: list[Any] = list(y.columns) if hasattr(y, "columns") else [getattr(y, "name", None)]
    return names if all(isinstance(name, str) and name for name in names) else None


def frame_of(X: Any) -> Any:
    """The class of a frame, for returning rows; None for anything else."""
    return type(X) if type(X).__module__.split(".")[0] in ("pandas", "polars") else None


def other_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame that are not all text, which scikit-learn does not compare; None otherwise."""
    columns = list(X.columns) if hasattr(X, "dtypes") and hasattr(X, "columns") else []
    return None if all(isinstance(name, str) for name in columns) else columns


def input_names(known: Any, others: list[Any] | None) -> list[str] | None:
    """Names of the inputs as a model keeps them: the `known` ones of scikit-learn, or the `others` of a frame as text.

    None if there are no names, or names that are the same as text.
    """
    names = [str(name) for name in (others or [])] if known is None else list(known)
    return names if names and len(set(names)) == len(names) else None


def with_text_names(X: Any, known: list[str]) -> Any:
    """A frame whose columns have names of text like the `known` ones, so that scikit-learn compares them.

    A frame whose columns are merely counted has no names, unless the known ones are counts as well.
    """
    others = other_names(X)
    if others is None or (others == list(range(len(others))) and {str(name) for name in others} != set(known)):
        return X
    return X.rename(columns=str)


def check_columns(known: list[Any] | None, X: Any) -> None:
    """Refuse a frame whose columns are not the `known` ones in their order, as scikit-learn does for text."""
    if known is None or not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return
    found = list(X.columns)
    if list(map(str, found)) != list(map(str, known)):
        expected = f"the columns {', '.join(map(str, known))} in this order, as in fit"
        raise ValueError(f"X: expected {expected}, found {', '.join(map(str, found))}")
