"""Pin-jointed structures and bars: self-stress, prestress, consistent mass, damping ratios."""

from __future__ import annotations

import numpy as np

from taut import laws
from taut.arrays import Float, Int
from taut.constraints.sliding import on_line
from taut.laws.rayleigh import rayleigh_coefficients
from taut.mesh.shapes.nets import rope
from taut.run.simulate import simulate
from taut.statics.determinacy import determinacy
from taut.statics.modes import modes
from taut.statics.stability import stability
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.system.building import consistent_mass, line_mass, rest_length
from taut.validate._bodies import build_system
from taut.validate.cases import Curve, Measurement, case


def build_prism(n: int) -> tuple[Float, Int]:
    """Return points [m] and members of a tensegrity prism of n struts: 2n horizontal cables, n
    others, then n struts. The upper polygon is turned by 90° - 180°/n.
    """
    angle = 2 * np.pi * np.arange(n) / n
    turned = angle + np.pi / 2 - np.pi / n
    lower = np.column_stack([np.cos(angle), 0 * angle, np.sin(angle)])
    upper = np.column_stack([np.cos(turned), 0 * angle + 1.0, np.sin(turned)])
    i = np.arange(n)
    after = (i + 1) % n
    members = [(i, after), (i + n, after + n), (i, i + n), (i, after + n)]
    return np.concatenate([lower, upper]), np.concatenate([np.column_stack(m) for m in members])


PRISMS = (3, 4, 5, 6, 8)


@case(
    "prism-self-stress",
    formula="force densities of n-prisms: horizontal over vertical cables = 1/(2 sin π/n)",
    source="Tibert and Pellegrino, Int. J. Space Struct. 18 (2003) 209; Connelly and Back, "
    "American Scientist 86 (1998) 142",
    expected=[1 / (2 * np.sin(np.pi / n)) for n in PRISMS],
    tolerance=1e-12,
    reason="the null space of a matrix of a few dozen rows: rounding",
)
def measure_prism_self_stress() -> Measurement:
    """Force densities in the single self-stress of free tensegrity prisms. The plot shows them
    against the number of struts.
    """
    ratios = []
    for n in PRISMS:
        points, members = build_prism(n)
        system = build_system(points, mass=1.0, energies=[laws.spring(members, k=1.0)])
        found = determinacy(system)
        densities = found.self_stress[0] / found.members.length
        ratios.append(densities[0] / max(densities[2 * n], densities[3 * n], key=abs))
    exact = [1 / (2 * np.sin(np.pi / n)) for n in PRISMS]
    ratios = np.abs(ratios).tolist()
    return Measurement(ratios, Curve(PRISMS, ratios, exact, "struts", "force density ratio"))


@case(
    "prism-stable",
    formula="a free simplex: 12 members, 18 coordinates, s = 1, m = 1; with its prestress stable, "
    "without it neutral, beside 6 rigid motions",
    source="Calladine, Int. J. Solids Struct. 14 (1978) 161; Pellegrino and Calladine, ibid. 22 "
    "(1986) 409",
    expected=[1, 1, 6, 6, 7],
    tolerance=1e-15,
    reason="whole numbers",
)
def measure_prism_stable() -> Measurement:
    """Self-stress states, mechanisms and rigid motions of a simplex; zero eigenvalues of K with its
    prestress and without. The plot shows the lowest stiffness against the prestress.
    """
    points, members = build_prism(3)
    loose = build_system(points, mass=1.0, energies=[laws.spring(members, k=1e3)])
    found = determinacy(loose)
    assert found.stiffening is not None

    def with_prestress(size: float) -> Float:
        rest = rest_length(points, members, 1e3, size * found.stiffening)  # type: ignore[operator]
        body = loose.with_(energies=[laws.spring(members, k=1e3, l0=rest)])
        return stability(body).eigenvalues

    sizes = np.linspace(0.0, 20.0, 6)
    lowest = [float(with_prestress(size)[6]) for size in sizes.tolist()]
    numbers = [
        len(found.self_stress),
        len(found.mechanisms),
        len(found.rigid),
        int((with_prestress(10.0) == 0.0).sum()),
        int((with_prestress(0.0) == 0.0).sum()),
    ]
    line = np.array([0.0, 20.0])
    curve = Curve(
        sizes, lowest, line * lowest[1] / sizes[1], "prestress [N]", "lowest stiffness [N/m]", line
    )
    return Measurement(numbers, curve)


N, EA, RHO = 16, 3.0, 0.7  # elements of a bar of 1 m; EA [N]; mass per length [kg/m]
WAVES = np.arange(1, N) * np.pi / N
FINITE = np.sqrt(6 * EA / RHO * (1 - np.cos(WAVES)) / (2 + np.cos(WAVES))) * N


@case(
    "consistent-bar",
    formula="ω² = (6E/ρh²)(1 - cos jπ/N)/(2 + cos jπ/N), above the jπ√(E/ρ)/L of the bar",
    source="Hughes, The Finite Element Method, 9.1",
    unit="rad/s",
    expected=FINITE,
    tolerance=1e-11,
    reason="eigenvalues to rounding",
)
def measure_consistent_bar() -> Measurement:
    """Axial frequencies of a bar of 16 springs held at both ends, with the consistent mass matrix.
    The plot shows them over the line of the continuous bar.
    """
    line = rope(N)
    bar = build_system(
        line.points,
        mass=line_mass(line, RHO),
        fixed=[0, N],
        energies=[laws.spring(line.edges, k=N * EA)],
        constraints=[on_line(range(1, N), (1, 0, 0))],
    )
    got = modes(bar, n=N - 1, mass=consistent_mass(line, RHO)).omega
    j = np.arange(1, N)
    exact = j * np.pi * np.sqrt(EA / RHO)
    return Measurement(got, Curve(j, got, exact, "mode", "ω [rad/s]"))


RATIOS = (0.01, 0.02)


@case(
    "rayleigh-ratios",
    formula="ζ = α/2ω + βω/2: 0.01 and 0.02 for the first and the third mode",
    source="Clough and Penzien, Dynamics of Structures, 12.5",
    expected=[*RATIOS, *RATIOS],
    tolerance=5e-4,
    reason="the decay is measured in a run of 3 periods with h = period/200: (ωh)²/4 = 2.5e-4",
)
def measure_rayleigh_ratios() -> Measurement:
    """Damping ratios of a chain: reported by `modes`, then measured in the decay of a mode that was
    let go. The plot shows the displacement of the third mode over its theoretical envelope.
    """
    line = rope(6)
    chain = build_system(
        line.points,
        mass=0.2,
        fixed=[0, 6],
        energies=[laws.spring(line.edges, k=50.0)],
        constraints=[on_line(range(1, 6), (1, 0, 0))],
    )
    free = modes(chain, n=3)
    alpha, beta = rayleigh_coefficients(RATIOS, (float(free.omega[0]), float(free.omega[2])))
    damped = chain.with_(damping=[laws.rayleigh(alpha=alpha, beta=beta)])
    reported = modes(damped, n=3).damping[[0, 2]]
    measured = []
    for mode, ratio in ((0, RATIOS[0]), (2, RATIOS[1])):
        omega = float(free.omega[mode])
        shape = 1e-3 * free.shapes[mode]
        start = damped.initial_state().with_(q=damped.rest + shape)
        h = 2 * np.pi / omega / 200
        amplitude, times = [], []
        for state, _ in simulate(damped, ImplicitMidpoint(), h=h, until=600 * h, state=start):
            moved = state.q - damped.rest
            pair = (np.sum(0.2 * moved * shape), np.sum(0.2 * state.v * shape) / omega)
            # of y = e^{-ζωt}(cos ω't + …): y² + ((ẏ/ω + ζy)/√(1 - ζ²))² is its envelope squared
            turned = (pair[1] + ratio * pair[0]) / np.sqrt(1 - ratio**2)
            amplitude.append(np.hypot(pair[0], turned))
            times.append(state.t)
        measured.append(-np.polyfit(times, np.log(amplitude), 1)[0] / omega)
    curve = Curve(
        times[::12], amplitude[::12],
        amplitude[0] * np.exp(-RATIOS[1] * omega * (np.array(times[::12]) - times[0])),
        "t [s]", "amplitude",
    )  # fmt: skip
    return Measurement([*reported, *measured], curve)
