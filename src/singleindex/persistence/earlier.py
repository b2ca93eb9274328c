"""What earlier versions wrote otherwise, as this version has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..files.arrays import make_sparse
from ..link import MonotoneCurve, ShiftedLink

_PLAIN = {"column_scale": "scale_power"}
_SEARCH = {
    "column_scales": "scale_power", "alphas": "alpha", "penalties": "penalty", "link_cv": "held_out_link",
}  # fmt: skip
# Parameters by class, the old name in a file and the one of today.
RENAMED: dict[str, Mapping[str, str]] = {
    "SingleIndexRegressor": _PLAIN,
    "SingleIndexClassifier": _PLAIN,
    "SingleIndexRegressorCV": _SEARCH,
    "SingleIndexClassifierCV": _SEARCH,
    "SingleIndexCompleter": {"alpha": "damping"},
    "SingleIndexCompleterCV": {
        "alphas": "damping", "penalties": "penalty", "graph_strengths": "graph_strength",
        "link_cv": "held_out_link",
    },
}  # fmt: skip
# Values of parameters that have another name today: by class, parameter and value.
_SAID = {"refit": {"average": "folds"}}
REWORDED = {"SingleIndexRegressorCV": _SAID, "SingleIndexClassifierCV": _SAID}
# What a search tells of its candidates.
_TOLD = {"column_scale": "scale_power", "alpha_rows": "damping_rows", "alpha_cols": "damping_cols"}


def renamed(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record of an object with its parameters under the names of today."""
    names, words = RENAMED.get(spec["class"], {}), REWORDED.get(spec["class"], {})
    parameters = {names.get(name, name): part for name, part in spec["parameters"].items()}
    for name, said in words.items():
        if isinstance(parameters.get(name), str):
            parameters[name] = said.get(parameters[name], parameters[name])
    return {**spec, "parameters": parameters}


def renewed(name: str, value: Any) -> Any:
    """Return a fitted attribute as this version keeps it."""
    if name in ("best_params_", "cv_results_"):
        told = {_TOLD.get(key, key): part for key, part in value.items()}
        return _with_stages(told) if name == "cv_results_" and "scale_power" in told else told
    return _renewed_stream(value) if name == "stream_" else value


def _with_stages(results: dict[str, Any]) -> dict[str, Any]:
    """Return the candidates of a search as they are told today: all lay on paths, with learned links."""
    alike = {"stage": 1, "link": "learned", "ridge": 0.0, "relaxation": 0.0}
    n = len(results["scale_power"])
    return {name: np.full(n, value) for name, value in alike.items()} | results


def _renewed_stream(stream: dict[str, Any]) -> dict[str, Any]:
    """Return a stream with its links and sparse matrices whole; they were lists and dicts of their parts."""
    for state in stream["outputs"]:
        for name in ("step_link", "model_link"):
            if isinstance(state.get(name), list):
                kind, *parts = state[name]
                state[name] = MonotoneCurve(*parts) if kind == "curve" else ShiftedLink(*parts)
    waiting = stream["waiting"]
    if waiting is not None and "X" not in waiting:
        parts = [waiting.pop(name) for name in ("data", "indices", "indptr", "shape")]
        stream["waiting"] = {"X": make_sparse(sparse.csr_array, *parts), **waiting}
    return stream
