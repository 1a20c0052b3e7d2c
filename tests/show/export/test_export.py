"""Export of all formats: selection of frames, rejected input, and atomic writes."""

import sqlite3
import subprocess
import sys
import tracemalloc
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import taut
from taut.errors import MissingExtra, ModelError, RunError
from taut.run.record import record
from taut.show.export import export
from taut.show.export._animation import make_identifiers, select_frames
from taut.show.export._formats import FORMATS
from taut.show.visual_model import model_from_run


@pytest.fixture
def opened(run):
    with taut.open_run(run) as found:
        yield found


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"every": 4}, [0, 4]),
        (
            {"start": 0.02, "stop": 0.08},
            [1, 2, 3, 4],
        ),  # both ends, though 0.08 is not 4 * 0.02 to the last bit
        ({"start": 0.03, "every": 2}, [2, 4]),
        ({"at_most": 3}, [0, 2, 5]),
        ({"at_most": 1}, [0]),
        ({"at_most": 100}, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_select_frames(opened, options, numbers):
    clip = select_frames(opened, model_from_run(opened), **options)
    assert clip.samples.before.tolist() == numbers
    assert clip.samples.is_recorded.all()
    assert [frame.t for frame in clip] == pytest.approx(clip.times.tolist(), abs=1e-15)


def test_thinning_is_even_and_keeps_both_ends(tmp_path):
    ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    record(tmp_path / "run", ball, taut.SymplecticEuler(), h=0.01, until=2.5)
    done = export(tmp_path / "run", tmp_path / "x.glb")
    assert (done.frames, done.recorded, done.thinned) == (100, 251, True)
    assert done.times == pytest.approx((0.0, 2.5), abs=1e-12)  # times are sums of h
    with taut.open_run(tmp_path / "run") as opened:
        thin = select_frames(opened, model_from_run(opened), at_most=100)
        gaps = np.diff(thin.samples.before)
        every = select_frames(opened, model_from_run(opened))
        assert every.rate == 100.0
        # without a shot frame 1 is the start, and a second has 24 frames
        np.testing.assert_allclose(every.codes, 1 + 0.24 * np.arange(251), rtol=0, atol=1e-12)
    assert (gaps.min(), gaps.max(), gaps.sum()) == (2, 3, 250)
    assert export(tmp_path / "run", tmp_path / "y.glb", at_most=251).frames == 251


@pytest.mark.parametrize(
    ("path", "options", "message"),
    [
        ("x.usdx", {}, "did you mean '.usd"),
        ("x.gltf", {}, "did you mean '.glb'"),
        ("x", {}, "the suffix must be one of"),
        (".obj", {}, "the suffix must be one of"),
        ("x.glb", {"every": 0}, "every must be a whole number, at least 1, got 0"),
        ("x.glb", {"every": 1.5}, "every must be a whole number, at least 1, got 1.5"),
        ("x.glb", {"at_most": 0}, "at_most must be a whole number, at least 1, got 0"),
        ("x.glb", {"frames": (1, 3)}, "give its fps as well"),
        ("x.glb", {"frames": (3, 2), "fps": 50}, "frames must end after they begin, got 3-2"),
        ("x.glb", {"frames": (0, 2), "fps": 50}, "at 50 fps the run has frames 1-6"),
        ("x.glb", {"frames": (1, 7), "fps": 50}, "frames 1-7 are not all there"),
        ("x.glb", {"frames": (1, 2, 3), "fps": 50}, "the first and the last one, got (1, 2, 3)"),
        ("x.glb", {"fps": 0.0}, "fps must be positive, got 0.0"),
        ("x.glb", {"fps": float("nan")}, "fps must be positive, got nan"),
        ("x.glb", {"start": 7.0}, "no frame from 7 s to 0.1 s; the run has 0 s to 0.1 s"),
        ("x.glb", {"start": 0.06, "stop": 0.02}, "no frame from 0.06 s to 0.02 s"),
        (7, {}, "must be a path, got 7"),
    ],
)
def test_reject_bad_arguments(run, tmp_path, path, options, message):
    with pytest.raises(ModelError) as caught:
        export(run, tmp_path / path if isinstance(path, str) else path, **options)
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_missing_run_raises(tmp_path):
    with pytest.raises(RunError, match="nowhere"):
        export(tmp_path / "nowhere", tmp_path / "x.glb")


def test_run_without_frames_raises(tmp_path):
    ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    record(tmp_path / "run", ball, taut.SymplecticEuler(), h=0.1, until=0.3)
    with closing(sqlite3.connect(tmp_path / "run/run.sqlite")) as file, file:
        file.execute("DELETE FROM frames")
    with pytest.raises(RunError, match="cannot read frame 0"):
        export(tmp_path / "run", tmp_path / "x.glb")
    assert not (tmp_path / "x.glb").exists()


@pytest.mark.parametrize("suffix", FORMATS)
def test_upper_case_suffixes(run, tmp_path, suffix):
    skip_without_package(suffix)
    for file in export(run, tmp_path / f"X{suffix.upper()}").files:
        assert file.suffix in (suffix.upper(), ".obj")
        assert file.stat().st_size > 0


@pytest.mark.parametrize("suffix", FORMATS)
def test_existing_files_are_kept_without_overwrite(run, tmp_path, suffix):
    skip_without_package(suffix)
    path = tmp_path / f"new/x{suffix}"
    files = export(run, path).files
    assert sorted(path.parent.iterdir()) == sorted(files)  # no other files
    before = [file.read_bytes() for file in files]
    files[-1].write_bytes(b"mine")
    with pytest.raises(ModelError, match=r"output exists: .*; --overwrite"):
        export(
            run,
            path,
            tell=lambda *_: pytest.fail("it must be rejected before any frame is written"),
        )
    assert files[-1].read_bytes() == b"mine"
    assert export(run, path, overwrite=True).files == files
    if suffix != ".vtkhdf":  # HDF5 notes the time
        assert [file.read_bytes() for file in files] == before


@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_frame_keeps_the_old_file(run, tmp_path, suffix, monkeypatch):
    skip_without_package(suffix)
    files = export(run, tmp_path / f"x{suffix}").files
    before = [file.read_bytes() for file in files]
    with taut.open_run(run) as opened:
        read = opened.frames._read
        monkeypatch.setattr(opened.frames, "_read", lambda i: read(i) if i != 3 else fail())
        with pytest.raises(RunError, match="frame 3 is damaged"):
            export(opened, tmp_path / f"x{suffix}", overwrite=True)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert [file.read_bytes() for file in files] == before


def fail():
    raise RunError("frame 3 is damaged")


def skip_without_package(suffix):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="usd-core is not installed")
    if suffix == ".vtkhdf":
        pytest.importorskip("h5py", reason="h5py is not installed")


FULL = """
import resource, signal, sys
from taut.errors import RunError
from taut.show.export import _usd, export
_usd.MAX_PENDING = 1
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for asked in sys.argv[3:]:
    suffix, limit = asked.split("=")
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    try:
        export(sys.argv[1], sys.argv[2] + suffix)
        print(asked, "written")
    except RunError as error:
        print(asked, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit on the size of files")
def test_full_disk(run, tmp_path):
    """File sizes are limited at various points.

    The error names the cause and no file is left behind. HDF5 on its own would crash.
    """
    pytest.importorskip("pxr", reason="usd-core is not installed")
    pytest.importorskip("h5py", reason="h5py is not installed")
    asked = []
    for suffix in FORMATS:
        size = max(file.stat().st_size for file in export(run, tmp_path / f"x{suffix}").files)
        asked += [
            f"{suffix}={limit}" for limit in [0, *np.linspace(1, size - 1, 6).astype(int).tolist()]
        ]
    words = [sys.executable, "-c", FULL, str(run), str(tmp_path / "full/x"), *asked]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == asked
    assert [line for line in lines if "cannot write" not in line or "too large" not in line] == []
    assert list((tmp_path / "full").iterdir()) == []


def test_memory_does_not_grow_with_frames(tmp_path):
    """A longer clip needs less than one frame of extra memory.

    Measured on NumPy arrays by tracemalloc.
    """
    dust = taut.System(
        np.random.default_rng(0).normal(size=(5000, 3)), mass=1.0, energies=[taut.laws.gravity()]
    )
    record(tmp_path / "run", dust, taut.SymplecticEuler(), h=0.01, until=0.4)
    for suffix in (".glb", ".ply", ".pc2", *([".vtkhdf"] if find_spec("h5py") else [])):
        export(tmp_path / "run", tmp_path / f"warm{suffix}", stop=0.1)
        peaks = []
        for stop in (0.1, 0.4):
            tracemalloc.start()
            export(tmp_path / "run", tmp_path / f"{stop}{suffix}", stop=stop)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[1] - peaks[0] < 5000 * 3 * 8, suffix


def test_folder_that_cannot_be_created(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        export(run, tmp_path / "file/x.glb")
    (tmp_path / "x.glb").mkdir()
    with pytest.raises(ModelError, match=r"the output must be a file, but .* is a folder"):
        export(run, tmp_path / "x.glb", overwrite=True)


def test_links_are_followed_and_permissions_kept(run, tmp_path):
    (tmp_path / "real.glb").write_bytes(b"old")
    (tmp_path / "real.glb").chmod(0o640)
    (tmp_path / "x.glb").symlink_to(tmp_path / "real.glb")
    export(run, tmp_path / "x.glb", overwrite=True)
    assert (tmp_path / "x.glb").is_symlink()
    assert (tmp_path / "real.glb").read_bytes()[:4] == b"glTF"
    assert (tmp_path / "real.glb").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("suffix", "module", "name"), [(".usdc", "pxr", "usd"), (".vtkhdf", "h5py", "vtkhdf")]
)
def test_missing_package_is_named_before_writing(run, tmp_path, monkeypatch, suffix, module, name):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, f"{module}.Usd", None)
    with pytest.raises(MissingExtra, match=rf"pip install 'taut\[{name}\]'"):
        export(run, tmp_path / f"x{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_run_without_a_scene_is_a_point_cloud(tmp_path):
    dust = taut.System([[0, 10, 0], [1, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    record(tmp_path / "run", dust, taut.SymplecticEuler(), h=0.1, until=0.5)
    (first, *_, last) = export(tmp_path / "run", tmp_path / "x.ply").files
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    assert trimesh.load(first).vertices.tolist() == [[0, 10, 0], [1, 10, 0]]
    with taut.open_run(tmp_path / "run") as opened:
        assert trimesh.load(last).vertices.tolist() == opened.frames[-1].q.tolist()


def test_export_of_an_unfinished_run(tmp_path):
    ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    steps = iter(range(1, 100))
    record(
        tmp_path / "run",
        ball,
        taut.SymplecticEuler(),
        h=0.1,
        until=1.0,
        stop=lambda: next(steps) == 4,
    )
    assert export(tmp_path / "run", tmp_path / "x.glb").frames == 5


def test_positions_too_large_for_single_precision_are_named(tmp_path):
    far = taut.System([[0, 1e39, 0]], mass=1.0, energies=[taut.laws.gravity()])
    record(tmp_path / "run", far, taut.SymplecticEuler(), h=0.1, until=0.1)
    for suffix in (".glb", ".pc2"):
        with pytest.raises(RunError, match="particles, t = 0 s: point 0 at"):
            export(tmp_path / "run", tmp_path / f"x{suffix}")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize(
    "hostile", ["../x", "/etc/x", "a/b", "..", "C:\\x", "con\u202e", "x" * 300, "-rf", "%n", "布料"]
)
def test_hostile_names_become_identifiers(hostile):
    (plain,) = make_identifiers([hostile])
    assert plain.isidentifier()
    assert plain.isascii()
    assert Path(plain).name == plain
    assert len(plain) <= 70


def test_names_stay_distinct():
    found = make_identifiers(["a b", "a_b", "a-b", "A_B", "a_b_2", ""])
    assert len({name.lower() for name in found}) == 6


def test_progress_is_reported(run, tmp_path):
    progress = []
    export(run, tmp_path / "x.glb", tell=lambda *words: progress.append(words))
    assert [(done, total) for done, total, _ in progress] == [(i, 6) for i in range(1, 7)]
    assert progress[-1][2] == pytest.approx(0.1)
