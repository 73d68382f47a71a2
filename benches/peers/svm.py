"""Support vector machines with scikit-learn. Arguments: file of instances, file of labels, features, problem, parameters..., rounds.

The total is the objective that was reached: that of the dual, to be minimised, for kernels; that of the primal for linear machines.
"""

import json
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.svm import SVC, LinearSVC, OneClassSVM

baseline = peak_memory()
instances, labels, n_features, problem = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
parameters, rounds = [float(value) for value in sys.argv[5:-1]], int(sys.argv[-1])
x = np.fromfile(instances).reshape(-1, n_features)
y = np.fromfile(labels)
warnings.simplefilter("ignore")  # running into the iteration limit shows in the objective


def classification(gamma, penalty, tolerance):
    return SVC(C=penalty, gamma=gamma, tol=tolerance).fit(x, y)


def dual_objective(model):
    coefficients = model.dual_coef_[0]
    values = model.decision_function(x[model.support_]) - model.intercept_[0]
    return 0.5 * coefficients @ values - np.abs(coefficients).sum()


def one_class(gamma, nu, tolerance):
    return OneClassSVM(nu=nu, gamma=gamma, tol=tolerance).fit(x)


def one_class_objective(model):
    # scikit-learn's multipliers sum up to nu n, ours to 1.
    coefficients = model.dual_coef_[0]
    values = model.decision_function(x[model.support_]) - model.intercept_[0]
    return 0.5 * coefficients @ values / coefficients.sum() ** 2


def linear(loss):
    def fit(penalty, tolerance, limit):
        dual = loss == "hinge"
        return LinearSVC(C=penalty, loss=loss, dual=dual, tol=tolerance, max_iter=int(limit)).fit(x, y)

    return fit


def primal_objective(power):
    def objective(model):
        slack = np.maximum(0.0, 1.0 - y * model.decision_function(x))
        penalty = model.C * (slack**power).sum()
        return 0.5 * (model.coef_[0] @ model.coef_[0] + model.intercept_[0] ** 2) + penalty

    return objective


fit, objective = {
    "classification": (classification, dual_objective),
    "one_class": (one_class, one_class_objective),
    "hinge": (linear("hinge"), primal_objective(1)),
    "squared_hinge": (linear("squared_hinge"), primal_objective(2)),
}[problem]
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    model = fit(*parameters)
    seconds.append(time.perf_counter() - start)
peak = peak_memory()
report = {"peer": f"scikit-learn {sklearn.__version__}", "seconds": seconds, "total": float(objective(model))}
print(json.dumps(report | {"baseline": baseline, "peak": peak}))
