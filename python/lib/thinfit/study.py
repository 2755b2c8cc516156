"""Studies of a fitted model: minima, Pareto fronts, and propagation of input uncertainty."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native, planning
from .answers import Estimate, Front, Minimum, Optimum, Point, Propagation, Spread, Summary
from .fitted import Fitted
from .parameters import RandomState, place, plain, seed, threads

# A number, a level, the ends of a range, levels, or a mapping: a distribution by name, or probabilities of levels.
Distribution = float | str | Sequence[float] | Sequence[str] | Mapping[str, Any]


class Studied(Fitted):
    """Optimisation and uncertainty propagation."""

    def minimise(
        self,
        maximise: bool | str | Sequence[str] = False,
        fix: Mapping[str, float | str] | None = None,
        within: str | Sequence[str] | None = None,
        output: int | str | Sequence[int | str] | None = None,
        random_state: RandomState = 0,
        ranges: Mapping[str, planning.Range] | None = None,
    ) -> Optimum | Front:
        """Find the minimum or maximum of an output, or the Pareto front of several outputs.

        Parameters
        ----------
        maximise : bool, str or sequence of str, default=False
            Whether to maximise; with several outputs, the names of those to maximise.
        fix : mapping of str to float or str, default=None
            Columns to keep at a number or a level.
        within : str or sequence of str, default=None
            Linear constraints on numeric columns, such as ``"2*x2 - x3 <= 4"``, with ``<=``, ``>=`` or ``=``.
        output : int, str or sequence of them, default=None
            One output, or several for their Pareto front; None means all.
        random_state : int, RandomState instance or None, default=0
            Seed of the search.
        ranges : mapping of str to range or None, default=None
            Ranges of the inputs, as for `thinfit.design`; by default those of the samples. The inputs of an array are
            called x1, x2, …

        Returns
        -------
        Optimum or Front
            The minimum with its interval and notes on how far to trust it, or points of which none is better than
            another in every output. `X` has the points as rows for `predict`.

        Examples
        --------
        >>> from thinfit import ARDGaussianProcessRegressor
        >>> X = np.random.default_rng(0).random((40, 2))
        >>> model = ARDGaussianProcessRegressor().fit(X, (X[:, 0] - 0.4) ** 2 + X[:, 1])
        >>> best = model.minimise(within="x1 + x2 >= 0.6")
        >>> round(best.point["x1"], 2), best.held_by
        (0.6, ['x1 + x2 >= 0.6'])
        """
        check_is_fitted(self)
        model = self._model
        places = (
            range(len(model.outputs)) if output is None else [_output(model, one, "output") for one in _listed(output)]
        )
        if isinstance(maximise, bool | np.bool_):
            if maximise and len(places) > 1:
                raise ValueError(f"`maximise`: expected names among the outputs {', '.join(model.outputs)}, found True")
            largest = list(places) if maximise else []
        else:
            largest = [_output(model, one, "maximise") for one in _listed(maximise)]
        if not set(largest) <= set(places):
            raise ValueError("`maximise`: expected outputs that are among those of `output`, found others")
        goals = [(o, o in largest) for o in dict.fromkeys(places)]
        given = planning.written(ranges or {})
        text = _native.minimise(
            model, goals, *planning.region(fix, within), given, seed(random_state), threads(self.n_jobs)
        )
        found = json.loads(text)
        if len(goals) > 1:
            points = [point["point"] for point in found["points"]]
            values = np.array([point["values"] for point in found["points"]])
            return Front(
                found["outputs"],
                found["maximised"],
                points,
                [point["rounded"] for point in found["points"]],
                values,
                found["undetected"],
                self._points(points),
            )
        return Optimum(
            **_minimum(found),
            output=found["output"],
            maximised=found["maximised"],
            borders=[border["column"] for border in found["borders"]],
            beyond=[beyond["column"] for beyond in found["beyond"]],
            held_by=found["held_by"],
            no_detectable_effect=found["undetected"],
            thin=found["thin"]["thin"],
            others=[Minimum(**_minimum(one)) for one in found["others"]],
            notes=found["words"],
            X=self._points([found["point"]]),
        )

    def propagate(
        self, inputs: Mapping[str, Distribution], rows: int = 100_000, *, random_state: RandomState = 0
    ) -> Propagation:
        """Propagate input uncertainty to the outputs, by drawing random inputs.

        Parameters
        ----------
        inputs : mapping of str to distribution
            For each column a number or level, ``(low, high)``, ``{"normal": (mean, deviation)}``,
            ``{"uniform": (low, high)}``, ``{"lognormal": (median, factor)}`` (68 % lie between median/factor and
            median * factor), ``{"triangular": (low, mode, high)}``, or probabilities of levels such as
            ``{"steel": 0.7, "brass": 0.3}``. Other columns are uniform over the ranges of the samples.
        rows : int, default=100000
            Number of draws.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.

        Returns
        -------
        Propagation
            For each output: mean, standard deviation and quantiles with standard errors, for the model and for new
            observations, and the sorted draws.

        Examples
        --------
        >>> from thinfit import ARDGaussianProcessRegressor
        >>> X = np.random.default_rng(0).random((40, 2))
        >>> model = ARDGaussianProcessRegressor().fit(X, X[:, 0] + X[:, 1])
        >>> found = model.propagate({"x1": {"normal": (0.5, 0.1)}, "x2": 0.3}, 2000)
        >>> round(found.outputs[0].model.mean.value, 1)
        0.8
        """
        check_is_fitted(self)
        if not isinstance(rows, Integral) or not 2 <= rows <= 10_000_000:
            raise ValueError(f"`rows`: expected an int from 2 to 10,000,000, found {rows!r}")
        texts = [(str(name), json.dumps(plain(given, place("inputs", [name])))) for name, given in inputs.items()]
        text, values, observations = _native.propagate(
            self._model, texts, int(rows), seed(random_state), threads(self.n_jobs)
        )
        found = json.loads(text)
        spreads = [
            Spread(
                one["output"],
                _summary(one["model"]),
                None if one["observation"] is None else _summary(one["observation"]),
                np.array(values[o], np.float64),
                np.array(observations[o], np.float64),
            )
            for o, one in enumerate(found["outputs"])
        ]
        outside = found["outside"]
        return Propagation(found["rows"], spreads, outside["share"], dict(outside["columns"]), found["unnamed"])

    def _points(self, points: list[Point]) -> Any:
        """The points as rows to predict at."""
        return self._table({name: np.array([point[name] for point in points]) for name in points[0]})


def _listed(given: Any) -> list[Any]:
    """One or several, as a list."""
    return [given] if isinstance(given, int | str | np.integer) else list(given)


def _output(model: _native.Model, given: Any, parameter: str) -> int:
    """The place of an output, given by name or index."""
    names = model.outputs
    if isinstance(given, str) and given in names:
        return names.index(given)
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and 0 <= given < len(names):
        return int(given)
    raise ValueError(f"`{parameter}`: expected an output of the model ({', '.join(names)}), found {given!r}")


def _minimum(found: dict[str, Any]) -> dict[str, Any]:
    interval = found["interval"]
    return {
        "point": found["point"],
        "rounded": found["rounded"],
        "value": found["value"],
        "interval": None if interval is None else tuple(interval),
    }


def _summary(found: dict[str, Any]) -> Summary:
    quantiles = {one["level"]: Estimate(one["value"], one["error"]) for one in found["quantiles"]}
    return Summary(Estimate(**found["mean"]), Estimate(**found["deviation"]), quantiles)
