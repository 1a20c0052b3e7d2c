"""Tearing: a sheet with a slit is pulled apart, and the ledger records the energy of each thread.

A thread breaks at the strain ε. The energy ½k(l - l₀)² that is lost with it is ½k(ε l₀)², plus what
the last step has stretched it beyond ε. The seam in the middle is weaker than the rest, and the
slit is at its left end. The work of pulling is stored, dissipated or lost with the threads, and the
sheet ends up in two pieces.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import taut
from taut import laws
from taut.constraints import fixed, scripted

# N/m, N/m, breaking strain of the seam, m/s, fraction of the width
K, SHEAR, WEAK, SPEED, SLIT = 100.0, 20.0, 0.1, 0.1, 0.3

sheet = taut.mesh.sheet(16, 9, size=(0.8, 0.45))
x = sheet.points
low, high = sheet.select("y == min"), sheet.select("y == max")


def cut_slit(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the threads that do not cross the slit, and the strain at which each breaks.

    The strain is a tenth in the seam, and too large to be reached elsewhere.
    """
    seam = (x[pairs, 1].min(axis=1) < 0.225) & (x[pairs, 1].max(axis=1) > 0.225)
    there = ~(seam & (x[pairs, 0].mean(axis=1) < SLIT * 0.8))
    return pairs[there], np.where(seam, WEAK, 1e3)[there]


threads, threads_break = cut_slit(sheet.edges)
crossed, crossed_break = cut_slit(sheet.diagonals)
torn_sheet = taut.System(
    x,
    mass=taut.areal_mass(sheet, 0.2),
    energies=[
        laws.spring(threads, k=K, breaking_strain=threads_break),
        laws.spring(crossed, k=SHEAR, breaking_strain=crossed_break, name="shear"),
    ],
    damping=[laws.drag(alpha=5.0)],
    constraints=[fixed(low), scripted(high, lambda t: x[high] + [0.0, SPEED * t, 0.0])],
)


def run() -> dict[str, object]:
    """Pull until the sheet is in two pieces.

    Returns the ledger [J], the number of threads broken in each step, the least energy that they
    can take [J], the number of pieces, and the states.
    """
    ledger, states, broken = taut.Ledger(), [], []
    for state, report in taut.simulate(
        torn_sheet, taut.ImplicitEuler(), h=0.005, until=0.8, ledger=ledger
    ):
        states.append(state)
        broken.append(report.torn)
    pairs = np.concatenate([threads[state.active["spring"]], crossed[state.active["shear"]]])
    links = coo_array((np.ones(len(pairs)), pairs.T), shape=(sheet.n, sheet.n))
    least = 0.0
    for name, all_pairs, k in (("spring", threads, K), ("shear", crossed, SHEAR)):
        rest = np.linalg.norm(np.diff(x[all_pairs[~state.active[name]]], axis=1), axis=2)
        least += float((k / 2 * (WEAK * rest) ** 2).sum())
    pieces = connected_components(links)[0]
    return {
        "book": ledger.total(),
        "broken": np.array(broken),
        "least": least,
        "pieces": pieces,
        "states": states,
    }


def picture(figure, result) -> None:
    """Draw the threads that are left, without shear springs, at three times."""
    count = np.cumsum(result["broken"])
    moments = [np.searchsorted(count, part * count[-1]) for part in (1e-9, 0.5, 1.0)]
    for axes, step in zip(figure.subplots(1, 3, sharey=True), moments, strict=True):
        state = result["states"][step]
        ends = state.q[threads[state.active.get("spring", slice(None))], :2]
        axes.plot(
            *np.pad(ends, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan).reshape(-1, 2).T, lw=0.8
        )  # nan lifts the pen
        axes.set(title=f"t = {state.t:.2f} s, {count[step]} broken", aspect="equal")
        axes.axis("off")


if __name__ == "__main__":
    result = run()
    print(result["book"])
    torn = sum(result["book"].torn.values())
    print(
        f"{result['broken'].sum()} threads broke and took {torn:.6f} J, at least "
        f"{result['least']:.6f} J"
    )
    print(f"{result['pieces']} pieces are left")
