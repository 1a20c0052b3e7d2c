"""The threading layer: tbb if available, otherwise a fallback, with bit-identical results."""

import subprocess
import sys

CODE = """
import sys
import taut.threads
if sys.argv[1] != "tbb":
    taut.threads._load_tbb = lambda: False
if sys.argv[1] == "workqueue":
    taut.threads._importable = lambda pool: False
from taut.bench.net import cloth
import taut
system = cloth(12).system()
state = system.initial_state()
for _ in range(3):
    state, report = taut.ImplicitEuler(solver="cg").step(system, state, 0.01)
import numba
print(taut.threads.prepare_threads(), numba.threading_layer(), state.q.tobytes().hex()[:4096])
"""


def run(layer):
    made = subprocess.run(
        [sys.executable, "-c", CODE, layer], capture_output=True, text=True, check=True
    )
    return made.stdout.split()


def test_threading_layers_are_bit_identical():
    chosen, used, bits = run("tbb")
    assert chosen == used
    got, used, same = run("workqueue")  # available on every machine
    assert got == used == "workqueue"
    assert same == bits


def test_info_names_the_threading_layer(monkeypatch, capsys):
    from taut import threads
    from taut.cli import _info as info

    monkeypatch.setattr(threads, "_load_tbb", lambda: False)
    monkeypatch.setattr(threads, "_importable", lambda pool: False)
    monkeypatch.setattr(threads, "prepare_threads", lambda: "workqueue")
    info.info(clear_cache=False)
    assert "workqueue (tbb is" in capsys.readouterr().out
