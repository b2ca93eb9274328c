"""Matrix completion with an unknown monotone link and graphs on both sides."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.validation import check_is_fitted

from ..design.entries import entries_of_product
from ..link import FIXED_LINKS, FixedLink, Lpav
from ..solvers.alternate import Ridge
from ..solvers.completion import CompletionProblem, solve_completion
from ..structures import GraphSmoother
from .checks import check_count, check_number, check_slope
from .held_out_link import held_out_ratings, index_at, length_in_y, link_folds, with_held_out_link
from .progress import all_or_nothing
from .ratings import as_positions, check_range, find_labels, frame_columns, is_frame, read_ratings
from .summary import summarise_completer

EFFECTS = {"both": (True, True), "rows": (True, False), "columns": (False, True), None: (False, False)}


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
    alpha : float or pair of floats, default=3.0
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
        self, n_atoms=10, *, penalty=0.5, alpha=3.0, graph_strength=3.0, effects="both", lipschitz=1.0,
        link="learned", link_cv=None, max_iter=20, tol=1e-2, random_state=0, verbose=0,
    ):  # fmt: skip
        self.n_atoms = n_atoms
        self.penalty = penalty
        self.alpha = alpha
        self.graph_strength = graph_strength
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
    def fit(self, pairs, y, row_graph=None, col_graph=None, shape=None, sample_weight=None):
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
        settings = self._settings(ratings.design.shape)
        result, link = self._learn(ratings, settings)
        self._set_fitted(ratings, labels, result, link, settings)
        return self

    def _settings(self, shape):
        """Return the checked settings, or raise with the fix in the message."""
        penalty = check_number("penalty", self.penalty)
        if penalty > 1:
            raise ValueError(f"penalty is a share from 0 to 1, where there are no factors, got {penalty!r}.")
        if not is_effects(self.effects):
            raise ValueError(f"effects must be 'both', 'rows', 'columns' or None, got {self.effects!r}.")
        return Settings(
            n_atoms=check_rank(self.n_atoms, shape),
            penalty=penalty,
            ridge=ridge_of(check_pair("alpha", self.alpha), self.effects),
            strengths=check_pair("graph_strength", self.graph_strength),
            fitter=self._link_fitter(),
            max_iter=check_count("max_iter", self.max_iter),
            tol=check_number("tol", self.tol),
        )

    def _link_fitter(self):
        lipschitz = check_slope(self.lipschitz)
        if isinstance(self.link, str) and self.link == "learned":
            return Lpav(lipschitz)
        if callable(self.link):
            return FixedLink(self.link, slope_bound=lipschitz)
        if not isinstance(self.link, str) or self.link not in FIXED_LINKS:
            raise ValueError(
                f"link must be 'learned', a function, or one of {sorted(FIXED_LINKS)}, got {self.link!r}."
            )
        return FixedLink(self.link)

    def _learn(self, ratings, settings):
        """Return the solver's result and the final link."""
        smoothers = smoothers_of(ratings)
        told = self._tell_iteration if self.verbose else None
        result = settings.solve(ratings, smoothers, told)
        if self.link_cv is None or not settings.fitter.is_learned:
            return result, result.link
        indices, tests = [], []
        for train, test in splits_of(self.link_cv, ratings, self.random_state):
            learned = settings.solve(ratings.part(train), smoothers)
            length = length_in_y(learned.index, learned.start_index, settings.fitter.slope)
            indices.append(index_at(learned.parts.scaled(length), ratings.part(test).design))
            tests.append(test)
        folds = link_folds(len(ratings.y))
        held_out = held_out_ratings(ratings, np.concatenate(indices), np.concatenate(tests), folds)
        return with_held_out_link(result, held_out, settings.fitter)

    def _tell_iteration(self, step):
        print(
            f"[{type(self).__name__}] iteration {step.n_iter + 1}/{self.max_iter}  mse {step.mse:.6g}  "
            f"atoms {step.n_atoms}  change {step.change:.2e}",
            file=sys.stderr,
            flush=True,
        )

    def _set_fitted(self, ratings, labels, result, link, settings):
        structure = settings.problem(ratings, smoothers_of(ratings)).structure
        parts = result.parts
        rows, cols, weights = structure.balance(parts.row_factors, parts.col_factors)
        self.row_effects_, self.col_effects_ = parts.row_effects, parts.col_effects
        self.row_factors_, self.col_factors_ = rows, cols
        self.rank_ = len(weights)
        self.link_ = link
        self.shape_ = ratings.design.shape
        self.row_labels_, self.col_labels_ = labels
        side = ratings.design.side(0)
        self.n_ratings_ = np.diff(side.starts)
        # The columns that each row has rated, row after row: `recommend` leaves them out.
        self.rated_cols_ = side.other.astype(np.int32 if self.shape_[1] < 2**31 else np.int64)
        self.n_iter_, self.best_iter_ = result.n_iter, result.best_iter
        self.status_, self.history_ = result.status.name, result.history

    # ------------------------------------------------------------ prediction

    def index(self, pairs):
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
        index = np.where(rows >= 0, self.row_effects_[rows], 0.0)
        index += np.where(cols >= 0, self.col_effects_[cols], 0.0)
        known = (rows >= 0) & (cols >= 0)
        index[known] += entries_of_product(rows[known], cols[known], self.row_factors_, self.col_factors_)
        return index

    def predict(self, pairs):
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
        return self.link_(index)

    def recommend(self, row, k=10):
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

    def score(self, pairs, y, sample_weight=None):
        """Return the coefficient of determination R² of the predictions."""
        return r2_score(y, self.predict(pairs), sample_weight=sample_weight)

    def summary(self):
        """Return a text on the fitted model: its parts, its link, its steps, and how it was chosen."""
        check_is_fitted(self)
        return summarise_completer(self)

    def _positions(self, pairs):
        """Return rows and columns by number, -1 for labels that are not known."""
        if self.row_labels_ is None:
            if is_frame(pairs):
                raise ValueError("the model was fitted to numbered pairs; pass an integer array, not labels.")
            positions = as_positions(pairs)
            check_range(positions, self.shape_)
            return positions.T
        if not is_frame(pairs):
            raise ValueError("the model was fitted to labels; pass a data frame of two columns of labels.")
        columns = frame_columns(pairs, "pairs", (2,))
        labels = (self.row_labels_, self.col_labels_)
        return [find_labels(known, column) for known, column in zip(labels, columns, strict=True)]

    def _row_position(self, row):
        if self.row_labels_ is None:
            check_range(as_positions([[row, 0]], "row"), self.shape_, "row")
            return int(row)
        at = int(find_labels(self.row_labels_, np.array([row], dtype=object))[0])
        if at < 0:
            raise ValueError(f"row {row!r} is none of the {self.shape_[0]} rows the model was fitted to.")
        return at

    def __sklearn_is_fitted__(self):
        return hasattr(self, "link_")


# ---------------------------------------------------------------- settings


@dataclass(frozen=True)
class Settings:
    """Checked settings of one fit."""

    n_atoms: int
    penalty: float
    ridge: Ridge
    strengths: tuple
    fitter: Any
    max_iter: int
    tol: float

    def problem(self, ratings, smoothers):
        rows, cols = (s.with_strength(v) for s, v in zip(smoothers, self.strengths, strict=True))
        return CompletionProblem(ratings.design, ratings.y, rows, cols)

    def solve(self, ratings, smoothers, on_iteration=None):
        return self.solve_from(self.problem(ratings, smoothers), None, on_iteration)

    def solve_from(self, problem, start, on_iteration=None):
        return solve_completion(
            problem, self.fitter, self.ridge, n_atoms=self.n_atoms, penalty=self.penalty,
            max_iter=self.max_iter, tol=self.tol, start=start, on_iteration=on_iteration,
        )  # fmt: skip


def is_effects(effects):
    return effects is None or (isinstance(effects, str) and effects in EFFECTS)


def ridge_of(alphas, effects):
    rows, cols = (a if there else None for a, there in zip(alphas, EFFECTS[effects], strict=True))
    return Ridge((rows, cols))


def check_pair(name, value):
    """Return two numbers, the same twice where one is given."""
    values = list(value) if isinstance(value, (tuple, list, np.ndarray)) else [value, value]
    if len(values) != 2:
        raise ValueError(f"{name} must be a number, or a pair of them for rows and columns; got {value!r}.")
    return check_number(name, values[0]), check_number(name, values[1])


def check_rank(n_atoms, shape):
    whole = isinstance(n_atoms, (int, np.integer)) and not isinstance(n_atoms, bool)
    if not whole or n_atoms < 0:
        raise ValueError(f"n_atoms must be an integer of at least 0 (effects alone), got {n_atoms!r}.")
    return min(int(n_atoms), *shape)


def smoothers_of(ratings):
    """Return the graphs of both sides, ready for any strength."""
    return tuple(
        GraphSmoother(graph, 1.0, n) for graph, n in zip(ratings.graphs, ratings.design.shape, strict=True)
    )


def splits_of(cv, ratings, random_state):
    """Return the splits of the ratings; an integer means folds of ratings drawn at random."""
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        cv = KFold(int(cv), shuffle=True, random_state=random_state)
    return check_cv(cv).split(ratings.y)
