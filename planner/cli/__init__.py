"""Commands of `hfl-plan`, one file each: parse, call one function, print."""
