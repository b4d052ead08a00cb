"""Commands of `hfl-plan`, one file each, found by scanning this folder: parse, call one function, print."""
