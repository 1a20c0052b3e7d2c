"""The corpus of corrupted files.

One file for each distinct error message found when the corpus was collected (`benchmarks.corpus`).
Every file is still rejected with the error type of its kind, which names the file.
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


def test_every_single_file_format_has_a_corpus():
    assert {f".{kind}" for kind in MESHES} == {
        suffix for suffix, module in FORMATS.items() if module != "tetgen"
    }
    assert all(len(files) >= 10 for files in FILES.values())


@pytest.mark.parametrize("kind", MESHES)
def test_reject_corrupted_meshes_and_name_the_file(kind, tmp_path):
    path = tmp_path / f"x.{kind}"
    for file in FILES[kind]:
        path.write_bytes(file.read_bytes())
        with pytest.raises(taut.errors.MeshError) as caught:
            taut.mesh.read(path)
        assert str(path) in str(caught.value), file.name


def test_reject_corrupted_scenes(tmp_path):
    write_files(tmp_path)
    for file in FILES["toml"]:
        with pytest.raises(taut.errors.SceneError) as caught:
            taut.scene.read_text(
                file.read_bytes().decode(errors="surrogatepass"), folder=tmp_path, most=PARTICLES
            )
        assert str(caught.value), file.name
