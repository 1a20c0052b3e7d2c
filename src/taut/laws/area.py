"""Area preservation, V = ½ k (A - A₀)²/A₀."""

from taut.formula.law import energy
from taut.laws.geometry import area as measured
from taut.laws.geometry import fullness, sized


@energy(
    rest={"area0": measured},
    invariant="rigid motion",
    limits={"k": ">= 0", "area0": "> 0"},
    proper={"has no area": fullness},
    check=sized(*range(3, 21)),
)
def area(x, k, area0):
    """A face that resists a change of its area: V = ½ k (A - A₀)²/A₀. Triangles, quads and polygons (`Mesh.cells`).

    k : [N/m]; the modulus against a change of area that it adds to the sheet
    area0 : rest area [m²] (default: measured on the rest shape)

    What springs cannot express: with it a sheet of springs, stuck at Poisson's ratio 1/3, gets a larger one. It does not see shear,
    nor the sign: a triangle turned over is as good as new. A warped polygon counts with its vector area. Put it beside a
    `spring` on every edge. A large k on all triangles locks a sheet that is to bend in its own plane. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return k / 2 * (measured(x) - area0) ** 2 / area0
