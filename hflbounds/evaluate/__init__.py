"""Numbers from bounds: tuning and comparison."""
