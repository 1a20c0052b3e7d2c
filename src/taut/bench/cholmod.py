"""The yardstick of converged steps: Newton's method in C++ with CHOLMOD, as an expert would write.

`cholmod_cloth.cpp` takes implicit Euler steps of the cloth from x + h v, each until its residual
ratio is below a tolerance: the true Hessian first, else the projected one, pattern analysed once,
supernodal factors. The program is built where a compiler, CHOLMOD and OpenBLAS are installed
(Debian: libsuitesparse-dev, libopenblas-dev) and kept in the kernel cache. Nothing takes its place
elsewhere: with a plain BLAS it would be several times as slow.

The program waits before each step, so that taut and the yardstick take turns, step by step.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from taut.arrays import Float
from taut.bench.cpp_program import build_program, find_compiler, find_include
from taut.bench.trajectory import H
from taut.errors import ModelError

SOURCE = "cholmod_cloth.cpp"
LIBRARIES = ("cholmod", "openblas")
# CHOLMOD 3 opens regions of four OpenMP threads in each supernode, whatever the number of cores. On
# two cores a step takes more than twice as long with them; the threads of OpenBLAS are not touched.
ENVIRONMENT = {"OMP_THREAD_LIMIT": "1"}


@dataclass(frozen=True)
class CholmodStep:
    """A step of the program: its time [s], its Newton iterations and its residual ratio.

    projections : how many iterations used the projected Hessian

    >>> CholmodStep.parse("step 3 seconds 0.25 newton 4 projections 1 ratio 1.4e-07")
    CholmodStep(seconds=0.25, newton=4, projections=1, ratio=1.4e-07)
    """

    seconds: float
    newton: int
    projections: int
    ratio: float

    @staticmethod
    def parse(line: str) -> CholmodStep:
        """Read the line that the program prints after a step."""
        found = re.fullmatch(
            r"step \d+ seconds (\S+) newton (\d+) projections (\d+) ratio (\S+)", line.strip()
        )
        if found is None:
            raise ModelError(f"not a step of {SOURCE}: {line.strip()!r}")
        return CholmodStep(float(found[1]), int(found[2]), int(found[3]), float(found[4]))


@dataclass(frozen=True, eq=False)
class CholmodEnd:
    """The end of a trajectory: all positions [m], (n², 3), and energies [J]."""

    positions: Float
    kinetic: float
    potential: float


class Cholmod:
    """The program, or the reason why there is none.

    program : its path; None if it could not be built
    missing : what is missing
    """

    def __init__(self) -> None:
        self.program, self.missing = _build()

    def start(self, n: int, stiffness: float, steps: int, tolerance: float) -> CholmodRun:
        """Start a trajectory of the n×n cloth; its steps are taken by `CholmodRun.step`."""
        if self.program is None:
            raise ModelError(f"the CHOLMOD yardstick was not built: {self.missing}")
        return CholmodRun(self.program, n, stiffness, steps, tolerance)


class CholmodRun:
    """A trajectory of the program, step by step; a context manager that ends the process.

    name : versions of CHOLMOD and of its BLAS
    """

    def __init__(
        self, program: str, n: int, stiffness: float, steps: int, tolerance: float
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="taut-bench-")
        self._file = Path(self._folder.name) / "positions"
        numbers = [str(n), repr(H), str(steps), repr(stiffness), repr(tolerance)]
        self._process = subprocess.Popen(
            [program, *numbers, str(self._file), "wait"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **ENVIRONMENT},
        )
        self.name = self._read_line()

    def __enter__(self) -> CholmodRun:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.communicate()
        self._folder.cleanup()

    def step(self) -> CholmodStep:
        """Take the next step."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise ModelError(self._describe_failure()) from None
        return CholmodStep.parse(self._read_line())

    def end(self) -> CholmodEnd:
        """Return the end of the trajectory, after its last step."""
        found = re.fullmatch(r"end lowest \S+ kinetic (\S+) potential (\S+)", self._read_line())
        self._process.wait()
        if found is None or self._process.returncode:
            raise ModelError(self._describe_failure())
        positions = np.fromfile(self._file).reshape(-1, 3)
        return CholmodEnd(positions, float(found[1]), float(found[2]))

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ModelError(self._describe_failure())
        return line.strip()

    def _describe_failure(self) -> str:
        self._process.kill()
        _, messages = self._process.communicate()
        return f"{SOURCE} ended early: {messages.strip() or self._process.returncode}"


def _build() -> tuple[str | None, str]:
    """Return the path of the program; if it cannot be built, None and the reason."""
    compiler = find_compiler()
    if compiler is None:
        return None, "no C++ compiler was found"
    include = find_include("cholmod.h", "suitesparse", "CHOLMOD")
    if include is None:
        return None, "cholmod.h was not found (Debian: libsuitesparse-dev)"
    program, message = build_program(SOURCE, compiler, include, LIBRARIES)
    if "openblas" in message:
        message = "OpenBLAS was not found (Debian: libopenblas-dev)"
    return program, message
