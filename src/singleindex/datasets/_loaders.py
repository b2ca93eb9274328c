"""Loaders for the paper's multi-output and matrix completion data sets."""

import gzip

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from ._arff import Attribute, read_arff
from ._checks import check_choice
from ._files import Source, find_file

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

ATP = Source("atp", "https://github.com/tsoumakas/mulan, folder data/multi-target")
FLAGS = Source("flags", "https://github.com/tsoumakas/mulan, folder data/multi-label/flags")
EPINIONS = Source(
    "epinions",
    "https://github.com/DaveYuan/recommendersystem, folder 0dataset/epinion-datadet, after "
    "trustlet.org (take each text file out of its .txt.bz2 archive and compress it with gzip)",
)
FLIXSTER_STANDIN = Source(
    "flixster_monti3000",
    "https://github.com/riannevdberg/gc-mc, file gcmc/data/flixster/training_test_dataset.mat "
    "(written out as lists of its non-zeros, compressed with gzip)",
)

_ATP_DESCR = (
    "{name}: airline ticket prices, {n} days, 411 features and 6 prices. "
    "Spyromitros-Xioufis, Tsoumakas, Groves, Vlahavas, Machine Learning, 2016."
)
_FLAGS_DESCR = (
    "flags: national flags, 19 features (9 nominal) and the presence of 7 colours. "
    "Goncalves, Plastino, Freitas, ICTAI 2013, after the UCI set of that name."
)
_EPINIONS_DESCR = (
    "Epinions (Massa's crawl, librec's 'Epinions (665K)'): 664824 ratings 1 to 5 of 139738 "
    "items by 40163 users, and 487183 statements of trust, a few of them by users in themselves."
)
_FLIXSTER_DESCR = (
    "A STAND-IN, not the paper's Flixster: the 3000 x 3000 subset of Monti, Bronstein and "
    "Bresson (2017). It has no friendships. The graphs are 10-nearest-neighbour graphs that its "
    "authors built, and the users are not the most active ones."
)

N_FLAG_LABELS = 7
N_ATP_TARGETS = 6


def load_atp(name: str = "atp7d") -> Bunch:
    """Load the airline ticket prices, a regression with six targets.

    Parameters
    ----------
    name : {"atp7d", "atp1d"}, default="atp7d"
        Prices a week ahead (296 rows, in the paper) or a day ahead (337 rows).

    Returns
    -------
    Bunch
        `data` (n, 411), `target` (n, 6), `feature_names`, `target_names` and `DESCR`.

    Raises
    ------
    FileNotFoundError
        Naming the missing file, where it is published and where to put it.
    """
    check_choice("name", name, ("atp7d", "atp1d"))
    attributes, table = read_arff(find_file(ATP, f"{name}.arff"))
    names = [attribute.name for attribute in attributes]
    return Bunch(
        data=table[:, :-N_ATP_TARGETS].copy(),
        target=table[:, -N_ATP_TARGETS:].copy(),
        feature_names=np.array(names[:-N_ATP_TARGETS]),
        target_names=names[-N_ATP_TARGETS:],
        DESCR=_ATP_DESCR.format(name=name, n=table.shape[0]),
    )


def load_flags(split: str | None = None) -> Bunch:
    """Load the national flags, a multi-label problem with seven colours.

    Parameters
    ----------
    split : {None, "train", "test"}, default=None
        All 194 rows, or the published 129 or 65.

    Returns
    -------
    Bunch
        `data` (n, 43): numeric features as they are, nominal ones as one 0/1 column for each
        category, or one in all if there are two; `groups` (43,): the original feature of each
        column; `raw_data` (n, 19): the values as in the file, nominal ones by their code;
        `target` (n, 7) of 0 and 1; `feature_names`, `raw_feature_names`, `target_names` and
        `DESCR`.

    Raises
    ------
    FileNotFoundError
        Naming the missing file, where it is published and where to put it.
    """
    files = {None: "flags.arff", "train": "flags-train.arff", "test": "flags-test.arff"}
    if split is not None:
        check_choice("split", split, ("train", "test"))
    attributes, table = read_arff(find_file(FLAGS, files[split]))
    features, codes = attributes[:-N_FLAG_LABELS], table[:, :-N_FLAG_LABELS]
    blocks = [encode_column(feature, codes[:, j]) for j, feature in enumerate(features)]
    return Bunch(
        data=np.hstack([columns for _, columns in blocks]),
        groups=np.repeat(np.arange(len(blocks)), [len(names) for names, _ in blocks]),
        raw_data=decode_categories(features, codes),
        target=table[:, -N_FLAG_LABELS:].astype(np.int64),
        feature_names=np.array([name for names, _ in blocks for name in names]),
        raw_feature_names=np.array([feature.name for feature in features]),
        target_names=[attribute.name for attribute in attributes[-N_FLAG_LABELS:]],
        DESCR=_FLAGS_DESCR,
    )


def encode_column(feature: Attribute, codes: FloatArray) -> tuple[list[str], FloatArray]:
    """Return the names and values of the columns that stand for a feature."""
    if feature.categories is None or len(feature.categories) == 2:
        return [feature.name], codes[:, None]
    names = [f"{feature.name}={category}" for category in feature.categories]
    return names, np.equal.outer(codes, np.arange(len(names))).astype(np.float64)


def decode_categories(features: list[Attribute], codes: FloatArray) -> FloatArray:
    """Put the integers that name the categories in place of their positions."""
    raw = codes.copy()
    for j, feature in enumerate(features):
        if feature.categories is not None:
            raw[:, j] = np.array(feature.categories, dtype=np.float64)[codes[:, j].astype(int)]
    return raw


def load_epinions() -> Bunch:
    """Load the Epinions ratings and the trust network of their users.

    Returns
    -------
    Bunch
        `data` (664824, 2): user and item of each rating, counted from zero; `target`: the
        ratings, 1.0 to 5.0; `trust` (487183, 2): truster and trustee, users as in `data`;
        `shape`: users and items, users without a rating included; `DESCR`.

    Raises
    ------
    FileNotFoundError
        Naming the missing file, where it is published and where to put it.

    Notes
    -----
    Trust is directed and holds a few self-links. User numbers run up to those of users who
    only trust or are trusted.
    """
    ratings = read_integers("ratings_data.txt.gz")
    trust = read_integers("trust_data.txt.gz")[:, :2] - 1
    pairs = ratings[:, :2] - 1
    n_users = max(int(pairs[:, 0].max()), int(trust.max())) + 1
    return Bunch(
        data=pairs,
        target=ratings[:, 2].astype(np.float64),
        trust=trust,
        shape=(n_users, int(pairs[:, 1].max()) + 1),
        DESCR=_EPINIONS_DESCR,
    )


def read_integers(name: str) -> IntArray:
    with gzip.open(find_file(EPINIONS, name), "rb") as file:
        return np.array(file.read().split(), dtype=np.int64).reshape(-1, 3)


def load_flixster_standin() -> Bunch:
    """Load a 3000 x 3000 subset of Flixster, which is NOT the data of the paper.

    The paper's Flixster, with its friendships, could not be had. Results on this set must not
    be set beside those of the paper.

    Returns
    -------
    Bunch
        `data` (26173, 2): user and item of each rating, counted from zero; `target`: ratings
        0.5 to 5.0; `split`: "train" or "test"; `user_graph` and `item_graph`: undirected edges
        of nearest-neighbour graphs, not of friendship; `shape`; `DESCR`.

    Raises
    ------
    FileNotFoundError
        Naming the missing file, where it is published and where to put it.
    """
    table = read_csv("ratings.csv.gz")
    return Bunch(
        data=table[:, :2].astype(np.int64),
        target=table[:, 2].astype(np.float64),
        split=table[:, 3],
        user_graph=read_csv("user_graph_knn10.csv.gz").astype(np.int64),
        item_graph=read_csv("item_graph_knn10.csv.gz").astype(np.int64),
        shape=(3000, 3000),
        DESCR=_FLIXSTER_DESCR,
    )


def read_csv(name: str) -> NDArray[np.str_]:
    """Read the fields of a file with one line of headings, as text."""
    with gzip.open(find_file(FLIXSTER_STANDIN, name), "rt", encoding="ascii") as file:
        next(file)
        return np.array([line.rstrip("\n").split(",") for line in file])
