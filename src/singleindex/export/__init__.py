"""Fitted models for other programs: a small JSON, an SQL expression, ONNX."""

from .as_json import from_json, to_json
from .as_onnx import register_onnx_converters, to_onnx
from .as_sql import DIALECTS, to_sql

__all__ = ["DIALECTS", "from_json", "register_onnx_converters", "to_json", "to_onnx", "to_sql"]
