"""The same bits from Python and from the command line, which is the Rust library without Python."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from conftest import BASELINES, QUICK, quick, samples
from thinfit import GFTRegressor, load


def flags(settings, prefix=""):
    """Nested settings as the command line takes them."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from flags(value, f"{prefix}{key}.")
        elif value is not None:
            yield from ("--set", f"{prefix}{key}={json.dumps(value)}")


def table(file):
    """A CSV file as an array, exact to the last bit."""
    return np.loadtxt(file, delimiter=",", skiprows=1)


@pytest.mark.parametrize("activation", ["fourier", "tanh"])
@pytest.mark.parametrize("outputs", [1, 2])
def test_python_and_the_command_line_give_the_same_bits(program, activation, outputs, tmp_path):
    x, y = samples(outputs=outputs)
    x, y = pd.DataFrame(x, columns=["a", "b", "c"]), pd.DataFrame(y, columns=["f", "g"][:outputs])
    pd.concat([x, y], axis=1).to_csv(tmp_path / "samples.csv", index=False)

    def thinfit(*arguments):
        subprocess.run([program, *map(str, arguments), "--quiet"], check=True, cwd=tmp_path)

    # The same seed, the same file.
    model = quick(activation=activation, random_state=5).fit(x, y)
    model.save(tmp_path / "python.json")
    named = ["--activation", activation, "--width", 12, "--seed", 5]
    thinfit("fit", "samples.csv", "--target", ",".join(y), "-o", "rust.json", *named, *flags(QUICK))
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "rust.json").read_bytes()

    # Fitted here, predicted there; fitted there, predicted here.
    thinfit("predict", "python.json", "samples.csv", "-o", "there.csv", "--std", "--interval", 0.8, "--gradient")
    there = table(tmp_path / "there.csv").reshape(len(x), outputs, 7)
    here = GFTRegressor.load(tmp_path / "rust.json")
    shape = (len(x), outputs)
    for column, values in enumerate([*here.predict(x, return_std=True), *here.predict_interval(x, 0.8)]):
        assert (there[:, :, column] == values.reshape(shape)).all()
    assert (there[:, :, 4:] == here.predict_gradient(x).reshape(*shape, 3)).all()
    assert (np.asarray(model.predict(x)).reshape(shape) == there[:, :, 0]).all()


@pytest.mark.parametrize("estimator", BASELINES, ids=lambda one: type(one).__name__)
def test_baselines_give_the_same_bits(program, estimator, tmp_path):
    x, y = samples()
    x, y = pd.DataFrame(x, columns=["a", "b", "c"]), pd.Series(y, name="f")
    pd.concat([x, y], axis=1).to_csv(tmp_path / "samples.csv", index=False)

    def thinfit(*arguments):
        subprocess.run([program, *map(str, arguments), "--quiet"], check=True, cwd=tmp_path)

    model = clone(estimator).fit(x, y)
    model.save(tmp_path / "python.json")
    named = ["--method", model._model.method, "--seed", model.record_["seed"], *flags(model._settings())]
    thinfit("fit", "samples.csv", "--target", "f", "-o", "rust.json", *named)
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "rust.json").read_bytes()
    thinfit("predict", "python.json", "samples.csv", "-o", "there.csv")
    assert (table(tmp_path / "there.csv") == load(tmp_path / "rust.json").predict(x)).all()
