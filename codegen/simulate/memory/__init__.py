"""Memory of a simulated launch, and its race detector."""
