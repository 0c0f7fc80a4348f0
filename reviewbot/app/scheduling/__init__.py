"""From accepted deliveries to runs: which are wanted, and which are superseded."""
