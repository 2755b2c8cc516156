"""Fits in parallel: the same results as one after another, and no more threads than cores."""

import os
import threading

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import quick, samples

GRID = {"gftregressor__width": [4, 12], "gftregressor__regularization": [0.0, 0.1]}


def search(**parameters):
    return GridSearchCV(make_pipeline(StandardScaler(), quick()), GRID, cv=3, **parameters)


@pytest.fixture(scope="module")
def serial():
    return search().fit(*samples())


def same(found, serial):
    x, _ = samples()
    assert found.best_params_ == serial.best_params_
    assert (found.cv_results_["mean_test_score"] == serial.cv_results_["mean_test_score"]).all()
    assert (found.predict(x) == serial.predict(x)).all()


def test_grid_search_in_two_processes_finds_the_same_model(serial):
    same(search(n_jobs=2).fit(*samples()), serial)


def test_grid_search_in_two_threads_finds_the_same_model(serial):
    with joblib.parallel_backend("threading", n_jobs=2):
        same(search().fit(*samples()), serial)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield client


def test_grid_search_on_a_dask_cluster_finds_the_same_model(serial, cluster):
    with joblib.parallel_backend("dask", wait_for_workers_timeout=60):
        same(search().fit(*samples()), serial)


def threads_of_a_fit():
    """Threads that a fit adds to this process, without the one that waits for it and the one that counts."""

    def count():
        return len(os.listdir("/proc/self/task"))

    before, most, done = count(), 0, threading.Event()

    def watch():
        nonlocal most
        while not done.wait(0.002):
            most = max(most, count())

    thread = threading.Thread(target=watch)
    thread.start()
    model = quick(config={"generate": {"steps": 1000}}).fit(*samples())
    model.predict(np.zeros((10_000, 3)))
    done.set()
    thread.join()
    return most - before - 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="counts threads in /proc")
@pytest.mark.parametrize("where", ["joblib", "dask"])
def test_workers_do_not_start_more_threads_than_their_share(where, request):
    if where == "dask":
        cluster = request.getfixturevalue("cluster")
        counts = cluster.gather([cluster.submit(threads_of_a_fit, pure=False) for _ in range(4)])
    else:
        counts = joblib.Parallel(n_jobs=2)(joblib.delayed(threads_of_a_fit)() for _ in range(4))
    share = max((os.cpu_count() or 1) // 2, 1)
    assert all(0 <= count <= share for count in counts), counts
