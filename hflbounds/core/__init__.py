"""Parts of a bound: expressions, quantities, metrics, assumptions, sources; and its evaluation."""
