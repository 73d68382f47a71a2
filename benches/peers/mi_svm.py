"""mi-SVM and MI-SVM as loops over scikit-learn's SVC, with a Gaussian kernel.

Arguments: file of instances, file of bag labels, file of bag sizes, features, method ("mi" or "MI"), gamma, C, tolerance,
limit of the heuristic's rounds, rounds of timing. All files are float64; labels are 1 or -1; a bag's instances are contiguous.

The total is the objective of the primal, to be minimised, of the machine solved last, over the points it was trained on. MI-SVM has
a slack per point, as SVC knows no other. The number of rounds made goes to the standard error.
"""

import json
import sys
import time

import numpy as np
import sklearn
from sklearn.svm import SVC

n_features, method = int(sys.argv[4]), sys.argv[5]
gamma, penalty, tolerance = (float(value) for value in sys.argv[6:9])
max_rounds, rounds = int(sys.argv[9]), int(sys.argv[10])
x = np.fromfile(sys.argv[1]).reshape(-1, n_features)
labels = np.fromfile(sys.argv[2])
sizes = np.fromfile(sys.argv[3]).astype(np.intp)
if max_rounds < 1 or rounds < 1:
    sys.exit("both numbers of rounds must be at least 1")
if labels.size != sizes.size or sizes.sum() != len(x):
    sys.exit("the files disagree about the bags")


def machine(points, y):
    return SVC(C=penalty, gamma=gamma, tol=tolerance).fit(points, y)


def positive_bags():
    """Where the instances of positive bags are, and where each such bag starts among these."""
    positive = np.repeat(labels > 0.0, sizes)
    ends = np.cumsum(sizes[labels > 0.0])
    return positive, np.concatenate([[0], ends[:-1]])


def first_maxima(values, starts):
    """Of each bag the first of its largest values, as a position among all values."""
    lengths = np.diff(starts, append=values.size)
    tops = np.flatnonzero(values == np.repeat(np.maximum.reduceat(values, starts), lengths))
    return tops[np.searchsorted(tops, starts)]


def mi():
    """Labels of instances: the machine, what it was trained on, rounds."""
    positive, starts = positive_bags()
    candidates = x[positive]
    y = np.where(positive, 1.0, -1.0)
    for made in range(1, max_rounds + 1):
        model = machine(x, y)
        values = model.decision_function(candidates)
        before = y[positive]
        after = np.where(values == 0.0, before, np.sign(values))
        lost = np.maximum.reduceat(after, starts) < 0.0
        if lost.any():
            after[first_maxima(values, starts)[lost]] = 1.0
        if made == max_rounds or np.array_equal(after, before):
            return model, x, y, made
        y[positive] = after


def MI():
    """Witnesses of bags: the machine, what it was trained on, rounds."""
    positive, starts = positive_bags()
    candidates = x[positive]
    n_bags = starts.size
    means = np.add.reduceat(candidates, starts) / sizes[labels > 0.0, None]
    points = np.concatenate([means, x[~positive]])
    y = np.repeat([1.0, -1.0], [n_bags, len(points) - n_bags])
    witnesses = None
    for made in range(1, max_rounds + 1):
        model = machine(points, y)
        chosen = first_maxima(model.decision_function(candidates), starts)
        if made == max_rounds or (witnesses is not None and np.array_equal(chosen, witnesses)):
            return model, points, y, made
        witnesses = chosen
        points[:n_bags] = candidates[witnesses]


def primal_objective(model, points, y):
    products = model.decision_function(model.support_vectors_) - model.intercept_[0]
    slack = np.maximum(0.0, 1.0 - y * model.decision_function(points))
    return 0.5 * model.dual_coef_[0] @ products + penalty * slack.sum()


heuristic = {"mi": mi, "MI": MI}[method]
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    model, points, y, made = heuristic()
    seconds.append(time.perf_counter() - start)
print(f"{made} rounds", file=sys.stderr)
total = float(primal_objective(model, points, y))
print(json.dumps({"peer": f"scikit-learn {sklearn.__version__}", "seconds": seconds, "total": total}))
