"""Membranes and solids of continuum laws against closed forms, on irregular meshes."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.formula.graph import solve_stretch_sum

YOUNG, POISSON, THICKNESS = 1e5, 0.3, 2e-3
MU = YOUNG / (2 * (1 + POISSON))
LAME = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON))
SOLIDS = [laws.neo_hookean_solid, laws.corotated_solid]
MEMBRANES = [laws.stvk_membrane, laws.neo_hookean_membrane, laws.orthotropic_membrane]
every = pytest.mark.parametrize("law", [*SOLIDS, *MEMBRANES], ids=lambda law: law.name)
every_solid = pytest.mark.parametrize("law", SOLIDS, ids=lambda law: law.name)
TIGHT = taut.Tolerance(relative=1e-11)


def body(law):
    """Points, elements and size of a unit cube or square, with inner points moved at random."""
    mesh = taut.mesh.sheet(3, 3, pattern="alternating")
    if law in SOLIDS:
        mesh = taut.mesh.block(2, 2, 2, cells="tet")
    points = np.array(mesh.points)
    inside = (points > 0.01) & (points < 0.99)  # corners stay, and faces stay flat
    points += 0.06 * np.random.default_rng(7).normal(size=points.shape) * inside
    if law in SOLIDS:
        return points, mesh.cells["tet"], 1.0
    return points, mesh.triangles, THICKNESS


def bind(law, elements):
    if law is laws.orthotropic_membrane:
        return law(
            elements,
            warp_young=YOUNG,
            weft_young=YOUNG,
            poisson=POISSON,
            shear=MU,
            thickness=THICKNESS,
            warp=(1.0, 2.0, 0.0),
        )
    thickness = {} if law in SOLIDS else {"thickness": THICKNESS}
    return law(elements, young=YOUNG, poisson=POISSON, **thickness)


def energy_density(law, F):
    """Energy per rest volume [J/m³] of the whole body under a homogeneous deformation F."""
    points, elements, size = body(law)
    placed = place(bind(law, elements), points, np.ones(len(points)))
    return placed.values(points @ np.transpose(F)).sum() / size


def closed_form(law, F):
    """The same from singular values, which the laws never compute."""
    if law in SOLIDS:
        s = np.linalg.svd(F, compute_uv=False)
        J = np.linalg.det(F)
        if law is laws.neo_hookean_solid:
            return MU / 2 * (s @ s - 3 - 2 * np.log(J)) + LAME / 4 * (J**2 - 1 - 2 * np.log(J))
        s[2] *= np.sign(J)
        return MU * ((s - 1) @ (s - 1)) + LAME / 2 * (s.sum() - 3) ** 2
    s = np.linalg.svd(F[:, :2], compute_uv=False)
    if law is laws.neo_hookean_membrane:
        # the stretch of the thickness at which the solid of this material has no stress there
        def stress(h):
            return MU * (h - 1 / h) + LAME / 2 * ((s.prod() * h) ** 2 - 1) / h

        h = brentq(stress, 1e-3, 1e3, xtol=1e-15)
        J = s.prod() * h
        shape = MU / 2 * (s @ s + h**2 - 3 - 2 * np.log(J))
        return shape + LAME / 4 * (J**2 - 1 - 2 * np.log(J))
    e = (s**2 - 1) / 2
    lame = YOUNG * POISSON / (1 - POISSON**2)
    return MU * (e @ e) + lame / 2 * e.sum() ** 2


@every
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_patch_of_a_homogeneous_deformation(law, seed):
    """Inner particles are in equilibrium, and the energy is that of singular values."""
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=np.random.RandomState(seed)).as_matrix()
    F = turn @ (np.diag(rng.uniform(0.7, 1.6, 3)) + 0.2 * rng.normal(size=(3, 3)))
    assert energy_density(law, F) == pytest.approx(closed_form(law, F), rel=1e-11)
    points, elements, _ = body(law)
    system = taut.System(points, mass=1.0, energies=[bind(law, elements)])
    force = system.f(taut.State(0.0, points @ F.T, np.zeros_like(points)))
    d = 3 if law in SOLIDS else 2
    inner = ((points > 0.01) & (points < 0.99))[:, :d].all(axis=1)
    assert inner.any()
    assert np.abs(force[inner]).max() < 1e-12 * np.abs(force).max()


@every
def test_small_strain_has_the_moduli_that_were_given(law):
    """Free uniaxial tension by 1e-6: stress E ε, contraction ν ε."""
    points, elements, size = body(law)
    right = np.isclose(points[:, 0], 1)
    strain = 1e-6
    found = pull(law, points, elements, strain)
    stress = np.abs(found.reactions[right, 0].sum()) / size
    assert stress == pytest.approx(YOUNG * strain, rel=3e-6)
    top = np.isclose(points[:, 1], 1)
    assert found.state.q[top, 1].mean() - 1 == pytest.approx(-POISSON * strain, rel=3e-6)


def pull(law, points, elements, strain):
    """Equilibrium of a body stretched along x, free to contract."""
    ends = np.flatnonzero(np.isclose(points[:, 0], 0) | np.isclose(points[:, 0], 1))
    sides = np.flatnonzero(np.isclose(points[:, 1], 0))
    back = np.flatnonzero(np.isclose(points[:, 2], 0))
    planes = [(ends, (1, 0, 0)), (sides, (0, 1, 0)), (back, (0, 0, 1))]
    pose = points * [1 + strain, 1, 1]
    system = taut.System(
        points,
        mass=1.0,
        energies=[bind(law, elements)],
        constraints=[taut.constraints.on_plane(p, normal=n) for p, n in planes],
        pose=pose,
    )
    return taut.equilibrium(system, tolerance=TIGHT)


@every_solid
@pytest.mark.parametrize("stretch", [0.6, 2.0])
def test_uniaxial_tension_of_a_solid(law, stretch):
    """Corotated: P = E(λ - 1). Neo-Hookean: μ(s - 1) + ½λ_L(λ²s² - 1) = 0 for the squared
    transverse stretch s, and P = μ(λ - 1/λ) + ½λ_L(λ²s² - 1)/λ."""
    points, elements, _ = body(law)
    found = pull(law, points, elements, stretch - 1)
    right = np.isclose(points[:, 0], 1)
    if law is laws.corotated_solid:
        transverse, expected = 1 - POISSON * (stretch - 1), YOUNG * (stretch - 1)
    else:
        a, c = LAME / 2 * stretch**2, MU + LAME / 2
        s = (-MU + np.sqrt(MU**2 + 4 * a * c)) / (2 * a)
        transverse = np.sqrt(s)
        expected = MU * (stretch - 1 / stretch) + LAME / 2 * ((stretch * s) ** 2 - 1) / stretch
    assert abs(found.reactions[right, 0].sum()) == pytest.approx(abs(expected), rel=1e-9)
    q = found.state.q
    np.testing.assert_allclose(q[:, 1:], points[:, 1:] * transverse, atol=1e-9)
    np.testing.assert_allclose(q[:, 0], points[:, 0] * stretch, atol=1e-9)


@every_solid
def test_simple_shear(law):
    """x' = x + γ y: W = ½μγ² of the neo-Hookean solid; the corotated one has the stretches
    √(1 + γ²/4) ± γ/2 and 1."""
    gamma = 0.8
    F = np.eye(3)
    F[0, 1] = gamma
    expected = MU / 2 * gamma**2
    if law is laws.corotated_solid:
        s = 2 * np.sqrt(1 + gamma**2 / 4)
        squares = (np.sqrt(1 + gamma**2 / 4) - 1) ** 2 * 2 + gamma**2 / 2
        expected = MU * squares + LAME / 2 * (s - 2) ** 2
    assert energy_density(law, F) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("stretch", [1.2, 2.0, 3.0])
def test_incompressible_membrane(stretch):
    """Mooney 1940: W = ½μ(λ² + 2/λ - 3) in uniaxial and ½μ(2λ² + λ⁻⁴ - 3) in equal tension."""
    points, elements, _ = body(laws.neo_hookean_membrane)
    law = laws.neo_hookean_membrane(elements, young=3.0, poisson=0.5, thickness=1.0)
    placed = place(law, points, np.ones(len(points)))
    uniaxial = placed.values(points * [stretch, stretch**-0.5, 1]).sum()
    equal = placed.values(points * [stretch, stretch, 1]).sum()
    assert uniaxial == pytest.approx((stretch**2 + 2 / stretch - 3) / 2, rel=1e-12)
    assert equal == pytest.approx((2 * stretch**2 + stretch**-4 - 3) / 2, rel=1e-12)


def test_orthotropic_moduli_along_warp_and_weft():
    """Uniaxial tension along either axis, at an angle to the mesh, has the modulus of that axis."""
    mesh = taut.mesh.sheet(2, 2, pattern="alternating")
    E1, E2, nu, G = 4e5, 1e5, 0.25, 3e4
    angle = 0.4
    axes = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0]])
    law = laws.orthotropic_membrane(
        mesh.triangles,
        warp_young=E1,
        weft_young=E2,
        poisson=nu,
        shear=G,
        thickness=1.0,
        warp=7.0 * axes[0],
    )
    placed = place(law, mesh.points, np.ones(mesh.n))

    def energy(e1, e2, e12):
        strain = e1 * np.outer(axes[0], axes[0]) + e2 * np.outer(axes[1], axes[1])
        strain += e12 * (np.outer(axes[0], axes[1]) + np.outer(axes[1], axes[0]))
        return placed.values(mesh.points @ (np.eye(3) + strain)).sum()

    e = 1e-5
    assert energy(e, -nu * e, 0) == pytest.approx(E1 * e**2 / 2, rel=1e-4)
    assert energy(-nu * E2 / E1 * e, e, 0) == pytest.approx(E2 * e**2 / 2, rel=1e-4)
    assert energy(0, 0, e) == pytest.approx(2 * G * e**2, rel=1e-4)


@every_solid
def test_stretched_and_released_block_keeps_its_energy(law):
    """A block of free particles that rings: the implicit midpoint keeps T + V to second order."""
    points, elements, _ = body(law)
    system = taut.System(points, mass=1.0, energies=[bind(law, elements)], pose=points * 1.1)
    start = system.initial_state()
    total = system.V(start)
    *_, (state, _) = taut.simulate(system, taut.ImplicitMidpoint(), h=1e-4, until=5e-3)
    assert system.T(state) > 0.1 * total
    assert system.T(state) + system.V(state) == pytest.approx(total, rel=1e-3)


def test_neo_hookean_solid_resists_inversion():
    """A corner pressed through the opposite face: J stays positive, however hard the push."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    system = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1, 2],
        energies=[
            laws.neo_hookean_solid([[0, 1, 2, 3]], young=1e3, poisson=0.3),
            laws.force([3], f=(0, 0, -1e6)),
        ],
    )
    for state, report in taut.simulate(system, taut.ImplicitEuler(), h=0.05, until=1.0):
        assert state.q[3, 2] > 0
        assert report.outcome == "converged"
    # V'(J) at height J: μ J - (μ + ½λ)/J + ½λ J = -6 F, with the volume 1/6
    mu, lame = 1e3 / 2.6, 300 / (1.3 * 0.4)
    expected = brentq(lambda J: (mu + lame / 2) * (J - 1 / J) + 6e6, 1e-9, 1)
    assert taut.equilibrium(system).state.q[3, 2] == pytest.approx(expected, rel=1e-6)


def test_inverted_starts():
    """The barrier has no energy beyond it; the corotated solid turns an element back."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    pose = points * [1, 1, -0.3]
    arguments = {"mass": 1.0, "fixed": [0, 1, 2], "pose": pose}
    rubber = laws.neo_hookean_solid([[0, 1, 2, 3]], young=1e3, poisson=0.3)
    with pytest.raises(
        taut.errors.LawError,
        match=r"'neo_hookean_solid': element 0 \(particles \[0, 1, 2, 3\]\) is flat or inverted, "
        "in the pose",
    ):
        taut.System(points, energies=[rubber], **arguments)
    with pytest.raises(taut.errors.LawError, match="flat or inverted, in the rest shape"):
        taut.System(pose, energies=[rubber], mass=1.0)
    soft = laws.corotated_solid([[0, 1, 2, 3]], young=1e3, poisson=0.3)
    found = taut.equilibrium(taut.System(points, energies=[soft], **arguments))
    np.testing.assert_allclose(found.state.q, points, atol=1e-7)


def test_sum_of_stretches_equals_that_of_singular_values():
    """Also in the compiled loop, at repeated values, and with a reflection."""
    from taut.jit.runtime import stretch_sum as compiled

    rng = np.random.default_rng(3)
    samples = [rng.normal(size=(3, 3)) for _ in range(50)]
    samples += [np.eye(3), 1e-3 * np.eye(3), 1e4 * np.diag([1, 1, 1e-3]), np.diag([2, 1, -0.5])]
    for F in samples:
        s = np.linalg.svd(F, compute_uv=False)
        s[2] *= np.sign(np.linalg.det(F))
        C = F.T @ F
        b = (np.trace(C) ** 2 - np.trace(C @ C)) / 2
        invariants = (float(np.trace(C)), float(b), float(np.linalg.det(F)))
        # the slope of the quartic limits the accuracy where two roots are close
        condition = s[0] ** 3 / ((s[0] + s[1]) * (s[0] + s[2]) * (s[1] + s[2]))
        expected = pytest.approx(s.sum(), rel=1e-14 * max(condition, 1.0))
        assert solve_stretch_sum(*invariants) == expected
        assert compiled(*invariants) == expected
