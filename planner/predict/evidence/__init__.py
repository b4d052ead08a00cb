"""How good predictions were where they could be checked: records that ship with the package, and how they are read."""
