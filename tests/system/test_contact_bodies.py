"""Bodies by name: thickness, pairs, sides, neighbours, and starts in touch."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1]])


def layers(gap=0.1, **options):
    """Two free triangles above each other: 'lower' and 'upper'."""
    options.setdefault("range", 1e-2)
    contact = taut.contact(
        [[0, 1, 2], [3, 4, 5]],
        bodies={"lower": [0, 1, 2], "upper": [3, 4, 5]},
        k=10.0,
        **options,
    )
    return taut.System(
        np.concatenate([TRIANGLE, TRIANGLE + np.array([0, gap, 0])]), mass=1.0, contact=contact
    )


def energy(system):
    return system.V(system.initial_state())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exempt": [("lower", "uper")]}, "unknown body 'uper'; did you mean 'upper'"),
        ({"friction_pairs": [("lower", "upper")]}, "friction_pairs of a contact must be pairs"),
        ({"friction_pairs": [("lower", "upper", -1)]}, "μ must not be negative, got -1"),
        ({"friction_pairs": [("lower", "upper", np.nan)]}, "μ must not be negative"),
        ({"thickness": {"uper": 1.0}}, "unknown body 'uper'"),
        ({"thickness": {"upper": -1.0}}, "thickness of 'upper' must not be negative"),
        ({"one_sided": ["middle"]}, "unknown body 'middle'"),
        ({"planes": {"upper": ([0, -1, 0], [0, 1, 0])}}, "different names, got 'upper' twice"),
        ({"range": 2.0}, r"shortest edge, 1 m, got 2 \(edge \(0, 1\) of 'lower'\)"),
        ({"one_sided": ["upper"]}, "'upper' must be closed and oriented"),
        ({"gap": 0.0}, "of 'lower' .* of 'upper'"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ModelError, match=message):
        layers(**options)


@pytest.mark.parametrize("bodies", [{1: [0]}, {"one": []}, {"one": "all"}])
def test_bodies_must_be_groups_of_particles(bodies):
    with pytest.raises(ModelError, match="bodies of a contact must be groups of particles by name"):
        taut.contact([0], bodies=bodies)


def test_thickness_by_name_is_that_of_each_body():
    assert energy(layers()) == 0.0
    by_name = layers(thickness={"upper": 0.19})
    assert energy(by_name) > 0.0
    assert energy(by_name) == energy(layers(thickness=[0, 0, 0, 0.19, 0.19, 0.19]))


def test_bodies_that_are_exempt_pass_through_each_other_and_touch_others():
    planes = {"floor": ([0, -5e-3, 0], [0, 1, 0])}
    both = layers(5e-3, planes=planes)
    apart = layers(5e-3, planes=planes, exempt=[("upper", "lower")])
    floor = layers(0.5, planes=planes)
    assert energy(both) > energy(apart)
    assert energy(apart) == pytest.approx(energy(floor))  # of the lower one and the floor
    none = layers(5e-3, planes=planes, exempt=[("upper", "lower"), ("lower", "floor")])
    assert energy(none) == 0.0


def test_friction_of_a_pair_is_its_own():
    """Two balls slide on one plane, one of them with its own μ; the last pair counts."""
    ground = {"ground": ([0, 0, 0], [0, 1, 0])}
    system = taut.System(
        [[0, 4e-3, 0], [1, 4e-3, 0], [2, 4e-3, 0]],
        mass=1.0,
        contact=taut.contact(
            [0, 1, 2],
            range=1e-2,
            k=7.0,
            planes=ground,
            bodies={"first": [0], "second": [1]},
            friction=0.1,
            slip_speed=1e-3,
            friction_pairs=[
                ("ground", "first", 0.5),
                ([1], "ground", 0.2),
                ("second", "ground", 0),
            ],
        ),
    )
    force = system.f(system.initial_state().with_(v=np.tile([1.0, 0, 0], (3, 1))))
    np.testing.assert_allclose(force[:, 0], [-0.5, 0.0, -0.1] * force[:, 1], rtol=1e-12)


def test_friction_only_of_a_pair_is_friction():
    system = layers(5e-3, friction_pairs=[("upper", "lower", 0.3)], slip_speed=1e-3)
    v = np.repeat([[0.0, 0, 0], [1.0, 0, 0]], 3, axis=0)
    force = system.f(system.initial_state().with_(v=v))
    assert force[3:, 0].sum() == pytest.approx(-0.3 * force[3:, 1].sum(), rel=1e-6)
    with pytest.raises(ModelError, match="friction of contacts depends on the way"):
        taut.equilibrium(system)


def test_one_sided_surface_has_nothing_inside():
    block = taut.mesh.block(1, 1, 1, size=1.0)
    inside = np.mean(block.points, axis=0)
    points = np.concatenate([block.points, [inside]])
    fixed = range(block.n)

    def build(**options):
        surface = taut.contact(
            block, [block.n], bodies={"block": fixed, "ball": [block.n]}, range=1e-3, **options
        )
        return taut.System(points, mass=1.0, fixed=fixed, contact=surface)

    assert build().n == block.n + 1  # two-sided: a ball in a box
    with pytest.raises(ModelError, match="particle 0 of 'ball' is inside of 'block'"):
        build(one_sided=["block"])
    assert build(one_sided=["block"], exempt=[("ball", "block")]).n == block.n + 1


def rope(points, thickness, range=5e-3, **options):
    n = len(points)
    links = np.array([[i, i + 1] for i in np.arange(n - 1)])
    return taut.System(
        points,
        mass=1e-3,
        energies=[laws.spring(links, k=100.0)],
        contact=taut.contact(links, range=range, thickness=thickness, **options),
    )


def test_parts_of_a_thick_rope_that_are_neighbours_do_not_repel_each_other():
    x = np.column_stack([np.linspace(0, 1, 51), np.zeros(51), np.zeros(51)])
    thick = rope(x, 0.05)  # links of 2 cm
    assert energy(thick) == 0.0
    # What is far along the rope touches, although the rest shape has it near.
    turns = np.linspace(0, 1.9 * np.pi, 40)
    loop = np.column_stack([0.1 * np.cos(turns), 0.1 * np.sin(turns), 0.0 * turns])
    ends = np.linalg.norm(loop[0] - loop[-1])
    with pytest.raises(ModelError, match=r"gap between edge \(0, 1\) and edge \(38, 39\)"):
        rope(loop, ends + 2e-3)
    assert energy(rope(loop, ends - 2e-3)) > 0.0


def test_sheets_that_start_in_touch_at_their_thickness():
    sheet = taut.mesh.sheet(3, 3, size=(0.3, 0.3))
    flat = np.array(sheet.points)[:, [0, 2, 1]]
    n, thickness = sheet.n, 2e-3
    for nudge in (0.0, 1e-15, -1e-15):
        stack = np.concatenate([flat + np.array([0, i * (thickness + nudge), 0]) for i in range(3)])
        system = taut.System(
            stack + np.array([0, thickness / 2, 0]),
            mass=1e-3,
            energies=[
                laws.spring(np.concatenate([sheet.edges + i * n for i in range(3)]), k=50.0),
                laws.gravity(),
            ],
            contact=taut.contact(
                *(sheet.triangles + i * n for i in range(3)),
                range=5e-4,
                thickness=thickness,
                friction=0.3,
                planes=[([0, 0, 0], [0, 1, 0])],
            ),
        )
        for state, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.1):
            assert taut.find_intersections(system, state) == []
        heights = state.q[:, 1].reshape(3, n).mean(axis=1)
        # They stay about where they are, in touch: within a range.
        np.testing.assert_allclose(np.diff(heights), thickness, atol=5e-4)


def test_bodies_without_thickness_must_not_start_in_touch():
    with pytest.raises(ModelError, match="must be apart"):
        layers(0.0)


def test_sheet_folded_flat_onto_itself_by_180_degrees():
    """The fold's own triangles share its edge; the rest of the two halves touches."""
    sheet = taut.mesh.sheet(8, 2, size=(0.4, 0.1))
    points = np.array(sheet.points)[:, [0, 2, 1]]
    folded = points.copy()
    far = points[:, 0] > 0.2
    folded[far, 0] = 0.4 - points[far, 0]
    folded[far, 1] = 2e-3
    system = taut.System(
        points,
        mass=1e-3,
        pose=folded,
        energies=[
            laws.spring(sheet.edges, k=100.0),
            laws.shell_bending(sheet.hinges, c=1e-4),
            laws.gravity(),
        ],
        contact=taut.contact(sheet, range=1e-3, planes=[([0, -1e-3, 0], [0, 1, 0])]),
    )
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.15):
        assert taut.find_intersections(system, state) == []
    assert state.q[far, 1].min() > 0.0


def test_obstacle_that_intersects_itself_is_accepted_and_still_stops_others():
    """Two held triangles that cross: what falls on them stays above both."""
    cross = np.array(
        [[-1, 0, -1], [1, 0, -1], [0, 0, 1], [0, -0.5, -0.5], [0, 0.5, -0.5], [0, 0, 1.2]]
    )
    system = taut.System(
        np.concatenate([cross, [[0.3, 0.05, -0.5]]]),
        mass=0.1,
        fixed=range(6),
        energies=[laws.gravity()],
        contact=taut.contact([[0, 1, 2], [3, 4, 5]], [6], range=1e-2),
    )
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.3):
        assert state.q[6, 1] > 0.0
