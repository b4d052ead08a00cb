"""Hub-and-spoke learning (HSL) without a trusted cloud, beside Epidemic Learning and a server."""
