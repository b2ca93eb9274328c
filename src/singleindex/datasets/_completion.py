"""Synthetic ratings from a single-index model of a matrix, with graphs and the truth behind them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._checks import check_choice, check_count
from ._generate import NOISES, RandomState, _as_generator, _check_response
from ._links import PlacedLink

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

GRADES = 5


@dataclass(frozen=True, eq=False)
class CompletionData:
    """Ratings and truth of a matrix.

    Attributes
    ----------
    pairs : ndarray of int, shape (n_ratings, 2)
        Row and column of each rating; no pair twice.
    y : ndarray of shape (n_ratings,)
    row_graph, col_graph : csr_matrix
        Links, symmetric and of weight one.
    shape : (int, int)
    link : callable
        The true `g`, with `mean = link(index)`.
    index, mean : ndarrays of shape (n_ratings,)
        Of the rated entries.
    row_effects, col_effects, row_factors, col_factors : ndarrays
        `index` of an entry is the row's effect plus the column's effect plus the product of their factors.
    """

    pairs: IntArray
    y: NDArray[Any]
    row_graph: sparse.csr_matrix
    col_graph: sparse.csr_matrix
    shape: tuple[int, int]
    link: PlacedLink
    index: FloatArray
    mean: FloatArray
    row_effects: FloatArray
    col_effects: FloatArray
    row_factors: FloatArray
    col_factors: FloatArray


def make_completion(
    n_rows: int = 300,
    n_cols: int = 200,
    n_ratings: int = 5000,
    *,
    n_atoms: int = 3,
    link: str = "tanh",
    noise: str = "pm1",
    signal: float = 2.0,
    effects: float = 0.3,
    smoothness: float = 0.8,
    n_links: int = 10,
    community_size: int = 40,
    noise_level: float = 0.1,
    random_state: RandomState = None,
) -> CompletionData:
    """Draw ratings of a matrix whose effects, factors, graphs and link are known.

    Rows, and columns alike, belong to communities. Members of one have much of their effects and factors in
    common, and nine of ten links are among them.

    Parameters
    ----------
    n_rows, n_cols, n_ratings : int
        Size of the matrix, and how many of its entries are rated, drawn evenly.
    n_atoms : int, default=3
        Rank of the factors' product; 0 for effects alone.
    link : str, default="tanh"
        A name in `LINKS`.
    noise : str, default="pm1"
        A name in `NOISES`, or "grades": whole grades 1 to 5, a mean of 0 to 1 cut in five after a normal
        disturbance of `noise_level`. `mean` is then on the scale from 1 to 5, and that of y only nearly.
    signal : float, default=2.0
        Standard deviation of the index.
    effects : float, default=0.3
        Share of the effects in the variance of the index, from 0 to 1.
    smoothness : float, default=0.8
        Share of the community in the variance of effects and factors, from 0 to 1.
    n_links : int, default=10
        Mean number of links of a row or column.
    community_size : int, default=40
        Mean size of a community.
    noise_level : float, default=0.1
        As in :func:`make_single_index`.
    random_state : int, Generator, RandomState or None, default=None
        A given integer gives the same data in every run.

    Returns
    -------
    CompletionData

    Examples
    --------
    >>> from singleindex.datasets import make_completion
    >>> data = make_completion(50, 40, 600, n_atoms=2, random_state=0)
    >>> data.pairs.shape, data.row_graph.shape
    ((600, 2), (50, 50))
    >>> bool((data.mean == data.link(data.index)).all())
    True
    """
    for name, value in (("n_rows", n_rows), ("n_cols", n_cols), ("n_ratings", n_ratings)):
        check_count(name, value)
    check_count("n_atoms", n_atoms, minimum=0)
    if n_ratings > n_rows * n_cols:
        raise ValueError(f"n_ratings must be at most n_rows * n_cols = {n_rows * n_cols}, got {n_ratings}.")
    for name, share in (("effects", effects), ("smoothness", smoothness)):
        if not 0 <= share <= 1:
            raise ValueError(f"{name} is a share from 0 to 1, got {share!r}.")
    check_choice("noise", noise, (*NOISES, "grades"))
    base, scatter = _check_response(link, "binary" if noise == "grades" else noise, noise_level)
    rng = _as_generator(random_state)
    rows = _draw_side(n_rows, n_atoms, smoothness, n_links, community_size, rng)
    cols = _draw_side(n_cols, n_atoms, smoothness, n_links, community_size, rng)
    share = effects if n_atoms else 1.0
    effect_size, factor_size = (
        signal * np.sqrt(share / 2),
        np.sqrt(signal * np.sqrt((1 - share) / max(n_atoms, 1))),
    )
    row_effects, col_effects = effect_size * rows[1], effect_size * cols[1]
    row_factors, col_factors = factor_size * rows[2], factor_size * cols[2]
    i, j = pairs = _draw_pairs(n_rows, n_cols, n_ratings, rng)
    index = row_effects[i] + col_effects[j] + np.einsum("ik,ik->i", row_factors[i], col_factors[j])
    placed = PlacedLink(
        base, 0.0, *((1.0, GRADES - 1.0) if noise == "grades" else (scatter.offset, scatter.scale))
    )
    mean = placed(index)
    y = _draw_grades(mean, noise_level, rng) if noise == "grades" else scatter.draw(mean, noise_level, rng)
    return CompletionData(
        pairs.T.copy(), y, rows[0], cols[0], (n_rows, n_cols), placed, index, mean,
        row_effects, col_effects, row_factors, col_factors,
    )  # fmt: skip


def _draw_side(
    n: int, n_atoms: int, smoothness: float, n_links: int, community_size: int, rng: np.random.Generator
) -> tuple[sparse.csr_matrix, FloatArray, FloatArray]:
    """Return graph, effects and factors of the rows or of the columns, at unit variance."""
    community = rng.integers(max(1, round(n / community_size)), size=n)
    of_community = rng.standard_normal((community.max() + 1, n_atoms + 1))
    own = rng.standard_normal((n, n_atoms + 1))
    traits = np.sqrt(smoothness) * of_community[community] + np.sqrt(1 - smoothness) * own
    spread = traits.std(axis=0)
    traits = (traits - traits.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return _draw_graph(community, n_links, rng), traits[:, 0].copy(), traits[:, 1:].copy()


def _draw_graph(community: IntArray, n_links: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """Return a graph with nine of ten links inside the communities."""
    n = len(community)
    first = rng.integers(n, size=n * n_links // 2)
    order = np.argsort(community, kind="stable")
    starts = np.searchsorted(community[order], np.arange(community.max() + 2))
    size = starts[community[first] + 1] - starts[community[first]]
    mate = order[starts[community[first]] + (rng.random(len(first)) * size).astype(np.int64)]
    second = np.where(rng.random(len(first)) < 0.9, mate, rng.integers(n, size=len(first)))
    ends = np.unique(np.sort(np.column_stack([first, second])[first != second], axis=1), axis=0)
    half = sparse.csr_matrix((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return (half + half.T).tocsr()


def _draw_pairs(n_rows: int, n_cols: int, n_ratings: int, rng: np.random.Generator) -> IntArray:
    """Return row and column of distinct entries, in random order."""
    if n_ratings > n_rows * n_cols // 4:
        entries = rng.permutation(n_rows * n_cols)[:n_ratings]
    else:
        # Few of many: draw some more than are needed, and keep distinct ones.
        entries = np.zeros(0, dtype=np.int64)
        while len(entries) < n_ratings:
            entries = np.unique(np.append(entries, rng.integers(n_rows * n_cols, size=n_ratings)))
        entries = rng.permutation(entries)[:n_ratings]
    return np.stack([entries // n_cols, entries % n_cols])


def _draw_grades(mean: FloatArray, level: float, rng: np.random.Generator) -> FloatArray:
    disturbed = mean + (GRADES - 1) * level * rng.standard_normal(mean.shape)
    grades: FloatArray = np.clip(np.round(disturbed), 1, GRADES)
    return grades
