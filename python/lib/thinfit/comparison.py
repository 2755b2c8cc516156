"""Methods beside each other on the same samples."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_X_y

from . import _native, encoding
from .arrays import contiguous, group_numbers
from .finite import check_numbers
from .parameters import RandomState, seed, settings_named, threads
from .progress import progress


class Comparison(list[dict[str, Any]]):
    """The methods as dicts, best first; as text, a table.

    Each dict has `method`, and per output `rmse` with its `standard_error`, `r2`, the `excess` over the mean squared
    error of the best with its standard error `excess_error`, `coverage` and mean `width` of 90 % intervals (None where
    there are none); then the `seconds` and `parameters` of a fit. Methods with a polish have `winners`, what it chose
    in each fold, with `validation_rmse` and, without the polish, `trained_rmse`. `failed` lists methods that could not
    be fitted, and why.
    """

    failed: list[tuple[str, str]]

    def __repr__(self) -> str:
        widest = max([len(one["method"]) for one in self] + [6])
        lines = [f"{'method':<{widest}}{'rmse':>12}{'±':>10}{'r²':>10}{'in 90 %':>9}{'seconds':>9}{'parameters':>12}"]
        for one in self:
            for o, rmse in enumerate(one["rmse"]):
                name = one["method"] if o == 0 else ""
                inside = "-" if one["coverage"] is None else f"{100 * one['coverage'][o]:.1f}"
                numbers = f"{rmse:>12.4g}{one['standard_error'][o]:>10.2g}{one['r2'][o]:>10.4f}{inside:>9}"
                lines.append(f"{name:<{widest}}{numbers}{one['seconds']:>9.2f}{one['parameters']:>12}")
        lines += [_polish(one) for one in self if one.get("winners")]
        return "\n".join(lines + [f"{method} cannot be fitted: {why}" for method, why in self.failed])


def _polish(one: dict[str, Any]) -> str:
    """What the polish of a method chose, and the errors with and without it, as the program prints them."""
    chosen = {
        "polished_random": "polished random features",
        "polished": "its own features, polished",
        "trained": "its own features",
    }
    winners = one["winners"]
    counts = ", ".join(f"{words} in {winners.count(name)}" for name, words in chosen.items() if name in winners)
    pairs = zip(one["validation_rmse"], one["trained_rmse"], strict=True)
    errors = "; ".join(f"{after:.4g} and {before:.4g}" for after, before in pairs)
    return (
        f"{one['method']}: selected {counts} of {len(winners)} folds; rmse on its own validation rows, "
        f"with and without the polish: {errors}"
    )


def compare(
    X: ArrayLike,
    y: ArrayLike,
    methods: Sequence[str] | None = None,
    folds: int = 5,
    *,
    groups: ArrayLike | None = None,
    budget: float = 10.0,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Comparison:
    """Compare methods by cross-validation; samples with equal inputs are in one fold.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Inputs.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Outputs.
    methods : sequence of str or None, default=None
        Names as on the command line, such as "auto", "gaussian-process", "matern-process", "anova-process", "gft-r" or
        "linear"; None means some that differ.
    folds : int, default=5
        Number of folds.
    groups : array-like of shape (n_samples,), default=None
        Group labels; no fold divides a group.
    budget : float, default=10.0
        Search budget of each fit by "auto", in seconds on two cores.
    random_state : int, RandomState instance or None, default=None
        Seed of folds and fits; None is the default seed of the command line.
    n_jobs : int or None, default=None
        Number of threads; None means ``OMP_NUM_THREADS`` or, if it is not set, all cores.
    verbose : bool, default=False
        Whether to show a progress bar (needs tqdm).

    Returns
    -------
    Comparison
        A list of dicts, one for each method, best first.

    Examples
    --------
    >>> import numpy as np
    >>> import thinfit
    >>> X = np.random.default_rng(0).random((60, 2))
    >>> table = thinfit.compare(X, np.sin(6 * X[:, 0]) + X[:, 1], ["linear", "gaussian-process"])
    >>> [one["method"] for one in table]
    ['gaussian-process', 'linear']
    """
    check_numbers(X, "X")
    check_numbers(y, "y")
    learned = encoding.learn(X)
    if learned is not None:
        X = encoding.apply(learned, X)
    x, f = check_X_y(X, y, dtype=np.float64, multi_output=True, y_numeric=True, ensure_all_finite=False)
    names = None if methods is None else list(methods)
    outputs = contiguous(np.asarray(f, np.float64).reshape(len(f), -1))
    numbers = group_numbers(groups, len(outputs))
    with progress(verbose) as report, settings_named(lambda path: str(path[0])):
        text = _native.compare(
            contiguous(x), outputs, numbers, names, folds, budget, seed(random_state), threads(n_jobs), report
        )
    compared = json.loads(text)
    table = Comparison(compared["methods"])
    table.failed = [(method, why) for method, why in compared["failed"]]
    return table
