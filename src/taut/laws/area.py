"""Area preservation, V = ½ k (A - A₀)²/A₀."""

from taut.binding.decorators import energy
from taut.laws._geometry import area_ratio, polygon_area, require_particles


@energy(
    rest={"area0": polygon_area},
    invariant="rigid motion",
    limits={"k": ">= 0", "area0": "> 0"},
    proper={"has no area": area_ratio},
    check=require_particles(*range(3, 21)),
)
def area(x, k, area0):
    """Face that resists a change of its area A: V = ½ k (A - A₀)²/A₀.

    k : [N/m]; modulus against a change of area that it adds to the sheet
    area0 : rest area A₀ [m²] (default: measured on the rest shape)

    Elements are triangles, quads or polygons (`Mesh.cells`), together with a `spring` on every
    edge. A sheet of springs alone has Poisson's ratio 1/3; with this law it has a larger one. It
    does not resist shear, and it has no sign: a triangle that is turned over has the same energy. A
    warped polygon has the norm of its vector area. A large k on all triangles locks a sheet that
    bends in its own plane. Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    return k / 2 * (polygon_area(x) - area0) ** 2 / area0
