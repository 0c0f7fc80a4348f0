"""One small module for each system outside; none knows another."""
