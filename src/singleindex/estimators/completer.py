"""Matrix completion with an unknown monotone link and graphs on both sides."""

from __future__ import annotations

import sys
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ..design.entries import IntArray, entries_of_product
from ..fitting.checks import check_count
from ..fitting.completion import Completed, fit_ratings, make_completion_plan, smoothers_of
from ..fitting.ratings import (
    Ratings,
    as_positions,
    check_range,
    find_labels,
    frame_columns,
    is_frame,
    read_ratings,
)
from ..solvers.result import FloatArray
from .base import LinkLike
from .callbacks import all_or_nothing
from .summary import summarise_completer

Pair = float | tuple[float, float]

# The parameters that a plan is made of.
_PLANNED = (
    "n_atoms", "penalty", "damping", "graph_strength", "effects", "lipschitz", "link", "max_iter", "tol",
)  # fmt: skip


class SingleIndexCompleter(BaseEstimator):
    r"""Matrix completion: :math:`E[y_{ij}] = g(b_i + c_j + p_i \cdot q_j)`, g monotone and learned.

    Row effects b and column effects c carry what users and items are like on the whole, the factors p and q
    what they have in common. Graphs among the rows or the columns make neighbours alike in both.

    Parameters
    ----------
    n_atoms : int, default=10
        The largest rank of the factors' product; 0 for effects alone.
    penalty : float, default=0.5
        Weight of the product's atomic norm (the nuclear norm, smooth over the graphs, see
        :class:`singleindex.structures.GraphLowRank`), as a share of the least weight at which it vanishes.
    damping : float or pair of floats, default=3.0
        Ridge of the effects, of rows and of columns, in numbers of ratings: an effect is as if so many
        ratings at the mean had been given as well.
    graph_strength : float or pair of floats, default=3.0
        How much links count, of rows and of columns: the ridges act through I + graph_strength · L, L the
        normalised Laplacian. 0 is no graph.
    effects : {"both", "rows", "columns", None}, default="both"
        Which effects there are.
    lipschitz : float, default=1.0
        Largest slope of the link, which fixes the scale of the index.
    link : "learned", "identity", "logistic", "tanh" or callable, default="learned"
        "identity" gives least squares, the baseline of the paper, from the same solver.
    link_cv : int, splitter or None, default=None
        Fit the final link to held-out ratings: the model is learned once more for each split. With few
        ratings in a row the index of training ratings looks better than it is; the link of held-out ones does
        not. An integer is a number of folds, drawn by `random_state`. Nothing to do for a known link.
    max_iter : int, default=20
        Largest number of iterations after the start, which is least squares.
    tol : float, default=1e-2
        The fit ends when the index turns by less than this angle in an iteration; with a known link, when it
        changes by less than this share.
    random_state : int, RandomState instance or None, default=0
        Draws the folds of `link_cv`; the solver itself does not depend on chance.
    verbose : int, default=0
        Above 0, one line per iteration on standard error.

    Attributes
    ----------
    row_effects_, col_effects_ : arrays of shape (n_rows,), (n_cols,)
        b and c.
    row_factors_, col_factors_ : arrays of shape (n_rows, rank_), (n_cols, rank_)
        p and q, by falling weight of the atoms.
    rank_ : int
        Atoms in use, at most `n_atoms`.
    link_ : callable
        g, with its corners in `link_.knots_` where it is learned.
    shape_ : tuple of two int
    row_labels_, col_labels_ : arrays or None
        Labels by position, where `pairs` was a data frame.
    n_ratings_ : array of shape (n_rows,)
        How many training ratings each row has.
    status_, n_iter_, best_iter_, history_
        As in :class:`SingleIndexRegressor`; `history_` has no step sizes. The start is iterate 0.

    Notes
    -----
    **Rows and columns without a training rating.** Effects and factors of such a row are what the penalties
    make of its neighbours in the graph: `predict` goes through the graph. Without neighbours they are zero:
    the prediction is then that of an average row for this column, and the other way round. With neither, it
    is the link at zero, about the mean of y. Labels that `fit` has not seen are treated as rows or columns
    without ratings and neighbours; numbers beyond `shape_` are an error.

    **Duplicates.** A pair that is given more than once is so many ratings of the same entry.

    **Graphs** must be symmetric and not negative; self-loops are left out. Nodes without links are allowed.

    Memory and time of an iteration are linear in the ratings, the links and the rows and columns: no
    rows × columns matrix is ever formed. CSI is not a descent method, and the factors' problem is not convex.

    References
    ----------
    Ganti, Rao, Balzano, Willett & Nowak (2017), On learning high dimensional structured single index
    models, AAAI.
    Rao, Yu, Ravikumar & Dhillon (2015), Collaborative filtering with graph information, NIPS.

    Examples
    --------
    >>> from singleindex import SingleIndexCompleter
    >>> from singleindex.datasets import make_completion
    >>> data = make_completion(100, 80, 3000, n_atoms=2, link="tanh", random_state=0)
    >>> model = SingleIndexCompleter(n_atoms=5).fit(data.pairs, data.y, data.row_graph, data.col_graph)
    >>> model.predict([[0, 1], [99, 79]]).shape
    (2,)
    >>> model.recommend(0, k=3).shape
    (3,)
    """

    def __init__(
        self, n_atoms: int = 10, *, penalty: float = 0.5, damping: Pair = 3.0, graph_strength: Pair = 3.0,
        effects: str | None = "both", lipschitz: float = 1.0, link: LinkLike = "learned", link_cv: Any = None,
        max_iter: int = 20, tol: float = 1e-2, random_state: Any = 0, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.n_atoms: Any = n_atoms
        self.penalty: Any = penalty
        self.damping: Any = damping
        self.graph_strength: Any = graph_strength
        self.effects = effects
        self.lipschitz = lipschitz
        self.link = link
        self.link_cv = link_cv
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------ fitting

    @all_or_nothing
    def fit(
        self,
        pairs: Any,
        y: Any,
        row_graph: Any = None,
        col_graph: Any = None,
        shape: tuple[int, int] | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn effects, factors and link.

        Parameters
        ----------
        pairs : integer array of shape (n_ratings, 2), or data frame of two columns
            Row and column of each rating, counted from 0; or their labels, of any one kind.
        y : array-like of shape (n_ratings,)
            Ratings: numbers, ordered grades, or two values such as -1 and 1.
        row_graph, col_graph : sparse matrix of shape (n, n), or data frame of links, default=None
            Symmetric weights of links among the rows and among the columns. Where `pairs` has labels: two
            columns of labels and, if links have weights, a third. A link counts in both directions; of a link
            that is given twice the larger weight is taken. Rows that only the graph knows are added.
        shape : tuple of two int, default=None
            Rows and columns there are. None means those of the pairs and of the graphs.
        sample_weight : array-like of shape (n_ratings,), default=None
            Weights count as ratings: 2 is the same as the rating twice.

        Returns
        -------
        self
        """
        ratings, labels = read_ratings(pairs, y, (row_graph, col_graph), shape, sample_weight)
        self._copy(ratings, labels, self._learn(ratings))
        return self

    def _learn(self, ratings: Ratings) -> Completed:
        settings = {name: getattr(self, name) for name in _PLANNED}
        plan = make_completion_plan(ratings.design.shape, **settings)
        told = self._tell_iteration if self.verbose else None
        return fit_ratings(plan, ratings, self.link_cv, self.random_state, told)

    def _tell_iteration(self, step: Any) -> None:
        self._say(
            f"iteration {step.n_iter + 1}/{self.max_iter}  mse {step.mse:.6g}  atoms {step.n_atoms}  "
            f"change {step.change:.2e}"
        )

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}", file=sys.stderr, flush=True)

    def _copy(self, ratings: Ratings, labels: Any, completed: Completed) -> None:
        """Set the fitted attributes."""
        result, best = completed.result, completed.result.best
        structure = completed.plan.problem(ratings, smoothers_of(ratings)).structure
        rows, cols, weights = structure.balance(best.parts.row_factors, best.parts.col_factors)
        self.row_effects_, self.col_effects_ = best.parts.row_effects, best.parts.col_effects
        self.row_factors_, self.col_factors_ = rows, cols
        self.rank_ = len(weights)
        self.link_ = best.link
        self.shape_ = ratings.design.shape
        self.row_labels_, self.col_labels_ = labels
        side = ratings.design.side(0)
        self.n_ratings_ = np.diff(side.starts)
        # The columns that each row has rated, row after row: `recommend` leaves them out.
        self.rated_cols_ = side.other.astype(np.int32 if self.shape_[1] < 2**31 else np.int64)
        self.n_iter_, self.best_iter_ = result.n_iter, best.n_iter
        self.status_, self.history_ = result.status.name, result.history
        self.__dict__.update(completed.more)

    # ------------------------------------------------------------ prediction

    def index(self, pairs: Any) -> FloatArray:
        """Return the index of each pair, which ranks without the ties of the link's flat pieces.

        Parameters
        ----------
        pairs : integer array of shape (n, 2), or data frame of two columns of labels

        Returns
        -------
        index : array of shape (n,)
        """
        check_is_fitted(self)
        rows, cols = self._positions(pairs)
        index: FloatArray = np.where(rows >= 0, self.row_effects_[rows], 0.0)
        index += np.where(cols >= 0, self.col_effects_[cols], 0.0)
        known = (rows >= 0) & (cols >= 0)
        index[known] += entries_of_product(rows[known], cols[known], self.row_factors_, self.col_factors_)
        return index

    def predict(self, pairs: Any) -> FloatArray:
        """Return the link at the index: an estimate of the mean rating of each pair.

        For rows and columns without a training rating see the notes of the class.

        Parameters
        ----------
        pairs : integer array of shape (n, 2), or data frame of two columns of labels

        Returns
        -------
        predicted : array of shape (n,)
        """
        index = self.index(pairs)
        predicted: FloatArray = self.link_(index)
        return predicted

    def recommend(self, row: Any, k: int = 10) -> Any:
        """Return the columns with the highest index that this row has no training rating for, best first.

        Parameters
        ----------
        row : int or label
        k : int, default=10

        Returns
        -------
        columns : array of at most k column numbers, or labels
        """
        check_is_fitted(self)
        check_count("k", k)
        at = self._row_position(row)
        index = self.col_effects_ + self.col_factors_ @ self.row_factors_[at]
        end = int(np.sum(self.n_ratings_[: at + 1]))
        unseen = np.setdiff1d(np.arange(self.shape_[1]), self.rated_cols_[end - self.n_ratings_[at] : end])
        best = unseen[np.argsort(-index[unseen], kind="stable")[:k]]
        return best if self.col_labels_ is None else self.col_labels_[best]

    def score(self, pairs: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination R² of the predictions."""
        return float(r2_score(y, self.predict(pairs), sample_weight=sample_weight))

    def summary(self) -> Any:
        """Return a text on the fitted model: its parts, its link, its steps, and how it was chosen."""
        check_is_fitted(self)
        return summarise_completer(self)

    def _positions(self, pairs: Any) -> tuple[IntArray, IntArray]:
        """Return rows and columns by number, -1 for labels that are not known."""
        if self.row_labels_ is None:
            if is_frame(pairs):
                raise ValueError("the model was fitted to numbered pairs; pass an integer array, not labels.")
            positions = as_positions(pairs)
            check_range(positions, self.shape_)
            return positions[:, 0], positions[:, 1]
        if not is_frame(pairs):
            raise ValueError("the model was fitted to labels; pass a data frame of two columns of labels.")
        columns = frame_columns(pairs, "pairs", (2,))
        return find_labels(self.row_labels_, columns[0]), find_labels(self.col_labels_, columns[1])

    def _row_position(self, row: Any) -> int:
        if self.row_labels_ is None:
            check_range(as_positions([[row, 0]], "row"), self.shape_, "row")
            return int(row)
        at = int(find_labels(self.row_labels_, np.array([row], dtype=object))[0])
        if at < 0:
            raise ValueError(f"row {row!r} is none of the {self.shape_[0]} rows the model was fitted to.")
        return at

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "link_")
