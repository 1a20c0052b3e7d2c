"""The tables `[[law]]` and `[[body.law]]`: a law of `taut.laws`, or one of the user's own."""

from __future__ import annotations

import importlib.util
import inspect
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, create_model

from taut import laws
from taut.arrays import Int
from taut.binding.law import Energy, Law, Load, read_parameter_docs
from taut.errors import SceneError, TautError, did_you_mean
from taut.mesh.mesh import Mesh
from taut.scene._elements import Elements, Selection, find_elements
from taut.scene._files import SceneFolder
from taut.scene._limits import MAX_ELEMENTS, Name, SceneTable, Text, create_tagged_union
from taut.scene._parameter import Parameter, check_parameter, evaluate
from taut.scene._source_lines import KeyPath

CATALOGUE: dict[str, Any] = {name: getattr(laws, name) for name in laws.__all__}
"""All laws by name: `Law`s, and functions such as `rayleigh` that damp the whole system."""

_OWN_TAG = "law:own"


class LawTable(SceneTable):
    """Keys of every law; the models below add `law` and the parameters of each."""

    if TYPE_CHECKING:
        law: str
    on: Elements | None = Field(
        None,
        description="elements: points, edges, diagonals, body_diagonals, skips, triangles, hinges, "
        "rod_hinges, boundary_edges, boundary_triangles, corner_tets, springs (of the material), a "
        "kind of cells, or lists of point indices; default: every particle",
    )
    where: Selection | None = Field(
        None, description="only elements that have all of their points in this selection"
    )
    name: Name | None = Field(
        None, description="the name in energy tables; default: the name of the law"
    )
    breaking_strain: Parameter | None = Field(
        None, description="strain l/l0 - 1 [1] at which an element breaks"
    )

    @property
    def default_name(self) -> str:
        """The name of the law, without the file of a user's law."""
        return self.law.partition(":")[2] or self.law


class OwnLaw(LawTable):
    """A law in a Python file of the scene's folder; allowed only with allow_code (--allow-code)."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Parameter]

    law: Text = Field(description="file.py:name", json_schema_extra={"pattern": r"\.py:\w+$"})


def _list_parameter_defaults(law: Any) -> dict[str, Any]:
    """Return the default of each parameter; ... if it is required, None if taut measures it."""
    if not isinstance(law, Law):
        return {p.name: p.default for p in inspect.signature(law).parameters.values()}
    defaults: dict[str, Any] = {}
    for name in law.parameters:
        default = ... if law.is_required(name) else law.defaults.get(name)
        defaults[name] = list(default) if isinstance(default, tuple) else default
    return defaults


def _create_models() -> dict[str, type[LawTable]]:
    """Create a model for each law, from its parameters and its docstring."""
    models: dict[str, type[LawTable]] = {_OWN_TAG: OwnLaw}
    for name, law in CATALOGUE.items():
        summary = (inspect.getdoc(law) or "").split("\n")[0]
        if isinstance(law, Law):
            docs = law.parameter_docs
        else:
            docs = read_parameter_docs(law.__doc__)
        fields: dict[str, Any] = {"law": (Literal[name], Field(description=summary))}
        for parameter, default in _list_parameter_defaults(law).items():
            type_ = Parameter if default is not None else Parameter | None
            fields[parameter] = (type_, Field(default, description=docs.get(parameter, "")))
        model: Any = create_model(
            f"{name.title().replace('_', '')}Law", __base__=LawTable, __doc__=summary, **fields
        )
        models[f"law:{name}"] = model
    return models


LAW_MODELS = _create_models()
"""The model of a law table by its tag, such as "law:spring"."""


def _find_tag(value: Any) -> str | None:
    name = None
    if isinstance(value, LawTable):
        name = value.law
    elif isinstance(value, dict):
        name = value.get("law")
    if not isinstance(name, str):
        return None
    return _OWN_TAG if ":" in name or name.endswith(".py") else f"law:{name}"


if TYPE_CHECKING:
    AnyLawTable = LawTable
else:
    AnyLawTable = create_tagged_union(LAW_MODELS, _find_tag)


class LawCollector:
    """The laws of a scene so far, by kind, with their paths in the file."""

    def __init__(self) -> None:
        self.energies: list[Energy] = []
        self.damping: list[Any] = []
        self.loads: list[Load] = []
        self.paths: dict[int, KeyPath] = {}  # by id() of the law
        self._elements = 0

    def add(self, law: Any, path: KeyPath, n: int) -> None:
        """Add a law; n : number of particles, on which it acts if it names no elements."""
        elements = getattr(law, "elements", None)
        self._elements += n if elements is None else len(elements)
        self.check_limit()
        if isinstance(law, Energy):
            self.energies.append(law)
        elif isinstance(law, Load):
            self.loads.append(law)
        else:
            self.damping.append(law)
        self.paths[id(law)] = path

    def check_limit(self) -> None:
        """Raise SceneError if there are too many elements; then no further law must be bound."""
        if self._elements > MAX_ELEMENTS:
            raise SceneError(
                [
                    f"the laws of a scene may have {MAX_ELEMENTS:,} elements in all, "
                    f"got {self._elements:,}"
                ]
            )


def list_parameters(table: LawTable) -> dict[str, Any]:
    """Return the parameters that are given, by name.

    >>> list_parameters(LAW_MODELS["law:spring"](law="spring", on="edges", k=3.0))
    {'k': 3.0}
    """
    parameters = {}
    for name in type(table).model_fields:
        if name != "law" and name not in LawTable.model_fields:
            parameters[name] = getattr(table, name)
    for name, value in (table.__pydantic_extra__ or {}).items():
        parameters[name] = check_parameter(value)
    return {name: value for name, value in parameters.items() if value is not None}


def build_law(
    table: LawTable,
    mesh: Mesh,
    start: int | None,
    folder: SceneFolder,
    *,
    allow_code: bool,
    springs: Int | None,
    name: str,
) -> Any:
    """Bind the law of a table to elements of a mesh.

    start : index of the mesh's first particle in the system; None: the mesh is the whole system
    springs : point indices of the springs of the material, shape (m, 2), or None
    name : the default name of the law
    """
    if isinstance(table, OwnLaw):
        law = _load_own_law(table.law, folder, allow_code=allow_code)
    else:
        law = CATALOGUE[table.law]
    if not isinstance(law, Law):
        raise SceneError(
            [f"{name} damps the whole system: it must be under [[law]], without on and where"]
        )
    elements = find_elements(table.on, table.where, mesh, springs)
    rows = np.arange(mesh.n)[:, None] if elements is None else elements
    given = list_parameters(table)
    if table.breaking_strain is not None:
        given["breaking_strain"] = table.breaking_strain
    values = {}
    for key, value in given.items():
        try:
            values[key] = evaluate(value, mesh, rows, folder, vector=key in law.vectors)
        except TautError as error:
            messages = error.problems if isinstance(error, SceneError) else [str(error)]
            raise SceneError([f"{key}: {message}" for message in messages]) from error
    if callable(values.get("breaking_strain")):
        raise SceneError(["breaking_strain: must not depend on time"])
    # Elements that are None mean every particle of the system.
    indices = elements if start is None else rows + start
    return law(indices, name=table.name or name, **values)


def build_system_damping(table: LawTable) -> Any:
    """Return a damping of the whole system, such as rayleigh; None if the law acts on elements."""
    if isinstance(table, OwnLaw):
        return None
    law = CATALOGUE[table.law]
    if isinstance(law, Law):
        return None
    if table.on is not None or table.where is not None or table.breaking_strain is not None:
        raise SceneError(
            [f"{table.law} damps the whole system: on, where and breaking_strain are not allowed"]
        )
    parameters = list_parameters(table)
    for name, value in parameters.items():
        if not isinstance(value, (int, float)):
            raise SceneError([f"{name} of {table.law} must be one number"])
    return law(**parameters)


def _load_own_law(text: str, folder: SceneFolder, *, allow_code: bool) -> Law[Any]:
    """Run a Python file of the user and return a law of it; text is "file.py:name"."""
    file, colon, name = text.partition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise SceneError([f"your own law must be given as 'file.py:name', got '{text[:60]}'"])
    if not allow_code:
        raise SceneError(
            [
                f"'{text}' would run the code of {file}; "
                "a scene may do that only with allow_code=True (--allow-code)"
            ]
        )
    path = folder.find(file)
    folder.read_bytes(file)  # raises for what is not a regular file
    spec = importlib.util.spec_from_file_location(f"taut_scene_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise SceneError([f"{file} could not be run: {error!r}"]) from error
    law = getattr(module, name, None)
    if not isinstance(law, Law):
        known = [key for key, value in vars(module).items() if isinstance(value, Law)]
        raise SceneError(
            [
                f"{file} has no law '{name}'{did_you_mean(name, known)}; "
                f"its laws are {', '.join(known) or 'none'}"
            ]
        )
    return law
