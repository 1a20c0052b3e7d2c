"""Objects travel to other processes: as pickles and copies, and in real processes."""

import copy
import importlib.util
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taut
from taut import constraints, importable, laws
from taut.formula import norm
from taut.run.record import record

JOB = Path(__file__).parent / "parallel_job.py"
ROOT = Path(__file__).parents[1]


def copies(value):
    return [pickle.loads(pickle.dumps(value)), copy.deepcopy(value)]


def start(arguments, **environment):
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("how", ["fork", "spawn", "joblib", "dask"])
def test_other_processes_give_the_same_bits(how):
    """With a law and a function of `__main__`, after the parent has run threaded steps."""
    needed = {"joblib": "joblib", "dask": "distributed"}.get(how)
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    if how == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    job = start([JOB, how], NUMBA_NUM_THREADS="2")
    assert job.stdout.strip() == "same bits", job.stderr


def test_a_fork_from_openmp_is_an_error_instead_of_a_hang():
    if importlib.util.find_spec("numba.np.ufunc.omppool") is None or sys.platform != "linux":
        pytest.skip("numba has no GNU OpenMP here")
    job = start([JOB, "fork"], NUMBA_NUM_THREADS="2", NUMBA_THREADING_LAYER="omp")
    assert "start processes by multiprocessing.get_context('spawn')" in job.stderr


def test_a_law_typed_at_a_prompt_cannot_be_spawned():
    typed = """
import multiprocessing, pickle, taut
from taut.formula import norm

@taut.energy
def pull(x, k):
    return k * norm(x[0])

pickle.loads(pickle.dumps(pull))  # for a forked process
multiprocessing.set_start_method("spawn")  # a RuntimeError if pickling had chosen a method
multiprocessing.Process(target=print, args=(pull([0], k=1.0),)).start()
"""
    job = start(["-c", typed])
    assert "LawError: law 'pull' cannot be pickled: it was typed into a notebook" in job.stderr


def make_local_law():
    @taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])})
    def local(x, k, l0):
        return k * (norm(x[1] - x[0]) - l0) ** 2

    return local


UNIMPORTABLE = {
    "law 'local'": lambda: make_local_law(),
    "law 'spring': the function for 'k'": lambda: laws.spring([[0, 1]], k=lambda t: 1 + t),
    "scripted: the function of time": lambda: constraints.scripted(0, lambda t: (t, 0, 0)),
    "handle: the function for `turn`": lambda: constraints.handle([0, 1], turn=lambda t: t),
}


@pytest.mark.parametrize("what", UNIMPORTABLE)
def test_functions_without_a_name_say_what_to_do(what, monkeypatch):
    monkeypatch.setattr(importable, "_has_pickler_by_value", lambda: False)
    value = UNIMPORTABLE[what]()
    with pytest.raises(taut.TautError) as caught:
        pickle.dumps(value)
    assert str(caught.value).startswith(f"{what} cannot be pickled: ")
    assert "define it by `def` at the top level of a file" in str(caught.value)
    for again in (copy.copy(value), copy.deepcopy(value)):  # within a process nothing is lost
        assert isinstance(again, type(value))


@pytest.mark.parametrize("what", UNIMPORTABLE)
def test_cloudpickle_takes_functions_without_a_name(what):
    cloudpickle = pytest.importorskip("cloudpickle")
    value = UNIMPORTABLE[what]()
    again = pickle.loads(cloudpickle.dumps(value))
    assert isinstance(again, type(value))
    if what == "law 'local'":
        points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
        one, two = (
            taut.System(points, mass=1.0, energies=[law([[0, 1]], k=3.0)]) for law in (value, again)
        )
        digests = [system._placed_energies["local"].digest for system in (one, two)]
        assert digests[0] == digests[1]


def test_a_law_under_two_names_is_made_of_its_formula(monkeypatch):
    monkeypatch.setattr(importable, "_has_pickler_by_value", lambda: False)
    for again in copies(STIFF):
        assert again.kind == "energy"
        assert again.limits == STIFF.limits
        assert again.formula is plain_formula


def plain_formula(x, k):
    return k * norm(x[1] - x[0])


STIFF = taut.energy(limits={"k": "> 0"})(plain_formula)


def test_a_mesh_keeps_everything_but_derived_arrays():
    mesh = taut.mesh.sheet(3, 2).with_(
        groups={"rim": [0, 1], "first": {"quad": [0]}},
        point_data={"weight": np.arange(12.0)},
        cell_data={"label": {"quad": np.arange(6)}},
        uv=taut.mesh.UV(np.ones((4, 2)), {"quad": np.zeros((6, 4), dtype=int)}),
    )
    assert len(mesh.edges) == 17
    for again in copies(mesh):
        assert "edges" not in vars(again)
        assert repr(again) == repr(mesh)
        assert again.points.tobytes() == mesh.points.tobytes()
        assert not again.points.flags.writeable
        assert list(again.cells) == list(mesh.cells)
        assert again.edges.tobytes() == mesh.edges.tobytes()
        assert again.groups["first"]["quad"].tolist() == [0]
        assert again.point_data["weight"].tolist() == list(range(12))
        assert again.cell_data["label"]["quad"].tolist() == list(range(6))
        assert again.uv.coordinates.tolist() == np.ones((4, 2)).tolist()
        with pytest.raises(taut.errors.MeshError, match="immutable"):
            again.cells["line"] = [[0, 1]]


def test_constraints_keep_their_motion():
    samples = ([0.0, 1.0], [[0.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
    given = [
        constraints.scripted([0], samples, until=3.0),
        constraints.handle([1, 2], move=samples, turn=([0, 1], [0, np.pi])),
        constraints.on_line(3, (1, 1, 0)),
        constraints.on_plane(4, (0, 0, 1), through=(0, 0, 0)),
        constraints.fixed([5]),
    ]
    points = np.random.default_rng(0).normal(size=(6, 3)) * [1, 1, 0]
    points[0] = 0
    system = taut.System(points, mass=1.0, constraints=given)
    for again in copies(system):
        assert [c.until for c in again.constraints] == [3.0, None, None, None, None]
        expected = system._projector.anchors(0.7)
        assert again._projector.anchors(0.7).tobytes() == expected.tobytes()


def test_results():
    spring = laws.spring([[0, 1], [1, 2]], k=100.0)
    system = taut.System(np.eye(3), mass=1.0, energies=[spring, laws.gravity()], fixed=[0])
    ledger = taut.Ledger()
    run = taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.03, ledger=ledger)
    reports = [report for _, report in run]
    rest = taut.equilibrium(system)
    results = [ledger, run.summary, reports, rest, taut.modes(system, rest.state), rest.members]
    for result in [*results, taut.Tolerance(1e-7), laws.rayleigh(alpha=1.0)]:
        for again in copies(result):
            assert str(again) == str(result)
    with pytest.raises(taut.errors.ModelError, match=r"send system, integrator and state instead"):
        pickle.dumps(run)


def test_errors_keep_their_message_and_attributes():
    system = taut.System([[0, 0, 0]], mass=1.0)
    state = system.initial_state()
    report = taut.Report("RK4", 0.1, 0.1, "explicit")
    for error in (
        taut.errors.LawError("no"),
        taut.errors.MeshError("no face", path="a.obj", line=3, element="face 7"),
        taut.errors.SceneError(["first", "second"], path="a.toml"),
        taut.NotConverged("missed", report, state),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert repr(vars(again)) == repr(vars(error))


def test_runs_are_opened_again(tmp_path):
    ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
    record(tmp_path / "run", ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    with taut.open_run(tmp_path / "run") as run:
        frames = run.frames[::2]
        for again in (pickle.loads(pickle.dumps(run)).frames[::2], copy.deepcopy(frames)):
            assert [f.step for f in again] == [f.step for f in frames]
            assert again[-1].q.tobytes() == frames[-1].q.tobytes()
