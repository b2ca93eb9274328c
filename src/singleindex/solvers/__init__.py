"""How w is found."""

from .checkpoint import Checkpoint, CheckpointError
from .drive import Method, drive
from .exact import Exact
from .gradient import Gradient
from .one_pass import OnePassGradient
from .one_pass_exact import OnePassExact
from .path import Level, solve_path
from .result import Iterate, SolverResult, Status
from .scale import fit_scale
from .settings import ExactSteps, OnePass, Stochastic, TwoPass, check_solver
from .simplicity import Simplicity
from .stochastic import StochasticCsi

__all__ = [
    "Checkpoint",
    "CheckpointError",
    "Exact",
    "ExactSteps",
    "Gradient",
    "Iterate",
    "Level",
    "Method",
    "OnePass",
    "OnePassExact",
    "OnePassGradient",
    "Simplicity",
    "SolverResult",
    "Status",
    "Stochastic",
    "StochasticCsi",
    "TwoPass",
    "check_solver",
    "drive",
    "fit_scale",
    "solve_path",
]
