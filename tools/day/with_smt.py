"""The six tasks with SMT (and SALib for the indices, which SMT's own documentation uses)."""

import numpy as np
from SALib.analyze import sobol as analysis
from SALib.sample import sobol as sampling
from scipy.optimize import minimize
from scipy.stats import norm
from smt.sampling_methods import LHS
from smt.surrogate_models import KRG


def plan(ranges, rows, seed):
    limits = np.array(list(ranges.values()), dtype=float)
    return LHS(xlimits=limits, criterion="ese", seed=seed)(rows)


def fit(ranges, x, y):
    model = KRG(corr="squar_exp", hyper_opt="TNC", n_start=20, theta_bounds=[1e-8, 1e2], print_global=False)
    model.set_training_values(x, y)
    model.train()
    return model


def bars(model, x):
    mean, variance = model.predict_values(x)[:, 0], model.predict_variances(x)[:, 0]
    half = norm.ppf(0.95) * np.sqrt(np.maximum(variance, 0))
    return mean, mean - half, mean + half


def indices(model, ranges, x):
    problem = {"num_vars": len(ranges), "names": list(ranges), "bounds": list(ranges.values())}
    rows = sampling.sample(problem, 2**13, calc_second_order=False, seed=0)
    found = analysis.analyze(problem, model.predict_values(rows)[:, 0], calc_second_order=False, seed=0)
    return found["S1"], found["ST"]


def minimum(model, ranges):
    low, high = np.array(list(ranges.values())).T
    width = high - low

    def value(u):
        return model.predict_values((low + u * width)[None])[0, 0]

    def slope(u):
        x = (low + u * width)[None]
        return np.array([model.predict_derivatives(x, j)[0, 0] for j in range(len(low))]) * width

    starts = LHS(xlimits=np.array([[0.0, 1.0]] * len(low)), criterion="ese", seed=0)(32)
    found = [minimize(value, u, jac=slope, method="L-BFGS-B", bounds=[(0, 1)] * len(low)) for u in starts]
    best = min(found, key=lambda result: result.fun)
    return low + best.x * width, best.fun


def suggest(model, ranges, x, y, rows):
    limits = np.array(list(ranges.values()), dtype=float)
    candidates = LHS(xlimits=limits, criterion="center", seed=0)(2048)
    chosen = []
    for _ in range(rows):
        worst = candidates[np.argmax(model.predict_variances(candidates)[:, 0])]
        chosen.append(worst)
        x, y = np.vstack([x, worst]), np.append(y, model.predict_values(worst[None]))
        model = KRG(corr="squar_exp", theta0=model.optimal_theta, hyper_opt="NoOp", print_global=False)
        model.set_training_values(x, y)
        model.train()
    return np.array(chosen)
