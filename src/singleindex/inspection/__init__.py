"""Looking at a fitted model: its link, its coefficients, its convergence, its search, its probabilities.

Plots are made with matplotlib; `make_report` puts all there is to know on a page of its own.
"""

from ._explanation_plot import plot_explanation
from ._plots import plot_coefficients, plot_convergence, plot_link
from ._search_plots import plot_coefficient_path, plot_cv_curve, plot_reliability
from .explanation import Change, Explanation, Step, explain
from .report import make_report

__all__ = [
    "Change",
    "Explanation",
    "Step",
    "explain",
    "make_report",
    "plot_coefficient_path",
    "plot_coefficients",
    "plot_convergence",
    "plot_cv_curve",
    "plot_explanation",
    "plot_link",
    "plot_reliability",
]
