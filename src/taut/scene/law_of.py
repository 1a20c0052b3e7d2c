"""Laws of a scene bound to the particles of one body, or of all."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import SceneError, TautError, did_you_mean
from taut.formula.law import Law
from taut.mesh.mesh import Mesh
from taut.scene.catalogue import law_names
from taut.scene.elements_of import elements_of
from taut.scene.folder import Folder
from taut.scene.laws_model import LawBase, OwnLaw, parameters
from taut.scene.numbers_of import parameter_of

Int = NDArray[np.int64]


def law_of(
    asked: LawBase, mesh: Mesh, start: int | None, folder: Folder, *, allow_code: bool, springs: Int | None, name: str
) -> Any:
    """The bound law; `name` is what it is called by default.

    start : the number of the mesh's first particle in the whole; None: the mesh is the whole
    """
    law = own_law(asked.law, folder, allow_code=allow_code) if isinstance(asked, OwnLaw) else law_names()[asked.law]
    if not isinstance(law, Law):
        raise SceneError([f"{name} damps the whole system: put it under [[law]], without on and where"])
    elements = elements_of(asked.on, asked.where, mesh, springs)
    rows = np.arange(mesh.n)[:, None] if elements is None else elements
    wanted = parameters(asked)
    if asked.breaking_strain is not None:
        wanted["breaking_strain"] = asked.breaking_strain
    given = {}
    for key, value in wanted.items():
        try:
            given[key] = parameter_of(value, mesh, rows, folder, vector=key in law.vectors)
        except TautError as error:
            raise SceneError([f"{key}: {text}" for text in getattr(error, "problems", [str(error)])]) from error
    if callable(given.get("breaking_strain")):
        raise SceneError(["breaking_strain: it does not depend on time"])
    every = elements is None and start is None  # the law's own way to say: on all particles
    return law(None if every else rows + (start or 0), name=asked.name or name, **given)


def whole_damping(asked: LawBase) -> Any:
    """A damping of the whole system, such as rayleigh; None if the law is one of elements."""
    law = None if isinstance(asked, OwnLaw) else law_names()[asked.law]
    if law is None or isinstance(law, Law):
        return None
    if asked.on is not None or asked.where is not None or asked.breaking_strain is not None:
        raise SceneError([f"{law.__name__} damps the whole system, without on, where and breaking_strain"])
    given = parameters(asked)
    for name, value in given.items():
        if not isinstance(value, (int, float)):
            raise SceneError([f"{name} of {law.__name__} is one number"])
    return law(**given)


def own_law(text: str, folder: Folder, *, allow_code: bool) -> Law:
    """A law of a Python file: "file.py:name"."""
    file, colon, name = text.partition(":")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise SceneError([f"a law of your own reads 'file.py:name', not '{text[:60]}'"])
    if not allow_code:
        raise SceneError([f"'{text}' would run the code of {file}; a scene does that only with allow_code=True (--allow-code)"])
    path = folder.find(file)
    folder.bytes(file)
    spec = importlib.util.spec_from_file_location(f"taut_scene_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the code is the user's, and may raise anything
        raise SceneError([f"{file} could not be run: {error!r}"]) from error
    found = getattr(module, name, None)
    if not isinstance(found, Law):
        laws = [key for key, value in vars(module).items() if isinstance(value, Law)]
        raise SceneError([f"{file} has no law '{name}'{did_you_mean(name, laws)}; it has {', '.join(laws) or 'none'}"])
    return found
