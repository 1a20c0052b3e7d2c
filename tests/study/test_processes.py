"""Studies in processes of their own: a real scheduler, signals, and kill -9."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SWEEP = [sys.executable, "-m", "taut.cli"]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
}
VARY = ["--vary", "body.chain.density=0.2:1:24", "--measure", "depth=max(y0 - y)"]
SHORT = ["--set", "time.duration=0.3"]

pytest.importorskip("distributed", reason="needs the extra sweep")


def start(*words, **options):
    return subprocess.Popen(
        [*SWEEP, *map(str, words)],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process, code=0):
    out, err = process.communicate(timeout=300)
    assert process.returncode == code, out + err
    return out


def test_a_scheduler_and_two_workers_that_run_already(tmp_path):
    """The workers have files of the study only from the scheduler, and the table is the same."""
    from benchmarks.reliability.sweep_kill import Cluster

    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    (tmp_path / "two.obj").write_text("v 0 0 0\nv 2 0 0\nl 1 2\n")
    words = ["sweep", tmp_path / "one.obj", "--vary", "body.body.mesh.file=one.obj,two.obj"]
    words += ["--area", "1e-4", "--young", "1e6", "--density", "1000", "--set", "time.duration=0.1"]
    words += ["--measure", "mass=sum(mass)", "--json"]
    cluster = Cluster()
    try:
        remote = start(*words, "-o", tmp_path / "remote", "--scheduler", cluster.address)
        found = json.loads(finish(remote))
    finally:
        cluster.close()
    assert (found["done"], found["failed"]) == (2, 0)
    finish(start(*words, "-o", tmp_path / "local", "--workers", 1))
    tables = [(tmp_path / name / "results.csv").read_bytes() for name in ("remote", "local")]
    assert tables[0] == tables[1]
    masses = [line.split(",")[2] for line in tables[0].decode().splitlines()[1:]]
    assert float(masses[1]) == pytest.approx(2 * float(masses[0]))


def test_no_scheduler_there(tmp_path):
    process = start(
        "sweep", "chain", *VARY, "-o", tmp_path / "s", "--scheduler", "tcp://127.0.0.1:1"
    )
    _, err = process.communicate(timeout=120)
    assert process.returncode == 4
    assert "there is no Dask scheduler at tcp://127.0.0.1:1" in err
    assert "Traceback" not in err


@pytest.mark.skipif(os.name != "posix", reason="process groups")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_leave_a_study_that_can_be_resumed(tmp_path, number):
    """A terminal sends Ctrl-C to the workers too."""
    folder = tmp_path / "s"
    words = ["sweep", "chain", *VARY, *SHORT, "-o", folder, "--workers", 2]
    process = start(*words, start_new_session=True)
    deadline = time.monotonic() + 120
    while len(list(folder.glob("rows/[0-9]*.json"))) < 2 and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "Traceback" not in err
    assert f"taut resume {folder} does what is missing" in out
    done = len(list(folder.glob("rows/[0-9]*.json")))
    assert 2 <= done < 24
    found = json.loads(finish(start("resume", folder, "--json", "--workers", 2)))
    assert found == {
        "folder": str(folder),
        "outcome": "finished",
        "runs": 24,
        "done": 24,
        "failed": 0,
    }


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_three_kills_at_random_moments(tmp_path):
    """Thirty are in benchmarks/sweeps.py."""
    command = ["-m", "benchmarks.sweeps", "kills", "--kills", "3", "--runs", "40", "--seed", "2"]
    done = subprocess.run(
        [sys.executable, *command, "--folder", str(tmp_path), "--json"],
        env=ENVIRONMENT,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["failures"] == []
    assert sum(count for what, count in found["counts"].items() if "killed" in what) == 3


def test_everything_listens_on_loopback_with_certificates(client):
    """The cluster that a study starts is closed to other machines, and to other users of this."""
    import psutil
    from distributed import Client

    addresses = [client.scheduler.address, *client.nthreads()]
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    pids = [os.getpid(), *client.run(os.getpid).values()]
    listening = [
        connection.laddr.ip
        for pid in pids
        for connection in psutil.Process(pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    ]
    assert len(listening) >= 3
    assert set(listening) == {"127.0.0.1"}
    address = client.scheduler.address.replace("tls://", "tcp://")
    with pytest.raises((OSError, TimeoutError)):
        Client(address, timeout="2s")
