"""What was asked for, what was reached, and what springs cannot reach, in words."""

from __future__ import annotations

from taut.materials.moduli import Moduli
from taut.materials.tensors import poisson_of_springs
from taut.materials.wanted import Wanted

EVEN = 0.02  # moduli within this of one another are the same
OWN = {2: "ν = 1/3 in a sheet", 3: "ν = 1/4 in a solid"}


def limits(wanted: Wanted, reached: Moduli) -> tuple[str, ...]:
    """What springs do not reach, each as a sentence."""
    d = len(reached.axes)
    said = []
    if wanted.poisson is not None and abs(wanted.poisson - poisson_of_springs(d)) > EVEN:
        said.append(f"ν = {wanted.poisson:g}: isotropic springs have {OWN[d]}, whatever their stiffness")
    if not wanted.even:
        said.append("the shear modulus of springs is also the modulus by which warp and weft pull on each other (C₁₂₁₂ = C₁₁₂₂)")
        moduli = [reached.along(axis) for axis in reached.axes]
        for name, asked, found in zip(("warp", "weft"), (wanted.stiffness[0], wanted.stiffness[-1]), moduli, strict=True):
            if abs(found / asked - 1) > EVEN:
                said.append(f"along the {name} this mesh reaches {found / asked:.3g} of the modulus asked for")
    elif abs(reached.poisson - poisson_of_springs(d)) > 2 * EVEN:
        said.append(f"on this mesh springs have ν = {reached.poisson:.2f} where isotropic ones would have {OWN[d]}")
    if wanted.even and reached.anisotropy > 2 * EVEN:
        low, high = reached.softest / reached.young, reached.stiffest / reached.young
        said.append(f"on this mesh the modulus is {low:.3g} to {high:.3g} of its mean, depending on the direction")
    return tuple(said)


def table(moduli: Moduli | None, wanted: Wanted, count: int, mass: float | None, hinges: float | None) -> str:
    """The lines of a printed `Springs`."""
    title = f"{count} springs" + ("" if mass is None else f", {mass:.4g} kg")
    rows = [(title, "asked", "reached")]
    if moduli is None:
        return f"{title}, E·A = {wanted.stiffness[0]:.4g} N"
    t, unit = (wanted.thickness, "Pa") if wanted.thickness is not None else (1.0, "Pa" if len(moduli.axes) == 3 else "N/m")
    name = "modulus" if unit == "Pa" else "modulus × thickness"
    if not wanted.even:
        for which, asked, axis in zip(("warp", "weft"), (wanted.stiffness[0], wanted.stiffness[-1]), moduli.axes, strict=True):
            rows.append((f"{name}, {which} [{unit}]", f"{asked / t:.4g}", f"{moduli.along(axis) / t:.4g}"))
        shear = "-" if wanted.shear is None else f"{wanted.shear / t:.4g}"
        rows.append((f"shear {name} [{unit}]", shear, f"{1 / (2 * moduli.compliance[2, 2]) / t:.4g}"))
    else:
        rows.append((f"{name} [{unit}]", f"{wanted.stiffness[0] / t:.4g}", f"{moduli.young / t:.4g}"))
        rows.append(("  by direction", "", f"{moduli.softest / t:.4g} to {moduli.stiffest / t:.4g}"))
    # of cloth, how much it narrows when it is pulled along the warp
    ratio = moduli.poisson if wanted.even else -moduli.compliance[1, 0] / moduli.compliance[0, 0]
    rows.append(("Poisson's ratio", "-" if wanted.poisson is None else f"{wanted.poisson:.3g}", f"{ratio:.3f}"))
    if hinges is not None:
        rows.append(("bending c [J]", "", f"{hinges:.4g}"))
    return "\n".join(f"{a:<34}{b:>10}{c:>24}".rstrip() for a, b, c in rows)
