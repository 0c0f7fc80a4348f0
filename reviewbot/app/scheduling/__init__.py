"""Schedule runs from accepted deliveries: which are wanted, and which are superseded."""
