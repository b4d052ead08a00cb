"""Formulas, words and whole statements as LaTeX, MathML and plain text, for every format."""
