"""Tearing: a sheet with a slit is pulled apart, its threads break one after the other.

And the book has the energy of each.

A thread breaks at the strain ε. It leaves with ½k(l - l₀)², which is ½k(ε l₀)² and what the last
step has stretched it beyond. The seam in the middle is weaker than the rest, and the slit is at its
left. What the hands put in is stored, dissipated or gone with the threads, and the sheet ends as
two pieces.
"""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import taut
from taut import laws
from taut.constraints import fixed, scripted

K, SHEAR, WEAK, SPEED, SLIT = (
    100.0,
    20.0,
    0.1,
    0.1,
    0.3,
)  # N/m, N/m, breaking strain of the seam, m/s, part of the width

sheet = taut.mesh.sheet(16, 9, size=(0.8, 0.45))
x = sheet.points
low, high = sheet.select("y == min"), sheet.select("y == max")


def kept(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Threads without those of the slit, and the strain at which each breaks.

    A tenth in the seam, never elsewhere.
    """
    seam = (x[pairs, 1].min(axis=1) < 0.225) & (x[pairs, 1].max(axis=1) > 0.225)
    there = ~(seam & (x[pairs, 0].mean(axis=1) < SLIT * 0.8))
    return pairs[there], np.where(seam, WEAK, 1e3)[there]


threads, threads_break = kept(sheet.edges)
crossed, crossed_break = kept(sheet.diagonals)
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
    """Pull until it is in two.

    Returns the book [J], the breaks by step, the least they can take [J], and the pieces left.
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
    """The threads that are left, without those of the shear, at three moments."""
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
