"""The one sentence on a model: whether there is evidence that its features predict, and how many it uses."""

from __future__ import annotations

from collections.abc import Sequence

from .outputs import Facts

# The level of the test that there is anything to predict at all.
LEVEL = 0.05
# Stable features that are named.
_NAMED = 5


def has_evidence(p_value: float | None) -> bool:
    """Tell whether held-out rows bear out that the features predict; None is no word against it."""
    return p_value is None or p_value < LEVEL


def headline(
    facts: Facts, target: str = "", p_value: float | None = None, stable: Sequence[str] | None = None
) -> str:
    """Return what a reader should take home, a sentence without its full stop.

    Parameters
    ----------
    facts : Facts
    target : str, default=""
        What is predicted.
    p_value : float, default=None
        That of held-out rows; None takes that of the search, where there is one.
    stable : list of str, default=None
        The features that halves of the rows find again; None where nobody has asked them.
    """
    if p_value is None and facts.search is not None:
        p_value = facts.search.p_value
    n_used, n_features = len(facts.used), len(facts.coef)
    target = target or "y"
    if n_used == 0 or not has_evidence(p_value):
        beside = "" if p_value is None else f" (p = {p_value:.2g} on held-out rows)"
        return f"No evidence that {_the_features_predict(n_features)} {target}{beside}"
    told = f"{n_used:,} of {_counted(n_features)} {'is' if n_used == 1 else 'are'} in use to predict {target}"
    return told if stable is None else f"{told}; {stable_in_words(stable)}"


def stable_in_words(stable: Sequence[str]) -> str:
    """Say which features halves of the rows find again."""
    if not stable:
        return "none is stable, found again by halves of the rows"
    more = f" and {len(stable) - _NAMED} more" if len(stable) > _NAMED else ""
    verb = "is stable" if len(stable) == 1 else "are stable"
    return f"{len(stable):,} {verb}: {', '.join(stable[:_NAMED])}{more}"


def _counted(n: int) -> str:
    return f"{n:,} feature{'' if n == 1 else 's'}"


def _the_features_predict(n: int) -> str:
    return "the feature predicts" if n == 1 else f"the {n:,} features predict"
