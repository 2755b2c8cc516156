"""The program `thinfit`, as the package installs it: the same as that of `cargo install`."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> None:
    """Run the program with the arguments of the process."""
    # Python would defer Ctrl-C until the program returns; the program handles it itself if it has results to keep.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.program(["thinfit", *sys.argv[1:]]))
