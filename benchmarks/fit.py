"""The import, and what a projection costs; fits beside those of others are in docs/benchmarks.md."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from scipy import sparse

from singleindex import SingleIndexClassifier
from singleindex.datasets import make_single_index
from singleindex.design import DenseDesign, SparseDesign
from singleindex.structures import GroupSparse, LowRank, Sparse

from .timing import median_times


def run(quick=False):
    return [
        import_line(3 if quick else 9),
        "",
        *projection_lines(),
        "",
        low_rank_line(),
    ]


def import_line(repeats):
    def start(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    times = median_times(
        {
            "ours": start("from singleindex import SingleIndexClassifier"),
            "sklearn": start("import sklearn.linear_model"),
        },
        repeats,
    )
    return (
        f"`from singleindex import SingleIndexClassifier`: {times['ours'] / times['sklearn']:.2f} × "
        "`import sklearn.linear_model`."
    )


def projection_lines(n=2000, d=20000, density=115 / 20000):
    """Share of an iteration's products that the projection costs, sparse data as in single fits of peers."""
    rng = np.random.default_rng(0)
    design = SparseDesign(sparse.random(n, d, density=density, format="csr", random_state=rng))
    w, r = rng.standard_normal(d), rng.standard_normal(n)
    lines = []
    for name, structure, n_atoms in (
        ("sparse", Sparse(), d // 16),
        ("groups of 10", GroupSparse(np.arange(d) // 10), d // 160),
    ):
        projected = structure.project(w, n_atoms)
        model = SingleIndexClassifier(n_atoms, structure=structure, max_iter=30, tol=0.0)
        y = (design.matvec(w) + rng.standard_normal(n) > 0).astype(int)
        fit = lambda model=model, y=y: model.fit(design.X, y)  # noqa: E731
        times = median_times(
            {
                "projection": lambda s=structure, k=n_atoms: s.project(w, k),
                "30 iterations": fit,
                "products": lambda v=projected: (design.matvec(v), design.rmatvec(r)),
            }
        )
        share = 30 * times["projection"] / times["30 iterations"]
        lines.append(
            f"Projection, {name}, n = {n}, d = {d}: {100 * share:.0f} % of an iteration "
            f"({times['projection'] / times['products']:.2f} × the two products with X)."
        )
    return lines


def low_rank_line(side=1000, rank=5, n=100):
    data = make_single_index(
        n, side * side, structure="low_rank", shape=(side, side), n_atoms=rank, noise="gaussian",
        dtype=np.float32, random_state=0,
    )  # fmt: skip
    design, structure = DenseDesign(data.X), LowRank((side, side)).fresh()
    w, r = data.coef + 0.1 * np.random.default_rng(0).standard_normal(side * side), data.y - data.y.mean()
    times = median_times({
        "projection": lambda: structure.project(w, rank), "gradient": lambda: design.rmatvec(r)
    }, 5)  # fmt: skip
    return (
        f"Projection, {side} × {side} of rank {rank}: {times['projection'] / times['gradient']:.2f} × "
        f"one pass of the gradient over n = {n} rows."
    )
