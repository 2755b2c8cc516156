"""Thin two-layer networks with trained features, as scikit-learn estimators.

``GFTRegressor`` fits f(x) = Re sum_l b_l phi(<w_l, x>)/n: the hidden weights w are trained, the output weights b are
solved for exactly. The other estimators are methods to compare with. Models are saved as JSON and can be exchanged
between Python, Rust and the command line.
"""

from importlib.metadata import version

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
from .files import load
from .gft import GFTRegressor

__all__ = [
    "ARDGaussianProcessRegressor",
    "ARFFRegressor",
    "AnovaRFFRegressor",
    "FullySampledRegressor",
    "GFTRegressor",
    "HarfeRegressor",
    "KernelRidgeRegressor",
    "NoisyGradientsRegressor",
    "PlainNetworkRegressor",
    "RFFRegressor",
    "SalsaRegressor",
    "ShrimpRegressor",
    "SwimRegressor",
    "load",
]
__version__ = version("thinfit")
