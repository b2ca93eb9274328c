"""How w is found."""

from .csi import solve_csi
from .result import Iterate, SolverResult, Status

__all__ = ["Iterate", "SolverResult", "Status", "solve_csi"]
