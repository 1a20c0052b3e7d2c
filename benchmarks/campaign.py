"""Step random scenes: each step must be solved to its tolerance, or end in a typed error.

    python -m benchmarks.campaign [--scenes 2000] [--seed 0] [--integrator ImplicitEuler]
                                  [--minimiser newton] [--solver auto] [--scene N] [--json]

Random cloth, rods and solids of at most about 100 particles: stiffness from 1e-2 to 1e8 N/m, steps
from 1e-4 to 0.1 s, masses over six decades; stretched, crumpled, slack, exactly straight and
compressed, with coincident particles, unpinned, on planes and lines across the axes, far from the
origin. Each takes four steps. Prints how many scenes were solved (every step converged, or ended at
the rounding floor), the typed errors by cause, and the iterations.

Exits with 1 if fewer than 95% were solved, or if there was a defect: another error, a warning, a
number that is not finite, a residual above its tolerance, a gain of energy, or a residual
m(v' - v)/h - f(q', v') of implicit Euler beyond tolerance and rounding. `--scene N` repeats one
scene.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial

import taut
from benchmarks.reliability.random_steps import MIN_SOLVED, STEPS, campaign, summary
from benchmarks.reliability.watch import show_progress


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--integrator", default="ImplicitEuler")
    parser.add_argument("--minimiser", help="for integrators that have this option")
    parser.add_argument("--solver", help="for integrators that have this option")
    parser.add_argument("--scene", type=int, help="only the scene with this number")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    numbers = range(options.scenes) if options.scene is None else [options.scene]
    given = {
        name: getattr(options, name)
        for name in ("minimiser", "solver")
        if getattr(options, name) is not None
    }
    make = partial(getattr(taut, options.integrator), **given)
    try:
        make()
    except (TypeError, taut.errors.ModelError) as error:
        parser.error(f"{options.integrator}: {error}")
    results = campaign(show_progress("random scenes", numbers, "campaign"), options.seed, make)
    found = summary(results)
    solved = found["converged"] + found["rounding floor"]
    if options.json:
        print(json.dumps(found | {"failed": [vars(r) for r in results if not r.solved]}, indent=1))
    else:
        method = " ".join([options.integrator, *given.values()])
        print(
            f"{len(results)} scenes of {STEPS} steps with {method}, {found['seconds']} s: {solved} "
            "solved",
            end="",
        )
        print(
            f" ({100 * solved / len(results):.1f}%), {found['rounding floor']} of them with steps "
            "at the rounding floor"
        )
        print(f"steps: {found['steps']}; iterations per step: {found['iterations']}")
        for cause, count in found["errors"].items():
            print(f"{count:5d}  {cause}")
        for r in results:
            if r.defect or options.scene is not None:
                print(
                    f"scene {r.scene} ({r.words}): {r.defect or r.error or 'solved'}; "
                    f"{r.outcomes}, {r.iterations} iterations"
                )
    return int(bool(found["defects"]) or solved < MIN_SOLVED * len(results))


if __name__ == "__main__":
    sys.exit(main())
