"""What a search tells of its candidates, as curves of the held-out score against the number of atoms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators.outputs import Search
from ._layers import FloatArray

# What makes a path, and a level of it; of the candidates there the best is shown.
PATH = ("scale_power", "link", "alpha", "kind")
_LEVEL = ("n_atoms", "penalty")
# How far a cut of an average is fitted anew.
_CUTS = {0.0: "cut", 0.5: "cut, half refitted", 1.0: "cut and refitted"}


@dataclass(frozen=True)
class Curve:
    """Candidates that belong on one line.

    Attributes
    ----------
    label : str
        What tells it from the others; empty for paths that stand behind the cuts of their average.
    rows : list of int
        Numbers of the candidates, by their number of atoms.
    colour : int
        Curves of the same number are of one colour.
    is_dashed : bool
    """

    label: str
    rows: list[int]
    colour: int = 0
    is_dashed: bool = False


@dataclass(frozen=True)
class Curves:
    """The curves of a search.

    Attributes
    ----------
    shown : list of Curve
        Of the stage that the model was chosen in.
    behind : list of Curve
        Of the paths whose averages these are cuts of; none where they are paths themselves.
    error : array
        By candidate, the standard error of the mean score over the folds.
    chosen : int
        The candidate of `best_params_`.
    averaged : list of int
        The candidates that the model is made of.
    """

    results: dict[str, Any]
    shown: list[Curve]
    behind: list[Curve]
    error: FloatArray
    chosen: int
    averaged: list[int]

    @property
    def rows(self) -> list[int]:
        """All candidates on a curve that is shown, and the chosen one."""
        return sorted({i for curve in self.shown for i in curve.rows} | {self.chosen})


def curves_of(search: Search) -> Curves:
    """Return the curves of a search, candidates without a score left out."""
    results = readable(search.results)
    last = results["stage"].max()
    paths = _paths(results)
    shown, behind = (_cuts(results), [Curve("", c.rows) for c in paths]) if last == 2 else (paths, [])
    weight = results.get("weight", np.zeros(len(results["stage"])))
    averaged = np.flatnonzero((results["stage"] == last) & (weight > 0)).tolist()
    return Curves(results, shown, behind, standard_errors(results), _chosen_row(search, results), averaged)


def readable(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a search recorded, with None in place of NaN for settings, and the kind of limit."""
    settings = {"n_atoms", "scale_power"} & record.keys()
    # NaN alone differs from itself.
    given = {s: np.array([v if v == v else None for v in record[s]], dtype=object) for s in settings}
    ridge = record.get("ridge", np.zeros(len(given["n_atoms"])))
    kind = [
        "ridge" if r > 0 else "soft" if limit is None else "hard"
        for r, limit in zip(ridge, given["n_atoms"], strict=True)
    ]
    return record | given | {"kind": kind}


def standard_errors(results: dict[str, Any]) -> FloatArray:
    n_folds = sum(name.startswith("split") and name.endswith("_test_score") for name in results)
    # std_test_score divides by the number of folds; the standard error needs one less.
    error: FloatArray = results["std_test_score"] / np.sqrt(max(n_folds - 1, 1))
    return error


def chosen_level(search: Search, path: dict[str, Any], fallback: int | None) -> int:
    """Return at which level of its path the chosen candidate lies, `fallback` where it is a dense one."""
    name = "penalty" if path["kind"][0] == "soft" else "n_atoms"
    at = [i for i, value in enumerate(path[name]) if value == search.params[name]]
    return at[0] if at else min(int(fallback or 0), len(path[name]) - 1)


def words_on_choice(search: Search, curves: Curves) -> str:
    """Return in words what was chosen."""
    best, n = search.params, len(curves.averaged)
    level = "ridge" if curves.results["kind"][curves.chosen] == "ridge" else f"penalty={best['penalty']:.3g}"
    if best["n_atoms"] is not None:
        level = f"n_atoms={best['n_atoms']}"
    who = f"an average of {n}, most weight" if n > 1 else "chosen"
    return f"{who}: {level}, scale={best['scale_power']}, score {search.score:.4g}"


def _chosen_row(search: Search, results: dict[str, Any]) -> int:
    same = results["stage"] == results["stage"].max()
    for name, wanted in search.params.items():
        same &= np.array([value == wanted for value in results[name]])
    # Iterates of one level of gradient steps are told apart by their weight alone.
    weight = results.get("weight", np.zeros(len(same)))
    return int(np.flatnonzero(same)[np.argmax(weight[same])])


def _cuts(results: dict[str, Any]) -> list[Curve]:
    """Return the cuts of averages by how far they are fitted anew, and the averages as they are."""
    groups: dict[str, list[int]] = {}
    for i in np.flatnonzero((results["stage"] == 2) & np.isfinite(results["mean_test_score"])).tolist():
        label = "uncut" if results["n_atoms"][i] is None else _CUTS[results["relaxation"][i]]
        groups.setdefault(label, []).append(i)
    order = [label for label in (*_CUTS.values(), "uncut") if label in groups]
    return [Curve(label, _by_atoms(results, groups[label]), k) for k, label in enumerate(order)]


def _paths(results: dict[str, Any]) -> list[Curve]:
    """Return the paths, with the best candidate of every level; of ridges, all dense, the best one alone."""
    best: dict[tuple[Any, ...], dict[tuple[Any, ...], int]] = {}
    score = results["mean_test_score"]
    for i in np.flatnonzero((results["stage"] == 1) & np.isfinite(score)).tolist():
        levels = best.setdefault(tuple(results[name][i] for name in PATH), {})
        level = tuple(results[name][i] for name in _LEVEL)
        if level not in levels or score[i] > score[levels[level]]:
            levels[level] = i
    colours = list(dict.fromkeys(path[:-1] for path in best))
    has_hard = any(path[-1] == "hard" for path in best)
    return [
        Curve(
            _path_label(path, list(best)), _by_atoms(results, list(levels.values())),
            colours.index(path[:-1]), is_dashed=has_hard and path[-1] == "soft",
        )
        for path, levels in best.items()
    ]  # fmt: skip


def _by_atoms(results: dict[str, Any], rows: list[int]) -> list[int]:
    return sorted(rows, key=lambda i: results["mean_n_atoms"][i])


def _path_label(path: tuple[Any, ...], paths: list[tuple[Any, ...]]) -> str:
    """Return what tells a path from the others."""
    scale, link, alpha, kind = path
    words = (f"scale={scale}", f"{link} link", f"alpha={alpha:g}", kind)
    differs = [len({other[k] for other in paths}) > 1 for k in range(len(words))]
    return ", ".join(word for word, tells in zip(words, differs, strict=True) if tells) or f"{kind} path"
