"""Solids that cannot turn inside out: the barrier's formula, and soft bodies under their weight."""

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.mesh.inversion import find_inverted_cells
from taut.run.open_run import open_run
from taut.show.render._fields import make_field
from taut.show.visual_model import model_from_run

TET = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])  # of ⅙ m³


def squeezed(part, k=3.0):
    """The system of a tetrahedron with this part of its volume, and its state."""
    system = taut.System(TET, mass=1.0, energies=[laws.volume_barrier([[0, 1, 2, 3]], k=k)])
    return system, system.initial_state().with_(q=TET * [1.0, 1.0, part])


def test_energy_and_pressure_at_a_quarter_of_the_volume():
    """V = ¼ k v₀ ln 2 and a pressure of (1 + 2 ln 2) k, on a third of the opposite face."""
    system, state = squeezed(0.25)
    assert system.V(state) == pytest.approx(3.0 / 6 * 0.25 * np.log(2.0))
    force = 3.0 * (1 + 2 * np.log(2.0)) * 0.5 / 3
    assert system.f(state)[3] == pytest.approx([0.0, 0.0, force])


def test_a_tetrahedron_with_half_of_its_volume_or_more_is_free():
    for part in (0.5, 0.51, 1.0, 3.0):
        system, state = squeezed(part)
        assert system.V(state) == 0.0
        assert np.abs(system.f(state)).max() == 0.0
        assert np.abs(system.K(state).toarray()).max() == 0.0


def test_energy_grows_without_bound_and_has_no_value_beyond():
    system, state = squeezed(1e-12)
    assert system.V(state) == pytest.approx(-3.0 / 6 * np.log(2e-12))
    for part in (0.0, -0.5):
        with pytest.raises(taut.errors.SingularState):
            system.f(state.with_(q=TET * [1.0, 1.0, part]))
    with pytest.raises(taut.errors.LawError, match="is flat or inverted, in the pose"):
        system.with_(pose=TET * [1.0, 1.0, -1.0])


def soft_block(cells, *, young, law=""):
    """Run a block of 1 m on a held foot under its weight, E = young; return what is left of it."""
    text = f"""
    [time]
    h = 0.01
    duration = 0.5
    [integrator]
    method = "ImplicitEuler"
    adaptive = {{ halvings = 6 }}
    [[body]]
    name = "block"
    mesh = {{ shape = "block", nx = 3, ny = 3, nz = 3, cells = "{cells}" }}
    {law or f"material = {{ young = {young}, density = 1000.0, damping = 0.005 }}"}
    [[body.hold]]
    where = "y == min"
    [[law]]
    law = "gravity"
    """
    built = scene.read_text(text).build()
    steps = list(taut.simulate(built.system, built.integrator, built.h, built.until))
    state, reports = steps[-1][0], [report for _, report in steps]
    mesh = built.bodies[0].mesh
    inverted = find_inverted_cells(mesh.points, state.q, mesh.blocks(3))
    return int(inverted.sum()), reports, mesh.with_(points=state.q).volumes.sum()


LOOSE = """
[time]
h = 0.01
duration = 0.5
[[body]]
name = "block"
mesh = { shape = "block", nx = 3, ny = 3, nz = 3, cells = "tet" }
density = 1000.0
[[body.law]]
law = "spring"
on = "edges"
k = 200.0
[[body.hold]]
where = "y == min"
[[law]]
law = "gravity"
"""


def test_a_run_of_springs_alone_says_how_many_cells_are_inverted_and_pictures_show_them(tmp_path):
    loaded = scene.read_text(LOOSE)
    result = loaded.record(tmp_path / "run")
    mesh = taut.mesh.block(3, 3, 3, cells="tet")
    count = int((mesh.with_(points=result.state.q).volumes < 0).sum())
    assert count > 10
    assert f"{count} of {len(mesh.volumes)} solid cells of block are turned inside out" in " ".join(
        result.notes
    )
    with open_run(tmp_path / "run") as run:
        model = model_from_run(run)
        field = make_field("inversion", model)
        (first,), (last,) = field.at_points(run.frames[0]), field.at_points(run.frames[-1])
    assert first == pytest.approx(np.ones(mesh.n), abs=1e-9)
    worst = (mesh.with_(points=result.state.q).volumes / mesh.volumes).min()
    assert last.min() == pytest.approx(worst)


def test_a_modulus_too_soft_for_the_weight_is_foreseen():
    """ρ g L/E = 0.98 of a block of 1 m with E = 10 kPa; a tenth of that is no warning."""
    text = LOOSE.replace("density = 1000.0", "material = { young = 1e4, density = 1000.0 }")
    text = text.split("[[body.law]]")[0] + "[[law]]" + text.split("[[law]]")[1]
    (warning,) = scene.foresee(scene.read_text(text).build())
    assert "block is too soft for its size and weight: ρ g L/E = 0.981" in warning
    assert "E = 1e+05 Pa would keep its shape" in warning
    stiff = scene.read_text(text, overrides=[("body.0.material.young", 1e5)])
    assert scene.foresee(stiff.build()) == ()


SPRINGS = """density = 1000.0
    [[body.law]]
    law = "spring"
    on = "edges"
    k = 300.0
    [[body.law]]
    law = "volume"
    on = "tet"
    k = 10.0
"""


@pytest.mark.parametrize("cells", ["tet", "hex"])
def test_soft_bodies_keep_every_cell_the_right_way_round(cells):
    """E = 2 kPa, a fifth of ρ g L: the block slumps onto its foot, but no cell is inverted."""
    inverted, reports, volume = soft_block(cells, young=2e3)
    assert inverted == 0
    assert all(report.inverted == 0 for report in reports)
    assert 0.1 < volume < 0.8  # it is far beyond half of its volume


def test_springs_alone_turn_inside_out_and_the_reports_count_it():
    """The springs of the same modulus with a weak `volume` law: the reports count inverted tets."""
    inverted, reports, volume = soft_block("tet", young=2e3, law=SPRINGS)
    assert inverted > 10
    assert reports[-1].inverted == inverted
    assert reports[0].inverted == 0
    assert f"{inverted} solid elements inverted" in str(reports[-1])
    assert volume < 0.1


def test_the_barrier_leaves_the_modulus_of_a_stiff_body_as_it_is():
    block = taut.mesh.block(3, 3, 3, cells="tet")
    text = """
    [time]
    h = 0.01
    duration = 0.1
    [[body]]
    name = "block"
    mesh = { shape = "block", nx = 3, ny = 3, nz = 3, cells = "tet" }
    material = { young = 1e6, density = 1000.0 }
    """
    built = scene.read_text(text).build().system
    placed = built._placed_energies["volume_barrier"]
    assert len(placed.elements) == len(block.cells["tet"])
    assert placed.parameters.constant["k"] == pytest.approx(1e6)
    springs = built.with_(energies=[e for e in built.energies if e.name != "volume_barrier"])
    start = built.initial_state()
    strained = start.with_(q=start.q * [1.1, 0.9, 0.9])
    assert (built.K(strained) != springs.K(strained)).nnz == 0


def test_corner_tets_of_every_kind_are_positive():
    """Eight in a hexahedron, six in a wedge, four in a pyramid, one in a tetrahedron."""
    hexes = taut.mesh.block(1, 1, 1)
    wedge = taut.mesh.Mesh(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]],
        {"wedge": [[0, 1, 2, 3, 4, 5]]},
    )
    pyramid = taut.mesh.Mesh(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], {"pyramid": [[0, 1, 2, 3, 4]]}
    )
    tet = taut.mesh.Mesh(TET, {"tet": [[0, 1, 2, 3]]})
    for mesh, count in ((hexes, 8), (wedge, 6), (pyramid, 4), (tet, 1)):
        tets = mesh.corner_tets
        assert len(tets) == count
        assert mesh.with_(cells={"tet": tets}, groups={}).volumes.min() > 0.0
