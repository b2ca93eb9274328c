"""Try an installed wheel: what it holds, that it learns, predicts and saves, and says what it lacks."""

import importlib.util
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path

import numpy as np

import singleindex
from singleindex.datasets import make_single_index


def check_files() -> None:
    files = metadata.files("singleindex") or []
    names = [file.name for file in files]
    assert "py.typed" in names
    sources = [name for name in names if name.endswith((".pyx", ".pxd", ".c"))]
    assert not sources, f"the wheel holds {sources}; leave them out in meson.build"


def check_models() -> None:
    X, y, w, _ = make_single_index(300, 100, n_atoms=3, link="clipped", random_state=0)
    for model in (singleindex.SingleIndexClassifierCV(), singleindex.SingleIndexRegressor(3)):
        model.fit(X, y)
        assert set(np.flatnonzero(w)) <= set(np.flatnonzero(model.coef_))
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.sim"
            singleindex.save(model, file)
            assert (singleindex.load(file).predict(X) == model.predict(X)).all()


def check_command_line() -> None:
    command = shutil.which("singleindex")
    assert command, "the wheel installs no command"
    done = subprocess.run([command, "--help"], capture_output=True, text=True)
    if importlib.util.find_spec("click"):
        assert done.returncode == 0, done.stderr
        assert "predict" in done.stdout
    else:
        assert done.returncode == 1
        assert 'pip install "singleindex[cli]"' in done.stderr


if __name__ == "__main__":
    check_files()
    check_models()
    check_command_line()
    print(f"singleindex {singleindex.__version__} works as installed in {Path(singleindex.__file__).parent}")
