"""Loader for the paper's six text classification problems."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

# The recipe of `fetch_20newsgroups(remove=...)`, which can only download its own copy.
from sklearn.datasets._twenty_newsgroups import (
    strip_newsgroup_footer,
    strip_newsgroup_header,
    strip_newsgroup_quoting,
)
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.utils import Bunch

from ._checks import check_choice
from ._files import Source, find_file

NEWS = Source(
    "20news",
    "http://qwone.com/~jason/20Newsgroups/ (bydate and 18828 versions; one gzip-compressed "
    'JSON-lines file for each group, {"id", "split", "group", "text"} decoded as latin-1)',
)
WEBKB = Source("webkb_course", "https://github.com/ChuanbinZhang/Multi-view-datasets, file WebKB.mat")
MAC_WIN = Source("mac_win", "https://github.com/edche/star_svm, file data/text1.mat")

_MAC_WIN_GROUPS = ("comp.sys.mac.hardware", "comp.os.ms-windows.misc")

_NEWS_DESCR = (
    "20 Newsgroups ({version}), {groups[0]} (0) against {groups[1]} (1). Headers, footers and "
    "quotes removed as scikit-learn does, default CountVectorizer tokens, {weighting}."
)
_WEBKB_DESCR = (
    "WebKB course, {name} view: web pages of four computer science departments, course (1) "
    "against non-course (0). Ready-made tf-idf like weights; the words are not in the file."
)
_MAC_WIN_DESCR = (
    "comp.sys.mac.hardware (0) against comp.os.ms-windows.misc (1) of 20 Newsgroups, the "
    "paper's n = 1946 and d = 7511. Ready-made tf-idf like weights; the words are not in the "
    "file and the class names are inferred from the counts."
)
_MAC_WIN_COUNTS_NOTE = (
    " These counts are built from the raw text of the pair: rows need not be in the order of "
    "the tf-idf file, and d is not the 7511 of the paper."
)


def _read_group(group: str, version: str) -> list[dict[str, str]]:
    with gzip.open(find_file(NEWS, f"{group}.{version}.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _strip_message(text: str) -> str:
    body = strip_newsgroup_footer(strip_newsgroup_header(text))
    return str(strip_newsgroup_quoting(body))


def _load_news(groups: tuple[str, str], weighting: str, version: str = "bydate") -> Bunch:
    messages = [_read_group(group, version) for group in groups]
    both = messages[0] + messages[1]
    vectorizer = CountVectorizer(dtype=np.float64)
    X = vectorizer.fit_transform(_strip_message(message["text"]) for message in both)
    if weighting == "tfidf":
        X = TfidfTransformer().fit_transform(X)
    return Bunch(
        data=sparse.csr_matrix(X),
        target=np.repeat(np.arange(2), [len(part) for part in messages]),
        target_names=groups,
        feature_names=vectorizer.get_feature_names_out(),
        split=np.array([message["split"] for message in both]),
        DESCR=_NEWS_DESCR.format(version=version, groups=groups, weighting=weighting),
    )


def _ready_made(X: Any, target: NDArray[Any], target_names: tuple[str, str], descr: str) -> Bunch:
    return Bunch(
        data=sparse.csr_matrix(X),
        target=target.astype(np.int64),
        target_names=target_names,
        feature_names=None,
        split=None,
        DESCR=descr,
    )


def _load_webkb(name: str, weighting: str) -> Bunch:
    if weighting == "counts":
        raise ValueError(
            f"load_text({name!r}) has no counts, the file holds weights only; use weighting='tfidf'."
        )
    content = loadmat(find_file(WEBKB, "WebKB.mat"))
    X = content["X"][0 if name == "link" else 1, 0]
    names = ("non-course", "course")
    return _ready_made(X, content["y"].ravel() == 1, names, _WEBKB_DESCR.format(name=name))


def _load_mac_win(name: str, weighting: str) -> Bunch:
    if weighting == "counts":
        bunch = _load_news(_MAC_WIN_GROUPS, "counts", "18828")
        bunch.DESCR += _MAC_WIN_COUNTS_NOTE
        return bunch
    content = loadmat(find_file(MAC_WIN, "text1.mat"))
    return _ready_made(content["X"], content["y"].ravel() > 0, _MAC_WIN_GROUPS, _MAC_WIN_DESCR)


_LOADERS: dict[str, Callable[[str, str], Bunch]] = {
    "link": _load_webkb,
    "page": _load_webkb,
    "ath-rel": lambda name, weighting: _load_news(("alt.atheism", "talk.religion.misc"), weighting),
    "aut-mot": lambda name, weighting: _load_news(("rec.autos", "rec.motorcycles"), weighting),
    "cryp-ele": lambda name, weighting: _load_news(("sci.crypt", "sci.electronics"), weighting),
    "mac-win": _load_mac_win,
}

TEXT_SETS: tuple[str, ...] = tuple(_LOADERS)
"""Names that `load_text` knows."""


def load_text(name: str, weighting: str = "tfidf") -> Bunch:
    """Load one of the paper's six text problems, two classes each.

    Parameters
    ----------
    name : {"link", "page", "ath-rel", "aut-mot", "cryp-ele", "mac-win"}
    weighting : {"tfidf", "counts"}, default="tfidf"
        Whether the paper used one or the other for the newsgroups is not known. "link" and
        "page" have no counts. Counts of "mac-win" are built from the raw messages: `n` is
        then the same, but `d` (53614) is not the paper's and rows need not correspond.

    Returns
    -------
    Bunch
        `data` (CSR, float64), `target` (0 or 1), `target_names`, `feature_names` (None where
        the words are not published), `split` ("train" or "test" of the bydate version, "all"
        for the 18828 version, None where there is none) and `DESCR`.

    Raises
    ------
    FileNotFoundError
        Naming the missing file, where it is published and where to put it.

    Notes
    -----
    Rows are ordered by class in the newsgroup sets: shuffle before splitting. Some messages
    have no word left after stripping, so there are empty rows.
    """
    check_choice("name", name, _LOADERS)
    check_choice("weighting", weighting, ("tfidf", "counts"))
    return _LOADERS[name](name, weighting)
