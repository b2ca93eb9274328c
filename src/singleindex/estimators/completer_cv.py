"""A completer that chooses its own settings on held-out ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..fitting.completion import Completed
from ..fitting.completion_search import make_completion_search, search_ratings
from ..fitting.ratings import Ratings
from .base import LinkLike
from .completer import SingleIndexCompleter


class SingleIndexCompleterCV(SingleIndexCompleter):
    """Matrix completion that chooses rank, graph strengths and ridges on held-out ratings.

    Parameters
    ----------
    n_atoms : sequence of int, default=(2, 10)
        Largest ranks to try. Effects alone are always tried as well, where there are any.
    penalty : sequence of float, default=(0.8, 0.6, 0.4, 0.2, 0.1, 0.05)
        Weights of the atomic norm to try, shares from 0 to 1.
    damping : sequence of float, default=(1.0, 3.0, 10.0, 30.0)
        Ridges of the effects to try, for rows and columns apart.
    graph_strength : sequence of float, default=(0.0, 3.0, 10.0, 30.0, 100.0)
        Strengths of the graphs to try, for rows and columns apart; only 0 where there is no graph.
    cv : int, splitter or iterable, default=5
        How to split the ratings. An integer is a number of folds, drawn by `random_state`; a validation part
        of one's own goes in as a list of one pair of index arrays, training and validation.
    effects, lipschitz, link, tol, random_state
        As in :class:`SingleIndexCompleter`.
    held_out_link : bool, default=True
        Fit the final link to the held-out ratings of the search instead of the training ratings. Where `cv`
        holds out less than half of all, as a single validation part does, five folds are fitted for it.
    max_iter : int, default=10
        Iterations of every fit. Each iterate is a candidate, the first being least squares.
    n_jobs : int, default=None
        Splits that run side by side; the result is the same.
    verbose : int, default=0
        Above 0, one line per group of candidates on standard error.

    Attributes
    ----------
    best_params_ : dict
        damping_rows, damping_cols, strength_rows, strength_cols, n_atoms, penalty and iteration.
    best_score_ : float
        Minus the mean squared error on held-out ratings. The link that predicts them is itself learned
        from others of them.
    cv_results_ : dict of arrays
        One entry per candidate and iterate; goes into a data frame as it is.
    row_effects_, col_effects_, row_factors_, col_factors_, link_, rank_, …
        As in :class:`SingleIndexCompleter`, learned from all ratings.

    Notes
    -----
    The search goes by coordinates, not over the whole grid: the ridges, ridge and strength of the rows, of
    the columns, rank and penalty, then ridges and strengths one by one beside the factors. It starts from
    effects alone at ridges and strengths of 3, and changes its mind only where the held-out ratings are
    predicted better by more than a standard error of the difference: of many candidates that do about as
    well, chance would choose one. With a learned link all of this is done for least squares first, and then
    once more around the choice with a link, every iterate tried; two standard errors count there.

    Examples
    --------
    >>> from singleindex import SingleIndexCompleterCV
    >>> from singleindex.datasets import make_completion
    >>> data = make_completion(100, 80, 2000, n_atoms=1, link="tanh", random_state=0)
    >>> model = SingleIndexCompleterCV([2], penalty=[0.5], damping=[3.0], graph_strength=[3.0])
    >>> model = model.fit(data.pairs, data.y, data.row_graph, data.col_graph)
    >>> sorted(model.best_params_)[:3]
    ['damping_cols', 'damping_rows', 'iteration']
    """

    def __init__(
        self, n_atoms: Sequence[int] = (2, 10), *,
        penalty: Sequence[float] = (0.8, 0.6, 0.4, 0.2, 0.1, 0.05),
        damping: Sequence[float] = (1.0, 3.0, 10.0, 30.0),
        graph_strength: Sequence[float] = (0.0, 3.0, 10.0, 30.0, 100.0), cv: Any = 5,
        effects: str | None = "both", lipschitz: float = 1.0, link: LinkLike = "learned",
        held_out_link: bool = True, max_iter: int = 10, tol: float = 1e-2, random_state: Any = 0,
        n_jobs: int | None = None, verbose: int = 0,
    ) -> None:  # fmt: skip
        self.n_atoms = n_atoms
        self.penalty = penalty
        self.damping = damping
        self.graph_strength = graph_strength
        self.cv = cv
        self.effects = effects
        self.lipschitz = lipschitz
        self.link = link
        self.held_out_link = held_out_link
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, ratings: Ratings) -> Completed:
        settings = {name: value for name, value in self.get_params(deep=False).items() if name != "verbose"}
        search = make_completion_search(ratings.design.shape, **settings)
        return search_ratings(search, ratings, self._say)
