"""The table `[[rest]]`: rest values of a law, one for each element, such as `taut sagfree` finds.

A rest length or angle may also be given in the table of its law. Here it is given by the law's name
in the built scene, in the order of its elements there, whatever made the law: a table of a body, of
all bodies, or a material.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from taut.arrays import Float
from taut.errors import SceneError, TautError, did_you_mean
from taut.scene._errors import ErrorCollector
from taut.scene._files import SceneFolder, find_file_names, name_copies, read_table, rename_files
from taut.scene._limits import Name, SceneTable, Text
from taut.scene.toml import format_toml
from taut.system.system import System

if TYPE_CHECKING:
    from taut.scene._scene import Scene


class Rest(SceneTable):
    """Rest values of a law, one for each of its elements."""

    name: Name = Field(description="of the law in energy tables, such as spring")
    parameter: Name = Field(description="its rest value, such as l0 [m]")
    file: Text = Field(description="a file with one number a line, in the order of the elements")


def apply_rest_values(
    system: System, tables: Sequence[Rest], folder: SceneFolder, errors: ErrorCollector
) -> System:
    """Return the system with the rest values of the tables; collect their errors."""
    for j, table in enumerate(tables):
        with errors.collect("rest", j):
            system = _apply(system, table, folder)
    return system


def _apply(system: System, table: Rest, folder: SceneFolder) -> System:
    names = list(system._placed_energies)
    if table.name not in names:
        hint = did_you_mean(table.name, names)
        raise SceneError([f"name: there is no energy '{table.name}'{hint}"])
    placed = system._placed_energies[table.name]
    if table.parameter not in placed.law.rest:
        known = list(placed.law.rest)
        hint = did_you_mean(table.parameter, known) or f"; it has {', '.join(known) or 'none'}"
        raise SceneError([f"parameter: '{table.name}' has no rest value '{table.parameter}'{hint}"])
    rows = read_table(folder, table.file)
    count = len(placed.elements)
    if rows.shape != (count, 1):
        raise SceneError(
            [
                f"file '{table.file}' must have one number for each of {count} elements of "
                f"'{table.name}', got {rows.shape[0]} rows of {rows.shape[1]}"
            ]
        )
    energies = list(system.energies)
    k = names.index(table.name)
    energies[k] = energies[k].with_(**{table.parameter: rows[:, 0]})
    try:
        return system.with_(energies=energies)
    except TautError as error:
        raise SceneError([str(error)]) from error


def write_rest_values(scene: Scene, values: Mapping[str, Float]) -> tuple[str, dict[str, bytes]]:
    """Return a scene as TOML with other rest values, and the files that it uses, by name.

    values : such as {"spring.l0": …}, one number for each element; older ones of the same names
        are replaced
    """
    tables, inputs = copy.deepcopy(scene.tables), scene.inputs()
    names = name_copies(name for _, name in find_file_names(tables))
    tables = rename_files(tables, names.__getitem__)
    kept = [
        table
        for table in tables.get("rest", [])
        if f"{table['name']}.{table['parameter']}" not in values
    ]
    for name, numbers in values.items():
        law, _, parameter = name.rpartition(".")
        lines = [parameter, *(repr(float(number)) for number in np.ravel(numbers))]
        content = ("\n".join(lines) + "\n").encode()
        # Named after the content: another scene in the folder may have rest values of its own.
        file = f"inputs/rest-{parameter}-{sha256(content).hexdigest()[:8]}.csv"
        inputs[file] = content
        kept.append({"name": law, "parameter": parameter, "file": file})
    tables["rest"] = kept
    return format_toml(tables), inputs
