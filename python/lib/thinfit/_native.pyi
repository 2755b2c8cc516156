"""The compiled part of the package. Arrays are float64 and C- or F-contiguous; ``threads=0`` means all cores."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Encoding",
    "InterruptedFit",
    "Model",
    "SettingError",
    "TwoValuesWarning",
    "compare",
    "conclude",
    "condense",
    "defaults",
    "design",
    "export",
    "fit",
    "learn",
    "long_names",
    "merge_condensed",
    "merge_surveys",
    "minimise",
    "preset",
    "program",
    "propagate",
    "survey",
]

def program(words: Sequence[str]) -> int: ...
def export(model: Model, path: str | os.PathLike[str], language: str, precision: str, digits: int) -> list[Path]: ...
def design(
    ranges: Sequence[tuple[str, str]],
    rows: int,
    scheme: str,
    taken: Sequence[Sequence[float | str]],
    seed: int,
) -> list[list[float] | list[str]]: ...

class InterruptedFit(UserWarning):
    """A fit was interrupted by Ctrl-C; the model is the best so far."""

class TwoValuesWarning(UserWarning):
    """An output has only two values, such as 0 and 1; predictions are not probabilities."""

class SettingError(ValueError):
    """An invalid setting: ``args`` are its path in the settings (list of str and int) and the problem (str)."""

# Numbers; text as levels, codes (NaN if missing) and "found", "categories" or "ordered"; or dates, which are not read.
_Cells = NDArray[np.float64] | tuple[list[str], NDArray[np.float64], str] | None

@final
class Encoding:
    def __new__(cls, text: str) -> Encoding: ...
    @staticmethod
    def learn(names: Sequence[str], columns: Sequence[_Cells]) -> Encoding: ...
    def apply(self, columns: Sequence[_Cells]) -> NDArray[np.float64]: ...
    def __getnewargs__(self) -> tuple[str]: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def used(self) -> list[str]: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def row_numbers(self) -> list[str]: ...
    @property
    def left_out(self) -> list[str]: ...

@final
class Model:
    def __new__(cls, text: str) -> Model: ...
    @staticmethod
    def load(path: str | os.PathLike[str]) -> Model: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def to_json(self) -> str: ...
    def __getnewargs__(self) -> tuple[str]: ...
    @property
    def method(self) -> str: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def encoding(self) -> Encoding | None: ...
    def encoded(self, encoding: Encoding) -> Model: ...
    @property
    def domain(self) -> list[list[float]]: ...
    @property
    def kind(self) -> str: ...
    def report(self) -> str: ...
    def page(
        self,
        path: str | os.PathLike[str],
        rows: tuple[NDArray[np.float64], NDArray[np.float64]] | None,
        threads: int,
    ) -> None: ...
    def held_out(
        self, x: NDArray[np.float64], y: NDArray[np.float64], threads: int
    ) -> tuple[NDArray[np.float64], str, bool]: ...
    @property
    def record(self) -> str: ...
    @property
    def activation(self) -> str: ...
    @property
    def scalers(self) -> list[list[list[float]]]: ...
    @property
    def warps(self) -> list[tuple[float, float] | None]: ...
    @property
    def phases(self) -> list[str]: ...
    @property
    def weights(self) -> list[list[list[float]]]: ...
    def outside(self, x: NDArray[np.float64]) -> str | None: ...
    def predict(self, x: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def gradient(self, x: NDArray[np.float64], output: int, threads: int) -> NDArray[np.float64]: ...
    def deviation(self, x: NDArray[np.float64], threads: int) -> NDArray[np.float64]: ...
    def interval(
        self, x: NDArray[np.float64], level: float, threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    @property
    def factors(self) -> list[tuple[str, list[str], list[float], int]]: ...
    @property
    def warning(self) -> str | None: ...
    @property
    def undetected(self) -> list[bool]: ...
    def sensitivity(
        self, output: int, given: Sequence[tuple[str, str]], errors: bool, threads: int
    ) -> dict[str, Any]: ...
    def shapley(self, x: NDArray[np.float64], output: int, threads: int) -> dict[str, Any]: ...
    def effect(self, output: int, input: int, at: Sequence[float], threads: int) -> list[float]: ...
    def suggest(
        self,
        rows: int,
        goal: str,
        output: int,
        given: Sequence[tuple[str, str]],
        kept: tuple[Sequence[tuple[str, str]], Sequence[str]],
        taken: NDArray[np.float64],
        seed: int,
        threads: int,
    ) -> list[tuple[str, list[Any]]]: ...
    def export_difference(self, precision: str) -> float: ...
    def onnx(self, precision: str, path: str | os.PathLike[str] | None) -> bytes: ...

def fit(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    groups: NDArray[np.uint64] | None,
    names: tuple[Sequence[str] | None, Sequence[str] | None],
    preset: str | None,
    settings: str,
    threads: int,
    progress: Callable[[float, float | None], None] | None,
    device: tuple[str, Callable[[], None]] | None = None,
) -> Model: ...
def compare(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    groups: NDArray[np.uint64] | None,
    methods: Sequence[str] | None,
    folds: int,
    budget: float,
    seed: int,
    threads: int,
    progress: Callable[[float, float | None], None] | None,
) -> str: ...
def long_names(
    settings: str, names: tuple[Sequence[str] | None, Sequence[str] | None], shape: tuple[int, int]
) -> tuple[list[str], list[str]]: ...
def survey(x: NDArray[np.float64], y: NDArray[np.float64], first: int, settings: str, threads: int) -> bytes: ...
def merge_surveys(one: bytes, other: bytes) -> bytes: ...
def learn(
    survey: bytes,
    names: tuple[Sequence[str], Sequence[str]],
    settings: str,
    threads: int,
    progress: Callable[[float, float | None], None] | None,
) -> tuple[str, str | None]: ...
def condense(draft: str, x: NDArray[np.float64], y: NDArray[np.float64], first: int, threads: int) -> bytes: ...
def merge_condensed(draft: str, one: bytes, next: bytes) -> bytes: ...
def conclude(
    survey: bytes,
    names: tuple[Sequence[str], Sequence[str]],
    learned: str,
    condensed: bytes | None,
    settings: str,
    threads: int,
) -> Model: ...
def minimise(
    model: Model,
    goals: Sequence[tuple[int, bool]],
    fix: Sequence[tuple[str, str]],
    within: Sequence[str],
    ranges: Sequence[tuple[str, str]],
    seed: int,
    threads: int,
) -> str: ...
def propagate(
    model: Model,
    inputs: Sequence[tuple[str, str]],
    rows: int,
    seed: int,
    threads: int,
) -> tuple[str, list[list[float]], list[list[float]]]: ...
def preset(name: str) -> str: ...
def defaults(name: str) -> str | None: ...
