"""One file per paper; whatever `Bound` a file here declares is in the catalogue."""
