"""Fits to Dask collections give the model of a single process, and survive the loss of a worker."""

import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import thinfit
from conftest import LONG, long_samples, samples

dask = pytest.importorskip("dask", reason="fits on Dask are not tested: pip install dask[dataframe,distributed]")
distributed = pytest.importorskip("distributed", reason="fits on Dask are not tested: pip install dask[distributed]")

import dask.array as da  # noqa: E402

import thinfit.dask  # noqa: E402

SMALL = {"budget": 0.05, "random_state": 0}


@pytest.fixture(scope="module")
def cluster():
    """A cluster of processes, and its client."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            yield cluster, client


def chunked(x, y, rows):
    """Both as Dask arrays; y is cut otherwise, and so are the columns of x."""
    return da.from_array(x, chunks=(rows, 1)), da.from_array(y, chunks=(rows + 1000, *y.shape[1:]))


def same(model, alone, x, y):
    """That the model is the one of a single process: predictions to 1e-10, and in fact every bit."""
    difference = np.abs(model.predict(x) - alone.predict(x)).max()
    assert difference <= 1e-10 * y.std(), difference
    assert model._model.to_json() == alone._model.to_json()
    assert model.diagnosis_ == alone.diagnosis_


def test_two_workers_find_the_model_of_a_single_process(cluster, alone):
    x, y = long_samples()
    over, f = chunked(x, y, 2507)
    model = thinfit.dask.AutoRegressor(**LONG).fit(over, f)
    same(model, alone, x, y)
    lazy = model.predict(over)
    assert isinstance(lazy, da.Array) and lazy.chunks == (over.chunks[0],)
    assert (lazy.compute() == model.predict(x)).all()
    assert model.score(over, f) == pytest.approx(alone.score(x, y), abs=1e-12)


def deadly(block, folder):
    """The block, but the first and the third time that it is asked for, the process dies."""
    times = len(os.listdir(folder))
    open(os.path.join(folder, str(times)), "w").close()
    if times in (0, 2):
        os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_so_do_three_workers_when_one_is_killed_in_either_pass(cluster, alone, tmp_path):
    cluster, client = cluster
    cluster.scale(3)
    client.wait_for_workers(3, timeout=60)
    x, y = long_samples()
    over, f = chunked(x, y, 1500)
    first = over[:1500].rechunk((1500, 2)).map_blocks(deadly, str(tmp_path), dtype=float, meta=np.empty((0, 2)))
    model = thinfit.dask.AutoRegressor(**LONG).fit(da.concatenate([first, over[1500:]]), f)
    assert len(list(tmp_path.iterdir())) == 4
    same(model, alone, x, y)


def test_frames_keep_their_names_and_need_no_lengths(tmp_path):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    x, y = samples(rows=300, outputs=2)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(i=range(300), n=np.arange(300) % 7)
    frame = frame.assign(f=y[:, 0], g=y[:, 1])
    over = dd.from_pandas(frame, npartitions=4)
    # The second of the partitions is empty.
    over, frame = (table[(table.i < 75) | (table.i > 149)] for table in (over, frame))
    inputs, outputs = ["a", "b", "c", "n"], ["f", "g"]
    model = thinfit.dask.AutoRegressor(**SMALL).fit(over[inputs], over[outputs])
    plain = thinfit.AutoRegressor(**SMALL).fit(frame[inputs], frame[outputs])
    assert list(model.feature_names_in_) == inputs and model._model.outputs == outputs
    lazy, std = model.predict(over[inputs], return_std=True)
    assert (lazy.compute() == plain.predict(frame[inputs])).all()
    assert (std.compute() == plain.predict(frame[inputs], return_std=True)[1]).all()
    assert model.score(over[inputs], over[outputs]) == pytest.approx(plain.score(frame[inputs], frame[outputs]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(over[inputs[::-1]])
    assert list(model.suggest(2).columns) == inputs
    model.save(tmp_path / "model.json")
    again = thinfit.load(tmp_path / "model.json")
    assert type(again) is thinfit.AutoRegressor
    assert (again.predict(frame[inputs]) == plain.predict(frame[inputs])).all()
    again = thinfit.dask.AutoRegressor.load(tmp_path / "model.json")
    assert (again.predict(over[inputs]).compute() == plain.predict(frame[inputs])).all()


def test_arrays_in_memory_and_one_series_work_as_ever():
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    x, y = samples()
    plain = thinfit.AutoRegressor(**SMALL).fit(x, y)
    model = thinfit.dask.AutoRegressor(**SMALL)
    assert (clone(model).fit(x, y).predict(x) == plain.predict(x)).all()
    series = dd.from_pandas(pd.Series(y, name="height"), npartitions=2)
    model.fit(da.from_array(x, chunks=(33, 3)), series)
    assert model._model.outputs == ["height"]
    assert (model.predict(x) == plain.predict(x)).all()
    assert not hasattr(model, "feature_names_in_")


def test_a_network_is_always_thin_under_its_own_name():
    x, y = samples()
    model = thinfit.dask.GFTRegressor(**SMALL, width=12).fit(*chunked(x, y, 50))
    features = np.exp(2j * np.pi * (x @ model.features_.T + model.biases_))
    by_hand = model.intercept_ + (features @ model.coef_).real
    np.testing.assert_allclose(model.predict(x), by_hand, atol=1e-11 * np.abs(model.coef_).sum())
    assert model.kind_ == "network" and len(model.coef_) <= 12
    assert model.get_params()["thin"]


def test_the_example_of_the_book_works():
    page = Path(__file__).parent.parent.parent / "docs" / "cluster.md"
    (code,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    with dask.config.set(scheduler="threads"):
        exec(code, {})


def unread(block):
    raise AssertionError("no row should be read")


def test_what_is_wrong_is_said_before_rows_are_read_where_it_can_be():
    x, y = chunked(*samples(), 50)
    x = x.map_blocks(unread, dtype=float, meta=np.empty((0, 3)))
    for parameters, problem in [({"width": 0}, "`width`"), ({"budget": -1.0}, "`budget`")]:
        with pytest.raises(ValueError, match=problem):
            thinfit.dask.AutoRegressor(**parameters).fit(x, y)
    with pytest.raises(ValueError, match="120 and 119"):
        thinfit.dask.AutoRegressor().fit(x, y[1:])
    with pytest.raises(ValueError, match="two axes"):
        thinfit.dask.AutoRegressor().fit(y, y)
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["one", "two"]}), npartitions=1)
    with pytest.raises(ValueError, match="numeric columns, found `b`"):
        thinfit.dask.AutoRegressor().fit(frame, frame["a"])


def test_gaps_are_refused_by_their_place_in_the_whole_table():
    x, y = samples()
    x[77, 1] = np.nan
    with pytest.raises(ValueError, match="X has NaN in 1 of 50 rows from row 50 on, in column `x2`, first in row 77"):
        thinfit.dask.AutoRegressor(**SMALL).fit(*chunked(x, y, 50))
