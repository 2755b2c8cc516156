"""Times SHRIMP in NumPy and SciPy, to set beside `thinfit_baselines::Shrimp` (one order, default pruning).

python tools/shrimp_time.py ROWS FEATURES   # f3 in five inputs, pairs of inputs
"""

import sys
import time
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve


def solve(a, y, l):
    """Minimal norm by a ridge, on the smaller side."""
    m, p = a.shape
    if p < m:
        gram = a.T @ a
        gram[np.diag_indices(p)] += m * l
        return cho_solve(cho_factor(gram, lower=True, overwrite_a=True, check_finite=False), a.T @ y)
    gram = a @ a.T
    gram[np.diag_indices(m)] += m * l
    return a.T @ cho_solve(cho_factor(gram, lower=True, overwrite_a=True, check_finite=False), y)


def shrimp(x, y, features, q=2, prune=0.25, steps=100, l=1e-13, rng=None):
    rng = rng or np.random.default_rng(1)
    d = x.shape[1]
    sets = list(combinations(range(d), q))
    omega = np.zeros((features // len(sets) * len(sets), d))
    for i, row in enumerate(omega):
        row[list(sets[i % len(sets)])] = rng.standard_normal(q) / np.sqrt(q)
    t = x @ omega.T
    a = np.asfortranarray(np.hstack([np.cos(t), np.sin(t)]) / np.sqrt(len(omega)))
    held = len(x) // 10
    columns = np.arange(a.shape[1])
    train, validation, best = a[held:], a[:held], (np.inf, columns)
    for _ in range(steps + 1):
        b = solve(train, y[held:], l)
        error = np.mean((validation @ b - y[:held]) ** 2)
        if error < best[0]:
            best = (error, columns)
        keep = np.abs(b) > np.quantile(np.abs(b), prune)
        if len(columns) == 1 or not keep.any():
            break
        train, validation, columns = train[:, keep], validation[:, keep], columns[keep]
    return best[0], best[1], solve(a[:, best[1]], y, l)


def main():
    m, features = int(sys.argv[1]), int(sys.argv[2])
    rng = np.random.default_rng(0)
    x = rng.random((m, 5))
    y = (
        10 * np.sin(np.pi * x[:, 0] * x[:, 1])
        + 20 * (x[:, 2] - 0.5) ** 2
        + 10 * x[:, 3]
        + 5 * x[:, 4]
    )
    for _ in range(3):
        clock = time.perf_counter()
        error, columns, _ = shrimp(x, y, features)
        print(f"{time.perf_counter() - clock:.2f} s, validation {error:.2e}, {len(columns)} columns")


main()
