"""Small systems to record, and comparisons of runs."""

from functools import cache
from pathlib import Path

import numpy as np

import taut
from taut import laws
from taut.constraints import on_plane, scripted
from taut.run.open_run import open_run


def net(n=6, **more):
    """A hanging net with damping, wind, a scripted corner and a time-dependent force.

    One particle moves on an oblique plane. Springs break under large strain.
    """
    sheet = taut.mesh.sheet(n, n)
    corner = len(sheet.points) - 1
    at = sheet.points[corner]
    arguments = {
        "mass": 1e-2,
        "fixed": sheet.corners("top")[:1],
        "energies": [
            laws.spring(sheet.edges, k=60.0, breaking_strain=0.15),
            laws.gravity(),
            laws.force([0], f=lambda t: (0.0, 0.0, 0.1 * np.sin(9 * t))),
        ],
        "damping": [laws.spring_damping(sheet.edges, c=0.01), laws.drag(alpha=0.5)],
        "loads": [laws.wind(sheet.triangles, velocity=(0.0, 0.0, 3.0))],
        "constraints": [
            scripted([corner], lambda t: at + np.array([t, 0.5 * t * t, 0.2 * t])),
            on_plane([corner // 2], normal=(1, 2, 0)),
        ],
    }
    return taut.System(sheet.points, **{**arguments, **more})


@cache
def small_net():
    """The same with 25 particles, made once."""
    return net(4)


def ball(**more):
    """One falling particle."""
    return taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()], **more)


def bits(state):
    """A State as bytes."""
    masks = mask_bits(state)
    past = [(name, value.shape, value.tobytes()) for name, value in sorted(state.history.items())]
    return np.float64(state.t).tobytes(), state.q.tobytes(), state.v.tobytes(), masks, past


def mask_bits(state):
    """The masks of a State or a Frame as bytes."""
    return [(name, mask.tobytes()) for name, mask in sorted(state.active.items())]


def frames(folder: Path):
    """All frames of a run as bytes."""
    with open_run(folder) as run:
        return [(f.step, f.t, f.q.tobytes(), f.v.tobytes(), mask_bits(f)) for f in run.frames]


def stopping_after(count):
    """A stop callback that returns True at the given call."""
    asked = iter(range(1, 10**9))
    return lambda: next(asked) >= count
