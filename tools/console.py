"""Runs the commands (`$ …`) in the `console` blocks of pages and updates their output.

    PATH=target/release:$PATH python tools/console.py README.md docs/tutorial.md

The commands of a page run in sequence in one empty folder. The tests compare the words; this script updates the numbers.
"""

import pathlib
import subprocess
import sys
import tempfile


def renewed(page: str, folder: str) -> str:
    """The page with the current output of its commands."""
    lines, inside = [], False
    for line in page.splitlines():
        if line.startswith("$ ") and inside:
            lines.append(line)
            done = subprocess.run(line[2:], shell=True, cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{line}\n{done.stderr}")
            lines += [text.rstrip() for text in done.stdout.splitlines()]
        elif not inside or line == "```":
            lines.append(line)
            inside = line == "```console"
    return "\n".join(lines) + "\n"


for name in sys.argv[1:]:
    path = pathlib.Path(name)
    with tempfile.TemporaryDirectory() as folder:
        path.write_text(renewed(path.read_text(), folder))
