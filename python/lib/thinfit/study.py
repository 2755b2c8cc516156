"""What one asks of a fitted model: where it is least, what can be had at once, what follows from uncertain inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _native, planning
from .parameters import RandomState, place, plain, seed, threads

if TYPE_CHECKING:
    from .base import Regressor

Floats = NDArray[np.float64]
Point = dict[str, float | str]
# A number, a level, the ends of a range, levels, or a mapping: a distribution by name, or probabilities of levels.
Distribution = float | str | Sequence[float] | Sequence[str] | Mapping[str, Any]


@dataclass(frozen=True)
class Minimum:
    """A local minimum or maximum."""

    #: Columns and what they are set to.
    point: Point
    #: The output there.
    value: float
    #: Bounds that hold a new observation there with probability 0.9; None where the model has none.
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Optimum(Minimum):
    """The minimum or maximum of an output; as text, what to think of it."""

    #: Name of the output.
    output: str
    #: Whether it was to be large.
    maximised: bool
    #: Columns at an end of their range: the true minimum may lie beyond.
    borders: list[str]
    #: Columns beyond their samples, in ranges that were given.
    beyond: list[str]
    #: Constraints that hold the minimum back.
    held_by: list[str]
    #: Whether samples are thin there.
    thin: bool
    #: Other local minima that are about as good.
    others: list[Minimum]
    #: What to think of it, in sentences.
    notes: list[str]
    #: The point as one row to predict at: a pandas frame if the model was fitted to a frame, otherwise an array.
    X: Any = field(repr=False)

    def __str__(self) -> str:
        extreme = "largest" if self.maximised else "least"
        columns = [
            f"  {name}: {value if isinstance(value, str) else f'{value:.6g}'}" for name, value in self.point.items()
        ]
        return "\n".join([f"{self.output} is {extreme}, {self.value:.6g}, at", *columns, *self.notes])


@dataclass(frozen=True)
class Front:
    """Points of which none is better than another in every output."""

    #: Names of the outputs.
    outputs: list[str]
    #: Which of them were to be large.
    maximised: list[bool]
    #: Columns and what they are set to, for each point; by the first output.
    points: list[Point]
    #: The outputs at the points, of shape (n_points, n_outputs).
    values: Floats
    #: The points as rows to predict at: a pandas frame if the model was fitted to a frame, otherwise an array.
    X: Any = field(repr=False)


@dataclass(frozen=True)
class Estimate:
    """A number and the standard error that a finite number of draws gives it."""

    value: float
    error: float


@dataclass(frozen=True)
class Summary:
    """A distribution in a few numbers."""

    mean: Estimate
    deviation: Estimate
    #: Quantiles by the probability below them, such as 0.95.
    quantiles: dict[float, Estimate]


@dataclass(frozen=True)
class Spread:
    """The distribution of an output."""

    #: Name of the output.
    output: str
    #: Of the model's value.
    model: Summary
    #: Of a new observation: the model's own error comes on top, drawn for each row from its calibrated interval.
    #: None where the model has no intervals.
    observation: Summary | None
    #: The model's values, sorted.
    values: Floats = field(repr=False)
    #: New observations, sorted; empty where the model has no intervals.
    observations: Floats = field(repr=False)


@dataclass(frozen=True)
class Propagation:
    """What follows from uncertain inputs."""

    #: How many draws there were.
    rows: int
    #: The distribution of each output.
    outputs: list[Spread]
    #: The share of draws outside the ranges of the samples, where the model extrapolates.
    outside: float
    #: The columns that left their range, with their shares.
    outside_by: dict[str, float]
    #: Columns that are uniform over the ranges of the samples since nothing was said of them.
    unnamed: list[str]


def minimise(
    estimator: Regressor,
    maximise: bool | str | Sequence[str],
    fix: Mapping[str, float | str] | None,
    within: str | Sequence[str] | None,
    output: int | str | Sequence[int | str] | None,
    random_state: RandomState,
    ranges: Mapping[str, planning.Range] | None,
) -> Optimum | Front:
    """What `Regressor.minimise` does."""
    model = estimator._model
    places = range(len(model.outputs)) if output is None else [_output(model, one, "output") for one in _listed(output)]
    if isinstance(maximise, bool | np.bool_):
        if maximise and len(places) > 1:
            raise ValueError(f"`maximise`: expected which of the outputs {', '.join(model.outputs)}, found True")
        largest = list(places) if maximise else []
    else:
        largest = [_output(model, one, "maximise") for one in _listed(maximise)]
    if not set(largest) <= set(places):
        raise ValueError("`maximise`: expected outputs that are among those of `output`, found others")
    goals = [(o, o in largest) for o in dict.fromkeys(places)]
    fixed = [(str(name), _text(name, value)) for name, value in (fix or {}).items()]
    constraints = [] if within is None else [str(one) for one in _listed(within)]
    given = planning.written(ranges or {})
    text = _native.minimise(model, goals, fixed, constraints, given, seed(random_state), threads(estimator.n_jobs))
    found = json.loads(text)
    if len(goals) > 1:
        points = [point["point"] for point in found["points"]]
        values = np.array([point["values"] for point in found["points"]])
        return Front(found["outputs"], found["maximised"], points, values, _rows(estimator, points))
    return Optimum(
        **_minimum(found),
        output=found["output"],
        maximised=found["maximised"],
        borders=[border["column"] for border in found["borders"]],
        beyond=[beyond["column"] for beyond in found["beyond"]],
        held_by=found["held_by"],
        thin=found["thin"]["thin"],
        others=[Minimum(**_minimum(one)) for one in found["others"]],
        notes=found["words"],
        X=_rows(estimator, [found["point"]]),
    )


def propagate(
    estimator: Regressor, inputs: Mapping[str, Distribution], rows: int, random_state: RandomState
) -> Propagation:
    """What `Regressor.propagate` does."""
    if not isinstance(rows, Integral) or not 2 <= rows <= 10_000_000:
        raise ValueError(f"`rows`: expected an int from 2 to 10,000,000, found {rows!r}")
    texts = [(str(name), json.dumps(plain(given, place("inputs", [name])))) for name, given in inputs.items()]
    text, values, observations = _native.propagate(
        estimator._model, texts, int(rows), seed(random_state), threads(estimator.n_jobs)
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


def _text(name: Any, value: Any) -> str:
    """A value to fix a column at, as text that reads back to the same number."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float | np.number) and np.isfinite(float(value)):
        return repr(float(value))
    raise ValueError(f"`fix[{name!r}]`: expected a finite number or a level, found {value!r}")


def _minimum(found: dict[str, Any]) -> dict[str, Any]:
    interval = found["interval"]
    return {
        "point": found["point"],
        "value": found["value"],
        "interval": None if interval is None else tuple(interval),
    }


def _summary(found: dict[str, Any]) -> Summary:
    quantiles = {one["level"]: Estimate(one["value"], one["error"]) for one in found["quantiles"]}
    return Summary(Estimate(**found["mean"]), Estimate(**found["deviation"]), quantiles)


def _rows(estimator: Regressor, points: list[Point]) -> Any:
    """The points as the model takes them: a frame if it knows column names."""
    frame = getattr(estimator, "_frame", None)
    if frame is not None:
        return frame({name: [point[name] for point in points] for name in points[0]})
    return np.array([list(point.values()) for point in points])
