"""Gaussian Gram matrix with NumPy, every step in place. Arguments: file of float64, features, gamma, rounds."""

import json
import sys
import time

import numpy as np

baseline = peak_memory()


def gram(x, gamma):
    squares = np.einsum("ij,ij->i", x, x)
    k = x @ x.T
    k *= -2.0
    k += squares[:, None]
    k += squares[None, :]
    np.maximum(k, 0.0, out=k)
    k *= -gamma
    np.exp(k, out=k)
    return k


path, n_features, gamma, rounds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
x = np.fromfile(path).reshape(-1, n_features)
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    k = gram(x, gamma)
    seconds.append(time.perf_counter() - start)
    peak = peak_memory()
    total = float(k.sum())
    del k
report = {"peer": f"NumPy {np.__version__}", "seconds": seconds, "total": total, "baseline": baseline, "peak": peak}
print(json.dumps(report))
