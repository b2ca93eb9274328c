"""How new rows differ from those of the fit: their index, values out of range, gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..tables.numbers import as_written

if TYPE_CHECKING:
    from ..tables.oddities import OddCounts
    from .model_file import ModelFile

# The index of a row is rare where one in twenty training rows lies as far out, on either side.
_SHARES = (0.025, 0.975)
# Drift is called one from so many standard errors on, if it is this large as well.
_SURE, _SHIFT, _RARE, _ODD = 3.0, 0.2, 0.1, 0.02
_MOST_COLUMNS = 5


def index_facts(model: Any, X: Any) -> list[dict[str, Any]]:
    """Return the mean, the spread and the outer quantiles of the index, for each output."""
    index = np.asarray(model.index(X), dtype=np.float64).reshape(X.shape[0], -1)
    return [
        {"n": len(column), "mean": float(column.mean()), "spread": float(column.std()),
         "middle": [float(q) for q in np.quantile(column, _SHARES)]}
        for column in index.T
    ]  # fmt: skip


def means_of(file: ModelFile, X: Any) -> Any:
    """Return the means of the features in use; None where the model knows none to compare them with."""
    known = file.facts.background
    if known is None:
        return None
    used = known["feature"].tolist()
    columns = X.iloc[:, used] if hasattr(X, "iloc") else X[:, used]
    return np.asarray(columns.mean(axis=0), dtype=np.float64).ravel()


def drift_of(file: ModelFile, index: Any, odd: OddCounts | None, means: Any = None) -> dict[str, Any]:
    """Return the figures; empty for models that were saved without those of their training rows."""
    found: dict[str, Any] = {}
    if means is not None and file.record:
        found["features"] = feature_shifts(file, means, len(index))
    if file.record.get("training_index"):
        columns = np.asarray(index, dtype=np.float64).reshape(len(index), -1).T
        found["index"] = [
            shift_of(column, facts)
            for column, facts in zip(columns, file.record["training_index"], strict=True)
        ]
    # Models of earlier versions know neither ranges nor gaps.
    if odd is not None and odd.preparation.ranges:
        for key, way in (("out_of_range", "outside"), ("unknown", "unknown")):
            found[key] = {name: share for name, share in odd.shares(way).items() if share}
        found["gaps"] = {
            name: {"share": share, "training": odd.preparation.gaps.get(name, 0.0)}
            for name, share in odd.shares("filled").items()
            if share or name in odd.preparation.gaps
        }
    return found


def feature_shifts(file: ModelFile, means: Any, n_rows: int) -> dict[str, dict[str, float]]:
    """Return the features whose mean has moved, in spreads of the training rows, the farthest first."""
    known: Any = file.facts.background
    was, spread = known["mean"], np.where(known["spread"] > 0, known["spread"], np.inf)
    shift = (means - was) / spread
    least = max(_SHIFT, _SURE * np.sqrt(1 / n_rows + 1 / file.record["n_rows"]))
    names = file.preparation.names
    return {
        names[known["feature"][k]]: {
            "shift": float(shift[k]),
            "mean": float(means[k]),
            "training": float(was[k]),
        }
        for k in np.argsort(-np.abs(shift), kind="stable").tolist()
        if abs(shift[k]) > least
    }


def shift_of(index: Any, facts: dict[str, Any]) -> dict[str, float]:
    """Return by how many spreads the mean has moved, its standard error, and the share of rare rows."""
    spread = facts["spread"] or 1.0
    low, high = facts["middle"]
    return {
        "shift": float(index.mean() - facts["mean"]) / spread,
        "standard_error": float(np.sqrt(1 / len(index) + 1 / facts["n"])),
        "rare": float(np.mean((index < low) | (index > high))),
    }


def drift_lines(drift: dict[str, Any], names: list[str]) -> list[str]:
    """Return the figures in words, with a verdict."""
    if not drift:
        return []
    lines, verdicts = [], []
    for k, shift in enumerate(drift.get("index", [])):
        name = f" of {names[k]}" if len(drift["index"]) > 1 else ""
        where = "above" if shift["shift"] >= 0 else "below"
        lines.append(
            f"  index{name}: mean {abs(shift['shift']):.2f} standard deviations {where} training; "
            f"{shift['rare']:.0%} of rows among its outer 5%"
        )
        moved = abs(shift["shift"]) > max(_SHIFT, _SURE * shift["standard_error"])
        verdicts += [f"index{name}"] if moved or shift["rare"] > _RARE else []
    moved_features = list(drift.get("features", {}).items())
    for name, one in moved_features[:_MOST_COLUMNS]:
        lines.append(
            f"  {name!r}: mean {as_written(one['mean'], 3)}, in training {as_written(one['training'], 3)} "
            f"({one['shift']:+.1f} standard deviations)"
        )
    verdicts += [", ".join(name for name, _ in moved_features[:_MOST_COLUMNS])] if moved_features else []
    for key, words in (("out_of_range", "out of range"), ("unknown", "of unknown text")):
        if key in drift:
            lines.append(f"  values {words}, none in training: {columns_in_words(drift[key])}")
            verdicts += [f"values {words}"] if max(drift[key].values(), default=0) > _ODD else []
    if "gaps" in drift:
        shares = {name: gap["share"] for name, gap in drift["gaps"].items()}
        was = {name: f", in training {gap['training']:.1%}" for name, gap in drift["gaps"].items()}
        lines.append(f"  values filled in: {columns_in_words(shares, was)}")
        more = any(
            gap["share"] > gap["training"] + max(_ODD, gap["training"]) for gap in drift["gaps"].values()
        )
        verdicts += ["gaps"] if more else []
    verdict = f"differ in: {', '.join(verdicts)}" if verdicts else "are like those of the fit"
    return ["", f"these rows {verdict}", *lines]


def columns_in_words(shares: dict[str, float], also: dict[str, str] | None = None) -> str:
    if not any(shares.values()) and also is None:
        return "none here"
    order = sorted(shares, key=lambda name: -shares[name])[:_MOST_COLUMNS]
    shown = ", ".join(f"{name!r} {shares[name]:.1%}{(also or {}).get(name, '')}" for name in order)
    more = len(shares) - len(order)
    return (shown or "none here") + (f" and {more} more columns" if more > 0 else "")
