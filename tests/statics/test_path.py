"""Equilibrium paths against closed forms: limit points, bifurcations, branches, scripts."""

import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws
from taut.constraints import on_line, scripted
from taut.statics.path import EquilibriumPath

K, RISE = 1000.0, 0.2
BAR = np.hypot(1.0, RISE)


def truss_load(height):
    """The load [N] that holds the apex of two bars at a height."""
    length = np.hypot(1.0, height)
    return 2 * K * (BAR - length) * height / length


LIMIT = truss_load(np.sqrt(BAR ** (2 / 3) - 1))


def truss(*more, **changes):
    energies = [laws.spring([[0, 2], [1, 2]], k=K), laws.force([2], f=(0, -1)), *more]
    arguments = {"mass": 1.0, "fixed": [0, 1], "energies": energies, **changes}
    return taut.System([[-1, 0], [1, 0], [0, RISE]], **arguments)


def column(n=10, axial=3000.0, *, flat=True):
    rod = taut.mesh.rope(n)
    return taut.System(
        rod.points[:, :2] if flat else rod.points,
        mass=1.0,
        fixed=[0],
        constraints=[on_line([n], (1, 0, 0))],
        energies=[
            laws.spring(rod.edges, k=n * axial),
            laws.rod_bending(rod.rod_hinges, EI=1.0),
            laws.force([n], f=(-1, 0) if flat else (-1, 0, 0)),
        ],
    )


def critical_load(n, j, axial=3000.0):
    """Of n links: P(1 - P/EA) = 4n² sin²(jπ/2n)."""
    s = 4 * n**2 * np.sin(j * np.pi / (2 * n)) ** 2
    return brentq(lambda p: p * (1 - p / axial) - s, 0.5 * s, 1.5 * s, xtol=1e-13)


def test_truss_by_arc_length():
    """Every point is on P(y), both limit points are found, and the part between is unstable."""
    found = taut.path(truss(), until=6.0)
    y = found.positions[:, 2, 1]
    assert found.parameter == pytest.approx(truss_load(y), abs=1e-10)
    assert [c.kind for c in found.critical] == ["limit", "limit"]
    assert [c.parameter for c in found.critical] == pytest.approx([LIMIT, -LIMIT], rel=1e-12)
    assert (found.stable == (np.abs(y) > np.sqrt(BAR ** (2 / 3) - 1))).all()
    assert (found.residuals <= found.tolerances).all()
    assert found.ended == "until"
    assert found.parameter[-1] == 6.0
    assert "limit point at 3.01915" in str(found)


def test_truss_by_displacement_control():
    """Steps of equal displacement, the last exactly at its end; the reactions carry the load."""
    found = taut.path(truss(), control=(2, (0, -1)), until=0.45, step=0.05)
    y = found.positions[:, 2, 1]
    assert y[-1] == pytest.approx(RISE - 0.45, abs=1e-14)
    assert np.diff(y)[3:-1] == pytest.approx(-0.05)
    assert found.parameter == pytest.approx(truss_load(y), abs=1e-10)
    assert [c.parameter for c in found.critical] == pytest.approx([LIMIT, -LIMIT], rel=1e-12)
    assert found.reactions[:, :, 1].sum(axis=1) == pytest.approx(found.parameter, abs=1e-10)


def test_downward_path_is_followed_for_a_negative_end():
    found = taut.path(truss(), until=-5.0)
    assert found.parameter[-1] == -5.0
    assert found.stable.all()
    assert found.parameter == pytest.approx(truss_load(found.positions[:, 2, 1]), abs=1e-10)
    up = taut.path(truss(), control=(2, (0, -1)), until=-0.1)
    assert up.positions[-1, 2, 1] == pytest.approx(RISE + 0.1)


def test_path_turns_back_in_a_prescribed_displacement():
    """The apex is pulled down through a soft spring by a script: where 1 + P'(y)/k vanishes, the
    prescribed displacement turns back, which time steps would jump over.
    """
    soft = 20.0
    points = [[-1, 0], [1, 0], [0, RISE], [0, -1.0]]
    bars, pull = laws.spring([[0, 2], [1, 2]], k=K), laws.spring([[2, 3]], k=soft, name="pull")
    system = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1],
        energies=[bars, pull],
        constraints=[scripted([3], lambda t: (0, -1.0 - t))],
    )
    found = taut.path(system, along="time", until=0.6)
    y, t = found.positions[:, 2, 1], found.parameter
    assert -1.0 - t == pytest.approx(found.positions[:, 3, 1], abs=1e-12)
    assert t == pytest.approx(RISE - y + truss_load(y) / soft, abs=1e-8)

    def rate(y):  # of the prescribed displacement, by y
        return (truss_load(y + 1e-6) - truss_load(y - 1e-6)) / 2e-6 / soft - 1

    turn = brentq(rate, 0.0, 0.19)
    assert found.critical[0].kind == "limit"
    assert found.critical[0].parameter == pytest.approx(
        RISE - turn + truss_load(turn) / soft, rel=1e-8
    )
    assert found.reactions[:, 3, 1] == pytest.approx(-truss_load(y), abs=1e-9)


def test_bifurcations_of_a_column_and_its_branches():
    """Three critical loads to 1e-9; in the bent branch the load rises, to either side alike."""
    system = column()
    straight = taut.path(system, until=100.0)
    assert [c.kind for c in straight.critical] == ["bifurcation"] * 3
    expected = [critical_load(10, j) for j in (1, 2, 3)]
    assert [c.parameter for c in straight.critical] == pytest.approx(expected, rel=1e-9)
    assert straight.negative[-1] == 3
    up, down = (
        taut.path(system, branch=straight.critical[0], side=side, until=12.0) for side in (1, -1)
    )
    assert up.parameter[0] == straight.critical[0].parameter
    assert up.parameter[-1] == down.parameter[-1] == 12.0
    assert up.stable.all()
    mirrored = up.states[-1].q * [1, -1, 1]
    assert down.states[-1].q == pytest.approx(mirrored, abs=1e-9)
    assert np.abs(up.states[-1].q[:, 1]).max() > 0.2


def test_double_bifurcation_in_space():
    """A column in space buckles in two planes at once."""
    straight = taut.path(column(flat=False), until=20.0)
    (found,) = straight.critical
    assert (found.kind, len(found.modes)) == ("bifurcation", 2)
    assert found.parameter == pytest.approx(critical_load(10, 1), rel=1e-9)
    gram = np.einsum("aij,bij->ab", found.modes, found.modes)
    assert gram == pytest.approx(np.eye(2), abs=1e-10)


def test_linear_buckling_agrees_with_the_path():
    """Factors are exact for a column that is not compressed, to P/EA."""
    factors = taut.buckling(column(axial=1e9), n=3).factors
    expected = 400 * np.sin(np.arange(1, 4) * np.pi / 20) ** 2
    assert factors == pytest.approx(expected, rel=1e-6)
    both = taut.buckling(column(axial=1e9, flat=False), n=4).factors
    assert both == pytest.approx(np.repeat(expected[:2], 2), rel=1e-6)


def test_no_buckling_in_tension_or_without_equilibrium():
    pulled = column(axial=1e6)
    rod = pulled.energies[:2]
    found = taut.buckling(pulled.with_(energies=[*rod, laws.force([10], f=(1, 0))]))
    assert (len(found.factors), str(found)) == (0, "no buckling under this load")
    bar = [laws.spring([[0, 1]], k=1.0), laws.force([1], f=(1, 0))]
    with pytest.raises(taut.errors.ModelError, match="K must be positive definite"):
        taut.buckling(taut.System([[0, 0], [1, 0]], mass=1.0, energies=bar))
    slack = taut.System([[0, 0], [1, 0]], mass=1.0, fixed=[0], energies=[
        laws.cable([[0, 1]], k=1.0, l0=2.0), laws.force([1], f=(1, 0))])  # fmt: skip
    with pytest.raises(taut.errors.ModelError, match="K must be positive definite"):
        taut.buckling(slack)
    with pytest.raises(taut.errors.ModelError, match="2 zero eigenvalues"):
        taut.path(slack, until=1.0)
    stretched = truss(pose=[[-1, 0], [1, 0], [0, 0.3]])
    with pytest.raises(taut.errors.ModelError, match="equilibrium without the load"):
        taut.buckling(stretched)


def test_linear_buckling_of_a_large_column_by_lanczos():
    """More than 300 coordinates: the sparse pencil."""
    factors = taut.buckling(column(200, 1e9), n=3).factors
    expected = 4 * 200**2 * np.sin(np.arange(1, 4) * np.pi / 400) ** 2
    assert factors == pytest.approx(expected, rel=1e-6)


def test_scaled_laws_are_named():
    """A dead load stays while another one grows, and a law with a stiffness can be scaled too."""
    rod = [[0, 0, 0], [1, 0, 0]]
    bar = laws.spring([[0, 1]], k=10.0)
    forces = [laws.force([1], f=(2, 0, 0), name="dead"), laws.force([1], f=(1, 0, 0), name="live")]
    held = {"mass": 1.0, "fixed": [0], "constraints": [on_line([1], (1, 0, 0))]}
    system = taut.System(rod, energies=[bar, *forces], **held)
    found = taut.path(system, scaled=["live"], until=3.0)
    assert found.positions[:, 1, 0] == pytest.approx(1.2 + found.parameter / 10, abs=1e-12)
    stiffer = taut.path(system, scaled=["spring"], start=1.0, until=2.0)
    assert stiffer.positions[:, 1, 0] == pytest.approx(1 + 0.3 / stiffer.parameter, abs=1e-10)


def test_pressure_is_scaled():
    """Pressure in a ball of springs (a law with a total): the volume work p dV on the path equals
    the energy stored.
    """
    ball = taut.mesh.sphere(2, radius=0.1)
    springs = laws.spring(ball.edges, k=200.0)
    inside = laws.pressure(ball.triangles, p=100.0)
    held = [on_line([i], tuple(p)) for i, p in enumerate(ball.positions[:3])]
    system = taut.System(ball.points, mass=1.0, energies=[springs, inside], constraints=held)
    found = taut.path(system, scaled=["pressure"], until=10.0, step=5e-4)
    stored = system.with_(energies=[springs])
    work = 0.0
    volumes = [-system.V_by_law(s)["pressure"] / 100.0 for s in found.states]
    for k in range(1, len(found)):
        mean = 50.0 * (found.parameter[k] + found.parameter[k - 1])
        work += mean * (volumes[k] - volumes[k - 1])
    assert stored.V(found.states[-1]) == pytest.approx(work, rel=1e-3)


def test_same_bits_again():
    one, two = taut.path(truss(), until=6.0), taut.path(truss(), until=6.0)
    assert one.positions.tobytes() == two.positions.tobytes()
    assert one.parameter.tobytes() == two.parameter.tobytes()


def test_number_of_points_ends_a_path():
    found = taut.path(truss(), points=5)
    assert (len(found), found.ended) == (5, "points")
    assert "ended by the number of points" in str(found)


def test_displacement_control_stops_where_the_displacement_turns_back():
    """The frame of Lee turns back in its deflection: arc length passes, control does not."""
    from taut.validate._paths import build_lee_frame

    with pytest.raises(taut.NotConverged, match="the path cannot be followed") as caught:
        taut.path(build_lee_frame(10), control=(12, (0, -1)), until=90.0)
    assert 120 - caught.value.state.q[12, 1] == pytest.approx(61.0, abs=1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": np.nan}, "until must be a finite number"),
        ({"until": "far"}, "until must be a finite number"),
        ({"step": 0.0}, "step must be positive, got 0.0"),
        ({"points": 0}, "n must be a whole number"),
        ({"along": "length"}, "along must be 'load' or 'time', got 'length'"),
        ({"scaled": ["fource"]}, "no energy law 'fource'; did you mean 'force'"),
        ({"scaled": "force"}, "scaled must be a list of names"),
        ({"scaled": []}, "no law that is linear"),
        ({"control": 2}, "control must be a particle and a direction"),
        ({"control": (7, (0, 1))}, "there is no particle 7"),
        ({"control": (0, (0, 1))}, "particle 0 cannot move"),
        ({"control": (2, (0, 0))}, "control must be a particle and a direction"),
        ({"branch": 3}, "branch must be a critical point"),
        ({"until": 0.0}, "until must differ from the first value"),
        ({"side": -1}, "no branch was given"),
        ({"along": "time", "start": 2.0}, "the state's t is the start"),
    ],
)
def test_reject_bad_arguments(arguments, message):
    with pytest.raises(taut.errors.ModelError, match=message):
        taut.path(truss(), **arguments)


def test_branch_must_belong_to_the_path():
    """A bifurcation of another load is no equilibrium here; a mode must exist."""
    found = taut.path(column(), until=15.0).critical[0]
    rod = column().energies[:2]
    other = column().with_(energies=[*rod, laws.force([10], f=(-2, 0))])
    with pytest.raises(taut.errors.ModelError, match="critical point of this system"):
        taut.path(other, branch=found)
    with pytest.raises(taut.errors.ModelError, match="mode must be one of 0 to 0, got 1"):
        taut.path(column(), branch=found, mode=1)
    with pytest.raises(taut.errors.ModelError, match="side must be 1 or -1, got 0"):
        taut.path(column(), branch=found, side=0)
    with pytest.raises(taut.errors.ModelError, match="leave out control"):
        taut.path(column(), branch=found, control=(5, (0, 1)))


def test_inactive_elements_stay_inactive():
    """With one of two parallel pairs of bars torn, the limit load halves."""
    twice = truss(laws.spring([[0, 2], [1, 2]], k=K, name="second"))
    torn = twice.initial_state().with_(active={"second": np.zeros(2, dtype=bool)})
    whole, half = taut.path(twice, until=7.0), taut.path(twice, torn, until=7.0)
    assert whole.critical[0].parameter == pytest.approx(2 * LIMIT)
    assert half.critical[0].parameter == pytest.approx(LIMIT)


def test_reject_what_has_no_path():
    limit = taut.path(truss(), until=3.5).critical[0]
    with pytest.raises(taut.errors.ModelError, match="got a limit point"):
        taut.path(truss(), branch=limit)
    with pytest.raises(taut.errors.ModelError, match="4 zero eigenvalues"):
        taut.path(truss(fixed=[]))
    with pytest.raises(taut.errors.ModelError, match="no particle is free"):
        taut.path(truss(fixed=[0, 1, 2]))
    bars = truss().energies[:1]
    with pytest.raises(taut.errors.ModelError, match="linear in the positions"):
        taut.path(truss(energies=bars))
    with pytest.raises(taut.errors.ModelError, match="nothing moves"):
        taut.path(truss(energies=[*bars, laws.force([0], f=(1, 0))]))
    with pytest.raises(taut.errors.ModelError, match=r"a taut\.State is needed"):
        taut.path(truss(), 3)
    assert isinstance(taut.path(truss(), points=2), EquilibriumPath)
