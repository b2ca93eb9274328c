"""Whatever a command writes: a file is replaced whole or left as it was, and only files are written to."""

import errno
import os
import stat

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def work(cli, tmp_path):
    """A folder with a table and a model of it; return how to run commands in it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.tanh(X[:, 0] - X[:, 1]))
    frame.to_csv(tmp_path / "data.csv", index=False)
    code, _, err = cli("fit", "data.csv", "-t", "y", "--n-atoms", "1,2", "--folds", "2", "-o", "model.sim")
    assert code == 0, err
    return cli


FIT = ["fit", "data.csv", "-t", "y", "--n-atoms", "1", "--folds", "2"]
COMMANDS = {
    "model": ("out.sim", [*FIT, "-o"]),
    "report of a fit": ("out.html", [*FIT, "-o", "model.sim", "--report"]),
    "predictions": ("out.csv", ["predict", "model.sim", "data.csv", "-o"]),
    "predictions as JSON": ("out.json", ["predict", "model.sim", "data.csv", "--json", "-o"]),
    "Parquet": ("out.parquet", ["predict", "model.sim", "data.csv", "-o"]),
    "report": ("out.html", ["report", "model.sim", "data.csv", "-o"]),
    "path": ("out.csv", ["path", "data.csv", "-t", "y", "-o"]),
    "JSON": ("out.json", ["export", "model.sim", "-o"]),
    "SQL": ("out.sql", ["export", "model.sim", "-o"]),
    "ONNX": ("out.onnx", ["export", "model.sim", "-o"]),
}
every_output = pytest.mark.parametrize(("name", "arguments"), COMMANDS.values(), ids=COMMANDS)


@every_output
def test_a_full_disk_leaves_the_old_file(work, tmp_path, monkeypatch, name, arguments):
    if name.endswith("onnx"):
        pytest.importorskip("skl2onnx")
    (tmp_path / name).write_text("old")
    names = sorted(path.name for path in tmp_path.iterdir())

    # Of a fit with a report the model is written first, and fits on the disk.
    spared = [True] if "--report" in arguments else []

    def full_disk(file):
        if spared:
            spared.pop()
        else:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_disk)
        code, _, err = work(*arguments, name)
    assert code == 3
    assert "No space left on device" in err
    assert name in err
    assert (tmp_path / name).read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    assert work(*arguments, name)[0] == 0
    assert (tmp_path / name).read_bytes() != b"old"


@every_output
def test_a_pipe_and_a_folder_are_refused_before_the_work(work, tmp_path, name, arguments):
    pipe = tmp_path / name
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that who writes would not wait
    try:
        code, _, err = work(*arguments, name)
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert code == 2
    assert "a pipe" in err
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    (tmp_path / "folder").mkdir()
    assert work(*arguments, "folder", *(["--to", "json"] if arguments[0] == "export" else []))[0] == 2


def test_links_and_modes_are_kept(work, tmp_path):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "real.csv").chmod(0o600)
    (tmp_path / "alias.csv").symlink_to("real.csv")
    assert work("predict", "model.sim", "data.csv", "-o", "alias.csv")[0] == 0
    assert (tmp_path / "alias.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("prediction,index\n")
    assert stat.S_IMODE((tmp_path / "real.csv").stat().st_mode) == 0o600


def test_two_outputs_of_one_name_are_refused(work):
    code, _, err = work(*FIT, "-o", "x", "--report", "x")
    assert code == 2
    assert "named for two outputs" in err


def test_a_page_on_standard_output_is_alone_there(work):
    code, out, err = work(*FIT, "--report", "-")
    assert code == 0
    assert out.lower().startswith("<!doctype html")
    assert out.rstrip().endswith("</html>")
    assert "feature" in err


@pytest.mark.parametrize(
    "arguments",
    [
        [*FIT, "-o", "data.csv"],
        [*FIT, "-o", "./data.csv"],
        [*FIT, "--report", "data.csv"],
        ["predict", "model.sim", "data.csv", "-o", "model.sim"],
        ["predict", "model.sim", "data.csv", "-o", "data.csv"],
        ["report", "model.sim", "data.csv", "-o", "data.csv"],
        ["path", "data.csv", "-t", "y", "-o", "data.csv"],
        ["export", "model.sim", "--to", "json", "-o", "model.sim"],
    ],
)
def test_what_is_read_is_not_written_over(work, tmp_path, arguments):
    before = {name: (tmp_path / name).read_bytes() for name in ("data.csv", "model.sim")}
    code, _, err = work(*arguments)
    assert code == 2
    assert "would be lost" in err
    assert {name: (tmp_path / name).read_bytes() for name in before} == before


def test_two_names_of_one_file_are_refused(work):
    code, _, err = work(*FIT, "-o", "out.html", "--report", "./out.html")
    assert (code, "named for two outputs" in err) == (2, True)


def test_every_output_is_checked_before_the_fit(work, tmp_path, monkeypatch):
    (tmp_path / "closed").mkdir()
    access = os.access  # the superuser of a container may write anywhere
    monkeypatch.setattr(
        os, "access", lambda path, mode: not str(path).endswith("closed") and access(path, mode)
    )
    monkeypatch.setattr("singleindex.cli.fit_command.read_tables", lambda *_: pytest.fail("began to read"))
    code, _, err = work(*FIT, "--report", "closed/out.html")
    assert (code, "closed is read-only" in err) == (2, True)
