"""The readings of a search over blocks of rows, and the file they are kept in.

All that a search does follows from what its readings of the data gave. So the file keeps these: a search
that was broken off is done again, and every reading that is in the file costs nothing.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..design.column_blocks import ColumnSource
from ..design.fold_blocks import (
    FoldFacts,
    FoldFactsTask,
    FoldRule,
    FoldSurveys,
    FoldSurveysTask,
    SweepManyTask,
)
from ..design.many import ManySweep, ManyVisit
from ..design.moments import Moments
from ..design.survey import Survey
from ..files.arrays import check_floats, read_npz
from ..files.replace import check_target, replace_file
from ..solvers.checkpoint import CheckpointError
from ..solvers.result import FloatArray

_MAGIC = b"singleindex search 1\n"
# Before every reading: the length of what follows, and its digest.
_HEAD = struct.Struct("<Q32s")


class ReadingLog:
    """Results of readings in a file, in their order.

    Parameters
    ----------
    path : str or path
        An existing file is taken up from. What a break left half written at its end is cut off.
    fingerprint : str
        What the search is; the file of another one is refused.
    """

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path, self.mark = Path(check_target(path)), fingerprint.encode()
        self.kept: list[tuple[int, int, bytes]] = []
        self.number = 0
        if self.path.exists():
            self._take_up()
        else:
            replace_file(self.path, _MAGIC + self.mark)

    def _take_up(self) -> None:
        begin, size = len(_MAGIC) + len(self.mark), os.path.getsize(self.path)
        with open(self.path, "rb") as file:
            head = file.read(begin)
            if not head.startswith(_MAGIC):
                raise self._error("it is no checkpoint of a search")
            if head[len(_MAGIC) :] != self.mark:
                raise self._error("it belongs to a search of other data, or with other settings")
            while begin + _HEAD.size <= size:
                length, digest = _HEAD.unpack(file.read(_HEAD.size))
                if begin + _HEAD.size + length > size:
                    break
                self.kept.append((begin + _HEAD.size, length, digest))
                begin += _HEAD.size + length
                file.seek(begin)
        if begin < size:
            os.truncate(self.path, begin)

    def next(self) -> dict[str, Any] | None:
        """Return what the next reading gave, None where it has yet to be done."""
        self.number += 1
        if self.number > len(self.kept):
            return None
        begin, length, digest = self.kept[self.number - 1]
        with open(self.path, "rb") as file:
            file.seek(begin)
            content = file.read(length)
        if hashlib.sha256(content).digest() != digest:
            raise self._error(f"its reading {self.number} is damaged")
        try:
            return read_npz(content)
        except Exception as error:  # whatever a parser makes of another file
            raise self._error(f"its reading {self.number} is none") from error

    def add(self, arrays: dict[str, Any]) -> None:
        """Keep what a reading gave."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        content = buffer.getvalue()
        with open(self.path, "ab") as file:
            file.write(_HEAD.pack(len(content), hashlib.sha256(content).digest()) + content)
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Delete the file: the search has ended."""
        self.path.unlink(missing_ok=True)

    def _error(self, why: str) -> CheckpointError:
        return CheckpointError(f"Cannot go on from {self.path}: {why}. Delete the file to begin anew.")


class Readings:
    """Reads blocks of rows for a search, or has the results from a log.

    Parameters
    ----------
    source : BlockSource
    targets : list of Target
    rule : FoldRule
        Which rows are held out together.
    log : ReadingLog or None
    """

    def __init__(self, source: Any, targets: Any, rule: FoldRule, log: ReadingLog | None) -> None:
        self.source, self.targets, self.rule, self.log = source, tuple(targets), rule, log
        self.n_readings = 0

    def on_columns(self, which: NDArray[np.intp]) -> Readings:
        """Return the readings of some columns alone, which go on in the same log."""
        narrow = Readings(
            ColumnSource(self.source, which, self.rule.folds), self.targets, self.rule, self.log
        )
        narrow.n_readings = self.n_readings
        return narrow

    def surveys(self) -> tuple[Survey, ...]:
        """Return of each fold means and variances of the columns, and their covariance with the outputs."""
        arrays = self._next()
        if arrays is not None:
            known: tuple[Survey, ...] = self._checked(
                _as_surveys, arrays, self.source.n_features, len(self.targets)
            )
            return known
        found: FoldSurveys = self.source.reduce(FoldSurveysTask(self.targets, self.rule))
        self._keep(_surveys_as_arrays(found.surveys))
        return found.surveys

    def facts(self) -> FoldFacts:
        """Return the moments of all folds."""
        arrays = self._next()
        if arrays is not None:
            known: FoldFacts = self._checked(_as_facts, arrays, self.source.n_features, len(self.targets))
            return known
        facts: FoldFacts = self.source.reduce(FoldFactsTask(self.targets, self.rule))
        self._keep(_facts_as_arrays(facts))
        return facts

    def sweep(self, visit: ManyVisit) -> ManySweep:
        """Return what one visit gives for many models."""
        arrays = self._next()
        if arrays is not None:
            known: ManySweep = self._checked(_as_sweep, arrays, visit)
            return known
        sweep: ManySweep = self.source.reduce(SweepManyTask(visit, self.targets, self.rule))
        self._keep({field.name: getattr(sweep, field.name) for field in fields(ManySweep)})
        return sweep

    def end(self) -> None:
        if self.log is not None:
            self.log.remove()

    def _next(self) -> dict[str, Any] | None:
        self.n_readings += 1
        return None if self.log is None else self.log.next()

    def _keep(self, arrays: dict[str, Any]) -> None:
        if self.log is not None:
            self.log.add(arrays)

    def _checked(self, read: Any, *args: Any) -> Any:
        try:
            return read(*args)
        except (KeyError, ValueError, TypeError) as error:
            assert self.log is not None
            raise CheckpointError(
                f"Cannot go on from {self.log.path}: its reading {self.n_readings} is of another search. "
                "Delete the file to begin anew."
            ) from error


# ---------------------------------------------------------------- as arrays


def _survey_as_arrays(survey: Survey) -> dict[str, Any]:
    return {f"survey_{f.name}": np.asarray(getattr(survey, f.name)) for f in fields(Survey)}


def _as_survey(arrays: dict[str, Any], d: int, n_outputs: int) -> Survey:
    values = {f.name: arrays[f"survey_{f.name}"] for f in fields(Survey)}
    for name in ("mean", "variance"):
        check_floats(name, values[name], d)
    check_floats("covariance", values["covariance"], d, n_outputs)
    lengths = tuple(int(n) for n in values["lengths"])
    return Survey(**{**values, "total": float(values["total"]), "lengths": lengths})


def _surveys_as_arrays(surveys: Sequence[Survey]) -> dict[str, Any]:
    by_fold = [_survey_as_arrays(one) for one in surveys]
    return {name: np.stack([one[name] for one in by_fold]) for name in by_fold[0]}


def _as_surveys(arrays: dict[str, Any], d: int, n_outputs: int) -> tuple[Survey, ...]:
    by_fold = [
        {name: values[k] for name, values in arrays.items()} for k in range(len(arrays["survey_total"]))
    ]
    return tuple(_as_survey(one, d, n_outputs) for one in by_fold)


def _facts_as_arrays(facts: FoldFacts) -> dict[str, Any]:
    arrays = _survey_as_arrays(facts.survey)
    for f in fields(Moments):
        arrays[f.name] = np.stack([np.asarray(getattr(one, f.name)) for one in facts.moments])
    return arrays


def _as_facts(arrays: dict[str, Any], d: int, n_outputs: int) -> FoldFacts:
    names = [f.name for f in fields(Moments)]
    n_folds = len(arrays["total"])
    shapes: dict[str, tuple[int, ...]] = {
        "total": (), "mean": (d,), "covariance": (d, d), "y_mean": (n_outputs,), "cross": (d, n_outputs),
        "y_variance": (n_outputs,),
    }  # fmt: skip
    for name in names:
        check_floats(name, arrays[name], n_folds, *shapes[name])
    moments = tuple(
        Moments(float(arrays["total"][k]), *(arrays[name][k] for name in names[1:])) for k in range(n_folds)
    )
    return FoldFacts(_as_survey(arrays, d, n_outputs), moments)


def _as_sweep(arrays: dict[str, FloatArray], visit: ManyVisit) -> ManySweep:
    d, K = visit.W.shape
    check_floats("gradient", arrays["gradient"], d, K if visit.needs_gradient else 0)
    check_floats("residual", arrays["residual"], K)
    check_floats("bins", arrays["bins"], K, 2, visit.n_bins, 3)
    return ManySweep(arrays["gradient"], arrays["residual"], arrays["bins"])
