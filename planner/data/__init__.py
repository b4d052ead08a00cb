"""Data of a fleet: label counts, heterogeneity, grouping, coverage; and the records that ship with the package."""
