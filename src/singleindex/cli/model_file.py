"""A model as the command line keeps it: the estimator, how its columns are made, where it came from."""

from __future__ import annotations

import copy
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tables.oddities import Oddities, find_oddities
from ..tables.preparation import Matrix, Preparation, from_record, refuse_missing
from ..tables.recipe import Recipe
from .decisions import Threshold
from .decisions import from_record as threshold_from
from .messages import CliError
from .output import write_output
from .read_options import ReadOptions
from .several import read_tables
from .tables import Table

if TYPE_CHECKING:
    from ..estimators.outputs import Facts

# What is told of a fit without looking whether it is there.
_IN_RECORDS = {"command", "data", "version", "task", "n_rows", "n_test", "n_columns", "fingerprint"}


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds. `record` is empty for models saved from Python."""

    model: Any
    preparation: Preparation | Recipe | Matrix
    record: dict[str, Any]

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(self.record.get("target", ()))

    @cached_property
    def named(self) -> Any:
        """The model with the table's names of features and classes: to tell of, not to predict with."""
        import numpy as np

        model = copy.copy(self.model)
        model.feature_names_in_ = np.array(self.preparation.names, dtype=object)
        if self.record.get("classes"):
            model.classes_ = np.array(self.record["classes"])
        return model

    @cached_property
    def facts(self) -> Facts:
        from ..estimators.outputs import facts_of

        return facts_of(self.named)

    @property
    def positive(self) -> str | None:
        """Of two classes the one whose probability is modelled."""
        return self.class_names[1] if self.facts.kind == "binary" else None

    @property
    def threshold(self) -> Threshold:
        return threshold_from(self.record.get("threshold"))

    @property
    def class_names(self) -> list[str]:
        """The classes or, for several labels, the targets; empty for a regressor."""
        facts = self.facts
        if facts.kind == "multilabel":
            return list(self.targets) or [output.name for output in facts.outputs]
        return [str(label) for label in facts.classes]


def write_model(file: ModelFile, path: str) -> None:
    from ..persistence import save

    buffer = io.BytesIO()
    save(file.model, buffer, notes={"preparation": file.preparation.as_record(), "record": file.record})
    write_output(buffer.getvalue(), path)


def read_model(path: str) -> ModelFile:
    from ..estimators.outputs import facts_of, is_single_index
    from ..persistence import ModelFileError, load, load_notes
    from ..tables import TableClassifier, TableRegressor

    if path == "-":
        data = sys.stdin.buffer.read()
    elif not Path(path).exists():
        raise CliError(
            f"there is no model file {path}; make one with: singleindex fit DATA --target COL -o {path}"
        )
    else:
        data = Path(path).read_bytes() if Path(path).is_file() else b""
    source = path if path != "-" and not Path(path).is_file() else named(data, path)
    model = load(source)
    if isinstance(model, (TableClassifier, TableRegressor)):
        return table_file(model, path)
    if not is_single_index(model):
        raise CliError(
            f"{path} holds a {type(model).__name__} without weights and a link; the command line works with "
            "fitted single-index regressors and classifiers"
        )
    notes = load_notes(named(data, path))
    if "preparation" not in notes:
        return ModelFile(model, preparation_from_python(facts_of(model)), {})
    try:
        preparation, record = from_record(notes["preparation"]), notes["record"]
        preparation.check(int(model.n_features_in_))
        if record:
            check_record(record, model)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelFileError(f"Cannot load {path}: its notes are malformed ({error}).") from error
    return ModelFile(model, preparation, record)


def table_file(model: Any, path: str) -> ModelFile:
    """Return a model of Python that prepares its columns itself."""
    from ..estimators.outputs import is_single_index
    from ..tables.fronts import taken_apart

    if "estimator_" not in vars(model) or not is_single_index(model.estimator_):
        raise CliError(
            f"{path} holds a {type(model).__name__} that is not fitted, or not a single-index model"
        )
    # With the classes as the table calls them: the estimator may have been fitted to 0 and 1.
    return ModelFile(taken_apart(model).model, model.preparation_, {})


def check_record(record: dict[str, Any], model: Any) -> None:
    """Raise where a record lacks what is told of it; what earlier versions did not write may be absent."""
    if not record.keys() >= _IN_RECORDS:
        raise ValueError("its record is not complete")
    if record.get("classes") and len(record["classes"]) != len(model.classes_):
        raise ValueError("its record has other classes than the model")
    threshold_from(record.get("threshold"))
    ReadOptions().after(record.get("reading", {}))
    for facts in record.get("training_index", []):
        if not facts.keys() >= {"n", "mean", "spread", "middle"}:
            raise ValueError("its record of the index is not complete")


def named(data: bytes, path: str) -> io.BytesIO:
    """Return the bytes as a file whose name messages can tell."""
    file = io.BytesIO(data)
    file.name = "standard input" if path == "-" else path
    return file


def preparation_from_python(facts: Facts) -> Preparation | Matrix:
    columns = facts.feature_names
    if columns is None:
        return Matrix(len(facts.coef))
    return Preparation(columns, ["number"] * len(columns), [0.0] * len(columns), {}, {})


def read_for(file: ModelFile, paths: Sequence[str], options: ReadOptions) -> Table:
    """Read a table that goes with a model, as that of the fit was read where nothing else is said."""
    preparation, options = file.preparation, options.after(file.record.get("reading", {}))
    if not isinstance(preparation, Matrix):
        return read_tables(paths, options)
    table = read_tables(paths, options, preparation.n_features, preparation.one_based)
    if table.matrix is not None and table.matrix.shape[1] != preparation.n_features:
        raise CliError(
            f"{table.source} has {table.matrix.shape[1]} columns, the model takes {preparation.n_features}"
        )
    return table


def columns_with_weight(facts: Facts, preparation: Preparation | Recipe) -> set[str]:
    """Return the columns that predictions depend on."""
    sources = preparation.sources
    return {sources[j] for j in facts.used.tolist()}


def features_of(file: ModelFile, table: Table, impute: bool, say: Any) -> Any:
    """Return the rows of a table as the model takes them."""
    return prepared_rows(file, table, impute, say)[0]


def prepared_rows(file: ModelFile, table: Table, impute: bool, say: Any) -> tuple[Any, Oddities | None]:
    """Return the rows of a table as the model takes them, and what is odd about them."""
    preparation = file.preparation
    if isinstance(preparation, Matrix):
        return matrix_rows(preparation, table), None
    if table.frame is None:
        names = table.names
        if names is None:
            raise CliError(f"the model knows its columns by name; {table.source} has no names")
        import pandas

        table = Table(table.source, frame=pandas.DataFrame(table.matrix, columns=names))
    needed = columns_with_weight(file.facts, preparation)
    if isinstance(preparation, Recipe):
        return preparation.apply(table.frame, needed=needed), None
    typed = preparation.typed(table.frame, needed)
    odd = find_oddities(preparation, typed, needed)
    if not impute and preparation.imputed is None:
        refuse_missing(odd.typed)
    return preparation.encoded(typed, say, needed), odd


def matrix_rows(preparation: Matrix, table: Table) -> Any:
    if table.matrix is not None:
        return table.matrix
    missing = [name for name in preparation.names if name not in table.frame.columns]
    if not missing:
        return table.frame[preparation.names].to_numpy(dtype=float)
    raise CliError(f"the model takes a matrix of {preparation.n_features} columns; use svmlight or npz")
