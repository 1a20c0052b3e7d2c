"""The metadata of a run: the rows of `meta` in run.sqlite, written once, when the run begins.

format                      of the file (`taut.run._tables.FORMAT`)
versions                    of taut, Python, numpy, scipy, numba, SQLite and the platform: JSON
begun                       date and time, UTC
scene, inputs               text of the scene; SHA-256 by name of the files it names: JSON
n                           number of particles
t0, until, h, last, steps   start and end [s], length of the steps and of the last one [s], number
every, checkpoint_every     steps from frame to frame and from checkpoint to checkpoint
integrator                  with its options
system                      SHA-256 by part: JSON

Frame i belongs to step min(i · every, steps).

A run is continued only with its own system and integrator. The fingerprint of a system has one
digest for each part (particles, masses, constraints, and each law with its elements and
parameters), so that an error can name the part that differs. What depends on time is evaluated
where the run begins and halfway through.
"""

from __future__ import annotations

import json
import logging
import math
import platform
import sqlite3
from dataclasses import asdict, dataclass, fields
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut import __version__
from taut.binding.placed_law import PlacedLaw
from taut.errors import RunError
from taut.run.simulate import MAX_STEPS, TimeSteps
from taut.step.integrator import Integrator
from taut.system.contact import Contact
from taut.system.system import System

log = logging.getLogger("taut")
_PYTHON_TYPES: dict[str, type] = {"int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Metadata:
    """The rows of `meta`; `versions`, `inputs` and `system` are tables by name.

    >>> run = Metadata({}, "", "", {}, 5, 0.0, 1.0, 0.3, 0.1, 4, 3, 3, "ImplicitEuler()", {})
    >>> run.count_frames(4), [run.step_of_frame(i) for i in range(3)]
    (3, [0, 3, 4])
    """

    versions: dict[str, str]
    begun: str
    scene: str
    inputs: dict[str, str]
    n: int
    t0: float
    until: float
    h: float
    last: float
    steps: int
    every: int
    checkpoint_every: int
    integrator: str
    system: dict[str, str]

    @property
    def time_steps(self) -> TimeSteps:
        """The steps of the run."""
        return TimeSteps(self.steps, self.h, self.last)

    def count_frames(self, step: int) -> int:
        """Return the number of frames after a step."""
        has_shorter_last = step == self.steps and step % self.every > 0
        return 1 + step // self.every + has_shorter_last

    def step_of_frame(self, frame: int) -> int:
        """Return the step of a frame."""
        return min(frame * self.every, self.steps)

    def is_frame(self, step: int) -> bool:
        """Return whether a step has a frame."""
        return step % self.every == 0 or step == self.steps

    def is_checkpoint(self, step: int) -> bool:
        """Return whether a step has a checkpoint; interruptions add others."""
        return step % self.checkpoint_every == 0 or step == self.steps

    def to_rows(self) -> dict[str, Any]:
        """Return the rows of `meta`, key → value."""
        rows = asdict(self)
        for key, value in rows.items():
            if isinstance(value, dict):
                rows[key] = json.dumps(value, ensure_ascii=True)
        return rows

    @staticmethod
    def from_rows(rows: dict[str, Any]) -> Metadata:
        """Check the rows of `meta`; RunError if one is missing or impossible."""
        values: dict[str, Any] = {}
        for field in fields(Metadata):
            value, kind = rows.get(field.name), str(field.type)
            if kind not in _PYTHON_TYPES:
                value = _parse_table(field.name, value)
            elif type(value) is not _PYTHON_TYPES[kind]:
                raise RunError(f"its '{field.name}' is missing or of the wrong type")
            values[field.name] = value
        found = Metadata(**values)
        if not (0 < found.n < MAX_STEPS and 0 <= found.steps <= MAX_STEPS):
            raise RunError("its number of particles or steps is impossible")
        if not (found.every > 0 and found.checkpoint_every > 0):
            raise RunError("its number of steps between frames or checkpoints must be positive")
        if not (math.isfinite(found.t0) and math.isfinite(found.until)):
            raise RunError("its times must be finite")
        if not (found.h > 0.0 and found.last > 0.0):
            raise RunError("its steps must be positive")
        return found


def _parse_table(key: str, value: Any) -> dict[str, str]:
    try:
        table = json.loads(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(f"its '{key}' is missing or damaged: {error}") from error
    if not isinstance(table, dict) or not all(isinstance(item, str) for item in table.values()):
        raise RunError(f"its '{key}' must be a table of texts")
    return table


def library_versions() -> dict[str, str]:
    """Return the versions of everything that influences the numbers.

    >>> sorted(library_versions())
    ['numba', 'numpy', 'platform', 'python', 'scipy', 'sqlite', 'taut']
    """
    return {
        "taut": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "numpy": _version("numpy"),
        "scipy": _version("scipy"),
        "numba": _version("numba"),
        "sqlite": sqlite3.sqlite_version,
    }


@cache
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # installed without its metadata
        return "unknown"


def fingerprint(system: System, begin: float, end: float) -> dict[str, str]:
    """Return the digest of each part of a system, for a run from `begin` to `end` [s].

    >>> import taut
    >>> a = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> one, other = fingerprint(a, 0.0, 1.0), fingerprint(a.with_(mass=2.0), 0.0, 1.0)
    >>> sorted(part for part in one if one[part] != other[part])
    ['law gravity', 'masses']
    """
    times = (begin, 0.5 * (begin + max(begin, end)))
    digests = {
        "particles": _digest(system.rest, system.pose, system.velocity),
        "masses": _digest(system.mass),
        "constraints": _digest(
            system._projector.free_directions,
            *(system._projector.anchors(t) for t in times),
            text=repr([constraint.until for constraint in system.constraints]),
        ),
    }
    for placed in (system._placed_energies, system._placed_damping, system._placed_loads):
        for name, law in placed.items():
            breaking_strain = np.zeros(0)
            if isinstance(law, PlacedLaw) and law.breaking_strain is not None:
                breaking_strain = law.breaking_strain
            parameters = [law.parameters.pack(t) for t in times]
            digests[f"law {name}"] = _digest(
                law.elements, breaking_strain, *parameters, text=law.digest
            )
    if system._rayleigh is not None:
        digests["rayleigh"] = _digest(text=repr(system._rayleigh))
    if system.contact is not None:
        digests["contact"] = _digest_contact(system.contact)
    return digests


def _digest_contact(contact: Contact) -> str:
    primitives = contact.primitives
    planes = [array for plane in contact.planes for array in (plane.point, plane.normal)]
    pairs = [*contact.exempt, *((p.one, p.other) for p in contact.friction_pairs)]
    groups = [group for pair in pairs for group in pair]
    coefficients = [p.coefficient for p in contact.friction_pairs]
    everything = [group.is_everything for group in groups]
    numbers = (contact.range, contact.k, contact.friction, contact.slip_speed)
    return _digest(
        primitives.points,
        primitives.edges,
        primitives.loose,
        primitives.triangles,
        np.asarray(contact.thickness),
        *planes,
        *(array for group in groups for array in (group.particles, group.planes)),
        *(triangles for _, triangles in contact.one_sided),
        contact.frames,
        text=repr((numbers, coefficients, everything)),
    )


def _digest(*arrays: NDArray[Any], text: str = "") -> str:
    digest = sha256(text.encode())
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def describe_integrator(integrator: Integrator) -> str:
    """Return the name of an integrator with its options.

    >>> import taut
    >>> describe_integrator(taut.Adaptive(taut.RK4(), error=1e-4))
    'Adaptive(error=0.0001, halvings=16, integrator=RK4())'
    """
    options = []
    for name, value in sorted(vars(integrator).items()):
        is_option = not name.startswith("_") and not hasattr(Integrator, name)
        if is_option and name not in Integrator.__annotations__:
            is_nested = isinstance(value, Integrator)
            options.append(f"{name}={describe_integrator(value) if is_nested else repr(value)}")
    return f"{type(integrator).__name__}({', '.join(options)})"


def check_same_system(
    folder: Path, metadata: Metadata, system: System, integrator: Integrator
) -> None:
    """Raise RunError unless system and integrator are those of a run; log changed versions."""
    if system.n != metadata.n:
        raise RunError(f"{folder}: the system has {system.n} particles, the run {metadata.n}")
    description = describe_integrator(integrator)
    if description != metadata.integrator:
        raise RunError(
            f"{folder}: the integrator must be {metadata.integrator}, as in the run, "
            f"got {description}"
        )
    versions = library_versions()
    changed = ", ".join(
        f"{name} {before} → {versions.get(name)}"
        for name, before in metadata.versions.items()
        if versions.get(name) != before
    )
    digests = fingerprint(system, metadata.t0, metadata.until)
    for part in dict.fromkeys([*metadata.system, *digests]):
        if digests.get(part) != metadata.system.get(part):
            in_both = part in digests and part in metadata.system
            difference = "differs" if in_both else "exists in only one of them"
            since = f" (since then: {changed})" if changed else ""
            raise RunError(
                f"{folder}: the system is not that of the run: '{part}' {difference}{since}"
            )
    if changed:
        log.warning(
            "%s: changed since the run began: %s; results may not be bit-identical", folder, changed
        )
