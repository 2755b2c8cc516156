"""The steps of the default fit for distributed rows.

Every process makes two passes over its rows, `survey` and `condense`. The results are merged in the order of the rows,
and one process does the rest: `learn` after the first pass, `conclude` after the second. All steps are pure functions,
so a step that is repeated after a failure gives the same result. `dask.py` and `mpi.py` distribute the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from .arrays import contiguous
from .finite import check_finite, check_numbers
from .parameters import settings_named, threads

if TYPE_CHECKING:
    from .arrays import Floats
    from .auto import AutoRegressor
    from .base import Names

T = TypeVar("T")


@dataclass(frozen=True)
class Pieces:
    """What all processes know about a fit."""

    settings: str
    names: tuple[list[str], list[str]]
    jobs: int | None

    @classmethod
    def of(cls, estimator: AutoRegressor, names: Names, shape: tuple[int, int]) -> Pieces:
        """The steps of a fit with inputs and outputs of this shape; refuses invalid settings and names early."""
        settings = estimator._request()
        with settings_named(estimator._typed):
            return cls(settings, _native.long_names(settings, names, shape), estimator.n_jobs)

    def survey(self, x: ArrayLike, y: ArrayLike, first: int) -> bytes:
        """The survey of these rows; `first` is the number of the first one in the whole table."""
        x, y = self._rows(x, y)
        check_finite(x, "X", self.names[0], first)
        check_finite(y, "y", self.names[1], first)
        return _native.survey(x, y, first, self.settings, threads(self.jobs))

    def merge_surveys(self, one: bytes, other: bytes) -> bytes:
        """The survey of both."""
        return _native.merge_surveys(one, other)

    def learn(
        self, survey: bytes, progress: Callable[[float, float | None], None] | None = None
    ) -> tuple[str, str | None]:
        """What is learned from the survey of all rows, and the draft of a network if a second pass is needed."""
        return _native.learn(survey, self.names, self.settings, threads(self.jobs), progress)

    def condense(self, draft: str, x: ArrayLike, y: ArrayLike, first: int) -> bytes:
        """These rows, condensed for the draft."""
        return _native.condense(draft, *self._rows(x, y), first, threads(self.jobs))

    def merge_condensed(self, draft: str, one: bytes, next: bytes) -> bytes:
        """The condensed rows of both; those of `next` follow."""
        return _native.merge_condensed(draft, one, next)

    def conclude(self, survey: bytes, learned: str, condensed: bytes | None) -> _native.Model:
        """The model, from the surveys and the condensed rows of the whole table."""
        return _native.conclude(survey, self.names, learned, condensed, self.settings, threads(self.jobs))

    def _rows(self, x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Inputs and outputs in the form of the native module."""
        for a, what, names in zip((x, y), ("X", "y"), self.names, strict=True):
            check_numbers(a, what, names)
        both = zip((x, y), self.names, strict=True)
        x, y = (contiguous(np.asarray(a, dtype=np.float64).reshape(-1, len(names))) for a, names in both)
        return x, y


def merged(parts: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """The parts, merged in a binary tree that depends on their number alone."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [merge(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]
