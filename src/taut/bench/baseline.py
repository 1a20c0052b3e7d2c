"""The baseline that all times are divided by.

One linearly implicit step of the soft cloth, (M + h²K) v' = M v + h f, K projected.

It is done by a plain C++ program with Eigen (`eigen_cloth.cpp`: SimplicialLDLT, its pattern
analysed once), built if there is a compiler and Eigen and kept with the compiled kernels, and
else by SciPy's splu. A factorisation costs the same for any stiffness, so stiff rows share it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import time
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.atomic_write import atomic_paths
from taut.bench.net import cloth
from taut.bench.trajectory import H
from taut.errors import ModelError
from taut.jit.kernel_cache import cache_directory, check_files
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.linear import Solution

COMPILERS = ("g++", "c++", "clang++")
FOLDERS = (
    "/usr/include/eigen3",
    "/usr/local/include/eigen3",
    "/opt/homebrew/include/eigen3",
    "/opt/local/include/eigen3",
)
SOURCE = "eigen_cloth.cpp"
LARGE = 150  # particles a side up to which the baseline is measured again for every row
# Runs of one step, of which the quickest counts, up to LARGE and beyond it.
TIMES = (3, 1)


class Baseline:
    """Seconds of the yardstick's step by size, all that were measured.

    A machine is busy now and then.
    """

    def __init__(self) -> None:
        self.program, self.why = _build()
        self.seconds: dict[int, list[float]] = {}

    @property
    def name(self) -> str:
        """Which of the two it is, in words."""
        return "Eigen SimplicialLDLT (C++)" if self.program else f"SciPy splu ({self.why})"

    def at(self, n: int) -> float:
        """Seconds of a step of the n×n cloth.

        Now, if it is quick, else as it was measured the first time.
        """
        if n not in self.seconds or n <= LARGE:
            taken = min(self._once(n) for _ in range(TIMES[n > LARGE]))
            self.seconds.setdefault(n, []).append(taken)
        return self.seconds[n][-1]

    def _once(self, n: int) -> float:
        return _by_eigen(self.program, n) if self.program else _by_splu(n)


def parse_milliseconds(line: str) -> float:
    """The time of a step [ms] from what the program prints.

    >>> parse_milliseconds("eigen mode 0 n 100 ms/step 1102.5 its 0 miny -0.1 steps 4")
    1102.5
    """
    found = re.search(r"ms/step (\S+)", line)
    try:
        return float(found[1]) if found else float("nan")
    except ValueError:
        return float("nan")


def eigen_folder() -> str | None:
    """Where Eigen's headers are, or None."""
    listed = [
        folder for folder in os.environ.get("CPLUS_INCLUDE_PATH", "").split(os.pathsep) if folder
    ]
    known = [*listed, *(f"{folder}/eigen3" for folder in listed), *FOLDERS, *_from_pkg_config()]
    return next((folder for folder in known if (Path(folder) / "Eigen" / "Sparse").exists()), None)


def _from_pkg_config() -> list[str]:
    if shutil.which("pkg-config") is None:
        return []
    run = subprocess.run(
        ["pkg-config", "--cflags-only-I", "eigen3"], capture_output=True, text=True, check=False
    )
    return [word.removeprefix("-I") for word in run.stdout.split()]


def _build() -> tuple[str | None, str]:
    """The program, or None and why there is none."""
    compiler = next((found for name in COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None, "no C++ compiler was found"
    include = eigen_folder()
    if include is None:
        return None, "Eigen's headers were not found"
    source = files("taut.bench") / SOURCE
    version = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=False
    ).stdout
    known = repr(
        (source.read_text(), compiler, version, include, platform.node())
    )  # code for this very processor
    program = (
        cache_directory() / f"taut_eigen_cloth_{hashlib.sha256(known.encode()).hexdigest()[:24]}"
    )
    if not program.exists():
        options = ["-O3", "-march=native", f"-I{include}"]
        try:
            with (
                as_file(source) as path,
                atomic_paths([program], overwrite=True, durable=False) as [output],
            ):
                command = [compiler, *options, str(path), "-o", str(output)]
                subprocess.run(command, capture_output=True, check=True)
        except subprocess.CalledProcessError:
            return None, f"{Path(compiler).name} failed to build {SOURCE}"
    check_files([program])
    return str(program), ""


def _by_eigen(program: str, n: int) -> float:
    run = subprocess.run(
        [program, str(n), str(H), "1", "0"], capture_output=True, text=True, check=False
    )
    found = parse_milliseconds(run.stdout)
    if run.returncode or not found > 0.0:
        raise ModelError(
            f"the yardstick failed for n = {n}: "
            f"{run.stderr.strip() or run.stdout.strip() or run.returncode}"
        )
    return found / 1e3


def _by_splu(n: int) -> float:
    """The same step with the matrix of taut, factorise anew each time."""
    from scipy.sparse import diags_array

    net = cloth(n)
    system = net.system()
    state, free, seconds = system.initial_state(), np.repeat(net.free, 3), 0.0
    mass = np.repeat(net.mass, 3)[free]
    for _ in range(2):  # of which the second counts
        begun = time.perf_counter()
        stiffness = system.K(state, project=True).tocsr()[free][:, free]
        v = np.array(state.v).reshape(-1)
        matrix = H**2 * stiffness + diags_array(mass)
        v[free] = factorise(matrix).solve(mass * v[free] + H * system.f(state).reshape(-1)[free])
        speeds = v.reshape(-1, 3)
        state = state.with_(t=state.t + H, q=np.array(state.q) + H * speeds, v=speeds)
        seconds = time.perf_counter() - begun
    return seconds


# SciPy's splu as a linear solver of taut: what is measured against where there is no yardstick in
# C++.
#
# It keeps to the diagonal for its pivots (SymmetricMode), so that A = LU with U = D Lᵀ: A is
# positive definite if and only if all pivots are positive. There is no factorising of new values on
# a known pattern: each begins anew.


def factorise(matrix: Any) -> Any:
    """The factors of a symmetric sparse matrix, as SciPy's SuperLU.

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
    """A `taut.linalg.linear.LinearSolver`."""

    name, reason, is_direct = "SciPy splu", "asked for", True

    def __init__(self) -> None:
        self._matrix: BlockMatrix | None = None
        self._factors: Any = None
        self._definite = False

    def analyse(self, pattern: Pattern) -> None:
        """Nothing to do: splu orders each matrix anew."""

    def factor(self, matrix: BlockMatrix, *, similar: bool = False) -> bool:
        self._matrix, self._factors = matrix, factorise(matrix.to_scipy())
        self._definite = bool((self._factors.U.diagonal() > 0.0).all())
        return self._definite

    def solve(self, b: Float, targets: Float) -> Solution:
        assert self._matrix is not None
        x = self._factors.solve(b.reshape(-1)).reshape(b.shape)
        return Solution(x, self._definite, row_norms(b - self._matrix.multiply(x)), 1)
