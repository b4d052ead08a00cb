"""Runs the actual algorithms, so that a predicted ordering can be proved wrong."""
