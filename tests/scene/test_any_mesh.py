"""Any mesh file becomes a scene: laws are chosen by its cells and noted."""

import numpy as np
import pytest

import taut
from taut import scene
from taut.constraints import on_line
from tests.mesh.meshes import real

SOLID = ["spring", "volume_barrier", "gravity"]


@pytest.mark.parametrize(
    ("mesh", "file", "laws", "word"),
    [
        (taut.mesh.rope(5), "m.vtu", ["spring", "gravity"], "rope"),
        (
            taut.mesh.sheet(4, 4, pattern="alternating"),
            "m.obj",
            ["spring", "shell_bending", "area_barrier", "gravity"],
            "shell",
        ),
        (
            taut.mesh.sheet(4, 4),
            "m.obj",
            ["spring", "shell_bending", "area_barrier", "gravity"],
            "shell",
        ),
        (taut.mesh.block(2, 2, 2, cells="tet"), "m.mesh", SOLID, "solid"),
        (taut.mesh.block(2, 2, 2), "m.vtu", SOLID, "solid"),
    ],
)
def test_laws_are_chosen_by_cells(tmp_path, mesh, file, laws, word):
    taut.mesh.write(mesh, tmp_path / file)
    made = scene.of_mesh(tmp_path / file)
    built = made.build()
    assert list(built.system._placed_energies) == laws
    assert word in made.notes[0]
    assert any("young" in note and "default" in note for note in made.notes)
    assert any(note.startswith("held points") for note in made.notes)
    assert scene.load(tmp_path / file).tables == made.tables
    again = scene.read_text(made.resolved(), folder=tmp_path)
    assert again.file.body[0].material == made.file.body[0].material
    state, report = built.integrator.step(built.system, built.state, built.h)
    assert report.residual <= max(report.tolerance, report.floor)
    assert state.q[:, 1].mean() < built.state.q[:, 1].mean()


def test_given_values_replace_defaults(tmp_path):
    taut.mesh.write(taut.mesh.sheet(6, 6, size=0.3, plane="xz"), tmp_path / "m.obj")
    made = scene.of_mesh(
        tmp_path / "m.obj", fix="x == min", young=2e6, poisson=1 / 3, thickness=2e-3, density=900.0
    )
    assert not any("default" in note for note in made.notes)
    built = made.build()
    assert built.system.mass.sum() == pytest.approx(900 * 2e-3 * 0.09)
    # pulled along x by 0.1 N, distributed like the lumped edge length
    mesh, system = built.bodies[0].mesh, built.system
    far = mesh.select("x == max")
    pull = np.zeros((system.n, 3))
    pull[far, 0] = 0.1 / 6 * np.where(np.isin(far, mesh.corners()), 0.5, 1.0)
    pulled = system.with_(
        energies=[*system.energies[:1], taut.laws.force(f=pull)],
        constraints=[on_line(np.arange(system.n), (1, 0, 0)), *system.constraints],
    )
    longer = (taut.equilibrium(pulled).state.q[far, 0] - mesh.positions[far, 0]).mean()
    # without narrowing the modulus is E/(1 - ν²), ν = 1/3; diagonals turn with the strain of 7e-5,
    # and a quarter of that is missing
    assert longer == pytest.approx(0.1 * 0.3 / (2e6 * 9 / 8 * 2e-3 * 0.3), rel=2e-5)


def test_options_that_do_not_apply_to_the_cells_are_rejected(tmp_path):
    taut.mesh.write(taut.mesh.block(1, 1, 1), tmp_path / "m.vtu")
    with pytest.raises(taut.errors.SceneError, match="thickness does not apply to a solid"):
        scene.of_mesh(tmp_path / "m.vtu", thickness=1.0)
    with pytest.raises(taut.errors.MeshError, match="no such file"):
        scene.of_mesh(tmp_path / "n.vtu")


@pytest.mark.parametrize(
    "mesh", [taut.mesh.sphere(8), taut.mesh.block(2, 2, 2)], ids=["shell", "solid"]
)
def test_default_values_give_the_same_sag_in_any_unit_of_the_file(tmp_path, mesh):
    taut.mesh.write(mesh, tmp_path / "m.vtu")
    sags = []
    for scale in (1e-3, 1.0, 1e3):
        system = scene.of_mesh(tmp_path / "m.vtu", scale=scale).build().system
        sags.append(
            (system.rest - taut.equilibrium(system).state.q)[:, 1].max() / np.ptp(system.rest[:, 1])
        )
    assert sags == pytest.approx([sags[1]] * 3, rel=1e-6)
    assert 1e-3 < sags[1] < 0.3


@pytest.mark.parametrize(("size", "seconds"), [(1e-3, 1.0), (0.25, 1.6), (1e3, 3.0)])
def test_small_bodies_need_less_time(tmp_path, size, seconds):
    """10 √(L/g), L the diagonal, between 1 s and 3 s."""
    taut.mesh.write(taut.mesh.sheet(2, 2, size=size / np.sqrt(2)), tmp_path / "m.obj")
    assert scene.of_mesh(tmp_path / "m.obj").file.time.duration == pytest.approx(seconds)


def test_runs_of_large_meshes_are_shortened_and_solids_not_fitted(tmp_path):
    taut.mesh.write(taut.mesh.block(19, 19, 19), tmp_path / "m.vtu")
    made = scene.of_mesh(tmp_path / "m.vtu")
    assert made.file.time.duration == pytest.approx(1.81)  # 1.3e8 / 8000^1.5 steps of 0.01 s
    assert any(note.startswith("8000 points: the run ends after 1.81 s") for note in made.notes)
    assert any("not fitted" in note for note in made.notes)
    given = scene.of_mesh(tmp_path / "m.vtu", young=1e5)
    assert not any("not fitted" in note for note in given.notes)


def write_two_sheets(path, offset):
    """Two squares of 1 m, one moved by the offset."""
    sheet = taut.mesh.sheet(4, 4)
    points = np.vstack([sheet.points, sheet.points + offset])
    cells = sheet.cells["quad"]
    taut.mesh.write(taut.mesh.Mesh(points, {"quad": np.vstack([cells, cells + sheet.n])}), path)


def fall(made, seconds):
    """Return how far the points of a scene have fallen [m]."""
    built = made.build()
    steps = list(taut.simulate(built.system, built.integrator, built.h, seconds))
    state = steps[-1][0]
    return built.system.rest[:, 1] - state.q[:, 1]


def test_parts_are_joined_across_gaps_unless_they_may_be_loose(tmp_path):
    """The lower sheet hangs from the upper one; loose, it falls by ½ g t²."""
    write_two_sheets(tmp_path / "two.obj", (0.0, -1.2, 0.0))
    made = scene.of_mesh(tmp_path / "two.obj")
    assert any(note.startswith("the mesh has 2 parts, which springs keep") for note in made.notes)
    assert any("2 parts are joined by" in note for note in made.build().notes)
    assert fall(made, 0.6).max() < 0.3
    loose = scene.of_mesh(tmp_path / "two.obj", loose=True)
    assert "1 of 2 components are not held, and will fall" in loose.notes
    # h is 0.01 s: implicit Euler falls by ½ g t (t + h)
    assert fall(loose, 0.6)[25:] == pytest.approx(9.81 / 2 * 0.6 * 0.61, rel=1e-3)
    held = scene.of_mesh(tmp_path / "two.obj", fix="y == 1 or y == min", loose=True)
    assert not any("not held" in note for note in held.notes)


def test_the_largest_part_alone(tmp_path):
    write_two_sheets(tmp_path / "two.obj", (0.0, -1.2, 0.0))
    made = scene.of_mesh(tmp_path / "two.obj", largest=True)
    assert made.build().system.n == 25
    assert "the largest of 2 parts is kept, with 16 cells" in made.notes


def test_seams_are_welded_and_a_few_coincident_points_are_not(tmp_path):
    write_two_sheets(tmp_path / "seam.obj", (0.0, -1.0, 0.0))
    made = scene.of_mesh(tmp_path / "seam.obj")
    assert made.build().system.n == 45
    assert "5 points coincide with others, as along seams: they are welded" in made.notes
    assert made.file.body[0].join is None
    wide = scene.of_mesh(tmp_path / "seam.obj", weld=0.01)
    assert wide.file.body[0].mesh.clean.weld == 0.01


def test_a_closed_surface_is_filled_and_drawn_as_it_is(tmp_path):
    taut.mesh.write(taut.mesh.sphere(8, radius=0.1), tmp_path / "ball.obj")
    assert any(
        "--fill auto makes it a solid" in n for n in scene.of_mesh(tmp_path / "ball.obj").notes
    )
    made = scene.of_mesh(tmp_path / "ball.obj", fill=0.05)
    (part,) = made.build().bodies
    assert part.mesh.volumes.sum() == pytest.approx(4 / 3 * np.pi * 1e-3, rel=0.1)
    assert part.render is not None
    assert part.render.n == 10 * 8**2 + 2
    taut.mesh.write(taut.mesh.sheet(2, 2), tmp_path / "open.obj")
    with pytest.raises(taut.errors.SceneError, match="8 edges belong to one face or to more"):
        scene.of_mesh(tmp_path / "open.obj", fill="auto")
    with pytest.raises(taut.errors.SceneError, match="fill must be auto or a length"):
        scene.of_mesh(tmp_path / "ball.obj", fill="fine")


def test_a_body_falls_on_the_ground_and_stays_on_it(tmp_path):
    taut.mesh.write(taut.mesh.block(2, 2, 2, size=0.1), tmp_path / "cube.vtu")
    made = scene.of_mesh(tmp_path / "cube.vtu", ground=True, young=1e5)
    height = made.file.contact.ground
    assert height == pytest.approx(-0.02 * 0.1 * np.sqrt(3))
    drop = fall(made, 0.5)
    bottom = taut.mesh.block(2, 2, 2).points[:, 1] == 0.0
    assert -height - 1e-3 < drop[bottom].min()  # it has fallen onto the ground, which is at y < 0
    assert drop[bottom].max() < -height  # and not through it


@pytest.mark.parametrize(
    ("scale", "hint"),
    [
        (1.0, None),
        (200.0, "centimetres, --scale 2 makes"),
        (2000.0, "millimetres, --scale 2 makes"),
    ],
)
def test_sizes_that_are_implausible_are_named(tmp_path, scale, hint):
    taut.mesh.write(taut.mesh.block(1, 1, 1), tmp_path / "m.vtu")
    hints = [n for n in scene.of_mesh(tmp_path / "m.vtu", scale=scale).notes if "unusual" in n]
    assert [hint in note for note in hints] == ([] if hint is None else [True])


def test_the_eyes_of_a_head_stay_in_it():
    """Within a second nothing moves by a tenth of the height; loose, they fall by 4.9 m."""
    made = scene.of_mesh(real("suzanne.obj"))
    moved = fall(made, 1.0)
    assert np.abs(moved).max() < 0.1 * 1.97


@pytest.mark.parametrize("name", ["spot.obj", "bunny.mesh"])
def test_public_mesh_files(name):
    path = real(name)
    made = scene.of_mesh(path)
    assert made.file.body[0].material.young > 0
    assert made.inputs()[f"inputs/{name}"] == path.read_bytes()


def test_errors_name_the_mesh_file_and_no_line(tmp_path):
    taut.mesh.write(taut.mesh.block(1, 1, 1), tmp_path / "m.vtu")
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.of_mesh(tmp_path / "m.vtu", fix="y > 7").build()
    assert caught.value.path == tmp_path / "m.vtu"
    assert caught.value.problems == (
        "body[0].hold[0]: selection 'y > 7' is empty (y ranges from 0 to 1)",
    )
    with pytest.raises(
        taut.errors.SceneError, match=r"body\[0\].material.young: must be a positive number"
    ):
        scene.load(tmp_path / "m.vtu", overrides=[("body.body.material.young", -1.0)])
