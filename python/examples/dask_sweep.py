"""Sweep over methods and activations on a Dask cluster of two local workers, through joblib."""

import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.model_selection import GridSearchCV

from thinfit import GFTRegressor


def main():
    X = np.random.default_rng(0).random((150, 2))
    y = np.exp(-4 * ((X - 0.5) ** 2).sum(axis=1))
    network = GFTRegressor(width=20, random_state=0, config={"direct": {"steps": 300}})
    grid = {"method": ["random", "f-opt"], "activation": ["fourier", "tanh"]}
    search = GridSearchCV(network, grid, cv=3, scoring="neg_root_mean_squared_error")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        with joblib.parallel_backend("dask"):
            search.fit(X, y)
    for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
        print(f"{parameters['method']:7} {parameters['activation']:8} error {-score:.2e}")
    assert -search.best_score_ < 1e-2


if __name__ == "__main__":  # workers import this file
    main()
