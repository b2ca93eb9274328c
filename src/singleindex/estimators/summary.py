"""A fitted model in words: which features it uses, what its link looks like, how it was found."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..fitting.checks import check_count
from ..solvers import Status
from ..solvers.result import FloatArray
from .effects import Effect, effects_of, ranking
from .headline import headline
from .outputs import Facts, Output, Search, facts_of

_MAX_STEPS = 6
_MAX_FLATS = 3


def summarise(model: Any, top: int = 20) -> str:
    """Return a readable text about a fitted model.

    Parameters
    ----------
    model : fitted estimator
        A single-index regressor or classifier, plain or with a search.
    top : int, default=20
        The largest number of features to list, by the size of their effect on the prediction.

    Returns
    -------
    text : str
        Several outputs or classes have one block each.

    Notes
    -----
    Weights are in the units of X, and their common length is determined only together with the slope of the
    link. An effect is what adding so much to the feature makes of the mean prediction, all else alike;
    features are ranked by what one standard deviation does. Scores of held-out rows have their standard
    errors, and so has the gain over the mean of y; no evidence means that their test at 5 % finds none. The
    errors are those of the training rows in the solver, before w got its final length and link: they say how
    the solver went, not how well the model predicts. After a joint fit of several outputs they are the sum
    over all.

    Examples
    --------
    >>> from singleindex import SingleIndexRegressor
    >>> from singleindex.datasets import make_single_index
    >>> from singleindex.estimators.summary import summarise
    >>> X, y, w, g = make_single_index(300, 50, n_atoms=3, noise="gaussian", random_state=0)
    >>> print(summarise(SingleIndexRegressor(n_atoms=3).fit(X, y), top=2))
    SingleIndexRegressor: 50 features, 3 with a weight
    <BLANKLINE>
    Solver: CONVERGED, ...
    Weights
      feature   weight               effect
      x31      -0.29... ...
      x25      -0.26... ...
      and 1 more
    Link
      from ... to ..., for the index from ... to ...
      ... knots, largest slope 1
      flat over ...
    """
    check_count("top", top)
    facts = facts_of(model)
    outputs, several, features = facts.outputs, len(facts.outputs) > 1, facts.names()
    size = f"{len(features)} features, {len(facts.used)} with a weight"
    lines = [f"{facts.estimator}: {size}{f', {len(outputs)} outputs' if several else ''}"]
    if facts.search is not None and facts.search.p_value is not None:
        lines.append(headline(facts))
    lines += _search_lines(facts.search)
    effects = effects_of(facts)
    for output in outputs:
        lines += ["", *([f"== {output.name} =="] if several else [])]
        lines += _solver_lines(
            output, "level" if facts.search is not None and facts.search.path else "iteration"
        )
        lines += _weight_lines(facts, output, effects, features, top)
        lines += _link_lines(output, facts.kind)
    return "\n".join(lines)


def summarise_completer(model: Any) -> str:
    """Return a readable text about a fitted completer: its parts, its link, its steps, how it was chosen.

    The spreads are those of the parts over all rows, all columns and all entries of the matrix: what each
    adds to the index.
    """
    size = f"{model.shape_[0]} rows, {model.shape_[1]} columns, {_count(len(model.rated_cols_), 'rating')}"
    facts = facts_of(model)
    lines = [
        f"{facts.estimator}: {size}",
        *_search_lines(facts.search),
        "",
        *_solver_lines(facts.outputs[0]),
        "Parts",
        *_table([
            ("part", "spread in the index"),
            ("row effects", f"{np.std(model.row_effects_):.4g}"),
            ("column effects", f"{np.std(model.col_effects_):.4g}"),
            (f"factors, rank {model.rank_}", f"{_spread_of_product(model):.4g}"),
        ]),
        *_link_lines(facts.outputs[0], facts.kind),
    ]  # fmt: skip
    unrated = int(np.count_nonzero(model.n_ratings_ == 0))
    if unrated:
        lines.append(f"{_count(unrated, 'row')} without a rating: by its neighbours, or as an average row")
    return "\n".join(lines)


def _spread_of_product(model: Any) -> float:
    """Return the root mean square of the factors' product over all entries, without forming it."""
    rows = model.row_factors_.T @ model.row_factors_ / model.shape_[0]
    cols = model.col_factors_.T @ model.col_factors_ / model.shape_[1]
    return float(np.sqrt(max(np.sum(rows * cols), 0.0)))


# ---------------------------------------------------------------- how it was found


def _search_lines(search: Search | None) -> list[str]:
    if search is None:
        return []
    scoring = search.scoring if isinstance(search.scoring, str) else "score"
    chosen = ", ".join(f"{name}={_number(value)}" for name, value in search.params.items())
    tried = len(search.results["mean_test_score"])
    first = f"Search: {tried} candidates, best held-out {scoring} {search.score:.4g}"
    return [first, f"  {chosen}", *_average_lines(search), *_score_lines(search)]


def _score_lines(search: Search) -> list[str]:
    """Return what held-out rows say of the whole of it, each score with its standard error."""
    rows: list[tuple[str, ...]] = [("held-out rows", "score", "no features", "gain")]
    for name, one in search.held_out.items():
        beside = (
            (f"{one['other']:.4g}", f"{one['gain']:+.3g} ± {one['gain_error']:.2g}")
            if "gain" in one
            else ("", "")
        )
        rows.append((name, f"{one['score']:.4g} ± {one['error']:.2g}", *beside))
    return _table(rows) if len(rows) > 1 else []


def _average_lines(search: Search) -> list[str]:
    """Return what the model is an average of; nothing where it is a single candidate."""
    results = search.results
    if "weight" not in results:
        return []
    lines = []
    for stage, what in ((1, "along the paths"), (2, "cuts of their mean")):
        n_averaged = np.count_nonzero(results["weight"][results["stage"] == stage])
        if n_averaged > 1:
            lines.append(f"{n_averaged} {what}")
    lines = [f"  averaged: {', '.join(lines)}"] if lines else []
    if search.is_dense:
        lines.append("  dense: candidates that use nearly every feature have most of the weight")
    return lines


def _solver_lines(output: Output, step: str = "iteration") -> list[str]:
    """Return the lines on the solver; a model without a history tells its status alone.

    A search has the levels of its path as steps.
    """
    lines = [f"Solver: {output.status}, {Status[output.status].value}"]
    if output.history is None or output.best_iter is None:
        return lines
    mse, kept = output.history["mse"], int(output.best_iter)
    atoms = _count(output.history["n_atoms"][kept], "atom")
    return [*lines, f"  {step} {kept + 1} of {len(mse)} kept, {atoms}", *_error_lines(mse, kept, step)]


def _error_lines(mse: FloatArray, kept: int, step: str) -> list[str]:
    rows: list[tuple[str, ...]] = [(step, "mse in the solver", "below the first")]
    for t in _steps_to_show(len(mse), kept):
        # The last iterate may be worse than the first, and the first exact.
        fall = 1 - mse[t] / mse[0] if mse[0] > 0 else 0.0
        rows.append((f"{t + 1}{' kept' if t == kept else ''}", f"{mse[t]:.4g}", f"{fall:.1%}" if t else ""))
    return _table(rows)


def _steps_to_show(n_steps: int, kept: int) -> list[int]:
    """Return the first steps, the one that was kept, and the last."""
    first = range(min(n_steps, _MAX_STEPS - 2))
    return sorted({*first, kept, n_steps - 1})


# ---------------------------------------------------------------- what it is


def _weight_lines(
    facts: Facts, output: Output, effects: list[Effect], names: list[str], top: int
) -> list[str]:
    weights, stability = output.weights, output.stability
    used = [j for j in ranking(facts) if weights[j]]
    words = {one.feature: one.in_words(facts.kind, output.number) for one in effects}
    rows = [_weight_row("feature", "weight", "in models", "effect", stability is not None, bool(words))]
    for j in used[:top]:
        share = "" if stability is None else f"{stability[j]:.0%}"
        rows.append(
            _weight_row(names[j], f"{weights[j]:+.4g}", share, words.get(j, ""), bool(share), bool(words))
        )
    lines = ["Weights", *_table(rows)] if used else ["Weights", "  all are zero"]
    return lines + ([f"  and {len(used) - top} more"] if len(used) > top else [])


def _weight_row(
    name: str, weight: str, share: str, effect: str, with_share: bool, with_effect: bool
) -> tuple[str, ...]:
    return (name, weight, *([share] if with_share else []), *([effect] if with_effect else []))


def _link_lines(output: Output, kind: str) -> list[str]:
    link, index, lines = output.link, "the index", ["Link"]
    if kind != "regression":
        index = f"the index + intercept ({output.intercept:+.4g})"
    if link.knots_ is None:
        # A function of one's own need not have a name.
        name = getattr(link.name, "__name__", repr(link.name)) if callable(link.name) else link.name
        return [*lines, f"  known: {name}, of {index} {link.offset:+.4g}"]
    x, values = link.knots_.T
    lines.append(f"  from {values[0]:.4g} to {values[-1]:.4g}, for {index} from {x[0]:.4g} to {x[-1]:.4g}")
    if values[0] == values[-1]:
        return [*lines, "  constant"]
    with np.errstate(over="ignore"):
        slope = np.max(np.diff(values) / np.diff(x))
    return [*lines, f"  {_count(len(x), 'knot')}, largest slope {slope:.4g}", f"  {_flat_parts(x, values)}"]


def _flat_parts(x: FloatArray, values: FloatArray) -> str:
    """Return in words where the link is flat, the longest parts first."""
    flat = np.flatnonzero(np.diff(values) <= 1e-12 * (values[-1] - values[0]))
    if len(flat) == 0:
        return "nowhere flat"
    length = np.diff(x)[flat]
    longest = flat[np.argsort(-length, kind="stable")]
    parts = ", ".join(f"{x[i]:.4g} to {x[i + 1]:.4g}" for i in longest[:_MAX_FLATS])
    more = f" and {_count(len(flat) - _MAX_FLATS, 'shorter part')}" if len(flat) > _MAX_FLATS else ""
    return f"flat over {length.sum() / (x[-1] - x[0]):.0%} of its range: {parts}{more}"


# ---------------------------------------------------------------- words and columns


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _count(n: float, what: str) -> str:
    return f"{n:g} {what}{'' if n == 1 else 's'}"


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines, the first column flush left, the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines
