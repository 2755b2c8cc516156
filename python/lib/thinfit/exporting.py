"""A fitted model in other languages."""

from __future__ import annotations

import os
from pathlib import Path

from . import _native

# Languages by the endings of their files.
_LANGUAGES = {".onnx": "onnx", ".c": "c", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".tex": "latex"}


def export(
    model: _native.Model, path: str | os.PathLike[str], language: str | None, precision: str, digits: int
) -> list[Path]:
    """Write the model to a file, in the language that its ending tells unless one is given."""
    ending = Path(path).suffix.lower()
    if language is None and ending not in _LANGUAGES:
        found = f"found `{ending}`" if ending else "found none"
        raise ValueError(f"`path`: expected one of the endings {', '.join(_LANGUAGES)}, {found}; or give a `language`")
    if not 1 <= digits <= 17:
        raise ValueError(f"`digits`: expected 1 to 17, found {digits}")
    return _native.export(model, path, language or _LANGUAGES[ending], precision, digits)
