"""Surrogate models as scikit-learn estimators.

``AutoRegressor`` selects the best Gaussian process or thin network by cross-validation and reports its error.
``GFTRegressor`` fits f(x) = Re sum_l b_l phi(<w_l, x>)/n: the hidden weights w are trained, and the output weights b
solve a least-squares problem exactly. The other estimators are baselines; ``compare`` cross-validates several methods.
Models are saved as JSON and can be exchanged between Python, Rust and the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import InterruptedFit, TwoValuesWarning
    from .answers import Front, Minimum, Optimum, Propagation
    from .auto import AutoRegressor
    from .baselines import (
        AnovaRFFRegressor,
        ARDGaussianProcessRegressor,
        ARFFRegressor,
        FullySampledRegressor,
        HarfeRegressor,
        KernelRidgeRegressor,
        NoisyGradientsRegressor,
        PlainNetworkRegressor,
        RFFRegressor,
        SalsaRegressor,
        ShrimpRegressor,
        SwimRegressor,
    )
    from .comparison import Comparison, compare
    from .files import load
    from .fitted import ExtrapolationWarning
    from .gft import GFTRegressor
    from .planning import design

    __version__: str
else:
    # scikit-learn takes a second to import, for which the program `thinfit` need not wait.
    def __getattr__(name):
        from importlib import import_module, metadata

        if name == "__version__":
            return metadata.version("thinfit")
        if name in __all__:
            homes = ("answers", "auto", "baselines", "comparison", "files", "fitted", "gft", "planning", "_native")
            for home in homes:
                module = import_module(f".{home}", __name__)
                if hasattr(module, name):
                    return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return [*globals(), *__all__, "__version__"]


__all__ = [
    "ARDGaussianProcessRegressor",
    "ARFFRegressor",
    "AnovaRFFRegressor",
    "AutoRegressor",
    "Comparison",
    "ExtrapolationWarning",
    "Front",
    "FullySampledRegressor",
    "GFTRegressor",
    "HarfeRegressor",
    "InterruptedFit",
    "KernelRidgeRegressor",
    "Minimum",
    "NoisyGradientsRegressor",
    "Optimum",
    "PlainNetworkRegressor",
    "Propagation",
    "RFFRegressor",
    "SalsaRegressor",
    "ShrimpRegressor",
    "SwimRegressor",
    "TwoValuesWarning",
    "compare",
    "design",
    "load",
]
