"""A body of a scene: masses, pose, velocities and laws of its particles among those of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut import laws
from taut.constraints.rigid import rodrigues
from taut.errors import SceneError
from taut.materials import MATERIALS, bending
from taut.materials import springs as springs_of
from taut.mesh.mesh import Mesh
from taut.scene.folder import Folder
from taut.scene.materials_model import MaterialTable
from taut.scene.model import Body, Pose, Velocity
from taut.scene.numbers_of import parameter_of, points_of
from taut.system.mass import areal_mass, line_mass, volume_mass

Float = NDArray[np.float64]
Int = NDArray[np.int64]
WEIGHED = {3: ("kg/m³", volume_mass), 2: ("kg/m²", areal_mass), 1: ("kg/m", line_mass)}


def masses_of(body: Body, mesh: Mesh, folder: Folder) -> Float:
    """Masses [kg], shape (n,), from a density or as given."""
    if body.mass is not None:
        mass = points_of(body.mass, mesh, folder)
    else:
        density = points_of(body.density, mesh, folder)
        dimension = next((d for d in WEIGHED if mesh.blocks(d)), None)
        if dimension is None:
            raise SceneError(["the mesh has no cells to weigh: give mass in place of density"])
        each = np.concatenate([density[cells].mean(axis=1) for _, cells in mesh.blocks(dimension)])
        mass = WEIGHED[dimension][1](mesh, each)
    light = np.flatnonzero(~(mass > 0.0))
    if len(light):
        raise SceneError([f"point {light[0]} has the mass {mass[light[0]]:g} kg; it must be positive"])
    return mass


def material_of(asked: MaterialTable, mesh: Mesh, start: int, named: Any) -> tuple[list[Any], list[Any], Float | None, Int, str]:
    """Energies, damping, masses [kg] if it has a density, the springs' points, and what was reached, in words."""
    made = springs_of(mesh, **asked.keywords)
    energies = [laws.spring(made.pairs + start, k=made.k, breaking_strain=asked.breaking_strain, name=named("spring"))]
    rigidity = asked.rigidity if asked.rigidity is not None else MATERIALS[asked.name].rigidity if asked.name else None
    c = made.bending if rigidity is None or not len(mesh.triangles) else bending(mesh, rigidity)
    if c is not None and len(mesh.hinges):
        energies.append(laws.shell_bending(mesh.hinges + start, c=c, name=named("shell_bending")))
    damping = []
    if asked.damping:
        damping.append(laws.spring_damping(made.pairs + start, c=asked.damping * made.k, name=named("spring_damping")))
    return energies, damping, made.mass, made.pairs, str(made)


def posed(asked: Pose | None, mesh: Mesh, folder: Folder) -> Float:
    """Where the points start [m], shape (n, 3)."""
    x = mesh.positions
    if asked is None:
        return x
    about = x.mean(axis=0) if asked.about is None else np.array(asked.about)
    found = (x - about) * np.array(asked.scale) @ rodrigues(np.array(asked.rotate)).T + about + np.array(asked.translate)
    if asked.displace is not None:
        found = found + _vectors(asked.displace, mesh, folder)
    return found


def velocities_of(asked: Velocity | None, mesh: Mesh, pose: Float, mass: Float, folder: Folder) -> Float:
    """Velocities at the start [m/s], shape (n, 3)."""
    if asked is None:
        return np.zeros((mesh.n, 3))
    about = (mass[:, None] * pose).sum(axis=0) / mass.sum() if asked.about is None else np.array(asked.about)
    return _vectors(asked.linear, mesh, folder) + np.cross(np.array(asked.angular), pose - about)


def _vectors(value: Any, mesh: Mesh, folder: Folder) -> Float:
    """A vector at each point, shape (n, 3)."""
    found = parameter_of(value, mesh, np.arange(mesh.n)[:, None], folder, vector=True)
    if callable(found):
        raise SceneError(["it does not depend on time"])
    return np.broadcast_to(np.asarray(found, dtype=np.float64), (mesh.n, 3))
