"""Options that several commands share, and the scene that a command names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut.scene import Scene

PROGRESS_SECONDS = 5.0  # between lines of progress where there is no terminal

SceneArgument = Annotated[
    str, typer.Argument(metavar="SCENE", help="A built-in scene, a scene.toml, or any mesh file.")
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="A.B=VALUE", help="Override a value of the scene, such as time.h=0.005."
    ),
]
AllowOutside = Annotated[
    bool, typer.Option("--allow-outside", help="Let the scene read files outside of its folder.")
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Let the scene use laws from Python files in its folder; their code is run.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", exists=True, file_okay=False, help="The folder of a run or study."
    ),
]
Verbose = Annotated[
    bool, typer.Option("--verbose", help="Print residuals and the work of the solver at the end.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]

ShotFps = Annotated[
    float | None, typer.Option("--fps", help="Frames of the shot per second, such as 24.")
]
ShotFrames = Annotated[
    str | None,
    typer.Option("--frames", metavar="A-B", help="First and last frame of the shot: 1-240."),
]

MESH_OPTIONS: dict[str, Any] = {
    "fix": Annotated[
        str | None,
        typer.Option(help='For a mesh file: the points that are held, such as "y > 0.95*max(y)".'),
    ],
    "young": Annotated[float | None, typer.Option(help="For a mesh file: Young's modulus [Pa].")],
    "poisson": Annotated[float | None, typer.Option(help="For a mesh file: Poisson's ratio.")],
    "thickness": Annotated[
        float | None, typer.Option(help="For a mesh file: thickness of its faces [m].")
    ],
    "area": Annotated[
        float | None, typer.Option(help="For a mesh file: cross-section of its lines [m²].")
    ],
    "density": Annotated[float | None, typer.Option(help="For a mesh file: density [kg/m³].")],
    "scale": Annotated[
        float | None, typer.Option(help="For a mesh file: metres per unit of the file.")
    ],
    "up": Annotated[
        str | None, typer.Option(help="For a mesh file: the axis that points up: x, y or z.")
    ],
    "weld": Annotated[
        float | None, typer.Option(help="For a mesh file: merge points this close together [m].")
    ],
    "clean": Annotated[
        bool | None,
        typer.Option(
            "--clean", help="For a mesh file: weld points that coincide, drop cells without extent."
        ),
    ],
    "largest": Annotated[
        bool | None, typer.Option("--largest", help="For a mesh file: keep only its largest part.")
    ],
    "fill": Annotated[
        str | None,
        typer.Option(
            metavar="LENGTH|auto",
            help="For a mesh file: fill the closed surface with tetrahedra of this size [m].",
        ),
    ],
    "ground": Annotated[
        bool | None, typer.Option("--ground", help="For a mesh file: let it fall on a ground.")
    ],
    "loose": Annotated[
        bool | None,
        typer.Option("--loose", help="For a mesh file: let parts that nothing holds fall."),
    ],
}
MeshOptions = dict[str, Any] | None
"""The mesh options that are given, by name."""


def with_mesh_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `mesh_options` of a command by the options of `MESH_OPTIONS`.

    The command receives those that are given, as a dict.

    >>> @with_mesh_options
    ... def show(scene: str, mesh_options: MeshOptions = None) -> None:
    ...     print(scene, mesh_options)
    >>> show(scene="bunny.obj", **dict.fromkeys(MESH_OPTIONS) | {"young": 1e5})
    bunny.obj {'young': 100000.0}
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    signature = inspect.signature(command, eval_str=True)
    parameters = []
    for parameter in signature.parameters.values():
        if parameter.name == "mesh_options":
            for name, annotation in MESH_OPTIONS.items():
                option = inspect.Parameter(name, keyword, default=None, annotation=annotation)
                parameters.append(option)
        else:
            parameters.append(parameter.replace(kind=keyword))

    @wraps(command)
    def call(**arguments: Any) -> None:
        mesh_options = {}
        for name in MESH_OPTIONS:
            value = arguments.pop(name)
            if value is not None:
                mesh_options[name] = value
        command(**arguments, mesh_options=mesh_options)

    # Typer reads the signature and the annotations of a command.
    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return call


def parse_frames(text: str | None) -> tuple[int, int] | None:
    """Return the first and the last frame of a text such as 1-240; None for None.

    >>> parse_frames("1-240"), parse_frames("-10-100"), parse_frames("7")
    ((1, 240), (-10, 100), (7, 7))
    """
    from taut.errors import ModelError

    if text is None:
        return None
    match = re.fullmatch(r"(-?\d{1,9})(?:-(-?\d{1,9}))?", text.strip())
    if match is None:
        raise ModelError(
            f"--frames must be the first and the last frame, as in 1-240, got '{text}'"
        )
    first = int(match[1])
    return first, first if match[2] is None else int(match[2])


def list_shot_overrides(
    fps: float | None, frames: tuple[int, int] | None, substeps: int | None
) -> list[tuple[str, Any]]:
    """Return the overrides that turn a scene into a shot; keys that would contradict are removed.

    >>> list_shot_overrides(24.0, (1, 240), None)[:2]
    [('output.every', None), ('time.fps', 24.0)]
    """
    overrides: list[tuple[str, Any]] = []
    if fps is not None or frames is not None or substeps is not None:
        overrides.append(("output.every", None))
    if fps is not None:
        overrides.append(("time.fps", fps))
    if frames is not None:
        overrides += [("time.duration", None), ("time.frames", list(frames))]
    if substeps is not None:
        overrides += [("time.h", None), ("time.substeps", substeps)]
    return overrides


def print_notes(notes: Iterable[str]) -> None:
    """Print notes, indented and without control characters."""
    for note in notes:
        for line in note.splitlines():
            print(f"  {escape_unprintable(line)}")


def load_scene(
    name: str,
    overrides: list[str] | None,
    *,
    allow_outside: bool,
    allow_code: bool,
    mesh_options: Mapping[str, Any] | None = None,
    shot: Iterable[tuple[str, Any]] = (),
) -> Scene:
    """Load the scene that a command names; shot : overrides that precede those of the user."""
    from taut.scene import load, override

    return load(
        name,
        overrides=[*shot, *map(override, overrides or [])],
        allow_outside=allow_outside,
        allow_code=allow_code,
        **(mesh_options or {}),
    )


def find_free_folder(parent: Path, name: str) -> Path:
    """Return the first of PARENT/NAME-1, PARENT/NAME-2 … that does not exist."""
    stem = Path(name).stem
    number = 1
    while (parent / f"{stem}-{number}").exists():
        number += 1
    return parent / f"{stem}-{number}"


def write_scene(path: Path, text: str, inputs: Mapping[str, bytes]) -> None:
    """Write a scene and copies of its files, by name; overwrite nothing."""
    from taut.atomic_write import atomic_write
    from taut.errors import SceneError

    if path.exists():
        raise SceneError(
            ["the file already exists and is not changed; choose a new name"], path=path
        )
    contents: dict[Path, str | bytes] = {path.parent / name: data for name, data in inputs.items()}
    contents[path] = text  # the last one: a scene must not be there without its files
    for target, content in contents.items():
        try:
            if target != path:
                target.parent.mkdir(parents=True, exist_ok=True)
                if target.exists() and target.read_bytes() == content:
                    continue
            atomic_write(target, content)
        except OSError as error:
            # The name in the error may be that of the temporary file.
            raise SceneError([f"cannot be written: {error.strerror}"], path=target) from error
