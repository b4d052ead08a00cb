"""Sphinx: ``sphinx-build -W -b html docs site`` after ``python docs/generate.py``."""

project = "hfl-plan"
author = "The hfl-plan developers"
copyright = author
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "hfl-plan"
html_copy_source = False
html_show_sphinx = False
exclude_patterns = ["site"]
nitpicky = True
