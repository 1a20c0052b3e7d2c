"""The command `taut view`."""

import os
import signal
import subprocess
import sys
import urllib.request

import pytest

from taut.cli.main import main
from tests.show.view.scenes import CLOTH, record_scene

pytest.importorskip("viser", reason="the extra view is not installed")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process; return its exit code, stdout and stderr."""

    def called(*arguments):
        monkeypatch.setattr(sys, "argv", ["taut", "view", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return called


@pytest.mark.parametrize("what", ["scene", "run"])
def test_view_prints_its_address_and_stops_at_ctrl_c(tmp_path, what):
    if what == "run":
        target = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.02"))
    else:
        target = tmp_path / "scene.toml"
        target.write_text(CLOTH)
    command = [sys.executable, "-m", "taut.cli", "view", str(target), "--no-browser", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            title, _, url = process.stdout.readline().strip().partition(": ")
            assert title == "A small cloth"
            with urllib.request.urlopen(url) as answer:
                assert answer.status == 200
            os.kill(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "Traceback" not in err
    assert "viser" not in out + err


def test_a_run_is_saved_as_a_page(tmp_path, run):
    folder = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.02"))
    assert run(folder, "--save", tmp_path / "a.html") == (
        0,
        f"wrote {tmp_path / 'a.html'}: 2 frames\n",
        "",
    )
    code, _, stderr = run(folder, "--save", tmp_path / "a.html")
    assert code == 2
    assert "--overwrite" in stderr


def test_missing_extra_is_named(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert run("spring") == (
        2,
        "",
        "taut: viewers need the package viser: pip install 'taut[view]'\n",
    )


def test_invalid_arguments_are_rejected(tmp_path, run):
    folder = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.02"))
    for arguments, words in (
        ((folder, "--set", "time.h=1"), "apply to scenes only"),
        ((folder, "--young", "1e5"), "apply to scenes only"),
        (("cloth", "--save", tmp_path / "a.html"), "is not the folder of a run"),
        (("no-such-scene",), "no built-in scene"),
        (("spring", "--no-browser", "--host", "no.such.host.invalid"), "cannot listen on"),
    ):
        code, _, stderr = run(*arguments)
        assert code == 2
        assert words in stderr
