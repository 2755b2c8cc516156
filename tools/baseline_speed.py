"""Times our SHRIMP, SALSA, kernel ridge and Gaussian process against NumPy, SciPy and scikit-learn on the same points.

    cargo build --release -p thinfit-methods --example speed
    python tools/baseline_speed.py [--task TASK] [--rounds 5] [--out raw.jsonl]

Points come from splitmix64, values from Friedman's function; every task fits m points and predicts m others. After a warm-up,
each round fits every task once in Rust and once in Python. Each pair is one line of the raw record, which also counts the
Python warnings by kind.
"""

import argparse
import json
import pathlib
import subprocess
import time
import warnings
from collections import Counter
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

ROOT = pathlib.Path(__file__).resolve().parent.parent


def points(start, m, d):
    with np.errstate(over="ignore"):
        z = (np.arange(start * d, (start + m) * d, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = ((z ^ (z >> np.uint64(31))) >> np.uint64(11)).astype(float).reshape(m, d) / 2.0**53
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, y


def kernel_ridge(x, y):
    sigma = np.median(pdist(x))
    return KernelRidge(kernel="rbf", gamma=0.5 / sigma**2, alpha=1e-4).fit(x, y).predict, {}


def validated(x, y):
    """Bandwidth and ridge by closed-form leave-one-out, one eigendecomposition per bandwidth, as in thinfit."""
    shift, scale = x.mean(0), x.std(0)
    x = (x - shift) / scale
    mean, std = y.mean(), y.std()
    y = (y - mean) / std
    distances = pdist(x)
    squared, median = squareform(distances**2), np.median(distances)
    best = (np.inf,)
    for bandwidth in 2.0 ** np.arange(-2, 5):
        s, u = np.linalg.eigh(np.exp(-0.5 * squared / (bandwidth * median) ** 2))
        floor = len(y) * np.finfo(float).eps * s[-1]
        shrink = 1 / np.maximum(np.maximum(s, 0)[:, None] + 10.0 ** np.arange(-12, 2), floor)
        alpha = u @ (shrink * (u.T @ y)[:, None])
        errors = np.mean((alpha / (u**2 @ shrink)) ** 2, axis=0)
        k = np.argmin(errors)
        best = min(best, (errors[k], bandwidth, 10.0 ** (k - 12)))
    _, bandwidth, ridge = best
    gamma = 0.5 / (bandwidth * median) ** 2
    alpha = cho_solve(cho_factor(np.exp(-gamma * squared) + ridge * np.eye(len(y)), lower=True), y)
    return lambda z: mean + std * np.exp(-gamma * cdist((z - shift) / scale, x, "sqeuclidean")) @ alpha, {}


def gp_kernel(m, lengths, noise=1e-4, signal=1.0):
    """Noise relative to the signal, so that the jitter m eps is too: as an absolute term it is lost beside a large signal.

    The bounds are free in double precision, as ours are: at a length of 1/sqrt(eps) an input has left the kernel.
    """
    eps = np.finfo(float).eps
    noise = WhiteKernel(noise, (m * eps, 1e3))
    return ConstantKernel(signal, (1e-3, 1e12)) * (RBF(lengths, (1e-3, eps**-0.5)) + noise)


def gaussian_process(x, y, starts=4):
    """The likeliest of several starts, drawn as ours are: scikit-learn would draw its restarts from all of the bounds,
    where most lead nowhere."""
    (m, d), rng = x.shape, np.random.default_rng(0)
    low, high = x.min(0), x.max(0)
    box = lambda z: (z - low) / (high - low)
    middle = np.full(d, 0.5 * np.sqrt(d))
    kernels = [gp_kernel(m, middle)]
    for _ in range(starts - 1):
        kernels.append(gp_kernel(m, middle * np.exp(rng.uniform(-1.5, 1.5, d)), 10 ** rng.uniform(-9, -1)))
    models = [GaussianProcessRegressor(kernel, alpha=0.0, normalize_y=True).fit(box(x), y) for kernel in kernels]
    model = max(models, key=lambda model: model.log_marginal_likelihood_value_)
    return lambda z: model.predict(box(z)), {"log_likelihood": model.log_marginal_likelihood_value_, "model": model}


def additive(a, b, h, order):
    sums = [np.ones((len(a), len(b)))] + [np.zeros((len(a), len(b))) for _ in range(order)]
    for j in range(a.shape[1]):
        base = np.exp(-0.5 * ((a[:, j, None] - b[None, :, j]) / h[j]) ** 2)
        for p in range(order, 0, -1):
            sums[p] += base * sums[p - 1]
    return sums[order]


def salsa(x, y):
    """30 ridges per order, the budget of the original; a log grid in place of DIRECT."""
    m, d = x.shape
    order_of_rows = np.random.default_rng(0).permutation(m)
    x, scale = x[order_of_rows], y.std()
    y = y[order_of_rows] / scale
    h = 20 * x.std(0, ddof=1) * m**-0.2
    best = (np.inf, 0, 0.0)
    for order in range(1, d + 1):
        gram = additive(x, x, h, order)
        for ridge in np.geomspace(1e-4 * m, 100 * m, 30):
            score = 0.0
            for fold in range(2):
                held = np.zeros(m, bool)
                held[round(fold * m / 5) : round((fold + 1) * m / 5)] = True
                a = gram[np.ix_(~held, ~held)]
                a[np.diag_indices_from(a)] += ridge
                try:
                    alpha = cho_solve(cho_factor(a, lower=True, overwrite_a=True), y[~held])
                except np.linalg.LinAlgError:
                    score = np.inf
                    break
                score += np.mean((gram[np.ix_(held, ~held)] @ alpha - y[held]) ** 2)
            best = min(best, (score, order, ridge))
        if order - best[1] >= 3:
            break
    _, order, ridge = best
    alpha = cho_solve(cho_factor(additive(x, x, h, order) + ridge * np.eye(m), lower=True), y)
    return lambda z: scale * additive(z, x, h, order) @ alpha, {"order": order, "ridge": ridge}


def pruning_solve(a, y, ridge):
    """Minimum norm by a ridge, on the smaller side."""
    m, p = a.shape
    gram = a.T @ a if p < m else a @ a.T
    gram[np.diag_indices_from(gram)] += m * ridge
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    return cho_solve(factor, a.T @ y) if p < m else a.T @ cho_solve(factor, y)


def shrimp(x, y, features=10_000, order=2, prune=0.25, steps=100, ridge=1e-13, seed=1):
    rng = np.random.default_rng(seed)
    x, y = (lambda rows: (x[rows], y[rows]))(rng.permutation(len(x)))
    d = x.shape[1]
    sets = list(combinations(range(d), order))
    omega = np.zeros((features // len(sets) * len(sets), d))
    for i, row in enumerate(omega):
        row[list(sets[i % len(sets)])] = rng.standard_normal(order) / np.sqrt(order)

    def planes(x, omega, scale):
        t = x @ omega.T
        return np.hstack([np.cos(t), np.sin(t)]) * scale

    scale = 1 / np.sqrt(len(omega))
    a = np.asfortranarray(planes(x, omega, scale))
    held, columns = len(x) // 10, np.arange(a.shape[1])
    train, validation, best = a[held:], a[:held], (np.inf, columns)
    for _ in range(steps + 1):
        b = pruning_solve(train, y[held:], ridge)
        best = min(best, (np.mean((validation @ b - y[:held]) ** 2), columns), key=lambda pair: pair[0])
        keep = np.abs(b) > np.quantile(np.abs(b), prune)
        if len(columns) == 1 or not keep.any():
            break
        train, validation, columns = train[:, keep], validation[:, keep], columns[keep]
    columns = best[1]
    b = np.zeros(a.shape[1])
    b[columns] = np.linalg.lstsq(a[:, columns], y, rcond=1e-15)[0]
    used = np.unique(columns % len(omega))
    b = b.reshape(2, -1)[:, used].ravel()
    return lambda z: planes(z, omega[used], scale) @ b, {}


# Name, Python version, our method, sizes.
TASKS = [
    ("shrimp", shrimp, {"method": "shrimp", "orders": [2]}, [(500, 5), (1000, 10)]),
    ("salsa", salsa, {"method": "salsa"}, [(500, 5), (1000, 10)]),
    ("kernel-ridge", kernel_ridge, {"method": "kernel-ridge"}, [(500, 5), (2000, 20)]),
    ("kernel-ridge-validated", validated, None, [(500, 5)]),
    ("gaussian-process", gaussian_process, {"method": "gaussian-process"}, [(200, 10), (500, 5)]),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=[task[0] for task in TASKS], help="only this one")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of fits per task and size")
    parser.add_argument("--out", type=pathlib.Path, help="where the raw record goes, line by line")
    args = parser.parse_args()
    program = ROOT / "target/release/examples/speed"
    record = args.out.open("w") if args.out else None
    pairs = {}
    for turn in range(args.rounds):
        for task, fit, method, sizes in TASKS:
            if args.task not in (None, task):
                continue
            for m, d in sizes:
                command = [program, json.dumps(method) if method else task, str(m), str(d)]
                ours = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
                theirs = python(fit, m, d, ours)
                pairs.setdefault((task, m, d), []).append((ours, theirs))
                line = {"task": task, "samples": m, "inputs": d, "round": turn, "thinfit": ours, "python": theirs}
                if record:
                    print(json.dumps(line), file=record, flush=True)
    print(f"{'task':24}{'samples':>8}{'inputs':>8}{'fit, ms':>12}{'Python':>12}{'ratio':>8}   test errors, warnings")
    for (task, m, d), runs in pairs.items():
        ours, theirs = (np.median([run[side]["fit"] for run in runs]) for side in (0, 1))
        ratio = np.median([theirs["fit"] / ours["fit"] for ours, theirs in runs])
        errors = " ".join(f"{run['mse']:.3e}" for run in runs[0])
        raised = sum((Counter(run[1]["warnings"]) for run in runs), Counter())
        raised = "; ".join(f"{count} x {text}" for text, count in raised.items())
        print(f"{task:24}{m:8}{d:8}{ours * 1e3:12.1f}{theirs * 1e3:12.1f}{ratio:8.1f}   {errors}   {raised}")


def python(fit, m, d, ours):
    """One fit and one prediction in Python; adds to `ours` what its lengths are worth under their likelihood."""
    (x, y), (fresh, truth) = points(0, m, d), points(m, m, d)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        start = time.perf_counter()
        predict, extra = fit(x, y)
        between = time.perf_counter()
    f = predict(fresh)
    end = time.perf_counter()
    if "model" in extra:
        model, signal = extra.pop("model"), ours["signal"]
        kernel = gp_kernel(m, np.array(ours["lengths"]), ours["ridge"], signal)
        # Their mean is that of the outputs; ours is fitted.
        ours["their_log_likelihood"] = float(model.log_marginal_likelihood(kernel.theta))
    result = {"fit": between - start, "predict": end - between, "mse": float(np.mean((f - truth) ** 2))}
    result |= {key: float(value) for key, value in extra.items()}
    return result | {"warnings": Counter(kind(str(warning.message)) for warning in raised)}


def kind(warning):
    """A warning without the numbers that differ from fit to fit."""
    kinds = "failed to converge", "close to the specified lower bound", "close to the specified upper bound"
    return next((kind for kind in kinds if kind in warning), warning)


if __name__ == "__main__":
    main()
