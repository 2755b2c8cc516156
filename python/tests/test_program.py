"""The program `thinfit` that the package installs."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import thinfit
from conftest import samples


@pytest.fixture
def installed():
    """The command beside the interpreter."""
    found = Path(sys.executable).with_name("thinfit.exe" if os.name == "nt" else "thinfit")
    if not found.exists():
        pytest.skip("the package is not installed as a wheel")
    return str(found)


def run(installed, *words, **options):
    return subprocess.run([installed, *map(str, words)], capture_output=True, text=True, **options)


def test_it_answers_with_output_and_exit_codes(installed, tmp_path):
    version = run(installed, "--version")
    assert (version.returncode, version.stdout.split()[0]) == (0, "thinfit")
    assert version.stdout.split()[1] == thinfit.__version__
    assert "Usage: thinfit" in run(installed, "--help").stdout
    wrong = run(installed, "ft")
    assert wrong.returncode == 2 and "unrecognized subcommand" in wrong.stderr and not wrong.stdout
    missing = run(installed, "fit", tmp_path / "none.csv", "--target", "y")
    assert missing.returncode == 2 and missing.stderr.startswith("error: ")


def test_it_starts_without_scikit_learn(installed):
    code = "import sys, thinfit.program; sys.exit(any(name.startswith('sklearn') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


@pytest.mark.parametrize("module", ["base", "gft", "files", "plotting"])
def test_any_module_can_be_the_first(module):
    # As where a worker reads a pickle.
    subprocess.run([sys.executable, "-c", f"import thinfit.{module}"], check=True)


def table(folder, rows=60):
    x, y = samples(rows)
    y = y + np.random.default_rng(1).normal(scale=0.05, size=rows)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(f=y)
    frame.to_csv(folder / "samples.csv", index=False)
    return frame[["a", "b", "c"]], frame["f"]


def test_a_fit_without_settings_is_that_of_the_program(installed, tmp_path):
    x, y = table(tmp_path)
    done = run(installed, "fit", "samples.csv", "--target", "f", "--budget", "1", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    model = thinfit.AutoRegressor(budget=1).fit(x, y)
    model.save(tmp_path / "python.json")
    assert (tmp_path / "python.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    there = run(installed, "predict", "model.json", "samples.csv", cwd=tmp_path).stdout.split()[1:]
    assert (np.array(there, float) == model.predict(x)).all()


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_saves_the_best_so_far(installed, tmp_path):
    table(tmp_path, 120)
    words = ["fit", "samples.csv", "--target", "f", "--method", "gft-r", "--set", "generate.steps=10000000"]
    words += ["--checkpoint", "fit.state"]
    fit = subprocess.Popen([installed, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (tmp_path / "fit.state").exists():
        assert fit.poll() is None and time.monotonic() < end, "the fit does not get going"
        time.sleep(0.01)
    fit.send_signal(signal.SIGINT)
    out, err = fit.communicate(timeout=60)
    assert fit.returncode == 130, err
    assert "interrupted; best fit of f" in out and (tmp_path / "model.json").exists()
