"""Bodies, parameters, holds, joints, poses and integrators are built as a scene says."""

import tomllib

import numpy as np
import pytest

import taut
from taut import scene
from taut.scene._integrator import INTEGRATORS
from taut.step.integrator import Integrator

HEAD = "[time]\nh = 0.01\nduration = 1.0\n"
ROPE = '[[body]]\nname = "{name}"\nmesh = {{ shape = "rope", n = 4 }}\nmass = 0.1\n'
SPRING = '[[body.law]]\nlaw = "spring"\non = "edges"\nk = {k}\n'


def build_scene(text, **options):
    return scene.read_text(HEAD + text, **options).build()


def rope(text="", name="a"):
    return build_scene(ROPE.format(name=name) + text)


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        ("3", 3),
        ("[1, 2, 3, 4]", [1, 2, 3, 4]),
        ('"10*x"', [1.25, 3.75, 6.25, 8.75]),  # at the middle of each segment
        ('"2*max(x) + hypot(3, 4)"', 7),
        (
            '"1 + cos(pi*x)"',
            [1 + 0.5 * (np.cos(np.pi * a / 4) + np.cos(np.pi * (a + 1) / 4)) for a in range(4)],
        ),  # mean of its ends
    ],
)
def test_parameter_forms(k, expected):
    made = rope(SPRING.format(k=k)).system._placed_energies["spring"].parameters.constant["k"]
    assert made == pytest.approx(np.array(expected), rel=1e-14)


def test_parameters_over_time():
    system = rope(SPRING.format(k="{ times = [0, 2], values = [1, 5] }")).system._placed_energies[
        "spring"
    ]
    assert [system.parameters.values(t)["k"] for t in (0.0, 1.0, 9.0)] == [1, 3, 5]
    system = rope(SPRING.format(k='"2 + sin(t)*x"')).system._placed_energies["spring"]
    assert system.parameters.values(2.0)["k"] == pytest.approx(
        2 + np.sin(2.0) * np.array([0.125, 0.375, 0.625, 0.875])
    )
    force = rope('[[body.law]]\nlaw = "force"\nf = [0, "t*x", 1]\n').system._placed_energies[
        "force"
    ]
    assert force.parameters.values(3.0)["f"] == pytest.approx(
        np.column_stack([np.zeros(5), 0.75 * np.arange(5), np.ones(5)])
    )


def test_texture_coordinates_are_numbers():
    mesh = '{ shape = "sheet", nx = 2, ny = 1, size = [4, 1] }'
    text = f'[[body]]\nname = "a"\nmesh = {mesh}\nmass = "1 + u + 10*v"\n'
    assert build_scene(text).system.mass == pytest.approx([1, 1.5, 2, 11, 11.5, 12])


def test_mass_and_density():
    sheet = '[[body]]\nname = "a"\nmesh = { shape = "sheet", nx = 2, ny = 2, size = 2.0 }\n'
    assert build_scene(sheet + "density = 0.5\n").system.mass.sum() == pytest.approx(2.0)
    assert build_scene(sheet + 'density = "x"\n').system.mass.sum() == pytest.approx(
        4.0
    )  # the mean of x is 1 m
    assert build_scene(
        sheet + "density = 0.5\ntotal_mass = 7.0\n"
    ).system.mass.sum() == pytest.approx(7.0)
    mesh = '{ shape = "block", nx = 1, ny = 1, nz = 1, size = 0.1 }'
    block = f'[[body]]\nname = "a"\nmesh = {mesh}\ndensity = 1000.0\n'
    assert build_scene(block).system.mass.sum() == pytest.approx(1.0)


def test_elements_within_a_selection_and_written_out():
    made = rope(
        '[[body.law]]\nlaw = "spring"\non = "edges"\nwhere = "x >= 0.5"\nk = 1\n'
        '[[body.law]]\nlaw = "cable"\non = [[0, 4]]\nk = 1\n'
    )
    assert made.system._placed_energies["spring"].elements.tolist() == [[2, 3], [3, 4]]
    assert made.system._placed_energies["cable"].elements.tolist() == [[0, 4]]


def test_pose_and_velocity():
    made = rope(
        "pose = { scale = 2, rotate = [0, 0, 1.5707963267948966], translate = [0, 0, 1] }\n"
        "velocity = { linear = [1, 0, 0], angular = [0, 0, 2] }\n"
    )
    assert made.state.q == pytest.approx(
        np.column_stack([np.full(5, 0.5), np.linspace(-1, 1, 5), np.ones(5)]), abs=1e-12
    )
    assert made.system.rest[:, 0] == pytest.approx(np.linspace(0, 1, 5))
    assert made.state.v == pytest.approx(
        np.column_stack([1 - 2 * np.linspace(-1, 1, 5), np.zeros(5), np.zeros(5)]), abs=1e-12
    )


def test_the_mesh_is_placed_before_anything_is_measured():
    text = ROPE.format(name="a").replace(
        "n = 4",
        'n = 4, displace = [0, "x^2", 0], rotate = [0, 0, 3.141592653589793], '
        "translate = [5, 0, 0]",
    )
    made = build_scene(text + SPRING.format(k=1) + '[[body.hold]]\nwhere = "x == min"\n')
    assert made.bodies[0].mesh.positions[-1] == pytest.approx([4, -1, 0])
    assert made.system.V(made.state) == 0
    assert np.flatnonzero(made.system._projector.is_fixed).tolist() == [4]


def test_holds_move_turn_and_slide():
    made = rope(
        '[[body.hold]]\nwhere = "start"\nmove = [[0, 0, 0, 0], [1, 0, 2, 0]]\n'
        '[[body.hold]]\nwhere = "end"\n'
        "rotate = { axis = [0, 0, 5], rate = 3.141592653589793, centre = [0, 0, 0] }\n"
        "[[body.hold]]\nwhere = [2]\non_plane = [0, 1, 0]\n"
        "[[body.hold]]\nwhere = [1]\non_line = [0, 0, 1]\n"
    )
    hold = made.system._projector
    assert hold.anchors(0.5)[[0, 4]] == pytest.approx(np.array([[0, 1, 0], [0, 1, 0]]), abs=1e-12)
    assert hold.free_directions[2] == pytest.approx(np.diag([1, 0, 1]))
    assert hold.free_directions[1] == pytest.approx(np.diag([0, 0, 1]))


def test_a_hold_ends_at_its_time():
    made = rope('[[body.hold]]\nwhere = "all"\nuntil = 0.1\n[[law]]\nlaw = "gravity"\n')
    states = [s for s, _ in taut.simulate(made.system, made.integrator, 0.01, 0.3)]
    held = [s for s in states if s.t < 0.1 + 1e-9]
    assert all((s.q == made.system.rest).all() for s in held)
    n = len(states) - len(held)
    assert states[-1].q[:, 1] == pytest.approx(
        -9.81 * 1e-4 * n * (n + 1) / 2
    )  # implicit Euler's fall after n steps


def test_several_bodies_stitched_and_attached():
    text = ROPE.format(name="a") + SPRING.format(k=10)
    text += ROPE.format(name="b").replace(
        "n = 4", "n = 4, translate = [1.5, 0, 0]"
    ) + SPRING.format(k=20)
    text += '[[body]]\nname = "c"\nmass = 0.1\n'
    text += 'mesh = { shape = "block", nx = 1, ny = 1, nz = 1, cells = "tet", '
    text += "translate = [2, -0.5, -0.5] }\n"
    text += '[[stitch]]\nbodies = ["a", "b"]\nwhere = ["end", "start"]\nk = 5.0\n'
    text += '[[attach]]\nbodies = ["b", "c"]\nwhere = "end"\nk = 7.0\n'
    made = build_scene(text + '[[law]]\nlaw = "gravity"\n[[law]]\nlaw = "rayleigh"\nalpha = 0.5\n')
    assert [(p.name, p.start, p.stop) for p in made.bodies] == [
        ("a", 0, 5),
        ("b", 5, 10),
        ("c", 10, 18),
    ]
    placed = made.system._placed_energies
    assert list(placed) == ["a spring", "b spring", "gravity", "stitch", "attach"]
    assert placed["b spring"].elements.tolist() == [[5, 6], [6, 7], [7, 8], [8, 9]]
    assert placed["stitch"].elements.tolist() == [[4, 5]]
    assert made.system._rayleigh.alpha == 0.5
    energies = made.system.V_by_law(made.state)
    assert energies["stitch"] == pytest.approx(5.0 / 2 * 0.5**2)
    assert energies["attach"] == pytest.approx(0.0, abs=1e-20)  # the end of b is inside of c
    row, weights = placed["attach"].elements[0], placed["attach"].parameters.constant["weights"][0]
    assert row[0] == 9
    assert weights @ made.system.rest[row[1:]] == pytest.approx(made.system.rest[9])


def test_stitches_in_order_need_equal_numbers_of_points():
    text = (
        ROPE.format(name="a")
        + ROPE.format(name="b")
        + '[[stitch]]\nbodies = ["a", "b"]\nwhere = ["end", "all"]\nk = 5.0\n'
    )
    with pytest.raises(taut.errors.SceneError, match="got 1 of 'a' and 5 of 'b'"):
        build_scene(text)
    assert (
        len(build_scene(text + 'pair = "nearest"\n').system._placed_energies["stitch"].elements)
        == 1
    )


def test_stitches_of_given_pairs_may_join_a_body_to_itself():
    text = ROPE.format(name="a") + ROPE.format(name="b")
    pairs = '[[stitch]]\nbodies = ["{}", "{}"]\npairs = [[4, 0], [3, 1]]\nk = 5.0\n'
    placed = build_scene(text + pairs.format("a", "a") + pairs.format("b", "a") + 'name = "c"\n')
    energies = placed.system._placed_energies
    assert energies["stitch"].elements.tolist() == [[4, 0], [3, 1]]
    assert energies["c"].elements.tolist() == [[9, 0], [8, 1]]
    with pytest.raises(taut.errors.SceneError, match="'b' has 5 points, got point 5"):
        build_scene(text + pairs.format("a", "b").replace("[3, 1]", "[3, 5]"))
    both = text + pairs.format("a", "b") + 'where = ["end", "end"]\n'
    with pytest.raises(taut.errors.SceneError, match="exactly one of where, pairs is required"):
        build_scene(both)


def test_materials_give_springs_hinges_masses_and_notes():
    mesh = '{ shape = "sheet", nx = 4, ny = 4, pattern = "alternating" }'
    text = f'[[body]]\nname = "a"\nmesh = {mesh}\n'
    made = build_scene(text + 'material = { name = "rubber", thickness = 1e-3, damping = 0.01 }\n')
    own = taut.materials.springs(
        made.bodies[0].mesh, thickness=1e-3, **taut.materials.material("rubber").keywords
    )
    assert made.system._placed_energies["spring"].parameters.constant["k"] == pytest.approx(own.k)
    assert made.system._placed_energies["shell_bending"].parameters.constant["c"] == pytest.approx(
        own.bending
    )
    assert made.system._placed_damping["spring_damping"].parameters.constant["c"] == pytest.approx(
        0.01 * own.k
    )
    assert made.system.mass.sum() == pytest.approx(0.95)
    assert "out of reach: ν = 0.49" in made.notes[0]
    cotton = build_scene(text + 'material = { name = "cotton", warp = [1, 0, 0] }\n')
    expected = taut.materials.bending(
        made.bodies[0].mesh, taut.materials.material("cotton").rigidity
    )
    assert cotton.system._placed_energies["shell_bending"].parameters.constant[
        "c"
    ] == pytest.approx(expected)


def test_two_dimensions():
    truss = 'dimensions = 2\n[[body]]\nname = "a"\nmesh = { shape = "truss", bays = 3 }\nmass = 1\n'
    assert scene.read_text(truss + HEAD).build().system.flat
    with pytest.raises(taut.errors.SceneError, match="the mesh leaves z = 0"):
        scene.read_text(truss.replace('"truss", bays = 3', '"sphere", n = 1') + HEAD).build()


def test_every_integrator_can_be_named():
    """`Adaptive` wraps another integrator and has a separate key."""
    public = {name: getattr(taut, name) for name in taut.__all__}
    integrators = {
        name: value
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, Integrator) and value is not taut.Adaptive
    }
    assert integrators == INTEGRATORS


def test_integrators_and_their_options():
    for name in INTEGRATORS:
        made = build_scene(ROPE.format(name="a") + f'[integrator]\nmethod = "{name}"\n')
        assert type(made.integrator) is getattr(taut, name)
    made = build_scene(
        ROPE.format(name="a")
        + '[integrator]\nmethod = "BDF2"\ntolerance = 1e-5\nforce = 2.0\nsolver = "cg"\n'
        + 'minimiser = "lbfgs"\nadaptive = { error = 0.1 }\n'
    )
    inner = made.integrator.integrator
    assert (made.integrator.error, inner.tolerance, inner.solver_name, inner.minimiser) == (
        0.1,
        taut.Tolerance(1e-5, 2.0),
        "cg",
        "lbfgs",
    )


def test_stiffness_of_a_linearly_implicit_step_can_be_the_true_one():
    def read(method, line):
        table = f'[integrator]\nmethod = "{method}"\n{line}\n'
        return scene.read_text(HEAD + ROPE.format(name="a") + table)

    for line, project in (("", True), ("project = true", True), ("project = false", False)):
        made = read("LinearlyImplicitEuler", line)
        assert made.build().integrator.project is project
    for method, line, message in (
        ("ImplicitEuler", "project = false", "ImplicitEuler has no project"),
        ("ExplicitEuler", "project = true", "ExplicitEuler has no project"),
        ("LinearlyImplicitEuler", "project = 0", "project"),
        ("LinearlyImplicitEuler", 'project = "no"', "project"),
    ):
        with pytest.raises(taut.errors.SceneError, match=message):
            read(method, line)
    assert "project = false" in made.resolved()


def test_every_law_and_generator_can_be_named():
    defs = scene.schema()["$defs"]
    for name in taut.laws.__all__:
        fields = defs[name.title().replace("_", "") + "Law"]["properties"]
        law = getattr(taut.laws, name)
        assert set(getattr(law, "parameters", ["alpha", "beta"])) <= set(fields)
    assert {"SheetMesh", "BunnyMesh", "RopeMesh", "TrussMesh"} <= set(defs)


def test_every_field_of_the_schema_has_a_description():
    for name, model in scene.schema()["$defs"].items():
        for field, what in model["properties"].items():
            assert what.get("description") or "$ref" in what, f"{name}.{field}"


def test_estimate_counts():
    made = scene.load("cloth", overrides=[("body.cloth.mesh.nx", 10), ("body.cloth.mesh.ny", 10)])
    found = scene.estimate(made)
    assert (found.particles, found.springs, found.steps, found.frames) == (121, 220 + 200, 300, 151)
    assert found.elements == 220 + 200 + 280 + 220 + 121 + 121
    assert found.disk == 48 * 121 * 151
    larger = scene.estimate(
        scene.load("cloth", overrides=[("body.cloth.mesh.nx", 40), ("body.cloth.mesh.ny", 40)])
    )
    assert larger.seconds > 8 * found.seconds
    assert larger.memory > found.memory
    assert "particles" in str(found)


def test_a_law_of_the_scene_acts_on_each_body_that_has_its_elements():
    sheet = '[[body]]\nname = "{name}"\nmesh = {{ shape = "sheet", nx = 1, ny = 1 }}\nmass = 0.1\n'
    wind = '[[law]]\nlaw = "wind"\non = "{on}"\nvelocity = [0, 0, 1]\n'
    text = ROPE.format(name="a") + sheet.format(name="b") + sheet.format(name="c")
    loads = build_scene(text + wind.format(on="triangles")).system._placed_loads
    assert [p.elements.min() for p in loads.values()] == [5, 9]
    with pytest.raises(
        taut.errors.SceneError, match=r"law\[0\], line \d+: the mesh has no cells of the kind 'tet'"
    ):
        build_scene(text + wind.format(on="tet"))


def test_built_in_scenes_keep_to_the_schema():
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(scene.schema())
    for name in scene.names():
        check.validate(tomllib.loads(scene.new(name)))
    invalid = tomllib.loads(scene.new("cloth"))
    invalid["body"][0]["law"][0]["kk"] = 3.0
    assert not check.is_valid(invalid)
