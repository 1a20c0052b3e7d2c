"""Contact as a part of a System: what is refused, kept, joined and exempt."""

import pickle

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError
from taut.run.metadata import fingerprint
from taut.system.workspace import workspace_for

GROUND = [([0, 0, 0], [0, 1, 0])]
TRIANGLE = [[0, 0, 0], [1, 0, 0], [0, 0, 1]]


def stacked(gap=0.1, **options):
    """Two triangles above each other, the lower one held."""
    points = np.array([*TRIANGLE, *(np.array(TRIANGLE) + np.array([0, gap, 0]))])
    options.setdefault("contact", taut.contact([[0, 1, 2], [3, 4, 5]], range=1e-3))
    return taut.System(points, mass=1.0, fixed=[0, 1, 2], **options)


@pytest.mark.parametrize("name", ["range", "k", "slip_speed"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_numbers_must_be_positive(name, value):
    with pytest.raises(ModelError, match=f"{name} of a contact must be positive"):
        taut.contact([0], **{name: value})


@pytest.mark.parametrize(
    ("surfaces", "options", "message"),
    [
        ((), {}, "at least one surface"),
        (([0],), {"friction": -0.1}, "friction of a contact must not be negative"),
        (([0],), {"thickness": np.nan}, "thickness of a contact must not be negative, got nan"),
        (([0],), {"thickness": [0.0, -1e-3]}, "negative, got -0.001 of particle 1"),
        (([0],), {"thickness": "thick"}, "thickness of a contact must be numbers"),
        (([0.5],), {}, "a surface must be a Mesh or an array of indices"),
        (([[0, 1, 2, 3]],), {}, "two or three particles in a row"),
        (([[0, 1, 1]],), {}, "a triangle of a contact must have different particles"),
        (([0],), {"planes": [([0, 0, 0], [0, 0, 0])]}, "a point and a normal, not zero"),
        (([0],), {"planes": [[0, 1, 0]]}, "a point and a normal"),
        (([0],), {"exempt": [([0.5], [1])]}, "pairs of groups of particles"),
    ],
)
def test_wrong_arguments(surfaces, options, message):
    with pytest.raises(ModelError, match=message):
        taut.contact(*surfaces, **options)


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        (taut.contact([[0, 1, 2]], range=2.0), "less than the shortest edge, 1 m, got 2"),
        (taut.contact([7], range=1e-3), "names particle 7, but there are 6"),
        (taut.contact([-1], range=1e-3), "names particle -1"),
        (taut.contact([0], range=1e-3, thickness=[1e-3, 0]), "one number or 6"),
        (taut.contact([0]), "must be given: the bodies have no size"),
        (taut.contact([[0, 1, 2], [3, 4, 5]], range=1e-3, thickness=0.2), "the gap between"),
        (taut.contact([3], range=1e-3, planes=[([0, 1, 0], [0, 1, 0])]), "particle 3 and plane 0"),
        (5, "contact must be a taut.contact"),
    ],
)
def test_contact_that_does_not_fit_the_system(contact, message):
    with pytest.raises(ModelError, match=message):
        stacked(contact=contact)


def test_start_that_intersects_names_the_pair():
    points = [*TRIANGLE, [0.2, -0.5, 0.2], [0.2, 0.5, 0.2]]
    contact = taut.contact([[0, 1, 2]], [[3, 4]], range=1e-3)
    with pytest.raises(ModelError, match=r"edge \(3, 4\) passes through the triangle \(0, 1, 2"):
        taut.System(points, mass=1.0, contact=contact)
    held = taut.System(points, mass=1.0, contact=contact, fixed=range(5))  # obstacles may
    assert held.contact.range == 1e-3


def test_state_that_intersects_is_refused_by_a_step_and_by_statics():
    system = stacked()
    q = np.array(system.pose)
    q[3, 1] = -0.1
    state = system.initial_state().with_(q=q)
    for attempt in (
        lambda: taut.ImplicitEuler().step(system, state, 0.01),
        lambda: taut.equilibrium(system, state),
    ):
        with pytest.raises(ModelError, match="passes through the triangle"):
            attempt()
    with pytest.raises(ModelError, match="passes through the triangle"):
        system.with_(pose=q)


@pytest.mark.parametrize(
    "integrator",
    [
        taut.VelocityVerlet(),
        taut.RK4(),
        taut.SymplecticEuler(),
        taut.LinearlyImplicitEuler(),
        taut.ImplicitEuler(minimiser="lbfgs"),
        taut.Adaptive(taut.VelocityVerlet()),
    ],
)
def test_steps_that_do_not_test_their_way_are_refused(integrator):
    system = stacked()
    with pytest.raises(ModelError, match="cannot step a system with contact"):
        integrator.step(system, system.initial_state(), 1e-3)


def test_surfaces_with_a_common_particle_do_not_repel_each_other():
    points = [[0, 0, 0], [1, 0, 0], [0, 0.005, 0]]  # a sharp bend
    system = taut.System(points, mass=1.0, contact=taut.contact([[0, 1], [1, 2]], range=1e-2))
    assert system.V(system.initial_state()) == 0.0


def test_exempt_groups_pass_through_each_other():
    points = [*TRIANGLE, [0.2, -0.5, 0.2], [0.2, 0.5, 0.2]]
    contact = taut.contact([[0, 1, 2]], [[3, 4]], range=1e-3, exempt=[([4], [0, 1])])
    system = taut.System(points, mass=1.0, velocity=np.tile([0, 0, 0.1], (5, 1)), contact=contact)
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    assert np.abs(state.q - system.pose - [0, 0, 0.01]).max() < 1e-12


def test_with_and_pickle_keep_contact():
    system = stacked(energies=[laws.gravity()])
    copies = [pickle.loads(pickle.dumps(system)), system.with_(mass=2.0), system.with_(loads=[])]
    for copy in copies:
        assert copy.contact.range == system.contact.range
        assert copy.contact.k == system.contact.k
    heavier = system.with_(energies=[laws.gravity(g=(0, -20, 0))])
    assert heavier.contact is system.contact
    assert system.with_(contact=None).contact is None


def test_fingerprint_of_a_run_depends_on_contact():
    one = stacked()
    other = one.with_(contact=taut.contact([[0, 1, 2], [3, 4, 5]], range=2e-3))
    a, b = fingerprint(one, 0.0, 1.0), fingerprint(other, 0.0, 1.0)
    assert [part for part in a if a[part] != b[part]] == ["contact"]


def test_join_shifts_particles_and_lets_bodies_touch():
    one = stacked(contact=taut.contact([[3, 4, 5]], range=1e-3, k=1.0, planes=GROUND))
    two = one.with_(contact=taut.contact([[3, 4, 5]], range=1e-3, k=1.0, thickness=0.01))
    both = taut.join(one.with_(pose=one.pose + np.array([0, 1, 0])), stacked(contact=None), two)
    assert both.contact.primitives.triangles.tolist() == [[3, 4, 5], [15, 16, 17]]
    assert both.contact.thickness.tolist() == [0.0] * 12 + [0.01] * 6
    assert len(both.contact.planes) == 1
    assert taut.join(stacked(contact=None)).contact is None
    with pytest.raises(ModelError, match=r"join: contacts must have the same range, got 0.001 and"):
        taut.join(one, two.with_(contact=taut.contact([3], range=2e-3)))


def test_no_law_may_have_the_name_of_contact():
    with pytest.raises(ModelError, match="no law may have the name 'contact'"):
        stacked(energies=[laws.gravity(name="contact")])


def test_force_of_a_contact_without_energies_is_that_of_the_barrier():
    d, gap, k = 1e-2, 4e-3, 7.0
    system = taut.System(
        [[0, gap, 0]], mass=1.0, contact=taut.contact([0], range=d, k=k, planes=GROUND)
    )
    # -V' of V = -k (g - d)² ln(g/d)
    expected = k * (2 * (gap - d) * np.log(gap / d) + (gap - d) ** 2 / gap)
    assert system.f(system.initial_state())[0] == pytest.approx([0, expected, 0], rel=1e-12)


def test_friction_is_among_the_forces_of_a_state():
    mu, speed = 0.4, 1e-3
    contact = taut.contact([0], range=1e-2, k=7.0, planes=GROUND, friction=mu, slip_speed=speed)
    system = taut.System([[0, 4e-3, 0]], mass=1.0, contact=contact)
    force = system.f(system.initial_state().with_(v=[[1.0, 0, 0]]))[0]
    assert force[0] == pytest.approx(-mu * force[1], rel=1e-12)  # fully developed
    matrices = [system.D(system.initial_state()).toarray() for _ in range(2)]
    assert (matrices[0] == matrices[1]).all()
    assert matrices[0][0, 0] > 0.0


def test_solids_touch_with_their_boundary():
    block = taut.mesh.block(3, 3, 3, size=0.3)
    primitives = taut.contact(block).primitives
    assert len(primitives.points) == 64 - 8
    assert len(primitives.triangles) == 6 * 9 * 2


def test_bodies_in_the_plane_bounce_off_each_other():
    points = [[0, 0], [1, 0], [0.5, 0.05]]
    system = taut.System(
        points,
        mass=1.0,
        fixed=[0, 1],
        velocity=[[0, 0], [0, 0], [0, -1]],
        contact=taut.contact([[0, 1]], [2], range=1e-2, k=1e4),
    )
    states = [s for s, _ in taut.simulate(system, taut.ImplicitEuler(), h=1e-3, until=0.2)]
    assert min(s.q[2, 1] for s in states) > 0.0
    assert states[-1].v[2, 1] > 0.0
    assert states[-1].q[2, 2] == 0.0


def test_contact_with_obstacles_never_changes_the_pattern():
    """What can move of a pair is one element of a law, whose particles are joined already."""
    sides = [[3, 4], [4, 5], [3, 5]]
    system = stacked(gap=5e-4, energies=[laws.spring(sides, k=1.0)])
    free = system.with_(contact=None)
    workspace, state = workspace_for(system), system.initial_state()
    workspace.contact_search.begin_step(state.q)
    matrix = workspace.stiffness(state, project=True)
    own = workspace_for(free).stiffness(state, project=True)
    assert np.abs(matrix.data - own.data).max() > 1.0  # they push each other
    assert matrix.pattern.has_same_blocks(own.pattern)


def test_pattern_grows_in_a_step_and_begins_anew_with_the_next():
    """A pair that has come near stays in the pattern, so that a solver keeps its analysis."""
    apart, near = stacked(gap=0.1), stacked(gap=5e-4)
    system = apart.with_(fixed=())
    far, close = system.initial_state(), system.initial_state().with_(q=near.initial_state().q)
    workspace = workspace_for(system)
    workspace.contact_search.begin_step(far.q)
    first = workspace.stiffness(far, project=True).pattern
    second = workspace.stiffness(close, project=True).pattern
    again = workspace.stiffness(far, project=True).pattern
    assert len(first.indices) == 6
    assert len(second.indices) > 6
    assert again is second
    workspace.contact_search.begin_step(far.q)
    assert workspace.stiffness(far, project=True).pattern.has_same_blocks(first)
