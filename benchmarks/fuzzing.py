"""Parsers fuzzed by what their code reaches (atheris).

Any bytes must give a value or one typed error, without a warning.

    python -m benchmarks.fuzzing obj --seconds 120

Parsers: obj, ply, stl, off, vtk, vtu, msh, mesh, glb, selection, expression, scene.

Begins with the samples of the campaigns and the corpus of the tests; inputs that reach new lines
are kept for the time of the run and changed again. Ends with 1 at the first that fails or takes
longer than 5 s, and leaves it behind. Needs atheris (`pip install atheris`; Linux).
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["taut.mesh", "taut.scene"]):
    import taut
    from benchmarks.corpus import CORPUS
    from benchmarks.reliability import hostile_meshes, hostile_scenes, scene_samples
    from taut.errors import MeshError
    from taut.mesh.files import FORMATS
    from taut.scene.expression import Expression

    for module in set(
        FORMATS.values()
    ):  # which `read` would import when they are needed, out of sight
        import_module(f"taut.mesh.files.{module}")

EXPRESSIONS = [
    "y > 0.9*max and not near(x, 0.5, 0.1)",
    "points(0:3) or corners(top)",
    "boundary and -1 < x <= 2",
    "'weight' == max",
    "200 + 800*y^2",
    "sin(2*pi*t) * exp(-x) / hypot(y, z)",
    "mean + abs(weight) - sqrt(x^2)",
]
PARSERS = [
    suffix[1:] for suffix in FORMATS if FORMATS[suffix] != "tetgen"
]  # TetGen's are several files


def reader(suffix: str, folder: Path) -> tuple[Callable[[bytes], None], list[bytes]]:
    """What reads bytes as a mesh file, and good ones."""
    path = folder / f"x.{suffix}"

    def attempt(data: bytes) -> None:
        path.write_bytes(data)
        try:
            taut.mesh.read(path)
        except MeshError as error:
            if str(path) not in str(error) or "memory" in str(error):
                raise AssertionError(f"an error that should not be: {error}") from error

    good = [
        next(iter(files.values()))
        for name, files in hostile_meshes.samples().items()
        if name.endswith(f".{suffix}")
    ]
    return attempt, good


def language(what: str) -> tuple[Callable[[bytes], None], list[bytes]]:
    """What takes text as a selection or an expression over a mesh, and good ones."""
    sheet = taut.mesh.sheet(3, 3)
    mesh = sheet.with_(point_data={"weight": sheet.points[:, 0] + 0.5})

    def attempt(data: bytes) -> None:
        text = data.decode(errors="replace")
        try:
            mesh.select(text) if what == "selection" else Expression(text, mesh).evaluate(0.3)
        except MeshError:
            return

    return attempt, [text.encode() for text in EXPRESSIONS]


def scenes(folder: Path) -> tuple[Callable[[bytes], None], list[bytes]]:
    """What reads and builds text as a scene, and good ones."""
    scene_samples.write_files(folder)
    good = [text.encode() for text in scene_samples.samples()]
    return (
        lambda data: str(hostile_scenes.attempt(data.decode(errors="replace"), folder)) and None,
        good,
    )


def main() -> None:
    """Fuzz one parser."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parser", choices=[*PARSERS, "selection", "expression", "scene"])
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        folder, corpus = Path(name), Path(name) / "corpus"
        corpus.mkdir()
        if options.parser == "scene":
            attempt, good = scenes(folder)
        else:
            attempt, good = (
                reader(options.parser, folder)
                if options.parser in PARSERS
                else language(options.parser)
            )
        kept = CORPUS / ("toml" if options.parser == "scene" else options.parser)
        good += [file.read_bytes() for file in sorted(kept.iterdir())] if kept.exists() else []
        for number, data in enumerate(good):
            (corpus / str(number)).write_bytes(data)
        limits = {
            "timeout": 5,
            "rss_limit_mb": 3000,
            "max_len": 8000,
            "max_total_time": options.seconds,
            "seed": options.seed,
        }
        atheris.Setup(
            [sys.argv[0], *(f"-{name}={value}" for name, value in limits.items()), str(corpus)],
            attempt,
        )
        atheris.Fuzz()


if __name__ == "__main__":
    main()
