"""A script that sends systems to other processes and prints the bits that come back.

    python parallel_job.py fork|spawn|forkserver|joblib|dask

The law, the function of time and the worker are those of `__main__`. The parent runs threaded steps
before it starts processes: a forked child must not wait for threads that it has not inherited.
"""

import hashlib
import multiprocessing
import sys

import taut
from taut import laws
from taut.formula import norm


@taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])})
def stiffening(x, k, l0):
    s = norm(x[1] - x[0]) / l0 - 1
    return k * l0 * (s**2 / 2 + s**4 / 4)


def gust(t):
    return (3 * t, 0, 1)


def build(n):
    sheet = taut.mesh.sheet(n, n, plane="xz")
    return taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        energies=[stiffening(sheet.edges, k=100.0), laws.gravity()],
        loads=[laws.wind(sheet.triangles, velocity=gust)],
        constraints=[taut.constraints.scripted([0, n], ([0, 1], [[0, 0, 0], [0, 1, 0]]))],
    )


def run(system, integrator):
    *_, (state, _) = taut.simulate(system, integrator, h=0.01, until=0.03)
    return hashlib.sha256(state.q.tobytes() + state.v.tobytes()).hexdigest()


def main(how):
    # 16×16 has enough elements, and rows of its matrices, for several threads.
    jobs = [(build(n), taut.ImplicitEuler(solver="cg")) for n in (3, 16)]
    here = [run(*job) for job in jobs]
    if how == "joblib":
        from joblib import Parallel, delayed

        there = Parallel(n_jobs=2)(delayed(run)(*job) for job in jobs)
    elif how == "dask":
        from dask.distributed import Client

        with Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
            there = client.gather([client.submit(run, *job) for job in jobs])
    else:
        with multiprocessing.get_context(how).Pool(2) as pool:
            there = pool.starmap_async(run, jobs).get(timeout=120)
    assert [run(*job) for job in jobs] == here, "the parent after the children"
    print("same bits" if there == here else f"{here} became {there}")


if __name__ == "__main__":
    main(sys.argv[1])
