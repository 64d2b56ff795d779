"""The second shell around the decision engine: the daemon and its adapter in simulated time."""
