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
