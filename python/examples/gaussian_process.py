"""Compared with a Gaussian process on a noisy function of five inputs: error, coverage of 90 % intervals, time."""

import time

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from thinfit import GFTRegressor

X, y = make_friedman1(n_samples=300, n_features=5, noise=0.5, random_state=0)
X_test, truth = make_friedman1(n_samples=2000, n_features=5, noise=0.0, random_state=1)
observed = truth + 0.5 * np.random.default_rng(2).standard_normal(len(truth))

kernel = ConstantKernel(100.0) * RBF(np.ones(5)) + WhiteKernel(0.1)
models = {
    "thinfit": GFTRegressor(width=30, regularization=1e-3, random_state=0),
    "Gaussian process": GaussianProcessRegressor(kernel, normalize_y=True),
}
errors = {}
for name, model in models.items():
    begin = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - begin
    mean, std = model.predict(X_test, return_std=True)
    errors[name] = np.sqrt(np.mean((mean - truth) ** 2))
    covered = np.mean(np.abs(observed - mean) < 1.645 * std)
    print(f"{name:17} error {errors[name]:.3f}, {covered:.0%} within 90 % bounds, {seconds:.1f} s to fit")

assert errors["thinfit"] < 1.0
