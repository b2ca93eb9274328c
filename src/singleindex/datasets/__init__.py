"""Synthetic single-index data with a known truth, and loaders for the paper's data sets."""

from ._completion import CompletionData, make_completion
from ._epinions_cut import load_epinions_cut
from ._generate import NOISES, SingleIndexData, make_single_index
from ._links import LINKS
from ._loaders import load_atp, load_epinions, load_flags, load_flixster_standin
from ._text import TEXT_SETS, load_text

__all__ = [
    "LINKS",
    "NOISES",
    "TEXT_SETS",
    "CompletionData",
    "SingleIndexData",
    "load_atp",
    "load_epinions",
    "load_epinions_cut",
    "load_flags",
    "load_flixster_standin",
    "load_text",
    "make_completion",
    "make_single_index",
]
