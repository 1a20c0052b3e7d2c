"""What was asked for, what was reached, and what springs cannot reach, in words."""

from __future__ import annotations

from taut.materials.bending import Hinges
from taut.materials.moduli import Moduli
from taut.materials.tensors import poisson_of_springs
from taut.materials.wanted import Wanted

SAME = 0.02  # moduli within this of one another are the same; Poisson ratios too
UNEVEN = 0.04  # what moduli may differ by between directions, and a Poisson ratio from its own, before it is said
GAP = 0.03  # between the moduli with a pulled and with a held boundary
BENT = 0.1  # what the rigidity may differ by between directions
OWN = {2: "ν = 1/3 in a sheet", 3: "ν = 1/4 in a solid"}


def limits(wanted: Wanted, reached: Moduli, hinges: Hinges | None) -> tuple[str, ...]:
    """What springs do not reach, each as a sentence."""
    own = poisson_of_springs(reached.dimension)
    said = []
    if wanted.poisson is not None and abs(wanted.poisson - own) > SAME:
        said.append(f"ν = {wanted.poisson:g}: isotropic springs that strain evenly have {OWN[reached.dimension]}")
    if not wanted.even:
        said += _woven(wanted, reached)
    elif abs(reached.poisson - own) > UNEVEN:
        said.append(f"on this mesh springs have ν = {reached.poisson:.2f}; those that strain evenly have {OWN[reached.dimension]}")
    if wanted.even and reached.anisotropy > UNEVEN:
        low, high = reached.softest / reached.young, reached.stiffest / reached.young
        said.append(f"on this mesh the modulus is {low:.3g} to {high:.3g} of its mean, depending on the direction")
    if reached.held is not None and reached.held / reached.young > 1 + GAP:
        said.append(
            f"with its boundary held the body is {reached.held / reached.young:.3g} times as stiff as with its boundary free"
        )
    if hinges is not None and hinges.stiffest - hinges.softest > BENT:
        low, high = hinges.softest, hinges.stiffest
        said.append(f"on this mesh strips bend with {low:.3g} to {high:.3g} of the mean rigidity, depending on their direction")
    return tuple(said)


def _woven(wanted: Wanted, reached: Moduli) -> list[str]:
    """What cloth does not reach."""
    said = ["the shear modulus of springs is also the modulus by which warp and weft pull on each other (C₁₂₁₂ = C₁₁₂₂)"]
    for name, asked, found in (("warp", wanted.stiffness[0], reached.warp), ("weft", wanted.stiffness[-1], reached.weft)):
        if abs(found / asked - 1) > SAME:
            said.append(f"along the {name} this mesh reaches {found / asked:.3g} of the modulus asked for")
    if wanted.shear is not None and abs(reached.shear / wanted.shear - 1) > GAP:
        said.append(f"in shear this mesh reaches {reached.shear / wanted.shear:.3g} of the modulus asked for")
    return said


def table(moduli: Moduli | None, wanted: Wanted, count: int, mass: float | None, c: float | None) -> str:
    """The lines of a printed `Springs`."""
    title = f"{count} springs" + ("" if mass is None else f", {mass:.4g} kg")
    rows = [(title, "asked", "reached")]
    if moduli is None:
        return f"{title}, E·A = {wanted.stiffness[0]:.4g} N"
    t, unit = (wanted.thickness, "Pa") if wanted.thickness is not None else (1.0, "Pa" if moduli.dimension == 3 else "N/m")
    name = "modulus" if unit == "Pa" else "modulus × thickness"
    if not wanted.even:
        for which, asked, found in (("warp", wanted.stiffness[0], moduli.warp), ("weft", wanted.stiffness[-1], moduli.weft)):
            rows.append((f"{name}, {which} [{unit}]", f"{asked / t:.4g}", f"{found / t:.4g}"))
        shear = "-" if wanted.shear is None else f"{wanted.shear / t:.4g}"
        rows.append((f"shear {name} [{unit}]", shear, f"{moduli.shear / t:.4g}"))
    else:
        rows.append((f"{name} [{unit}]", f"{wanted.stiffness[0] / t:.4g}", f"{moduli.young / t:.4g}"))
        rows.append(("  by direction", "", f"{moduli.softest / t:.4g} to {moduli.stiffest / t:.4g}"))
        if moduli.held is not None:
            rows.append(("  with the boundary held", "", f"{moduli.held / t:.4g}"))
    # of cloth, how much it narrows when it is pulled along the warp
    ratio = moduli.poisson if wanted.even else -moduli.compliance[1, 0] / moduli.compliance[0, 0]
    rows.append(("Poisson's ratio", "-" if wanted.poisson is None else f"{wanted.poisson:.3g}", f"{ratio:.3f}"))
    if c is not None:
        rows.append(("bending c [J]", "", f"{c:.4g}"))
    return "\n".join(f"{a:<34}{b:>10}{c:>24}".rstrip() for a, b, c in rows)
