"""Collect the corpus of the fuzz tests: for each error message, the shortest file that causes it.

    python -m benchmarks.corpus [--files 20000] [--seed 0]

Corrupts valid mesh files and scenes as the campaigns do, and adds the rejected ones to
`tests/fuzz/corpus`: files of at most 2 kB, the 40 shortest of each format. Messages are compared
without names and numbers. Existing files stay; delete them to start again.
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
MAX_FILE_BYTES = 2000
MAX_FILES = 40  # of a format


def normalise_message(error: Exception, folder: Path) -> str:
    """Return the message of an error, with # in place of names and numbers."""
    text = str(error).replace(str(folder), "")
    return re.sub(r"'[^']*'|\"[^\"]*\"|[-+]?\d[\w.+]*", "#", text)[:120]


def find_rejected_meshes(
    count: int, rng: np.random.Generator, folder: Path
) -> Iterator[tuple[str, bytes, str]]:
    """Corrupt mesh files; yield format, content and message of those that are rejected.

    Formats that take several files are left out.
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
            yield path.suffix[1:], data, normalise_message(error, folder)


def find_rejected_scenes(
    count: int, rng: np.random.Generator, folder: Path
) -> Iterator[tuple[str, bytes, str]]:
    """Corrupt scenes; yield format, content and message of those that are rejected when read."""
    scene_samples.write_files(folder)
    good = scene_samples.samples()
    for _ in range(count):
        text = hostile_scenes.corrupt_one(good, rng)
        try:
            taut.scene.read_text(text, folder=folder, most=hostile_scenes.PARTICLES)
        except SceneError as error:
            yield "toml", text.encode(errors="surrogatepass"), normalise_message(error, folder)


def main() -> None:
    """Create the corpus, or add to it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)
    rng, shortest = np.random.default_rng(options.seed), dict[tuple[str, str], bytes]()
    with tempfile.TemporaryDirectory() as name:
        for made in (
            find_rejected_meshes(options.files, rng, Path(name)),
            find_rejected_scenes(options.files // 10, rng, Path(name)),
        ):
            for kind, data, message in made:
                known = shortest.get((kind, message))
                if len(data) <= MAX_FILE_BYTES and (known is None or len(data) < len(known)):
                    shortest[kind, message] = data
    for kind in sorted({kind for kind, _ in shortest}):
        best = sorted(
            (data for (other, _), data in shortest.items() if other == kind),
            key=lambda data: (len(data), data),
        )
        (CORPUS / kind).mkdir(parents=True, exist_ok=True)
        for data in best[:MAX_FILES]:
            (CORPUS / kind / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
        print(f"{kind}: {len(best)} messages, {len(list((CORPUS / kind).iterdir()))} files kept")


if __name__ == "__main__":
    main()
