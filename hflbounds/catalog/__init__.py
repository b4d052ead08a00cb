"""One file per paper; every `Bound` declared in a file of this folder is in the catalogue."""
