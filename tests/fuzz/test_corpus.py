"""The corpus: spoilt files.

One for each complaint that was made of such files when they were collected (`benchmarks.corpus`).

Every one is still refused, by the error of its kind, which names the file; none is read by chance,
and none ends otherwise.
"""

from pathlib import Path

import pytest

import taut
from benchmarks.reliability.hostile_scenes import PARTICLES
from benchmarks.reliability.scene_samples import write_files
from taut.mesh.files import FORMATS

CORPUS = Path(__file__).parent / "corpus"
FILES = {kind.name: sorted(kind.iterdir()) for kind in sorted(CORPUS.iterdir())}
MESHES = [kind for kind in FILES if kind != "toml"]


def test_every_format_of_one_file_has_its_own():
    assert {f".{kind}" for kind in MESHES} == {
        suffix for suffix, module in FORMATS.items() if module != "tetgen"
    }
    assert all(len(files) >= 10 for files in FILES.values())


@pytest.mark.parametrize("kind", MESHES)
def test_spoilt_meshes_are_refused_by_name(kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    for file in FILES[kind]:
        path.write_bytes(file.read_bytes())
        with pytest.raises(taut.errors.MeshError) as told:
            taut.mesh.read(path)
        assert str(path) in str(told.value), file.name


def test_spoilt_scenes_are_refused(tmp_path):
    write_files(tmp_path)
    for file in FILES["toml"]:
        with pytest.raises(taut.errors.SceneError) as told:
            taut.scene.read_text(
                file.read_bytes().decode(errors="surrogatepass"), folder=tmp_path, most=PARTICLES
            )
        assert str(told.value), file.name
