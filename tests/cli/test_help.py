"""`--help`: every command has valid examples and its exit codes."""

import re
import shlex

import pytest
import typer

from taut.cli._help import CODES, EXAMPLES, MEANINGS
from taut.cli.main import app
from taut.scene import names

COMMANDS = typer.main.get_command(app).commands


def test_every_command_has_examples_and_exit_codes():
    assert list(EXAMPLES) == list(CODES) == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_name_existing_options_and_scenes(name):
    known = {word for parameter in COMMANDS[name].params for word in parameter.opts}
    for example in EXAMPLES[name]:
        words = shlex.split(example)
        assert words[:2] == ["taut", name]
        assert {word for word in words if re.match(r"--?[a-z]", word)} <= known
        runs = [re.fullmatch(r"runs/(\w+)-1", word) for word in words]
        assert {found[1] for found in runs if found} <= set(names())


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_examples_and_exit_codes(command, name):
    code, out, err = command(name, "--help")
    assert (code, err) == (0, "")
    assert all(f"  {example}\n" in out for example in EXAMPLES[name])
    expected = " ".join(out.partition("Exit codes: ")[2].split())
    assert expected == "; ".join(f"{code} {MEANINGS[code]}" for code in CODES[name])


def test_the_overview_describes_each_command(command):
    out = command("--help")[1]
    lines = {
        line.split()[0]: line
        for line in out.splitlines()
        if line.startswith("  ") and line.split()[0] in COMMANDS
    }
    assert list(lines) == list(COMMANDS)
    assert not [
        line for line in lines.values() if line.endswith("...")
    ]  # cut short: the first sentence is too long
    assert all(f"{code} {meaning}" in " ".join(out.split()) for code, meaning in MEANINGS.items())
