"""Point caches that grow with a run, so that another program can play what is solved already.

They are those of `export`, one sample per frame; the sample of a frame is on the disk before the
number of samples in the header counts it.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from taut.arrays import Float, Int
from taut.errors import ModelError
from taut.mesh.point_cache import PointCacheWriter
from taut.run.open_run import open_run
from taut.run.run_folder import report_write_errors
from taut.show.export._animation import make_identifiers
from taut.show.export._bodies import surface_mesh, to_float32
from taut.show.export._point_cache import drop_unused_points, list_caches
from taut.show.visual_model import VisualBody, VisualModel


class GrowingPointCache:
    """The PC2 files of a run that is being recorded; a context, which closes them.

    path : ends in .pc2; each of several bodies has a file of its own, as in `export`
    overwrite : replace existing files

    >>> import tempfile
    >>> from taut.scene import load
    >>> from taut.show.visual_model import model_from_scene
    >>> scene = load("spring")
    >>> path = Path(tempfile.mkdtemp()) / "weight.pc2"
    >>> with GrowingPointCache(path, model_from_scene(scene)) as cache:
    ...     cache.add(0.0, scene.build().state.q)
    >>> path.stat().st_size  # a header, and two points of 12 bytes
    56
    """

    def __init__(
        self, path: str | os.PathLike[str], model: VisualModel, *, overwrite: bool = False
    ) -> None:
        self.path = Path(path)
        if self.path.suffix.lower() != ".pc2" or not self.path.stem:
            raise ModelError(f"{self.path}: a point cache must end in .pc2")
        self._stack = ExitStack()
        self._files: list[tuple[VisualBody, Int, PointCacheWriter]] = []
        names = list_caches(make_identifiers(body.name for body in model.pieces), self.path.name)
        with report_write_errors(self.path.parent, self.path.name):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            for body, name in zip(model.pieces, names, strict=True):
                self._create(body, self.path.parent / name, overwrite=overwrite)

    def _create(self, body: VisualBody, file: Path, *, overwrite: bool) -> None:
        if os.path.lexists(file):
            if not overwrite:
                raise ModelError(f"output exists: {file}; --overwrite (overwrite=True) replaces it")
            file.unlink()  # not what a link leads to, nor what another program has open
        mesh, used = drop_unused_points(surface_mesh(body))
        stream = self._stack.enter_context(file.open("xb"))
        self._files.append((body, used, PointCacheWriter(stream, mesh.n, 1.0)))

    def add(self, t: float, q: Float) -> None:
        """Add a frame at time t [s]; q : positions of all particles [m], (n, 3)."""
        with report_write_errors(self.path.parent, self.path.name):
            for body, used, cache in self._files:
                cache.add(to_float32(body.positions(q)[used], f"{body.name}, t = {t:g} s"))

    def add_recorded(self, folder: Path) -> None:
        """Add the frames of a run up to its last checkpoint, from which it resumes."""
        with open_run(folder) as run:
            last, _ = run.checkpoint()
            for frame in run.frames:
                if frame.step <= last:
                    self.add(frame.t, frame.q)

    def __enter__(self) -> GrowingPointCache:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()
