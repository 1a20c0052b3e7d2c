"""Objects are drawn where the camera sees them."""

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.mesh.mesh import Mesh
from taut.show.colours import BACKS, BODIES, parse_colour
from taut.show.render._cameras import Camera, frame_points
from taut.show.render._canvas import BACKGROUND, Canvas
from taut.show.render._floor import LIGHT
from taut.show.render._shapes import Surface
from taut.show.visual_model import VisualBody, VisualModel, model_from_scene, model_from_system
from taut.system.contact import Plane

SIZE = (240, 180)
NOTHING = np.empty((0, 2), np.int64)


def model_of(*meshes, held=()):
    pieces, start = [], 0
    for k, mesh in enumerate(meshes):
        pieces.append(VisualBody(f"body {k}", mesh, start, start + mesh.n))
        start += mesh.n
    return VisualModel("test", tuple(pieces), start, np.array(held, dtype=np.int64))


def picture(model, q, camera, points=None, torn=NOTHING):
    canvas = Canvas(model, SIZE, q if points is None else points, has_held_marks=True)
    try:
        canvas.show(q, torn=torn)
        return canvas.draw(camera).astype(int), canvas.floor.height
    finally:
        canvas.close()


def pixel(points, camera):
    """Project points with the standard view, perspective and viewport matrices."""
    back = camera.eye - camera.target
    back = back / np.linalg.norm(back)
    right = np.cross([0, 1, 0], back)
    right = right / np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = [right, np.cross(back, right), back]
    view[:3, 3] = -view[:3, :3] @ camera.eye
    f = 1 / np.tan(np.radians(camera.angle / 2))
    clip = np.diag([f * SIZE[1] / SIZE[0], f, 1.0, 0.0])
    clip[3, 2] = -1.0
    x = np.column_stack([points, np.ones(len(points))]) @ (clip @ view).T
    ndc = x[:, :2] / x[:, 3:]
    return np.column_stack([(ndc[:, 0] + 1) / 2 * SIZE[0], (1 - ndc[:, 1]) / 2 * SIZE[1]])


def at(image, places):
    """Colours at places [pixels], (n, 2)."""
    column, row = np.floor(places).astype(int).T
    return image[row, column]


def contrast(colours, background=BACKGROUND):
    """Difference of colours from the background."""
    return np.abs(colours - parse_colour(background).astype(int)).max(axis=-1)


def test_faces_match_the_projection():
    sheet = taut.mesh.sheet(6, 6)
    q = sheet.points + np.array([0.0, 0.0, 0.2]) * np.sin(3 * sheet.points[:, :1])
    camera = Camera(np.array([2.5, 1.5, 3.0]), np.array([0.5, 0.4, 0.0]))
    image, _ = picture(model_of(sheet), q, camera)
    inside = q[sheet.triangles].mean(axis=1)
    np.testing.assert_allclose(camera.project(inside, SIZE), pixel(inside, camera), atol=1e-9)
    assert (contrast(at(image, pixel(inside, camera))) > 40).all()
    edge = np.array([[0.0, y, 0.0] for y in np.linspace(0, 1, 9)]) + q[0] * [0, 0, 1]
    outside = pixel(edge - [0.04, 0, 0], camera)  # 4 cm beside the edge x = 0: some 4 pixels
    assert (contrast(at(image, outside)) < 40).all()
    assert (contrast(image[[0, 0, -1, -1], [0, -1, 0, -1]]) == 0).all()


def test_a_body_in_front_hides_the_one_behind():
    near = taut.mesh.sheet(2, 2)
    far = near.with_(points=near.points + np.array([0.3, 0.0, -1.0]))
    camera = Camera(np.array([0.6, 0.5, 5.0]), np.array([0.6, 0.5, 0.0]))
    for bodies in ((near, far), (far, near)):
        image, _ = picture(
            model_of(*bodies), np.concatenate([mesh.points for mesh in bodies]), camera
        )
        place = pixel(np.array([[0.8, 0.5, 0.0]]), camera)
        seen = at(image, place)[0]
        front = parse_colour(BODIES[bodies.index(near)]).astype(int)
        behind = parse_colour(BODIES[bodies.index(far)]).astype(int)
        assert seen @ front / np.linalg.norm(seen) / np.linalg.norm(
            front
        ) > seen @ behind / np.linalg.norm(seen) / np.linalg.norm(behind)


def test_both_sides_are_lit_in_different_colours():
    sheet = taut.mesh.sheet(2, 2)
    for z, colour in ((3.0, BODIES[0]), (-3.0, BACKS[0])):
        camera = Camera(np.array([0.5, 0.5, z]), np.array([0.5, 0.5, 0.0]))
        image, _ = picture(model_of(sheet), sheet.points, camera)
        seen = at(image, pixel(np.array([[0.45, 0.55, 0.0]]), camera))[0]
        assert seen.max() > 100
        hue = parse_colour(colour).astype(float)
        assert seen @ hue / np.linalg.norm(seen) / np.linalg.norm(hue) > 0.99


def test_lines_particles_and_marks_are_drawn():
    rope = taut.mesh.rope(8, end=(1, 0, 0))
    camera = Camera(np.array([0.5, 0.2, 3.0]), np.array([0.5, 0.0, 0.0]))
    q = rope.points + np.array([0.0, 0.1, 0.0]) * np.sin(6 * rope.points[:, :1])
    image, _ = picture(model_of(rope, held=[0]), q, camera)
    middles = q[rope.cells["line"]].mean(axis=1)
    assert (contrast(at(image, pixel(middles, camera))) > 40).all()
    mark = at(image, pixel(q[:1], camera))[0]
    assert mark[0] > 2 * mark[1]
    assert mark[0] > 2 * mark[2]
    dots = model_of(Mesh(np.array([[0.0, 0, 0], [1, 0.3, 0], [0.4, -0.3, 0.2]]), {}))
    image, _ = picture(dots, dots.pieces[0].mesh.points, camera)
    assert (contrast(at(image, pixel(dots.pieces[0].mesh.points, camera))) > 40).all()


def test_lines_have_their_own_colours():
    rope = taut.mesh.rope(2, end=(1, 0, 0))
    canvas = Canvas(model_of(rope), SIZE, rope.points)
    camera = Camera(np.array([0.5, 0.0, 3.0]), np.array([0.5, 0.0, 0.0]))
    try:
        canvas.show(
            rope.points,
            colours=[np.zeros((3, 3), np.uint8)],
            lines=[np.array([[200, 0, 0], [0, 0, 200]], np.uint8)],
        )
        image = canvas.draw(camera).astype(int)
    finally:
        canvas.close()
    red, blue = at(image, pixel(np.array([[0.25, 0, 0], [0.75, 0, 0]]), camera))
    assert red[0] > 2 * red[2]
    assert blue[2] > 2 * blue[0]


def test_a_system_shows_its_springs():
    pair = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)], fixed=[0]
    )
    camera = Camera(np.array([0.5, 0.0, 3.0]), np.array([0.5, 0.0, 0.0]))
    image, _ = picture(model_from_system(pair), pair.rest, camera)
    assert (
        contrast(at(image, pixel(np.array([[x, 0.0, 0.0] for x in (0.2, 0.5, 0.8)]), camera))) > 40
    ).all()


def test_shadow_position():
    sheet = taut.mesh.sheet(4, 4, plane="xz")
    q = sheet.points + np.array([0.0, 1.0, 0.0])
    low = np.array([[0.5, 0.0, -0.5]])  # something else reaches down to the ground
    camera = Camera(np.array([0.5, 2.5, 5.0]), np.array([0.5, 0.3, -0.5]))
    image, ground = picture(model_of(sheet), q, camera, points=np.concatenate([q, low]))
    assert ground < 0
    middle = q.mean(axis=0)
    corner = q[np.argmax(q @ LIGHT)]  # the light moves its shadow farthest from the sheet
    hits = [
        x + LIGHT * (ground - x[1]) / LIGHT[1] for x in (middle, corner + 0.1 * (middle - corner))
    ]
    places = pixel(np.array([*hits, [0.5, ground, 1.2]]), camera)
    dark, edge, plain = at(image, places)
    assert (parse_colour(BACKGROUND) - edge >= 15).all()
    assert (contrast(plain) == 0).all()
    assert (parse_colour(BACKGROUND) - dark >= 40).all()  # a soft shadow is darkest in its middle
    assert np.ptp(parse_colour(BACKGROUND) - dark) <= 4  # and grey


def test_torn_faces_and_lines_are_not_drawn():
    sheet = taut.mesh.sheet(4, 4)
    camera = Camera(np.array([0.5, 0.5, 3.0]), np.array([0.5, 0.5, 0.0]))
    edge = sheet.edges[
        np.argmin(np.abs(sheet.points[sheet.edges].mean(axis=1) - [0.625, 0.5, 0]).sum(axis=1))
    ]
    whole, _ = picture(model_of(sheet), sheet.points, camera)
    torn, _ = picture(model_of(sheet), sheet.points, camera, torn=edge[None])
    gone = [t for t in sheet.triangles.tolist() if set(edge) <= set(t)]
    assert len(gone) == 2
    places = pixel(sheet.points[gone].mean(axis=1), camera)
    assert (contrast(at(whole, places)) > 40).all()
    assert (
        contrast(at(torn, places)) < 60
    ).all()  # the shadow of the remainder may be visible through the hole
    rest = pixel(
        sheet.points[[t for t in sheet.triangles.tolist() if t not in gone]].mean(axis=1), camera
    )
    assert (contrast(at(torn, rest)) > 40).all()
    rope = taut.mesh.rope(2, end=(1, 0, 0))
    camera = Camera(np.array([0.5, 0.0, 3.0]), np.array([0.5, 0.0, 0.0]))
    image, _ = picture(model_of(rope), rope.points, camera, torn=np.array([[1, 2]]))
    left, right = contrast(at(image, pixel(np.array([[0.25, 0, 0], [0.75, 0, 0]]), camera)))
    assert left > 40 > right


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("angles", [(0.0, 0.0), (35.0, 22.0), (90.0, 0.0), (200.0, 89.9)])
def test_framing_contains_all_points_tightly(aspect, angles):
    points = np.random.default_rng(3).normal(size=(200, 3)) * [3.0, 1.0, 0.5] + [10.0, -4.0, 2.0]
    camera = frame_points(points, *angles, aspect=aspect, fill=0.9)
    seen = camera.project(points, (2, 2)) - 1.0
    seen[:, 0] /= aspect
    assert np.abs(seen).max() == pytest.approx(0.9, abs=1e-3)
    np.testing.assert_allclose(seen.min(axis=0), -seen.max(axis=0), atol=2e-3)
    aside = (
        frame_points(points, *angles, aspect=aspect, fill=0.9, right_margin=0.2).project(
            points, (2, 2)
        )
        - 1.0
    )
    assert (aside[:, 0] / aspect).max() <= 0.6 + 1e-9
    assert (aside[:, 0] / aspect).min() >= -1


def test_a_ground_is_drawn_where_it_is():
    sheet = taut.mesh.sheet(2, 2, size=0.4)
    q = sheet.points + np.array([0.0, 0.5, 0.0])
    camera = Camera(np.array([0.2, 1.5, 4.0]), np.array([0.2, 0.2, 0.0]))
    bare = model_of(sheet)
    floor = Plane("floor", np.array([7.0, 0.1, 0.0]), np.array([0.0, 1.0, 0.0]))
    wall = Plane("wall", np.array([0.0, 0.0, -0.5]), np.array([0.0, 0.0, 1.0]))
    without, height = picture(bare, q, camera)
    assert height < 0.5  # below all points, and only the shadow is visible
    for planes, ground in (((floor, wall), 0.1), ((wall,), None)):
        model = VisualModel("test", bare.pieces, bare.n, bare.held, planes=planes)
        assert model.ground == ground
        image, height = picture(model, q, camera)
        place = pixel(np.array([[0.1, 0.1, 0.4]]), camera)
        if ground is None:
            assert height < 0.5
        else:
            assert height == ground
            assert contrast(at(image, place))[0] > 5
            assert contrast(at(without, place))[0] < 5
        wall_place = pixel(np.array([[0.5, 0.5, -0.5]]), camera)
        assert contrast(at(image, wall_place))[0] > 5
        assert contrast(at(without, wall_place))[0] < 5


def test_bodies_are_drawn_as_thick_as_they_touch():
    t = 0.1
    rope, sheet = taut.mesh.rope(4, end=(1, 0, 0)), taut.mesh.sheet(2, 2, plane="xz")
    camera = Camera(np.array([0.5, 0.0, 4.0]), np.array([0.5, 0.0, 0.0]))
    for mesh in (rope, sheet):
        body = VisualBody("body", mesh, 0, mesh.n, thickness=t)
        model = VisualModel("test", (body,), mesh.n, np.empty(0, np.int64))
        image, _ = picture(model, mesh.points, camera)
        inside = pixel(np.array([[0.4, y, 0.0] for y in (-0.4 * t, 0.4 * t)]), camera)
        outside = pixel(np.array([[0.4, 0.7 * t, 0.0]]), camera)
        assert (contrast(at(image, inside)) > 40).all()
        assert contrast(at(image, outside))[0] < 10


def test_thick_surface_of_a_solid_is_closed_at_sharp_edges():
    block = taut.mesh.block(1, 1, 1)
    faces = VisualBody("block", block, 0, 8).triangles
    shape = Surface(block.points, faces, 0.2)
    vertices, _ = shape.place(block.points)
    front = vertices[: shape.back.start]
    for corner in range(8):
        own = front[shape.source[: shape.back.start] == corner]
        assert len(own) == 3  # one for each side, which would gape
        assert np.ptp(own, axis=0).max() < 1e-15
        assert np.linalg.norm(own[0] - block.points[corner]) == pytest.approx(0.1)


def test_a_scene_shows_its_obstacles_ground_and_thickness():
    bowl = model_from_scene(scene.load("bowl"))
    assert [piece.is_obstacle for piece in bowl.pieces] == [True, False, False, False, False]
    assert {piece.thickness for piece in bowl.pieces} == {0.004}
    assert bowl.ground == -0.01
    assert model_from_scene(scene.load("cloth")).ground is None
    net = model_from_system(scene.load("ropes").build().system)
    assert (net.ground, net.pieces[0].thickness) == (0.0, 0.02)
