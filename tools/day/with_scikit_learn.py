"""The six tasks with scikit-learn and SciPy: a Gaussian process set up by a careful user."""

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm, qmc, sobol_indices, uniform
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def plan(ranges, rows, seed):
    low, high = np.array(list(ranges.values())).T
    unit = qmc.LatinHypercube(len(ranges), optimization="random-cd", rng=seed).random(rows)
    return qmc.scale(unit, low, high)


def fit(ranges, x, y):
    d = x.shape[1]
    kernel = ConstantKernel(1.0, (1e-3, 1e6)) * RBF(np.ones(d), (1e-2, 1e4)) + WhiteKernel(1e-6, (1e-12, 1e1))
    process = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=5, random_state=0)
    return make_pipeline(StandardScaler(), process).fit(x, y)


def bars(model, x):
    mean, deviation = model.predict(x, return_std=True)
    half = norm.ppf(0.95) * deviation
    return mean, mean - half, mean + half


def indices(model, ranges, x):
    dists = [uniform(low, high - low) for low, high in ranges.values()]
    found = sobol_indices(func=lambda x: model.predict(x.T)[None], n=2**13, dists=dists, rng=0)
    return found.first_order, found.total_order


def minimum(model, ranges):
    low, high = np.array(list(ranges.values())).T
    width = high - low

    def value(u):
        return model.predict((low + u * width)[None])[0]

    starts = qmc.Sobol(len(low), rng=0).random(32)
    found = [minimize(value, u, method="L-BFGS-B", bounds=[(0, 1)] * len(low)) for u in starts]
    best = min(found, key=lambda result: result.fun)
    return low + best.x * width, best.fun


def suggest(model, ranges, x, y, rows):
    low, high = np.array(list(ranges.values())).T
    candidates = qmc.scale(qmc.Sobol(len(low), rng=0).random(2048), low, high)
    chosen = []
    for _ in range(rows):
        _, deviation = model.predict(candidates, return_std=True)
        worst = np.argmax(deviation)
        chosen.append(candidates[worst])
        # Its value is not known yet: the prediction stands for it, and the kernel stays as it is.
        x, y = np.vstack([x, chosen[-1]]), np.append(y, model.predict(chosen[-1][None]))
        process = GaussianProcessRegressor(model[-1].kernel_, optimizer=None, normalize_y=True)
        model = make_pipeline(model[0], process)
        process.fit(model[0].transform(x), y)
    return np.array(chosen)
