"""MIDL in vectorised NumPy: all base kernels from one matrix of products, pursuit of all samples in lock-step, K-SVD atom by atom.

Arguments: file of training instances (bag after bag), file of labels, the same two of test bags, features, bag size, negative and positive atoms, T_0, T_1, lambda,
eta, lambda_L, iterations, initial rounds, first width, seed, rounds. Files are float64. Preparing the instances and their kernels is on the clock.

The total is the cost R_n + eta R_p + lambda F after the last iteration. A remark tells which part of the test bags are right.
"""

import json
import sys
import time

import numpy as np

train_file, train_labels, test_file, test_labels = sys.argv[1:5]
n_features, bag_size, k_n, k_p, sparsity, test_sparsity = map(int, sys.argv[5:11])
weight_f, weight_p, unit_length = map(float, sys.argv[11:14])
iterations, initial_rounds = map(int, sys.argv[14:16])
first_width, seed, rounds = float(sys.argv[16]), int(sys.argv[17]), int(sys.argv[18])
OFFSETS = 0.5 * np.arange(1, 11)
WIDTHS = first_width + 0.01 * np.arange(28)
NOTHING = 1e-12


def unit(y):
    return y / np.linalg.norm(y, axis=1, keepdims=True)


def base_kernels(y, z):
    """All kernels between rows of unit length, by kernel; each has k(x, x) = 1."""
    products = y @ z.T
    values = np.empty((50, len(y), len(z)))
    values[0] = products
    for i, row in enumerate(y):
        np.minimum(row, z).sum(axis=1, out=values[1, i])
    values[1] /= np.sqrt(y.sum(axis=1)[:, None] * z.sum(axis=1))
    # (<x, z> + c) / (1 + c) is the normalised base of both powers.
    base = (products + OFFSETS[:, None, None]) / (1 + OFFSETS[:, None, None])
    np.multiply(base, base, out=values[2:12])
    np.multiply(values[2:12], base, out=values[12:22])
    # |x - z|^2 = 2 - 2 <x, z>.
    np.divide(2 * np.minimum(products - 1, 0), WIDTHS[:, None, None], out=values[22:])
    np.exp(values[22:], out=values[22:])
    return values


def mixed(beta, values):
    """The mixture, of which most kernels have no part."""
    known = np.flatnonzero(beta)
    shape = values.shape[1:]
    if len(known) > 10:
        return (beta @ values.reshape(len(beta), -1)).reshape(shape)
    total = beta[known[0]] * values[known[0]]
    for b in known[1:]:
        total += beta[b] * values[b]
    return total


def pursue(gram, h, most):
    """Codes of at most so many atoms on atoms with given products, a row of h for each sample, and what they explain of the squared length.

    Atoms are made orthogonal as they are chosen: of the s-th, q[s] are the products with all atoms.
    """
    n, k = h.shape
    most = min(most, k)
    everyone = np.arange(n)
    lengths = np.sqrt(np.diag(gram))
    inverse = np.divide(1, lengths, out=np.zeros(k), where=lengths > 0)
    scale = np.repeat(inverse[None], n, axis=0)
    left = h.copy()
    floor = NOTHING * np.abs(h * scale).max(axis=1)
    chosen = np.zeros((most, n), dtype=np.intp)
    q = np.zeros((most, n, k))
    factor = np.zeros((most, most, n))
    gains = np.zeros((most, n))
    for s in range(most):
        correlations = np.abs(left * scale)
        atom = chosen[s] = correlations.argmax(axis=1)
        row = gram[atom]
        squared = row[everyone, atom]
        rest = squared.copy()
        for r in range(s):
            product = factor[r, s] = q[r, everyone, atom]
            row -= product[:, None] * q[r]
            rest -= product * product
        ok = (correlations[everyone, atom] > floor) & (rest > NOTHING * squared)
        length = np.sqrt(np.where(ok, rest, 1))
        factor[s, s] = length
        q[s] = row / np.where(ok, length, np.inf)[:, None]
        gains[s] = np.where(ok, left[everyone, atom] / length, 0)
        left -= gains[s][:, None] * q[s]
        scale[everyone, atom] = 0
    # Back substitution for all samples at once; factor[r, s] is above the diagonal.
    weights = np.zeros((most, n))
    for s in reversed(range(most)):
        rest = gains[s] - (factor[s, s + 1 :] * weights[s + 1 :]).sum(axis=0)
        weights[s] = np.where(gains[s] != 0, rest / factor[s, s], 0)
    codes = np.zeros((n, k))
    for s in range(most):
        codes[everyone, chosen[s]] += weights[s]
    return codes, (gains * gains).sum(axis=0)


def encode(kernel, atoms, most):
    """Codes of the samples that atoms (rows) are made of."""
    images = atoms @ kernel
    return pursue(images @ atoms.T, images.T, most)[0]


def update_atoms(kernel, atoms, codes):
    """K-SVD: each atom with the weights of the samples that use it; gives what is left of all samples."""
    left = np.eye(len(kernel)) - codes @ atoms
    for k, weights in enumerate(codes.T.copy()):
        users = weights.nonzero()[0]
        if users.size == 0:
            continue
        rest = left[users] + weights[users, None] * atoms[k]
        values, vectors = np.linalg.eigh(rest @ kernel @ rest.T)
        if values[-1] <= NOTHING:
            continue
        length, vector = values[-1] ** 0.5, vectors[:, -1]
        atoms[k] = vector @ rest / length
        codes[users, k] = length * vector
        left[users] = rest - codes[users, k, None] * atoms[k]
    return left


def samples_as_atoms(rng, kernel, n_atoms):
    atoms = np.zeros((min(n_atoms, len(kernel)), len(kernel)))
    drawn = rng.permutation(len(kernel))[: len(atoms)]
    atoms[np.arange(len(atoms)), drawn] = np.diag(kernel)[drawn] ** -0.5
    return atoms


def on_simplex(quadratic, linear):
    """The minimum of 1/2 b'Pb + p'b over the simplex by a primal active-set method from the best corner."""
    n = len(linear)
    scale = max(np.abs(quadratic).max(), np.abs(linear).max())
    quadratic, linear = quadratic / scale + 1e-13 * np.eye(n), linear / scale
    beta = np.zeros(n)
    first = np.argmin(0.5 * np.diag(quadratic) + linear)
    beta[first] = 1
    free = [first]
    for _ in range(20 * n):
        m = len(free)
        system = np.ones((m + 1, m + 1))
        system[:m, :m] = quadratic[np.ix_(free, free)]
        system[m, m] = 0
        target = np.linalg.solve(system, np.append(-linear[free], 1))
        goal, now = target[:m], beta[free]
        if goal.min() > 0:
            beta[free] = goal
            slope = quadratic @ beta + linear + target[m]
            worst = np.argmin(slope)
            if slope[worst] > -1e-10:
                break
            free.append(worst)
        else:
            falling = goal <= 0
            steps = np.full(m, np.inf)
            steps[falling] = now[falling] / np.maximum(now[falling] - goal[falling], 1e-300)
            out = np.argmin(steps)
            beta[free] = now + steps[out] * (goal - now)
            beta[free[out]] = 0
            del free[out]
    beta[beta < 1e-8] = 0
    return beta / beta.sum()


class Midl:
    def __init__(self, y, labels):
        self.rng = np.random.default_rng(seed)
        bags = unit(y).reshape(-1, bag_size, n_features)
        self.y_n = bags[labels < 0].reshape(-1, n_features)
        self.y_p = bags[labels > 0].reshape(-1, n_features)
        n = len(self.y_n)
        everything = np.concatenate([self.y_n, self.y_p])
        values = base_kernels(everything, everything)
        parts = values[:, :n, :n], values[:, :n, n:], values[:, n:, n:]
        self.nn, self.cross, self.pp = map(np.ascontiguousarray, parts)
        # What the terms of beta ask for: pairs i <= j, and rows of chosen samples.
        self.pairs = np.triu_indices(n)
        self.nn_pairs = self.nn[:, self.pairs[0], self.pairs[1]] * np.where(self.pairs[0] == self.pairs[1], 1, 2)
        self.pn_rows = self.cross.transpose(2, 0, 1).copy()
        self.pp_last = self.pp.transpose(1, 2, 0).copy()
        self.learn()

    def mix(self, beta):
        self.beta = beta
        self.k_nn, self.k_np, self.k_pp = (mixed(beta, v) for v in (self.nn, self.cross, self.pp))

    def learn(self):
        self.mix(np.full(50, 1 / 50))
        self.a_n = samples_as_atoms(self.rng, self.k_nn, k_n)
        for _ in range(initial_rounds):
            self.x_n = encode(self.k_nn, self.a_n, sparsity)
            self.left_n = update_atoms(self.k_nn, self.a_n, self.x_n)
        self.sel = self.selected(0)
        k_ss = self.k_pp[np.ix_(self.sel, self.sel)]
        self.a_p = samples_as_atoms(self.rng, k_ss, k_p)
        self.x_p = encode(k_ss, self.a_p, sparsity)
        for t in range(iterations):
            ramp = min(1, 0.1 * t)
            self.update_beta(ramp)
            k_ss = self.k_pp[np.ix_(self.sel, self.sel)]
            for kernel, atoms in ((self.k_nn, self.a_n), (k_ss, self.a_p)):
                atoms /= np.sqrt(((atoms @ kernel) * atoms).sum(axis=1, keepdims=True))
            # Codes are made anew, so that those before need not follow the atoms.
            self.x_n = encode(self.k_nn, self.a_n, sparsity)
            self.x_p = encode(k_ss, self.a_p, sparsity)
            self.left_n = update_atoms(self.k_nn, self.a_n, self.x_n)
            update_atoms(k_ss, self.a_p, self.x_p)
            self.follow(self.selected(ramp * weight_f))
        self.cost = self.total()
        k_ss = self.k_pp[np.ix_(self.sel, self.sel)]
        self.x_p = encode(k_ss, self.a_p, sparsity)
        update_atoms(k_ss, self.a_p, self.x_p)

    def update_beta(self, ramp):
        # The squared length of an atom under a kernel and the error of a dictionary are forms of the kernel's values.
        i, j = self.pairs
        by_sample = self.a_n.T
        forms = np.empty((len(i), len(self.a_n) + 1))
        np.multiply(by_sample[i], by_sample[j], out=forms[:, :-1])
        forms[:, -1] = (self.left_n.T @ self.left_n)[self.pairs]
        of_n = self.nn_pairs @ forms
        left_p = np.eye(len(self.sel)) - self.x_p @ self.a_p
        forms = np.concatenate([self.a_p[:, :, None] * self.a_p[:, None, :], (left_p.T @ left_p)[None]])
        values = self.pp_last[np.ix_(self.sel, self.sel)].reshape(-1, 50)
        of_p = (forms.reshape(len(forms), -1) @ values).T
        errors = of_n[:, -1] + ramp * weight_p * of_p[:, -1]
        lengths = np.concatenate([of_n[:, :-1], of_p[:, :-1]], axis=1)
        common = self.pn_rows[self.sel].reshape(-1, self.a_n.shape[1]) @ self.a_n.T
        common = common.reshape(len(self.sel), 50, -1).transpose(1, 0, 2).reshape(50, -1)
        quadratic = 2 * (ramp * weight_f * common @ common.T + unit_length * lengths @ lengths.T)
        self.mix(on_simplex(quadratic, errors - 2 * unit_length * lengths.sum(axis=1)))

    def selected(self, weight):
        """Of each positive bag what the negative dictionary represents worst, and has least in common with."""
        h = self.a_n @ self.k_np
        _, explained = pursue(self.a_n @ self.k_nn @ self.a_n.T, h.T, sparsity)
        strangeness = np.diag(self.k_pp) - explained - weight * (h * h).sum(axis=0)
        by_bag = strangeness.reshape(-1, bag_size)
        return by_bag.argmax(axis=1) + bag_size * np.arange(len(by_bag))

    def follow(self, sel):
        """Positive atoms lose what they had of samples no longer chosen."""
        changed = sel != self.sel
        if not changed.any():
            return
        self.sel = sel
        self.a_p[:, changed] = 0
        k_ss = self.k_pp[np.ix_(sel, sel)]
        squared = ((self.a_p @ k_ss) * self.a_p).sum(axis=1)
        for k in np.flatnonzero(squared <= NOTHING):
            drawn = self.rng.integers(len(sel))
            self.a_p[k, drawn], squared[k] = 1, k_ss[drawn, drawn]
        self.a_p /= np.sqrt(squared)[:, None]
        self.x_p = encode(k_ss, self.a_p, sparsity)

    def total(self):
        left_p = np.eye(len(self.sel)) - self.x_p @ self.a_p
        r_n = ((self.left_n @ self.k_nn) * self.left_n).sum()
        r_p = ((left_p @ self.k_pp[np.ix_(self.sel, self.sel)]) * left_p).sum()
        return r_n + weight_p * r_p + weight_f * ((self.a_n @ self.k_np[:, self.sel]) ** 2).sum()

    def scores(self, y):
        """eps_n - eps_p of each row; k(y, y) cancels."""
        samples = np.concatenate([self.y_p[self.sel], self.y_n])
        m = len(self.sel)
        atoms = np.zeros((len(self.a_p) + len(self.a_n), len(samples)))
        atoms[: len(self.a_p), :m], atoms[len(self.a_p) :, m:] = self.a_p, self.a_n
        gram = atoms @ mixed(self.beta, base_kernels(samples, samples)) @ atoms.T
        h = mixed(self.beta, base_kernels(unit(y), samples)) @ atoms.T
        codes, _ = pursue(gram, h, test_sparsity)
        positive, negative = codes.copy(), codes.copy()
        positive[:, len(self.a_p) :], negative[:, : len(self.a_p)] = 0, 0
        errors = [((x @ gram) * x - 2 * h * x).sum(axis=1) for x in (positive, negative)]
        return errors[1] - errors[0]


y, labels, test, of_test = (np.fromfile(path) for path in (train_file, train_labels, test_file, test_labels))
y, test = y.reshape(-1, n_features), test.reshape(-1, n_features)
seconds = []
for _ in range(rounds):
    start = time.perf_counter()
    midl = Midl(y, labels)
    seconds.append(time.perf_counter() - start)
scores = midl.scores(test).reshape(-1, bag_size).max(axis=1)
accuracy = np.mean((scores >= 0) == (of_test > 0))
report = {"peer": f"NumPy {np.__version__}", "seconds": seconds, "total": float(midl.cost)}
print(json.dumps(report | {"remark": f"{100 * accuracy:.1f} % of test bags right"}))
