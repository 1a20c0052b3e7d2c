"""What identifies a system and an integrator, so that a run is continued with its own and with no other.

Each part of the system has a SHA-256: particles, masses, constraints, and for each law its formula, elements and parameters. What
depends on time is looked at where the run begins and halfway through.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula.placed import Placed
from taut.step.integrator import Integrator
from taut.system.system import System


def fingerprint(system: System, times: tuple[float, ...] = (0.0,)) -> dict[str, str]:
    """Part of the system → SHA-256.

    >>> import taut
    >>> a = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> b = a.with_(mass=2.0)
    >>> sorted(part for part, digest in fingerprint(a).items() if fingerprint(b)[part] != digest)
    ['law gravity', 'masses']
    """
    parts = {
        "particles": _digest(system.rest, system.pose, system.velocity),
        "masses": _digest(system.mass),
        "constraints": _digest(
            system.hold.free, *(system.hold.anchors(t) for t in times), text=repr([c.until for c in system.constraints])
        ),
    }
    for placed in (system.placed, system.placed_damping, system.placed_loads):
        for name, law in placed.items():
            formula = law.variant(law.form).digest if isinstance(law, Placed) else law.digest
            breaking = law.breaking_strain if isinstance(law, Placed) and law.breaking_strain is not None else np.zeros(0)
            parts[f"law {name}"] = _digest(law.elements, breaking, *(law.packed(t) for t in times), text=formula)
    if system.rayleigh is not None:
        parts["rayleigh"] = _digest(text=repr(system.rayleigh))
    return parts


def _digest(*arrays: NDArray[Any], text: str = "") -> str:
    digest = sha256(text.encode())
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def described(integrator: Integrator) -> str:
    """An integrator with its options.

    >>> import taut
    >>> described(taut.Adaptive(taut.RK4(), error=1e-4))
    'Adaptive(error=0.0001, halvings=16, integrator=RK4())'
    """
    own = {name: value for name, value in vars(integrator).items() if not name.startswith("_") and not hasattr(Integrator, name)}
    declared = Integrator.__annotations__
    shown = {n: described(v) if isinstance(v, Integrator) else repr(v) for n, v in sorted(own.items()) if n not in declared}
    return f"{type(integrator).__name__}({', '.join(f'{name}={value}' for name, value in shown.items())})"
