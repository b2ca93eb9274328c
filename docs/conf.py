"""How the documentation is built: `make docs`."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

from generate import keep, write_generated  # noqa: E402
from losses import losses_text  # noqa: E402
from sphinx.addnodes import pending_xref  # noqa: E402

project = "singleindex"
author = "The singleindex developers"
copyright = author
version = release = metadata.version(project)

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_generated/*.md", "images"]
templates_path = ["_templates"]
default_role = "code"

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
# The documents of the repository link to files, which are no pages here.
suppress_warnings = ["myst.xref_missing", "config.cache"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/course", "../examples/gallery"],
    "gallery_dirs": ["course", "gallery"],
    "filename_pattern": re.escape(os.sep),
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1000,
    "download_all_examples": False,
    "plot_gallery": "True",
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
}

html_theme = "furo"
html_title = "singleindex"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_generated/extra"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#00588f",
        "color-brand-content": "#00588f",
        "color-brand-visited": "#5d3a8c",
        "color-foreground-muted": "#566173",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cb8ee",
        "color-brand-content": "#6cb8ee",
        "color-brand-visited": "#c3a6ea",
        "color-foreground-muted": "#a3aebd",
    },
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def escape_fitted_names(app, what, name, obj, options, lines):
    """Keep names such as rank_ from being taken for links; those in backticks are left alone."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((".. ", ">>>", "...")):
            continue
        parts = line.split("`")
        parts[::2] = [re.sub(r"(?<=\w)_(?!\w)", r"\_", part) for part in parts[::2]]
        lines[i] = "`".join(parts)


def unlink_shapes(app, doctree):
    """Keep n_features in "of shape (n_features,)" from being a link to an attribute of that name."""
    for link in list(doctree.findall(pending_xref)):
        if link.get("reftype") in ("class", "obj") and re.fullmatch("[a-z][a-z_]*", link["reftarget"]):
            link.replace_self(link.children)


def setup(app):
    # After napoleon, which has made reStructuredText of the docstring.
    app.connect("autodoc-process-docstring", escape_fitted_names, priority=600)
    app.connect("doctree-read", unlink_shapes)


write_generated(HERE / "_generated", ROOT)
keep(HERE / "_generated" / "losses.md", losses_text())
