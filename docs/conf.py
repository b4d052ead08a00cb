"""Sphinx: ``sphinx-build -W -b html docs site`` after ``python docs/generate.py``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "hfl-plan"
author = "The hfl-plan developers"
copyright = author
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "hfl-plan"
html_static_path = ["_static"]
html_css_files = ["katex/katex.min.css", "site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
mathjax_path = "katex/katex.min.js"  # on pages with formulas; site.js renders them, nothing is fetched
mathjax_options = {"defer": "defer"}
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["site"]
nitpicky = True


def setup(app):
    """Write the pages of commands, Python names and schemas from the program that is documented."""
    import reference

    for name, text in reference.built().items():
        (reference.HERE / name).write_text(text, encoding="utf-8")
