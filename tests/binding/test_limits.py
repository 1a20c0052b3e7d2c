"""Laws reject invalid elements and parameters before the first step, by element number."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.formula import norm

POINTS = np.array(
    [[0.0, 0, 0], [1.0, 0, 0], [1.0, 1, 0], [0.0, 1, 0], [1.0, 0, 0], [2.0, 0, 0], [0.0, 0, 1.0]]
)


def system(*energies, damping=()):
    return taut.System(POINTS, mass=1.0, energies=energies, damping=damping)


@pytest.mark.parametrize(
    ("bound", "message"),
    [
        (
            lambda: laws.spring([[0, 1], [1, 2]], k=[1.0, -2.0]),
            r"'k' of element 1 \(particles \[1, 2\]\) must be at least 0, got -2",
        ),
        (lambda: laws.spring([[0, 1]], k=-2.0), "'k' must be at least 0, got -2$"),
        (
            lambda: laws.spring([[0, 1]], k=lambda t: -1.0),
            "'k' at t = 0 s must be at least 0, got -1",
        ),
        (
            lambda: laws.stiffening_spring([[0, 2], [1, 4]], k=1.0, beta=1.0),
            r"'l0' of element 1 \(particles \[1, 4\]\) must be greater than 0, got 0",
        ),
        (
            lambda: laws.rod_hinge([[0, 1, 2], [0, 1, 4]], k=1.0),
            r"element 1 .* has two particles in the same place",
        ),
        (
            lambda: laws.rod_bending([[0, 1, 4], [3, 4, 1]], EI=1.0),
            r"element 0 .* the same place, in the rest shape, and 1 more",
        ),
        (lambda: laws.rod_clamp([[1, 4]], EI=1.0), r"element 0 \(particles \[1, 4\]\)"),
        (
            lambda: laws.rod_clamp([[0, 1]], EI=1.0, direction=(0, 0, 0)),
            "the length of parameter 'direction' must be greater than 0, got 0",
        ),
        (
            lambda: laws.rod_hinge([[0, 1, 2]], k=1.0, theta0=4.0),
            "'theta0' must be at most 3.14.*, got 4",
        ),
        (
            lambda: laws.planar_rod_bending([[0, 1, 2]], EI=1.0, theta0=[-4.0]),
            r"'theta0' of element 0 .* must be at least -3.14.*, got -4",
        ),
        (
            lambda: laws.shell_bending([[2, 3, 0, 1], [5, 3, 0, 1]], c=1.0),
            "element 1 .* has a first triangle without area",
        ),
        (
            lambda: laws.bridson_bending([[2, 5, 0, 1]], k=1.0),
            "element 0 .* has a second triangle without area",
        ),
        (
            lambda: laws.discrete_shell_bending([[2, 3, 1, 4]], k=1.0),
            "element 0 .* has two particles in the same place",
        ),
        (
            lambda: laws.shell_bending([[1, 4, 0, 3]], c=1.0),
            "element 0 .* has two particles in the same place",
        ),
        (
            lambda: laws.shell_bending([[2, 3, 0, 1]], c=1.0, theta0=9.0),
            "'theta0' must be at most 3.14.*, got 9",
        ),
        (lambda: laws.shell_bending([[0, 1]], c=1.0), "elements must have 4 particles each, got 2"),
        (
            lambda: laws.rod_bending([[0, 1, 4]], EI=1.0),
            "element 0 .* has two particles in the same place",
        ),
        (
            lambda: laws.area([[0, 1, 2], [0, 1, 5]], k=1.0),
            r"element 1 \(particles \[0, 1, 5\]\) has no area",
        ),
        (lambda: laws.discrete_shell_area([[0, 1, 4]], k=1.0), "element 0 .* has no area"),
        (
            lambda: laws.volume([[0, 1, 3, 6], [1, 0, 3, 6]], k=1.0),
            r"element 1 \(particles \[1, 0, 3, 6\]\) is flat or inverted",
        ),
        (lambda: laws.volume([[0, 1, 2, 3]], k=1.0), "element 0 .* is flat or inverted"),
        (
            lambda: laws.attachment([[2, 0, 1, 5]], k=1.0),
            r"element 0 .* is attached to a cell without extent",
        ),
        (
            lambda: laws.attachment([[2, 0]], k=1.0),
            "elements must have 3 or 4 or 5 particles each, got 2",
        ),
        (
            lambda: laws.attachment([[2, 0, 1, 3]], k=1.0, weights=[[0.5, 0.5]]),
            "one number for each of the 3 corners",
        ),
        (lambda: laws.surface_tension([[0, 1, 5]], stress=1.0), "element 0 .* has no area"),
        (
            lambda: laws.volume([[0, 1, 2]], k=1.0),
            "elements must have 4 or 8 particles each, got 3",
        ),
        (lambda: laws.area([[0, 1]], k=1.0), "elements must have 3 to 20 particles each, got 2"),
    ],
)
def test_reject_elements_out_of_limits(bound, message):
    with pytest.raises(taut.errors.LawError, match=message):
        system(bound())


def test_reject_damping_elements_out_of_limits():
    with pytest.raises(
        taut.errors.LawError, match=r"'c' of element 0 .* must be at least 0, got -1"
    ):
        system(damping=[laws.spring_damping([[0, 1]], c=[-1.0])])
    with pytest.raises(taut.errors.LawError, match="has a first triangle without area"):
        system(damping=[laws.bridson_damping([[5, 3, 0, 1]], k=1.0)])


def test_reject_time_dependent_parameter_beyond_its_limit():
    body = system(laws.spring([[0, 2]], k=lambda t: 1.0 - t))
    with pytest.raises(taut.errors.LawError, match="'k' at t = 2 s must be at least 0, got -1"):
        body.V(body.initial_state().with_(t=2.0))


def test_user_laws_can_declare_limits():
    @taut.energy(limits={"k": "> 1"}, proper={"is too short": lambda x: norm(x[1] - x[0]) - 0.5})
    def mine(x, k):
        return k * norm(x[1] - x[0])

    system(mine([[0, 1]], k=2.0))
    with pytest.raises(taut.errors.LawError, match="'k' must be greater than 1, got 1"):
        system(mine([[0, 1]], k=1.0))
    with pytest.raises(
        taut.errors.LawError,
        match=r"element 1 \(particles \[1, 4\]\) is too short, in the rest shape",
    ):
        system(mine([[0, 1], [1, 4]], k=2.0))


def test_invalid_limits_raise_at_definition():
    with pytest.raises(
        taut.errors.LawError, match="limit for an unknown parameter 'kk'; did you mean 'k'"
    ):
        taut.energy(limits={"kk": "> 0"})(lambda x, k: k)
    with pytest.raises(
        taut.errors.LawError,
        match="must read like '> 0', '>= 0' or '>= 0 and <= 1', got 'positive'",
    ):
        taut.energy(limits={"k": "positive"})(lambda x, k: k)


def test_pressure_requires_a_closed_surface():
    ball = taut.mesh.sphere(2)
    laws.pressure(ball.triangles, p=1.0)
    with pytest.raises(
        taut.errors.LawError, match=r"not closed: 3 edges belong to one triangle only, such as \["
    ):
        laws.pressure(ball.triangles[1:], p=1.0)
    with pytest.raises(
        taut.errors.LawError,
        match=r"element 0 .* faces inwards, as the surface does, in the rest shape, and 79 more",
    ):
        taut.System(ball.points, mass=1.0, energies=[laws.pressure(ball.triangles[:, ::-1], p=1.0)])
    with pytest.raises(
        taut.errors.LawError,
        match="'pressure': an energy of a total must have the same parameters for all elements",
    ):
        taut.System(
            ball.points, mass=1.0, energies=[laws.pressure(ball.triangles, p=np.arange(80.0))]
        )
    turned = ball.triangles.copy()
    turned[0] = turned[0, ::-1]
    with pytest.raises(
        taut.errors.LawError, match="3 edges have the same direction in both triangles"
    ):
        laws.pressure(turned, p=1.0)


def test_wind_requires_triangles_with_area():
    with pytest.raises(taut.errors.LawError, match=r"element 1 .* has no area"):
        taut.System(POINTS, mass=1.0, loads=[laws.wind([[0, 1, 2], [0, 1, 5]], velocity=(1, 0, 0))])
    with pytest.raises(taut.errors.LawError, match="elements must have 3 particles each, got 4"):
        laws.wind([[0, 1, 2, 3]], velocity=(1, 0, 0))


def test_reject_unknown_options():
    with pytest.raises(taut.errors.LawError, match=r"@taut.dissipation has no option 'load'"):
        taut.dissipation(load=True)
    with pytest.raises(
        taut.errors.LawError, match=r"@taut.load has no option 'limit'; did you mean 'limits'"
    ):
        taut.load(limit={})
