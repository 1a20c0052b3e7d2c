"""The option `--cache` of `taut run` and `taut resume`: point caches that grow with the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from taut.run.record import Tell
    from taut.run.summary import StepProgress
    from taut.scene import Built, Scene
    from taut.show.export import GrowingPointCache

Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.pc2",
        help="Also write the frames to a point cache of each body, which grows with the run.",
    ),
]


@contextmanager
def open_cache(
    path: Path | None, scene: Scene, built: Built, *, overwrite: bool
) -> Iterator[GrowingPointCache | None]:
    """Create the point caches of a scene, if they are asked for, and close them at the end."""
    if path is None:
        yield None
        return
    from taut.show.export import GrowingPointCache
    from taut.show.visual_model import model_from_scene

    with GrowingPointCache(path, model_from_scene(scene, built), overwrite=overwrite) as cache:
        yield cache


def add_frames(cache: GrowingPointCache, tell: Tell | None) -> Tell:
    """Return what adds each frame that is on the disk to a cache, then shows the progress."""

    def add(step: StepProgress) -> None:
        if step.frame:
            cache.add(step.t, step.state.q)
        if tell is not None:
            tell(step)

    return add
