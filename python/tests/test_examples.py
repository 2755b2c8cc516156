"""The example scripts and the examples in the READMEs run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
READMES = [ROOT / "README.md", ROOT.parent / "README.md", ROOT.parent / "docs" / "python.md"]


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    subprocess.run([sys.executable, "-W", "ignore", str(script)], check=True, timeout=300, cwd=tmp_path)


@pytest.mark.parametrize("readme", READMES, ids=["python", "root", "book"])
def test_example_in_the_readme_is_short_and_works(readme, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    assert len(code.strip().splitlines()) <= 10
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=tmp_path)
