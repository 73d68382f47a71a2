"""Random forests with scikit-learn. Arguments: file of instances, file of classes, fit, grow or predict, features, trees, depth, threads, rounds.

The total is the out-of-bag error of a fit, nothing for one that only grows, or the mean distance of posteriors from the classes that the forest was grown on.
"""

import json
import sys
import time

import numpy as np
import sklearn
from sklearn.ensemble import RandomForestClassifier

baseline = peak_memory()
instances, classes, task = sys.argv[1:4]
n_features, n_trees, depth, n_threads, rounds = map(int, sys.argv[4:])
x = np.fromfile(instances).reshape(-1, n_features)
y = np.fromfile(classes).astype(int)


def forest(oob_score=False):
    return RandomForestClassifier(
        n_trees, max_depth=depth, max_features="sqrt", n_jobs=n_threads, random_state=0, oob_score=oob_score
    )


def timed(work):
    start = time.perf_counter()
    work()
    seconds.append(time.perf_counter() - start)


seconds = []
if task in ("fit", "grow"):
    for _ in range(rounds):
        timed(lambda: forest().fit(x, y))
    peak = peak_memory()
    total = 1 - forest(oob_score=True).fit(x, y).oob_score_ if task == "fit" else 0
else:
    model = forest().fit(x, y)
    for _ in range(rounds):
        timed(lambda: model.predict_proba(x))
    peak = peak_memory()
    total = np.abs(model.predict_proba(x)[:, 1] - y).mean()
report = {"peer": f"scikit-learn {sklearn.__version__}", "seconds": seconds, "total": float(total)}
print(json.dumps(report | {"baseline": baseline, "peak": peak}))
