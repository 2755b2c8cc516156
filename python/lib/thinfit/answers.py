"""What a fitted model answers: minima, fronts, and distributions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .arrays import Floats

Point = dict[str, float | str]


@dataclass(frozen=True)
class Minimum:
    """A local minimum or maximum."""

    #: Columns and what they are set to.
    point: Point
    #: The same with the digits that a person would set; it keeps to ranges, fixed values and constraints, too.
    rounded: Point
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
    #: Columns with no detectable effect: left at typical values, free to choose.
    no_detectable_effect: list[str]
    #: Whether samples are thin there.
    thin: bool
    #: Other local minima that are about as good.
    others: list[Minimum]
    #: What to think of it, in sentences.
    notes: list[str]
    #: The point as one row to predict at: a frame if the model was fitted to one, columns by name if
    #: it was read from a file and its inputs have names, otherwise an array.
    X: Any = field(repr=False)

    def __str__(self) -> str:
        extreme = "largest" if self.maximised else "least"
        columns = [
            f"  {name}: {value if isinstance(value, str) else f'{value!r}'.removesuffix('.0')}"
            for name, value in self.rounded.items()
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
    #: The same with the digits that a person would set; they keep to ranges, fixed values and constraints, too.
    rounded: list[Point]
    #: The outputs at the points, of shape (n_points, n_outputs).
    values: Floats
    #: Columns with no detectable effect: left at typical values, free to choose.
    no_detectable_effect: list[str]
    #: The points as rows to predict at: a frame if the model was fitted to one, columns by name if
    #: it was read from a file and its inputs have names, otherwise an array.
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
    #: Of a new observation: includes the model error, drawn for each row from its calibrated interval.
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
