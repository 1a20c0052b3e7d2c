"""Fabrics by name: what of each has been measured, by whom, and what is an estimate.

Two fabrics of one name differ by more than most errors of measurement: measure yours. A property
in `measured` follows from a published number, which `sources` names; every other one is an
estimate, a round number of the order usual for such a fabric, that no table was found for. A
drape coefficient is that of a disc of 30 cm on a plate of 18 cm (Cusick; ISO 9073-9).

Conversions: KES units 1 gf·cm²/cm = 98.07 µJ and 1 gf/(cm·°) = 56.2 N/m; the files of Wang and
others as in `taut.materials.table`; E t and E t³/12 of paper and rubber.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from taut.materials.table import MATERIALS

Property = Literal["areal_density", "membrane", "shear", "poisson", "rigidity", "thickness"]


@dataclass(frozen=True)
class FabricSample:
    """A fabric of the table.

    name : in the table
    what : description of the specimen
    areal_density : weight [kg/m²]
    membrane : modulus times thickness [N/m], along the warp and along the weft, the softer one; of
        a knitted fabric along and across its wales, of paper along and across the grain
    shear : shear modulus times thickness [N/m]
    poisson : a pull along the warp by ε narrows the fabric by this times ε [1]
    rigidity : bending rigidity EI/b of a strip [J], the mean of warp and weft
    thickness : [m], None if not known
    drape : lowest and highest drape coefficient [1] published of such fabrics; None if none is
    measured : the properties that follow from published numbers; the others are estimates
    sources : where these numbers, and the drape coefficients, come from

    >>> round(FABRICS["denim"].bending_length, 4)
    0.0178
    """

    name: str
    what: str
    areal_density: float
    membrane: tuple[float, float]
    shear: float
    poisson: float
    rigidity: float
    thickness: float | None
    drape: tuple[float, float] | None
    measured: tuple[Property, ...]
    sources: tuple[str, ...]

    @property
    def bending_length(self) -> float:
        """The bending length of ASTM D1388 [m], the cube root of rigidity over weight."""
        return float((self.rigidity / (self.areal_density * 9.80665)) ** (1 / 3))

    @property
    def is_isotropic(self) -> bool:
        """Whether warp and weft do not differ, so that no direction is needed."""
        young, weft = self.membrane
        return young == weft and abs(self.shear - young / (2 + 2 * self.poisson)) < 1e-6 * young


def _isotropic(young: float, poisson: float) -> tuple[tuple[float, float], float, float]:
    """Return membrane, shear and poisson of a modulus times thickness [N/m]."""
    return (young, young), young / (2 * (1 + poisson)), poisson


_EVERYTHING: tuple[Property, ...] = ("areal_density", "membrane", "shear", "poisson", "rigidity")
_DRAPES = (
    "drape coefficient: Analysis of a Fabric Drape Profile, Fibres and Textiles 1/2018, quoted "
    "second-hand: {range}"
)
_KNIT = (
    "H. Wang, J. F. O'Brien, R. Ramamoorthi: Data-driven elastic models for cloth: modeling and "
    "measurement, ACM Transactions on Graphics 30(4), 71 (2011); their database, as distributed "
    "with ARCSim, file gray-interlock: density; stretching, first row (small strains) C₁₁ 16.59, "
    "C₁₂ -14.70, C₂₂ 34.48, C₆₆ 36.86 N/m, doubled; bending, first column, kₑ 23.2 and 14.3 µN·m. "
    "C₁₂ is negative: the Poisson's ratio is set to 0"
)


def _woven(name: str, poisson: float, drape: tuple[float, float] | None, note: str) -> FabricSample:
    """Return a woven sample of `MATERIALS` as a fabric."""
    known = MATERIALS[name]
    assert known.rigidity is not None
    return FabricSample(
        name,
        known.what,
        known.keywords["areal_density"],
        known.keywords["membrane"],
        known.keywords["shear"],
        poisson,
        known.rigidity,
        None,
        drape,
        _EVERYTHING,
        (*known.sources, note),
    )


_COTTON = _woven(
    "cotton",
    0.0045,
    (0.766, 0.890),
    _DRAPES.format(range="six weaves of 50/50 polyester and cotton, 221 to 249 g/m²"),
)
_DENIM = _woven(
    "denim",
    0.050,
    None,
    "rigidity 14.1 to 22.3 µJ, shear 84 to 191 N/m: KES-F of six denims, Journal of Textiles 2016, "
    "article 4614168, table 5 (not used; its shear is at a larger angle and under tension)",
)
_JERSEY = FabricSample(
    "jersey",
    "interlock knit for T-shirts, 60% cotton and 40% polyester",
    0.187,
    (42.9, 20.7),
    18.4,
    0.0,
    4.17e-6,
    None,
    (0.18, 0.31),
    _EVERYTHING,
    (
        _KNIT,
        "drape coefficient: single jerseys of 97 to 209 g/m², quoted second-hand, on "
        "specimens of 25 cm instead of 30",
    ),
)
_SILK = FabricSample(
    "silk",
    "crepe satin of 82 g/m² (19 momme)",
    0.082,
    (4000.0, 2500.0),
    14.0,
    0.1,
    1.2e-6,
    None,
    None,
    (),
    (
        "all numbers but the weight in mommes are estimates, of the order that KES-F gives for "
        "soft silk cloth: B 0.012 gf·cm²/cm, G 0.25 gf/(cm·°)",
    ),
)
_WOOL = FabricSample(
    "wool",
    "worsted suiting, 2/2 twill",
    0.235,
    (4000.0, 2500.0),
    45.0,
    0.277,
    9.8e-6,
    0.568e-3,
    None,
    ("areal_density", "poisson", "thickness"),
    (
        "Penava, Šimić Penava, Knezić: Determination of the elastic constants of plain woven "
        "fabrics by a tensile test in various directions, Fibres & Textiles in Eastern Europe "
        "22(2), 2014, quoted second-hand: weight, thickness and Poisson's ratio of its wool",
        "the other numbers are estimates: B 0.1 gf·cm²/cm, and a shear modulus amid the 30 to "
        "80 N/m within which FAST calls a suiting easy to make up",
    ),
)
_LEATHER = FabricSample(
    "leather",
    "chrome-tanned sheep garment leather, 0.8 mm",
    0.50,
    *_isotropic(10000.0, 0.4),
    1.56e-5,
    0.8e-3,
    (0.4735, 0.699),
    ("thickness", "rigidity"),
    (
        "Memon, Chaklie, Yesuf, Zhu: Study on effect of leather rigidity and thickness on "
        "drapability of sheep garment leather, Materials 14(16), 4553 (2021): thickness 0.64 to "
        "0.96 mm, flexural rigidity 9.2 to 22, drape coefficient 47.35 to 69.9%. The abstract has "
        "no unit of the rigidity, which is read as mN·mm = µJ; the middle is taken",
        "weight and moduli are estimates",
    ),
)
_PAPER = FabricSample(
    "paper",
    "copying paper of 80 g/m²",
    0.080,
    *_isotropic(5.32e9 * 105e-6, 0.3),
    5.32e9 * (105e-6) ** 3 / 12,
    105e-6,
    None,
    ("areal_density", "membrane", "rigidity", "thickness"),
    (
        "Young's modulus 5.32 GPa, the mean of tensile tests on three strips of 100 by 15 mm up to "
        "0.25%: supplementary figure S1 of a study of folded paper (21docs.com, article 548790)",
        "thickness 105 µm of copying paper of 80 g/m²: happyfolding.com, review of copy paper",
        "poisson is an estimate; the grain is left out: across it paper is about half as stiff",
    ),
)
_RUBBER = FabricSample(
    "rubber",
    "sheet of vulcanised natural rubber, 1 mm",
    0.95,
    *_isotropic(1500.0, 0.49),
    1.5e6 * 1e-3**3 / 12,
    1e-3,
    None,
    ("areal_density", "membrane", "shear", "poisson", "rigidity"),
    (*MATERIALS["rubber"].sources, "for a thickness of 1 mm, which is a choice"),
)
_FELT = FabricSample(
    "felt",
    "pressed wool felt, SAE F-1, 1/16 in",
    0.5425,
    *_isotropic(7.0e6 * 1.5875e-3, 0.2),
    7.0e6 * 1.5875e-3**3 / 12,
    1.5875e-3,
    None,
    ("areal_density", "thickness"),
    (
        "SAE J314, felt F-1 of 1/16 in: 0.95 to 1.05 lb/yd², as given by American Bacon Boston "
        "Felt (abbfco.com), which also has its tensile strength, at least 500 psi",
        "moduli and rigidity are estimates: 7 MPa is that strength over an assumed 50%",
    ),
)

FABRICS: Mapping[str, FabricSample] = MappingProxyType(
    {
        f.name: f
        for f in (
            _COTTON, _DENIM, _SILK, _WOOL, _JERSEY, _LEATHER, _PAPER, _RUBBER, _FELT,
        )
    }
)  # fmt: skip
"""Fabrics by name."""
