"""Files in chunks: what is read is what was written, and a fit works or names the file."""

from typing import Any

import numpy as np

from singleindex import SingleIndexRegressor
from singleindex.design import chunk_arrays, read_chunks

from .mutations import spoil_array
from .registry import Case, target
from .tables import Drawn, draw_file

KINDS = ["csv", "tsv", "svm", "npy", "parquet"]


def open_file(case: Case, drawn: Drawn) -> Any:
    options: dict[str, Any] = {"chunk_rows": case.pick([None, 1, 7, 1000])}
    if drawn.kind == "npy":
        options["target"] = drawn.path.with_name("y.npy")
    elif drawn.kind != "svm":
        options["target"] = "y"
    if case.chance(0.2):
        name = case.pick(BAD_OPTIONS)
        options[name] = case.pick(BAD_OPTIONS[name])
        case.spoilt("options")
    case.say("read_chunks", options)
    return read_chunks(drawn.path, **options)


BAD_OPTIONS: dict[str, list[Any]] = {
    "chunk_rows": [0, 2.5, 10**12, "x"],
    "target": [None, "no", ["y", "x0"], []],
    "sample_weight": ["x1", "no"],
    "features": [["x0"], [], ["x0", "x0"], ["no"]],
    "n_features": [1, 10**9, -1],
    "file_format": ["csv", "svmlight", "npy", "no"],
}


@target("chunks-file")
def read_a_file(case: Case) -> None:
    drawn = draw_file(case, KINDS)
    rows = open_file(case, drawn)
    if case.sound:
        check_rows(case, drawn, list(rows))
    model = SingleIndexRegressor(max_iter=3).fit(rows)
    case.need_finite(model.coef_, "coefficients from chunks")
    predicted = model.predict(rows)
    case.need_finite(predicted, "predictions of chunks")
    if case.sound:
        case.need(len(predicted) == len(drawn.y), "there is not one prediction per row")


def check_rows(case: Case, drawn: Drawn, blocks: list[Any]) -> None:
    read = np.concatenate([b.X.toarray() if hasattr(b.X, "toarray") else b.X for b in blocks])
    case.need(read.shape == drawn.X.shape, "chunks have another shape than the file")
    case.need(np.array_equal(read, drawn.X), "chunks have other values than the file")
    case.need(
        np.array_equal(np.concatenate([b.y for b in blocks]), drawn.y), "chunks have another y than the file"
    )


@target("chunks-files")
def read_several_files(case: Case) -> None:
    """Read two files, of which one may not go with the other."""
    first = draw_file(case, KINDS, spoil=0.3)
    y = first.path.with_name("y.npy")
    paths = [first.path, first.path.with_name(f"second.{first.kind}")]
    if case.chance(0.5):
        paths[1].write_bytes(first.path.read_bytes())
        if first.kind == "npy":
            case.spoilt("y of one of two files")
    else:
        first.path.rename(paths[1])
        draw_file(case, [first.kind], spoil=0.5)
        case.spoilt("two files")
    options = {} if first.kind == "svm" else {"target": y if first.kind == "npy" else "y"}
    rows = read_chunks(
        case.pick([paths, case.folder / f"*.{first.kind}", case.folder]), chunk_rows=20, **options
    )
    if case.sound:
        case.need(
            sum(len(block) for block in rows) == 2 * len(first.y), "rows of two files are not those of both"
        )
    case.need_finite(SingleIndexRegressor(max_iter=3).fit(rows).coef_, "coefficients from two files")


@target("chunks-arrays")
def chunk_some_arrays(case: Case) -> None:
    X = case.rng.normal(size=(30, 4))
    y, weight = np.tanh(X[:, 0]), case.rng.random(30)
    parts = [X, y, weight]
    if case.chance(0.8):
        k = int(case.rng.integers(3))
        case.spoilt(("X", "y", "weight")[k])
        parts[k] = spoil_array(case, parts[k])
        case.wild = False
    rows = chunk_arrays(*parts, chunk_rows=case.pick([None, 1, 7, 1000]))
    model = SingleIndexRegressor(2, max_iter=3).fit(rows)
    case.need_finite(model.coef_, "coefficients from arrays in chunks")
    case.need_finite(model.predict(rows), "predictions of arrays in chunks")
