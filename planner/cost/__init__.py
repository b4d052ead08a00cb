"""Time and traffic of a global round."""
