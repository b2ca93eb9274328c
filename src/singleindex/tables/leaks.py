"""Columns that nearly decide the target alone: often they were written down after it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .columns import CATEGORY, NUMBER
from .preparation import Preparation
from .summaries import as_text

# As an AUC, a rank correlation, or the accuracy of a tree. Honest columns reach 0.975 on well-known data.
_DECIDES = 0.98
_MOST_ROWS = 5000
_MOST_TREES = 20
_MOST_TOLD = 5


@dataclass(frozen=True)
class Leak:
    """A column that nearly decides the target, or whose gaps do, and the figure that says so."""

    column: str
    by_gaps: bool
    measure: str
    value: float


def find_leaks(frame: Any, kinds: dict[str, str], y: np.ndarray, is_classes: bool) -> list[Leak]:
    """Return the columns of the training rows that look like leaks, the surest first.

    Parameters
    ----------
    frame : pandas.DataFrame
        With gaps as they are.
    kinds : dict of str to str
        What each column in use is.
    y : array of shape (n_rows,)
        Classes or numbers.
    is_classes : bool
        Whether they are classes.
    """
    rows = some_rows(y, is_classes)
    frame, y = frame.iloc[rows], y[rows]
    classes: Any = np.unique(y) if is_classes else ()
    told = classes[-1:] if len(classes) == 2 else classes
    outputs = np.column_stack([y == label for label in told] if is_classes else [y]).astype(np.float64)
    found = []
    for names, by_gaps, values in batches(frame, kinds, outputs):
        value = strengths(values, outputs, is_classes)
        sure = value >= max(_DECIDES, chance_level(outputs, len(kinds), is_classes))
        found += [Leak(names[j], by_gaps, "AUC", float(value[j])) for j in np.flatnonzero(sure)]
    if not is_classes:
        found = [Leak(leak.column, leak.by_gaps, "rank correlation", leak.value) for leak in found]
    elif len(classes) > 2:
        found = confirmed(found[:_MOST_TREES], frame, kinds, y)
    # A column whose values decide is told once, whatever its gaps do.
    by_value = {leak.column for leak in found if not leak.by_gaps}
    found = [leak for leak in found if not (leak.by_gaps and leak.column in by_value)]
    return sorted(found, key=lambda leak: -leak.value)


def leak_texts(
    frame: Any,
    preparation: Preparation,
    y: np.ndarray,
    is_classes: bool,
    target: Any = None,
    remedy: Callable[[str], str] = lambda column: f"drop=[{column!r}]",
) -> list[str]:
    """Return a sentence for each column that nearly decides the target alone; none for several targets."""
    if y.ndim > 1 or len(np.unique(y)) < 2:
        return []
    kinds = dict(zip(preparation.columns, preparation.kinds, strict=True))
    name = "the target" if target is None else repr(target)
    return [
        f"column {leak.column!r} looks like a leak: {'whether it is missing' if leak.by_gaps else 'it'} "
        f"nearly decides {name} alone ({leak.measure} {leak.value:.3f}). If it is not known "
        f"when predictions are made, fit again with {remedy(leak.column)}"
        for leak in find_leaks(frame, kinds, y, is_classes)[:_MOST_TOLD]
    ]


def some_rows(y: np.ndarray, is_classes: bool) -> np.ndarray:
    """Return the rows to look at: all, or a sample in which rare classes keep theirs."""
    rng = np.random.default_rng(0)
    if len(y) <= _MOST_ROWS:
        return np.arange(len(y))
    if not is_classes:
        return rng.choice(len(y), _MOST_ROWS, replace=False)
    labels = np.unique(y)
    each = max(_MOST_ROWS // len(labels), 1)
    parts = [np.flatnonzero(y == label) for label in labels]
    return np.concatenate([p if len(p) <= each else rng.choice(p, each, replace=False) for p in parts])


def batches(
    frame: Any, kinds: dict[str, str], outputs: np.ndarray
) -> Iterator[tuple[list[str], bool, np.ndarray]]:
    """Yield names, whether it is about gaps, and what to rank by; of text one column for each output."""
    numbers = [name for name, kind in kinds.items() if kind == NUMBER]
    if numbers:
        values = frame[numbers].to_numpy(dtype=np.float64, na_value=np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of columns whose values are not in the sample
            middle = np.nan_to_num(np.nanmedian(values, axis=0))
        yield numbers, False, np.where(np.isnan(values), middle, values)
    for name in (name for name, kind in kinds.items() if kind == CATEGORY):
        encoded = rates_of_the_other_half(as_text(frame[name]).fillna("").to_numpy(), outputs)
        yield [name], False, encoded[:, None, :]
    missing = frame[list(kinds)].isna().to_numpy()
    some = np.flatnonzero(missing.any(axis=0))
    if len(some):
        names = list(kinds)
        yield [names[j] for j in some], True, missing[:, some].astype(np.float64)


def rates_of_the_other_half(text: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return for each row the mean outputs of its value, over rows of which it is none."""
    _, codes = np.unique(text.astype(str), return_inverse=True)
    half = np.random.default_rng(0).permutation(len(codes)) % 2
    encoded = np.empty_like(outputs)
    for part in (0, 1):
        other, own = half != part, half == part
        n = np.bincount(codes[other], minlength=codes.max() + 1)
        for k in range(outputs.shape[1]):
            sums = np.bincount(codes[other], outputs[other, k], minlength=codes.max() + 1)
            rate = np.where(n > 0, sums / np.maximum(n, 1), outputs[other, k].mean())
            encoded[own, k] = rate[codes[own]]
    return encoded


def strengths(values: np.ndarray, outputs: np.ndarray, is_classes: bool) -> np.ndarray:
    """Return for each column how well it ranks the output it ranks best."""
    from scipy.stats import rankdata

    best = np.zeros(values.shape[1])
    for k in range(outputs.shape[1]):
        learned = values.ndim == 3  # from the output: then only the right direction counts
        ranks = rankdata(values[:, :, k] if learned else values, axis=0)
        value = ranked_auc(ranks, outputs[:, k]) if is_classes else rank_correlation(ranks, outputs[:, k])
        if not learned:
            value = np.maximum(value, 1 - value) if is_classes else np.abs(value)
        best = np.maximum(best, value)
    return best


def ranked_auc(ranks: np.ndarray, happened: np.ndarray) -> np.ndarray:
    n_yes = happened.sum()
    n_no = len(happened) - n_yes
    auc: np.ndarray = (ranks[happened > 0.5].sum(axis=0) - n_yes * (n_yes + 1) / 2) / (n_yes * n_no)
    return auc


def rank_correlation(ranks: np.ndarray, y: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    other = rankdata(y) - (len(y) + 1) / 2
    centred = ranks - (len(y) + 1) / 2
    size = np.sqrt((centred**2).sum(axis=0) * (other**2).sum())
    found: np.ndarray = np.divide(other @ centred, size, out=np.zeros(len(size)), where=size > 0)
    return found


def chance_level(outputs: np.ndarray, n_columns: int, is_classes: bool) -> float:
    """Return what the best of so many columns reaches by chance, with some room."""
    deviations = np.sqrt(2 * np.log(max(n_columns, 2))) + 1
    n = len(outputs)
    if not is_classes:
        return float(deviations / np.sqrt(max(n - 1, 1)))
    n_yes = outputs.sum(axis=0).min()
    return float(0.5 + deviations * np.sqrt((n + 1) / (12 * n_yes * (n - n_yes))))


def confirmed(leaks: list[Leak], frame: Any, kinds: dict[str, str], y: np.ndarray) -> list[Leak]:
    """Return those that tell all of several classes, not one of them from the others."""
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    found = []
    folds = min(5, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return []
    for leak in leaks:
        column = frame[leak.column]
        if leak.by_gaps:
            values = column.isna().to_numpy(dtype=np.float64)
        elif kinds[leak.column] == CATEGORY:
            values = np.unique(as_text(column).fillna("").to_numpy().astype(str), return_inverse=True)[1]
        else:
            values = column.fillna(column.median()).to_numpy(dtype=np.float64)
        tree = DecisionTreeClassifier(max_leaf_nodes=4 * len(np.unique(y)), random_state=0)
        share = float(cross_val_score(tree, values.reshape(-1, 1), y, cv=folds).mean())
        if share >= _DECIDES:
            found.append(Leak(leak.column, leak.by_gaps, "accuracy", share))
    return found
