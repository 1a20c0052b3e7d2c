"""Other packages on the same cloth, if they are installed, driven through their public APIs.

Their times are divided by the baseline like those of taut, and their accuracy is measured by the
same residual ratio and unbalanced acceleration, from the positions and velocities that they return.
A trajectory with strains beyond 50% is called broken: its accuracy means nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec

from taut.bench.net import STRUCTURAL, Net, cloth
from taut.bench.row import Bench, Row
from taut.bench.trajectory import Stepper


@dataclass(frozen=True)
class Peer:
    """A package, and how it steps the cloth.

    name : of the row
    method : description of the solver and its options
    module : the module to import
    install : the name of the package for pip
    driver : file and function in `benchmarks.peers` that creates the Stepper
    share : fraction of the steps of the other rows that it takes
    has_same_springs : whether it steps the same springs, so that its residual is meaningful
    """

    name: str
    method: str
    module: str
    install: str
    driver: str
    share: float = 1.0
    has_same_springs: bool = True


PEERS = (
    Peer(
        "newton-explicit",
        "Newton, SolverSemiImplicit (explicit)",
        "newton",
        "newton",
        "_newton.semi_implicit",
    ),
    Peer(
        "newton-vbd",
        "Newton, SolverVBD, 10 substeps of 5 iterations",
        "newton",
        "newton",
        "_newton.vbd",
    ),
    Peer("pypbd", "pyPBD, XPBD, 50 substeps", "pypbd", "pyPBD", "_pypbd.xpbd"),
    Peer(
        "simkit",
        "SimKit, 4 Newton iterations",
        "simkit",
        "simkit",
        "_simkit.backward_euler",
        share=0.05,
    ),
    Peer(
        "mujoco",
        "MuJoCo, flex (a membrane, not these springs)",
        "mujoco",
        "mujoco",
        "_mujoco.flex",
        has_same_springs=False,
    ),
)


def measure_peers(bench: Bench) -> list[Row]:
    """Return a row for each peer, on the cloth of the other rows."""
    return [_measure_peer(bench, peer, bench.n) for peer in PEERS]


def _measure_peer(bench: Bench, peer: Peer, n: int) -> Row:
    if find_spec(peer.module) is None:
        return Row(
            peer.name,
            peer.method,
            None,
            "× baseline",
            note=f"not installed: pip install {peer.install}",
        )
    module, _, name = peer.driver.partition(".")
    make: Callable[[Net, int], Stepper] = getattr(import_module(f"benchmarks.peers.{module}"), name)
    net, steps = cloth(n), max(5, round(peer.share * bench.steps))
    with redirect_stdout(sys.stderr):  # packages print messages; standard output is for the results
        bench.progress.start(f"{peer.name}, creating the cloth")
        try:
            stepper = make(net, n)
            bench.progress.finish()
            measured = net if peer.has_same_springs else _select_structural(net)
            made, baseline = bench.run_with_baseline(
                n, measured, stepper, steps, f"{peer.name}, n = {n}"
            )
        # A release of another project may fail in any way; it must not end the other rows.
        except Exception as error:
            bench.progress.finish()
            return Row(peer.name, peer.method, None, "× baseline", note=f"failed: {error!r}")
    # What comes before the lowest point means nothing for other springs.
    results = str(made) if peer.has_same_springs else "lowest" + str(made).partition("lowest")[2]
    return Row(
        peer.name,
        f"{peer.method}, soft, n = {n}",
        made.mean / baseline,
        "× baseline",
        note=f"{1e3 * made.mean:.1f} ms; {results}",
        details={
            **made.details(),
            "n": n,
            "yardstick_ms": 1e3 * baseline,
            "springs": peer.has_same_springs,
            "sane": made.sane,
        },
    )


def _select_structural(net: Net) -> Net:
    """Return the net with only its structural springs, along the sides of the cells.

    A membrane without bending stiffness may fold, which strains the others but does not stretch it.
    """
    kept = net.k == STRUCTURAL
    return replace(net, pairs=net.pairs[kept], k=net.k[kept])
