"""Noisy samples: choose the strength of the regulariser by cross-validation, in a pipeline."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from thinfit import GFTRegressor

rng = np.random.default_rng(0)
X = rng.lognormal(size=(150, 3))
truth = np.sin(2 * np.log(X[:, 0])) + 0.5 * np.log(X[:, 1])
y = truth + 0.5 * rng.standard_normal(len(X))

# A polish would only fit the noise.
short = {"generate": {"steps": 300}, "refine": {"steps": 100}, "polish": {"steps": 0}}
network = GFTRegressor(width=50, random_state=0, config=short)
search = GridSearchCV(
    make_pipeline(QuantileTransformer(n_quantiles=50), network),
    {"gftregressor__regularization": [0.0, 1e-3, 1e-2, 1e-1]},
    cv=3,
    n_jobs=2,
)
search.fit(X, y)
for parameters, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"regularization {parameters['gftregressor__regularization']:<5}  R² {score:.3f}")
error = np.sqrt(np.mean((search.predict(X) - truth) ** 2))
print(f"error of the best: {error:.3f}; the noise is 0.5")

assert error < 0.4
