"""The six tasks with OpenTURNS."""

import numpy as np
import openturns as ot
from scipy.stats import norm


def plan(ranges, rows, seed):
    ot.RandomGenerator.SetSeed(seed)
    box = ot.JointDistribution([ot.Uniform(low, high) for low, high in ranges.values()])
    lhs = ot.LHSExperiment(box, rows)
    lhs.setAlwaysShuffle(True)
    search = ot.SimulatedAnnealingLHS(lhs, ot.SpaceFillingC2())
    return np.array(search.generate())


def fit(ranges, x, y):
    d = x.shape[1]
    basis = ot.ConstantBasisFactory(d).build()
    covariance = ot.SquaredExponential([1.0] * d, [1.0])
    # Inputs between 0 and 1, so that one start suits every length.
    low, high = np.array(list(ranges.values())).T
    unit = ot.LinearFunction(list(low), [0.0] * d, ot.Matrix(np.diag(1 / (high - low))))
    rows, scale = unit(ot.Sample(x)), (y.mean(), y.std())
    fitter = ot.GaussianProcessFitter(rows, ot.Sample(((y - scale[0]) / scale[1])[:, None]), covariance, basis)
    starts = ot.JointDistribution([ot.LogUniform(np.log(1e-1), np.log(1e2))] * d)
    start = ot.LowDiscrepancyExperiment(ot.SobolSequence(), starts, 10).generate()
    fitter.setOptimizationAlgorithm(ot.MultiStart(ot.TNC(), start))
    fitter.setOptimizationBounds(ot.Interval([1e-2] * d, [1e3] * d))
    fitter.run()
    regression = ot.GaussianProcessRegression(fitter.getResult())
    regression.run()
    return regression.getResult(), unit, scale


def bars(model, x):
    result, unit, (shift, scale) = model
    conditional = ot.GaussianProcessConditionalCovariance(result)
    rows = unit(ot.Sample(x))
    mean = np.array(result.getMetaModel()(rows))[:, 0] * scale + shift
    variance = np.array(conditional.getConditionalMarginalVariance(rows))[:, 0]
    half = norm.ppf(0.95) * np.sqrt(np.maximum(variance, 0)) * scale
    return mean, mean - half, mean + half


def indices(model, ranges, x):
    result, unit, _ = model
    box = ot.JointDistribution([ot.Uniform(low, high) for low, high in ranges.values()])
    ot.ResourceMap.SetAsString("SobolIndicesExperiment-SamplingMethod", "QMC")
    rows = ot.SobolIndicesExperiment(box, 2**13).generate()
    found = ot.SaltelliSensitivityAlgorithm(rows, result.getMetaModel()(unit(rows)), 2**13)
    return np.array(found.getFirstOrderIndices()), np.array(found.getTotalOrderIndices())


def minimum(model, ranges):
    result, unit, (shift, scale) = model
    d = len(ranges)
    problem = ot.OptimizationProblem(result.getMetaModel())
    problem.setBounds(ot.Interval(d))
    starts = ot.LowDiscrepancyExperiment(ot.SobolSequence(), ot.JointDistribution([ot.Uniform(0, 1)] * d), 32)
    search = ot.MultiStart(ot.TNC(problem), starts.generate())
    search.run()
    low, high = np.array(list(ranges.values())).T
    found = search.getResult()
    return low + np.array(found.getOptimalPoint()) * (high - low), found.getOptimalValue()[0] * scale + shift


def suggest(model, ranges, x, y, rows):
    result, unit, _ = model
    box = ot.JointDistribution([ot.Uniform(low, high) for low, high in ranges.values()])
    candidates = ot.LowDiscrepancyExperiment(ot.SobolSequence(), box, 2048).generate()
    conditional = ot.GaussianProcessConditionalCovariance(result)
    variance = np.array(conditional.getConditionalMarginalVariance(unit(candidates)))[:, 0]
    # One at a time is what it has; a batch is the widest of them.
    return np.array(candidates)[np.argsort(-variance)[:rows]]
