"""A surrogate for a simulation: which of the eight inputs of the borehole function determine the flow?"""

import numpy as np

from thinfit import GFTRegressor

INPUTS = {  # name: (low, high)
    "rw": (0.05, 0.15),
    "r": (100, 50_000),
    "Tu": (63_070, 115_600),
    "Hu": (990, 1110),
    "Tl": (63.1, 116),
    "Hl": (700, 820),
    "L": (1120, 1680),
    "Kw": (9855, 12_045),
}


def simulate(x):
    """Flow of water through a borehole, in m³ per year."""
    rw, r, tu, hu, tl, hl, length, kw = x.T
    log = np.log(r / rw)
    return 2 * np.pi * tu * (hu - hl) / (log * (1 + 2 * length * tu / (log * rw**2 * kw) + tu / tl))


low, high = np.array(list(INPUTS.values())).T
rng = np.random.default_rng(0)
X, X_test = (low + (high - low) * rng.random((m, 8)) for m in (200, 1000))
model = GFTRegressor(width=40, random_state=0).fit(X, simulate(X))

error = np.sqrt(np.mean((model.predict(X_test) - simulate(X_test)) ** 2)) / simulate(X_test).std()
indices = model.sobol_indices()
print(f"error on new runs: {error:.1e} of the standard deviation; simulations run: {len(X)}")
print("input  alone  with others")
for j in np.argsort(-indices.total):
    print(f"{list(INPUTS)[j]:5}  {indices.first[j]:5.3f}  {indices.total[j]:5.3f}")

assert error < 0.01
assert abs(indices.first[0] - 0.829) < 0.01, "the published index of the radius is 0.829"
