"""What all times are divided by: one linearly implicit step of the soft cloth, (M + h²K) v' = M v + h f, K projected.

It is done by a plain C++ program with Eigen (`eigen_cloth.cpp`: SimplicialLDLT, its pattern analysed once), built if there is a
compiler and Eigen and kept beside the compiled kernels, and else by SciPy's splu. A factorisation costs the same for any
stiffness, so stiff rows share it.
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

import numpy as np

from taut.bench.march import H
from taut.bench.net import cloth
from taut.bench.splu import factorised
from taut.errors import ModelError
from taut.formula.cache import cache_directory, check_files

COMPILERS = ("g++", "c++", "clang++")
FOLDERS = ("/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3", "/opt/local/include/eigen3")
SOURCE = "eigen_cloth.cpp"
LARGE = 150  # particles a side up to which it is measured anew each time it is asked for
TIMES = (3, 1)  # runs of one step, of which the quickest counts, up to LARGE and beyond; a step before it does not count


class Yardstick:
    """Seconds of the yardstick's step by size, all that were measured: a machine is busy now and then."""

    def __init__(self) -> None:
        self.program, self.why = _build()
        self.seconds: dict[int, list[float]] = {}

    @property
    def name(self) -> str:
        """Which of the two it is, in words."""
        return "Eigen SimplicialLDLT (C++)" if self.program else f"SciPy splu ({self.why})"

    def at(self, n: int) -> float:
        """Seconds of a step of the n×n cloth: now, if it is quick, else as it was measured the first time."""
        if n not in self.seconds or n <= LARGE:
            taken = min(self._once(n) for _ in range(TIMES[n > LARGE]))
            self.seconds.setdefault(n, []).append(taken)
        return self.seconds[n][-1]

    def _once(self, n: int) -> float:
        return _by_eigen(self.program, n) if self.program else _by_splu(n)


def milliseconds(line: str) -> float:
    """The time of a step [ms] from what the program prints.

    >>> milliseconds("eigen mode 0 n 100 ms/step 1102.5 its 0 miny -0.1 steps 4")
    1102.5
    """
    found = re.search(r"ms/step (\S+)", line)
    try:
        return float(found[1]) if found else float("nan")
    except ValueError:
        return float("nan")


def eigen_folder() -> str | None:
    """Where Eigen's headers are, or None."""
    listed = [folder for folder in os.environ.get("CPLUS_INCLUDE_PATH", "").split(os.pathsep) if folder]
    known = [*listed, *(f"{folder}/eigen3" for folder in listed), *FOLDERS, *_from_pkg_config()]
    return next((folder for folder in known if (Path(folder) / "Eigen" / "Sparse").exists()), None)


def _from_pkg_config() -> list[str]:
    if shutil.which("pkg-config") is None:
        return []
    run = subprocess.run(["pkg-config", "--cflags-only-I", "eigen3"], capture_output=True, text=True, check=False)
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
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout
    known = repr((source.read_text(), compiler, version, include, platform.node()))  # code for this very processor
    program = cache_directory() / f"taut_eigen_cloth_{hashlib.sha256(known.encode()).hexdigest()[:24]}"
    if not program.exists():
        made = program.with_suffix(f".{os.getpid()}")
        with as_file(source) as path:
            command = [compiler, "-O3", "-march=native", f"-I{include}", str(path), "-o", str(made)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            made.unlink(missing_ok=True)
            return None, f"{Path(compiler).name} failed to build {SOURCE}"
        os.replace(made, program)
    check_files([program])
    return str(program), ""


def _by_eigen(program: str, n: int) -> float:
    run = subprocess.run([program, str(n), str(H), "1", "0"], capture_output=True, text=True, check=False)
    found = milliseconds(run.stdout)
    if run.returncode or not found > 0.0:
        raise ModelError(f"the yardstick failed for n = {n}: {run.stderr.strip() or run.stdout.strip() or run.returncode}")
    return found / 1e3


def _by_splu(n: int) -> float:
    """The same step with the matrix of taut, factorised anew each time."""
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
        v[free] = factorised(matrix).solve(mass * v[free] + H * system.f(state).reshape(-1)[free])
        speeds = v.reshape(-1, 3)
        state = state.with_(t=state.t + H, q=np.array(state.q) + H * speeds, v=speeds)
        seconds = time.perf_counter() - begun
    return seconds
