"""Bending of shells: Discrete Shells as in the paper, and the rigidity of hinged sheets by mesh and
direction.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.validate._shells import bending_tensors

HINGES = {  # each law with a rigidity of 1 J on equilateral triangles
    "shell_bending": lambda hinges, **more: laws.shell_bending(hinges, c=1.0, **more),
    "discrete_shell_bending": lambda hinges, **more: laws.discrete_shell_bending(
        hinges, k=1 / 6, **more
    ),
    "bridson_bending": lambda hinges, **more: laws.bridson_bending(hinges, k=4.0, **more),
}


def fold(x):
    """The signed angle of a hinge (c, d, a, b) from its cosine, and its heights above the edge."""
    c, d, a, b = x
    e = (b - a) / np.linalg.norm(b - a)
    up, down = (
        (c - a) - (c - a) @ e * e,
        (d - a) - (d - a) @ e * e,
    )  # in the triangles, across the edge
    heights = np.linalg.norm(up), np.linalg.norm(down)
    inside = np.arccos(up @ down / heights[0] / heights[1])
    return (np.pi - inside) * -np.sign(np.cross(up, down) @ e), heights


def heron(x):
    a, b, c = (np.linalg.norm(x[i] - x[i - 1]) for i in range(3))
    s = (a + b + c) / 2
    return np.sqrt(s * (s - a) * (s - b) * (s - c))


def energy_and_force(law, size, rest, x, **parameters):
    system = taut.System(rest, mass=1.0, energies=[law([list(range(size))], **parameters)], pose=x)
    state = system.initial_state()
    return system.V(state), system.f(state)


def test_discrete_shells_match_the_paper():
    """k_B (θ - θ̄)² |ē|/h̄ with h̄ a third of the mean height, k_L (1 - |e|/|ē|)² |ē| and k_A (1 -
    A/Ā)² Ā, on random states.
    """
    rng = np.random.default_rng(1)
    for _ in range(20):
        shape = np.array([[0.0, 1.0, 0.3], [0.1, -0.9, 0.4], [-0.6, 0.0, 0.0], [0.6, 0.1, 0.0]])
        rest, x = shape + 0.1 * rng.normal(size=(4, 3)), shape + 0.25 * rng.normal(size=(4, 3))
        (theta0, heights), (theta, _) = fold(rest), fold(x)
        edge = np.linalg.norm(rest[3] - rest[2])
        bending = 0.7 * (theta - theta0) ** 2 * edge / (sum(heights) / 2 / 3)
        stretch = (
            0.7
            * (1 - np.linalg.norm(x[1] - x[0]) / (length := np.linalg.norm(rest[1] - rest[0]))) ** 2
            * length
        )
        area = 0.7 * (1 - heron(x[:3]) / heron(rest[:3])) ** 2 * heron(rest[:3])
        for law, size, expected in (
            (laws.discrete_shell_bending, 4, bending),
            (laws.discrete_shell_edge, 2, stretch),
            (laws.discrete_shell_area, 3, area),
        ):
            assert energy_and_force(law, size, rest[:size], x[:size], k=0.7)[0] == pytest.approx(
                expected, rel=1e-11
            ), law.name
        for theirs, ours, size in (
            ((laws.discrete_shell_bending, {"k": 0.7}), (laws.shell_bending, {"c": 6 * 0.7}), 4),
            ((laws.discrete_shell_edge, {"k": 0.7}), (laws.spring, {"k": 2 * 0.7 / length}), 2),
            ((laws.discrete_shell_area, {"k": 0.7}), (laws.area, {"k": 2 * 0.7}), 3),
        ):
            (v, f), (w, g) = (
                energy_and_force(law, size, rest[:size], x[:size], **p) for law, p in (theirs, ours)
            )
            assert v == pytest.approx(w, rel=1e-13)
            assert f == pytest.approx(g, abs=1e-12 * np.abs(g).max())


def angle_derivatives(x):
    """∇θ (4, 3) and ∇²θ (12, 12), triangle by triangle, as docs/theory/05-cloth-and-shells.md
    derives them.
    """
    a, b = x[2], x[3]
    length = np.linalg.norm(b - a)
    e = (b - a) / length
    gradient, hessian = np.zeros((4, 3)), np.zeros((4, 3, 4, 3))
    for apex, sign in ((0, 1), (1, -1)):
        s = (x[apex] - a) @ e / length
        h = np.linalg.norm(x[apex] - a - s * (b - a))
        m = (x[apex] - a - s * (b - a)) / h
        n = sign * np.cross(e, m)
        lever, ends = np.zeros(4), np.array([0.0, 0.0, -1.0, 1.0])
        lever[[apex, 2, 3]] = 1, s - 1, -s
        gradient -= np.outer(lever, n / h)
        hessian += np.einsum("i,j,xy->ixjy", lever, lever, np.outer(m, n) + np.outer(n, m)) / h**2
        hessian += np.einsum("i,j,xy->ixjy", lever, ends, np.outer(e, n)) / (h * length)
        hessian += np.einsum("i,j,xy->ixjy", ends, lever, np.outer(n, e)) / (h * length)
        hessian += np.einsum("i,j,xy->ixjy", ends, ends, np.outer(n, m)) / length**2
    return gradient, hessian.reshape(12, 12)


def test_force_and_stiffness_match_hand_derivation():
    """K = c |ē|²/(Ā₁ + Ā₂) (∇θ∇θᵀ + (θ - θ₀) ∇²θ)."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        shape = np.array([[0.0, 1.0, 0.3], [0.1, -0.9, 0.4], [-0.6, 0.0, 0.0], [0.6, 0.1, 0.0]])
        rest, x = shape + 0.1 * rng.normal(size=(4, 3)), shape + 0.25 * rng.normal(size=(4, 3))
        (theta0, heights), (theta, _) = fold(rest), fold(x)
        stiffness = 0.7 * 2 * np.linalg.norm(rest[3] - rest[2]) / sum(heights)
        system = taut.System(
            rest, mass=1.0, energies=[laws.shell_bending([[0, 1, 2, 3]], c=0.7)], pose=x
        )
        state = system.initial_state()
        gradient, hessian = angle_derivatives(x)
        g, K = gradient.ravel(), system.K(state).toarray()
        assert system.f(state) == pytest.approx(
            -stiffness * (theta - theta0) * gradient, abs=1e-12 * stiffness * np.abs(g).max()
        )
        assert (
            pytest.approx(
                stiffness * (np.outer(g, g) + (theta - theta0) * hessian),
                abs=1e-11 * np.abs(K).max(),
            )
            == K
        )


def by_direction(tensor):
    """Cylindrical rigidity D [J] and that of a free strip EI/b [J] at every 15° from 0 to 180°."""
    a = np.radians(np.arange(0, 180, 15))
    curvature = np.stack([np.cos(a) ** 2, np.sin(a) ** 2, 2 * np.sin(a) * np.cos(a)], axis=1)
    moment = curvature * [1, 1, 0.5]
    return (
        np.einsum("ai,ij,aj->a", curvature, tensor, curvature),
        1 / np.einsum("ai,ij,aj->a", moment, np.linalg.inv(tensor), moment),
    )


@pytest.mark.parametrize("law", HINGES)
def test_equilateral_triangles_are_isotropic(law):
    """D = c = 6k_B = k/4 in every direction, Poisson's ratio -1/3, and so EI/b = D(1 - ν²) = 8c/9.

    Nothing relaxes.
    """
    plain, relaxed = bending_tensors("equilateral", HINGES[law])
    third = 1 / 3
    assert plain == pytest.approx(
        np.array([[1, -third, 0], [-third, 1, 0], [0, 0, 2 * third]]), abs=1e-12
    )
    assert relaxed == pytest.approx(plain, abs=1e-12)
    cylinder, strip = by_direction(plain)
    assert cylinder == pytest.approx(np.ones(12), abs=1e-12)
    assert strip == pytest.approx(np.full(12, 8 / 9), abs=1e-12)


@pytest.mark.parametrize("law", HINGES)
def test_one_diagonal_grid_is_anisotropic_by_a_factor_of_four(law):
    plain, relaxed = bending_tensors("one-diagonal", HINGES[law])
    assert relaxed == pytest.approx(plain, abs=1e-12), "all points are equivalent: nothing relaxes"
    cylinder, strip = by_direction(plain)
    assert cylinder[[0, 3, 6, 9, 11]] == pytest.approx(
        [1, 3, 1, 1, 0.75], abs=1e-12
    )  # 0°, 45°, 90°, 135°, 165°
    assert (cylinder.min(), cylinder.max()) == pytest.approx((0.75, 3.0), abs=1e-12)
    assert strip[[0, 6]] == pytest.approx([0.8, 0.8], abs=1e-12)


@pytest.mark.parametrize("law", HINGES)
def test_an_alternating_grid_relaxes(law):
    plain, relaxed = bending_tensors("alternating", HINGES[law])
    assert plain == pytest.approx(np.eye(3), abs=1e-12)
    cylinder, strip = by_direction(relaxed)
    assert cylinder[[0, 3, 6, 9]] == pytest.approx([5 / 6, 4 / 3, 5 / 6, 4 / 3], abs=1e-12)
    assert (cylinder.min(), cylinder.max()) == pytest.approx((5 / 6, 4 / 3), abs=1e-12)
    assert strip[[0, 6]] == pytest.approx([0.8, 0.8], abs=1e-12)
    assert relaxed[0, 1] / relaxed[1, 1] == pytest.approx(-0.2, abs=1e-12), "Poisson's ratio"


def test_bending_energy_of_a_sphere_is_scale_invariant():
    """½ D (κ₁² + κ₂² + 2νκ₁κ₂) 4πR² = 4π (1 + ν) D = 8π c/3.

    With ν = +1/3 it would be twice that.
    """
    energy = []
    for radius in (1.0, 0.01):
        mesh = taut.mesh.sphere(16, radius)
        system = taut.System(
            mesh.points, mass=1.0, energies=[laws.shell_bending(mesh.hinges, c=0.3, theta0=0.0)]
        )
        energy.append(system.V(system.initial_state()))
    assert energy[0] == pytest.approx(
        8 * np.pi / 3 * 0.3, rel=0.005
    )  # its triangles are only nearly equilateral: 0.36% too much
    assert energy[1] == pytest.approx(energy[0], rel=1e-11)


@pytest.mark.parametrize("law", HINGES)
def test_reject_bad_shells(law):
    mesh = taut.mesh.sheet(2, 2, pattern="one-diagonal")
    stiffness = "c" if law == "shell_bending" else "k"
    bind = getattr(laws, law)

    def build(points=mesh.points, **parameters):
        taut.System(
            points, mass=1.0, energies=[bind(mesh.hinges, **{stiffness: 1.0, **parameters})]
        )

    build()
    met, flat = mesh.points.copy(), mesh.points.copy()
    met[4] = met[1]
    flat[0] = (flat[1] + flat[4]) / 2 + 1e-15  # collinear with its neighbours up to rounding
    for points, fault in (
        (met, "two particles in the same place"),
        (flat, "a (first|second) triangle without area"),
    ):
        with pytest.raises(
            taut.errors.LawError, match=rf"'{law}': element \d+ \(particles \[.*\]\) has {fault}"
        ):
            build(points)
    last = len(mesh.hinges) - 1
    values = np.ones(last + 1)
    values[last] = -1
    for name in (stiffness, "ratio"):
        with pytest.raises(
            taut.errors.LawError, match=rf"'{law}': parameter '{name}' of element {last} .* got -1"
        ):
            build(**{name: values})


@pytest.mark.parametrize(
    ("law", "cells", "rest"),
    [("discrete_shell_edge", "edges", "l0"), ("discrete_shell_area", "triangles", "area0")],
)
def test_reject_bad_membranes(law, cells, rest):
    mesh = taut.mesh.sheet(2, 2, pattern="one-diagonal")
    bind, elements = getattr(laws, law), getattr(mesh, cells)
    met = mesh.points.copy()
    met[4] = met[1]
    with pytest.raises(taut.errors.LawError, match=rf"'{law}': .*element \d+ \(particles"):
        taut.System(met, mass=1.0, energies=[bind(elements, k=1.0)])
    values = np.ones(len(elements))
    values[3] = -1
    for name in ("k", rest):
        with pytest.raises(
            taut.errors.LawError, match=rf"'{law}': parameter '{name}' of element 3 .* got -1"
        ):
            taut.System(
                mesh.points, mass=1.0, energies=[bind(elements, **{"k": 1.0, name: values})]
            )
