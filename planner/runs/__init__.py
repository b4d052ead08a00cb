"""Runs of the planner as values: manifests, and what changed between two answers."""
