"""Models of small tables, as scikit-learn estimators.

``AutoRegressor`` finds the best model of the samples, a Gaussian process or a thin network, and says how good it is.
``GFTRegressor`` fits f(x) = Re sum_l b_l phi(<w_l, x>)/n: the hidden weights w are trained, the output weights b are
solved for exactly. The other estimators are methods to compare with, and ``compare`` sets them beside each other.
Models are saved as JSON and can be exchanged between Python, Rust and the command line.
"""

from importlib.metadata import version

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
from .base import ExtrapolationWarning
from .comparison import Comparison, compare
from .files import load
from .gft import GFTRegressor
from .planning import design
from .study import Front, Minimum, Optimum, Propagation

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
    "compare",
    "design",
    "load",
]
__version__ = version("thinfit")
