"""Frames with text, categories or dates: the rules are in Rust, here the cells are handed over."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native

if TYPE_CHECKING:
    from .arrays import Floats

# How the names of the types of dates and durations begin, in numpy, pandas and polars.
_DATES = ("datetime", "timedelta", "date", "time", "period", "duration")
# How those of categories begin, in pandas and polars.
_CATEGORIES = ("category", "categorical", "enum")


def learn(X: Any) -> _native.Encoding | None:
    """The encoding of a frame, unless all its columns are inputs as they are; warns about ignored columns."""
    columns = list(getattr(X, "columns", []))
    if not hasattr(X, "dtypes") or len(set(columns)) < len(columns):
        return None
    cells = [_cells(X[name]) for name in columns]
    arrays = [column for column in cells if isinstance(column, np.ndarray)]
    # scikit-learn refuses complex numbers.
    if any(np.iscomplexobj(column) for column in arrays):
        return None
    encoding = _native.Encoding.learn([str(name) for name in columns], cells)
    if len(arrays) == len(columns) and not encoding.left_out:
        return None
    if encoding.left_out:
        numbering = ", ".join(encoding.row_numbers)
        advice = [f"to use {numbering} as an input, pass X as an array"] if numbering else []
        warnings.warn("; ".join(encoding.left_out + advice), stacklevel=4)
    return encoding


def apply(encoding: _native.Encoding, X: Any) -> Floats:
    """The inputs of the model from a frame or a mapping of columns, which may be in another order."""
    if isinstance(X, Mapping):
        X = {name: np.asarray(column) for name, column in X.items()}
    columns = {str(name): name for name in (X if isinstance(X, Mapping) else getattr(X, "columns", []))}
    if any(name not in columns for name in encoding.used):
        expected = f"a frame with the columns {', '.join(encoding.used)}, as the model was fitted to"
        found = f"one with {', '.join(columns)}" if columns else "an array"
        raise ValueError(f"X: expected {expected}, found {found}")
    return encoding.apply([_cells(X[columns[name]]) for name in encoding.used])


def _numbers(column: Any) -> Floats | None:
    """The column as floats, with NaN for missing values; None if it is not numeric."""
    kind = getattr(column.dtype, "kind", None) or np.asarray(column).dtype.kind
    if str(column.dtype).lower().startswith(_CATEGORIES + _DATES):
        return None
    try:
        if kind in "biuf" and not isinstance(column.dtype, np.dtype) and hasattr(column, "isna"):
            return np.ascontiguousarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.ascontiguousarray(np.asarray(column, dtype=np.complex128 if kind == "c" else np.float64))
    except (TypeError, ValueError):
        return None


def _cells(column: Any) -> _native._Cells:
    """A column in the form of the native module."""
    numbers = _numbers(column)
    if numbers is not None:
        return numbers
    if str(column.dtype).lower().startswith(_DATES):
        return None
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):
        codes = np.asarray(column.cat.codes, dtype=np.float64)
        kind = "ordered" if column.cat.ordered else "categories"
        return [str(level) for level in column.cat.categories], np.where(codes < 0, np.nan, codes), kind
    levels: dict[str, int] = {}
    texts = ("" if _missing(value) else str(value).strip() for value in column)
    codes = np.array([levels.setdefault(text, len(levels)) if text else np.nan for text in texts], dtype=np.float64)
    # An Enum of polars is a set of names, in an order that need not mean anything.
    kind = "categories" if str(column.dtype).lower().startswith(_CATEGORIES) else "found"
    return list(levels), codes, kind


def _missing(value: Any) -> bool:
    """Whether a cell is None, NaN, or their equivalent in pandas."""
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )
