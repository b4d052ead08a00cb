"""Numbers from bounds: evaluation, tuning, comparison."""
