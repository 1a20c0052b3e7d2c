"""A study before it is done: from what the user asks for to the jobs of its runs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from taut.errors import ModelError, NotConverged, SceneError, TautError
from taut.run.metadata import library_versions
from taut.scene import Scene, bundle
from taut.study.job import Job, Observer, list_bodies, load_scene
from taut.study.measures import Measure
from taut.study.samples import make_design, read_samples
from taut.study.study import CERTIFICATE
from taut.study.study_folder import Description
from taut.study.values import Choice, read_values

_MAX_TRIED = 100  # runs that are tried for one whose scene can be built, before a study begins


@dataclass
class Plan:
    """A study before it is done.

    files : of the scene, name → content
    function : what is called, for a study of a function
    """

    description: Description
    files: dict[str, bytes] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    allow_code: bool = False

    def make_job(self, run: int, folder: Path | None) -> Job:
        """Return the job of a run."""
        description = self.description
        parameters = description.parameters_of(run)
        renamed = {(key, repr(old)): new for key, old, new in description.renamed}
        overrides = [(k, renamed.get((k, repr(v)), v)) for k, v in parameters.items()]
        return Job(
            run=run,
            parameters=parameters,
            measures=description.measures,
            overrides=overrides,
            scene=description.scene,
            function=self.function,
            allow_code=self.allow_code,
            keep=str(folder) if description.keep_frames else None,
        )


def plan_scene(
    scene: Scene,
    parameters: Mapping[str, Any],
    measures: Mapping[str, str],
    *,
    samples: str = "grid",
    seed: int = 0,
    keep_frames: bool = False,
) -> Plan:
    """Plan a study of a scene; SceneError if no run of it can be loaded, or a measure is wrong."""
    values = {name: read_values(name, given) for name, given in parameters.items()}
    keys = {name: [key.strip() for key in name.split(",")] for name in values}
    named = []
    for name, kind in values.items():
        if isinstance(kind, Choice):
            named += [(key, value) for value in kind.values for key in keys[name]]
    packed = bundle(scene, named)
    description = _describe(keys, values, measures, samples, seed, keep_frames)
    description.scene = packed.text
    description.inputs = {name: sha256(data).hexdigest() for name, data in packed.files.items()}
    description.renamed = [list(entry) for entry in packed.renamed]
    plan = Plan(description, packed.files, allow_code=scene.allow_code)
    check_first_run(plan)
    return plan


def plan_function(
    function: Callable[..., Any],
    parameters: Mapping[str, Any],
    measures: Mapping[str, str],
    *,
    samples: str = "grid",
    seed: int = 0,
    keep_frames: bool = False,
) -> Plan:
    """Plan a study of a function."""
    if keep_frames:
        raise ModelError("keep_frames is for studies of scenes; a function may record its own runs")
    values = {name: read_values(name, given) for name, given in parameters.items()}
    keys = {name: [name] for name in values}
    description = _describe(keys, values, measures, samples, seed, False)
    place = getattr(function, "__module__", ""), getattr(function, "__qualname__", repr(function))
    description.function = ".".join(place)
    return Plan(description, function=function)


def _describe(
    keys: dict[str, list[str]],
    values: Mapping[str, Any],
    measures: Mapping[str, str],
    samples: str,
    seed: int,
    keep_frames: bool,
) -> Description:
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise SceneError([f"seed must be a whole number from 0, got {seed!r}"])
    taken = ["run", *CERTIFICATE, *(key for several in keys.values() for key in several)]
    for name, text in measures.items():
        Measure(name, text)  # raises now if it cannot be parsed
        taken.append(name)
    for name in taken:
        if not name or taken.count(name) > 1:
            raise SceneError([f"names of columns must be different, got '{name}' twice"])
    chosen = read_samples(samples)
    return Description(
        versions=library_versions(),
        scene=None,
        inputs={},
        renamed=[],
        function=None,
        parameters=keys,
        samples=str(chosen),
        seed=seed,
        values=make_design(chosen, values, seed),
        measures=dict(measures),
        keep_frames=keep_frames,
    )


def check_first_run(plan: Plan) -> None:
    """Raise the error of the first run if no run can be built; check measures on one that can."""
    first: TautError | None = None
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), plan.files)
        for run in range(min(len(plan.description.values), _MAX_TRIED)):
            job = plan.make_job(run, None)
            try:
                assert job.scene is not None
                files = folder if plan.files else None
                built = load_scene(
                    job.scene, job.overrides, files, allow_code=job.allow_code
                ).build()
            except NotConverged:  # when contact is untangled; it will be a row of the table
                continue
            except SceneError as error:
                problems = [text.replace(f"{folder}/", "") for text in error.problems]
                first = first or SceneError(problems)
                continue
            except TautError as error:
                first = first or error
                continue
            observer = Observer(job, built.system, built.state, list_bodies(built))
            for measure in observer.measures:
                measure.check(observer.now)
            return
    if first is not None:
        raise first


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files of a scene into a folder of their own, which may not exist yet."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
