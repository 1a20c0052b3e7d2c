"""Scene files: bodies, the laws that act on them, and time, as TOML.

    scene = taut.scene.load("cloth")            # a built-in scene, a scene.toml, or any mesh file
    built = scene.build()
    for state, report in taut.simulate(built.system, built.integrator, built.h, built.until): …

A scene file is data: reading one runs no code, and its files are inside its folder, unless the
caller allows more.

One file per table; each holds the schema (pydantic) and the function that builds the table:

- `_scene_file`: the root table, and `build`, which goes through all tables
- `_body`: [[body]], its mass, pose and velocity
- `_mesh`: mesh and render; `_material`: material; `_fabric`: fabric
- `_law`: [[law]] and [[body.law]]
- `_hold`: [[body.hold]], and `_follow` its key follow
- `_joint`: [[stitch]] and [[attach]]; `_contact`: [contact]
- `_parts`: the key `join` of [[body]]
- `_obstacle`: the key `obstacle` of [[body]]; `_rest`: [[rest]]
- `_integrator`: [time], [integrator] and [output]

Values that several tables have:

- `_parameter`: numbers, lists, expressions, tables over time: where a TOML value becomes a number
- `_elements`: the keys `on` and `where`; `expression`: expressions of position and time
- `_limits`: limits, field types and the point budget; `_files`: the files that a scene names
- `_bundle`: a scene with its files in memory

Reading and errors:

- `_loading`: `load`, and the built-in scenes; `_any_mesh`: a scene from a mesh file
- `_repairs`: what is done to a mesh file and said about it
- `_scene`: `Scene`, `read_text` and `schema`; `_estimate`: the cost of a run, and warnings;
  `_trial`: its time from trial steps
- `_softness`: solids too soft for their weight, cells that have inverted
- `toml`: text to tables and back, overrides; `_source_lines`: the line of each value
- `_errors`: errors with path, line and "did you mean", raised together
"""

from taut.scene._any_mesh import of_mesh
from taut.scene._body import Part
from taut.scene._bundle import Bundle, bundle
from taut.scene._estimate import Estimate, estimate, foresee
from taut.scene._loading import load, names, new, why
from taut.scene._rest import write_rest_values
from taut.scene._scene import Scene, read_text, schema
from taut.scene._scene_file import Built
from taut.scene._trial import Trial, try_steps
from taut.scene.toml import override

__all__ = [
    "Built",
    "Bundle",
    "Estimate",
    "Part",
    "Scene",
    "Trial",
    "bundle",
    "estimate",
    "foresee",
    "load",
    "names",
    "new",
    "of_mesh",
    "override",
    "read_text",
    "schema",
    "try_steps",
    "why",
    "write_rest_values",
]
