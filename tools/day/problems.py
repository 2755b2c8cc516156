"""Three engineering functions from the literature on surrogates, and one with three equal minima."""

from dataclasses import dataclass
from typing import Callable

import numpy as np


@dataclass(frozen=True)
class Problem:
    """A function of a box."""

    name: str
    ranges: dict[str, tuple[float, float]]
    f: Callable[[np.ndarray], np.ndarray]
    rows: int

    @property
    def low(self):
        return np.array([low for low, _ in self.ranges.values()])

    @property
    def high(self):
        return np.array([high for _, high in self.ranges.values()])

    def sample(self, rows, seed):
        """Rows that are uniform on the box."""
        return np.random.default_rng(seed).uniform(self.low, self.high, (rows, len(self.ranges)))


def borehole(x):
    rw, r, Tu, Hu, Tl, Hl, L, Kw = x.T
    log = np.log(r / rw)
    return 2 * np.pi * Tu * (Hu - Hl) / (log * (1 + 2 * L * Tu / (log * rw**2 * Kw) + Tu / Tl))


def piston(x):
    M, S, V0, k, P0, Ta, T0 = x.T
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (np.sqrt(A**2 + 4 * k * P0 * V0 * Ta / T0) - A)
    return 2 * np.pi * np.sqrt(M / (k + S**2 * P0 * V0 * Ta / (T0 * V**2)))


def otl(x):
    Rb1, Rb2, Rf, Rc1, Rc2, beta = x.T
    gain = beta * (Rc2 + 9)
    through = (12 * Rb2 / (Rb1 + Rb2) + 0.74) * gain / (gain + Rf)
    return through + 11.35 * Rf / (gain + Rf) + 0.74 * Rf * gain / ((gain + Rf) * Rc1)


def branin(x):
    a, b = x.T
    return (b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6) ** 2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


PROBLEMS = {
    problem.name: problem
    for problem in [
        Problem(
            "borehole",
            {
                "rw": (0.05, 0.15),
                "r": (100, 50000),
                "Tu": (63070, 115600),
                "Hu": (990, 1110),
                "Tl": (63.1, 116),
                "Hl": (700, 820),
                "L": (1120, 1680),
                "Kw": (9855, 12045),
            },
            borehole,
            150,
        ),
        Problem(
            "piston",
            {
                "M": (30, 60),
                "S": (0.005, 0.020),
                "V0": (0.002, 0.010),
                "k": (1000, 5000),
                "P0": (90000, 110000),
                "Ta": (290, 296),
                "T0": (340, 360),
            },
            piston,
            150,
        ),
        Problem(
            "otl",
            {
                "Rb1": (50, 150),
                "Rb2": (25, 70),
                "Rf": (0.5, 3),
                "Rc1": (1.2, 2.5),
                "Rc2": (0.25, 1.2),
                "beta": (50, 300),
            },
            otl,
            120,
        ),
        Problem("branin", {"x1": (-5, 10), "x2": (0, 15)}, branin, 60),
    ]
}
