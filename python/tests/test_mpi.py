"""Ranks that share the rows find the model of a single process, all of them."""

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import thinfit.mpi
from conftest import LONG, long_samples, samples
from thinfit.pieces import Pieces


class Rank:
    """A communicator as mpi4py has it, for threads."""

    def __init__(self, rank, barrier, objects):
        self.rank, self._barrier, self._objects = rank, barrier, objects

    def allgather(self, sendobj):
        self._objects[self.rank] = sendobj
        self._barrier.wait(timeout=60)
        everything = list(self._objects)
        self._barrier.wait(timeout=60)
        return everything

    def gather(self, sendobj, root=0):
        everything = self.allgather(sendobj)
        return everything if self.rank == root else None

    def bcast(self, obj, root=0):
        return self.allgather(obj)[root]


def on_ranks(shares, **parameters):
    """What the ranks with these shares of the rows end with: a model or an error each."""
    barrier, objects, ends = threading.Barrier(len(shares)), [None] * len(shares), [None] * len(shares)

    def fit(rank, share):
        try:
            ends[rank] = thinfit.mpi.AutoRegressor(**parameters).fit(*share, Rank(rank, barrier, objects))
        except Exception as error:
            ends[rank] = error

    threads = [threading.Thread(target=fit, args=pair) for pair in enumerate(shares)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    return ends


def shared(x, y, cuts):
    return list(zip(np.split(x, cuts), np.split(y, cuts), strict=True))


def test_ranks_find_the_model_of_a_single_process(alone):
    x, y = long_samples()
    # The second of them has no rows.
    models = on_ranks(shared(x, y, [3000, 3000, 9000]), **LONG)
    for model in models:
        assert np.abs(model.predict(x) - alone.predict(x)).max() <= 1e-10 * y.std()
        assert model._model.to_json() == alone._model.to_json()
        assert model.diagnosis_ == alone.diagnosis_


def test_a_drawn_seed_is_that_of_the_first_rank_and_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    x, y = samples(outputs=2)
    frame, outputs = pd.DataFrame(x, columns=["a", "b", "c"]), pd.DataFrame(y, columns=["f", "g"])
    shares = [(frame[:50], outputs[:50]), (frame[50:], outputs[50:])]
    models = on_ranks(shares, budget=0.05, random_state=np.random.RandomState(1))
    one, other = (model._model.to_json() for model in models)
    assert one == other
    assert list(models[1].feature_names_in_) == ["a", "b", "c"] and models[1]._model.outputs == ["f", "g"]


def test_an_error_of_one_rank_is_raised_by_all():
    x, y = samples()
    x[77, 1] = np.nan
    for cuts, parameters, problem in [
        ([50], {}, "rank 1: X has NaN in 1 of 70 rows from row 50 on, in column `x2`, first in row 77"),
        ([50], {"budget": -1.0}, "rank 0: `budget`"),
    ]:
        for end in on_ranks(shared(x, y, cuts), **parameters):
            assert isinstance(end, ValueError) and problem in str(end), end
    for end in on_ranks([(x, y), (x[:, :2], y)]):
        assert isinstance(end, ValueError) and "rank 1: expected the columns of rank 0" in str(end), end
    for end in on_ranks([(x, y), (x, y[1:])]):
        assert isinstance(end, ValueError) and "rank 1: y: expected 120 rows" in str(end), end


def test_bytes_from_elsewhere_are_refused():
    pieces = Pieces.of(thinfit.AutoRegressor(), (None, None), (3, 1))
    survey = pieces.survey(*samples(), 0)
    for other in b"", b"other", survey[:-1], survey + b"0":
        with pytest.raises(ValueError, match="checksum does not match"):
            pieces.merge_surveys(survey, other)
    with pytest.raises(ValueError, match="as in X"):
        pieces.survey(np.zeros((4, 3)), np.zeros(5), 0)


SCRIPT = """
import numpy as np
from mpi4py import MPI
from thinfit.mpi import AutoRegressor

comm = MPI.COMM_WORLD
rows = np.array_split(np.load("rows.npy"), comm.size)[comm.rank]
model = AutoRegressor(budget=0.05, random_state=0).fit(rows[:, :-1], rows[:, -1], comm)
model.save(f"model-{comm.rank}.json")
"""


def test_mpirun_finds_the_same_model_on_both_ranks(tmp_path):
    pytest.importorskip("mpi4py", reason="fits over MPI are tested with threads alone: pip install mpi4py mpich")
    mpirun = shutil.which("mpirun", path=Path(sys.executable).parent) or shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("fits over MPI are tested with threads alone: there is no mpirun")
    x, y = samples()
    np.save(tmp_path / "rows.npy", np.column_stack([x, y]))
    command = [mpirun, "-n", "2", sys.executable, "-c", SCRIPT]
    subprocess.run(command, check=True, timeout=120, cwd=tmp_path)
    plain = thinfit.AutoRegressor(budget=0.05, random_state=0).fit(x, y)
    for rank in range(2):
        assert (thinfit.load(tmp_path / f"model-{rank}.json").predict(x) == plain.predict(x)).all()
