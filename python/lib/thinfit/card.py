"""The card of a fitted model in a notebook: its accuracy, the relevant inputs and their effects."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from .plotting import effect_curves

if TYPE_CHECKING:
    from .arrays import Floats
    from .importance import Explained

# Inputs that are shown, those that matter most.
_SHOWN = 6
# Inputs above which their indices would take too long for a glance.
_MOST = 30
# Size of a curve, in pixels.
_WIDTH, _HEIGHT = 120, 32


def card(model: Explained) -> str:
    """The card as HTML."""
    # Without the candidates, which come after a blank line.
    heading, *lines = model._model.report().strip().split("\n\n")[0].split("\n")
    text = "".join(f"<div>{escape(line)}</div>" for line in lines)
    parts = f"<div><b>{escape(heading)}</b></div>{text}{_inputs(model)}"
    return f'<div style="line-height:1.5;padding:0.4em 0;max-width:48em">{parts}</div>'


def _inputs(model: Explained) -> str:
    """A line for every important input: its share of the variance and its effect."""
    names, outputs = [name for name, *_ in model._model.factors], model._model.outputs
    if len(names) > _MOST:
        return ""
    shares = np.atleast_2d(model._indices().total).mean(axis=0)
    order = [int(j) for j in np.argsort(-shares, kind="stable")[:_SHOWN]]
    curves = [effect_curves(model, j, 41)[1] for j in order]
    # Each output fills the height, and all inputs share its scale.
    spans = np.max([np.abs(curve).max(axis=0) for curve in curves], axis=0)
    spans = np.where(spans > 0, spans, 1.0)
    rows = "".join(
        f'<tr><td style="text-align:left">{escape(names[j])}</td>'
        f'<td style="text-align:right">{shares[j]:.1%}</td><td>{_curve(curve / spans)}</td></tr>'
        for j, curve in zip(order, curves, strict=True)
    )
    left = len(names) - len(order)
    more = f"<div>and {left} more</div>" if left else ""
    of = "" if len(outputs) == 1 else " (mean over outputs)"
    head = (
        f'<tr><th style="text-align:left">input</th><th style="text-align:right">share of variance{of}</th>'
        '<th style="text-align:left">effect over its range</th></tr>'
    )
    return f'<table style="margin:0.4em 0;border-spacing:1em 0">{head}{rows}</table>{more}'


def _curve(effect: Floats) -> str:
    """Curves from -1 to 1, one for each output, as SVG; the first is solid, the others dashed."""
    x = np.linspace(0, _WIDTH, len(effect))
    y = _HEIGHT / 2 - (_HEIGHT / 2 - 2) * effect
    lines = "".join(
        f'<polyline fill="none" stroke="currentColor" stroke-width="1.5" stroke-dasharray="{2 * o or "none"}" '
        f'points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, column, strict=True))}"/>'
        for o, column in enumerate(y.T)
    )
    return f'<svg width="{_WIDTH}" height="{_HEIGHT}" role="img" aria-label="effect">{lines}</svg>'
