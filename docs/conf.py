# SPDX-License-Identifier: BSD-3-Clause
"""How the documentation site is built: `script/docs`."""

from typing import Any

import particles
from docutils import nodes
from latex2mathml.converter import convert

project = "particles"
author = "the authors of particles"
version = release = particles.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_templates", "**/.ipynb_checkpoints", "gallery/GALLERY_HEADER.rst"]
default_role = "autolink"
# Arguments stand in single backquotes as well.
nitpick_ignore_regex = [("py:obj", "[a-z_]+")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3

autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": "",  # all are run
    "abort_on_example_error": True,
    "write_computation_times": False,
    "notebook_extensions": set(),  # they would be taken for pages
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "image_scrapers": ("matplotlib",),
}

html_theme = "furo"
html_title = "particles"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False


def show_formula(translator: Any, node: nodes.Node) -> None:  # noqa: ANN401
    """Write a formula as MathML, which browsers draw without a script or a network."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def show_displayed_formula(translator: Any, node: nodes.Node) -> None:  # noqa: ANN401
    """Write a formula that has lines of its own."""
    translator.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Any) -> None:  # noqa: ANN401
    """Register the renderer of formulas."""
    app.add_html_math_renderer("mathml", (show_formula, None), (show_displayed_formula, None))
