"""Numbers that are missing or infinite: where they are, and how many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .arrays import Floats

# Columns that a message names.
_NAMED = 5


def check_finite(table: Floats, what: str, names: Sequence[str] | None, first: int = 0) -> None:
    """Refuse NaN and infinite values, by the names of their columns, or their indices where there are no names.

    `first` is the number of the first row, where these are rows of a longer table.
    """
    bad = ~np.isfinite(table)
    if not bad.any():
        return
    rows = bad.any(axis=1)
    kinds = [kind for kind, found in (("NaN", np.isnan(table).any()), ("inf", np.isinf(table).any())) if found]
    columns = [int(j) for j in np.flatnonzero(bad.any(axis=0))]
    called = [f"`{names[j]}`" if names is not None else str(j) for j in columns]
    if len(columns) > 1:
        called = [f"{name} ({bad[:, j].sum()})" for name, j in zip(called, columns, strict=True)]
    if len(called) > _NAMED:
        called[_NAMED:] = [f"{len(called) - _NAMED} more"]
    where = f"column{'s' if len(columns) > 1 else ''} {', '.join(called)}"
    these = f"{len(table)} rows" + (f" from row {first} on" if first > 0 else "")
    found = f"{' and '.join(kinds)} in {rows.sum()} of {these}, in {where}, first in row {first + rows.argmax()}"
    raise ValueError(
        f"{what} has {found}; leave these rows out, or fill the gaps, for instance with sklearn.impute.SimpleImputer"
    )
