"""What `springs` is asked for, checked: each error names the keyword."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.materials.arguments import one_or_two, poisson_ratio, positive, vector
from taut.materials.tensors import isotropic, woven

Float = NDArray[np.float64]
SAYS = {  # which keywords say something about which dimension
    1: ("young", "area", "density"),
    2: ("young", "thickness", "density", "membrane", "areal_density", "poisson", "shear", "warp"),
    3: ("young", "density", "poisson"),
}
WHAT = {1: "lines", 2: "a sheet", 3: "solids"}


class Wanted(NamedTuple):
    """A material on cells of one dimension, per volume, area or length of them."""

    stiffness: tuple[float, ...]  # E of solids [Pa], E·t of a sheet [N/m], E·A of lines [N]; two for warp and weft
    density: float | None  # per measure of the cells
    thickness: float | None = None
    poisson: float | None = None
    shear: float | None = None  # of a sheet, times the thickness [N/m]
    warp: Float | None = None

    @property
    def mean(self) -> float:
        """The geometric mean of the moduli of warp and weft, or the one modulus."""
        return float(np.sqrt(self.stiffness[0] * self.stiffness[-1]))

    @property
    def even(self) -> bool:
        """Whether all directions are to be alike."""
        return len(self.stiffness) == 1 and self.shear is None

    def tensor(self, d: int) -> Float:
        """The tensor that springs are to have."""
        if self.even:
            return isotropic(self.stiffness[0], d)
        return woven(self.stiffness[0], self.stiffness[-1], self.shear)


def wanted(dimension: int, given: dict[str, Any]) -> Wanted:
    """From the keywords of `springs`, for cells of this dimension."""
    for name, value in given.items():
        if value is not None and name not in SAYS[dimension]:
            raise ModelError(f"{name} says nothing about {WHAT[dimension]}; {', '.join(SAYS[dimension])} do")
    density = None if given["density"] is None else positive(given["density"], "density", "kg/m³")
    if dimension == 2:
        return _sheet(given, density)
    young = positive(given["young"], "young", "Pa")
    if dimension == 3:
        return Wanted((young,), density, poisson=poisson_ratio(given["poisson"], 3))
    if given["area"] is None:
        raise ModelError("lines need the area of their cross-section [m²]: area=…")
    area = positive(given["area"], "area", "m²")
    stiffness = positive(young * area, "young × area", "N")
    return Wanted((stiffness,), None if density is None else positive(density * area, "density × area", "kg/m"))


def _sheet(given: dict[str, Any], density: float | None) -> Wanted:
    thickness = None if given["thickness"] is None else positive(given["thickness"], "thickness", "m")
    if (given["young"] is None) == (given["membrane"] is None):
        raise ModelError("a sheet has a modulus: young [Pa] with its thickness [m], or membrane [N/m], their product")
    if given["membrane"] is not None:
        stiffness, times = one_or_two(given["membrane"], "membrane", "N/m"), 1.0
    elif thickness is None:
        raise ModelError("a sheet needs its thickness [m]: thickness=… (or membrane [N/m] in place of young)")
    else:
        times = thickness
        stiffness = tuple(
            positive(young * times, "young × thickness", "N/m") for young in one_or_two(given["young"], "young", "Pa")
        )
    if given["areal_density"] is not None:
        if density is not None:
            raise ModelError("density and areal_density say the same thing: give one of them")
        density = positive(given["areal_density"], "areal_density", "kg/m²")
    elif density is not None:
        if thickness is None:
            raise ModelError("the density of a sheet needs its thickness [m]: thickness=… (or areal_density [kg/m²])")
        density = positive(density * thickness, "density × thickness", "kg/m²")
    shear = None if given["shear"] is None else times * positive(given["shear"], "shear", "Pa")
    warp = None if given["warp"] is None else vector(given["warp"], "warp")
    if warp is None and (len(stiffness) == 2 or shear is not None):
        raise ModelError("warp and weft have directions: give that of the warp, warp=(x, y, z)")
    return Wanted(stiffness, density, thickness, poisson_ratio(given["poisson"], 2), shear, warp)
