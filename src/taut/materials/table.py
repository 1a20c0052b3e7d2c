"""A short table of real materials: numbers that were published, each with its source. Yours will differ: measure it.

Where a source gives something else than the table, the conversion is: E = 3G for rubber, which keeps its volume; E = (E·A)/A over
the circle of a rope; E₁ = C₁₁ - C₁₂²/C₂₂ and G = C₆₆/4 for cloth, whose energy was given as ½ C₆₆ ε₁₂².
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taut.errors import ModelError, did_you_mean


@dataclass(frozen=True)
class Material:
    """A material as it was measured.

    name : in the table
    what : was measured, in words
    keywords : of `springs`: young [Pa], density [kg/m³], poisson; for cloth membrane [N/m] (warp, weft), shear [N/m] and
        areal_density [kg/m²]; thickness, area and warp are yours to add
    rigidity : cylindrical bending rigidity of a cloth [J], for `bending`; None if it follows from a thickness
    breaking_strain : at which it breaks, the least that the source gives; None if it gives none
    sources : where each number comes from

    >>> wire = material("steel wire")
    >>> wire.keywords["young"], wire.breaking_strain
    (190000000000.0, 0.12)
    """

    name: str
    what: str
    keywords: dict[str, Any]
    rigidity: float | None
    breaking_strain: float | None
    sources: tuple[str, ...]


_WANG = (
    "H. Wang, J. F. O'Brien, R. Ramamoorthi: Data-driven elastic models for cloth: modeling and measurement, ACM Transactions on "
    "Graphics 30(4), 71 (2011); their database, as distributed with ARCSim, file {file}: density; stretching, first row (small "
    "strains) {numbers} N/m; bending, first column. The file does not name warp and weft: the stiffer direction is called the warp"
)
MATERIALS = {
    m.name: m
    for m in (
        Material(
            "cotton",
            "woven trouser cloth, 65% cotton and 35% polyester",
            {"membrane": (2035.0, 2017.0), "shear": 26.2, "areal_density": 0.220},
            125e-6,
            None,
            (_WANG.format(file="royal-target", numbers="C₁₁ 2016.6, C₁₂ 9.17, C₂₂ 2035.0, C₆₆ 104.8"),),
        ),
        Material(
            "denim",
            "11 oz black denim, 99% cotton and 1% spandex",
            {"membrane": (1013.0, 205.3), "shear": 13.3, "areal_density": 0.324},
            81e-6,
            None,
            (
                _WANG.format(file="11oz-black-denim", numbers="C₁₁ 205.4, C₁₂ 10.23, C₂₂ 1013.9, C₆₆ 53.39"),
                "rigidity: the mean of the two directions, 64.2 and 97.0 µN·m",
            ),
        ),
        Material(
            "silk",
            "the fibre of Bombyx mori; a woven silk is much softer, for its yarns are crimped",
            {"young": 7e9, "density": 1342.0},
            None,
            0.19,
            (
                "modulus 7 GPa, breaking strain 19%: Materials Science in Additive Manufacturing 4(2), 2025, "
                "doi 10.36922/MSAM025130020, table 1",
                "specific gravity 1.342: Silk, physical and chemical properties, knowledgetextile.wordpress.com",
            ),
        ),
        Material(
            "rubber",
            "natural rubber, vulcanised",
            {"young": 1.5e6, "density": 950.0, "poisson": 0.49},
            None,
            1.0,
            (
                "MatWeb: Natural Rubber, Vulcanized (NR, IR, Polyisoprene): shear modulus 0.5 MPa, from which E = 3G; density "
                "0.95 g/cm³; elongation at break 100 to 800%",
                "poisson: 0.49 stands for ½, of a material that keeps its volume",
            ),
        ),
        Material(
            "steel wire",
            "music wire, ASTM A228, cold drawn",
            {"young": 190e9, "density": 7800.0},
            None,
            0.12,
            ("MakeItFrom.com: ASTM A228 (SWP-A, K08500) Music Wire: modulus 190 GPa, density 7.8 g/cm³, elongation at break 12%",),
        ),
        Material(
            "nylon rope",
            "double braid for the modulus, three strands for the density, both over the area of a circle of the nominal diameter",
            {"young": 1.04e9, "density": 767.0},
            None,
            0.25,
            (
                "UFC 4-159-03 (United States Department of Defense, Design: Moorings, 3 October 2005), table 6-8: E·A = 5.29e5 N "
                "for a double braided nylon line of 1.0 in, dry, cyclic loading; the true curve is not straight",
                "Industrial Rope (industrialrope.com), table of rope: nylon, 7/8 in: 20.0 lb for 100 ft",
                "elongation at break 25 to 35%: Rhinos Rope's catalogue, as given at radioworks.com, properties of fibres",
            ),
        ),
    )
}


def material(name: str) -> Material:
    """The material of this name: cotton, silk, denim, rubber, steel wire or nylon rope.

    >>> import taut
    >>> from taut.materials import springs
    >>> rope = springs(taut.mesh.rope(10), area=1e-4, **material("nylon rope").keywords)
    >>> round(float(rope.k[0])), round(float(rope.mass.sum()), 4)
    (1040000, 0.0767)
    """
    if name not in MATERIALS:
        raise ModelError(
            f"there is no material '{name}' in the table{did_you_mean(str(name), MATERIALS)}; there are {', '.join(MATERIALS)}"
        )
    return MATERIALS[name]
