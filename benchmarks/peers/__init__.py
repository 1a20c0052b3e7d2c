"""Other packages on the same cloth, where they happen to be installed.

Each driven through its public API.

Their times are ratios to the yardstick as taut's are, and their accuracy is measured by the same
residual ratio from the positions and velocities they give. A trajectory with strains beyond 50% is
called broken: its ratio means nothing.
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
    """A package, and how it is set to step the cloth.

    name : of the row; method : in words; module : to import; install : what pip installs; home :
        where its driver is
    share : of the run's steps that it makes; springs : whether it steps the same springs, so that
        its residual means something
    """

    name: str
    method: str
    module: str
    install: str
    home: str
    share: float = 1.0
    springs: bool = True


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
        springs=False,
    ),
)


def peers(bench: Bench) -> list[Row]:
    """A row for each peer, on the cloth of the other rows."""
    return [_row(bench, peer, bench.n) for peer in PEERS]


def _row(bench: Bench, peer: Peer, n: int) -> Row:
    if find_spec(peer.module) is None:
        return Row(
            peer.name,
            peer.method,
            None,
            "× yardstick",
            said=f"not installed: pip install {peer.install}",
        )
    home, _, maker = peer.home.partition(".")
    make: Callable[[Net, int], Stepper] = getattr(import_module(f"benchmarks.peers.{home}"), maker)
    net, steps = cloth(n), max(5, round(peer.share * bench.steps))
    with redirect_stdout(sys.stderr):  # what they print is not part of the results
        bench.progress.start(f"{peer.name}, making the cloth")
        try:
            stepper = make(net, n)
            bench.progress.finish()
            seen = net if peer.springs else _structural(net)
            made, yard = bench.run_with_baseline(n, seen, stepper, steps, f"{peer.name}, n = {n}")
        # A release of another project may fail in any way; it must not end the other rows.
        except Exception as error:
            bench.progress.finish()
            return Row(peer.name, peer.method, None, "× yardstick", said=f"failed: {error!r}")
    said = str(made) if peer.springs else str(made).partition(", ")[2]
    return Row(
        peer.name,
        f"{peer.method}, soft, n = {n}",
        made.mean / yard,
        "× yardstick",
        said=f"{1e3 * made.mean:.1f} ms; {said}",
        details={
            **made.details(),
            "n": n,
            "yardstick_ms": 1e3 * yard,
            "springs": peer.springs,
            "sane": made.sane,
        },
    )


def _structural(net: Net) -> Net:
    """The sides of the cells alone.

    What bends without stiffness may fold, which says nothing of its stretch.
    """
    kept = net.k == STRUCTURAL
    return replace(net, pairs=net.pairs[kept], k=net.k[kept])
