"""The first programs that a user reads, and the kinds of laws, under `mypy --strict`."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A line with `type: ignore` must be an error of that kind: mypy rejects an ignore without use.
KINDS = """
import numpy as np
import taut
from taut import laws
from taut.formula import Scalar, Vector, Vectors, dot, rate

points = np.zeros((3, 3))
spring: taut.Energy = laws.spring([[0, 1]], k=np.ones(1), l0=lambda t: 1 + t)
drag: taut.Damping = laws.drag(alpha=0.1)
wind: taut.Load = laws.wind([[0, 1, 2]], velocity=lambda x, t: 0 * x)
stiffer: taut.Energy = spring.with_(k=2.0)
taut.System(points, mass=1.0, energies=[spring], damping=[drag, laws.rayleigh()], loads=[wind])

taut.System(points, mass=1.0, energies=[drag])  # type: ignore[list-item]
taut.System(points, mass=1.0, energies=spring)  # type: ignore[arg-type]
taut.System(points, mass=1.0, damping=[spring])  # type: ignore[list-item]
taut.System(points, mass=1.0, loads=[laws.gravity()])  # type: ignore[list-item]
taut.System(points, mass=1.0, energies=[laws.spring])  # type: ignore[list-item]
laws.spring([[0, 1]])  # type: ignore[call-arg]
laws.spring([[0, 1]], K=1.0)  # type: ignore[call-arg]
laws.spring([[0, 1]], k="3")  # type: ignore[arg-type]


@taut.energy
def pull(x: Vectors, k: Scalar, d: Vector = (0.0, 0.0, 1.0)) -> Scalar:
    return k * dot(d, x[0])


@taut.dissipation(limits={"c": ">= 0"})
def slow(x: Vectors, c: Scalar) -> Scalar:
    return c * dot(rate(x[0]), rate(x[0]))


@taut.load
def push(x: Vectors, v: Vectors, c: Scalar) -> Vectors:
    return [-c * v[0]]


taut.System(points, mass=1.0, energies=[pull(k=1.0)], damping=[slow(c=1.0)], loads=[push(c=1.0)])
taut.System(points, mass=1.0, energies=[push(c=1.0)])  # type: ignore[list-item]
"""


def test_first_programs_and_kinds_of_laws(tmp_path):
    for page in ("README.md", "docs/getting-started.md"):
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
        name = Path(page).stem.lower().replace("-", "_")
        (tmp_path / f"page_{name}.py").write_text("\n\n".join(blocks))
    (tmp_path / "kinds.py").write_text(KINDS)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull]
    # Errors in taut itself are those of test_style.py, with its configuration.
    command += ["--follow-imports", "silent", "--cache-dir", str(ROOT / ".mypy_cache" / "pages")]
    run = subprocess.run(
        [*command, *sorted(map(str, tmp_path.glob("*.py")))],
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
