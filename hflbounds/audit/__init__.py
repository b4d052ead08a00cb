"""What every bound must survive, and a table of all that is checked."""
