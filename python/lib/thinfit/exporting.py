"""Exports of a fitted model to other languages, and its file."""

from __future__ import annotations

import os
from pathlib import Path

from sklearn.utils.validation import check_is_fitted

from . import _native
from .fitted import Fitted

# Languages by the endings of their files.
_LANGUAGES = {".onnx": "onnx", ".c": "c", ".py": "python", ".js": "javascript", ".mjs": "javascript", ".tex": "latex"}


class Exported(Fitted):
    """Files that are made from a fitted model."""

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, precision: str = "float64") -> bytes:
        """The model as an ONNX graph from inputs (n_samples, n_features) to outputs (n_samples, n_outputs).

        Raises a ``ValueError`` if the graph differs from ``predict`` by more than 0.001 standard deviations of an
        output; see `export_difference`. A row with NaN or an infinity gives NaN.

        Parameters
        ----------
        path : path-like or None, default=None
            File to write the graph to.
        precision : {"float64", "float32"}, default="float64"
            Floating-point type of the graph.

        Returns
        -------
        bytes
            The graph.

        Examples
        --------
        >>> import numpy as np
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> len(GFTRegressor(width=4, random_state=0).fit(X, X[:, 0]).to_onnx()) > 100
        True
        """
        check_is_fitted(self)
        return self._model.onnx(precision, path)

    def export(
        self,
        path: str | os.PathLike[str],
        language: str | None = None,
        *,
        precision: str = "float64",
        digits: int = 6,
    ) -> list[Path]:
        """Write the model as a function without dependencies, a graph or a formula.

        Raises a ``ValueError`` if the function or graph may differ from ``predict`` by more than 0.001 standard
        deviations of an output; see `export_difference`. A row with NaN or an infinity gives NaN.

        Parameters
        ----------
        path : path-like
            The file; the function in it has the same name. C gets a header next to it.
        language : {"onnx", "c", "python", "javascript", "latex"} or None, default=None
            None means what the ending of the file says: .onnx, .c, .py, .js or .tex.
        precision : {"float64", "float32"}, default="float64"
            Floating-point type of an ONNX graph.
        digits : int, default=6
            Significant digits of a LaTeX formula.

        Returns
        -------
        list of Path
            The files that were written.

        Examples
        --------
        >>> import numpy as np
        >>> import tempfile, pathlib
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     [file.name for file in model.export(pathlib.Path(folder) / "pump.c")]
        ['pump.c', 'pump.h']
        """
        check_is_fitted(self)
        ending = Path(path).suffix.lower()
        if language is None and ending not in _LANGUAGES:
            found = f"found `{ending}`" if ending else "found none"
            raise ValueError(
                f"`path`: expected one of the endings {', '.join(_LANGUAGES)}, {found}; or give a `language`"
            )
        if not 1 <= digits <= 17:
            raise ValueError(f"`digits`: expected 1 to 17, found {digits}")
        return _native.export(self._model, path, language or _LANGUAGES[ending], precision, digits)

    def export_difference(self, precision: str = "float64") -> float:
        """The largest difference between the ONNX graph and ``predict``, in standard deviations of the output.

        Functions in other languages differ by at most 20 times as much. It is measured at training rows if the model
        contains them, half-way between these, and at rows in the ranges of the inputs and 10 % beyond. A graph in
        single precision computes in double precision between its inputs and outputs if its terms would cancel.

        Parameters
        ----------
        precision : {"float64", "float32"}, default="float64"
            Floating-point type of an ONNX graph; functions in other languages compute in "float64".

        Returns
        -------
        float
            The difference.

        Examples
        --------
        >>> import numpy as np
        >>> from thinfit import GFTRegressor
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> model = GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        >>> model.export_difference() < 1e-9
        True
        """
        check_is_fitted(self)
        return self._model.export_difference(precision)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, in the format of the Rust library and the command line.

        Parameters
        ----------
        path : path-like
            The file.

        Examples
        --------
        >>> import numpy as np
        >>> import tempfile, pathlib, thinfit
        >>> X = np.linspace(0, 1, 20)[:, None]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "model.json"
        ...     model = thinfit.GFTRegressor(width=4, random_state=0).fit(X, X[:, 0])
        ...     model.save(path)
        ...     bool((thinfit.load(path).predict(X) == model.predict(X)).all())
        True
        """
        check_is_fitted(self)
        self._model.save(path)
