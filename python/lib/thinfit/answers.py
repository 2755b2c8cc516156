"""Results of studies: minima, Pareto fronts and distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .arrays import Floats

Point = dict[str, float | str]


@dataclass(frozen=True)
class Minimum:
    """A local minimum or maximum."""

    #: Values of the columns.
    point: Point
    #: The same, rounded to practical digits within ranges, fixed values and constraints.
    rounded: Point
    #: The output there.
    value: float
    #: Interval that contains a new observation there with probability 0.9; None if the model has none.
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Optimum(Minimum):
    """The minimum or maximum of an output; `str` shows it with notes on how far to trust it."""

    #: Name of the output.
    output: str
    #: Whether it was maximised.
    maximised: bool
    #: Columns at the end of their range, beyond which the true minimum may lie.
    borders: list[str]
    #: Columns outside the ranges of the samples, if wider ranges were given.
    beyond: list[str]
    #: Constraints that limit the minimum.
    held_by: list[str]
    #: Columns with no detectable effect, left at typical values.
    no_detectable_effect: list[str]
    #: Whether there are few samples nearby.
    thin: bool
    #: Other local minima that are about as good.
    others: list[Minimum]
    #: Notes on how far to trust it, as sentences.
    notes: list[str]
    #: The point as one row for `predict`: a frame if the model was fitted to one, a dict of columns if
    #: it was read from a file and its inputs have names, otherwise an array.
    X: Any = field(repr=False)

    def __str__(self) -> str:
        extremum = "maximum" if self.maximised else "minimum"
        columns = [
            f"  {name}: {value if isinstance(value, str) else f'{value!r}'.removesuffix('.0')}"
            for name, value in self.rounded.items()
        ]
        return "\n".join([f"{extremum} of {self.output}: {self.value:.6g} at", *columns, *self.notes])


@dataclass(frozen=True)
class Front:
    """Points of which none is better than another in every output."""

    #: Names of the outputs.
    outputs: list[str]
    #: Which of them were maximised.
    maximised: list[bool]
    #: Values of the columns at each point, ordered by the first output.
    points: list[Point]
    #: The same, rounded to practical digits within ranges, fixed values and constraints.
    rounded: list[Point]
    #: The outputs at the points, of shape (n_points, n_outputs).
    values: Floats
    #: Columns with no detectable effect, left at typical values.
    no_detectable_effect: list[str]
    #: The points as rows for `predict`: a frame if the model was fitted to one, a dict of columns if
    #: it was read from a file and its inputs have names, otherwise an array.
    X: Any = field(repr=False)


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error from random draws."""

    value: float
    error: float


@dataclass(frozen=True)
class Summary:
    """Summary statistics of a distribution."""

    mean: Estimate
    deviation: Estimate
    #: Quantiles by the probability below them, such as 0.95.
    quantiles: dict[float, Estimate]


@dataclass(frozen=True)
class Spread:
    """The distribution of an output."""

    #: Name of the output.
    output: str
    #: Of the model's prediction.
    model: Summary
    #: Of a new observation: includes the model error, drawn for each row from its calibrated interval.
    #: None if the model has no intervals.
    observation: Summary | None
    #: Predictions, sorted.
    values: Floats = field(repr=False)
    #: New observations, sorted; empty if the model has no intervals.
    observations: Floats = field(repr=False)


@dataclass(frozen=True)
class Propagation:
    """The distributions of the outputs."""

    #: Number of draws.
    rows: int
    #: The distribution of each output.
    outputs: list[Spread]
    #: The share of draws outside the ranges of the samples, where the model extrapolates.
    outside: float
    #: Columns outside their range, with their shares of the draws.
    outside_by: dict[str, float]
    #: Columns without a given distribution, uniform over the ranges of the samples.
    unnamed: list[str]
