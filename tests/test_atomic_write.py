"""Files are written completely or not at all, and existing files are replaced only on request."""

import errno
import os
import stat

import pytest

from taut.atomic_write import atomic_folder, atomic_open, atomic_paths, atomic_write

posix = pytest.mark.skipif(os.name != "posix", reason="requires POSIX permissions and links")


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_an_error_leaves_the_old_file_and_no_temporary_one(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def interrupt_stream():
        with atomic_open(path, overwrite=True) as stream:
            stream.write("new")
            raise ZeroDivisionError

    def interrupt_paths():
        with atomic_paths([path], overwrite=True) as [part]:
            part.write_text("new")
            raise ZeroDivisionError

    def interrupt_folder():
        with atomic_folder(tmp_path, ["a.txt"], overwrite=True) as part:
            (part / "a.txt").write_text("new")
            raise ZeroDivisionError

    for interrupt in (interrupt_stream, interrupt_paths, interrupt_folder):
        with pytest.raises(ZeroDivisionError):
            interrupt()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_errors_of_the_system_leave_the_old_files(tmp_path, monkeypatch, failing):
    for name in "ab":
        (tmp_path / name).write_text("old")

    def fail(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="no space"):
        atomic_write(tmp_path / "a", "new", overwrite=True)

    def write_two():
        with atomic_paths([tmp_path / "a", tmp_path / "b"], overwrite=True) as parts:
            for part in parts:
                part.write_text("new")

    with pytest.raises(OSError, match="no space"):
        write_two()
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]
    assert [(tmp_path / name).read_text() for name in "ab"] == ["old", "old"]


@posix
@pytest.mark.parametrize("failing", ["fsync", "link"])
def test_errors_of_the_system_leave_no_part_of_a_new_file(tmp_path, monkeypatch, failing):
    def fail(*_):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="no space"):
        atomic_write(tmp_path / "a", "new")
    with pytest.raises(OSError, match="no space"), atomic_paths([tmp_path / "a"]) as [part]:
        part.write_text("new")
    with pytest.raises(OSError, match="no space"), atomic_folder(tmp_path, ["a"]) as folder:
        (folder / "a").write_text("new")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="requires /dev/full")
@pytest.mark.parametrize("content", ["new", "new" * 100_000])
def test_a_full_disk_leaves_no_part_of_a_new_file(tmp_path, monkeypatch, content):
    """A small text is written when the stream is flushed, a large one before."""
    open_file = os.open

    def open_on_full_disk(name, flags, mode=0o777):
        handle = open_file(name, flags, mode)
        if not str(name).endswith(".part"):
            return handle
        os.close(handle)
        return open_file("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(os, "open", open_on_full_disk)
    with pytest.raises(OSError, match=r"(?i)no space"):
        atomic_write(tmp_path / "a", content)
    assert os.listdir(tmp_path) == []


def test_existing_files_are_replaced_only_with_overwrite(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(FileExistsError):
        atomic_write(path, "new")
    with pytest.raises(FileExistsError), atomic_paths([path]):
        pass
    with pytest.raises(FileExistsError), atomic_folder(tmp_path, ["a.txt"]):
        pass
    assert path.read_text() == "old"
    atomic_write(path, b"new", overwrite=True)
    assert path.read_bytes() == b"new"


def test_a_file_that_appears_during_the_writing_is_kept(tmp_path):
    path = tmp_path / "a.txt"

    def write_late():
        with atomic_open(path) as stream:
            stream.write("new")
            path.write_text("of somebody else")

    with pytest.raises(FileExistsError):
        write_late()
    assert path.read_text() == "of somebody else"
    assert os.listdir(tmp_path) == ["a.txt"]


@posix
def test_a_file_that_appears_after_the_last_check_is_kept(tmp_path, monkeypatch):
    link = os.link

    def link_late(part, target):
        target.write_text("of somebody else")
        link(part, target)

    monkeypatch.setattr(os, "link", link_late)
    path = tmp_path / "a.txt"
    with pytest.raises(FileExistsError):
        atomic_write(path, "new")
    path.unlink()
    with pytest.raises(FileExistsError), atomic_paths([path]) as [part]:
        part.write_text("new")
    assert path.read_text() == "of somebody else"
    assert os.listdir(tmp_path) == ["a.txt"]


@posix
def test_new_files_on_a_file_system_without_hard_links(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"

    def refuse(part, target):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    def refuse_late(part, target):
        target.write_text("of somebody else")
        refuse(part, target)

    monkeypatch.setattr(os, "link", refuse)
    atomic_write(path, "new")
    assert path.read_text() == "new"
    path.unlink()
    monkeypatch.setattr(os, "link", refuse_late)
    with pytest.raises(FileExistsError):
        atomic_write(path, "new")
    assert path.read_text() == "of somebody else"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_folder_is_never_replaced(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        atomic_write(tmp_path / "a", "new", overwrite=True)
    assert (tmp_path / "a").is_dir()


@posix
def test_permissions_of_the_old_file_stay(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    for wanted in (0o600, 0o640, 0o444):
        path.chmod(wanted)
        atomic_write(path, "new", overwrite=True)
        assert mode(path) == wanted
    with atomic_paths([path], overwrite=True) as [part]:
        part.write_text("again")
    assert mode(path) == 0o444


@posix
def test_private_files_are_private_from_the_beginning(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    path.chmod(0o666)
    with atomic_open(path, overwrite=True, private=True) as stream:
        [part] = tmp_path.glob(".taut-*.part")
        assert mode(part) == 0o600
        stream.write("new")
    assert mode(path) == 0o600


@posix
def test_links_are_replaced_unless_they_are_to_be_followed(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target, link = elsewhere / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_paths([link], overwrite=True, follow_links=True) as [part]:
        assert part.parent == elsewhere, "renaming works only within a file system"
        part.write_text("through the link")
    assert link.is_symlink()
    assert target.read_text() == "through the link"
    atomic_write(link, "in its place", overwrite=True)
    assert not link.is_symlink()
    assert target.read_text() == "through the link"
