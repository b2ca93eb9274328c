"""How w is found."""

from .csi import solve_csi
from .result import Iterate, SolverResult, Status
from .scale import fit_scale

__all__ = ["Iterate", "SolverResult", "Status", "fit_scale", "solve_csi"]
