"""Control characters in names from files are escaped on the terminal."""

from contextlib import suppress

import pytest

from taut.cli.main import main

HOSTILE = """
title = "\\u001b]0;owned\\u0007\\u001b[2J"
[time]
h = 0.1
duration = 0.2
[[body]]
name = "\\u001b[31mred"
mesh = { shape = "rope", n = 2, groups = { "\\u001b[5m" = "x == max" } }
mass = 1.0
[[body.law]]
law = "spring"
on = "edges"
k = 10.0
[[law]]
law = "gravity"
name = "\\u009b31m"
"""
CONTROLS = [chr(code) for code in (*range(10), *range(11, 32), 127, *range(128, 160))]


@pytest.mark.parametrize(
    "line", ["check", "run -o {}/run", "check --set time.h=-1", "check --set \x1b[2J=1"]
)
def test_nothing_in_a_scene_controls_the_terminal(line, tmp_path, monkeypatch, capsys):
    path = tmp_path / "\x1b[2J.toml"
    path.write_text(HOSTILE)
    command, *options = line.split()
    monkeypatch.setattr(
        "sys.argv", ["taut", command, str(path), *(option.format(tmp_path) for option in options)]
    )
    with suppress(SystemExit):
        main()
    expected = capsys.readouterr()
    assert expected.out + expected.err
    assert not [repr(c) for c in CONTROLS if c in expected.out + expected.err]
