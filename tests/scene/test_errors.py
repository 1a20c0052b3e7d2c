"""Errors of a scene arrive together, each with its path, line and a hint; nothing is repaired."""

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


def errors_of(text, **options):
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(text, **options).build()
    return caught.value.problems


def test_the_scene_is_valid_before_it_is_changed():
    built = scene.read_text(GOOD).build()
    assert built.system.n == 9
    assert built.system.fixed.size + len(built.system.constraints) == 1


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "duration",
            "duraton",
            ["time.duraton, line 6: unknown key; did you mean 'duration'?"],
        ),
        ("h = 0.01", "h = -1", ["time.h, line 5: must be greater than 0, got -1"]),
        ("h = 0.01", "h = nan", ["time.h, line 5: must be finite, got nan"]),
        ("h = 0.01", "h = inf", ["time.h, line 5: must be finite, got inf"]),
        ("h = 0.01", "h = '0.01'", ["time.h, line 5: must be a number, got '0.01'"]),
        ("h = 0.01", "h = true", ["time.h, line 5: must be a number, got true"]),
        (
            "h = 0.01",
            "h = 1e-12",
            ["time, line 4: duration / h must be at most 100,000,000 steps, got 1e+12"],
        ),
        ("nx = 2", "nx = 2.5", ["body[0].mesh.nx, line 10: must be an integer, got 2.5"]),
        (
            "nx = 2",
            "nx = 0",
            ["body[0].mesh.nx, line 10: must be greater than or equal to 1, got 0"],
        ),
        (
            "nx = 2",
            "nz = 2",
            [
                "body[0].mesh.nx, line 10: required key is missing",
                "body[0].mesh.nz, line 10: unknown key; did you mean 'ny'?",
            ],
        ),
        (
            '"sheet"',
            '"sheat"',
            ["body[0].mesh.shape, line 10: unknown generator 'sheat'; did you mean 'sheet'?"],
        ),
        (
            'shape = "sheet", ',
            "",
            ["body[0].mesh, line 10: one of shape, file, points is required"],
        ),
        (
            'mesh = { shape = "sheet", nx = 2, ny = 2 }',
            "mesh = 3",
            ["body[0].mesh, line 10: must be a table, got 3"],
        ),
        (
            'law = "spring"',
            'law = "sprng"',
            ["body[0].law[0].law, line 14: unknown law 'sprng'; did you mean 'spring'?"],
        ),
        (
            'law = "spring"\n',
            "",
            ["body[0].law[0], line 13: the name of the law is required: law = …"],
        ),
        (
            "k = 100.0",
            "c = 1.0",
            [
                "body[0].law[0].k, line 13: required key is missing",
                "body[0].law[0].c, line 16: unknown key",
            ],
        ),
        (
            "k = 100.0",
            "k = 1e30",
            ["body[0].law[0].k, line 16: must be finite and at most 1e+20 in magnitude, got 1e+30"],
        ),
        (
            "k = 100.0",
            "k = -1.0",
            ["body[0].law[0], line 13: law 'spring': parameter 'k' must be at least 0, got -1"],
        ),
        (
            "k = 100.0",
            'k = "2*"',
            [
                "body[0].law[0].k, line 16: selection '2*': at column 3: expected a name or a "
                "number, got the end"
            ],
        ),
        (
            "k = 100.0",
            'k = "2*w"',
            [
                "body[0].law[0], line 13: k: selection '2*w': at column 3: "
                "unknown per-vertex map 'w'"
            ],
        ),
        (
            "k = 100.0",
            'k = "1/(x - x)"',
            [
                "body[0].law[0], line 13: k: expression '1/(x - x)': the value is not "
                "finite at point 0"
            ],
        ),
        (
            "k = 100.0",
            "k = [1.0, 2.0]",
            [
                "body[0].law[0], line 13: law 'spring': parameter 'k' must have the shape "
                "(), (12,) or (12, components) for 12 elements, got (2,)"
            ],
        ),
        (
            "k = 100.0",
            "k = { times = [1, 0], values = [1, 2] }",
            ["body[0].law[0].k, line 16: times must increase"],
        ),
        (
            'on = "edges"',
            'on = "edge"',
            [
                "body[0].law[0], line 13: unknown elements 'edge'; did you mean 'edges'?; "
                "known are points, edges, "
            ],
        ),
        (
            'on = "edges"',
            "on = [[0, 99]]",
            ["body[0].law[0], line 13: point indices must be from 0 to 8, got 99 in an element"],
        ),
        ('on = "edges"\n', "", ["body[0].law[0], line 13: the formula of 'spring', 'l0 at rest'"]),
        (
            'on = "edges"',
            'on = "tet"',
            ["body[0].law[0], line 13: the mesh has no cells of the kind 'tet'"],
        ),
        (
            "density = 0.2",
            "",
            ["body[0], line 8: exactly one of density, mass, material.density, fabric is required"],
        ),
        (
            "density = 0.2",
            "density = -1",
            ["body[0].density, line 11: a density is negative or not finite"],
        ),
        (
            "density = 0.2",
            "density = 0",
            ["body[0].density, line 11: masses must be positive, got 0 kg at point 0"],
        ),
        (
            '"corners(top)"',
            '"corners(tip)"',
            ["body[0].hold[0], line 18: selection 'corners(tip)'"],
        ),
        (
            '"corners(top)"',
            '"x > 5"',
            ["body[0].hold[0], line 18: selection 'x > 5' is empty (x ranges from 0 to 1)"],
        ),
        (
            '"corners(top)"',
            "[9]",
            ["body[0].hold[0], line 18: point index must be from 0 to 8, got 9"],
        ),
        (
            '"corners(top)"',
            '"corners(top)"\nmove = [[0, 0, 0, 0]]\non_line = [1, 0, 0]',
            [
                "body[0].hold[0], line 18: only one of follow, on_line, on_plane, or move "
                "and rotate is allowed"
            ],
        ),
        (
            '"corners(top)"',
            '"corners(top)"\nmove = [[0, 1, 0, 0]]',
            [
                "body[0].hold[0], line 18: handle: displacement and rotation must be zero "
                "at t = 0 s, but particle 6 jumps by 1 m"
            ],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nmethod = "ImplicitEular"',
            [
                "integrator.method, line 24: unknown integrator 'ImplicitEular'; did you "
                "mean 'ImplicitEuler'?"
            ],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nmethod = "RK4"\nsolver = "cg"',
            ["integrator, line 23: RK4 has no solver"],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n[integrator]\nsolver = "gc"',
            ["integrator.solver, line 24: must be 'auto', 'direct' or 'cg', got 'gc'"],
        ),
        (
            'law = "gravity"',
            'law = "rayleigh"\non = "edges"',
            [
                "law[0], line 21: rayleigh damps the whole system: on, where and "
                "breaking_strain are not allowed"
            ],
        ),
        (
            'law = "gravity"',
            'law = "my.py:my_law"',
            [
                "law[0], line 21: 'my.py:my_law' would run the code of my.py; a scene may "
                "do that only with allow_code=True"
            ],
        ),
        (
            'law = "gravity"',
            'law = "gravity"\n'
            '[[stitch]]\nbodies = ["cloth", "cloht"]\nwhere = ["all", "all"]\nk = 1.0',
            ["stitch[0].bodies, line 24: unknown body 'cloht'; did you mean 'cloth'?"],
        ),
        ('title = "Good"', "title = ", ["line 2: Invalid value (column 9)"]),
    ],
)
def test_each_error_has_a_path_a_line_and_a_hint(old, new, expected):
    assert old in GOOD
    found = errors_of(GOOD.replace(old, new, 1))
    assert len(found) == len(expected)
    for message, start in zip(found, expected, strict=True):
        assert message.startswith(start)


def test_errors_are_raised_together():
    text = (
        GOOD.replace("h = 0.01", "h = 0")
        .replace("nx = 2", "nx = 0")
        .replace('law = "gravity"', 'law = "gravty"')
    )
    assert [p.partition(":")[0] for p in errors_of(text)] == [
        "time.h, line 5",
        "body[0].mesh.nx, line 10",
        "law[0].law, line 22",
    ]
    text = GOOD.replace("k = 100.0", "k = -1.0").replace(
        'law = "gravity"', 'law = "drag"\nalpha = -1'
    )
    assert [p.partition(":")[0] for p in errors_of(text)] == [
        "body[0].law[0], line 13",
        "law[0], line 21",
    ]
    text = (
        GOOD.replace("density = 0.2", "density = -1")
        .replace('"corners(top)"', '"x > 5"')
        .replace('on = "edges"', 'on = "edge"')
    )
    assert len(errors_of(text)) == 3


def test_errors_of_checking_and_of_building_are_raised_together(tmp_path):
    """An unknown law, an empty selection, a missing mesh file, joints of unknown bodies."""
    second = '[[body]]\nname = "b"\nmesh = { file = "no.obj" }\nmass = 1.0\n'
    second += '[[body.hold]]\nwhere = "y >> 1"\n'
    third = '[[body]]\nname = "c"\nmesh = { shape = "rope", n = -3 }\nmass = 1.0\n'
    stitch = '[[stitch]]\nbodies = ["cloth", "{}"]\nwhere = ["all", "all"]\nk = 1.0\n'
    first = GOOD.replace(
        "k = 100.0",
        'k = 100.0\n[[body.law]]\nlaw = "sprng"\n'
        '[[body.law]]\nlaw = "spring"\non = "edges"\nk = -1',
    )
    text = (
        first.replace('"corners(top)"', '"x > 5"')
        + second
        + third
        + "".join(map(stitch.format, "bdef"))
    )
    found = errors_of(text, folder=tmp_path)
    assert [p.partition(":")[0] for p in found] == [
        "body[0].law[1].law, line 18",
        "body[0].law[2], line 19",
        "body[0].hold[0], line 24",
        "body[1].mesh, line 31",
        "body[1].hold[0].where, line 34",
        "body[2].mesh.n, line 37",
        "stitch[1].bodies, line 44",
        "stitch[2].bodies, line 48",
        "stitch[3].bodies, line 52",
    ]


def test_a_law_on_parts_of_some_bodies_leaves_the_others_alone():
    mesh = '{ shape = "rope", n = 3, start = [9, 0, 0], end = [10, 0, 0] }'
    far = f'[[body]]\nname = "far"\nmesh = {mesh}\nmass = 1.0\n'
    law = '[[law]]\nlaw = "drag"\nalpha = 1.0\nwhere = "x > 8"\n'
    built = scene.read_text(GOOD + far + law).build()
    assert built.system._placed_damping["drag"].elements.min() == 9
    assert errors_of(GOOD + far + law.replace("8", "88"))[0].startswith(
        "law[1], line 27: selection 'x > 88' is empty"
    )


def test_parameters_over_time_are_checked_before_the_first_step():
    found = errors_of(GOOD.replace("k = 100.0", 'k = "10 - 20*t"'))
    assert found == (
        "body[0].law[0], line 13: law 'spring': parameter 'k' at t = 0.53125 s must be at "
        "least 0, got -0.625",
    )


def test_overridden_values_have_no_line():
    found = errors_of(GOOD, overrides=[("body.cloth.mesh.nx", 0), ("time.h", -1)])
    assert [p.partition(":")[0] for p in found] == [
        "time.h, overridden",
        "body[0].mesh.nx, overridden",
    ]


def test_a_name_with_a_dot_is_quoted():
    made = scene.read_text(
        GOOD.replace('name = "cloth"', 'name = "a.b"'), overrides=[('body."a.b".mesh.nx', 5)]
    )
    assert made.file.body[0].mesh.nx == 5


def test_the_message_shows_fifty_errors_and_counts_the_rest():
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(GOOD + "".join(f"[[law]]\nlaw = 'l{i}'\n" for i in range(100)))
    assert len(caught.value.problems) == 100
    assert str(caught.value).startswith("100 errors:\n")
    assert str(caught.value).endswith("\n  and 50 more")


def test_lines_of_values_in_lists_and_after_multi_line_strings():
    text = GOOD.replace('title = "Good"', 'title = """Go[od\n{ x = 3\n"""').replace(
        "k = 100.0", "k = [\n  1.0,  # one\n  true,\n]"
    )
    assert errors_of(text)[0].startswith("body[0].law[0].k, line 18")


def test_names_in_messages_have_no_control_characters():
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.read_text(GOOD.replace('law = "gravity"', 'law = "\\u001b[2J"'))
    assert "\x1b" not in str(caught.value)


def test_the_file_is_named(tmp_path):
    path = tmp_path / "my.toml"
    path.write_text(GOOD.replace("k = 100.0", "k = -1.0"))
    with pytest.raises(
        taut.errors.SceneError, match=r"my\.toml: 1 error:\n  body\[0\]\.law\[0\], line 13"
    ) as caught:
        scene.load(path).build()
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("nothing.toml", None, "no such file"),
        ("empty.toml", b"", "the file is empty"),
        ("bytes.toml", b"\xff\xfe\x00", "byte 0: the file is not UTF-8 text"),
        ("long.toml", b"a" * 500_001, "the file has 500,001 bytes; the limit is 500,000"),
        ("nothing", None, "there is no built-in scene and no file with this name"),
        ("nul\0.toml", None, "there is no built-in scene and no file with this name"),
    ],
)
def test_files_that_are_not_scenes(tmp_path, name, content, expected):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.load(tmp_path / name)
    assert caught.value.problems[0].startswith(expected)


def test_a_folder_is_not_a_scene(tmp_path):
    with pytest.raises(taut.errors.SceneError, match="a directory"):
        scene.load(tmp_path)


def test_overrides_change_values_by_path_and_by_name():
    made = scene.read_text(
        GOOD,
        overrides=[scene.override("body.cloth.mesh.nx=5"), scene.override("body.0.law.spring.k=7")],
    )
    assert made.file.body[0].mesh.nx == 5
    assert made.file.body[0].law[0].k == 7
    with pytest.raises(
        taut.errors.SceneError, match="there is no entry 'cloht'; did you mean 'cloth'"
    ):
        scene.read_text(GOOD, overrides=[("body.cloht.density", 1.0)])
    with pytest.raises(taut.errors.SceneError, match=r"time\.hh, overridden: unknown key"):
        scene.read_text(GOOD, overrides=[("time.hh", 1.0)])
    with pytest.raises(taut.errors.SceneError, match="'title' is not a table or list"):
        scene.read_text(GOOD, overrides=[("title.a.b", 1.0)])
    with pytest.raises(taut.errors.SceneError, match=r"must have the form a\.b=value"):
        scene.override("time.h")
