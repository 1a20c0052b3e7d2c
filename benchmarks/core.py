"""Measure the cost of user-defined laws, compilation, import and memory.

    python benchmarks/core.py [--json]

Steps are timed by `taut bench`. Prints:
  own law    V, f and K of the 100×100 cloth (59,002 springs) with the spring written in a script,
             over the built-in one, and what its second process compiles
  dihedral   seconds until energy, gradient, Hessian and projected Hessian of the dihedral-angle
             law have run, cold and warm
  start      seconds for `import taut` and `taut --help`
  memory     growth of the process over 2,000 further steps of a small cloth
Times are the best of several.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

from taut.bench.net import cloth
from taut.bench.timing import time_best

OWN_LAW = """
import time, json
import numba, numpy as np, taut
from taut import laws
from taut.bench.net import cloth
from taut.formula import norm
from taut.system.terms import Inputs
from taut.system.workspace import workspace_for

@taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
def my_own_spring(x, k, l0):
    return k / 2 * (norm(x[1] - x[0]) - l0) ** 2

net = cloth(100)
numba.set_num_threads(1)
best = {}
runs = {}
for name, law in (("own", my_own_spring), ("built-in", laws.spring)):
    energies = [law(net.pairs, k=net.k)]
    system = taut.System(net.points, mass=net.mass, energies=energies, fixed=net.fixed)
    state = system.initial_state()
    assembly = workspace_for(system).assembly("potential", state)
    runs[name] = (assembly, [Inputs.at(state)], np.zeros(system.n))
for _ in range(40):
    for name, (assembly, at, shift) in runs.items():
        t = time.perf_counter()
        assembly.hessian(at, shift, project=False)
        best[name] = min(best.get(name, 9.0), time.perf_counter() - t)
compiled = runs["own"][0].terms[0].compiled
misses = sum(not compiled._module(kind).batch.cache_hits for kind in ("gradient", "hessian"))
print(json.dumps(dict(own=best["own"], builtin=best["built-in"], compiled=misses)))
"""

DIHEDRAL = """
import time
import numpy as np
import taut
from taut.formula import atan2, cross, dot, unit
from taut.binding.placed_law import place
start = time.perf_counter()

def angle(x):
    e, n1, n2 = x[3] - x[2], cross(x[0] - x[2], x[0] - x[3]), cross(x[1] - x[3], x[1] - x[2])
    return atan2(dot(cross(n1, n2), unit(e)), dot(n1, n2))

@taut.energy(rest={"rest": angle})
def dihedral(x, c, rest):
    return c / 2 * (angle(x) - rest) ** 2

x = np.random.default_rng(0).normal(size=(4, 3))
p = place(dihedral([[0, 1, 2, 3]], c=1.0), x, np.ones(4))
p.gradients(x), p.hessians(x), p.hessians(x, project=True)
print(time.perf_counter() - start)
"""


def run_python(code: str, cache: str) -> str:
    """Run code in a new process with a kernel cache; return its output."""
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TAUT_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout


def time_command(command: list[str]) -> float:
    """Return the shortest time of a command [s]."""

    def run() -> None:
        subprocess.run(command, check=True, capture_output=True)

    return time_best(run, 5)


def measure_memory_growth() -> float:
    """Return the growth of the peak resident size [MB] over 2,000 steps, after 200 to warm up."""
    import taut
    from taut import laws

    net = cloth(12)
    system = taut.System(
        net.points,
        mass=net.mass,
        fixed=net.fixed,
        energies=[laws.spring(net.pairs, k=net.k), laws.gravity()],
        damping=[laws.spring_damping(net.pairs, c=0.01)],
    )
    integrator, state, before = taut.LinearlyImplicitEuler(), system.initial_state(), 0
    for i in range(2200):
        state, _ = integrator.step(system, state, 0.01)
        if i == 200:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    """Measure everything, and print it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json

    def report(text: str) -> None:
        print(text, file=sys.stderr if as_json else sys.stdout, flush=True)

    result: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as cache:
        run_python(OWN_LAW, cache)
        own = json.loads(run_python(OWN_LAW, cache))
        result["own law"] = own
        ratio = own["own"] / own["builtin"]
        report(
            f"own law    {1e3 * own['own']:.2f} ms, built-in {1e3 * own['builtin']:.2f} ms: ratio "
            f"{ratio:.2f}; "
            f"second process compiled {own['compiled']} kernels"
        )
    with tempfile.TemporaryDirectory() as cache:
        cold = float(run_python(DIHEDRAL, cache))
        warm = min(float(run_python(DIHEDRAL, cache)) for _ in range(5))
        result["dihedral"] = {"cold": cold, "warm": warm}
        report(f"dihedral   cold {cold:.1f} s, warm {warm:.2f} s")
    result["start"] = {
        "import": time_command([sys.executable, "-c", "import taut"]),
        "help": time_command([sys.executable, "-m", "taut.cli", "--help"]),
    }
    report(
        f"start      import taut {result['start']['import']:.2f} s, taut --help "
        f"{result['start']['help']:.2f} s"
    )
    result["memory"] = measure_memory_growth()
    report(f"memory     {result['memory']:+.1f} MB over 2,000 steps")
    if as_json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
