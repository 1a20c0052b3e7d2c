"""Check the arguments of `springs`, `moduli` and `bending`; each error names its keyword."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from taut.arrays import Float, Int, to_floats
from taut.errors import ModelError
from taut.materials._tensors import isotropic_tensor, woven_tensor
from taut.mesh.mesh import Mesh

_KEYWORDS = {  # of `springs`, by the dimension of the cells
    1: ("young", "area", "density"),
    2: ("young", "thickness", "density", "membrane", "areal_density", "poisson", "shear", "warp"),
    3: ("young", "density", "poisson"),
}
_CELL_NAMES = {1: "lines", 2: "a sheet", 3: "solids"}


class Specification(NamedTuple):
    """The material that springs must represent, per volume, area or length of the cells.

    stiffness : E of solids [Pa], E·t of a sheet [N/m], E·A of lines [N]; two numbers for warp and
        weft
    density : [kg/m³], [kg/m²] or [kg/m]
    thickness : of a sheet [m]
    shear : shear modulus of a sheet times its thickness [N/m]
    warp : unit vector, (3,)
    """

    stiffness: tuple[float, ...]
    density: float | None
    thickness: float | None = None
    poisson: float | None = None
    shear: float | None = None
    warp: Float | None = None

    @property
    def mean_stiffness(self) -> float:
        """The geometric mean of the moduli of warp and weft, or the one modulus."""
        return float(np.sqrt(self.stiffness[0] * self.stiffness[-1]))

    @property
    def is_isotropic(self) -> bool:
        """Whether the material is the same in all directions."""
        return len(self.stiffness) == 1 and self.shear is None

    def tensor(self, d: int) -> Float:
        """Return the elasticity tensor that springs can have, (s, s), in d dimensions."""
        if self.is_isotropic:
            return isotropic_tensor(self.stiffness[0], d)
        return woven_tensor(self.stiffness[0], self.stiffness[-1], self.shear)


def check_specification(dimension: int, keywords: dict[str, Any]) -> Specification:
    """Check the keywords of `springs` for cells of a dimension."""
    allowed = _KEYWORDS[dimension]
    for name, value in keywords.items():
        if value is not None and name not in allowed:
            raise ModelError(
                f"{name} does not apply to {_CELL_NAMES[dimension]}; {', '.join(allowed)} do"
            )
    density = _check_optional(keywords["density"], "density", "kg/m³")
    if dimension == 2:
        return _check_sheet(keywords, density)
    young = check_positive(keywords["young"], "young", "Pa")
    if dimension == 3:
        return Specification((young,), density, poisson=_check_poisson(keywords["poisson"], 3))
    if keywords["area"] is None:
        raise ModelError("lines need the area of their cross-section [m²]: area=…")
    area = check_positive(keywords["area"], "area", "m²")
    stiffness = check_positive(young * area, "young × area", "N")
    if density is not None:
        density = check_positive(density * area, "density × area", "kg/m")
    return Specification((stiffness,), density)


def _check_sheet(keywords: dict[str, Any], density: float | None) -> Specification:
    thickness = _check_optional(keywords["thickness"], "thickness", "m")
    if (keywords["young"] is None) == (keywords["membrane"] is None):
        raise ModelError(
            "a sheet needs one modulus: young [Pa] with its thickness [m], "
            "or membrane [N/m], their product"
        )
    if keywords["membrane"] is not None:
        stiffness, factor = _check_one_or_two(keywords["membrane"], "membrane", "N/m"), 1.0
    elif thickness is None:
        raise ModelError(
            "a sheet needs its thickness [m]: thickness=… (or membrane [N/m] in place of young)"
        )
    else:
        factor = thickness
        stiffness = tuple(
            check_positive(young * factor, "young × thickness", "N/m")
            for young in _check_one_or_two(keywords["young"], "young", "Pa")
        )
    if keywords["areal_density"] is not None:
        if density is not None:
            raise ModelError("density and areal_density exclude each other: give one of them")
        density = check_positive(keywords["areal_density"], "areal_density", "kg/m²")
    elif density is not None:
        if thickness is None:
            raise ModelError(
                "the density of a sheet needs its thickness [m]: thickness=… "
                "(or areal_density [kg/m²])"
            )
        density = check_positive(density * thickness, "density × thickness", "kg/m²")
    shear = _check_optional(keywords["shear"], "shear", "Pa")
    if shear is not None:
        shear = factor * shear
    warp = None
    if keywords["warp"] is not None:
        warp = _check_direction(keywords["warp"], "warp")
    elif len(stiffness) == 2 or shear is not None:
        raise ModelError("warp and weft need the direction of the warp: warp=(x, y, z)")
    poisson = _check_poisson(keywords["poisson"], 2)
    return Specification(stiffness, density, thickness, poisson, shear, warp)


def check_mesh(value: Any) -> Mesh:
    """Return the mesh; raise if it is anything else."""
    if not isinstance(value, Mesh):
        raise ModelError(f"mesh must be a taut.mesh.Mesh, got {type(value).__name__}")
    return value


def check_positive(value: Any, name: str, unit: str) -> float:
    """Return a positive, finite, normal number."""
    number = _to_number(value)
    if not np.finfo(np.float64).tiny <= number < np.inf:
        raise ModelError(f"{name} must be a positive number [{unit}], got {value!r}")
    return number


def _check_optional(value: Any, name: str, unit: str) -> float | None:
    return None if value is None else check_positive(value, name, unit)


def _to_number(value: Any) -> float:
    """Return a real number as a float, NaN for anything else."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        return float("nan")
    try:
        return float(value)
    except OverflowError:  # an integer beyond the largest float
        return float("inf")


def _check_one_or_two(value: Any, name: str, unit: str) -> tuple[float, ...]:
    """Return one positive number, or two: along the warp and along the weft."""
    is_scalar_array = isinstance(value, np.ndarray) and value.shape == ()
    if not isinstance(value, (list, tuple, np.ndarray)) or is_scalar_array:
        return (check_positive(value, name, unit),)
    if len(value) != 2:
        raise ModelError(
            f"{name} must be one number [{unit}] or two, for warp and weft, got {value!r}"
        )
    return tuple(check_positive(v, name, unit) for v in value)


def _check_poisson(value: Any, d: int) -> float | None:
    """Return a Poisson ratio of a stable material: below 1 in a sheet, below ½ in a solid."""
    if value is None:
        return None
    upper, kind = (1.0, "sheet") if d == 2 else (0.5, "solid")
    number = _to_number(value)
    if not -1 < number < upper:
        raise ModelError(f"poisson must be between -1 and {upper:g} in a {kind}, got {value!r}")
    return number


def _check_direction(value: Any, name: str) -> Float:
    """Return a direction in space as a unit vector; two components mean one in the plane z = 0."""
    try:
        vector = to_floats(value)
    except (TypeError, ValueError):
        vector = np.zeros(3)
    if vector.shape == (2,):
        vector = np.append(vector, 0.0)
    length = np.linalg.norm(vector) if vector.shape == (3,) else 0.0
    if not 0 < length < np.inf:
        raise ModelError(f"{name} must be a vector of three numbers, not all zero, got {value!r}")
    return np.asarray(vector / length, dtype=np.float64)


def check_pairs(value: Any, mesh: Mesh) -> Int:
    """Return pairs of points of a mesh, (m, 2), that do not coincide."""
    pairs = np.asarray(value)
    is_table = pairs.ndim == 2 and pairs.shape[1] == 2 and len(pairs) > 0
    if not is_table or not np.issubdtype(pairs.dtype, np.integer):
        raise ModelError(
            "pairs must be whole numbers of shape (m, 2), m at least 1, "
            f"got {pairs.dtype} of shape {pairs.shape}"
        )
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= mesh.n)).any(axis=1))
    if len(wrong):
        raise ModelError(
            f"pair {wrong[0]} must join points between 0 and {mesh.n - 1}, "
            f"got {pairs[wrong[0]].tolist()}"
        )
    apart = mesh.positions[pairs[:, 1]] - mesh.positions[pairs[:, 0]]
    same = np.flatnonzero((apart == 0).all(axis=1))
    if len(same):
        raise ModelError(
            f"pair {same[0]} joins {pairs[same[0]].tolist()}, which coincide: "
            "the spring has no direction"
        )
    return pairs.astype(np.int64)


def check_stiffness(value: Any, count: int) -> Float:
    """Return stiffnesses [N/m], 0 or more, (m,), from one or m of them."""
    try:
        k = to_floats(value)
    except (TypeError, ValueError):
        raise ModelError(f"k must be a number [N/m] or {count} of them, got {value!r}") from None
    if k.shape not in ((), (count,)):
        raise ModelError(
            f"k must be one value or one for each of the {count} pairs, got shape {k.shape}"
        )
    wrong = np.flatnonzero(~((k >= 0) & (k < np.inf)).ravel())
    if len(wrong):
        raise ModelError(
            f"k of spring {wrong[0]} must be finite and 0 or more [N/m], got {k.ravel()[wrong[0]]}"
        )
    return np.broadcast_to(k, count)
