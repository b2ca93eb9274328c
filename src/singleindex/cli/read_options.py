"""How files are read: what the user said now, or when the model was fitted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file, where its name and its first line do not tell."""

    format: str | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None
    # Of the training rows: new ones may be written otherwise.
    usual_separator: str | None = None
    usual_encoding: str | None = None

    def as_record(self) -> dict[str, Any]:
        """Return what was told, for a model to keep."""
        return {
            "separator": self.separator, "decimal": self.decimal, "encoding": self.encoding,
            "missing": list(self.missing), "sheet": self.sheet,
        }  # fmt: skip

    def after(self, record: dict[str, Any]) -> ReadOptions:
        """Return these options, where nothing is told those of the fit."""
        return replace(
            self,
            decimal=self.decimal or record.get("decimal"),
            missing=(*record.get("missing", ()), *self.missing),
            sheet=self.sheet or record.get("sheet"),
            usual_separator=record.get("separator"),
            usual_encoding=record.get("encoding"),
        )
