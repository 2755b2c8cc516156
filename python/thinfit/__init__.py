"""Thin two-layer networks with trained features, at home in scikit-learn.

``GFTRegressor`` fits f(x) = Re sum_l b_l phi(<w_l, x>)/n: the hidden weights w are trained, the output weights b are
solved exactly. Models are saved as JSON and move freely between Python, Rust and the command line.
"""

from importlib.metadata import version

from .regressor import GFTRegressor

__all__ = ["GFTRegressor"]
__version__ = version("thinfit")
