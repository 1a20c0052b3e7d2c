"""The catalogue of laws. Written by `python -m tests.laws.stubs`: do not edit."""

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from taut.arrays import Float, Numbers
from taut.binding.law import Damping, Energy, Law, Load
from taut.laws.rayleigh import rayleigh as rayleigh

_Parameter = Numbers | Callable[[float], Any]
_LoadParameter = _Parameter | Callable[[Float, float], Any]

__all__ = [
    "area",
    "area_barrier",
    "attachment",
    "bridson_bending",
    "bridson_damping",
    "cable",
    "contact_friction",
    "corotated_solid",
    "discrete_shell_area",
    "discrete_shell_bending",
    "discrete_shell_edge",
    "drag",
    "edge_edge_contact",
    "enclosed_volume",
    "equal_lengths",
    "force",
    "force_density",
    "gas",
    "gravity",
    "membrane_pressure",
    "neo_hookean_membrane",
    "neo_hookean_solid",
    "offset_attachment",
    "orthotropic_membrane",
    "pin",
    "planar_rod_bending",
    "planarity",
    "plane_contact",
    "plane_spring",
    "plastic_bending",
    "plastic_spring",
    "point_edge_contact",
    "point_point_contact",
    "point_triangle_contact",
    "pressure",
    "rayleigh",
    "rod_bending",
    "rod_clamp",
    "rod_hinge",
    "shell_bending",
    "sphere_spring",
    "spring",
    "spring_damping",
    "stiffening_spring",
    "strain_limit",
    "stvk_membrane",
    "surface_tension",
    "tension",
    "volume",
    "volume_barrier",
    "wind",
    "zero_length_spring",
]

class _Area(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        area0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Face that resists a change of its area A: V = ½ k (A - A₀)²/A₀.

        k : [N/m]; modulus against a change of area that it adds to the sheet
        area0 : rest area A₀ [m²] (default: measured on the rest shape)
        """

area: _Area

class _AreaBarrier(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        area0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Face that cannot collapse: V = -k A₀ (1 - 2A/A₀)² ln(2A/A₀) where A < A₀/2, else 0.

        k : [N/m]; of the order of Young's modulus times the thickness
        area0 : rest area A₀ [m²] (default: measured on the rest shape)
        """

area_barrier: _AreaBarrier

class _Attachment(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        weights: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring of length zero from a particle to a point of a cell: V = ½ k |x₀ - Σ wᵢ xᵢ/Σ wᵢ|².

        k : stiffness [N/m]
        weights : wᵢ of the corners [1], shape (m, corners), divided by their sum (default:
            barycentric coordinates of the particle's position at rest, projected onto an edge or
            triangle)
        """

attachment: _Attachment

class _BridsonBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        ratio: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of Bridson, Marino and Fedkiw (2003).

        k : [J]; the rigidity of a sheet of equilateral triangles is k/4
        ratio : c = |Ē|²/(|N̄₁| + |N̄₂|) [1] (default: measured on the rest shape, where the paper
            takes the current one: equal as long as the triangles keep their shape)
        theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)
        """

bridson_bending: _BridsonBending

class _BridsonDamping(Law[Damping]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Damping:
        """Damping of bending of Bridson, Marino and Fedkiw (2003): Ψ = ½ k |E| (dθ/dt)².

        k : [N s]
        """

bridson_damping: _BridsonDamping

class _Cable(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        l0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Cable, a spring that carries no compression: V = ½ k max(l - l₀, 0)².

        k : stiffness [N/m]; of a wire E·A/l₀
        l0 : slack length [m] (default: measured on the rest shape)
        """

cable: _Cable

class _ContactFriction(Law[Damping]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        force: _Parameter,
        normal: _Parameter,
        weights: _Parameter,
        speed: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Damping:
        """Coulomb friction of a contact: Ψ = F φ(|u|), a force F in the direction of -u.

        force : F, friction coefficient times normal force [N]
        normal : of the contact, of length 1 [1]
        weights : w of the particles [1], (m, s): the velocity of one side against the other is Σ
            wᵢvᵢ; with one particle it is against what does not move
        speed : ε, sliding speed at which the whole force is reached [m/s]
        """

contact_friction: _ContactFriction

class _CorotatedSolid(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        young: _Parameter,
        poisson: _Parameter,
        Dm_inv: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Tetrahedron with a linear law that turns with it: V = v (μ |F - R|² + ½ λ (s - 3)²).

        young : Young's modulus [Pa]
        poisson : Poisson's ratio ν [1], above -1 and below 0.5
        Dm_inv : inverse of the rest edges, 3×3 [1/m] (default: measured on the rest shape)
        """

corotated_solid: _CorotatedSolid

class _DiscreteShellArea(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        area0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Change of a triangle's area in Discrete Shells (Grinspun et al. 2003): V = k (1 - A/Ā)² Ā.

        k : [N/m]
        area0 : rest area Ā [m²] (default: measured on the rest shape)
        """

discrete_shell_area: _DiscreteShellArea

class _DiscreteShellBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        ratio: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of Discrete Shells (Grinspun et al. 2003): V = k (θ - θ̄)² |ē|/h̄.

        k : [J]; the rigidity of a sheet of equilateral triangles is 6k
        ratio : |ē|/h̄ = 3|ē|²/(Ā₁ + Ā₂) [1], h̄ a third of the mean height (default: measured on
            the rest shape)
        theta0 : rest angle θ̄ [rad], from -π to π (default: measured on the rest shape)
        """

discrete_shell_bending: _DiscreteShellBending

class _DiscreteShellEdge(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        l0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Stretching of an edge in Discrete Shells (Grinspun et al. 2003): V = k (1 - |e|/|ē|)² |ē|.

        k : [N]
        l0 : rest length |ē| [m] (default: measured on the rest shape)
        """

discrete_shell_edge: _DiscreteShellEdge

class _Drag(Law[Damping]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        alpha: _Parameter,
        mass: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Damping:
        """Drag proportional to mass: Ψ = ½ α m |v|², force -α m v.

        alpha : [1/s]; speed falls by the factor e in 1/α
        mass : [kg] (default: that of the particles). With mass=1, alpha is the coefficient c [N
            s/m] of a force -c v
        """

drag: _Drag

class _EdgeEdgeContact(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        thickness: _Parameter,
        range: _Parameter,
        smoothing: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Contact of two edges: V = -k (g - d)² ln(g/d) where the gap g < d.

        k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
        thickness : r, the √F at which they touch [m]
        range : d, the gap below which they repel each other [m]
        smoothing : ε² [m²]
        """

edge_edge_contact: _EdgeEdgeContact

class _EnclosedVolume(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        volume0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Closed surface full of liquid: V = ½ k (v - v₀)²/v₀, v the enclosed volume.

        k : bulk modulus of the filling [Pa]; of water 2.2e9
        volume0 : rest volume v₀ [m³] (default: enclosed by the rest shape); a function of time
            fills or empties the body
        """

enclosed_volume: _EnclosedVolume

class _EqualLengths(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Two members that resist a difference of their lengths: V = ½ k (l₁ - l₂)².

        k : stiffness against the difference [N/m]
        """

equal_lengths: _EqualLengths

class _Force(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        f: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Given force on each particle: V = -f·x. The ledger books its work.

        f : [N], one vector for all elements, one per element (m, 3), or a function of time
        """

force: _Force

class _ForceDensity(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        d: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Cable or strut of given force density d, force over length: V = ½ d l².

        d : force density [N/m]; positive in tension, negative in a strut
        """

force_density: _ForceDensity

class _Gas(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        p: _Parameter,
        volume0: _Parameter | None = None,
        ambient: _Parameter = 101325.0,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Gas sealed in a closed surface of volume v: V = -(p + pₐ) v₀ ln(v/v₀) + pₐ (v - v₀).

        p : pressure difference, inside minus outside [Pa], at the volume v₀
        volume0 : v₀ [m³] (default: enclosed by the rest shape)
        ambient : pressure outside pₐ [Pa]; default 101325
        """

gas: _Gas

class _Gravity(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        mass: _Parameter | None = None,
        g: _Parameter = (0.0, -9.81, 0.0),
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Weight in a uniform field: V = -m g·x.

        g : acceleration [m/s²], a vector; default (0, -9.81, 0)
        mass : [kg] (default: that of the particles)
        """

gravity: _Gravity

class _MembranePressure(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        p: _Parameter,
        reference: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Pressure on a membrane held at its rim: V = -p v, v the volume swept since the rest shape.

        p : pressure difference [Pa], positive along the normals of the triangles: one number for
            all, or a function of time for inflating
        reference : corners [m] of the triangles from which v counts, shape (m, 9) (default: the
            rest shape)
        """

membrane_pressure: _MembranePressure

class _NeoHookeanMembrane(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        young: _Parameter,
        poisson: _Parameter,
        thickness: _Parameter,
        Dm_inv: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Triangle of a rubber sheet: V = ½ A t μ (tr C - 2 - (1-ν)/(1-2ν) ln J²), C = FᵀF.

        young : Young's modulus at small strain [Pa]
        poisson : Poisson's ratio ν at small strain [1], from 0 to 0.5, incompressible
        thickness : t of the rest shape [m]
        Dm_inv : inverse of the rest edges in the plane of the triangle, 2×2 [1/m] (default:
            measured on the rest shape)
        """

neo_hookean_membrane: _NeoHookeanMembrane

class _NeoHookeanSolid(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        young: _Parameter,
        poisson: _Parameter,
        Dm_inv: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Tetrahedron of rubber: V = v (½ μ (tr C - 3 - 2 ln J) + ¼ λ (J² - 1 - 2 ln J)), C = FᵀF.

        young : Young's modulus at small strain [Pa]
        poisson : Poisson's ratio ν at small strain [1], from 0 to below 0.5
        Dm_inv : inverse of the rest edges, 3×3 [1/m] (default: measured on the rest shape)
        """

neo_hookean_solid: _NeoHookeanSolid

class _OffsetAttachment(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        weights: _Parameter | None = None,
        offset: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring of length zero to a point above a triangle: V = ½ k |x₀ - Σ wᵢ xᵢ/Σ wᵢ - d n|².

        k : stiffness [N/m]
        weights : wᵢ of the corners [1], shape (m, 3), divided by their sum (default: barycentric
            coordinates of the particle's position at rest, projected onto the triangle)
        offset : d, the height above the triangle [m] (default: measured on the rest shape)
        """

offset_attachment: _OffsetAttachment

class _OrthotropicMembrane(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        warp_young: _Parameter,
        weft_young: _Parameter,
        poisson: _Parameter,
        shear: _Parameter,
        thickness: _Parameter,
        warp: _Parameter,
        edges0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Triangle of a woven sheet: V = ½ A t (D₁₁E₁₁² + 2D₁₂E₁₁E₂₂ + D₂₂E₂₂² + 4G E₁₂²).

        warp_young : Young's modulus E₁ along the warp [Pa]
        weft_young : Young's modulus E₂ along the weft [Pa], at most E₁
        poisson : ν₁₂ [1]: a pull along the warp by ε narrows the sheet by ν₁₂ε
        shear : shear modulus G [Pa] between warp and weft
        thickness : t [m]
        warp : direction of the warp in the rest shape [1], of any length; its part in the plane of
            each triangle counts
        edges0 : rest edges from the first corner as columns, 3×2 [m] (default: measured on the
            rest shape)
        """

orthotropic_membrane: _OrthotropicMembrane

class _Pin(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        target: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Soft hold of a particle at a point: V = ½ k |x - target|².

        k : stiffness [N/m]
        target : [m], a point, one per element (m, 3), or a function of time (default: the
            particle's rest position)
        """

pin: _Pin

class _PlanarRodBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        EI: _Parameter,
        l: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of a rod in the plane z = 0: V = ½ (EI/l) (θ - θ₀)², θ > 0 counterclockwise.

        EI : bending stiffness [N m²]
        l : length of rod that bends here [m] (default: half of each segment at rest)
        theta0 : rest angle [rad], from -π to π (default: measured on the rest shape)
        """

planar_rod_bending: _PlanarRodBending

class _Planarity(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Face that resists warping: V = ½ k Σ d², d the distance of the diagonals of four corners.

        k : stiffness [N/m]
        """

planarity: _Planarity

class _PlaneContact(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        thickness: _Parameter,
        range: _Parameter,
        point: _Parameter,
        normal: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Contact of a particle and a plane: V = -k (g - d)² ln(g/d) where the gap g < d.

        k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
        thickness : r, the height at which the particle touches the plane [m]
        range : d, the gap below which the plane repels it [m]
        point : a point of the plane [m]
        normal : of length 1, towards the side that is free [1]
        """

plane_contact: _PlaneContact

class _PlaneSpring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        normal: _Parameter,
        through: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring of rest length zero from a particle to a plane: V = ½ k (n·(x - p))²/|n|².

        k : stiffness [N/m]
        normal : n [1], of any length other than zero
        through : a point p of the plane [m] (default: the particle's rest position)
        """

plane_spring: _PlaneSpring

class _PlasticBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        c: _Parameter,
        ratio: _Parameter | None = None,
        theta0: _Parameter | None = None,
        yield_angle: _Parameter,
        creep: _Parameter = 0.0,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Hinge that keeps a crease: V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)², θ₀ flows.

        c : bending rigidity [J], as of `shell_bending`
        ratio : |ē|²/(Ā₁ + Ā₂) [1], of the edge and the areas (default: measured on the rest shape)
        theta0 : rest angle θ₀ before it flows [rad], from -π to π (default: measured on the rest
            shape)
        yield_angle : largest elastic change |θ - θ₀| [rad]; what exceeds it becomes a crease. At a
            curvature κ a hinge turns by about κ times the height of its triangles: a finer mesh
            needs a smaller yield angle
        creep : rate [1/s] at which the elastic change becomes permanent below the yield
        """

plastic_bending: _PlasticBending

class _PlasticSpring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        l0: _Parameter | None = None,
        yield_strain: _Parameter,
        creep: _Parameter = 0.0,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring that keeps what it was stretched beyond its yield: V = ½ k (l - l₀)², l₀ flows.

        k : stiffness [N/m]
        l0 : rest length before it flows [m] (default: measured on the rest shape)
        yield_strain : largest elastic strain |l/l₀ - 1| [1]; what exceeds it becomes permanent
        creep : rate [1/s] at which the elastic elongation becomes permanent below the yield
        """

plastic_spring: _PlasticSpring

class _PointEdgeContact(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        thickness: _Parameter,
        range: _Parameter,
        smoothing: _Parameter = 0.0,
        offset: _Parameter = 0.0,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Contact of a point and an edge: V = -k (g - d)² ln(g/d) where the gap g < d.

        k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
        thickness : r, the distance at which they touch [m]
        range : d, the gap below which they repel each other [m]
        smoothing : ε² [m²], of an end of an edge (see `edge_edge_contact`)
        offset : c [m²], likewise
        """

point_edge_contact: _PointEdgeContact

class _PointPointContact(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        thickness: _Parameter,
        range: _Parameter,
        offset: _Parameter = 0.0,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Contact of two points: V = -k (g - d)² ln(g/d) where the gap g = √(|x₁ - x₀|² + c) - r < d.

        k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
        thickness : r, the distance at which the points touch [m]
        range : d, the gap below which they repel each other [m]
        offset : c [m²], of ends of edges (see `edge_edge_contact`)
        """

point_point_contact: _PointPointContact

class _PointTriangleContact(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        thickness: _Parameter,
        range: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Contact of a point and a triangle's plane: V = -k (g - d)² ln(g/d) where the gap g < d.

        k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
        thickness : r, the distance at which they touch [m]
        range : d, the gap below which they repel each other [m]
        """

point_triangle_contact: _PointTriangleContact

class _Pressure(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        p: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Constant pressure in a closed surface: V = -p v, v = Σ x₀·(x₁×x₂)/6 the enclosed volume.

        p : pressure difference, inside minus outside [Pa]: one number for all triangles, or a
            function of time for inflating
        """

pressure: _Pressure

class _RodBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        EI: _Parameter,
        l: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of a rod: V = ½ (EI/l) (θ - θ₀)², θ the turning angle at the middle of three.

        EI : bending stiffness [N m²], Young's modulus times the second moment of area: π r⁴/4 for
            a round rod, b t³/12 for a strip
        l : length of rod that bends here [m] (default: half of each segment at rest)
        theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6
            counts as straight)
        """

rod_bending: _RodBending

class _RodClamp(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        EI: _Parameter,
        l: _Parameter | None = None,
        direction: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Clamped end of a rod: V = ½ (2EI/l) θ², θ the angle of its first segment with a direction.

        EI : bending stiffness [N m²], as in `rod_bending`
        l : length of the first segment [m] (default: measured on the rest shape)
        direction : of the clamp [any unit], of any length, or a function of time (default: that of
            the segment at rest)
        """

rod_clamp: _RodClamp

class _RodHinge(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        l: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of a thread: V = ½ k (1 - cos(θ - θ₀)), θ the turning angle at the middle of three.

        k : [J]; a rod of segment length l has the bending stiffness EI = k l/2
        l : length of a segment [m] (default: the mean of both at rest); shorter than a tenth of
            it, a segment has no sharp direction
        theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6
            counts as straight)
        """

rod_hinge: _RodHinge

class _ShellBending(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        c: _Parameter,
        ratio: _Parameter | None = None,
        theta0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Bending of two triangles about their common edge: V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)².

        c : bending rigidity [J] of a sheet of equilateral triangles; other meshes have one that
            depends on the direction
        ratio : |ē|²/(Ā₁ + Ā₂) [1], of the edge and the areas (default: measured on the rest shape)
        theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)
        """

shell_bending: _ShellBending

class _SphereSpring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        centre: _Parameter,
        radius: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring of rest length zero from a particle to a sphere: V = ½ k (|x - c| - r)².

        k : stiffness [N/m]
        centre : c [m]
        radius : r [m]
        """

sphere_spring: _SphereSpring

class _Spring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        l0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Hookean spring between two particles: V = ½ k (l - l₀)².

        k : stiffness [N/m]
        l0 : rest length [m] (default: measured on the rest shape)
        """

spring: _Spring

class _SpringDamping(Law[Damping]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        c: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Damping:
        """Damper between two particles: Ψ = ½ c (dl/dt)², l their distance.

        c : [N s/m]
        """

spring_damping: _SpringDamping

class _StiffeningSpring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        beta: _Parameter,
        l0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring that stiffens with strain ε = l/l₀ - 1: V = k l₀² (ε²/2 + β ε⁴/4).

        k : stiffness at rest [N/m]
        beta : stiffening coefficient β [1]; at the strain 1/√(3β) the stiffness has doubled
        l0 : rest length [m] (default: measured on the rest shape)
        """

stiffening_spring: _StiffeningSpring

class _StrainLimit(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        limit: _Parameter,
        l0: _Parameter | None = None,
        start: _Parameter = 0.5,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Strain that never reaches a limit: V = -k d² (1 - p)² ln p where ε > ε₀ = start·s, else 0.

        k : [N/m]; of the order of the stiffness of the spring beside it. The strain stays below
            the limit for every k; with a larger one it stays farther below
        limit : largest strain s = l/l0 - 1 [1]
        l0 : rest length [m] (default: measured on the rest shape)
        start : part of the limit at which the force begins [1], from 0 to below 1
        """

strain_limit: _StrainLimit

class _StvkMembrane(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        young: _Parameter,
        poisson: _Parameter,
        thickness: _Parameter,
        Dm_inv: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Triangle of a sheet with a linear law of Green's strain: V = A t (μ tr E² + ½ λ' (tr E)²).

        young : Young's modulus [Pa]
        poisson : Poisson's ratio ν [1], above -1 and up to 0.5
        thickness : t [m]
        Dm_inv : inverse of the rest edges in the plane of the triangle, 2×2 [1/m] (default:
            measured on the rest shape)
        """

stvk_membrane: _StvkMembrane

class _SurfaceTension(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        stress: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Film or membrane of uniform stress σ: V = σ A, A the area of a triangle.

        stress : σ [N/m]
        """

surface_tension: _SurfaceTension

class _Tension(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        force: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Member that carries a given force N whatever its length: V = N l.

        force : N [N], positive in tension, negative in a strut
        """

tension: _Tension

class _Volume(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        volume0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Tetrahedron or hexahedron that resists a change of its volume v: V = ½ k (v - v₀)²/v₀.

        k : bulk modulus that it adds to the solid [Pa]
        volume0 : rest volume v₀ [m³] (default: measured on the rest shape)
        """

volume: _Volume

class _VolumeBarrier(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        volume0: _Parameter | None = None,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Tetrahedron that cannot turn inside out: V = -k v₀ (1 - 2v/v₀)² ln(2v/v₀) where v < v₀/2.

        k : [Pa]; of the order of Young's modulus
        volume0 : rest volume v₀ [m³] (default: measured on the rest shape)
        """

volume_barrier: _VolumeBarrier

class _Wind(Law[Load]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        velocity: _LoadParameter,
        density: _LoadParameter = 1.204,
        drag: _LoadParameter = 1.0,
        lift: _LoadParameter = 0.5,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Load:
        """Drag and lift of air on triangles: f = ½ ρ A [C_D |uₙ| u + C_L (|u| uₙ n̂ - uₙ² û)].

        velocity : of the air [m/s]: one vector, one per triangle (m, 3), a function of time t, or
            a function `lambda x, t: …` of the centres of the triangles (m, 3) [m] and time that
            returns (m, 3), such as `taut.materials.Gusts`
        density : of the air ρ [kg/m³]; default 1.204, at 20 °C
        drag : C_D [1], along the wind; about 1 for a plate that faces it
        lift : C_L [1], perpendicular to the wind; the largest lift is at 45°
        """

wind: _Wind

class _ZeroLengthSpring(Law[Energy]):
    def __call__(  # type: ignore[override]
        self,
        elements: ArrayLike | None = None,
        *,
        k: _Parameter,
        name: str | None = None,
        breaking_strain: Numbers | None = None,
    ) -> Energy:
        """Spring of rest length zero between two particles: V = ½ k |x₁ - x₀|².

        k : stiffness [N/m]
        """

zero_length_spring: _ZeroLengthSpring
