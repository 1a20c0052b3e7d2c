"""The options of commands that take a mesh file for a scene: what it is held by, made of, and how it was measured."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

OF_MESH: dict[str, Any] = {
    "fix": Annotated[str | None, typer.Option(help='Of a mesh file: which points are held, such as "y > 0.95*max(y)".')],
    "young": Annotated[float | None, typer.Option(help="Of a mesh file: Young's modulus [Pa].")],
    "poisson": Annotated[float | None, typer.Option(help="Of a mesh file: Poisson's ratio.")],
    "thickness": Annotated[float | None, typer.Option(help="Of a mesh file: thickness of its faces [m].")],
    "area": Annotated[float | None, typer.Option(help="Of a mesh file: cross-section of its lines [m²].")],
    "density": Annotated[float | None, typer.Option(help="Of a mesh file: density [kg/m³].")],
    "scale": Annotated[float | None, typer.Option(help="Of a mesh file: metres per unit of the file.")],
    "up": Annotated[str | None, typer.Option(help="Of a mesh file: the axis that points up in it: x, y or z.")],
}
OfMesh = dict[str, Any] | None  # names and values of those that are given


def with_mesh_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options in the place of its parameter `of_mesh`, to which those that are given go as a dict.

    >>> @with_mesh_options
    ... def show(scene: str, of_mesh: OfMesh = None) -> None:
    ...     print(scene, of_mesh)
    >>> show(scene="bunny.obj", **dict.fromkeys(OF_MESH) | {"young": 1e5})
    bunny.obj {'young': 100000.0}
    """
    signature = inspect.signature(command, eval_str=True)
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in OF_MESH.items()]
    others = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in signature.parameters.values() if p.name != "of_mesh"]
    at = list(signature.parameters).index("of_mesh")
    parameters = [*others[:at], *own, *others[at:]]

    @wraps(command)
    def called(**given: Any) -> None:
        of_mesh = {name: value for name in OF_MESH if (value := given.pop(name)) is not None}
        command(**given, of_mesh=of_mesh)

    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": None}
    return called
