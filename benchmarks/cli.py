"""The command line: its cold start beside `import sklearn`, fits beside the same in Python, its memory."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
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


PARSE = """
import sys
import pyarrow.csv
pyarrow.csv.read_csv(sys.argv[1])
"""
SEARCH = """
import sys
import numpy as np
from singleindex import SingleIndexClassifierCV
data = np.load(sys.argv[1])
SingleIndexClassifierCV().fit(data["X"], data["y"])
"""
PEAK = """
import sys
from benchmarks.timing import peak_kib
from singleindex.cli.app import run
run(sys.argv[1:])
print(peak_kib() >> 10)
"""


def run(quick=False):
    n = 20_000 if quick else 100_000
    tables = [*table_lines(n), "", *memory_lines([n // 4, n])]
    return [cold_start_line(3 if quick else 15), "", *fit_lines(1 if quick else 5), "", *tables]


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


def write_table(path, n, seed=0):
    """Write nine columns of numbers, three of text and two classes as CSV; return the numbers and classes."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((n, 9)).round(4)
    frame = pd.DataFrame(numbers, columns=[f"v{j}" for j in range(9)])
    for name, n_values in (("city", 6), ("sex", 2), ("site", 20)):
        frame[name] = np.char.add(name, rng.integers(0, n_values, n).astype(str))
    index = numbers @ np.r_[1.0, -0.7, 0.5, np.zeros(6)] + 0.8 * (frame["city"] == "city1").to_numpy()
    frame["y"] = np.where(rng.random(n) < 1 / (1 + np.exp(-index)), "yes", "no")
    frame.to_csv(path, index=False)
    texts = pd.get_dummies(frame[["city", "sex", "site"]], dtype=float).drop(columns="sex_sex0")
    return np.column_stack([numbers, texts.to_numpy()]), frame["y"].to_numpy().astype(str)


def processor_seconds(*arguments):
    """Return the processor's time of a program: that of others on the machine does not count."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call(*arguments)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def table_lines(n):
    """Fit a table with text from the command line, beside pyarrow's parsing and a search on its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        table, arrays, model = (str(Path(folder) / name) for name in ("t.csv", "t.npz", "m.sim"))
        X, y = write_table(table, n)
        np.savez(arrays, X=X, y=y)
        parse, search = processor_seconds("-c", PARSE, table), processor_seconds("-c", SEARCH, arrays)
        fit = ("-m", "singleindex.cli", "fit", table, "-t", "y", "-o", model)
        rows = [(how, processor_seconds(*fit, how)) for how in ("--in-memory", "--in-blocks")]
    head = [
        f"`singleindex fit` on a CSV of {n:,} × 12 with text, in the processor's seconds; pyarrow parses it "
        f"in {parse:.1f}, and one search in Python on the same {X.shape[1]} columns takes {search:.1f}:",
        "",
        "| `singleindex fit` | seconds | beside both |",
        "| --- | --: | --: |",
    ]
    return [*head, *(f"| `{how}` | {t:.1f} | {t / (parse + search):.2f} × |" for how, t in rows)]


def memory_lines(sizes):
    """Return the peak of memory of a fit in blocks, by rows."""
    lines = ["| rows of 12 columns | CSV, MiB | peak of `fit --in-blocks`, MiB |", "| --: | --: | --: |"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        table, model = str(Path(folder) / "t.csv"), str(Path(folder) / "m.sim")
        for n in sizes:
            write_table(table, n)
            said = ["fit", table, "-t", "y", "-o", model, "-q", "--in-blocks"]
            done = subprocess.run(
                [sys.executable, "-c", PEAK, *said],
                check=True,
                capture_output=True,
                text=True,
                env=environment,
            )
            size = os.path.getsize(table) >> 20
            lines.append(f"| {n:,} | {size:,} | {int(done.stdout.split()[-1]):,} |")
    return lines
