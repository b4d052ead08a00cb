"""What a user knows, with the origin of every number."""
