"""The linear program of the 1-norm SVM with SciPy's HiGHS. Arguments: file of features, file of labels, features, lambda, rounds.

The file holds one example after another; the penalties are 1. The total is the objective.
"""

import json
import sys
import time

import numpy as np
import scipy
from scipy.optimize import linprog

path, labels, n_features = sys.argv[1], sys.argv[2], int(sys.argv[3])
lam, rounds = float(sys.argv[4]), int(sys.argv[5])
z = np.fromfile(path).reshape(-1, n_features)
y = np.fromfile(labels)
m, n = z.shape
cost = np.concatenate([np.full(2 * n, lam), [0.0], np.ones(m)])
rows = np.hstack([-y[:, None] * z, y[:, None] * z, -y[:, None], -np.eye(m)])
bounds = [(0, None)] * (2 * n) + [(None, None)] + [(0, None)] * m
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    result = linprog(cost, A_ub=rows, b_ub=-np.ones(m), bounds=bounds, method="highs")
    seconds.append(time.perf_counter() - start)
print(json.dumps({"peer": f"SciPy {scipy.__version__}, HiGHS", "seconds": seconds, "total": float(result.fun)}))
