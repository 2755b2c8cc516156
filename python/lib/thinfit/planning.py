"""Design of experiments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from .finite import check_numbers
from .parameters import RandomState, place, plain, seed

# The ends of a range, its levels, `(False, True)`, or a mapping with `low`, `high` and `log` or `whole`.
Range = Sequence[float] | Sequence[str] | Sequence[bool] | Mapping[str, Any]


def design(
    ranges: Mapping[str, Range],
    rows: int,
    *,
    scheme: str = "maximin",
    add_to: Any = None,
    random_state: RandomState = 0,
) -> dict[str, NDArray[Any]]:
    """Plan samples that fill the ranges of the inputs evenly.

    Parameters
    ----------
    ranges : mapping of str to range
        For each input ``(low, high)``, a list of levels, ``(False, True)``, or a mapping with ``low``, ``high`` and
        either ``log=True``, uniform in the logarithm, or ``whole=True``, integers.
    rows : int
        Number of rows.
    scheme : {"maximin", "latin", "sobol", "halton"}, default="maximin"
        A maximin or random Latin hypercube, or a low-discrepancy sequence.
    add_to : mapping or frame of columns, default=None
        Existing rows: new ones keep away from them, sequences continue after them. Numbers outside a range are moved to
        its border.
    random_state : int, RandomState instance or None, default=0
        Seed of the plan.

    Returns
    -------
    dict of str to ndarray of shape (rows,)
        One column for each input.

    Examples
    --------
    >>> import thinfit
    >>> plan = thinfit.design({"speed": (1, 9), "holes": {"low": 2, "high": 5, "whole": True}}, 4)
    >>> sorted(plan["speed"].tolist())
    [2.0, 4.0, 6.0, 8.0]
    >>> sorted(plan["holes"].tolist())
    [2, 3, 4, 5]
    """
    rows, texts = count(rows), written(ranges)
    taken = [] if add_to is None else [_column(add_to, name) for name in ranges]
    if len({len(column) for column in taken}) > 1:
        raise ValueError("`add_to`: expected columns of one length, found others")
    columns = _native.design(texts, rows, scheme, taken, seed(random_state))
    named = zip(ranges.items(), columns, strict=True)
    return {str(name): _array(range, column) for (name, range), column in named}


def count(rows: int) -> int:
    """The number of rows, at least one."""
    if not isinstance(rows, Integral) or rows < 1:
        raise ValueError(f"`rows`: expected a positive int, found {rows!r}")
    return int(rows)


def written(ranges: Mapping[str, Range]) -> list[tuple[str, str]]:
    """Names, and ranges as JSON."""
    return [(str(name), json.dumps(plain(range, place("ranges", [name])))) for name, range in ranges.items()]


def region(
    fix: Mapping[str, float | str] | None, within: str | Sequence[str] | None
) -> tuple[list[tuple[str, str]], list[str]]:
    """Columns and the values that they are fixed at, and constraints, as text."""
    fixed = [(str(name), _text(name, value)) for name, value in (fix or {}).items()]
    return fixed, [] if within is None else [within] if isinstance(within, str) else [str(one) for one in within]


def _text(name: Any, value: Any) -> str:
    """A value to fix a column at, as text that reads back to the same number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | np.number | np.bool_) and np.isfinite(float(value)):
        return repr(float(value))
    raise ValueError(f"`fix[{name!r}]`: expected a finite number or a level, found {value!r}")


def _array(range: Range, column: list[Any]) -> NDArray[Any]:
    """The values of an input in a plan."""
    if isinstance(range, Mapping):
        return np.array(column, np.int64 if range.get("whole") else None)
    if all(isinstance(value, bool | np.bool_) for value in range):
        return np.array([value == "true" for value in column])
    return np.array(column)


def _column(table: Any, name: str) -> list[Any]:
    """A column of the rows that exist."""
    try:
        column = table[name]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"`add_to`: expected a column {name!r}, found none") from error
    check_numbers(column, f'`add_to["{name}"]`')
    values: list[Any] = np.asarray(column).tolist()
    if any(isinstance(value, float) and not np.isfinite(value) for value in values):
        raise ValueError(f'`add_to["{name}"]`: expected finite numbers, found others')
    return values
