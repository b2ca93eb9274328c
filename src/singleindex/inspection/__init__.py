"""Looking at a fitted model: its link, its coefficients, its search, its probabilities, how sure it is.

Plots are made with matplotlib; `make_report` puts all there is to know on a page of its own.
"""

from ._explanation_plot import plot_explanation
from ._intervals import Evidence, Intervals
from ._plots import plot_coefficients, plot_convergence, plot_link
from ._resample_plots import plot_effects, plot_selection
from ._resampled import Resampled
from ._search_plots import plot_coefficient_path, plot_cv_curve, plot_reliability
from .explanation import Change, Explanation, Step, explain
from .report import make_report
from .resample import resample

__all__ = [
    "Change",
    "Evidence",
    "Explanation",
    "Intervals",
    "Resampled",
    "Step",
    "explain",
    "make_report",
    "plot_coefficient_path",
    "plot_coefficients",
    "plot_convergence",
    "plot_cv_curve",
    "plot_effects",
    "plot_explanation",
    "plot_link",
    "plot_reliability",
    "plot_selection",
    "resample",
]
