"""The corpus of the fuzz tests.

Of each kind of file, the shortest spoilt one for every complaint that is made of such files.

    python -m benchmarks.corpus [--files 20000] [--seed 0]

Spoils good mesh files and scenes as the campaigns do, and puts what is new into
`tests/fuzz/corpus`: files of at most 2 kB, the best 40 of each kind. A complaint is the text of the
error without names and numbers. What is there stays: delete it to begin anew.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import taut
from benchmarks.reliability import hostile_meshes, hostile_scenes, scene_samples
from benchmarks.reliability.spoil import spoil
from taut.errors import MeshError, SceneError

CORPUS = Path(__file__).parent.parent / "tests" / "fuzz" / "corpus"
LONGEST = 2000  # bytes of a file
MOST = 40  # files of a kind


def complaint(error: Exception, folder: Path) -> str:
    """The text of an error without what differs from file to file."""
    text = str(error).replace(str(folder), "")
    return re.sub(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\w.+]*", "#", text)[:120]


def meshes(count: int, rng: np.random.Generator, folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Spoilt mesh files that are refused.

    Kind, content and complaint. Formats of several files are left out.
    """
    good = [
        (name, next(iter(files.values())))
        for name, files in hostile_meshes.samples().items()
        if len(files) == 1
    ]
    for number in range(count):
        name, content = good[number % len(good)]
        data, path = spoil(content, rng), folder / f"x{Path(name).suffix}"
        path.write_bytes(data)
        try:
            taut.mesh.read(path)
        except MeshError as error:
            yield path.suffix[1:], data, complaint(error, folder)


def scenes(count: int, rng: np.random.Generator, folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Spoilt scenes that are refused when read: the first complaint of each."""
    scene_samples.write_files(folder)
    good = scene_samples.samples()
    for _ in range(count):
        text = hostile_scenes.spoilt(good, rng)
        try:
            taut.scene.read_text(text, folder=folder, most=hostile_scenes.PARTICLES)
        except SceneError as error:
            yield "toml", text.encode(errors="surrogatepass"), complaint(error, folder)


def main() -> None:
    """Make the corpus, or add to it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)
    rng, shortest = np.random.default_rng(asked.seed), dict[tuple[str, str], bytes]()
    with tempfile.TemporaryDirectory() as name:
        for made in (
            meshes(asked.files, rng, Path(name)),
            scenes(asked.files // 10, rng, Path(name)),
        ):
            for kind, data, said in made:
                known = shortest.get((kind, said))
                if len(data) <= LONGEST and (known is None or len(data) < len(known)):
                    shortest[kind, said] = data
    for kind in sorted({kind for kind, _ in shortest}):
        best = sorted(
            (data for (other, _), data in shortest.items() if other == kind),
            key=lambda data: (len(data), data),
        )
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
        for data in best[:MOST]:
            (CORPUS / kind / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
        print(f"{kind}: {len(best)} complaints, {len(list((CORPUS / kind).iterdir()))} files kept")


if __name__ == "__main__":
    main()
