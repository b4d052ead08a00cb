"""What a bound is made of: expressions, quantities, metrics, assumptions, sources; and the registry."""
