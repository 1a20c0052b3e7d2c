"""Describe in words what was asked for, what was reached, and what springs cannot reach."""

from __future__ import annotations

from taut.materials._arguments import Specification
from taut.materials._tensors import poisson_of_springs
from taut.materials.bending import HingeFit
from taut.materials.moduli import Moduli

# Smaller differences are not worth a sentence:
# - between a modulus or a Poisson ratio that was asked for and that of the springs
_MAX_DEVIATION = 0.02
# - between directions; between a Poisson ratio and that of isotropic springs
_MAX_ANISOTROPY = 0.04
# - between the moduli with a pulled and with a held boundary; of a shear modulus
_MAX_BOUNDARY_GAP = 0.03
# - between the rigidities of strips in different directions
_MAX_BENDING_ANISOTROPY = 0.1
_POISSON_OF_SPRINGS = {2: "ν = 1/3 in a sheet", 3: "ν = 1/4 in a solid"}


def list_limits(asked: Specification, reached: Moduli, hinges: HingeFit | None) -> tuple[str, ...]:
    """Return what springs do not reach, each as a sentence."""
    own_poisson = poisson_of_springs(reached.dimension)
    own = _POISSON_OF_SPRINGS[reached.dimension]
    limits = []
    if asked.poisson is not None and abs(asked.poisson - own_poisson) > _MAX_DEVIATION:
        limits.append(f"ν = {asked.poisson:g}: isotropic springs that strain evenly have {own}")
    if not asked.is_isotropic:
        limits += _list_woven_limits(asked, reached)
    elif abs(reached.poisson - own_poisson) > _MAX_ANISOTROPY:
        limits.append(
            f"on this mesh springs have ν = {reached.poisson:.2f}; "
            f"those that strain evenly have {own}"
        )
    if asked.is_isotropic and reached.anisotropy > _MAX_ANISOTROPY:
        low, high = reached.softest / reached.young, reached.stiffest / reached.young
        limits.append(
            f"on this mesh the modulus is {low:.3g} to {high:.3g} of its mean, "
            "depending on the direction"
        )
    if reached.held is not None and reached.held / reached.young > 1 + _MAX_BOUNDARY_GAP:
        limits.append(
            f"with its boundary held the body is {reached.held / reached.young:.3g} times as stiff "
            "as with its boundary free"
        )
    if hinges is not None and hinges.stiffest - hinges.softest > _MAX_BENDING_ANISOTROPY:
        limits.append(
            f"on this mesh strips bend with {hinges.softest:.3g} to {hinges.stiffest:.3g} "
            "of the mean rigidity, depending on their direction"
        )
    return tuple(limits)


def _list_woven_limits(asked: Specification, reached: Moduli) -> list[str]:
    limits = [
        "the shear modulus of springs is also the modulus by which warp and weft pull on each "
        "other (C₁₂₁₂ = C₁₁₂₂)"
    ]
    for name, wanted, found in (
        ("warp", asked.stiffness[0], reached.warp),
        ("weft", asked.stiffness[-1], reached.weft),
    ):
        if abs(found / wanted - 1) > _MAX_DEVIATION:
            limits.append(
                f"along the {name} this mesh reaches {found / wanted:.3g} of the modulus asked for"
            )
    if asked.shear is not None and abs(reached.shear / asked.shear - 1) > _MAX_BOUNDARY_GAP:
        limits.append(
            f"in shear this mesh reaches {reached.shear / asked.shear:.3g} of the modulus asked for"
        )
    return limits


def format_table(
    moduli: Moduli | None, asked: Specification, count: int, mass: float | None, c: float | None
) -> str:
    """Return the lines of a printed `Springs`.

    moduli : reached, in N/m for a sheet; count : of springs; mass : [kg]; c : of the hinges [J]
    """
    title = f"{count} springs"
    if mass is not None:
        title += f", {mass:.4g} kg"
    if moduli is None:
        return f"{title}, E·A = {asked.stiffness[0]:.4g} N"
    rows = [(title, "asked", "reached")]
    thickness, unit = 1.0, "N/m"
    if asked.thickness is not None:
        thickness, unit = asked.thickness, "Pa"
    elif moduli.dimension == 3:
        unit = "Pa"
    name = "modulus" if unit == "Pa" else "modulus × thickness"

    def show(modulus: float | None) -> str:
        return "-" if modulus is None else f"{modulus / thickness:.4g}"

    if asked.is_isotropic:
        rows.append((f"{name} [{unit}]", show(asked.stiffness[0]), show(moduli.young)))
        rows.append(("  by direction", "", f"{show(moduli.softest)} to {show(moduli.stiffest)}"))
        if moduli.held is not None:
            rows.append(("  with the boundary held", "", show(moduli.held)))
        ratio = moduli.poisson
    else:
        rows.append((f"{name}, warp [{unit}]", show(asked.stiffness[0]), show(moduli.warp)))
        rows.append((f"{name}, weft [{unit}]", show(asked.stiffness[-1]), show(moduli.weft)))
        rows.append((f"shear {name} [{unit}]", show(asked.shear), show(moduli.shear)))
        # How much cloth narrows when it is pulled along the warp
        ratio = -moduli.compliance[1, 0] / moduli.compliance[0, 0]
    poisson = "-" if asked.poisson is None else f"{asked.poisson:.3g}"
    rows.append(("Poisson's ratio", poisson, f"{ratio:.3f}"))
    if c is not None:
        rows.append(("bending c [J]", "", f"{c:.4g}"))
    return "\n".join(f"{a:<34}{b:>10}{c:>24}".rstrip() for a, b, c in rows)
