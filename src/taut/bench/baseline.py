"""The baseline: a step of a plain implementation, whose time all other times are divided by.

The step is a linearly implicit one of the soft cloth, (M + h²K) v' = M v + h f, K projected.

It is taken by a plain C++ program with Eigen (`eigen_cloth.cpp`: SimplicialLDLT, its pattern
analysed once). If there is a compiler and Eigen, the program is built and kept in the kernel cache;
otherwise SciPy's splu takes its place. A factorisation costs the same for any stiffness, so the
stiff rows use the same baseline.
"""

from __future__ import annotations

import re
import subprocess
import time
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.bench.cpp_program import build_program, find_compiler, find_include
from taut.bench.net import cloth
from taut.bench.trajectory import H
from taut.errors import ModelError
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.linear import Solution
from taut.linalg.trust_region import FactoredModel, QuadraticModel

SOURCE = "eigen_cloth.cpp"
# Up to this many particles per side the baseline is measured again for every row; a larger cloth
# takes too long, and is measured once.
MAX_REPEATED_N = 150
MEASUREMENTS = 3  # up to `MAX_REPEATED_N`; the shortest time counts


class Baseline:
    """Measures the step of the baseline.

    seconds : n → all times that were measured [s]; they differ if other processes run
    """

    def __init__(self) -> None:
        self.program, self.missing = _build_program()
        self.seconds: dict[int, list[float]] = {}

    @property
    def name(self) -> str:
        """The implementation: Eigen, or SciPy with the reason why Eigen is not used."""
        return "Eigen SimplicialLDLT (C++)" if self.program else f"SciPy splu ({self.missing})"

    def measure_step(self, n: int) -> float:
        """Measure a step of the n×n cloth [s]; a large cloth is measured only the first time."""
        is_repeated = n <= MAX_REPEATED_N
        if n not in self.seconds or is_repeated:
            count = MEASUREMENTS if is_repeated else 1
            shortest = min(self._measure_once(n) for _ in range(count))
            self.seconds.setdefault(n, []).append(shortest)
        return self.seconds[n][-1]

    def _measure_once(self, n: int) -> float:
        if self.program:
            return _time_eigen_step(self.program, n)
        return _time_splu_step(n)


def parse_milliseconds(line: str) -> float:
    """Return the time of a step [ms] that the program prints; nan if there is none.

    >>> parse_milliseconds("eigen mode 0 n 100 ms/step 1102.5 its 0 miny -0.1 steps 4")
    1102.5
    """
    found = re.search(r"ms/step (\S+)", line)
    try:
        return float(found[1]) if found else float("nan")
    except ValueError:
        return float("nan")


def find_eigen() -> str | None:
    """Return the folder of Eigen's headers, or None."""
    return find_include("Eigen/Sparse", "eigen3", "eigen3")


def _build_program() -> tuple[str | None, str]:
    """Return the path of the program; if it cannot be built, None and the reason."""
    compiler = find_compiler()
    if compiler is None:
        return None, "no C++ compiler was found"
    include = find_eigen()
    if include is None:
        return None, "Eigen's headers were not found"
    return build_program(SOURCE, compiler, include)


def _time_eigen_step(program: str, n: int) -> float:
    """Return the time of a step of the C++ program [s]."""
    run = subprocess.run(
        [program, str(n), str(H), "1", "0"], capture_output=True, text=True, check=False
    )
    found = parse_milliseconds(run.stdout)
    if run.returncode or not found > 0.0:
        raise ModelError(
            f"the baseline program failed for n = {n}: "
            f"{run.stderr.strip() or run.stdout.strip() or run.returncode}"
        )
    return found / 1e3


def _time_splu_step(n: int) -> float:
    """Return the time [s] of the same step with taut's matrix, factorised from scratch."""
    from scipy.sparse import diags_array

    net = cloth(n)
    system = net.system()
    state, free, seconds = system.initial_state(), np.repeat(net.free, 3), 0.0
    mass = np.repeat(net.mass, 3)[free]
    for _ in range(2):  # the first is warm-up
        begun = time.perf_counter()
        stiffness = system.K(state, project=True).tocsr()[free][:, free]
        v = np.array(state.v).reshape(-1)
        matrix = H**2 * stiffness + diags_array(mass)
        v[free] = factorise(matrix).solve(mass * v[free] + H * system.f(state).reshape(-1)[free])
        speeds = v.reshape(-1, 3)
        state = state.with_(t=state.t + H, q=np.array(state.q) + H * speeds, v=speeds)
        seconds = time.perf_counter() - begun
    return seconds


# SciPy's splu, for the baseline without C++ and as the reference of the solid row.
#
# In symmetric mode it takes its pivots from the diagonal, so that A = LU with U = D Lᵀ: A is
# positive definite if and only if all pivots are positive. It cannot reuse the analysis of a known
# pattern.


def factorise(matrix: Any) -> Any:
    """Factorise a symmetric sparse matrix; return SciPy's SuperLU object.

    >>> from scipy.sparse import diags_array
    >>> factorise(diags_array([2.0, 4.0])).solve(np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    return splu(
        csc_array(matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


class Splu:
    """SciPy's splu as a `taut.linalg.linear.LinearSolver`."""

    name, reason, is_direct = "SciPy splu", "asked for", True

    def __init__(self) -> None:
        self._matrix: BlockMatrix | None = None
        self._factors: Any = None
        self._definite = False

    def analyse(self, pattern: Pattern) -> None:
        """Do nothing: splu computes the ordering of each matrix itself."""

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        self._matrix, self._factors = matrix, factorise(matrix.to_scipy())
        self._definite = bool((self._factors.U.diagonal() > 0.0).all())
        return self._definite

    def solve(self, b: Float, targets: Float) -> Solution:
        assert self._matrix is not None
        x = self._factors.solve(b.reshape(-1)).reshape(b.shape)
        return Solution(x, self._definite, row_norms(b - self._matrix.multiply(x)), 1)

    def model(self, hessian: BlockMatrix, b: Float, targets: Float) -> QuadraticModel:
        def precondition(r: Float) -> Float:
            z: Float = self._factors.solve(r.reshape(-1)).reshape(r.shape)
            return z

        return FactoredModel(hessian, precondition, b, targets)

    def fall_back(self) -> bool:
        return False
