"""From what a user knows to a ranked, explained, honest choice of topology."""
