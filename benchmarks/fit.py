"""A single fit beside liblinear, the import, and what a projection costs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from singleindex import SingleIndexClassifier, SingleIndexClassifierCV, single_index_path
from singleindex.datasets import load_text, make_single_index
from singleindex.design import DenseDesign, SparseDesign
from singleindex.structures import GroupSparse, LowRank, Sparse

from .timing import median_times


def run(quick=False):
    return [
        *text_lines(),
        "",
        *search_lines(),
        "",
        import_line(3 if quick else 9),
        "",
        *projection_lines(),
        "",
        low_rank_line(),
    ]


def text_lines():
    """One fit on half of ath-rel, tf-idf, n_atoms = d // 16, beside liblinear's L1 fit at C = 32."""
    data = load_text("ath-rel")
    train = np.random.default_rng(0).permutation(len(data.target))[: len(data.target) // 2]
    X, y = sparse.csr_matrix(data.data)[train], np.asarray(data.target)[train]
    ours = SingleIndexClassifier(n_atoms=X.shape[1] // 16)
    peer = LogisticRegression(C=32, l1_ratio=1, solver="liblinear")
    times = median_times({"ours": lambda: ours.fit(X, y), "liblinear": lambda: peer.fit(X, y)}, 21)
    return [
        f"One fit on ath-rel (n = {X.shape[0]}, d = {X.shape[1]}, n_atoms = d // 16): "
        f"{times['ours'] / times['liblinear']:.2f} × liblinear's L1 fit at C = 32 "
        f"({ours.n_iter_} iterations)."
    ]


def search_lines(n=2000, d=20000):
    """A path of ten levels beside one cold fit and liblinear's path; a search beside scikit-learn's."""
    data = make_single_index(n, d, n_atoms=50, design="counts", density=115 / d, random_state=0)
    X, y = sparse.csr_matrix(data.X), data.y
    levels = [d >> k for k in range(2, 12)]
    times = median_times(
        {
            "fit": lambda: SingleIndexClassifier(d // 16).fit(X, y),
            "path": lambda: single_index_path(X, y, n_atoms=levels),
            "liblinear": lambda: [
                LogisticRegression(C=c, l1_ratio=1, solver="liblinear").fit(X, y)
                for c in np.logspace(-1, 2, 10)
            ],
        },
        5,
    )
    text = load_text("ath-rel")
    X, y = sparse.csr_matrix(text.data), np.asarray(text.target)
    peer = LogisticRegressionCV(Cs=10, l1_ratios=[1], solver="liblinear", cv=5)
    search = median_times(
        {"ours": lambda: SingleIndexClassifierCV().fit(X, y), "peer": lambda: peer.fit(X, y)}, 3
    )
    return [
        f"A path of ten levels, sparse n = {n}, d = {d}: {times['path'] / times['fit']:.1f} × one cold fit, "
        f"{times['path'] / times['liblinear']:.2f} × liblinear's path of ten.",
        "",
        f"`SingleIndexClassifierCV` on ath-rel, five folds: {search['ours'] / search['peer']:.1f} × "
        "`LogisticRegressionCV` (L1, liblinear, ten C, five folds).",
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
