"""Speed of the core on this machine: `python benchmarks/core.py [--json]`.

Prints, each measured in this run:
  assembly   V, f and K of the 100×100 cloth (59,002 springs) on one and two threads, and their ratio to one step of the plain
             C++/Eigen baseline (SimplicialLDLT, pattern analysed once) on the same cloth; without a compiler or Eigen, to
             SciPy's splu of the same matrix
  own law    the same assembly with the spring written in a script, over the built-in one, and what its second process compiles
  dihedral   seconds until energy, gradient, Hessian and projected Hessian of the dihedral-angle law have run, cold and warm
  start      seconds for `import taut` and `taut --help`
  memory     growth of the process over 2,000 further steps of a small cloth
Times are the best of several.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from cloth import cloth

HERE = Path(__file__).parent

OWN_LAW = """
import sys, time, json
sys.path.insert(0, {here!r})
import numba, numpy as np, taut
from cloth import cloth
from taut import laws
from taut.formula import norm
from taut.system.terms import Inputs

@taut.energy(rest={{"l0": lambda x: norm(x[1] - x[0])}}, invariant="rigid motion")
def my_own_spring(x, k, l0):
    return k / 2 * (norm(x[1] - x[0]) - l0) ** 2

X, E, K, _, m, f = cloth(100)
numba.set_num_threads(1)
best = {{}}
runs = {{}}
for name, law in (("own", my_own_spring), ("built-in", laws.spring)):
    system = taut.System(X, mass=m, energies=[law(E, k=K)], fixed=f)
    state = system.initial_state()
    runs[name] = (system.assembly("potential", state), [Inputs.at(state)], np.zeros(system.n))
for _ in range(40):
    for name, (assembly, at, shift) in runs.items():
        t = time.perf_counter()
        assembly.hessian(at, shift, project=False)
        best[name] = min(best.get(name, 9.0), time.perf_counter() - t)
variant = runs["own"][0].terms[0].variant
misses = sum(sum(x.evaluate.stats.cache_misses.values()) for x in (variant.gradient, variant.hessian))
print(json.dumps(dict(own=best["own"], builtin=best["built-in"], compiled=misses)))
"""

DIHEDRAL = """
import time
import numpy as np
import taut
from taut.formula import atan2, cross, dot, unit
from taut.formula.placed import place
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


def assembly() -> dict[str, float]:
    """Seconds for V, f and K of the cloth, by number of threads."""
    import numba

    import taut
    from taut import laws
    from taut.system.terms import Inputs

    points, edges, k, _, mass, fixed = cloth(100)
    system = taut.System(points, mass=mass, energies=[laws.spring(edges, k=k), laws.gravity()], fixed=fixed)
    state = system.initial_state().with_(q=points + 1e-3 * np.random.default_rng(0).normal(size=points.shape))
    sums, at, shift = system.assembly("potential", state), [Inputs.at(state)] * 2, np.zeros(system.n)
    result = {}
    for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        numba.set_num_threads(threads)
        result[str(threads)] = best(lambda: sums.hessian(at, shift, project=False), 40)
    return result


def best(function, count: int) -> float:
    function()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def yardstick() -> tuple[str, float]:
    """Seconds of one baseline step at n = 100, and what the baseline is."""
    include = next(
        (p for p in ("/usr/include/eigen3", "/usr/local/include/eigen3", "/opt/homebrew/include/eigen3") if Path(p).is_dir()), None
    )
    compiler = shutil.which("g++") or shutil.which("clang++")
    if include and compiler:
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/eigen_cloth"
            subprocess.run(
                [compiler, "-O3", "-march=native", f"-I{include}", str(HERE / "eigen_cloth.cpp"), "-o", program], check=True
            )
            lines = [
                subprocess.run([program, "100", "0.01", "3", "0"], capture_output=True, text=True, check=True).stdout
                for _ in range(2)
            ]
        return "Eigen SimplicialLDLT step", min(float(line.split("ms/step ")[1].split()[0]) for line in lines) / 1e3
    from scipy.sparse.linalg import splu

    import taut
    from taut import laws

    points, edges, k, _, mass, fixed = cloth(100)
    system = taut.System(points, mass=mass, energies=[laws.spring(edges, k=k)], fixed=fixed)
    matrix = system.K(system.initial_state(), project=True).tocsc()
    matrix.setdiag(matrix.diagonal() + np.repeat(system.mass, 3) / 1e-4)
    return "SciPy splu", best(lambda: splu(matrix), 1)


def child(code: str, cache: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TAUT_CACHE_DIR": cache}, capture_output=True, text=True, check=True
    )
    return run.stdout


def seconds(command: list[str]) -> float:
    def run() -> None:
        subprocess.run(command, check=True, capture_output=True)

    return best(run, 5)


def memory() -> float:
    """Growth of the peak resident size [MB] over 2,000 steps, after 200 to warm up."""
    import taut
    from taut import laws

    points, edges, k, _, mass, fixed = cloth(12)
    system = taut.System(points, mass=mass, energies=[laws.spring(edges, k=k), laws.gravity()], fixed=fixed,
                         damping=[laws.spring_damping(edges, c=0.01)])  # fmt: skip
    integrator, state, before = taut.LinearlyImplicitEuler(), system.initial_state(), 0
    for i in range(2200):
        state, _ = integrator.step(system, state, 0.01)
        if i == 200:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json

    def say(text: str) -> None:
        print(text, file=sys.stderr if as_json else sys.stdout, flush=True)

    result: dict[str, object] = {}
    times = assembly()
    name, step = yardstick()
    result["assembly"] = {"seconds": times, "yardstick": name, "yardstick_seconds": step, "ratio": times["1"] / step}
    threads = ", ".join(f"{n} threads {1e3 * t:.2f} ms" for n, t in times.items())
    say(f"assembly   {threads}; {name} {1e3 * step:.0f} ms; ratio on one thread {times['1'] / step:.4f}")
    with tempfile.TemporaryDirectory() as cache:
        code = OWN_LAW.format(here=str(HERE))
        child(code, cache)
        own = json.loads(child(code, cache))
        result["own law"] = own
        ratio = own["own"] / own["builtin"]
        say(f"own law    {1e3 * own['own']:.2f} ms, built-in {1e3 * own['builtin']:.2f} ms: ratio {ratio:.2f}; "
            f"second process compiled {own['compiled']} kernels")  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        cold = float(child(DIHEDRAL, cache))
        warm = min(float(child(DIHEDRAL, cache)) for _ in range(5))
        result["dihedral"] = {"cold": cold, "warm": warm}
        say(f"dihedral   cold {cold:.1f} s, warm {warm:.2f} s")
    result["start"] = {
        "import": seconds([sys.executable, "-c", "import taut"]),
        "help": seconds([sys.executable, "-m", "taut.cli", "--help"]),
    }
    say(f"start      import taut {result['start']['import']:.2f} s, taut --help {result['start']['help']:.2f} s")
    result["memory"] = memory()
    say(f"memory     {result['memory']:+.1f} MB over 2,000 steps")
    if as_json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
