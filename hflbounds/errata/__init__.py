"""Errata that no single bound carries: one file per paper, each with a tuple ``ERRATA``."""
