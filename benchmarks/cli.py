"""The command line: its cold start beside `import sklearn`, a fit beside the same fit in Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from singleindex.datasets import make_single_index

from .timing import median_times

SCRIPT = """
import sys
from sklearn.datasets import load_svmlight_file
from singleindex import SingleIndexClassifierCV, save
X, y = load_svmlight_file(sys.argv[1])
save(SingleIndexClassifierCV().fit(X, y), sys.argv[2])
"""


def run(quick=False):
    return [cold_start_line(3 if quick else 15), "", *fit_lines(1 if quick else 5)]


def call(*arguments):
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)


def cold_start_line(repeats):
    times = median_times(
        {
            "sklearn": lambda: call("-c", "import sklearn"),
            "help": lambda: call("-m", "singleindex.cli", "--help"),
        },
        repeats,
    )
    beyond = times["help"] - times["sklearn"]
    return (
        f"`singleindex --help`: {times['help'] / times['sklearn']:.2f} × the time of `import sklearn`, "
        f"{abs(beyond):.1f} s {'more' if beyond > 0 else 'less'} than it."
    )


def fit_lines(repeats, n=1000, d=20000):
    """Read an svmlight file, choose the settings, save the model: as a command and as a script."""
    data = make_single_index(n, d, n_atoms=50, design="counts", density=115 / d, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        table, model = str(Path(folder) / "data.svm"), str(Path(folder) / "model.sim")
        script = Path(folder) / "fit.py"
        script.write_text(SCRIPT)
        dump_svmlight_file(sparse.csr_matrix(data.X), data.y.astype(int), table, zero_based=False)
        times = median_times(
            {
                "script": lambda: call(str(script), table, model),
                "command": lambda: call("-m", "singleindex.cli", "fit", table, "-o", model),
            },
            repeats,
        )
    return [
        f"`singleindex fit` on sparse svmlight, n = {n}, d = {d}: {times['command'] / times['script']:.2f} × "
        "the same reading, search and saving in a Python script."
    ]
