"""Results do not depend on the number of BLAS threads, although BLAS orders long sums by it."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
import numpy as np
import taut
from taut import laws

sheet = taut.mesh.sheet(63, 63)
cloth = taut.System(
    sheet.points, mass=1e-4, fixed=sheet.corners("top"),
    energies=[laws.spring(sheet.edges, k=100.0), laws.gravity()], damping=[laws.drag(alpha=0.5)],
    pose=sheet.points + 1e-3 * np.random.default_rng(0).normal(size=sheet.points.shape),
)
ledger = taut.Ledger()
method = taut.ImplicitEuler(solver="cg")
for state, report in taut.simulate(cloth, method, 2e-3, 4e-3, ledger=ledger):
    pass
sums, momentum = ledger.total(), cloth.momentum(state)
numbers = np.array([report.decrease, report.residual, sums.numerical, sums.gap, *momentum])
everything = state.q.tobytes() + state.v.tobytes() + numbers.tobytes()
print(hashlib.sha256(everything).hexdigest(), report.iterations)
"""


def test_results_do_not_depend_on_blas_threads():
    found = []
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads)}
        found.append(
            subprocess.run(
                [sys.executable, "-c", SCRIPT],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert found[0] == found[1]
