"""NVIDIA's libraries, as installed by the extra ``thinfit[cuda]``."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

# Those that others need come first.
_LIBRARIES = ("libnvrtc-builtins.so.13*", "libnvrtc.so.13", "libcublasLt.so.13", "libcublas.so.13")


def libraries() -> list[Path]:
    """The installed files, in load order."""
    spec = find_spec("nvidia")
    places = (spec and spec.submodule_search_locations) or []
    folders = [Path(place) / "cu13" / "lib" for place in places]
    return [path for name in _LIBRARIES for folder in folders for path in sorted(folder.glob(name))]


@cache
def load() -> None:
    """Load them, so that the native module finds them by name; otherwise it looks for those of the system."""
    for path in libraries():
        # If a library does not load, the native module reports it as missing.
        with suppress(OSError):
            ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)
