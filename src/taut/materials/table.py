"""A short table of real materials: published numbers, each with its source.

Your material will differ: measure it. Where a source gives another quantity than the table, the
conversion is: E = 3G for rubber, which keeps its volume; E = (E·A)/A over the circle of a rope. The
files of cloth are read as ARCSim, the program they come with, reads them: it doubles the stretching
samples C, has the energy per area ½ (C₁₁ ε₁₁² + 2 C₁₂ ε₁₁ ε₂₂ + C₂₂ ε₂₂² + C₆₆ ε₁₂²), and
kₑ l²/(2 (A₁+A₂)) θ²/4 at a hinge. So

    E₁ = 2 (C₁₁ - C₁₂²/C₂₂),   G = 2 C₆₆/4,   c = kₑ/4,   EI/b = 8c/9,

the last for a strip of equilateral triangles. A breaking strain is that of a linear spring: the
strength of a source over its modulus where it gives both, since steel yields long before it breaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from taut.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class Material:
    """A material as it was measured.

    name : in the table
    what : description of the specimen
    keywords : of `springs`: young [Pa], density [kg/m³], poisson; for cloth membrane [N/m] (warp,
        weft), shear [N/m] and areal_density [kg/m²]. Add thickness, area and warp yourself
    rigidity : bending rigidity EI/b of a strip of cloth [J], for `bending`; None if it follows from
        a thickness
    breaking_strain : at which a linear spring breaks, the smallest that the source gives; None if
        it gives none
    sources : where each number comes from

    >>> wire = material("steel wire")
    >>> wire.keywords["young"], wire.breaking_strain
    (190000000000.0, 0.0129)
    """

    name: str
    what: str
    keywords: Mapping[str, Any]
    rigidity: float | None
    breaking_strain: float | None
    sources: tuple[str, ...]


_WANG = (
    "H. Wang, J. F. O'Brien, R. Ramamoorthi: Data-driven elastic models for cloth: modeling and "
    "measurement, ACM Transactions on Graphics 30(4), 71 (2011); their database, as distributed "
    "with ARCSim, file {file}: density; stretching, first row (small strains) {numbers} N/m, "
    "doubled; bending, first column, kₑ {bending} µN·m. The file does not name warp and weft: the "
    "stiffer direction is called the warp"
)
_COTTON = Material(
    name="cotton",
    what="woven trouser cloth, 65% cotton and 35% polyester",
    keywords={"membrane": (4070.0, 4033.0), "shear": 52.4, "areal_density": 0.220},
    rigidity=27.8e-6,
    breaking_strain=None,
    sources=(
        _WANG.format(
            file="royal-target",
            numbers="C₁₁ 2016.6, C₁₂ 9.17, C₂₂ 2035.0, C₆₆ 104.8",
            bending="125",
        ),
    ),
)
_DENIM = Material(
    name="denim",
    what="11 oz black denim, 99% cotton and 1% spandex",
    keywords={"membrane": (2027.0, 410.5), "shear": 26.7, "areal_density": 0.324},
    rigidity=17.9e-6,
    breaking_strain=None,
    sources=(
        _WANG.format(
            file="11oz-black-denim",
            numbers="C₁₁ 205.4, C₁₂ 10.23, C₂₂ 1013.9, C₆₆ 53.39",
            bending="64.2 and 97.0",
        ),
        "rigidity: from the mean of the two kₑ",
    ),
)
_SILK = Material(
    name="silk",
    what="the fibre of Bombyx mori; a woven silk is much softer, for its yarns are crimped",
    keywords={"young": 7e9, "density": 1342.0},
    rigidity=None,
    breaking_strain=0.19,
    sources=(
        "modulus 7 GPa, breaking strain 19%: Materials Science in Additive Manufacturing 4(2), "
        "2025, doi 10.36922/MSAM025130020, table 1",
        "specific gravity 1.342: Silk, physical and chemical properties, "
        "knowledgetextile.wordpress.com",
    ),
)
_RUBBER = Material(
    name="rubber",
    what="natural rubber, vulcanised",
    keywords={"young": 1.5e6, "density": 950.0, "poisson": 0.49},
    rigidity=None,
    breaking_strain=1.0,
    sources=(
        "MatWeb: Natural Rubber, Vulcanized (NR, IR, Polyisoprene): shear modulus 0.5 MPa, from "
        "which E = 3G; density 0.95 g/cm³; elongation at break 100 to 800%",
        "poisson: 0.49 stands for ½, of a material that keeps its volume",
    ),
)
_STEEL_WIRE = Material(
    name="steel wire",
    what="music wire, ASTM A228, cold drawn",
    keywords={"young": 190e9, "density": 7800.0},
    rigidity=None,
    breaking_strain=0.0129,
    sources=(
        "MakeItFrom.com: ASTM A228 (SWP-A, K08500) Music Wire: modulus 190 GPa, density "
        "7.8 g/cm³, strength 2450 MPa",
        "breaking strain: 2450 MPa / 190 GPa, where a linear wire has that strength; the "
        "elongation at break, 12%, is nearly all plastic, and a linear spring stretched so far "
        "would carry nine times the strength",
    ),
)
_NYLON_ROPE = Material(
    name="nylon rope",
    what="double braid for the modulus, three strands for the density, both over the area of a "
    "circle of the nominal diameter",
    keywords={"young": 1.04e9, "density": 767.0},
    rigidity=None,
    breaking_strain=0.25,
    sources=(
        "UFC 4-159-03 (United States Department of Defense, Design: Moorings, 3 October 2005), "
        "table 6-8: E·A = 5.29e5 N for a double braided nylon line of 1.0 in, dry, cyclic loading; "
        "the true curve is not straight",
        "Industrial Rope (industrialrope.com), table of rope: nylon, 7/8 in: 20.0 lb for 100 ft",
        "elongation at break 25 to 35%: Rhinos Rope's catalogue, as given at radioworks.com, "
        "properties of fibres",
    ),
)

MATERIALS: Mapping[str, Material] = MappingProxyType(
    {
        m.name: replace(m, keywords=MappingProxyType(m.keywords))
        for m in (_COTTON, _DENIM, _SILK, _RUBBER, _STEEL_WIRE, _NYLON_ROPE)
    }
)


def material(name: str) -> Material:
    """Return the material of this name: cotton, silk, denim, rubber, steel wire or nylon rope.

    >>> import taut
    >>> from taut.materials import springs
    >>> rope = springs(taut.mesh.rope(10), area=1e-4, **material("nylon rope").keywords)
    >>> round(float(rope.k[0])), round(float(rope.mass.sum()), 4)
    (1040000, 0.0767)
    """
    if not isinstance(name, str) or name not in MATERIALS:
        raise ModelError(
            f"the table has no material '{name}'{did_you_mean(str(name), MATERIALS)}; "
            f"it has {', '.join(MATERIALS)}"
        )
    found = MATERIALS[name]
    return replace(found, keywords=dict(found.keywords))
