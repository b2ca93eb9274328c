"""Synthetic data from a single-index model, together with the truth behind it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._checks import check_choice, check_count, check_inside
from ._coefficients import Layout, draw_coefficients
from ._designs import make_rows
from ._links import LINKS, NamedLink, PlacedLink

FloatArray = NDArray[np.float64]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

_INF = float("inf")


@dataclass(frozen=True, eq=False)
class SingleIndexData:
    """Data and truth of a single-index model; unpacks as `X, y, coef, link`.

    Attributes
    ----------
    X : ndarray or csr_matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    coef : ndarray of shape (n_features,) or (n_features, n_outputs)
        The true `w`, in the units of `X`.
    link : callable
        The true `g`: `E[y | x] = link(x @ coef)`. With several outputs the last axis of its
        argument is the output.
    index : ndarray
        `X @ coef`.
    mean : ndarray
        `link(index)`.
    support : ndarray of int or None
        Active features, sorted, where the structure has them.
    groups : ndarray of int, shape (n_features,), or None
        Group label of each feature, for `structure="group"`.
    """

    X: Any
    y: NDArray[Any]
    coef: FloatArray
    link: PlacedLink
    index: FloatArray
    mean: FloatArray
    support: NDArray[np.int64] | None = None
    groups: NDArray[np.int64] | None = None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y, self.coef, self.link))


@dataclass(frozen=True)
class Noise:
    """How a response scatters around its mean, `E[y] = mean`.

    `lower` and `upper` bound the means of the named link; `offset` and `scale` then carry
    them to the range of the response.
    """

    draw: Callable[[FloatArray, float, np.random.Generator], NDArray[Any]]
    lower: float = -_INF
    upper: float = _INF
    offset: float = 0.0
    scale: float = 1.0


def _draw_binary(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return (rng.random(mean.shape) < mean).astype(np.int64)


def _draw_pm1(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return 2 * _draw_binary((mean + 1) / 2, level, rng) - 1


def _draw_poisson(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return rng.poisson(mean).astype(np.int64)


def _draw_gaussian(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return mean + level * rng.standard_normal(mean.shape)


def _draw_uniform(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return mean + level * sqrt(3) * rng.uniform(-1.0, 1.0, size=mean.shape)


def _draw_heavy(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return mean + level / sqrt(3) * rng.standard_t(3, size=mean.shape)


def _draw_none(mean: FloatArray, level: float, rng: np.random.Generator) -> NDArray[Any]:
    return mean.copy()


NOISES: dict[str, Noise] = {
    "binary": Noise(_draw_binary, lower=0.0, upper=1.0),
    "pm1": Noise(_draw_pm1, lower=0.0, upper=1.0, offset=-1.0, scale=2.0),
    "poisson": Noise(_draw_poisson, lower=0.0),
    "gaussian": Noise(_draw_gaussian),
    "uniform": Noise(_draw_uniform),
    "heavy": Noise(_draw_heavy),
    "none": Noise(_draw_none),
}
"""The noises by name; see the parameter `noise` of `make_single_index`."""


def make_single_index(
    n_samples: int = 100,
    n_features: int = 200,
    *,
    n_atoms: int = 10,
    structure: str = "sparse",
    link: str = "logistic",
    design: str = "gaussian",
    noise: str = "binary",
    n_outputs: int = 1,
    signal: float = 2.0,
    noise_level: float = 0.1,
    correlation: float = 0.0,
    block_size: int | None = None,
    density: float = 0.1,
    group_size: int = 5,
    shape: tuple[int, int] | None = None,
    dtype: DTypeLike = np.float64,
    random_state: RandomState = None,
) -> SingleIndexData:
    r"""Draw data from a single-index model whose `w` and `g` are known.

    .. math:: E[y \mid x] = g(w \cdot x)

    Parameters
    ----------
    n_samples, n_features : int
        Rows and columns of `X`.
    n_atoms : int, default=10
        Active features, groups or rows, or the rank; not used by `structure="dense"`.
    structure : {"sparse", "group", "rows", "low_rank", "dense"}, default="sparse"
        What `w` looks like. "group" has disjoint groups of `group_size` neighbours (the last
        one may be shorter), "rows" has `n_outputs` outputs that share their features,
        "low_rank" is a matrix of size `shape`, stored row by row as a vector.
    link : str, default="logistic"
        A name in `LINKS`.
    design : {"gaussian", "counts", "binary"}, default="gaussian"
        Standard normal features, or sparse (CSR) Poisson counts or 0/1 entries with a
        different rate in each column.
    noise : {"binary", "pm1", "poisson", "gaussian", "uniform", "heavy", "none"}
        Labels 0/1; labels -1/+1, where the link runs from -1 to 1; counts; or the mean plus
        normal, uniform or Student t (3 degrees of freedom) noise.
    n_outputs : int, default=1
        Number of responses; more than one needs `structure="rows"`.
    signal : float, default=2.0
        Standard deviation of the index `x @ w` in the population.
    noise_level : float, default=0.1
        Standard deviation of the "gaussian", "uniform" and "heavy" noise.
    correlation : float, default=0.0
        Of neighbouring Gaussian features, falling off as `correlation ** distance`, or of all
        features in the same block if `block_size` is given.
    block_size : int, optional
        Length of the blocks of equally correlated Gaussian features.
    density : float, default=0.1
        Expected share of non-zeros in the sparse designs.
    group_size : int, default=5
        Features in each group, for `structure="group"`.
    shape : (int, int), optional
        Rows and columns of the matrix, for `structure="low_rank"`.
    dtype : {float64, float32}, default=float64
        Type of `X`. Everything else is computed from `X` as returned, in float64.
    random_state : int, Generator, RandomState or None, default=None
        A given integer gives the same data in every run.

    Returns
    -------
    SingleIndexData
        Record of `X`, `y`, `coef`, `link`, `index`, `mean`, `support` and `groups`. It
        unpacks as `X, y, coef, link`, and `mean` equals `link(X @ coef)` exactly.

    Notes
    -----
    Rows are independent and `w` is drawn before them: the same `random_state` with another
    `n_samples` gives the same `w` and `g`. Columns of `X` are not centred; the link holds the
    shift. Scale and shift come from the population, so that the index of a small sample does
    not have mean zero and standard deviation `signal` exactly.

    Examples
    --------
    >>> from singleindex.datasets import make_single_index
    >>> X, y, w, g = make_single_index(50, 300, n_atoms=4, link="ramp", random_state=0)
    >>> X.shape, y.shape, int((w != 0).sum())
    ((50, 300), (50,), 4)
    >>> bool((g(X @ w) >= 0.1).all())
    True
    >>> data = make_single_index(structure="group", group_size=8, n_atoms=2, random_state=0)
    >>> data.support.size, int(data.groups.max())
    (16, 24)
    """
    check_count("n_samples", n_samples)
    check_count("n_features", n_features)
    check_count("n_outputs", n_outputs)
    check_inside("signal", signal, 0.0, _INF)
    base, scatter = _check_response(link, noise, noise_level)
    x_dtype = _check_dtype(dtype)
    rng = _as_generator(random_state)

    rows = make_rows(design, n_features, correlation, block_size, density, rng)
    layout = Layout(n_features, n_atoms, group_size, shape, n_outputs)
    drawn = draw_coefficients(structure, layout, rng)
    coef = drawn.coef * (signal / rows.index_sd(drawn.coef))
    placed = PlacedLink(base, rows.mean @ coef, scatter.offset, scatter.scale)

    X = rows.sample(n_samples, rng).astype(x_dtype, copy=False)
    index = X @ coef
    mean = placed(index)
    y = scatter.draw(mean, noise_level, rng)
    return SingleIndexData(X, y, coef, placed, index, mean, drawn.support, drawn.groups)


def _check_response(link: str, noise: str, noise_level: float) -> tuple[NamedLink, Noise]:
    check_choice("link", link, LINKS)
    check_choice("noise", noise, NOISES)
    if noise_level < 0:
        raise ValueError(f"noise_level must not be negative, got {noise_level!r}.")
    base, scatter = LINKS[link], NOISES[noise]
    if base.lower < scatter.lower or base.upper > scatter.upper:
        raise ValueError(
            f"link={link!r} has means outside [{scatter.lower:g}, {scatter.upper:g}], which "
            f"noise={noise!r} cannot have; use noise='gaussian' or another link."
        )
    return base, scatter


def _check_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    x_dtype = np.dtype(dtype)
    if x_dtype not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {x_dtype}.")
    return x_dtype


def _as_generator(random_state: RandomState) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
