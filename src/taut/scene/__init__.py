"""Scene files: bodies, what acts on them and how time passes, as TOML.

    scene = taut.scene.load("cloth")            # a built-in scene, a scene.toml, or any mesh file
    built = scene.build()
    for state, report in taut.simulate(built.system, built.integrator, built.h, built.until): …

A scene file is data: reading one runs no code, and its files stay inside its folder, unless told otherwise.
"""

from taut.scene.any_mesh import of_mesh
from taut.scene.build import Built
from taut.scene.estimate import Estimate, estimate
from taut.scene.library import names, new, why
from taut.scene.loading import load
from taut.scene.part import Part
from taut.scene.reading import override
from taut.scene.scene import Scene, read_text
from taut.scene.schema import schema

__all__ = [
    "Built", "Estimate", "Part", "Scene", "estimate", "load", "names", "new", "of_mesh", "override", "read_text", "schema", "why",
]  # fmt: skip
