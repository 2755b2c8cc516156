"""Checks for values that are not numbers: missing, masked, infinite, dates, text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .arrays import Floats

# Columns that a message names.
_NAMED = 5

_ADVICE = "remove these rows, or impute the values, for instance with sklearn.impute.SimpleImputer"


def check_finite(table: Floats, what: str, names: Sequence[str] | None, first: int = 0) -> None:
    """Refuse NaN and infinite values; the error gives the names or indices of their columns.

    `first` is the number of the first row, if these are rows of a longer table.
    """
    bad = ~np.isfinite(table)
    if not bad.any():
        return
    kinds = [kind for kind, found in (("NaN", np.isnan(table).any()), ("inf", np.isinf(table).any())) if found]
    raise ValueError(f"{what} has {' and '.join(kinds)} {_places(bad, names, first)}; {_ADVICE}")


def check_numbers(a: Any, what: str, names: Sequence[str] | None = None, first: int = 0) -> None:
    """Refuse masked entries, whose mask NumPy ignores, and dates and durations, which it treats as numbers."""
    if isinstance(a, np.ma.MaskedArray):
        masked = np.ma.getmaskarray(a)
        if masked.any():
            masked = masked.reshape(len(masked), -1) if masked.ndim > 0 else masked.reshape(1, 1)
            raise ValueError(f"{what} has masked entries {_places(masked, names, first)}; {_ADVICE}")
    # The columns of a frame are looked at one by one, where they are encoded.
    if hasattr(a, "columns"):
        return
    try:
        kind = getattr((a if hasattr(a, "dtype") else np.asarray(a)).dtype, "kind", None)
    except (TypeError, ValueError):
        return
    if kind in ("m", "M"):
        name, advice = {
            "M": ("dates", "use the time since the first, (t - t.min()) / np.timedelta64(1, 's')"),
            "m": ("durations", "use a number of seconds, t / np.timedelta64(1, 's')"),
        }[kind]
        raise ValueError(f"{what}: expected numbers, found {name}; {advice}")


def check_outputs(y: Any, names: Sequence[str] | None) -> None:
    """Refuse outputs that are text, as the program does; text that is a number passes."""
    columns = [y[name] for name in y.columns] if hasattr(y, "columns") else [y]
    for j, column in enumerate(columns):
        try:
            cells = np.asarray(column)
        except (TypeError, ValueError):
            continue
        if cells.dtype.kind not in "OUST" or cells.ndim not in (1, 2) or len(cells) == 0:
            continue
        for k, values in enumerate(cells.reshape(len(cells), -1).T, j):
            texts = [(row, str(value)) for row, value in enumerate(values.tolist()) if _is_word(value)]
            if not texts:
                continue
            single = len(columns) == 1 and cells.ndim == 1
            where = f" of column `{names[k]}`" if names is not None else "" if single else f" of column {k}"
            (row, text), classes = texts[0], sorted({text for _, text in texts})
            advice = f"(y == {classes[-1]!r}).astype(float)"
            raise ValueError(
                f"y: expected numbers, found {text!r} in row {row}{where}; thinfit does not "
                f"classify: choose a numeric column, or encode two classes as 0 and 1, as in {advice}"
            )


def _is_word(value: Any) -> bool:
    """Whether a cell is text that is not a number."""
    if not isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except ValueError:
        return True
    return False


def _places(bad: NDArray[np.bool_], names: Sequence[str] | None, first: int) -> str:
    """How many rows are bad, in which columns, and the first of them."""
    rows = bad.any(axis=1)
    columns = [int(j) for j in np.flatnonzero(bad.any(axis=0))]
    called = [f"`{names[j]}`" if names is not None else str(j) for j in columns]
    if len(columns) > 1:
        called = [f"{name} ({bad[:, j].sum()})" for name, j in zip(called, columns, strict=True)]
    if len(called) > _NAMED:
        called[_NAMED:] = [f"{len(called) - _NAMED} more"]
    where = f"column{'s' if len(columns) > 1 else ''} {', '.join(called)}"
    these = f"{len(bad)} rows" + (f" from row {first} on" if first > 0 else "")
    return f"in {rows.sum()} of {these}, in {where}, first in row {first + rows.argmax()}"
