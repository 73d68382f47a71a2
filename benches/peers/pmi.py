"""The variance QP of PMI with OSQP. Arguments: file of the Gram matrix, file of bag sizes, limit of seconds (0 for none), rounds.

Files are float64; a bag's instances are contiguous. Over weights l that sum up to 1 in each of N bags, 1/2 l'Ml is minimised with M = blockdiag(K_BB) - K/N.
M is made off the clock, setting up and solving are on it. Bounds are 0 and 1 though 1 says nothing new: without it OSQP runs into its limit of iterations.

The total is the objective after weights below 0 became 0 and bags were scaled to a sum of 1, those without any weight from equal ones, so that it can be told of a
solver that was stopped, too. What OSQP says itself, and the peak memory, go to the standard error.
"""

import json
import resource
import sys
import time

import numpy as np
import osqp
from scipy import sparse

sizes = np.fromfile(sys.argv[2]).astype(np.intp)
limit, rounds = float(sys.argv[3]), int(sys.argv[4])
n, n_bags = sizes.sum(), sizes.size
starts = np.cumsum(sizes) - sizes
bag_of = np.repeat(np.arange(n_bags), sizes)


def upper_triangle():
    """Of M, column by column, each from the top to the diagonal. The Gram matrix is symmetric, so that its rows will do."""
    gram = np.memmap(sys.argv[1], np.float64, "r", shape=(n, n))
    values = [gram[j, : j + 1] * ((bag_of[: j + 1] == bag_of[j]) - 1 / n_bags) for j in range(n)]
    rows = [np.arange(j + 1, dtype=np.int32) for j in range(n)]
    ends = np.cumsum(np.arange(n + 1), dtype=np.int32)
    return sparse.csc_matrix((np.concatenate(values), np.concatenate(rows), ends), shape=(n, n))


def solve():
    solver = osqp.OSQP()
    settings = {"eps_abs": 1e-6, "eps_rel": 1e-6, "polishing": True, "max_iter": 20000, "verbose": False}
    if limit > 0:
        settings["time_limit"] = limit
    solver.setup(variance, np.zeros(n), constraints, lower, upper, **settings)
    return solver.solve()


def objective(weights):
    weights = np.maximum(np.nan_to_num(weights), 0.0)
    weights[(np.add.reduceat(weights, starts) == 0.0)[bag_of]] = 1.0
    weights /= np.add.reduceat(weights, starts)[bag_of]
    products = variance @ weights
    return weights @ products - 0.5 * variance.diagonal() @ weights**2


variance = upper_triangle()
sums = sparse.csc_matrix((np.ones(n), (bag_of, np.arange(n))), shape=(n_bags, n))
constraints = sparse.vstack([sums, sparse.eye(n)], format="csc")
lower = np.concatenate([np.ones(n_bags), np.zeros(n)])
upper = np.ones(n_bags + n)
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    result = solve()
    seconds.append(time.perf_counter() - start)
info = result.info
ending = {"run time limit reached": "out of time", "maximum iterations reached": "out of iterations"}
peer = f"OSQP {osqp.__version__}"
if info.status != "solved":
    peer += f", {ending.get(info.status, info.status)}"
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(f"{info.status}, {info.iter} iterations, objective {info.obj_val}, peak memory {memory} kB", file=sys.stderr)
print(json.dumps({"peer": peer, "seconds": seconds, "total": float(objective(result.x))}))
