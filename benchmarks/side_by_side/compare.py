"""Hold two result files against each other: `python -m benchmarks.side_by_side.compare OLD.json NEW.json`.

Flagged, with exit code 1, are: a row of ours that became slower, by a large share and by many seconds and
beyond the spread of the repeats; a row of ours whose answer became worse; any row that vanished or now fails.
The files may come from machines of different speed, so times are first divided by what the peers' times
changed by; `--raw` leaves that out.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np

OURS = "singleindex"
HIGHER_IS_BETTER = ("auc", "cosine")
LOWER_IS_BETTER = ("brier", "log_loss", "rmse", "mse", "link_rmse")
# How far an answer is from an optimum. It is noise as long as it is small: only its magnitude counts.
GAPS = ("suboptimality", "certificate")
SMALL_GAP, GAP_FACTOR = 1e-6, 10

LOSS_OF_HIGHER, LOSS_OF_LOWER = 0.002, 0.01
FEWEST_PEERS = 3

Row = dict[str, Any]
Results = dict[str, Any]


class NotResults(Exception):
    """A file that is not a result file of this suite."""


@dataclass(frozen=True)
class Change:
    """What became of one row; what is not flagged is for information."""

    kind: str
    problem: str
    solver: str
    text: str
    flagged: bool

    def __str__(self) -> str:
        return f"{self.kind}: {self.solver} on {self.problem}: {self.text}"


# ---------------------------------------------------------------- what is in a row


def is_ours(row: Row) -> bool:
    return row["solver"].startswith(OURS) or row.get("package") == OURS


def quartiles(row: Row) -> tuple[float, float, float] | None:
    """Return lower quartile, median and upper quartile of the seconds; None for a row without an answer."""
    seconds = np.atleast_1d(np.asarray(row.get("seconds") or [], dtype=np.float64))
    seconds = seconds[np.isfinite(seconds)]
    if row.get("error") or not len(seconds):
        return None
    low, median, high = np.quantile(seconds, [0.25, 0.5, 0.75])
    return float(low), float(median), float(high)


def quality(row: Row) -> dict[str, float]:
    found = (row.get("quality") or {}).items()
    return {name: float(value) for name, value in found if value is not None and math.isfinite(value)}


def why_not(row: Row) -> str | None:
    """Return why the row has no times, None where it has."""
    if quartiles(row) is not None:
        return None
    return row.get("error") or "no time was taken"


def gain(measure: str, base: float, other: float) -> float:
    """Return by how much `other` is better than `base`: a difference of scores, a share of an error."""
    if measure in HIGHER_IS_BETTER:
        return other - base
    if measure in LOWER_IS_BETTER:
        return (base - other) / max(base, 1e-12)
    return 0.0


# ---------------------------------------------------------------- reading


def check_results(results: Any, name: str) -> None:
    """Raise NotResults, with what is wrong, unless rows can be joined; other fields may be missing."""
    rows = results.get("rows") if isinstance(results, dict) else None
    if not isinstance(rows, list) or not rows:
        raise NotResults(f'{name} is not a result file: it has no "rows"')
    seen = set()
    for row in rows:
        if not isinstance(row, dict) or not all(isinstance(row.get(k), str) for k in ("problem", "solver")):
            raise NotResults(f'{name} is not a result file: a row names no "problem" and "solver": {row!r}')
        key = row["problem"], row["solver"]
        if key in seen:
            raise NotResults(f"{name} has two rows of {key[1]} on {key[0]}; give the solvers different names")
        seen.add(key)


def read_results(path: Path) -> Results:
    try:
        results = json.loads(path.read_text(encoding="utf-8"))
    except OSError as missing:
        raise NotResults(f"{path} cannot be read: {missing.strerror}") from missing
    except ValueError as broken:
        raise NotResults(f"{path} is not JSON: {broken}") from broken
    check_results(results, str(path))
    return results


def by_key(results: Results) -> dict[tuple[str, str], Row]:
    return {(row["problem"], row["solver"]): row for row in results["rows"]}


def joined(old: Results, new: Results) -> Iterator[tuple[Row, Row]]:
    after = by_key(new)
    return ((row, after[key]) for key, row in by_key(old).items() if key in after)


# ---------------------------------------------------------------- the machine


def peer_ratios(old: Results, new: Results) -> dict[tuple[str, str], float]:
    """Return new over old median of every peer's row that both files have a time for."""
    found = {}
    for was, now in joined(old, new):
        before, after = quartiles(was), quartiles(now)
        if not is_ours(was) and before and after and before[1] > 0 and after[1] > 0:
            found[was["problem"], was["solver"]] = after[1] / before[1]
    return found


def machine_factor(old: Results, new: Results) -> float:
    """Return how many times as long the peers took in the new file; 1 where too few are in both."""
    ratios = peer_ratios(old, new)
    if len({solver for _, solver in ratios}) < FEWEST_PEERS:
        return 1.0
    return geometric_mean(ratios.values())


def factor_text(old: Results, new: Results) -> str:
    ratios = peer_ratios(old, new)
    n_peers = len({solver for _, solver in ratios})
    if n_peers < FEWEST_PEERS:
        return (
            f"Times are compared as they are: {n_peers} peers have times in both files, and it takes "
            f"{FEWEST_PEERS} to tell a slower machine."
        )
    return (
        f"New times are divided by {machine_factor(old, new):.3g}, by which the peers' times changed "
        f"(geometric mean of {len(ratios)} rows of {n_peers} peers); --raw leaves that out."
    )


# ---------------------------------------------------------------- comparing


def compare(
    old: Results, new: Results, *, relative: float = 0.2, absolute: float = 0.005, factor: float | None = None
) -> list[Change]:
    """Return what changed between two results, in the order of the old file's rows.

    Parameters
    ----------
    old, new : dict
        Results, as read from their files.
    relative, absolute : float
        A time has changed if it did so by more than this share of the old median and by more than so many
        seconds, and the quartiles of both do not overlap.
    factor : float, optional
        What new times are divided by before. By default what the peers' times changed by.
    """
    factor = machine_factor(old, new) if factor is None else factor
    after = by_key(new)
    changes: list[Change] = []
    for key, was in by_key(old).items():
        now = after.get(key)
        if now is None:
            changes.append(Change("vanished", *key, "the new file has no such row", flagged=True))
            continue
        changes += changes_of_state(was, now)
        if why_not(was) is None and why_not(now) is None:
            changes += changes_of_time(was, now, factor, relative, absolute)
            changes += changes_of_quality(was, now)
    return changes


def changes_of_state(was: Row, now: Row) -> Iterator[Change]:
    key = was["problem"], was["solver"]
    if why_not(now) and not why_not(was):
        yield Change("failed", *key, str(why_not(now)), flagged=True)
    if why_not(was) and not why_not(now):
        yield Change("runs again", *key, f"before: {why_not(was)}", flagged=False)


def changes_of_time(was: Row, now: Row, factor: float, relative: float, absolute: float) -> Iterator[Change]:
    low, median, high = quartiles(was)
    new_low, new_median, new_high = (second / factor for second in quartiles(now))
    enough = max(relative * median, absolute)
    text = f"{median:.4g} s, now {new_median:.4g} s, {new_median / max(median, 1e-12):.2f} times as long"
    key = was["problem"], was["solver"]
    # A peer that became slower is no fault of ours, and may be why the machine seems to be.
    kind = "" if is_ours(was) else "peer "
    if new_median - median > enough and new_low > high:
        yield Change(f"{kind}slower", *key, text, flagged=is_ours(was))
    elif median - new_median > enough and new_high < low:
        yield Change(f"{kind}faster", *key, text, flagged=False)


def changes_of_quality(was: Row, now: Row) -> Iterator[Change]:
    if not is_ours(was):
        return
    before, after = quality(was), quality(now)
    for measure, value in before.items():
        key = was["problem"], was["solver"]
        if measure not in after:
            yield Change("not measured", *key, f"{measure} was {value:.4g}", flagged=False)
        elif is_worse(measure, value, after[measure]):
            yield Change("worse", *key, f"{measure} {value:.4g}, now {after[measure]:.4g}", flagged=True)


def is_worse(measure: str, old: float, new: float) -> bool:
    if measure in GAPS:
        return new > GAP_FACTOR * max(old, SMALL_GAP)
    allowed = LOSS_OF_HIGHER if measure in HIGHER_IS_BETTER else LOSS_OF_LOWER
    return gain(measure, old, new) < -allowed


# ---------------------------------------------------------------- the command


def notes(old: Results, new: Results) -> Iterator[str]:
    """Yield what makes the two files less alike than their rows' names tell."""
    for field in ("quick", "threads", "machine"):
        if field in old and field in new and old[field] != new[field]:
            yield f"The files differ in {field}: {old[field]}, now {new[field]}."
    before, after = sizes_of(old), sizes_of(new)
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f"{name} is another problem now: n, d, entries were {before[name]}, are {after[name]}."
    versions = {(was["solver"], was.get("version"), now.get("version")) for was, now in joined(old, new)}
    for solver, was, now in sorted(versions, key=str):
        if was and now and was != now:
            yield f"{solver} was {was}, is {now}."


def sizes_of(results: Results) -> dict[str, tuple[Any, ...]]:
    return {
        one["name"]: tuple(one.get(k) for k in ("n", "d", "entries")) for one in results.get("problems") or []
    }


def report(changes: Iterable[Change]) -> list[str]:
    changes = list(changes)
    flagged = [change for change in changes if change.flagged]
    others = [change for change in changes if not change.flagged]
    lines = [f"{len(flagged)} flagged" + (":" if flagged else "."), *(f"  {change}" for change in flagged)]
    if others:
        lines += ["For information:", *(f"  {change}" for change in others)]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.side_by_side.compare",
        description="Flag what became slower or worse from one result file to another.",
        epilog="Exit code: 1 where something is flagged, 0 where nothing is, 2 for files of another kind.",
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--relative", type=float, default=0.2, help="least share of the old time (0.2)")
    parser.add_argument("--absolute", type=float, default=0.005, help="least seconds (0.005)")
    parser.add_argument("--raw", action="store_true", help="take the times as they are, of one machine")
    options = parser.parse_args(argv)
    try:
        old, new = read_results(options.old), read_results(options.new)
    except NotResults as wrong:
        print(wrong, file=sys.stderr)
        return 2
    factor = 1.0 if options.raw else machine_factor(old, new)
    changes = compare(old, new, relative=options.relative, absolute=options.absolute, factor=factor)
    told = "Times are compared as they are (--raw)." if options.raw else factor_text(old, new)
    print(told, *notes(old, new), *report(changes), sep="\n")
    return int(any(change.flagged for change in changes))


if __name__ == "__main__":
    sys.exit(main())
