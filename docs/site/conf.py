"""How Sphinx makes the site."""

from __future__ import annotations

import tomllib
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_project = tomllib.loads((_HERE.parents[1] / "pyproject.toml").read_text())["project"]

project, release = "Blocks", _project["version"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_design",
              "sphinx_copybutton"]  # fmt: skip
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
root_doc = "index"
html_theme = "pydata_sphinx_theme"
html_title = f"Blocks {release}"
html_static_path = [str(_HERE / "static")]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left", "header_links_before_dropdown": 6, "show_toc_level": 2,
    "navbar_end": ["theme-switcher"], "navbar_persistent": ["search-button"],
    "footer_start": [], "footer_end": [],
    "secondary_sidebar_items": ["page-toc"], "pygments_light_style": "default",
    "pygments_dark_style": "github-dark", "show_prev_next": False, "collapse_navigation": True,
}  # fmt: skip
html_sidebars = {"index": [], "getting_started": [], "gallery": []}
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_docstring_signature = False
napoleon_use_param = napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Keywords", "params_style"), ("Ports and variables", "params_style")]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# words of a docstring that tell a type, such as "name or time", are prose and no references
suppress_warnings = ["config.cache", "ref.python"]


def _plain_bars(app, what, name, obj, options, lines):  # type: ignore[no-untyped-def]
    """``|v|`` is an absolute value to its author, and a substitution to Sphinx."""
    for k, line in enumerate(lines):
        pieces = line.split("``")
        lines[k] = "``".join(p.replace("|", r"\|") if n % 2 == 0 else p
                             for n, p in enumerate(pieces))  # fmt: skip


def setup(app):  # type: ignore[no-untyped-def]
    app.connect("autodoc-process-docstring", _plain_bars)
