"""Results do not depend on the number of BLAS threads."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
import numpy as np
import taut
from taut.materials import springs
from tests.materials.bodies import irregular_block, irregular_sheet

for made in (
    springs(irregular_block(10, seed=0), young=1e5),
    springs(taut.mesh.sphere(6), young=1e6, thickness=1e-3),
    springs(irregular_sheet(8, 8, 1.0, seed=0), membrane=(300.0, 100.0), warp=(1, 0, 0)),
):
    reached = made.reached
    numbers = np.array([reached.young, reached.softest, reached.held or 0.0, made.bending or 0.0])
    content = made.k.tobytes() + reached.compliance.tobytes() + numbers.tobytes()
    print(hashlib.sha256(content).hexdigest())
"""


def test_results_do_not_depend_on_blas_threads():
    found = []
    for threads in ("1", "2"):
        names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, threads), "PYTHONPATH": os.getcwd()}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.split())
    assert len(found[0]) == 3
    assert found[0] == found[1]
