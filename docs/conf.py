# SPDX-License-Identifier: BSD-3-Clause
"""How the documentation site is built: `script/docs`."""

import re
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
# Classes stand in signatures, those of other libraries too.
nitpick_ignore_regex = [("py:obj", "[a-z_]+"), ("py:class", ".*")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_dmath_double_inline = True
myst_heading_anchors = 3

autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {
    "npt.ArrayLike": "ArrayLike",
    "npt.DTypeLike": "DTypeLike",
    "npt.NDArray": "NDArray",
    "Inflow": "Inflow",
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # they would come from other hosts

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
html_js_files = ["keyboard.js"]
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


def shorten_types(
    app: Any,  # noqa: ANN401
    what: str,
    name: str,
    obj: object,
    options: object,
    signature: str | None,
    returned: str | None,
) -> tuple[str | None, str | None]:
    """Call aliases of types in a signature by their names."""
    pattern = r"TypeAliasForwardRef\('(\w+)'\)|npt\.(\w+)"
    short = [text and re.sub(pattern, r"\1\2", text) for text in (signature, returned)]
    return short[0], short[1]


def setup(app: Any) -> None:  # noqa: ANN401
    """Register the renderer of formulas, and how signatures are shown."""
    app.connect("autodoc-process-signature", shorten_types)
    app.add_html_math_renderer("mathml", (show_formula, None), (show_displayed_formula, None))
