"""`taut prove`: proofs that the steps of a scene have exact solutions next to the computed ones."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taut.cli import _options as options
from taut.cli._help import CHECK_FAILED
from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut.proof import Proof


@options.with_mesh_options
def prove(
    scene: options.SceneArgument,
    steps: Annotated[int, typer.Option(min=1, help="How many steps to take and prove.")] = 3,
    overrides: options.Overrides = None,
    mesh_options: options.MeshOptions = None,
    allow_outside: options.AllowOutside = False,
    allow_code: options.AllowCode = False,
    as_json: options.AsJson = False,
) -> None:
    """Prove how far the exact solutions of steps are.

    Takes the first steps of a scene by implicit Euler, and proves of each, by interval arithmetic,
    how far the exact solution of its equations is, and that there is no other nearby. It says
    "not proven" where it cannot tell, and then ends with code 1.
    """
    from taut.proof.prove import prove as find_proof
    from taut.step.implicit_euler import ImplicitEuler

    built = options.load_scene(
        scene,
        overrides,
        allow_outside=allow_outside,
        allow_code=allow_code,
        mesh_options=mesh_options,
    ).build()
    integrator, state = ImplicitEuler(), built.state
    found: list[dict[str, Any]] = []
    for number in range(1, steps + 1):
        new, _ = integrator.step(built.system, state, built.h)
        proof = find_proof(built.system, state, new, built.h)
        found.append(_to_json(number, new.t, proof))
        if not as_json:
            print(f"step {number}: {escape_unprintable(str(proof))}")
        state = new
    if as_json:
        print(json.dumps(found, indent=1))
    if not all(row["proven"] for row in found):
        raise typer.Exit(CHECK_FAILED)


def _to_json(number: int, t: float, proof: Proof) -> dict[str, Any]:
    """Return a proof as plain values; what is not bounded is null."""
    bounds = {
        "distance": proof.distance,
        "velocity": proof.velocity,
        "unique": proof.unique,
        "curvature": proof.curvature,
    }
    finite = {name: value if math.isfinite(value) else None for name, value in bounds.items()}
    return {"step": number, "t": t, "proven": proof.proven, "reason": proof.reason, **finite}
