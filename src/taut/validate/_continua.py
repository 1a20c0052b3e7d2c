"""Membranes and solids of continuum laws: tension, simple shear, inflation of a balloon."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut import laws
from taut.arrays import Float
from taut.constraints.sliding import on_plane
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.solids import block
from taut.mesh.shapes.surfaces import sheet, sphere
from taut.statics.equilibrium import equilibrium
from taut.validate._bodies import TIGHT, build_system, extrapolate
from taut.validate.cases import Curve, Measurement, case

YOUNG, NU = 1e6, 0.3
MU, LAME = YOUNG / (2 * (1 + NU)), YOUNG * NU / ((1 + NU) * (1 - 2 * NU))
WEFT, SHEAR, WARP_NU = 2e5, 1e5, 0.25
STRETCHES = np.array([0.7, 1.3, 2.0])
PULLED = np.array([1.05, 1.3, 2.0])  # pressed, a membrane of this law collapses
FINE = np.linspace(0.6, 2.1, 40)
UNIFORM = "linear elements represent a uniform strain exactly; forces are balanced to 1e-13"


def pull(mesh: Mesh, law: Any, stretch: float) -> float:
    """Stretch a unit body along x, free to contract; return the force on its end [N]."""
    points = mesh.points
    ends = np.flatnonzero(np.isclose(points[:, 0] * (1 - points[:, 0]), 0))
    planes = [on_plane(ends, normal=(1, 0, 0))]
    for k, normal in ((1, (0, 1, 0)), (2, (0, 0, 1))):
        planes.append(on_plane(np.flatnonzero(points[:, k] == 0), normal=normal))
    pose = points * [stretch, 1, 1]
    system = build_system(points, mass=1.0, energies=[law], constraints=planes, pose=pose)
    found = equilibrium(system, tolerance=TIGHT)
    return abs(float(found.reactions[np.isclose(points[:, 0], 1), 0].sum()))


def measure_tension(
    mesh: Mesh, law: Any, theory: Float, stretches: Float = STRETCHES
) -> Measurement:
    got = [pull(mesh, law, stretch) for stretch in stretches.tolist()]
    curve = Curve(stretches, got, np.abs(theory), "stretch [1]", "force [N]", theory_x=FINE)
    return Measurement(np.array(got), curve)


def neo_hookean_tension(stretch: Float) -> Float:
    """P = μ(λ - 1/λ) + ½Λ(λ²s² - 1)/λ with the root s of ½Λλ²s² + μs = μ + ½Λ."""
    a, c = LAME / 2 * stretch**2, MU + LAME / 2
    s = (np.sqrt(MU**2 + 4 * a * c) - MU) / (2 * a)
    return MU * (stretch - 1 / stretch) + LAME / 2 * ((stretch * s) ** 2 - 1) / stretch


@case(
    "tension-neo-hookean",
    formula="P = μ(λ - 1/λ) + ½Λ(λ²s² - 1)/λ, ½Λλ²s² + μs = μ + ½Λ",
    source="uniaxial stress in a neo-Hookean solid; s is the squared transverse stretch",
    unit="N",
    expected=np.abs(neo_hookean_tension(STRETCHES)),
    tolerance=1e-11,
    reason=UNIFORM,
)
def measure_tension_neo_hookean() -> Measurement:
    """Force on a unit cube of tetrahedra, pressed to 0.7 and pulled to 1.3 and 2.

    The plot shows its magnitude by stretch.
    """
    mesh = block(2, 2, 2, cells="tet")
    law = laws.neo_hookean_solid(mesh.cells["tet"], young=YOUNG, poisson=NU)
    return measure_tension(mesh, law, neo_hookean_tension(FINE))


@case(
    "tension-corotated",
    formula="P = E(λ - 1)",
    source="Hooke's law in principal stretches",
    unit="N",
    expected=YOUNG * np.abs(STRETCHES - 1),
    tolerance=1e-11,
    reason=UNIFORM,
)
def measure_tension_corotated() -> Measurement:
    """Force on a unit cube of corotated tetrahedra, as above."""
    mesh = block(2, 2, 2, cells="tet")
    law = laws.corotated_solid(mesh.cells["tet"], young=YOUNG, poisson=NU)
    return measure_tension(mesh, law, YOUNG * (FINE - 1))


@case(
    "tension-warp",
    formula="P = E₁λ(λ² - 1)/2",
    source="uniaxial stress along the warp, linear in Green's strain",
    unit="N",
    expected=YOUNG * PULLED * (PULLED**2 - 1) / 2,
    tolerance=1e-11,
    reason=UNIFORM,
)
def measure_tension_warp() -> Measurement:
    """Force on a unit square of a woven membrane of thickness 1, pulled along its warp."""
    mesh = sheet(2, 2, pattern="alternating")
    law = laws.orthotropic_membrane(
        mesh.triangles,
        warp_young=YOUNG,
        weft_young=WEFT,
        poisson=WARP_NU,
        shear=SHEAR,
        thickness=1.0,
        warp=(1.0, 0.0, 0.0),
    )
    return measure_tension(mesh, law, YOUNG * FINE * (FINE**2 - 1) / 2, PULLED)


SHEARS = np.array([0.25, 0.5, 1.0])


@case(
    "shear-neo-hookean",
    formula="P₁₂ = μγ",
    source="simple shear of a neo-Hookean solid, which changes no volume",
    unit="N",
    expected=MU * SHEARS,
    tolerance=1e-11,
    reason=UNIFORM,
)
def measure_shear_neo_hookean() -> Measurement:
    """Force on the upper face of a unit cube of tetrahedra whose surface is sheared by γ."""
    mesh = block(3, 3, 3, cells="tet")
    points = mesh.points
    law = laws.neo_hookean_solid(mesh.cells["tet"], young=YOUNG, poisson=NU)
    outside = np.flatnonzero(np.isclose(points * (1 - points), 0).any(axis=1))
    got = []
    for gamma in SHEARS.tolist():
        pose = points + gamma * points[:, 1:2] * [1, 0, 0]
        system = build_system(points, mass=1.0, energies=[law], fixed=outside, pose=pose)
        forces = -system.f(equilibrium(system, tolerance=TIGHT).state)
        got.append(float(forces[:, 0] @ points[:, 1]))  # virtual work of one more unit of shear
    fine = np.linspace(0, 1.1, 2)
    return Measurement(np.array(got), Curve(SHEARS, got, MU * fine, "γ [1]", "P₁₂ [N]", fine))


RUBBER, THICKNESS, RADIUS = 3e5, 1e-3, 0.1  # μ = 1e5 Pa
BLOWN = np.array([1.1, 7 ** (1 / 6), 2.0, 3.0])


def balloon_pressure(stretch: Float) -> Float:
    return 2 * RUBBER / 3 * THICKNESS / RADIUS * (stretch**-1 - stretch**-7)


@case(
    "balloon-rubber",
    formula="p = 2μ(t/R)(λ⁻¹ - λ⁻⁷)",
    source="inflation of an incompressible neo-Hookean sphere; Ogden, Non-Linear Elastic "
    "Deformations, section 5.3",
    unit="Pa",
    expected=balloon_pressure(BLOWN),
    tolerance=1e-6,
    reason=(
        "extrapolation from 4, 8 and 16 divisions of an edge leaves sixth order in the size of "
        "the triangles, somewhat more than (1/8)⁶/64"
    ),
)
def measure_balloon_rubber() -> Measurement:
    """Pressure in a rubber balloon by its stretch, from the virial of membrane and pressure.

    It is highest at λ = 7^(1/6) = 1.38.
    """
    got = []
    for n in (4, 8, 16):
        mesh = sphere(n, RADIUS)
        rubber = laws.neo_hookean_membrane(
            mesh.triangles, young=RUBBER, poisson=0.5, thickness=THICKNESS
        )
        air = laws.pressure(mesh.triangles, p=1.0)
        inwards, outwards = (
            build_system(mesh.points, mass=1.0, energies=[law]) for law in (rubber, air)
        )
        pressures = []
        for stretch in BLOWN.tolist():
            q = stretch * mesh.points
            works = [np.sum(s.f(s.initial_state().with_(q=q)) * q) for s in (inwards, outwards)]
            pressures.append(-works[0] / works[1])
        got.append(np.array(pressures))
    best = extrapolate(got)
    fine = np.linspace(1, 3.1, 80)
    curve = Curve(BLOWN, best, balloon_pressure(fine), "stretch [1]", "p [Pa]", theory_x=fine)
    return Measurement(best, curve)
