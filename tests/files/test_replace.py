"""Replacing a file: the old one or the new one, never half of it, and nothing left beside it."""

import errno
import os
import socket
import stat

import pytest

from singleindex.files.replace import replace_file


def full_disk(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupt(*_):
    raise KeyboardInterrupt


def test_a_file_is_made_with_the_umask_and_replaced_with_its_mode(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        replace_file(path, b"1")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    replace_file(str(path), b"2")
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert list(tmp_path.iterdir()) == [path]


def test_what_replaces_a_private_file_is_private_while_it_is_written(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"1")
    path.chmod(0o600)
    modes = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda f: (modes.append(stat.S_IMODE(os.fstat(f).st_mode)), fsync(f)))
    replace_file(path, b"2")
    assert modes == [0o600]


@pytest.mark.parametrize("failing", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("how", [full_disk, interrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing, how):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with monkeypatch.context() as patch:
        patch.setattr(os, failing, how)
        with pytest.raises((OSError, KeyboardInterrupt)) as caught:
            replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    if how is full_disk:
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.filename == str(path)


def test_two_writers_do_not_share_a_temporary_file(tmp_path, monkeypatch):
    """The second begins when the first has written but not renamed: both must end well."""
    fsync, calls = os.fsync, []

    def write_another(file):
        fsync(file)
        calls.append(file)
        if len(calls) == 1:
            replace_file(tmp_path / "a", b"second")

    monkeypatch.setattr(os, "fsync", write_another)
    replace_file(tmp_path / "a", b"first")
    assert (tmp_path / "a").read_bytes() == b"first"
    assert len(list(tmp_path.iterdir())) == 1


def test_links_go_on_leading_to_their_file(tmp_path):
    target, alias, new = tmp_path / "target", tmp_path / "alias", tmp_path / "new"
    target.write_bytes(b"old")
    alias.symlink_to(target)
    new.symlink_to(tmp_path / "not yet")
    replace_file(alias, b"1")
    replace_file(new, b"2")
    assert alias.is_symlink()
    assert target.read_bytes() == b"1"
    assert new.is_symlink()
    assert (tmp_path / "not yet").read_bytes() == b"2"


def test_what_is_no_file_is_refused_and_untouched(tmp_path):
    pipe, plug, alias = tmp_path / "pipe", tmp_path / "plug", tmp_path / "alias"
    os.mkfifo(pipe)
    alias.symlink_to(pipe)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(plug))
        for path in (pipe, plug, alias):
            with pytest.raises(FileExistsError, match="is left as it is"):
                replace_file(path, b"1")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(IsADirectoryError, match="give the name of a file"):
        replace_file(tmp_path, b"1")
    with pytest.raises(IsADirectoryError):
        replace_file("", b"1")
    with pytest.raises(FileNotFoundError, match="create it first"):
        replace_file(tmp_path / "nowhere" / "a", b"1")
    with pytest.raises(FileNotFoundError, match="create it first"):
        replace_file(__file__ + "/a", b"1")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["alias", "pipe", "plug"]


def test_a_loop_of_links_is_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(tmp_path / "a", b"1")


def test_a_read_only_file_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    # Root may write everything; what the system would tell others is said here.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match="is read-only"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
