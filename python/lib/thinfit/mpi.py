"""Fits to rows distributed over the processes of an MPI program.

mpi4py is not required: any object with `rank`, `allgather`, `gather` and `bcast` is a communicator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from . import auto
from .arrays import Floats, frame_of, input_names, other_names, refuse_groups, refuse_weights
from .arrays import names as names_of
from .finite import check_numbers
from .pieces import Pieces, merged
from .progress import progress

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["AutoRegressor", "Communicator"]

T = TypeVar("T")


class Communicator(Protocol):
    """The part of ``mpi4py.MPI.Comm`` that is used."""

    @property
    def rank(self) -> int:
        """The number of this process."""

    def allgather(self, sendobj: Any) -> list[Any]:
        """The objects of all processes, in their order, everywhere."""

    def gather(self, sendobj: Any, root: int = 0) -> Any:
        """The objects of all processes, in their order, at the root."""

    def bcast(self, obj: Any, root: int = 0) -> Any:
        """The object of the root, everywhere."""


class AutoRegressor(auto.AutoRegressor):
    """`thinfit.AutoRegressor` for rows distributed over several processes.

    Every process passes its own rows, and all get the same model: up to rounding, that of `thinfit.AutoRegressor` for
    the rows in the order of the processes. Rows are not moved. Parameters and attributes are the same; `random_state`
    and the other settings of the first process count.

    Examples
    --------
    A program for ``mpirun -n 4 python``::

        from mpi4py import MPI
        from thinfit.mpi import AutoRegressor

        comm = MPI.COMM_WORLD
        X, y = read_rows_of(comm.rank)
        model = AutoRegressor().fit(X, y, comm)
    """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        comm: Communicator | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the model. All processes must call it; an error on one is raised on all.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of this process, all numeric; may be empty.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Outputs of this process.
        comm : mpi4py communicator or None, default=None
            The processes that share the rows; None means this one alone.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples; only if `comm` is None.
        groups : array-like of shape (n_samples,), default=None
            Group labels; only if `comm` is None.

        Returns
        -------
        AutoRegressor
            The estimator itself.

        Examples
        --------
        >>> X = np.linspace(0, 1, 40)[:, None]
        >>> AutoRegressor(budget=0.5).fit(X, X[:, 0]).n_features_in_
        1
        """
        if comm is None:
            return super().fit(X, y, sample_weight=sample_weight, groups=groups)
        refuse_weights(sample_weight)
        refuse_groups(groups)
        root = comm.rank == 0
        x, f, columns = _each(comm, lambda: self._rows(X, y))
        shares = comm.allgather((len(x), columns))
        for rank, (_, others) in enumerate(shares):
            if others != shares[0][1]:
                raise ValueError(f"rank {rank}: expected the columns of rank 0, {shares[0][1]}, found {others}")
        first = sum(rows for rows, _ in shares[: comm.rank])
        shape = (x.shape[1], 1 if f.ndim == 1 else f.shape[1])
        # A RandomState may draw another seed on every rank.
        pieces: Pieces = comm.bcast(_each(comm, lambda: Pieces.of(self, columns[:2], shape)))
        surveys = comm.gather(_each(comm, lambda: pieces.survey(x, f, first)))
        survey = _each(comm, lambda: merged(surveys, pieces.merge_surveys) if root else b"")

        def learn() -> tuple[str, str | None]:
            with progress(self.verbose) as report:
                return pieces.learn(survey, report)

        learned, draft = comm.bcast(_each(comm, lambda: learn() if root else None))
        condensed = None
        if draft is not None:
            parts = comm.gather(_each(comm, lambda: pieces.condense(draft, x, f, first)))
            merge = partial(pieces.merge_condensed, draft)
            condensed = _each(comm, lambda: merged(parts, merge) if root else None)
        model = comm.bcast(_each(comm, lambda: pieces.conclude(survey, learned, condensed) if root else None))
        return self._learn(model, f.ndim == 1)

    def _rows(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats, tuple[Any, ...]]:
        """Inputs and outputs of this process, and what is known of their columns: names, if any, and shapes."""
        check_numbers(X, "X")
        check_numbers(y, "y", names_of(y))
        self._columns = other_names(X)
        x = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0)
        f = np.asarray(y, dtype=np.float64)
        if f.ndim not in (1, 2) or len(f) != len(x):
            raise ValueError(f"y: expected {len(x)} rows, as in X, with one or two axes, found the shape {f.shape}")
        self._frame = frame_of(X)
        inputs = input_names(getattr(self, "feature_names_in_", None), self._columns)
        return x, f, (inputs, names_of(y), x.shape[1:], f.shape[1:])


def _each(comm: Communicator, make: Callable[[], T]) -> T:
    """The result of `make` on this process. An error on one is raised on all, which would otherwise wait forever."""
    made, problem = None, None
    try:
        made = make()
    except Exception as error:
        problem = str(error) or type(error).__name__
    problems = [f"rank {rank}: {one}" for rank, one in enumerate(comm.allgather(problem)) if one is not None]
    if problems:
        raise ValueError("; ".join(problems))
    return cast("T", made)
