"""The same bits in Python, in the Rust library and on the command line."""

import json
import subprocess

import numpy as np
import pytest
from conftest import quick, samples

from thinfit import GFTRegressor


class Raw:
    """The example `raw` of the crate thinfit: the library without Python, on arrays in raw files."""

    def __init__(self, program, folder, x, y, config):
        x.astype("<f8").tofile(folder / "x.bin")
        y.astype("<f8").tofile(folder / "y.bin")
        (folder / "config.json").write_text(json.dumps(config))
        rows, dim = x.shape
        arguments = [folder / "x.bin", folder / "y.bin", rows, dim, folder / "config.json"]
        self.process = subprocess.Popen(
            [program, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


@pytest.mark.parametrize("activation", ["fourier", "tanh"])
@pytest.mark.parametrize("outputs", [None, 2])
def test_the_same_seed_gives_the_model_of_the_rust_library(rust, activation, outputs, tmp_path):
    x, y = samples(outputs=outputs)
    model = quick(activation=activation, random_state=5).fit(x, y)
    config = model.record_["config"]
    with Raw(rust, tmp_path, x, y, config) as raw:
        raw.ask("fit")
        raw.ask("save", tmp_path / "rust.json")
        raw.ask("predict", tmp_path / "rust.bin")
    model.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "rust.json").read_bytes()
    predicted = np.fromfile(tmp_path / "rust.bin", "<f8").reshape(y.shape)
    assert (model.predict(x) == predicted).all()
    assert (GFTRegressor.load(tmp_path / "rust.json").predict(x) == predicted).all()
