"""The command line: its cold start beside `import sklearn`, fits beside the same in Python, its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from singleindex.datasets import make_single_index

from .pages import fill
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
SIZES = (1000, 20_000)
ONE_THREAD = os.environ | {"OPENBLAS_NUM_THREADS": "1"}


def run(quick=False):
    n = 20_000 if quick else 100_000
    figures = cold_start(3 if quick else 15) | svmlight_fit(1 if quick else 5) | table_fits(n)
    peaks = "\n".join(map(memory_row, (n // 4, n, 4 * n)))
    return fill("cli", figures, n=n, memory=peaks)


def call(*arguments):
    """Run Python with one thread of BLAS, and return what it prints."""
    command = [sys.executable, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=ONE_THREAD).stdout


def processor_seconds(*arguments):
    """Return the processor's time of a program; neither others count, nor workers that end meanwhile."""
    program = subprocess.Popen([sys.executable, *arguments], env=ONE_THREAD, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(program.pid, 0)
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, program.args)
    return used.ru_utime + used.ru_stime


def cold_start(repeats):
    calls = {
        "sklearn": lambda: call("-c", "import sklearn"),
        "help": lambda: call("-m", "singleindex.cli", "--help"),
    }
    times = median_times(calls, repeats)
    beyond = times["help"] - times["sklearn"]
    more = "more" if beyond > 0 else "less"
    return {"start": times["help"] / times["sklearn"], "apart": abs(beyond), "more": more}


def svmlight_fit(repeats):
    """Read an svmlight file, choose the settings, save the model: as a command and as a script."""
    n, d = SIZES
    data = make_single_index(n, d, n_atoms=50, design="counts", density=115 / d, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        table, model = f"{folder}/data.svm", f"{folder}/model.sim"
        dump_svmlight_file(sparse.csr_matrix(data.X), data.y.astype(int), table, zero_based=False)
        calls = {
            "script": lambda: call("-c", SCRIPT, table, model),
            "command": lambda: call("-m", "singleindex.cli", "fit", table, "-o", model),
        }
        times = median_times(calls, repeats)
    return {"n_svmlight": n, "d_svmlight": d, "svmlight": times["command"] / times["script"]}


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


def table_fits(n):
    """Fit a table with text from the command line, beside pyarrow's parsing and a search on its numbers."""
    with tempfile.TemporaryDirectory() as folder:
        table, arrays = f"{folder}/t.csv", f"{folder}/t.npz"
        X, y = write_table(table, n)
        np.savez(arrays, X=X, y=y)
        parse, search = processor_seconds("-c", PARSE, table), processor_seconds("-c", SEARCH, arrays)
        fit = ("-m", "singleindex.cli", "fit", table, "-t", "y", "-o", f"{folder}/m.sim", "-q")
        times = {how: processor_seconds(*fit, how) for how in ("--in-memory", "--in-blocks")}
    fits = [f"| `{how}` | {t:.1f} | {t / (parse + search):.2f} × |" for how, t in times.items()]
    return {"parse": parse, "search": search, "columns": X.shape[1], "fits": "\n".join(fits)}


def memory_row(n):
    """Return the peak of memory of a fit in blocks to so many rows."""
    with tempfile.TemporaryDirectory() as folder:
        table = f"{folder}/t.csv"
        write_table(table, n)
        said = call("-c", PEAK, "fit", table, "-t", "y", "-o", f"{folder}/m.sim", "-q", "--in-blocks")
        size = os.path.getsize(table) >> 20
    return f"| {n:,} | {size:,} | {int(said.split()[-1]):,} |"
