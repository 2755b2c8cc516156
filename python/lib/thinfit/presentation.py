"""Presentation of a fitted model: plots with samples, a report, a card in a notebook."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from . import card, plotting
from .arrays import table
from .finite import check_numbers
from .importance import Explained
from .parameters import threads

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Presented(Explained):
    """Plots, reports and cards."""

    def plot_prediction(self, X: ArrayLike, y: ArrayLike, *, output: int = 0, ax: Axes | None = None) -> Axes:
        """Plot predictions against measured values, with 90 % intervals for few rows (needs matplotlib).

        Training rows are recognised. `AutoRegressor` and kernel models show their cross-validated predictions; for
        other models the title warns that the errors are too small.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Measured outputs.
        output : int, default=0
            Which output to plot.
        ax : matplotlib Axes, default=None
            Axes to draw on; None means a new figure.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = KernelRidgeRegressor().fit(X, X[:, 0]).plot_prediction(X, X[:, 0])
        >>> ax.get_title()
        '60 training rows, cross-validated predictions'
        """
        check_is_fitted(self)
        return plotting.plot_prediction(self, X, y, output, ax)

    def plot_residuals(self, X: ArrayLike, y: ArrayLike, *, output: int = 0, ax: Axes | None = None) -> Axes:
        """Plot residuals, measured minus predicted, against predictions (needs matplotlib).

        Training rows are treated as in `plot_prediction`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Measured outputs.
        output : int, default=0
            Which output to plot.
        ax : matplotlib Axes, default=None
            Axes to draw on; None means a new figure.

        Returns
        -------
        matplotlib Axes
            The plot.

        Examples
        --------
        >>> from thinfit import KernelRidgeRegressor
        >>> X = np.random.default_rng(0).random((60, 2))
        >>> ax = KernelRidgeRegressor().fit(X, X[:, 0]).plot_residuals(X, X[:, 0] + 1)
        >>> ax.get_ylabel()
        'y, measured − predicted'
        """
        check_is_fitted(self)
        return plotting.plot_residuals(self, X, y, output, ax)

    def report(
        self,
        path: str | os.PathLike[str] | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
    ) -> str:
        """Describe the model and its accuracy, as text and optionally as an HTML page.

        Parameters
        ----------
        path : path-like or None, default=None
            HTML file to write: a self-contained page that works offline, with a slider for every input.
        X : array-like of shape (n_samples, n_features) or None, default=None
            Inputs of samples to compare with the predictions on the page.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs) or None, default=None
            Outputs of these samples.

        Returns
        -------
        str
            The description.

        Examples
        --------
        >>> from thinfit import AutoRegressor
        >>> model = AutoRegressor(budget=1, random_state=0).fit([[0.0], [0.3], [0.5], [0.7], [1.0]], [0, 1, 2, 3, 4])
        >>> "tried; the first was chosen" in model.report()
        True
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "report.html"
        ...     text = model.report(path)
        ...     path.read_text(encoding="utf-8").startswith("<!doctype html>")
        True
        """
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("`X` and `y`: expected both or neither, found one of them")
        if path is not None:
            check_numbers(y, "y")
            rows = None if X is None or y is None else (self._inputs(X), table(np.asarray(y, np.float64)))
            self._model.page(path, rows, threads(self.n_jobs))
        elif X is not None:
            raise ValueError("`path`: expected a file, because `X` and `y` are shown on a page, found none")
        return self._model.report()

    def _repr_html_inner(self) -> str:
        """The display in a notebook: a card if the model is fitted, then the parameters."""
        parameters: str = super()._repr_html_inner()
        if not hasattr(self, "_model"):
            return parameters
        return f"{card.card(self)}<details><summary>parameters</summary>{parameters}</details>"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle
