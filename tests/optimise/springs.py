"""An independent objective for tests of minimisers in plain NumPy: masses, springs, loads, a
constant.
"""

import numpy as np

from taut.errors import SingularState
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.optimise.descent import Point
from taut.optimise.tolerance import Tolerance, estimate_rounding_floors

TIGHT = Tolerance(relative=1e-8)


class Springs:
    """Φ(y) = ½ a |y|² + Σ ½ k (l - l₀)² - load·y + constant, q = pose + y; some particles fixed.

    The energy is undefined below `floor` in y. `offset` is a constant too, but one that counts
    neither as magnitude of a term nor in `change`.
    """

    def __init__(
        self,
        pose,
        edges,
        l0,
        k=100.0,
        a=1.0,
        load=(0.0, 0.0, 0.0),
        fixed=(),
        constant=0.0,
        offset=0.0,
        floor=-np.inf,
    ):
        self.pose, self.edges, self.k, self.l0 = np.array(pose, float), np.array(edges), k, l0
        self.a, self.load, self.constant, self.floor = (
            a,
            np.broadcast_to(load, self.pose.shape),
            constant,
            floor,
        )
        self.offset = offset
        self.free = np.ones(len(self.pose), bool)
        self.free[list(fixed)] = False
        self.pattern = Pattern.from_pairs(self.edges, len(self.pose))
        keys = self.pattern.rows.astype(int) * len(self.pose) + self.pattern.indices
        i, j = self.edges.T
        self.slots = [
            np.searchsorted(keys, p * len(self.pose) + q)
            for p, q in ((i, i), (j, j), (i, j), (j, i))
        ]
        self.seen = []  # value and residuals of all points evaluated

    def evaluate(self, y):
        q = self.pose + y
        if q[:, 1].min() <= self.floor:
            raise SingularState("below the floor")
        d = q[self.edges[:, 1]] - q[self.edges[:, 0]]
        length = row_norms(d)
        pull = (self.k * (1 - self.l0 / length))[:, None] * d
        g, gross = self.a * y - self.load, np.abs(self.a * y).sum(1) + np.abs(self.load).sum(1)
        for column, sign in ((0, -1.0), (1, 1.0)):
            np.add.at(g, self.edges[:, column], sign * pull)
            np.add.at(gross, self.edges[:, column], np.abs(pull).sum(1))
        terms = np.concatenate(
            [
                0.5 * self.a * (y * y).sum(1),
                -(self.load * y).sum(1),
                0.5 * self.k * (length - self.l0) ** 2,
            ]
        )
        g[~self.free], gross[~self.free] = 0.0, 0.0
        magnitude = np.abs(terms).sum() + abs(self.constant)
        point = Point(
            y,
            float(terms.sum() + self.constant + self.offset),
            g,
            gross,
            float(magnitude),
            np.abs(q).max(1),
            energies=(terms,),
        )
        self.seen.append(point)
        return point

    def start(self):
        """The point without displacements."""
        return self.evaluate(np.zeros_like(self.pose))

    def change(self, start, end):
        (before,), (after,) = start.energies, end.energies
        return float((after - before).sum())

    def hessian(self, y, previous=None):
        return self._stiffness(y, metric=False)

    def metric(self, y, previous=None):
        """Without the negative curvature across compressed springs."""
        return self._stiffness(y, metric=True)

    def _stiffness(self, y, *, metric):
        q = self.pose + y
        d = q[self.edges[:, 1]] - q[self.edges[:, 0]]
        length = row_norms(d)
        u = d / length[:, None]
        across = 1 - self.l0 / length
        across = np.maximum(across, 0) if metric else across
        uu = np.einsum("ei,ej->eij", u, u)
        block = self.k * (across[:, None, None] * (np.eye(3) - uu) + uu)
        return self._matrix(block)

    def _matrix(self, block):
        data = np.zeros((len(self.pattern.indices), 3, 3))
        for slots, sign in zip(self.slots, (1, 1, -1, -1), strict=True):
            np.add.at(data, slots, sign * block)
        data[self.pattern.diagonal] += self.a * np.eye(3)
        held = ~self.free
        data[held[self.pattern.rows] | held[self.pattern.indices]] = 0.0
        data[self.pattern.diagonal[held]] = np.eye(3)
        return BlockMatrix(self.pattern, data)

    def laplacian(self):
        """a·I + L⊗I, L the graph Laplacian weighted with k.

        An upper bound of the Hessian in any pose.
        """
        return self._matrix(self.k * np.broadcast_to(np.eye(3), (len(self.edges), 3, 3)))

    def relax(self, point, region, sweeps):
        return point.y

    def free_part(self, y, move):
        return 1.0

    def damping_weights(self):
        return np.full(len(self.pose), self.a)

    def rounding_floors(self, point):
        return estimate_rounding_floors(point.gross, self.hessian(point.y), self.pose + point.y)


def net(rng, n=8, scale=1.3, noise=0.3, **rest):
    """All pairs of n random points joined, scaled and perturbed."""
    x = rng.normal(size=(n, 3))
    edges = np.array([(i, j) for i in range(n) for j in range(i)])
    l0 = row_norms(x[edges[:, 1]] - x[edges[:, 0]])
    return Springs(scale * x + noise * rng.normal(size=x.shape), edges, l0, **rest)


def chain(n=20, squeeze=1.0, shake=0.0, **rest):
    """A straight compressed chain of length 1 along x with fixed ends."""
    x = np.zeros((n, 3))
    x[:, 0] = np.linspace(0, squeeze, n)
    x[1:-1] += shake * np.random.default_rng(0).normal(size=(n - 2, 3))
    edges = np.c_[np.arange(n - 1), np.arange(1, n)]
    return Springs(x, edges, np.full(n - 1, 1 / (n - 1)), fixed=(0, n - 1), **rest)


PROBLEMS = {
    "net": lambda: net(np.random.default_rng(1), load=(0.0, -9.81, 0.0)),
    "crumpled net": lambda: net(np.random.default_rng(2), scale=0.3, noise=0.5, k=1e4),
    "hanging chain": lambda: chain(load=(0.0, -1.0, 0.0), k=1e4, a=10.0),
    "squeezed chain": lambda: chain(10, squeeze=0.5, shake=1e-4, k=1e3, a=40.0),
}
