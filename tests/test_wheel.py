"""The wheel and the sdist.

Built without a network, complete, and sufficient to run a scene with only the core dependencies.
"""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
OPTIONAL = [
    "h5py",
    "hypothesis",
    "imageio_ffmpeg",
    "matplotlib",
    "meshlane",
    "PIL",
    "pxr",
    "pytetwild",
    "pyvista",
    "viser",
]
COMMANDS = f"""
import sys
sys.modules.update(dict.fromkeys({OPTIONAL}))  # none of them can be imported
import taut
from taut.cli.main import main
print(taut.__file__)
for words in (["scenes"], ["run", "spring", "-o", "a", "-q"], ["view", "a"], ["render", "a", "-o", "a.png"], ["plot", "a"],
              ["export", "a", "-o", "a.usdc", "-q"], ["export", "a", "-o", "a.glb", "-q"]):
    sys.argv = ["taut", *words]
    try:
        main()
        code = 0
    except SystemExit as stop:
        code = stop.code or 0
    print("done", words[0], code, file=sys.stderr)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist."""
    pytest.importorskip("hatchling", reason="what builds the wheel is in the extra test")
    folder = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-t",
        "sdist",
        "-d",
        str(folder),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def _files(folder: Path) -> set[str]:
    """The files under a folder of the repository, without caches of Python."""
    found = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()
    }
    return {name for name in found if "__pycache__" not in name}


def test_wheel_contains_exactly_the_package(built):
    with ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        metadata = wheel.read(
            next(name for name in wheel.namelist() if name.endswith("METADATA"))
        ).decode()
        entries = wheel.read(
            next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        ).decode()
    assert names == {name.removeprefix("src/") for name in _files(Path("src/taut"))}
    assert "taut/py.typed" in names
    assert "taut = taut.cli:main" in entries
    needed = [
        line
        for line in re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
        if "extra ==" not in line
    ]
    core = [re.match(r"[\w-]+", wanted)[0] for wanted in PROJECT["dependencies"]]
    assert sorted(re.match(r"[\w-]+", wanted)[0] for wanted in needed) == sorted(core)


def test_sdist_contains_tests_docs_and_examples(built):
    with tarfile.open(built[1]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert (
        set().union(*(_files(Path(part)) for part in ("src/taut", "tests", "docs", "examples")))
        <= names
    )
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "mkdocs.yml"} <= names


def test_wheel_runs_a_scene_without_extras_and_names_missing_ones(built, tmp_path):
    with ZipFile(built[0]) as wheel:
        wheel.extractall(tmp_path / "site")
    (tmp_path / "empty").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS],
        cwd=tmp_path / "empty",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith(str(tmp_path / "site"))
    ends = re.findall(r"^done (\w+) (\d)$", done.stderr, re.MULTILINE)
    expected = [
        ("scenes", "0"),
        ("run", "0"),
        ("view", "2"),
        ("render", "2"),
        ("plot", "2"),
        ("export", "2"),
        ("export", "0"),
    ]
    assert ends == expected, done.stderr
    assert re.findall(r"pip install 'taut\[(\w+)\]'", done.stderr) == [
        "view",
        "render",
        "plot",
        "usd",
    ]
    assert (tmp_path / "empty/a/run.sqlite").is_file()
    assert (tmp_path / "empty/a.glb").is_file()
