"""The package and its stubs agree."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")


def test_the_stub_of_the_native_module_is_complete():
    settings = Path(__file__).parent.parent / "pyproject.toml"
    command = [sys.executable, "-m", "mypy.stubtest", "thinfit._native", "--ignore-disjoint-bases"]
    done = subprocess.run([*command, "--mypy-config-file", str(settings)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_misspelt_parameter_is_an_error_of_types(tmp_path):
    import thinfit

    estimators = [name for name in thinfit.__all__ if name.endswith("Regressor")]
    right = [f"{name}(n_jobs=1, verbose=False)" for name in estimators]
    wrong = [f"{name}(n_job=1)" for name in estimators] + ["AutoRegressor(budget='much')", "AutoRegressor().fitt([])"]
    file = tmp_path / "snippet.py"
    file.write_text("\n".join([f"from thinfit import {', '.join(estimators)}", *right, *wrong]))
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports", "silent", file.name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    first = 2 + len(right)
    assert lines == set(range(first, first + len(wrong))), done.stdout
