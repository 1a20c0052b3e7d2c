"""The command `taut render`."""


def test_pictures_and_videos(command, hanging_run, tmp_path):
    code, out, err = command(
        "render",
        hanging_run,
        "-o",
        "a.png",
        "--size",
        "160x120",
        "--colour",
        "speed",
        "--camera",
        "side",
    )
    assert code == 0, err
    assert out.startswith("a.png: frame 20, speed from 0 to ")
    assert out.endswith(" m/s\n")
    assert "measuring a.png" in err
    assert "drawing a.png" in err
    assert command(
        "render", hanging_run, "-o", "b.gif", "--size", "160x120", "--every", "10", "-q"
    ) == (0, "", "")
    code, out, _ = command(
        "render",
        hanging_run,
        "-o",
        "c.gif",
        "--size",
        "160x120",
        "--fps",
        "10",
        "--speed",
        "2",
        "--turntable",
        "90",
    )
    assert out == "c.gif: 3 pictures, 10 per second\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.gif", "c.gif"]


def test_error_exit_codes(command, hanging_run, tmp_path):
    (tmp_path / "a.png").write_text("mine")
    code, _, err = command("render", hanging_run, "-o", "a.png")
    assert (code, err) == (2, "taut: a.png exists already; --overwrite replaces it\n")
    assert (tmp_path / "a.png").read_text() == "mine"
    for size in ("160", "0x10", "axb", "160x120x3", "-160x120"):
        code, _, err = command("render", hanging_run, "-o", "b.png", f"--size={size}")
        assert (code, "such as 1280x720" in err) == (2, True), size
    code, _, err = command("render", tmp_path, "-o", "b.png")
    assert (code, "Traceback" in err) == (4, False)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
