"""What is wrong with a scene is said all at once, each with its place, its line and a hint; nothing is repaired in silence."""

import pytest

import taut
from taut import scene

GOOD = """
title = "Good"

[time]
h = 0.01
duration = 1.0

[[body]]
name = "cloth"
mesh = { shape = "sheet", nx = 2, ny = 2 }
density = 0.2

[[body.law]]
law = "spring"
on = "edges"
k = 100.0

[[body.hold]]
where = "corners(top)"

[[law]]
law = "gravity"
"""


def problems(text, **options):
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(text, **options).build()
    return caught.value.problems


def test_the_scene_that_is_spoilt_below_is_good():
    built = scene.read_text(GOOD).build()
    assert built.system.n == 9
    assert built.system.fixed.size + len(built.system.constraints) == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "duration",
            "duraton",
            ["time.duration, line 4: it is missing", "time.duraton, line 6: there is no such key here; did you mean 'duration'?"],
        ),
        ("h = 0.01", "h = -1", ["time.h, line 5: it should be greater than 0"]),
        ("h = 0.01", "h = nan", ["time.h, line 5: it must be a finite number"]),
        ("h = 0.01", "h = inf", ["time.h, line 5: it must be a finite number"]),
        ("h = 0.01", "h = '0.01'", ["time.h, line 5: it must be a number"]),
        ("h = 0.01", "h = true", ["time.h, line 5: it must be a number"]),
        ("h = 0.01", "h = 1e-12", ["time, line 4: it takes 1e+12 steps; the most are 100,000,000"]),
        ("nx = 2", "nx = 2.5", ["body[0].mesh.nx, line 10: it must be a whole number"]),
        ("nx = 2", "nx = 0", ["body[0].mesh.nx, line 10: it should be greater than or equal to 1"]),
        (
            "nx = 2",
            "nz = 2",
            ["body[0].mesh.nx, line 10: it is missing", "body[0].mesh.nz, line 10: there is no such key here; did you mean 'ny'?"],
        ),
        ('"sheet"', '"sheat"', ["body[0].mesh.shape, line 10: there is no generator 'sheat'; did you mean 'sheet'?"]),
        ('shape = "sheet", ', "", ["body[0].mesh, line 10: it has none of shape, file and points"]),
        ('mesh = { shape = "sheet", nx = 2, ny = 2 }', "mesh = 3", ["body[0].mesh, line 10: it must be a table"]),
        ('law = "spring"', 'law = "sprng"', ["body[0].law[0].law, line 14: there is no law 'sprng'; did you mean 'spring'?"]),
        ('law = "spring"\n', "", ["body[0].law[0], line 13: the name of the law is missing"]),
        (
            "k = 100.0",
            "c = 1.0",
            ["body[0].law[0].k, line 13: it is missing", "body[0].law[0].c, line 16: there is no such key here"],
        ),
        ("k = 100.0", "k = 1e30", ["body[0].law[0].k, line 16: it must be a finite number, in magnitude at most 1e+20"]),
        ("k = 100.0", "k = -1.0", ["body[0].law[0], line 13: law 'spring': parameter 'k' is -1; it must be at least 0"]),
        (
            "k = 100.0",
            'k = "2*"',
            ["body[0].law[0].k, line 16: selection '2*': at column 3: the selection ends where a name or a number should stand"],
        ),
        ("k = 100.0", 'k = "2*w"', ["body[0].law[0], line 13: k: selection '2*w': at column 3: there is no per-vertex map 'w'"]),
        (
            "k = 100.0",
            'k = "1/(x - x)"',
            ["body[0].law[0], line 13: k: expression '1/(x - x)': it is not a finite number at point 0"],
        ),
        (
            "k = 100.0",
            "k = [1.0, 2.0]",
            ["body[0].law[0], line 13: law 'spring': parameter 'k' has shape (2,) for 12 elements"],
        ),
        ("k = 100.0", "k = { times = [1, 0], values = [1, 2] }", ["body[0].law[0].k, line 16: times must increase"]),
        (
            'on = "edges"',
            'on = "edge"',
            ["body[0].law[0], line 13: there are no elements 'edge'; did you mean 'edges'?; there are points, edges, "],
        ),
        ('on = "edges"', "on = [[0, 99]]", ["body[0].law[0], line 13: an element names point 99; the body has 9 (0 to 8)"]),
        ('on = "edges"\n', "", ["body[0].law[0], line 13: the formula of 'spring' at rest"]),
        ('on = "edges"', 'on = "tet"', ["body[0].law[0], line 13: the mesh has no cells of the kind 'tet'"]),
        ("density = 0.2", "", ["body[0], line 8: how heavy is it? give one of density, mass, or a density in material"]),
        ("density = 0.2", "density = -1", ["body[0].density, line 11: a density is negative or not finite"]),
        ("density = 0.2", "density = 0", ["body[0].density, line 11: point 0 has the mass 0 kg; it must be positive"]),
        ('"corners(top)"', '"corners(tip)"', ["body[0].hold[0], line 18: selection 'corners(tip)'"]),
        ('"corners(top)"', '"x > 5"', ["body[0].hold[0], line 18: selection 'x > 5': it selects no point (x ranges from 0 to 1)"]),
        ('"corners(top)"', "[9]", ["body[0].hold[0], line 18: the selection names point 9; there are 9 (0 to 8)"]),
        (
            '"corners(top)"',
            '"corners(top)"\nmove = [[0, 0, 0, 0]]\non_line = [1, 0, 0]',
            ["body[0].hold[0], line 18: it has one of follow, on_line, on_plane, or move and rotate"],
        ),
        (
            '"corners(top)"',
            '"corners(top)"\nmove = [[0, 1, 0, 0]]',
            ["body[0].hold[0], line 18: handle: particle 6 jumps by 1 m at t = 0 s; displacement and rotation begin with zero"],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nmethod = "ImplicitEular"',
            ["integrator.method, line 24: there is no integrator 'ImplicitEular'; did you mean 'ImplicitEuler'?"],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nmethod = "RK4"\nsolver = "cg"',
            ["integrator, line 23: RK4 has no solver"],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nsolver = "gc"',
            ["integrator.solver, line 24: it is one of 'auto', 'direct' or 'cg'"],
        ),
        (
            'law = "gravity"',
            'law = "rayleigh"\non = "edges"',
            ["law[0], line 21: rayleigh damps the whole system, without on, where and breaking_strain"],
        ),
        (
            'law = "gravity"',
            'law = "my.py:my_law"',
            ["law[0], line 21: 'my.py:my_law' would run the code of my.py; a scene does that only with allow_code=True"],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[[stitch]]\nbodies = ["cloth", "cloht"]\nwhere = ["all", "all"]\nk = 1.0',
            ["stitch[0].bodies, line 24: there is no body 'cloht'; did you mean 'cloth'?"],
        ),
        ('title = "Good"', "title = ", ["line 2: Invalid value (column 9)"]),
    ],
)
def test_each_problem_has_its_place_its_line_and_a_hint(old, new, told):
    assert old in GOOD
    found = problems(GOOD.replace(old, new, 1))
    assert len(found) == len(told)
    for text, wanted in zip(found, told, strict=True):
        assert text.startswith(wanted)


def test_all_problems_are_told_at_once():
    text = GOOD.replace("h = 0.01", "h = 0").replace("nx = 2", "nx = 0").replace('law = "gravity"', 'law = "gravty"')
    assert [p.partition(":")[0] for p in problems(text)] == ["time.h, line 5", "body[0].mesh.nx, line 10", "law[0].law, line 22"]
    text = GOOD.replace("k = 100.0", "k = -1.0").replace('law = "gravity"', 'law = "drag"\nalpha = -1')
    assert [p.partition(":")[0] for p in problems(text)] == ["body[0].law[0], line 13", "law[0], line 21"]
    text = GOOD.replace("density = 0.2", "density = -1").replace('"corners(top)"', '"x > 5"').replace('on = "edges"', 'on = "edge"')
    assert len(problems(text)) == 3


def test_what_the_tables_show_and_what_building_finds_come_together(tmp_path):
    """A law that does not exist, a selection without points, a mesh that is not there, joints of unknown bodies: one message."""
    second = '[[body]]\nname = "b"\nmesh = { file = "no.obj" }\nmass = 1.0\n[[body.hold]]\nwhere = "y >> 1"\n'
    third = '[[body]]\nname = "c"\nmesh = { shape = "rope", n = -3 }\nmass = 1.0\n'
    stitch = '[[stitch]]\nbodies = ["cloth", "{}"]\nwhere = ["all", "all"]\nk = 1.0\n'
    first = GOOD.replace("k = 100.0", 'k = 100.0\n[[body.law]]\nlaw = "sprng"\n[[body.law]]\nlaw = "spring"\non = "edges"\nk = -1')
    text = first.replace('"corners(top)"', '"x > 5"') + second + third + "".join(map(stitch.format, "bdef"))
    found = problems(text, folder=tmp_path)
    assert [p.partition(":")[0] for p in found] == [
        "body[0].law[1].law, line 18", "body[0].law[2], line 19", "body[0].hold[0], line 24", "body[1].mesh, line 31",
        "body[1].hold[0].where, line 34", "body[2].mesh.n, line 37",
        "stitch[1].bodies, line 44", "stitch[2].bodies, line 48", "stitch[3].bodies, line 52",
    ]  # fmt: skip


def test_a_law_on_parts_of_some_bodies_leaves_the_others_alone():
    far = '[[body]]\nname = "far"\nmesh = { shape = "rope", n = 3, start = [9, 0, 0], end = [10, 0, 0] }\nmass = 1.0\n'
    law = '[[law]]\nlaw = "drag"\nalpha = 1.0\nwhere = "x > 8"\n'
    built = scene.read_text(GOOD + far + law).build()
    assert built.system.placed_damping["drag"].elements.min() == 9
    assert problems(GOOD + far + law.replace("8", "88"))[0].startswith("law[1], line 27: selection 'x > 88': it selects no point")


def test_what_depends_on_time_is_looked_at_before_the_first_step():
    found = problems(GOOD.replace("k = 100.0", 'k = "10 - 20*t"'))
    assert found == ("body[0].law[0], line 13: law 'spring': parameter 'k' at t = 0.53125 s is -0.625; it must be at least 0",)


def test_changes_from_outside_are_not_blamed_on_a_line():
    found = problems(GOOD, overrides=[("body.cloth.mesh.nx", 0), ("time.h", -1)])
    assert [p.partition(":")[0] for p in found] == ["time.h, as changed", "body[0].mesh.nx, as changed"]


def test_a_name_with_a_dot_stands_in_quotes():
    made = scene.read_text(GOOD.replace('name = "cloth"', 'name = "a.b"'), overrides=[('body."a.b".mesh.nx', 5)])
    assert made.file.body[0].mesh.nx == 5


def test_many_problems_are_counted():
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(GOOD + "".join(f"[[law]]\nlaw = 'l{i}'\n" for i in range(100)))
    assert len(caught.value.problems) == 100
    assert str(caught.value).startswith("100 problems:\n")
    assert str(caught.value).endswith("\n  and 50 more")


def test_lines_are_found_in_inline_tables_that_span_lines_and_after_texts_with_signs():
    text = GOOD.replace('title = "Good"', 'title = """Go[od\n{ x = 3\n"""').replace("k = 100.0", "k = [\n  1.0,  # one\n  true,\n]")
    assert problems(text)[0].startswith("body[0].law[0].k, line 18")


def test_names_in_messages_cannot_steer_a_terminal():
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(GOOD.replace('law = "gravity"', 'law = "\\u001b[2J"'))
    assert "\x1b" not in str(caught.value)


def test_the_file_is_named(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(GOOD.replace("k = 100.0", "k = -1.0"))
    with pytest.raises(taut.errors.SceneError, match=r"my\.toml: a problem:\n  body\[0\]\.law\[0\], line 13") as caught:
        scene.load(path).build()
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("nothing.toml", None, "there is no such file"),
        ("empty.toml", b"", "the file is empty"),
        ("bytes.toml", b"\xff\xfe\x00", "byte 0: it is no text in UTF-8"),
        ("long.toml", b"a" * 500_001, "the file has 500,001 bytes; the most are 500,000"),
        ("nothing", None, "there is no built-in scene of this name, nor such a file"),
        ("nul\0.toml", None, "there is no built-in scene of this name, nor such a file"),
    ],
)
def test_what_is_no_scene_file_says_so(tmp_path, name, content, told):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.load(tmp_path / name)
    assert caught.value.problems[0].startswith(told)


def test_a_folder_is_no_scene(tmp_path):
    with pytest.raises(taut.errors.SceneError, match="a directory"):
        scene.load(tmp_path)


def test_overrides_change_values_by_path_and_by_name():
    made = scene.read_text(GOOD, overrides=[scene.override("body.cloth.mesh.nx=5"), scene.override("body.0.law.spring.k=7")])
    assert made.file.body[0].mesh.nx == 5
    assert made.file.body[0].law[0].k == 7
    with pytest.raises(taut.errors.SceneError, match="there is no entry 'cloht'; did you mean 'cloth'"):
        scene.read_text(GOOD, overrides=[("body.cloht.density", 1.0)])
    with pytest.raises(taut.errors.SceneError, match=r"time\.hh, as changed: there is no such key here"):
        scene.read_text(GOOD, overrides=[("time.hh", 1.0)])
    with pytest.raises(taut.errors.SceneError, match="nothing below 'title'"):
        scene.read_text(GOOD, overrides=[("title.a.b", 1.0)])
    with pytest.raises(taut.errors.SceneError, match=r"a change reads a\.b=value"):
        scene.override("time.h")
