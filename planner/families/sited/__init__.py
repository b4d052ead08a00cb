"""A fleet on a network: where servers stand, in which order rings run, what decides a round, what gossip would take."""
