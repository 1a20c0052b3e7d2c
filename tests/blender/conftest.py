"""A Blender without a window: the package bpy, in an environment of its own.

bpy 5.0 is for Python 3.11 and needs numpy 1, so it cannot be installed next to taut. The first test
installs it (a download of 375 MB, 25 s, 970 MB on the disk) into the user's cache, where later runs
find it. TAUT_BLENDER_PYTHON names a Python that has it already.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from platformdirs import user_cache_path

BPY = os.environ.get("TAUT_BPY", "bpy==5.0.1")
SCRIPTS = Path(__file__).parent / "scripts"
collect_ignore = ["scripts"]  # they import bpy
BUILD = Path(__file__).parents[2] / "blender" / "build.py"


def find_blender():
    """Return a Python that has bpy; install it if there is none; skip where this is impossible."""
    given = os.environ.get("TAUT_BLENDER_PYTHON")
    if given:
        return Path(given)
    if sys.version_info[:2] != (3, 11):
        pytest.skip(f"{BPY} is for Python 3.11, and this is {sys.version.split()[0]}")
    home = user_cache_path("taut") / BPY.replace("==", "-")
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    home.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(str(home) + ".lock"):
        if not (home / "complete").exists():
            for words in (["venv", "--clear", str(home)], ["pip", "install", "-q", BPY]):
                maker = sys.executable if words[0] == "venv" else str(python)
                done = subprocess.run(
                    [maker, "-m", *words], capture_output=True, text=True, check=False
                )
                if done.returncode:
                    pytest.skip(f"{BPY} cannot be installed: {done.stderr.strip()[-300:]}")
            (home / "complete").touch()
    return python


@pytest.fixture(scope="session")
def extension(tmp_path_factory):
    """The zip of the extension."""
    folder = tmp_path_factory.mktemp("extension")
    done = subprocess.run(
        [sys.executable, BUILD, folder], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


@pytest.fixture(scope="session")
def blender(extension, tmp_path_factory):
    """Run a script in Blender; return its folder and what it told."""
    python = find_blender()

    def run(script, folder=None):
        if folder is None:
            folder = tmp_path_factory.mktemp(Path(script).stem)
        user = tmp_path_factory.mktemp("user")
        environment = os.environ | {"BLENDER_USER_RESOURCES": str(user)}
        words = [python, SCRIPTS / script, extension, sys.executable, folder]
        done = subprocess.run(
            [*map(str, words)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return folder, json.loads((folder / "found.json").read_text())

    return run
