"""The command `taut export`."""

import pytest


def test_export_to_a_file(command, run, tmp_path):
    code, out, err = command("export", run, "-o", "x.glb", "--every", 2)
    assert code == 0, err
    assert out == "x.glb: 3 of 6 frames, t = 0 s to 0.08 s\n"
    assert "taut export: x.glb …" in err
    assert (tmp_path / "x.glb").read_bytes()[:4] == b"glTF"
    code, _, err = command("export", run, "-o", "x.glb")
    assert (code, "--overwrite" in err) == (2, True)
    assert command("export", run, "-o", "x.glb", "--overwrite", "--quiet") == (0, "", "")


def test_export_to_a_sequence(command, run):
    code, out, err = command(
        "export", run, "-o", "all/x.obj", "--start", 0.02, "--stop", 0.08, "--at-most", 2
    )
    assert code == 0, err
    assert out == "all/x_0000.obj and all/x_0001.obj: 2 of 6 frames, t = 0.02 s to 0.08 s\n"


def test_export_of_a_shot(command, run, tmp_path):
    code, out, err = command("export", run, "-o", "x.ply", "--fps", 100, "--frames", "2-4")
    assert code == 0, err
    assert (
        out == "x_0002.ply to x_0004.ply (3 files): 3 frames, 2 to 4 at 100 fps, "
        "t = 0.01 s to 0.03 s\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere", "-o", "x.glb"], 2, "nowhere"),
        (["RUN", "-o", "x.gbl"], 2, "did you mean '.glb'?"),
        (["RUN"], 2, "--output"),
        (["RUN", "-o", "x.glb", "--frames", "1:4"], 2, "as in 1-240, got '1:4'"),
        (["RUN", "-o", "x.glb", "--every", "0"], 2, "--every"),
    ],
)
def test_bad_input_exits_with_code_and_message(command, run, words, code, message):
    found, out, err = command("export", *(run if word == "RUN" else word for word in words))
    assert (found, out) == (code, "")
    assert message in err
