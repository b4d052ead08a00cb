"""Algorithms, one file each, tied to the pseudocode they are."""
