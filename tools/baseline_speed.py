"""Times kernel ridge, Gaussian process and SALSA beside scikit-learn and NumPy, in one run on the same points.

    cargo build --release -p thinfit-baselines --example speed
    python tools/baseline_speed.py [--task TASK] [--json]

Points are numbers of splitmix64, values are Friedman's function; every task fits m points and predicts m others.
"""

import argparse
import json
import pathlib
import subprocess
import time
import warnings

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
    """Bandwidth and ridge by closed-form leave-one-out, one eigendecomposition per bandwidth, as thinfit does it."""
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


def gp_kernel(d, signal=1.0, lengths=None, noise=1e-4):
    lengths = np.full(d, 0.5 * np.sqrt(d)) if lengths is None else lengths
    return ConstantKernel(signal, (1e-3, 1e7)) * RBF(lengths, (1e-2, 1e3)) + WhiteKernel(noise, (1e-12, 1e3))


def gaussian_process(x, y):
    low, high = x.min(0), x.max(0)
    box = lambda z: (z - low) / (high - low)
    model = GaussianProcessRegressor(
        gp_kernel(x.shape[1]), alpha=1e-12, normalize_y=True, n_restarts_optimizer=3, random_state=0
    ).fit(box(x), y)
    return lambda z: model.predict(box(z)), {"log_likelihood": model.log_marginal_likelihood_value_, "model": model}


def additive(a, b, h, order):
    sums = [np.ones((len(a), len(b)))] + [np.zeros((len(a), len(b))) for _ in range(order)]
    for j in range(a.shape[1]):
        base = np.exp(-0.5 * ((a[:, j, None] - b[None, :, j]) / h[j]) ** 2)
        for p in range(order, 0, -1):
            sums[p] += base * sums[p - 1]
    return sums[order]


def salsa(x, y):
    """30 ridges per order, as the original spends; a log grid in place of DIRECT."""
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


FITS = {"kernel-ridge": kernel_ridge, "validated": validated, "gaussian-process": gaussian_process, "salsa": salsa}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=FITS, help="only this one")
    parser.add_argument("--json", action="store_true", help="print the raw record instead of a table")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")  # of scikit-learn, that lengths are at their bounds
    program = ROOT / "target/release/examples/speed"
    output = subprocess.run([program] + ([args.task] if args.task else []), capture_output=True, text=True, check=True)
    for line in output.stdout.splitlines():
        ours = json.loads(line)
        m, d = ours["samples"], ours["inputs"]
        (x, y), (fresh, truth) = points(0, m, d), points(m, m, d)
        theirs = {"fit": [], "predict": []}
        for _ in range(1 if ours["task"] in ("gaussian-process", "salsa") else len(ours["fit"])):  # minutes otherwise
            start = time.perf_counter()
            predict, extra = FITS[ours["task"]](x, y)
            theirs["fit"].append(time.perf_counter() - start)
            start = time.perf_counter()
            f = predict(fresh)
            theirs["predict"].append(time.perf_counter() - start)
        theirs["mse"] = float(np.mean((f - truth) ** 2))
        if "model" in extra:
            model = extra.pop("model")
            # Our lengths and variances under their likelihood, whose mean is that of the outputs.
            signal = ours["signal"][0]
            kernel = gp_kernel(d, signal, np.array(ours["kernel"]["lengths"]), signal * ours["ridge"])
            ours["their_log_likelihood"] = float(model.log_marginal_likelihood(kernel.theta))
        theirs |= {key: float(value) for key, value in extra.items()}
        if args.json:
            print(json.dumps({"thinfit": ours, "python": theirs}))
            continue
        print(f"{ours['task']}, {m} samples, {d} inputs")
        for name, side in ("thinfit", ours), ("python", theirs):
            fit, predict = (np.median(side[key]) * 1e3 for key in ("fit", "predict"))
            rest = {key: side[key] for key in ("log_likelihood", "their_log_likelihood") if side.get(key) is not None}
            print(f"  {name:8} fit {fit:9.2f} ms   predict {predict:8.2f} ms   mse {side['mse']:.3e}   {rest or ''}")


if __name__ == "__main__":
    main()
