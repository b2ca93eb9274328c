"""All of Epinions, 664824 ratings of 139738 items, 487183 statements of trust, beside Surprise and cmfrec.

A tenth of the ratings, drawn at random, is for testing; every method has the settings it comes with, rank 10
where it has one. A subprocess for each, for its peak of memory, data included. Then the time of an iteration
as the ratings grow, over generated data with 20 ratings a row and 40 a column.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
from scipy import sparse

from singleindex import SingleIndexCompleter
from singleindex.datasets import load_epinions, make_completion
from singleindex.design import EntriesDesign
from singleindex.link import Lpav
from singleindex.solvers import drive
from singleindex.solvers.alternate import Ridge
from singleindex.solvers.completion import Completion, CompletionProblem, prepare_start
from singleindex.structures.graph import GraphSmoother, as_graph

from .pages import as_table, paragraphs
from .timing import peak_kib, timed

RANK = 10


def epinions_split():
    """Return pairs and ratings for training and for testing, the graph and the shape."""
    data = load_epinions()
    links = data.trust[data.trust[:, 0] != data.trust[:, 1]]
    graph = sparse.csr_matrix((np.ones(len(links)), links.T), shape=(data.shape[0], data.shape[0]))
    graph = graph.maximum(graph.T)
    graph.data[:] = 1.0
    order = np.random.default_rng(0).permutation(len(data.target))
    test, train = order[: len(order) // 10], order[len(order) // 10 :]
    return data.data[train], data.target[train], data.data[test], data.target[test], graph, data.shape


def fit_ours(pairs, y, graph, shape, with_graph=True, **settings):
    model = SingleIndexCompleter(RANK, **settings)
    return model.fit(pairs, y, graph if with_graph else None, shape=shape).predict


def fit_null(pairs, y, graph, shape):
    return lambda p: np.full(len(p), y.mean())


def fit_surprise(pairs, y, graph, shape, kind="SVD"):
    import pandas as pd
    import surprise

    frame = pd.DataFrame({"user": pairs[:, 0], "item": pairs[:, 1], "rating": y})
    train = surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=(1, 5))).build_full_trainset()
    settings = {"n_factors": RANK, "random_state": 0} if kind == "SVD" else {"verbose": False}
    model = getattr(surprise, kind)(**settings).fit(train)
    return lambda p: np.array([model.predict(u, i).est for u, i in p.tolist()])


def fit_cmfrec(pairs, y, graph, shape):
    import pandas as pd
    from cmfrec import CMF

    frame = pd.DataFrame({"UserId": pairs[:, 0], "ItemId": pairs[:, 1], "Rating": y})
    model = CMF(k=RANK, nthreads=1, verbose=False).fit(frame)
    mean = y.mean()

    def predict(p):
        predicted = model.predict(p[:, 0], p[:, 1])
        return np.clip(np.where(np.isnan(predicted), mean, predicted), 1, 5)

    return predict


METHODS = {
    "null": fit_null,
    "CSI, graph": fit_ours,
    "CSI, no graph": lambda *data: fit_ours(*data, with_graph=False),
    "LS, graph": lambda *data: fit_ours(*data, link="identity"),
    "Surprise SVD": fit_surprise,
    "Surprise BaselineOnly": lambda *data: fit_surprise(*data, kind="BaselineOnly"),
    "cmfrec CMF": fit_cmfrec,
}


def measure(name):
    """Fit one method in this process and print what came out."""
    pairs, y, test_pairs, test_y, graph, shape = epinions_split()
    predict, seconds = timed(lambda: METHODS[name](pairs, y, graph, shape))
    error = np.asarray(predict(test_pairs)) - test_y
    peak = peak_kib() / 2**20
    print(json.dumps([float(np.sqrt(np.mean(error**2))), float(np.mean(np.abs(error))), seconds, peak]))


def epinions_lines():
    found = {name: in_subprocess(name) for name in METHODS}
    ours = found["CSI, graph"][2]
    rows = []
    for name, result in found.items():
        if isinstance(result, str):
            rows.append([name, result, "", "", ""])
        else:
            rmse, mae, seconds, peak = result
            rows.append([name, f"{rmse:.4f}", f"{mae:.4f}", f"{seconds / ours:.2f}", f"{peak:.2f}"])
    head = ["method", "RMSE", "MAE", "CPU time of fit, ratio to CSI with graph", "peak memory, GB"]
    return paragraphs(as_table(head, rows), f"The fit of CSI with graph took {ours:.0f} s of one core.")


def in_subprocess(name):
    code = f"from benchmarks.completion_scale import measure; measure({name!r})"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    if done.returncode:
        return "not run: " + done.stderr.strip().splitlines()[-1]
    return json.loads(done.stdout.splitlines()[-1])


def seconds_per_iteration(n_ratings, n_iter):
    """Return the least CPU time of an iteration at rank 10 with graphs on both sides."""
    data = make_completion(n_ratings // 20, n_ratings // 40, n_ratings, noise="grades", random_state=0)
    rows, cols = (
        GraphSmoother(as_graph(graph, n, "graph"), 3.0, n)
        for graph, n in zip((data.row_graph, data.col_graph), data.shape, strict=True)
    )
    design = EntriesDesign(*data.pairs.T.copy(), data.shape)
    problem, ridge, times = CompletionProblem(design, data.y, rows, cols), Ridge((3.0, 3.0)), []
    start = prepare_start(problem, 1.0, ridge, RANK)
    method = Completion(problem, Lpav(1.0), ridge, n_atoms=RANK, penalty=0.5, start=start)
    drive(method, max_iter=n_iter, tol=0.0, on_iteration=lambda step: times.append(time.process_time()))
    return float(np.min(np.diff(times)))


def growth_lines(sizes, n_iter=6):
    seconds = [seconds_per_iteration(n, n_iter) for n in sizes]
    ratios = [s / seconds[0] for s in seconds]
    rows = [[n, f"{r:.2f}", f"{r * sizes[0] / n:.2f}"] for n, r in zip(sizes, ratios, strict=True)]
    table = as_table(["ratings", "time of an iteration", "per rating"], rows)
    return paragraphs(table, "Ratios to the first line; least CPU time of several iterations, rank 10.")


def run(quick=False):
    if quick:
        return growth_lines((10_000, 30_000))
    return paragraphs(epinions_lines(), growth_lines((100_000, 300_000, 1_000_000)))
