"""Checks of every bound, and the table of their results."""
