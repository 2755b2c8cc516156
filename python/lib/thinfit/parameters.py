"""Parameters in the form of the library; errors name the parameter as the user wrote it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import joblib
import numpy as np
from sklearn.utils import check_random_state

from . import _native

RandomState = int | np.random.RandomState | None

# The seed of the program, where none is given.
SEED = 1


@contextmanager
def settings_named(name: Callable[[list[str | int]], str]) -> Iterator[None]:
    """Report an invalid setting by its Python name, which `name` finds from its path in the library's settings."""
    try:
        yield
    except _native.SettingError as error:
        path, problem = error.args
        raise ValueError(f"`{name(path)}`: {problem}") from None


def place(name: str, keys: list[str | int]) -> str:
    """The Python expression for a value inside a parameter: ``config["polish"]["steps"]``."""
    return name + "".join(f'["{key}"]' if isinstance(key, str) else f"[{key}]" for key in keys)


def plain(value: Any, name: str) -> Any:
    """The value in types that JSON supports, with NumPy numbers and arrays as Python objects."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(inner, place(name, [key])) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner, place(name, [i])) for i, inner in enumerate(value)]
    if isinstance(value, float) and not np.isfinite(value):
        raise ValueError(f"`{name}`: expected a finite number, found {value}")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"`{name}`: expected numbers, strings, lists or dicts, found {value!r}")


def seed(random_state: Any) -> int:
    """The seed of a fit: that of the program for None, an int as it is, otherwise drawn."""
    if random_state is None:
        return SEED
    if isinstance(random_state, Integral):
        number = int(random_state)
        if not 0 <= number < 2**63:
            raise ValueError(f"`random_state`: expected a number from 0 to 2**63 - 1, found {number}")
        return number
    try:
        state = check_random_state(random_state)
    except ValueError:
        expected = "expected an int, a RandomState or None"
        raise ValueError(f"`random_state`: {expected}, found {random_state!r}") from None
    return int(state.randint(np.iinfo(np.int32).max))


def threads(n_jobs: int | None) -> int:
    """Number of threads for the native module, at most the number of cores; 0 means all cores."""
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return int(limit) if limit.isdecimal() else 0
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"`n_jobs`: expected None or a positive or negative int, found {n_jobs!r}")
    cores = joblib.cpu_count()
    return min(int(n_jobs), cores) if n_jobs > 0 else max(cores + 1 + int(n_jobs), 1)
