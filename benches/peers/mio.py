"""Passes of MIO over given distances, in vectorised NumPy, the line search by sorting all kinks as the paper does.

Arguments: file of squared distances (bag after bag, one for each candidate), file of labels, file of bag sizes, candidates, sigma2, alpha0, beta0, bias, passes,
rounds. Bags are presented in their order. The total is the sum of the sizes of all scores under the last weights.
"""

import json
import sys
import time

import numpy as np

paths, n = sys.argv[1:4], int(sys.argv[4])
sigma2, alpha0, beta0, bias = map(float, sys.argv[5:9])
passes, rounds = int(sys.argv[9]), int(sys.argv[10])
distances, labels, sizes = (np.fromfile(path) for path in paths)
distances = distances.reshape(-1, n)
ends = np.cumsum(sizes).astype(int)
horizon = passes * len(labels)
alpha, beta = alpha0 * horizon**0.5, beta0 * horizon**0.5


def soft(v, a):
    return np.sign(v) * np.maximum(np.abs(v) - a, 0)


def search(v, z, v_bias, sign):
    """The root of the slope over [0, 1]."""

    def slope(tau):
        return z @ soft(sign * v + tau * z, alpha) + bias * (sign * v_bias + tau * bias) - beta

    if slope(0) >= 0:
        return 0.0
    if slope(1) <= 0:
        return 1.0
    known = z > 0
    v, z = sign * v[known], z[known]
    low, high = (-alpha - v) / z, (alpha - v) / z
    # Left of all kinks every term is active with v + alpha; one falls silent at its lower kink and returns at its upper.
    kinks = np.concatenate([low, high])
    order = np.argsort(kinks)
    kinks = kinks[order]
    offsets = np.concatenate([-z * (v + alpha), z * (v - alpha)])[order]
    squares = np.concatenate([-z * z, z * z])[order]
    offset = z @ (v + alpha) + bias * sign * v_bias - beta + np.concatenate([[0], np.cumsum(offsets)])
    square = z @ z + bias * bias + np.concatenate([[0], np.cumsum(squares)])
    at_kinks = offset[1:] + kinks * square[1:]
    piece = np.searchsorted(at_kinks >= 0, True)
    return -offset[piece] / square[piece]


def play():
    similarities = np.exp(-distances / sigma2)
    v, v_bias = np.zeros(n), 0.0
    for turn in range(passes):
        for i, sign in enumerate(labels):
            known = ends[i] if turn == 0 else n
            z = similarities[i, :known]
            step = search(v[:known], z, v_bias, sign)
            v[:known] += step * sign * z
            v_bias += step * sign * bias
    return np.abs(similarities @ soft(v, alpha) / beta + bias * v_bias / beta).sum()


seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    total = play()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"peer": f"NumPy {np.__version__}", "seconds": seconds, "total": float(total)}))
