"""A plan for Flower: the server runs the loop, and asks one client at a time."""
